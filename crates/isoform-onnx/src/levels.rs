//! Levels of equality: which differences of two models count.
//!
//! A level rewrites a program, and the results are then compared, hashed or diffed:
//! models that differ only in ignored details become equal. No level changes the
//! meaning of a program, but the result is for comparison, not for writing.
//!
//! Levels ignore declared shapes, operator set versions with the same meaning, and
//! written default values.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use isoform::traverse::{MapOptions, WalkOptions, WalkResult};
use isoform::values::ValueRef;
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, Value, structural_equal};

use crate::ir::{
    Call, Graph, Input, MapType, OptionalType, Program, SequenceType, SparseTensorType, TensorType,
};
use crate::layout::graph_in;
use crate::schema;

/// The ignored differences. By default every difference counts: programs are compared
/// unchanged.
///
/// ```
/// use isoform_onnx::ir::{Call, Graph, Input, Output, Program};
/// use isoform_onnx::levels::Levels;
/// # use isoform::{Array, Map, Ref, Str, Value, structural_equal};
/// # fn gemm(version: i64, attrs: Vec<(Str, Value)>) -> Ref<Program> {
/// #     let input = Ref::new(Input {
/// #         name: "x".into(), ty: Value::NONE, default: Value::NONE, graph: Str::default(),
/// #         in_function: false, position: 0, meta: None,
/// #     });
/// #     let call = Ref::new(Call {
/// #         domain: Str::default(), op: "Gemm".into(), version, callee: None,
/// #         attrs: attrs.into_iter().collect::<Map<Str, Value>>(),
/// #         inputs: Array::from(vec![Value::from(&input), Value::from(&input)]), outputs: 1,
/// #         name: Str::default(), op_name: "Gemm".into(), doc: Str::default(),
/// #         input_names: Array::new(), output_names: Array::new(), graph: Str::default(),
/// #         in_function: false, position: 0, depth: -1, meta: None,
/// #     });
/// #     let result = Value::from(Ref::new(Output { call, index: 0 }));
/// #     let graph = Ref::new(Graph {
/// #         params: Array::from(vec![input]), result_types: Array::from(vec![Value::NONE]),
/// #         results: Array::from(vec![result]), name: Str::default(), result_names: Array::new(),
/// #         doc: Str::default(), meta: None,
/// #     });
/// #     Ref::new(Program {
/// #         graph, io_names: Array::new(), ir_version: 8, producer: Str::default(), meta: None,
/// #     })
/// # }
///
/// // Gemm is the same in these operator sets, and alpha is 1 if it is not given.
/// let old = gemm(13, vec![("alpha".into(), 1.0.into())]);
/// let new = gemm(17, vec![]);
/// assert!(!structural_equal(&old, &new)?);
/// let (old, new) = Levels::ALL.apply_pair(&old, &new)?;
/// assert!(structural_equal(&old, &new)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Declared types are ignored as far as the computation determines them: shapes
    /// everywhere, and all types of inputs and results of bodies.
    ///
    /// The element types of the inputs and outputs of the main graph are still
    /// compared, with [`apply_pair`](Self::apply_pair) only if both models declare
    /// them. Types given as attributes belong to the computation, and stay.
    pub ignore_shapes: bool,
    /// Operator sets are equal where a call means the same in both: the version of the
    /// call becomes the newest version with the same meaning.
    ///
    /// A version has the same meaning if it only allows more types, or adds an
    /// attribute whose default is the old behaviour. An attribute that became an input
    /// also keeps its meaning, like the axes of reductions. The versions of operators
    /// outside of the standard's table, or of newer operator sets, stay unchanged.
    pub same_opset_meaning: bool,
    /// An attribute with the default of its operator or local function equals an
    /// omitted attribute.
    ///
    /// Operators outside of the standard's table, or of newer operator sets, keep all
    /// attributes.
    pub defaults: bool,
}

impl Levels {
    /// No difference is ignored.
    pub const NONE: Levels = Levels {
        ignore_shapes: false,
        same_opset_meaning: false,
        defaults: false,
    };

    /// Operator sets are compared by meaning, and written defaults equal omitted
    /// defaults; shapes count.
    pub const MEANING: Levels = Levels {
        ignore_shapes: false,
        same_opset_meaning: true,
        defaults: true,
    };

    /// All differences are ignored that do not change the computation of a model.
    pub const ALL: Levels = Levels {
        ignore_shapes: true,
        same_opset_meaning: true,
        defaults: true,
    };

    /// The program without the ignored differences, or the same object if the program
    /// has no such differences. A second application changes nothing. O(n).
    ///
    /// # Errors
    ///
    /// `ValueError` for a program that contains itself.
    pub fn apply(self, program: &Ref<Program>) -> Result<Ref<Program>> {
        self.rewrite(program, &Interface::default())
    }

    /// [`apply`](Self::apply) to both programs of a comparison. An element type counts
    /// only if both programs declare it. O(n).
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn apply_pair(
        self,
        left: &Ref<Program>,
        right: &Ref<Program>,
    ) -> Result<(Ref<Program>, Ref<Program>)> {
        let mut open = Interface::default();
        // Without different operator sets, attributes that later became inputs stay
        // attributes.
        let same_opset_meaning =
            self.same_opset_meaning && operator_sets(left)? != operator_sets(right)?;
        let levels = Levels {
            same_opset_meaning,
            ..self
        };
        for graph in [&left.graph, &right.graph] {
            let inputs = graph.params.iter().map(|param| &param.ty).enumerate();
            let results = graph.result_types.values().iter().enumerate();
            let positions = |types: &mut dyn Iterator<Item = (usize, &Value)>| -> Vec<usize> {
                let undeclared = types.filter(|(_, ty)| is_undeclared(ty));
                undeclared.map(|(position, _)| position).collect()
            };
            open.inputs.extend(positions(&mut { inputs }));
            open.results.extend(positions(&mut { results }));
        }
        Ok((levels.rewrite(left, &open)?, levels.rewrite(right, &open)?))
    }

    fn rewrite(self, program: &Ref<Program>, open: &Interface) -> Result<Ref<Program>> {
        if self == Levels::NONE {
            return Ok(program.clone());
        }
        let main: HashMap<u64, usize> = program
            .graph
            .params
            .iter()
            .enumerate()
            .map(|(position, input)| (input.identity(), position))
            .collect();
        // A variable is visited at its binding and at each use, and must become the
        // same variable.
        let inputs: RefCell<HashMap<u64, Value>> = RefCell::default();
        let (input, call) = (Input::type_index(), Call::type_index());
        let mapped = MapOptions::default().map_selected(
            program,
            |ty| ty == Some(call) || ty == Some(input) && self.ignore_shapes,
            |visit| {
                let Some(object) = visit.object() else {
                    return Ok(None);
                };
                if let Some(call) = object.downcast_ref::<Call>() {
                    return self.call(call);
                }
                let Some(input) = object.downcast_ref::<Input>() else {
                    return Ok(None);
                };
                if let Some(copy) = inputs.borrow().get(&input.identity()) {
                    return Ok(Some(copy.clone()));
                }
                let ty = match main.get(&input.identity()) {
                    Some(position) if !open.inputs.contains(position) => without_shape(&input.ty),
                    _ => Value::NONE,
                };
                if same(&ty, &input.ty) {
                    return Ok(None);
                }
                let fields = input.clone_fields();
                let changed = Value::from(Ref::new(Input { ty, ..fields }));
                inputs
                    .borrow_mut()
                    .insert(input.identity(), changed.clone());
                Ok(Some(changed))
            },
        )?;
        let mapped = mapped.extract::<Ref<Program>>()?;
        Ok(if self.ignore_shapes {
            with_main_types(program, mapped, open)
        } else {
            mapped
        })
    }

    /// The canonical form of a call at these levels; None if the call is already canonical.
    fn call(self, call: &Ref<Call>) -> Result<Option<Value>> {
        let schema = match call.callee {
            Some(_) => None,
            // A newer operator set may have changed anything.
            None if schema::newest(&call.domain).is_none_or(|version| version < call.version) => {
                None
            }
            None => schema::lookup(&call.domain, &call.op, call.version),
        };
        let meaning = schema
            .filter(|_| self.same_opset_meaning)
            .map(|schema| schema::meaning(call, schema));
        let mut left_out = HashSet::new();
        let mut bodies = HashMap::new();
        for (name, value) in call.attrs.iter() {
            if let Some(body) = without_result_types(value).filter(|_| self.ignore_shapes) {
                bodies.insert(name.clone(), body);
            }
            if !self.defaults {
                continue;
            }
            let default = match &call.callee {
                Some(callee) => {
                    let mut defaults = callee.attr_defaults.iter();
                    let entry = defaults.find(|(key, _)| *key == name);
                    entry.map(|(_, default)| default.clone())
                }
                None => {
                    let newer = meaning.as_ref().map(|meaning| meaning.schema);
                    let mut schemas = schema.into_iter().chain(newer);
                    let attribute = schemas.find_map(|schema| schema.attribute(name));
                    attribute.and_then(|attribute| attribute.default_value())
                }
            };
            if let Some(default) = default
                && structural_equal(value, default)?
            {
                left_out.insert(name.clone());
            }
        }
        let (mut version, mut inputs) = (call.version, None);
        if let Some(meaning) = meaning {
            version = meaning.schema.since;
            left_out.extend(meaning.left_out);
            inputs = meaning.inputs;
        }
        if left_out.is_empty() && bodies.is_empty() && version == call.version {
            return Ok(None);
        }
        let kept = call
            .attrs
            .iter()
            .filter(|(name, _)| !left_out.contains(*name));
        let attrs = kept
            .map(|(name, value)| {
                (
                    name.clone(),
                    bodies.remove(name).unwrap_or_else(|| value.clone()),
                )
            })
            .collect::<Map<Str, Value>>();
        let fields = call.clone_fields();
        let changed = Ref::new(Call {
            version,
            attrs,
            inputs: inputs.map_or_else(|| call.inputs.clone(), Array::from),
            ..fields
        });
        Ok(Some(changed.into()))
    }
}

/// The operator sets of the calls in a program: domains and versions.
fn operator_sets(program: &Ref<Program>) -> Result<BTreeSet<(String, i64)>> {
    let mut found = BTreeSet::new();
    WalkOptions::default().walk_objects(program, |object: &Ref<Obj>, _| {
        if let Some(call) = object.downcast_ref::<Call>() {
            found.insert((call.domain.to_string(), call.version));
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// Positions of the main graph's inputs and outputs whose element types are not compared.
#[derive(Default)]
struct Interface {
    inputs: HashSet<usize>,
    results: HashSet<usize>,
}

/// True for types that need not be distinguished: two absent types, or the same object.
fn same(left: &Value, right: &Value) -> bool {
    match (left.as_object(), right.as_object()) {
        (None, None) => left.is_none() && right.is_none(),
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    }
}

/// Replaces the declared types of a graph's results; None if the graph has these types.
fn with_result_types(graph: &Ref<Graph>, types: Vec<Value>) -> Option<Ref<Graph>> {
    let mut pairs = types.iter().zip(graph.result_types.values());
    if pairs.all(|(new, old)| same(new, old)) {
        return None;
    }
    let fields = graph.clone_fields();
    Some(Ref::new(Graph {
        result_types: Array::from(types),
        ..fields
    }))
}

/// The bodies in an attribute, without declared types of their results; None if there
/// is nothing to leave out.
fn without_result_types(value: &Value) -> Option<Value> {
    let bare = |value: &Value| {
        let graph = graph_in(value)?;
        let types = vec![Value::NONE; graph.result_types.len()];
        with_result_types(graph, types).map(Value::from)
    };
    let ValueRef::Array(items) = value.view() else {
        return bare(value);
    };
    let items = items.values().iter();
    let changed: Vec<Option<Value>> = items.clone().map(bare).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = changed
        .into_iter()
        .zip(items)
        .map(|(new, old)| new.unwrap_or_else(|| old.clone()));
    Some(Array::from(items.collect::<Vec<_>>()).into())
}

/// The rewritten program, with the element types declared by the original for the
/// results of the main graph.
fn with_main_types(original: &Program, mapped: Ref<Program>, open: &Interface) -> Ref<Program> {
    let declared = original.graph.result_types.values().iter().enumerate();
    let types = declared.map(|(at, ty)| {
        if open.results.contains(&at) {
            Value::NONE
        } else {
            without_shape(ty)
        }
    });
    match with_result_types(&mapped.graph, types.collect()) {
        None => mapped,
        Some(graph) => {
            let fields = mapped.clone_fields();
            Ref::new(Program { graph, ..fields })
        }
    }
}

/// True for a type without an element type.
fn is_undeclared(ty: &Value) -> bool {
    let elem = match ty.as_object() {
        None => return true,
        Some(object) => match object.downcast_ref::<TensorType>() {
            Some(ty) => &ty.elem,
            None => match object.downcast_ref::<SparseTensorType>() {
                Some(ty) => &ty.elem,
                None => return false,
            },
        },
    };
    matches!(elem.view(), ValueRef::None)
}

/// The type without shapes, or None if only a shape was declared.
fn without_shape(ty: &Value) -> Value {
    if is_undeclared(ty) {
        return Value::NONE;
    }
    // Types nest in their last part only, so a list of the enclosing types is enough.
    let mut around: Vec<&Value> = Vec::new();
    let mut current = ty;
    let mut inner = loop {
        let Some(object) = current.as_object() else {
            break current.clone();
        };
        let next = if let Some(ty) = object.downcast_ref::<SequenceType>() {
            &ty.elem
        } else if let Some(ty) = object.downcast_ref::<OptionalType>() {
            &ty.elem
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            &ty.value
        } else {
            break leaf_without_shape(current);
        };
        around.push(current);
        current = next;
    };
    if same(&inner, current) {
        return ty.clone();
    }
    while let Some(outer) = around.pop() {
        let Some(object) = outer.as_object() else {
            continue;
        };
        inner = if object.downcast_ref::<SequenceType>().is_some() {
            Ref::new(SequenceType { elem: inner }).into()
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            let key = ty.key.clone();
            Ref::new(MapType { key, value: inner }).into()
        } else {
            Ref::new(OptionalType { elem: inner }).into()
        };
    }
    inner
}

fn leaf_without_shape(ty: &Value) -> Value {
    let Some(object) = ty.as_object() else {
        return ty.clone();
    };
    if let Some(tensor) = object.downcast_ref::<TensorType>() {
        return match &tensor.shape {
            None => ty.clone(),
            Some(_) => {
                let elem = tensor.elem.clone();
                Ref::new(TensorType { elem, shape: None }).into()
            }
        };
    }
    match object.downcast_ref::<SparseTensorType>() {
        Some(tensor) if tensor.shape.is_some() => {
            let elem = tensor.elem.clone();
            Ref::new(SparseTensorType { elem, shape: None }).into()
        }
        _ => ty.clone(),
    }
}
