//! The kinds of attributes, and the attributes that hold names of values.

use super::context::normal_domain;
use crate::{
    error::{OnnxError, Result},
    proto::{AttributeProto, AttributeType, NodeProto},
};

/// The domain of `Gradient`.
const TRAINING_DOMAIN: &str = "ai.onnx.preview.training";

/// True if an attribute holds names of values. This is the case only for `Gradient`.
pub(super) fn names_values(node: &NodeProto, attr: &AttributeProto) -> bool {
    is_named(normal_domain(&node.domain), &node.op_type, &attr.name)
        && attr.ref_attr_name.is_empty()
}

/// True if an attribute of an operator holds names of values.
pub(crate) fn is_named(domain: &str, op: &str, attr: &str) -> bool {
    op == "Gradient" && domain == TRAINING_DOMAIN && matches!(attr, "xs" | "zs" | "y")
}

/// The names in such an attribute.
pub(super) fn names_in(attr: &AttributeProto) -> Result<Vec<&str>> {
    let texts = match kind(attr)? {
        AttributeType::String => attr.s.as_slice(),
        AttributeType::Strings => attr.strings.as_slice(),
        _ => return Err(OnnxError::value("expected names of values")),
    };
    let texts = texts.iter().map(|text| {
        std::str::from_utf8(text).map_err(|_| OnnxError::value("a name of a value is not UTF-8"))
    });
    texts.collect()
}

/// The kinds of attributes, the fields that hold their values, and for each field
/// whether the field is filled in.
pub(super) fn fields(attr: &AttributeProto) -> [(AttributeType, &'static str, bool); 14] {
    use AttributeType as Kind;
    [
        (Kind::Float, "f", attr.f.unwrap_or_default().to_bits() != 0),
        (Kind::Int, "i", attr.i.unwrap_or_default() != 0),
        (
            Kind::String,
            "s",
            attr.s.as_ref().is_some_and(|text| !text.is_empty()),
        ),
        (Kind::Tensor, "t", attr.t.is_some()),
        (Kind::Graph, "g", attr.g.is_some()),
        (Kind::Floats, "floats", !attr.floats.is_empty()),
        (Kind::Ints, "ints", !attr.ints.is_empty()),
        (Kind::Strings, "strings", !attr.strings.is_empty()),
        (Kind::Tensors, "tensors", !attr.tensors.is_empty()),
        (Kind::Graphs, "graphs", !attr.graphs.is_empty()),
        (
            Kind::SparseTensor,
            "sparse_tensor",
            attr.sparse_tensor.is_some(),
        ),
        (
            Kind::SparseTensors,
            "sparse_tensors",
            !attr.sparse_tensors.is_empty(),
        ),
        (Kind::TypeProto, "tp", attr.tp.is_some()),
        (
            Kind::TypeProtos,
            "type_protos",
            !attr.type_protos.is_empty(),
        ),
    ]
}

/// The kind of an attribute, after a check that no field of another kind is filled in.
pub(super) fn kind(attr: &AttributeProto) -> Result<AttributeType> {
    use AttributeType as Kind;
    let declared = Kind::try_from(attr.r#type)
        .map_err(|_| OnnxError::value(format!("{} is not a kind of attribute", attr.r#type)))?;
    let fields = fields(attr);
    let mut filled = fields.iter().filter(|(_, _, filled)| *filled);
    let (first, second) = (filled.next(), filled.next());
    if let (Some((_, first, _)), Some((_, second, _))) = (first, second) {
        return Err(OnnxError::value(format!(
            "expected one value, got both {first} and {second}"
        )));
    }
    let expected = fields.iter().find(|(kind, _, _)| *kind == declared);
    match (expected, first) {
        // The first versions of the format had no kinds.
        (None, Some(&(kind, _, _))) => Ok(kind),
        (None, None) => Err(OnnxError::value("neither a kind nor a value is given")),
        (Some((_, expected, _)), Some((kind, got, _))) if *kind != declared => Err(
            OnnxError::value(format!("expected the value in {expected}, got {got}")),
        ),
        (Some((_, expected, false)), None)
            if matches!(
                declared,
                Kind::Tensor | Kind::Graph | Kind::SparseTensor | Kind::TypeProto
            ) =>
        {
            Err(OnnxError::key(format!(
                "the value in {expected} is missing"
            )))
        }
        _ => Ok(declared),
    }
}
