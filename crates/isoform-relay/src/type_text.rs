//! Types as short text for messages: `Tensor[(2, 3), float32]`.

use std::fmt::Write;

use super::Any;
use isoform::{Array, Ref};
use isoform_ir::ir::{
    FuncType, IncompleteType, IntImm, PrimExpr, RelayRefType, TensorType, TupleType, Type,
    TypeCall, TypeVar,
};

/// The maximal depth of a type in a message; deeper levels become `...`.
const LEVELS: usize = 8;
/// The maximal number of parts of a tuple or a function in a message.
const PARTS: usize = 16;

/// A type as text for messages. Parts beyond a fixed depth and number are left out, so
/// the text is short for every type.
pub(super) fn type_text(ty: &Ref<Type>) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, LEVELS);
    out
}

/// A shape as text for messages: `(2, ?, n)`.
pub(super) fn shape_text(shape: &[Ref<PrimExpr>]) -> String {
    let dims: Vec<String> = shape.iter().map(dim_text).collect();
    match &dims[..] {
        [only] => format!("({only},)"),
        _ => format!("({})", dims.join(", ")),
    }
}

/// The size of a dimension as text for messages.
pub(super) fn dim_text(dim: &Ref<PrimExpr>) -> String {
    if let Some(literal) = dim.downcast_ref::<IntImm>() {
        return literal.value.to_string();
    }
    if dim.isa::<Any>() {
        return "?".to_owned();
    }
    match dim.downcast_ref::<isoform_ir::tir::Var>() {
        Some(var) => var.name.to_string(),
        None => format!("{dim:?}"),
    }
}

/// Writes a type; calls itself at most `levels` deep.
fn write_type(out: &mut String, ty: &Ref<Type>, levels: usize) {
    if levels == 0 {
        out.push_str("...");
    } else if let Some(tensor) = ty.downcast_ref::<TensorType>() {
        let shape: Vec<_> = tensor.shape.iter().cloned().collect();
        if shape.is_empty() {
            _ = write!(out, "{}", tensor.dtype)
        } else {
            _ = write!(out, "Tensor[{}, {}]", shape_text(&shape), tensor.dtype)
        }
    } else if let Some(tuple) = ty.downcast_ref::<TupleType>() {
        out.push('(');
        write_types(out, &tuple.fields, levels - 1);
        out.push_str(if tuple.fields.len() == 1 { ",)" } else { ")" });
    } else if let Some(func) = ty.downcast_ref::<FuncType>() {
        out.push_str("fn");
        if !func.type_params.is_empty() {
            let names: Vec<&str> = func.type_params.iter().map(|var| &*var.name_hint).collect();
            _ = write!(out, "[{}]", names.join(", "));
        }
        out.push_str(" (");
        write_types(out, &func.arg_types, levels - 1);
        out.push_str(") -> ");
        write_type(out, &func.ret_type, levels - 1);
    } else if let Some(reference) = ty.downcast_ref::<RelayRefType>() {
        out.push_str("ref(");
        write_type(out, &reference.value, levels - 1);
        out.push(')');
    } else if let Some(call) = ty.downcast_ref::<TypeCall>() {
        write_type(out, &call.func, levels - 1);
        out.push('[');
        write_types(out, &call.args, levels - 1);
        out.push(']');
    } else if let Some(var) = ty.downcast_ref::<TypeVar>() {
        out.push_str(&var.name_hint);
    } else if let Some(var) = ty.downcast_ref::<isoform_ir::ir::GlobalTypeVar>() {
        out.push_str(&var.name_hint);
    } else if ty.isa::<IncompleteType>() {
        out.push('?');
    } else {
        out.push_str(ty.type_info().key());
    }
}

fn write_types(out: &mut String, types: &Array<Ref<Type>>, levels: usize) {
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
