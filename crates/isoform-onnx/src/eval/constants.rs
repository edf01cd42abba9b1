//! The tensors in the values of constants.

use isoform::Value;
use isoform::values::{Tensor, ValueRef};

use crate::ir::StringTensor;

/// The dense tensor in a value.
pub(super) fn dense(value: &Value) -> Option<&Tensor> {
    match value.view() {
        ValueRef::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// The tensor of strings in a value.
pub(super) fn strings(value: &Value) -> Option<&StringTensor> {
    value
        .as_object()?
        .downcast_ref::<StringTensor>()
        .map(|tensor| &**tensor)
}
