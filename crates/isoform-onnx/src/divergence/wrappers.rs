//! Nodes that pass a value on: Identity, Dropout of inference, and the two directions of
//! quantisation.
//!
//! One of two models may have them where the other has none. Pairs are therefore found in
//! programs without them.

use isoform::traverse::MapOptions;
use isoform::{Node, Ref, Value};

use crate::ir::{Call, Output, Program};
use crate::layout::{call_of, made_by};
use crate::values::constant;

/// The domains whose quantisation has the meaning of the standard.
const QUANTIZATION_DOMAINS: [&str; 2] = ["", "com.microsoft"];

/// True for QuantizeLinear and DequantizeLinear with constant parameters, of this name.
pub(super) fn is_quantization(call: &Call, op: &str) -> bool {
    call.callee.is_none()
        && call.op == op
        && QUANTIZATION_DOMAINS.contains(&call.domain.as_str())
        && has_constant_parameters(call)
}

fn has_constant_parameters(call: &Call) -> bool {
    let parameters = call.inputs.values().iter().skip(1);
    let mut parameters = parameters.filter(|value| !value.is_none());
    parameters.all(|value| constant(copied(value)).is_some())
}

/// The value that Identity nodes copy.
pub(super) fn copied(mut value: &Value) -> &Value {
    while let Some(call) = call_of(value)
        && call.is("Identity")
        && let Some(inner) = call.input(0)
    {
        value = inner;
    }
    value
}

/// True for a node that passes its first input on.
pub(super) fn is_wrapper(call: &Call) -> bool {
    call.outputs == 1
        && (call.is("Identity")
            || call.is("Dropout") && has_constant_parameters(call)
            || is_quantization(call, "QuantizeLinear")
            || is_quantization(call, "DequantizeLinear"))
}

/// The value that a wrapper passes on; None for any other value.
pub(super) fn passed_on(value: &Value) -> Option<&Value> {
    let (call, _) = made_by(value)?;
    call.input(0).filter(|_| is_wrapper(call))
}

/// The value that is left without wrappers. O(wrappers).
pub(super) fn resolved(mut value: &Value) -> &Value {
    while let Some(inner) = passed_on(value) {
        value = inner;
    }
    value
}

/// The program without wrappers, for comparison only. O(n).
pub(super) fn unwrapped(program: &Ref<Program>) -> isoform::Result<Ref<Program>> {
    let output = Output::type_index();
    let mapped = MapOptions::default().map_selected(
        program,
        |ty| ty == Some(output),
        |visit| {
            let value: Option<Value> = visit.object().map(Value::from);
            let passed = value.as_ref().and_then(passed_on);
            Ok(passed.cloned())
        },
    )?;
    mapped.extract()
}

/// True if a value is made by a wrapper of quantisation that gives floats.
pub(super) fn is_dequantized(value: &Value) -> bool {
    call_of(value).is_some_and(|call| is_quantization(call, "DequantizeLinear"))
}
