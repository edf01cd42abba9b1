//! Copies of programs: with other names and made in another order, or with some values
//! replaced.

use std::collections::{HashMap, HashSet};

use isoform::traverse::MapOptions;
use isoform::values::ValueRef;
use isoform::{Array, Map, Node as _, Ref, Result, Str, Value};
use isoform_onnx::ir::{Call, Dim, Function, Graph, Input, Output, Program, TensorType};

use crate::source::Source;

/// Returns the same program with new names for everything except inputs and outputs,
/// and nodes made in another order.
///
/// A pass that depends on names, or on the order of creation of objects, changes its
/// result.
pub fn rebuilt(program: &Ref<Program>, source: &mut Source<'_>) -> Ref<Program> {
    let mut copy = Copy {
        source,
        made: HashMap::new(),
        free: HashMap::new(),
        count: 0,
    };
    let graph = copy.body(&Body::Graph(program.graph.clone()));
    let graph: Ref<Graph> = graph.extract().expect("a graph becomes a graph");
    // The main graph keeps the names visible to its callers.
    let mut fields = graph.clone_fields();
    fields.result_names = program.graph.result_names.clone();
    Ref::new(Program {
        graph: Ref::new(fields),
        ..program.clone_fields()
    })
}

/// Returns a program with some outputs of calls replaced; the callback gets every
/// output once.
///
/// # Errors
///
/// Errors of rewriting.
pub fn replace_values(
    program: &Ref<Program>,
    mut replace: impl FnMut(&Output) -> Option<Value>,
) -> Result<Ref<Program>> {
    let output = Output::type_index();
    let mapped = MapOptions::default().map_selected(
        program,
        |ty| ty == Some(output),
        |visit| {
            let object = visit.object();
            let output = object
                .as_ref()
                .and_then(|object| object.downcast_ref::<Output>());
            Ok(output.and_then(|output| replace(output)))
        },
    )?;
    mapped.extract()
}

/// A scope to be copied.
enum Body {
    Graph(Ref<Graph>),
    Function(Ref<Function>),
}

impl Body {
    fn params(&self) -> &Array<Ref<Input>> {
        match self {
            Body::Graph(graph) => &graph.params,
            Body::Function(function) => &function.params,
        }
    }

    fn results(&self) -> &Array {
        match self {
            Body::Graph(graph) => &graph.results,
            Body::Function(function) => &function.results,
        }
    }
}

struct Copy<'s, 'b> {
    source: &'s mut Source<'b>,
    /// The copies of inputs, calls, dimensions and functions, by identity.
    made: HashMap<u64, Value>,
    /// The scope inputs needed by each call, by identity.
    free: HashMap<u64, HashSet<u64>>,
    count: usize,
}

impl Copy<'_, '_> {
    fn name(&mut self, what: &str) -> Str {
        self.count += 1;
        format!("renamed {what} {}", self.count).into()
    }

    /// The copy of a scope, whose calls are copied in a drawn order. Recurses to the
    /// nesting depth of scopes, bounded by the generator.
    fn body(&mut self, body: &Body) -> Value {
        let is_main = self.made.is_empty();
        for param in body.params().iter() {
            let ty = self.ty(&param.ty);
            let name = if is_main {
                param.name.clone()
            } else {
                self.name("input")
            };
            let fields = param.clone_fields();
            let copy = Ref::new(Input { name, ty, ..fields });
            self.made.insert(param.identity(), Value::from(&copy));
        }
        self.calls(body.results());
        let params: Array<Ref<Input>> = body
            .params()
            .iter()
            .map(|param| {
                let copy = self.made[&param.identity()].clone();
                copy.extract::<Ref<Input>>().expect("an input becomes one")
            })
            .collect();
        let results: Array = body
            .results()
            .values()
            .iter()
            .map(|value| self.value(value))
            .collect();
        match body {
            Body::Graph(graph) => {
                let types: Vec<Value> = graph.result_types.values().to_vec();
                let result_types = types.iter().map(|ty| self.ty(ty)).collect();
                let names = (0..results.len())
                    .map(|_| self.name("result"))
                    .collect::<Vec<_>>();
                Ref::new(Graph {
                    params,
                    results,
                    result_types,
                    result_names: names.into(),
                    name: self.name("graph"),
                    ..graph.clone_fields()
                })
                .into()
            }
            Body::Function(function) => Ref::new(Function {
                params,
                results,
                name: self.name("function"),
                ..function.clone_fields()
            })
            .into(),
        }
    }

    /// Copies the remaining calls that the results need and that need no input of an
    /// inner scope.
    ///
    /// Any of the calls all of whose operands are copied may be next.
    fn calls(&mut self, results: &Array) {
        let mut operands: HashMap<u64, Vec<u64>> = HashMap::new();
        let mut waiting = Vec::new();
        let mut pending = self.movable(results.values());
        while let Some(call) = pending.pop() {
            let ident = call.identity();
            if self.made.contains_key(&ident) || operands.contains_key(&ident) {
                continue;
            }
            let mut values: Vec<Value> = call.inputs.values().to_vec();
            for graph in graphs_of(&call) {
                values.extend(graph.results.values().iter().cloned());
            }
            let needed = self.movable(&values);
            operands.insert(ident, needed.iter().map(Ref::identity).collect());
            waiting.push(call);
            pending.extend(needed);
        }
        while !waiting.is_empty() {
            let ready: Vec<usize> = (0..waiting.len())
                .filter(|&index| {
                    let needed = &operands[&waiting[index].identity()];
                    needed.iter().all(|ident| self.made.contains_key(ident))
                })
                .collect();
            let index = *self.source.pick(&ready);
            let call: Ref<Call> = waiting.swap_remove(index);
            let copy = self.call(&call);
            self.made.insert(call.identity(), Value::from(&copy));
        }
    }

    /// The calls nearest to the given values that can be copied here; the search
    /// continues through calls with inputs of an inner scope.
    fn movable(&mut self, values: &[Value]) -> Vec<Ref<Call>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut pending: Vec<Ref<Call>> = values.iter().filter_map(call_of).collect();
        while let Some(call) = pending.pop() {
            if !seen.insert(call.identity()) {
                continue;
            }
            let free = self.free_inputs(&call);
            if free.iter().all(|ident| self.made.contains_key(ident)) {
                found.push(call);
                continue;
            }
            pending.extend(call.inputs.values().iter().filter_map(call_of));
            for graph in graphs_of(&call) {
                pending.extend(graph.results.values().iter().filter_map(call_of));
            }
        }
        found
    }

    /// The scope inputs needed by a call, without the inputs of its own bodies. It
    /// recurses, since drawn programs are small.
    fn free_inputs(&mut self, call: &Ref<Call>) -> HashSet<u64> {
        if let Some(known) = self.free.get(&call.identity()) {
            return known.clone();
        }
        let mut free = HashSet::new();
        for value in call.inputs.values() {
            free.extend(self.free_of(value));
        }
        for graph in graphs_of(call) {
            let mut inner = HashSet::new();
            for value in graph.results.values() {
                inner.extend(self.free_of(value));
            }
            for param in graph.params.iter() {
                inner.remove(&param.identity());
            }
            free.extend(inner);
        }
        self.free.insert(call.identity(), free.clone());
        free
    }

    fn free_of(&mut self, value: &Value) -> HashSet<u64> {
        if let Some(call) = call_of(value) {
            return self.free_inputs(&call);
        }
        let object = value.as_object();
        let param = object.filter(|object| object.downcast_ref::<Input>().is_some());
        param.map(|param| param.identity()).into_iter().collect()
    }

    fn call(&mut self, call: &Ref<Call>) -> Ref<Call> {
        let inputs: Array = call
            .inputs
            .values()
            .iter()
            .map(|input| self.value(input))
            .collect();
        let attrs: Vec<(Str, Value)> = call
            .attrs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let attrs = attrs
            .into_iter()
            .rev()
            .map(|(name, value)| {
                let graph = value
                    .as_object()
                    .and_then(|object| object.downcast_ref::<Graph>());
                let value = match graph {
                    Some(graph) => self.body(&Body::Graph(graph.clone())),
                    None => value,
                };
                (name, value)
            })
            .collect::<Map<Str, Value>>();
        let callee = call.callee.as_ref().map(|callee| {
            if let Some(copy) = self.made.get(&callee.identity()) {
                return copy.extract::<Ref<Function>>().expect("a function");
            }
            let copy = self.body(&Body::Function(callee.clone()));
            self.made.insert(callee.identity(), copy.clone());
            copy.extract::<Ref<Function>>().expect("a function")
        });
        let names = (0..call.outputs)
            .map(|_| self.name("value"))
            .collect::<Vec<_>>();
        Ref::new(Call {
            attrs,
            callee,
            inputs,
            name: self.name("node"),
            output_names: names.into(),
            position: 0,
            ..call.clone_fields()
        })
    }

    fn value(&mut self, value: &Value) -> Value {
        let Some(object) = value.as_object() else {
            return value.clone();
        };
        if let Some(made) = self.made.get(&object.identity()) {
            return made.clone();
        }
        match object.downcast_ref::<Output>() {
            Some(output) => {
                let call = self.made[&output.call.identity()].clone();
                let call = call.extract::<Ref<Call>>().expect("a call becomes a call");
                let index = output.index;
                Ref::new(Output { call, index }).into()
            }
            None => value.clone(),
        }
    }

    /// A type with copies of its dimensions.
    fn ty(&mut self, ty: &Value) -> Value {
        let tensor = ty
            .as_object()
            .and_then(|object| object.downcast_ref::<TensorType>());
        let Some(tensor) = tensor else {
            return ty.clone();
        };
        let shape = tensor.shape.as_ref().map(|shape| {
            let dims: Vec<Value> = shape.values().to_vec();
            dims.into_iter().map(|dim| self.dim(dim)).collect::<Array>()
        });
        let elem = tensor.elem.clone();
        Ref::new(TensorType { elem, shape }).into()
    }

    fn dim(&mut self, dim: Value) -> Value {
        let Some(object) = dim.as_object() else {
            return dim;
        };
        if object.downcast_ref::<Dim>().is_none() {
            return dim;
        }
        let ident = object.identity();
        if let Some(made) = self.made.get(&ident) {
            return made.clone();
        }
        let name = self.name("dim");
        let made = Value::from(&Ref::new(Dim { name }));
        self.made.insert(ident, made.clone());
        made
    }
}

/// The call whose output a value is.
fn call_of(value: &Value) -> Option<Ref<Call>> {
    let output = value.as_object()?.downcast_ref::<Output>()?;
    Some(output.call.clone())
}

fn graphs_of(call: &Call) -> Vec<Ref<Graph>> {
    let mut graphs = Vec::new();
    for (_, value) in call.attrs.iter() {
        if let ValueRef::Object(object) = value.view()
            && let Some(graph) = object.downcast_ref::<Graph>()
        {
            graphs.push(graph.clone());
        }
    }
    graphs
}
