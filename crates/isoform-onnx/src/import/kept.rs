//! The parts of a file that a program ignores, kept for writing the file back.
//!
//! A kept part is an encoded message with only the fields that the program's nodes do
//! not represent. The fields are encoded individually from the messages at hand, to
//! copy nothing twice.

use isoform::values::Bytes;
use prost::Message;
use prost::encoding::message;

use super::{
    attribute_kind::{kind, names_values},
    context::{FIRST_IR_VERSION_WITH_DEFAULTS, one_line},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    proto::{
        AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto,
        TypeValue, ValueInfoProto,
    },
};

fn encoded(bytes: Vec<u8>) -> Option<Bytes> {
    (!bytes.is_empty()).then(|| bytes.into())
}

/// The small fields of a model, without the version of the format.
pub(crate) fn about(model: &ModelProto) -> ModelProto {
    ModelProto {
        producer_name: model.producer_name.clone(),
        producer_version: model.producer_version.clone(),
        domain: model.domain.clone(),
        model_version: model.model_version,
        doc_string: model.doc_string.clone(),
        opset_import: model.opset_import.clone(),
        metadata_props: model.metadata_props.clone(),
        ..Default::default()
    }
}

/// Encodes the parts of a model other than the graph and the functions.
pub(super) fn of_model(model: &ModelProto) -> Option<Bytes> {
    let mut bytes = about(model).encode_to_vec();
    message::encode_repeated(20, &model.training_info, &mut bytes);
    encoded(bytes)
}

/// Encodes the parts of a graph other than nodes, inputs, constants and results.
pub(super) fn of_graph(graph: &GraphProto, ir_version: i64) -> Option<Bytes> {
    let mut bytes = Vec::new();
    let sparse = graph.sparse_initializer.iter();
    let constants = graph.initializer.iter();
    for tensor in constants.chain(sparse.filter_map(|sparse| sparse.values.as_ref())) {
        if let Some(kept) = of_tensor(tensor) {
            message::encode(5, &kept, &mut bytes);
        }
    }
    for (name, node) in constant_nodes(&graph.node) {
        let kept = TensorProto {
            name: name.into(),
            ..node
        };
        message::encode(5, &kept, &mut bytes);
    }
    // The inputs, including listed weights, for the order of the list.
    if ir_version < FIRST_IR_VERSION_WITH_DEFAULTS && !graph.initializer.is_empty() {
        message::encode_repeated(11, &graph.input, &mut bytes);
    }
    for output in graph.output.iter().filter(|output| is_described(output)) {
        message::encode(12, output, &mut bytes);
    }
    message::encode_repeated(13, &graph.value_info, &mut bytes);
    message::encode_repeated(14, &graph.quantization_annotation, &mut bytes);
    message::encode_repeated(16, &graph.metadata_props, &mut bytes);
    encoded(bytes)
}

/// Name, operator sets and metadata of a function.
pub(super) fn of_function(function: &FunctionProto) -> Result<Option<Bytes>> {
    let mut bytes = FunctionProto {
        name: function.name.clone(),
        domain: function.domain.clone(),
        overload: function.overload.clone(),
        opset_import: function.opset_import.clone(),
        metadata_props: function.metadata_props.clone(),
        ..Default::default()
    }
    .encode_to_vec();
    for (name, node) in constant_nodes(&function.node) {
        let kept = NodeProto {
            output: vec![name.into()],
            doc_string: node.doc_string,
            metadata_props: node.metadata_props,
            ..Default::default()
        };
        message::encode(7, &kept, &mut bytes);
    }
    for attr in &function.attribute_proto {
        if let Some(kept) = of_attribute(attr, false)? {
            message::encode(11, &kept, &mut bytes);
        }
    }
    message::encode_repeated(12, &function.value_info, &mut bytes);
    Ok(encoded(bytes))
}

/// Overload and metadata of a node, and facts about its attributes beyond their values.
/// The reasons why the operator set does not allow the node become its documentation,
/// one per line: runtimes know more than the standard, so the node is written all the
/// same.
pub(super) fn of_node(node: &NodeProto, refusals: &[OnnxError]) -> Result<Option<Bytes>> {
    let mut bytes = Vec::new();
    for attr in &node.attribute {
        if let Some(kept) = of_attribute(attr, names_values(node, attr))? {
            message::encode(5, &kept, &mut bytes);
        }
    }
    if !refusals.is_empty() {
        let lines: Vec<String> = refusals.iter().map(one_line).collect();
        prost::encoding::string::encode(6, &lines.join("\n"), &mut bytes);
    }
    if !node.overload.is_empty() {
        prost::encoding::string::encode(8, &node.overload, &mut bytes);
    }
    message::encode_repeated(9, &node.metadata_props, &mut bytes);
    Ok(encoded(bytes))
}

/// Documentation, metadata and denotations of an input.
pub(super) fn of_input(input: &ValueInfoProto) -> Option<Bytes> {
    if !is_described(input) {
        return None;
    }
    let kept = ValueInfoProto {
        name: String::new(),
        ..input.clone()
    };
    encoded(kept.encode_to_vec())
}

fn is_described(info: &ValueInfoProto) -> bool {
    !info.doc_string.is_empty()
        || !info.metadata_props.is_empty()
        || info.r#type.as_ref().is_some_and(has_denotation)
}

fn has_denotation(ty: &TypeProto) -> bool {
    let mut ty = Some(ty);
    while let Some(outer) = ty {
        if !outer.denotation.is_empty() {
            return true;
        }
        let shape = match &outer.value {
            Some(TypeValue::TensorType(tensor)) => &tensor.shape,
            Some(TypeValue::SparseTensorType(tensor)) => &tensor.shape,
            _ => &None,
        };
        if let Some(shape) = shape
            && shape.dim.iter().any(|dim| !dim.denotation.is_empty())
        {
            return true;
        }
        ty = match &outer.value {
            Some(TypeValue::SequenceType(inner)) => inner.elem_type.as_ref(),
            Some(TypeValue::OptionalType(inner)) => inner.elem_type.as_ref(),
            Some(TypeValue::MapType(inner)) => inner.value_type.as_ref(),
            _ => None,
        };
    }
    false
}

/// Documentation and metadata of `Constant` nodes, which become constants, by name.
fn constant_nodes(nodes: &[NodeProto]) -> impl Iterator<Item = (&str, TensorProto)> {
    nodes.iter().filter_map(|node| {
        let is_constant = node.op_type == "Constant"
            && (!node.doc_string.is_empty() || !node.metadata_props.is_empty());
        let kept = TensorProto {
            doc_string: node.doc_string.clone(),
            metadata_props: node.metadata_props.clone(),
            ..Default::default()
        };
        is_constant.then_some((node.output.first()?.as_str(), kept))
    })
}

/// A tensor without its elements, if the file describes the tensor further.
fn of_tensor(tensor: &TensorProto) -> Option<TensorProto> {
    let is_described = !tensor.doc_string.is_empty() || !tensor.metadata_props.is_empty();
    is_described.then(|| TensorProto {
        name: tensor.name.clone(),
        doc_string: tensor.doc_string.clone(),
        metadata_props: tensor.metadata_props.clone(),
        ..Default::default()
    })
}

/// Documentation of an attribute, its kind unless implied by the value, and the
/// description of its tensor.
fn of_attribute(attr: &AttributeProto, names_values: bool) -> Result<Option<AttributeProto>> {
    let kind = kind(attr).within(|| format!("attribute '{}'", attr.name));
    let is_empty = attr.floats.is_empty()
        && attr.ints.is_empty()
        && attr.strings.is_empty()
        && attr.tensors.is_empty()
        && attr.graphs.is_empty()
        && attr.sparse_tensors.is_empty()
        && attr.type_protos.is_empty();
    let untold = if attr.ref_attr_name.is_empty() {
        let kind = kind?;
        (names_values || kind.is_list() && is_empty).then_some(kind.into())
    } else {
        // The kind of a reference need not be given.
        Some(attr.r#type)
    };
    let tensor = attr.t.as_ref().and_then(|tensor| {
        let named = TensorProto {
            name: tensor.name.clone(),
            ..Default::default()
        };
        of_tensor(tensor).or_else(|| (!tensor.name.is_empty()).then_some(named))
    });
    if untold.is_none() && attr.doc_string.is_empty() && tensor.is_none() {
        return Ok(None);
    }
    Ok(Some(AttributeProto {
        name: attr.name.clone(),
        doc_string: attr.doc_string.clone(),
        r#type: untold.unwrap_or_default(),
        t: tensor.map(Box::new),
        ..Default::default()
    }))
}
