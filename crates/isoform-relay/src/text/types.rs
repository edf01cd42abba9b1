//! The pieces of types, and types in messages.

use isoform::values::DType;
use isoform::{Obj, Ref, Value};
use isoform_ir::ir::{
    FuncType, GlobalTypeVar, IncompleteType, IntImm, PrimExpr, PrimType, RelayRefType, TensorType,
    TupleType, Type, TypeCall, TypeRelation,
};

use super::pieces::{Piece, Pieces, add_attributes, listed, plain_name, text, tuple};
use super::pieces::{type_parameters, variable};
use crate::Any;

/// The maximal depth of a type in a message; deeper levels become `...`.
const LEVELS: usize = 8;
/// The maximal number of parts of a tuple or a function in a message.
const PARTS: usize = 16;

/// The pieces of a type; None for a type declared elsewhere.
pub(super) fn pieces(ty: &Ref<Obj>) -> Option<Pieces> {
    Some(if let Some(tensor) = ty.downcast_ref::<TensorType>() {
        if tensor.shape.is_empty() {
            return Some(vec![text(tensor.dtype.to_string())]);
        }
        let mut pieces = vec![text("Tensor[")];
        pieces.extend(tuple(tensor.shape.iter()));
        pieces.push(text(format!(", {}]", tensor.dtype)));
        pieces
    } else if let Some(scalar) = ty.downcast_ref::<PrimType>() {
        vec![text(scalar.dtype.to_string())]
    } else if let Some(types) = ty.downcast_ref::<TupleType>() {
        tuple(types.fields.iter())
    } else if let Some(func) = ty.downcast_ref::<FuncType>() {
        let mut pieces = vec![text("fn")];
        pieces.extend(type_parameters(func.type_params.iter()));
        pieces.extend(listed(" (", func.arg_types.iter(), ") -> "));
        pieces.push(Piece::Part((&func.ret_type).into()));
        if !func.type_constraints.is_empty() {
            pieces.extend(listed(" where ", func.type_constraints.iter(), ""));
        }
        pieces
    } else if let Some(reference) = ty.downcast_ref::<RelayRefType>() {
        listed("ref(", [&reference.value], ")")
    } else if let Some(call) = ty.downcast_ref::<TypeCall>() {
        let mut pieces = vec![Piece::Part((&call.func).into())];
        pieces.extend(listed("[", call.args.iter(), "]"));
        pieces
    } else if let Some(var) = ty.downcast_ref::<GlobalTypeVar>() {
        vec![text(plain_name(&var.name_hint))]
    } else if ty.isa::<IncompleteType>() {
        vec![text("?")]
    } else {
        let relation = ty.downcast_ref::<TypeRelation>()?;
        let open = format!("{}(", plain_name(&relation.func.name));
        let mut pieces = listed(open, relation.args.iter(), "");
        if let Some(attrs) = &relation.attrs {
            add_attributes(&mut pieces, attrs, !relation.args.is_empty());
        }
        pieces.push(text(")"));
        pieces
    })
}

/// A type as text for messages. Parts beyond a fixed depth and number are left out, so
/// the text is short for every type.
pub(crate) fn type_text(ty: &Ref<Type>) -> String {
    let mut out = String::new();
    write_type(&mut out, &ty.into(), LEVELS);
    out
}

/// The type of tensors of a known shape as text: `Tensor[(2, 3), float32]`.
pub(super) fn tensor_type_text(shape: &[i64], dtype: DType) -> String {
    let dims = shape.iter().map(i64::to_string).collect();
    tensor_text(dims, dtype)
}

fn tensor_text(dims: Vec<String>, dtype: DType) -> String {
    if dims.is_empty() {
        dtype.to_string()
    } else {
        format!("Tensor[{}, {dtype}]", joined(&dims))
    }
}

/// A shape as text for messages: `(2, ?, n)`.
pub(crate) fn shape_text(shape: &[Ref<PrimExpr>]) -> String {
    let dims: Vec<String> = shape.iter().map(dim_text).collect();
    joined(&dims)
}

fn joined(dims: &[String]) -> String {
    match dims {
        [only] => format!("({only},)"),
        _ => format!("({})", dims.join(", ")),
    }
}

/// The size of a dimension as text for messages.
pub(crate) fn dim_text(dim: &Ref<PrimExpr>) -> String {
    if let Some(literal) = dim.downcast_ref::<IntImm>() {
        return literal.value.to_string();
    }
    if dim.isa::<Any>() {
        return "?".to_owned();
    }
    match variable(dim.as_object()) {
        Some((name, _)) => name.to_string(),
        None => format!("{dim:?}"),
    }
}

/// Writes a type; calls itself at most `levels` deep.
fn write_type(out: &mut String, ty: &Value, levels: usize) {
    let Some(object) = ty.as_object().filter(|_| levels > 0) else {
        return out.push_str("...");
    };
    if let Some(tensor) = object.downcast_ref::<TensorType>() {
        out.push_str(&tensor_text(
            tensor.shape.iter().map(dim_text).collect(),
            tensor.dtype,
        ));
    } else if let Some((name, _)) = variable(object) {
        out.push_str(name);
    } else if let Some(pieces) = pieces(object) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(&text),
                Piece::Part(part) => write_type(out, &part, levels - 1),
                Piece::List(parts) => write_types(out, &parts, levels - 1),
                Piece::Binding(var) => {
                    out.push_str(variable(&var).map_or("", |(name, _)| name));
                }
                _ => {}
            }
        }
    } else {
        out.push_str(object.type_info().key());
    }
}

fn write_types(out: &mut String, types: &[Value], levels: usize) {
    for (position, ty) in types.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        if position == PARTS {
            out.push_str("...");
            return;
        }
        write_type(out, ty, levels);
    }
}
