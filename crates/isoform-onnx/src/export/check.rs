//! The check of a node against the schema of its operator.

use crate::{
    error::{OnnxError, Result, ResultExt},
    proto::{AttributeProto, AttributeType, NodeProto},
    schema::{lookup, newest},
};

/// Checks that a node is one that the operator set allows; nothing is known about other
/// domains than those of the standard, and about versions newer than the schemas.
pub(super) fn check_node(node: &NodeProto, domain: &str, op: &str, version: i64) -> Result<()> {
    let Some(newest) = newest(domain) else {
        return Ok(());
    };
    if version > newest {
        return Ok(());
    }
    let shown = if domain.is_empty() { "ai.onnx" } else { domain };
    let set = format!("operator set {version} of {shown}");
    let Some(schema) = lookup(domain, op, version) else {
        return Err(OnnxError::value(format!("{set} has no operator {op}")));
    };
    if schema.deprecated {
        return Err(OnnxError::value(format!("{set} has withdrawn {op}")));
    }
    let count = |what: &str, (low, high): (usize, usize), got: usize| {
        if (low..=high).contains(&got) {
            return Ok(());
        }
        let expected = match high {
            _ if low == high => format!("{low}"),
            usize::MAX => format!("at least {low}"),
            _ => format!("{low} to {high}"),
        };
        Err(OnnxError::value(format!(
            "expected {expected} {what} for {op} in {set}, got {got}"
        )))
    };
    count("inputs", schema.inputs, node.input.len())?;
    count("outputs", schema.outputs, node.output.len())?;
    for attr in &node.attribute {
        let place = || format!("attribute '{}'", attr.name);
        let Some(expected) = schema.attribute(&attr.name) else {
            let known: Vec<&str> = schema.attributes.iter().map(|attr| attr.name).collect();
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.join(", "),
            };
            return Err(OnnxError::value(format!(
                "{op} has no such attribute in {set}, but {known}"
            )))
            .within(place);
        };
        let got = attr.r#type();
        let is_reference = !attr.ref_attr_name.is_empty() && got == AttributeType::Undefined;
        if got != expected.kind && !is_reference {
            return Err(OnnxError::value(format!(
                "expected {} for {op} in {set}, got {}",
                kind_name(expected.kind),
                kind_name(got)
            )))
            .within(place);
        }
    }
    let is_given = |name: &str| {
        node.attribute
            .iter()
            .any(|attr: &AttributeProto| attr.name == name)
    };
    let mut required = schema.attributes.iter().filter(|attr| attr.required);
    match required.find(|attr| !is_given(attr.name)) {
        Some(missing) => Err(OnnxError::value(format!(
            "{op} needs the attribute '{}' in {set}",
            missing.name
        ))),
        None => Ok(()),
    }
}

/// The name of a kind of attribute in the standard.
fn kind_name(kind: AttributeType) -> &'static str {
    use AttributeType as Kind;
    match kind {
        Kind::Undefined => "no kind",
        Kind::Float => "a float",
        Kind::Int => "an int",
        Kind::String => "a string",
        Kind::Tensor => "a tensor",
        Kind::Graph => "a graph",
        Kind::Floats => "floats",
        Kind::Ints => "ints",
        Kind::Strings => "strings",
        Kind::Tensors => "tensors",
        Kind::Graphs => "graphs",
        Kind::SparseTensor => "a sparse tensor",
        Kind::SparseTensors => "sparse tensors",
        Kind::TypeProto => "a type",
        Kind::TypeProtos => "types",
    }
}
