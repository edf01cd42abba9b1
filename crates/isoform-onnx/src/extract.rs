//! The part of a program between values.

use std::collections::{HashMap, HashSet};

use isoform::host::name_hint;
use isoform::traverse::{MapOptions, WalkOptions, WalkOrder, WalkResult};
use isoform::{Array, Error, Node, Ref, Str, Value};

use crate::facts::{Analysis, Fact, Kind};
use crate::ir::{Dim, Graph, Input, Output, Program, TensorType};
use crate::layout::{BodyKind, list_body};
use crate::values::{ValueKey, output};

/// The part of a program that computes the values `to` from the values `from`.
///
/// Inputs, outputs and results of nodes of the main graph have their names from the
/// file. The values in `from` become inputs, in this order, with their known types. If
/// `from` is empty, the part has the inputs that it needs, in the order of the program.
/// The values in `to` become outputs. Inputs with a default that the part needs stay
/// inputs. Linear in the program.
///
/// ```no_run
/// let model = isoform_onnx::load("model.onnx")?;
/// let encoder = isoform_onnx::extract(model.program(), &["tokens"], &["/encoder/out"])?;
/// isoform_onnx::save(&encoder, "encoder.onnx")?;
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` for an unknown name, with a suggestion; for a repeated name; for an
/// empty `to`; and for inputs that the part needs although `from` does not name them.
pub fn extract<S: AsRef<str>>(
    program: &Ref<Program>,
    from: &[S],
    to: &[S],
) -> isoform::Result<Ref<Program>> {
    let names = |names: &[S]| -> Vec<String> {
        let names = names.iter();
        names.map(|name| name.as_ref().to_owned()).collect()
    };
    Extraction::new(program).run(&names(from), &names(to))
}

struct Extraction<'p> {
    program: &'p Ref<Program>,
    /// The values of the main graph by name.
    values: HashMap<String, Value>,
    /// The names of values inside of bodies, and the node that holds the body.
    hidden: HashMap<String, String>,
}

impl<'p> Extraction<'p> {
    fn new(program: &'p Ref<Program>) -> Self {
        let graph = &program.graph;
        let mut extraction = Extraction {
            program,
            values: HashMap::new(),
            hidden: HashMap::new(),
        };
        let names = graph.result_names.iter();
        for (name, value) in names.zip(graph.results.values()) {
            extraction.values.insert(name.to_string(), value.clone());
        }
        for input in graph.params.iter() {
            extraction
                .values
                .insert(input.name.to_string(), input.into());
        }
        let listing = list_body(BodyKind::Graph(graph.clone()));
        for (position, body) in listing.bodies.iter().enumerate() {
            for node in &body.nodes {
                let call = &node.call;
                for (index, name) in call.output_names.iter().enumerate() {
                    if name.is_empty() || index as i64 >= call.outputs {
                        continue;
                    }
                    if position > 0 {
                        let graph = call.graph.to_string();
                        extraction.hidden.insert(name.to_string(), graph);
                        continue;
                    }
                    let value = output(call, index as i64);
                    extraction.values.entry(name.to_string()).or_insert(value);
                }
            }
        }
        extraction
    }

    fn value(&self, option: &str, name: &str) -> isoform::Result<&Value> {
        self.values.get(name).ok_or_else(|| {
            let reason = match self.hidden.get(name) {
                Some(graph) => format!(
                    "value '{name}' is inside of graph '{graph}'; only values of the main graph \
                     can be cut"
                ),
                None => {
                    // The order of a hash table is random, and the hint must not be.
                    let mut names: Vec<&str> = self.values.keys().map(String::as_str).collect();
                    names.sort_unstable();
                    let hint = name_hint(name, names.into_iter());
                    format!("the model has no value '{name}'{hint}")
                }
            };
            Error::value_error(format!("{option}: {reason}"))
        })
    }

    fn all(&self, option: &str, names: &[String]) -> isoform::Result<Vec<Value>> {
        let mut seen = HashSet::new();
        let one = |name: &String| {
            if !seen.insert(name.clone()) {
                let reason = format!("{option}: value '{name}' is named twice");
                return Err(Error::value_error(reason));
            }
            self.value(option, name).cloned()
        };
        names.iter().map(one).collect()
    }

    fn run(&self, from: &[String], to: &[String]) -> isoform::Result<Ref<Program>> {
        if to.is_empty() {
            return Err(Error::value_error(
                "to: expected the name of at least one value, got none",
            ));
        }
        let (starts, ends) = (self.all("from", from)?, self.all("to", to)?);
        let mut facts = TypeInference::new(&self.program.graph);
        let mut cut: HashMap<ValueKey, Value> = HashMap::new();
        let mut params: Vec<Ref<Input>> = Vec::new();
        for (name, value) in from.iter().zip(&starts) {
            let param = match value
                .as_object()
                .and_then(|object| object.downcast_ref::<Input>())
            {
                Some(input) => input.clone(),
                None => Ref::new(Input {
                    name: name.as_str().into(),
                    ty: facts.of(value),
                    default: Value::NONE,
                    graph: self.program.graph.name.clone(),
                    in_function: false,
                    position: params.len() as i64,
                    meta: None,
                }),
            };
            cut.insert(ValueKey::of(value), (&param).into());
            params.push(param);
        }
        let types: Vec<Value> = ends
            .iter()
            .map(|value| self.ty(value, &mut facts))
            .collect();
        let results = replaced(ends, &cut)?;
        let params = self.needed(params, &results, from.is_empty())?;
        let old = &self.program.graph;
        let graph = Ref::new(Graph {
            params: params.into(),
            result_types: types.into(),
            results,
            result_names: to.iter().map(|name| Str::from(name.as_str())).collect(),
            ..old.clone_fields()
        });
        let io_names = if self.program.io_names.is_empty() {
            Array::default()
        } else {
            let inputs = graph.params.iter().map(|input| input.name.clone());
            Array::from([inputs.collect(), graph.result_names.clone()])
        };
        Ok(Ref::new(Program {
            graph,
            io_names,
            ..self.program.clone_fields()
        }))
    }

    /// The declared type of an output, or else the inferred type.
    fn ty(&self, value: &Value, facts: &mut TypeInference) -> Value {
        let graph = &self.program.graph;
        let wanted = ValueKey::of(value);
        let mut results = graph.results.values().iter();
        let position = results.position(|result| ValueKey::of(result) == wanted);
        let declared = position
            .and_then(|at| graph.result_types.get(at).cloned())
            .filter(|ty| !ty.is_none());
        declared.unwrap_or_else(|| facts.of(value))
    }

    /// The inputs of the extracted part: first the given inputs, then further inputs of the
    /// model on which the results depend.
    fn needed(
        &self,
        inputs: Vec<Ref<Input>>,
        results: &Array,
        may_add: bool,
    ) -> isoform::Result<Vec<Ref<Input>>> {
        let mut used = HashSet::new();
        WalkOptions::default().order(WalkOrder::Pre).walk_objects(
            results.clone(),
            |object, _| {
                if object.downcast_ref::<Input>().is_some() {
                    used.insert(object.identity());
                }
                Ok(WalkResult::<()>::Advance)
            },
        )?;
        let idents: HashSet<u64> = inputs.iter().map(Ref::identity).collect();
        let (mut params, mut missing) = (inputs, Vec::new());
        for input in self.program.graph.params.iter() {
            if !used.contains(&input.identity()) || idents.contains(&input.identity()) {
                continue;
            }
            if may_add || !input.default.is_none() {
                params.push(input.clone())
            } else {
                missing.push(format!("'{}'", input.name))
            }
        }
        if missing.is_empty() {
            Ok(params)
        } else {
            Err(Error::value_error(format!(
                "from: the part also needs {} of the model; name them as well, or a value on \
                 every way from there",
                missing.join(", ")
            )))
        }
    }
}

/// Replaces the values at which the program is cut. A single walk maps all values, so
/// shared parts stay shared.
fn replaced(values: Vec<Value>, cut: &HashMap<ValueKey, Value>) -> isoform::Result<Array> {
    let ty = Output::type_index();
    let options = MapOptions::default().order(WalkOrder::Pre);
    let mapped = options.map_selected(
        Array::from(values),
        |found| found == Some(ty),
        |visit| {
            let object: Option<Value> = visit.object().map(Value::from);
            Ok(object.and_then(|value| cut.get(&ValueKey::of(&value)).cloned()))
        },
    )?;
    mapped.extract()
}

/// Types that follow from the operators.
struct TypeInference {
    analysis: Analysis,
    /// The dimensions of the inputs, by the identity of their symbols.
    dims: HashMap<u64, Ref<Dim>>,
}

impl TypeInference {
    fn new(graph: &Ref<Graph>) -> Self {
        let mut analysis = Analysis::new();
        analysis.enter_graph(graph);
        let mut dims = HashMap::new();
        for input in graph.params.iter() {
            let ty = input.ty.as_object();
            let Some(ty) = ty.and_then(|it| it.downcast_ref::<TensorType>()) else {
                continue;
            };
            for dim in ty.shape.iter().flat_map(|shape| shape.values().iter()) {
                if let Some(dim) = dim.as_object().and_then(|it| it.downcast_ref::<Dim>())
                    && let Some(symbol) = analysis.symbols().dim(dim).as_symbol()
                {
                    dims.insert(symbol.ident(), dim.clone());
                }
            }
        }
        TypeInference { analysis, dims }
    }

    /// The type of a value, or None if unknown.
    fn of(&mut self, value: &Value) -> Value {
        if let Some(input) = value.as_object().and_then(|it| it.downcast_ref::<Input>()) {
            return input.ty.clone();
        }
        let fact = self.analysis.fact(value);
        let Some(elem) = elem_of(&fact) else {
            return Value::NONE;
        };
        let shape = fact.shape.as_ref().map(|sizes| {
            let dim = |size: &crate::facts::Size| match (size.as_const(), size.as_symbol()) {
                (Some(number), _) => number.into(),
                (None, Some(symbol)) => {
                    let dim = self.dims.get(&symbol.ident());
                    dim.map_or(Value::NONE, Value::from)
                }
                (None, None) => Value::NONE,
            };
            Array::from(sizes.iter().map(dim).collect::<Vec<Value>>())
        });
        Ref::new(TensorType { elem, shape }).into()
    }
}

fn elem_of(fact: &Fact) -> Option<Value> {
    if fact.kind != Kind::Tensor {
        return None;
    }
    let elem = fact.elem?;
    Some(match elem.dtype() {
        Some(dtype) => dtype.into(),
        None => "string".into(),
    })
}
