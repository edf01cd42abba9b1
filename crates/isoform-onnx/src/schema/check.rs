//! The check of a node against the schema of its operator.

use super::table::{lookup, newest};
use crate::{
    error::OnnxError,
    proto::{AttributeProto, AttributeType},
};

/// The properties of a node that a schema restricts.
pub(crate) struct Form<'a> {
    pub(crate) domain: &'a str,
    pub(crate) op: &'a str,
    pub(crate) version: i64,
    /// The number of inputs, without omitted trailing inputs that need not be listed.
    pub(crate) inputs: usize,
    /// The number of outputs, without trailing omitted ones.
    pub(crate) outputs: usize,
    pub(crate) attributes: &'a [AttributeProto],
}

/// The number of inputs that a node of an operator lists even if omitted. The table has
/// the minimum of listed inputs; for all other operators, every listed input must be
/// given.
pub(crate) fn listed_inputs(domain: &str, op: &str) -> usize {
    match (domain, op) {
        ("", "Loop") => 2,
        _ => 0,
    }
}

/// The reasons why an operator set does not allow a node; empty for an allowed node.
/// The schemas do not cover other domains, or versions newer than the schemas.
pub(crate) fn refusals(form: &Form<'_>) -> Vec<OnnxError> {
    let &Form {
        domain,
        op,
        version,
        ..
    } = form;
    if newest(domain).is_none_or(|newest| newest < version) {
        return Vec::new();
    }
    let set = || {
        let shown = if domain.is_empty() { "ai.onnx" } else { domain };
        format!("operator set {version} of {shown}")
    };
    let Some(schema) = lookup(domain, op, version) else {
        return vec![OnnxError::value(format!("{} has no operator {op}", set()))];
    };
    if schema.deprecated {
        return vec![OnnxError::value(format!("{} has withdrawn {op}", set()))];
    }
    let mut errors = Vec::new();
    let mut count = |things: &str, (low, high): (usize, usize), got: usize| {
        if (low..=high).contains(&got) {
            return;
        }
        let expected = match high {
            _ if low == high => format!("{low}"),
            usize::MAX => format!("at least {low}"),
            _ => format!("{low} to {high}"),
        };
        errors.push(OnnxError::value(format!(
            "expected {expected} {things} for {op} in {}, got {got}",
            set()
        )));
    };
    count("inputs", schema.inputs, form.inputs);
    count("outputs", schema.outputs, form.outputs);
    for attr in form.attributes {
        let place = || format!("attribute '{}'", attr.name);
        let Some(expected) = schema.attribute(&attr.name) else {
            let names: Vec<&str> = schema.attributes.iter().map(|attr| attr.name).collect();
            let names = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            let reason = format!("{op} has no such attribute in {}, but {names}", set());
            errors.push(OnnxError::value(reason).within(place()));
            continue;
        };
        let got = attr.r#type();
        let is_reference = !attr.ref_attr_name.is_empty() && got == AttributeType::Undefined;
        if got != expected.kind && !is_reference {
            let reason = format!(
                "expected {} for {op} in {}, got {}",
                kind_name(expected.kind),
                set(),
                kind_name(got)
            );
            errors.push(OnnxError::value(reason).within(place()));
        }
    }
    let is_given = |name: &str| form.attributes.iter().any(|attr| attr.name == name);
    let required = schema.attributes.iter().filter(|attr| attr.required);
    for missing in required.filter(|attr| !is_given(attr.name)) {
        errors.push(OnnxError::value(format!(
            "{op} needs the attribute '{}' in {}",
            missing.name,
            set()
        )));
    }
    errors
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
