//! Models in numbers: their contents, and how two of them differ.
//!
//! | to | use |
//! |---|---|
//! | summarise a model | [`ModelSummary::new`] |
//! | compare the summaries of two models, and their weights | [`ModelsSummary`] |
//! | pair the weights of two models, and measure pairs | [`pair_weights`], [`measure_weights`] |
//! | print a summary | `to_string`, or `lines` for lines with a role |
//!
//! A summary is not a verdict: models with the same numbers may compute different things.
//!
//! `weights.rs` pairs the weights of two models; the command and Python print the lines
//! of `text.rs` and `pair_text.rs`.

mod dims;
mod pair;
mod pair_text;
mod pairing;
mod text;
mod weights;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use isoform::values::ValueRef;
use isoform::{Ref, Value};

use crate::ir::{
    Call, Dim, Input, MapType, OpaqueType, OptionalType, Program, SequenceType, SparseTensorType,
    TensorType,
};
use crate::layout::{Body, BodyKind, Listing, attributes, call_of, graph_in, list, operands};
use crate::values::{constant, tensor};

pub use isoform_kernels::difference::Difference;

pub use self::pair::{Changed, ModelsSummary, OperatorDifference};
pub(crate) use self::pair_text::changed_role;
pub use self::pair_text::number;
pub use self::pairing::pair_weights;
pub(crate) use self::pairing::paired_weights;
pub use self::text::{Line, Role};
pub(crate) use self::text::{domain_text, versions, write};
pub use self::weights::{MeasuredWeight, Weight, WeightPairs, WeightsDifference, measure_weights};

/// The contents of a model in numbers.
///
/// The text is the output of the command `isoform summary`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ModelSummary {
    /// Version of the file format.
    pub ir_version: i64,
    /// Name and version of the tool that wrote the model.
    pub producer: String,
    /// The operator sets used by nodes, by domain; the empty domain is `ai.onnx`.
    /// Functions may use other versions than the main graph.
    pub opsets: BTreeMap<String, BTreeSet<i64>>,
    /// The inputs of the main graph.
    pub inputs: Vec<ValueSummary>,
    /// The outputs of the main graph.
    pub outputs: Vec<ValueSummary>,
    /// The number of nodes that apply each operator or local function, including nodes
    /// of bodies and functions.
    pub operators: BTreeMap<Operator, usize>,
    /// The number of nodes; see [`Listing::node_count`].
    pub nodes: usize,
    /// The number of nodes of the longest chain in which every node uses a result of
    /// the previous node. A body counts as a part of its node, a local function as one
    /// node.
    pub depth: usize,
    /// How deep bodies nest: 0 if no node has one.
    pub nesting: usize,
    /// The number of constants, whether nodes or attributes use them.
    pub constants: usize,
    /// The weights by the names of their element types: the constant tensors of numbers
    /// that are inputs of nodes, results, or defaults of inputs.
    pub weights: BTreeMap<String, WeightsOfType>,
    /// The local functions called by the program, in the order of use.
    pub functions: Vec<FunctionSummary>,
}

/// An operator or local function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operator {
    /// The domain; empty for `ai.onnx`, and for a local function, whose name contains
    /// the domain.
    pub domain: String,
    /// The name.
    pub op: String,
    /// True for a local function.
    pub is_function: bool,
}

/// An input or output of the main graph.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ValueSummary {
    /// The name in the file.
    pub name: String,
    /// The element type, or the kind of type: `float32`, `sequence(int64)`, `?` if
    /// unknown.
    pub dtype: String,
    /// The extents, like `[batch, 3, ?]`; `[...]` for an unknown rank, and empty for a
    /// value without a shape.
    pub shape: String,
}

/// The weights of one element type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WeightsOfType {
    /// The number of weights.
    pub count: usize,
    /// The number of their elements.
    pub elements: u64,
    /// The number of their bytes.
    pub bytes: u64,
}

/// A local function.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FunctionSummary {
    /// Name of the function, with its domain and overload.
    pub name: String,
    /// The number of nodes of the function, including bodies.
    pub nodes: usize,
}

impl ModelSummary {
    /// The summary of a program. O(nodes × depth of bodies); weights are not read.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let listing = list(program);
        let mut summary = ModelSummary {
            ir_version: program.ir_version,
            producer: program.producer.to_string(),
            opsets: BTreeMap::new(),
            inputs: inputs(program),
            outputs: outputs(program),
            operators: BTreeMap::new(),
            nodes: listing.node_count(),
            depth: 0,
            nesting: listing
                .bodies
                .iter()
                .map(|body| body.depth)
                .max()
                .unwrap_or(0),
            constants: 0,
            weights: BTreeMap::new(),
            functions: functions(&listing),
        };
        let calls = || {
            listing
                .bodies
                .iter()
                .flat_map(|body| &body.nodes)
                .map(|node| &node.call)
        };
        for call in calls() {
            *summary.operators.entry(operator(call)).or_default() += 1;
            if call.callee.is_none() {
                let versions = summary.opsets.entry(call.domain.to_string());
                versions.or_default().insert(call.version);
            }
        }
        summary.depth = depth(&listing);
        let mut constants = HashSet::new();
        for value in weights(&listing) {
            if constants.insert(identity(value))
                && let Some(tensor) = tensor(value)
            {
                let of_type = summary
                    .weights
                    .entry(tensor.dtype().to_string())
                    .or_default();
                let extents = tensor.shape().iter().map(|dim| dim.unsigned_abs());
                of_type.count += 1;
                of_type.elements += extents.fold(1, u64::saturating_mul);
                of_type.bytes += tensor.data().len() as u64;
            }
        }
        let used = calls().flat_map(|call| operands(call));
        constants.extend(used.filter_map(constant).map(identity));
        summary.constants = constants.len();
        summary
    }
}

pub(crate) fn identity(value: &Value) -> u64 {
    value.as_object().map_or(0, |object| object.identity())
}

/// The constants used as inputs of nodes, results, and defaults of inputs, in the order
/// of the listing. A constant occurs once per use.
fn weights(listing: &Listing) -> Vec<&Value> {
    let mut found = Vec::new();
    for body in &listing.bodies {
        found.extend(body.kind.params().iter().map(|param| &param.default));
        for node in &body.nodes {
            found.extend(node.call.inputs.values());
        }
        found.extend(body.kind.results().values());
    }
    found.retain(|value| constant(value).is_some());
    found
}

fn operator(call: &Call) -> Operator {
    match &call.callee {
        None => Operator {
            domain: call.domain.to_string(),
            op: call.op.to_string(),
            is_function: false,
        },
        Some(callee) => Operator {
            domain: String::new(),
            op: callee.name.to_string(),
            is_function: true,
        },
    }
}

fn functions(listing: &Listing) -> Vec<FunctionSummary> {
    let mut found = Vec::new();
    for (at, &start) in listing.functions.iter().enumerate() {
        let end = listing.functions.get(at + 1).copied();
        let bodies = &listing.bodies[start..end.unwrap_or(listing.bodies.len())];
        if let BodyKind::Function(function) = &listing.bodies[start].kind {
            found.push(FunctionSummary {
                name: function.name.to_string(),
                nodes: bodies.iter().map(Body::node_count).sum(),
            });
        }
    }
    found
}

/// The length of the longest chain of nodes.
fn depth(listing: &Listing) -> usize {
    // A node inside a body may use nodes outside of the body, and a node with bodies
    // uses the results of the bodies. A node is therefore finished after all nodes that
    // it needs, in whatever body they are listed.
    let mut depths: HashMap<u64, usize> = HashMap::new();
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    let mut stack: Vec<(Ref<Call>, bool)> = Vec::new();
    for node in nodes {
        stack.push((node.call.clone(), false));
        while let Some((call, is_ready)) = stack.pop() {
            if depths.contains_key(&call.identity()) {
                continue;
            }
            let needed = needed(&call);
            if is_ready {
                let before = needed
                    .iter()
                    .filter_map(|operand| depths.get(&operand.identity()))
                    .max()
                    .copied()
                    .unwrap_or(0);
                depths.insert(call.identity(), before + 1);
                continue;
            }
            stack.push((call, true));
            let open = needed.into_iter();
            stack.extend(
                open.filter(|operand| !depths.contains_key(&operand.identity()))
                    .map(|operand| (operand, false)),
            );
        }
    }
    depths.values().max().copied().unwrap_or(0)
}

/// The nodes whose results a node uses, directly or as results of its bodies.
fn needed(call: &Call) -> Vec<Ref<Call>> {
    let mut found: Vec<Ref<Call>> = operands(call)
        .into_iter()
        .filter_map(call_of)
        .cloned()
        .collect();
    let mut add = |value: &Value| {
        if let Some(graph) = graph_in(value) {
            found.extend(graph.results.values().iter().filter_map(call_of).cloned());
        }
    };
    for (_, value) in attributes(call) {
        match value.view() {
            ValueRef::Array(items) => items.values().iter().for_each(&mut add),
            _ => add(value),
        }
    }
    found
}

fn inputs(program: &Program) -> Vec<ValueSummary> {
    let params = program.graph.params.iter();
    let input = |param: &Ref<Input>| value_summary(param.name.to_string(), &param.ty);
    params.map(input).collect()
}

fn outputs(program: &Program) -> Vec<ValueSummary> {
    let graph = &program.graph;
    let types = graph.result_types.values().iter().enumerate();
    let output = |(at, ty): (usize, &Value)| {
        let name = graph.result_names.get(at);
        value_summary(name.map_or_else(String::new, ToString::to_string), ty)
    };
    types.map(output).collect()
}

pub(crate) fn value_summary(name: String, ty: &Value) -> ValueSummary {
    let mut dtype = String::new();
    let mut closing = 0;
    let mut current = ty;
    // Only the last part of a type nests, so a loop suffices.
    let leaf = loop {
        let Some(object) = current.as_object() else {
            break None;
        };
        if let Some(ty) = object.downcast_ref::<SequenceType>() {
            dtype.push_str("sequence(");
            current = &ty.elem;
        } else if let Some(ty) = object.downcast_ref::<OptionalType>() {
            dtype.push_str("optional(");
            current = &ty.elem;
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            dtype.push_str(&format!("map({}, ", elem_text(&ty.key)));
            current = &ty.value;
        } else {
            break Some(object);
        }
        closing += 1;
    };
    let mut shape = String::new();
    match leaf {
        None => dtype.push('?'),
        Some(object) => {
            if let Some(ty) = object.downcast_ref::<TensorType>() {
                dtype.push_str(&elem_text(&ty.elem));
                shape = shape_text(ty.shape.as_ref());
            } else if let Some(ty) = object.downcast_ref::<SparseTensorType>() {
                dtype.push_str(&format!("sparse {}", elem_text(&ty.elem)));
                shape = shape_text(ty.shape.as_ref());
            } else if let Some(ty) = object.downcast_ref::<OpaqueType>() {
                dtype.push_str(&format!(
                    "opaque({:?}, {:?})",
                    ty.domain.as_str(),
                    ty.name.as_str()
                ));
            } else {
                dtype.push('?');
            }
        }
    }
    dtype.extend(std::iter::repeat_n(')', closing));
    ValueSummary { name, dtype, shape }
}

fn elem_text(elem: &Value) -> String {
    match elem.view() {
        ValueRef::DType(dtype) => dtype.to_string(),
        ValueRef::Str(name) => name.to_owned(),
        _ => "?".to_owned(),
    }
}

fn shape_text(shape: Option<&isoform::Array>) -> String {
    let Some(shape) = shape else {
        return "[...]".to_owned();
    };
    let extent = |dim: &Value| match dim.view() {
        ValueRef::Int(extent) => extent.to_string(),
        _ => {
            let dim = dim.as_object().and_then(|dim| dim.downcast_ref::<Dim>());
            dim.map_or_else(|| "?".to_owned(), |dim| dim.name.to_string())
        }
    };
    let extents: Vec<String> = shape.values().iter().map(extent).collect();
    format!("[{}]", extents.join(", "))
}
