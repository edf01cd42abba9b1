//! Values of programs: their producers and their identity.

use isoform::values::{Tensor, ValueRef};
use isoform::{Array, Ref, Value};

pub(crate) use crate::layout::made_by;

use crate::ir::{Call, Output, SparseTensor, StringTensor};

/// The identity of a value in a program. Two uses of a result are one value, whatever
/// object represents each use; constants are one value if they are one object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum ValueKey {
    /// An omitted input.
    Omitted,
    /// The output of a call, by the identity of the call.
    Output(u64, i64),
    /// An input or a constant, by its identity.
    Object(u64),
}

impl ValueKey {
    pub(crate) fn of(value: &Value) -> ValueKey {
        if let Some((call, index)) = made_by(value) {
            return ValueKey::Output(call.identity(), index);
        }
        value.as_object().map_or(ValueKey::Omitted, |object| {
            ValueKey::Object(object.identity())
        })
    }
}

/// The value itself if it is a constant.
pub(crate) fn constant(value: &Value) -> Option<&Value> {
    let is_constant = match value.view() {
        ValueRef::Tensor(_) => true,
        _ => value.as_object().is_some_and(|object| {
            object.downcast_ref::<StringTensor>().is_some()
                || object.downcast_ref::<SparseTensor>().is_some()
        }),
    };
    is_constant.then_some(value)
}

/// The value as a constant tensor of numbers.
pub(crate) fn tensor(value: &Value) -> Option<&Tensor> {
    value.peek::<Tensor>()
}

/// An output of a call.
pub(crate) fn output(call: &Ref<Call>, index: i64) -> Value {
    Ref::new(Output {
        call: call.clone(),
        index,
    })
    .into()
}

/// Inputs without the omitted ones at the end.
pub(crate) fn trimmed(mut inputs: Vec<Value>) -> Array {
    while inputs.last().is_some_and(Value::is_none) {
        inputs.pop();
    }
    Array::from(inputs)
}
