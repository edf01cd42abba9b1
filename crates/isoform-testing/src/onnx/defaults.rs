//! The same program with defaults written out that depend on shapes, or left out.

use isoform::traverse::{MapOptions, WalkOrder};
use isoform::values::ValueRef;
use isoform::{Array, Map, Node as _, Ref, Result, Str, Value};
use isoform_onnx::facts::Analysis;
use isoform_onnx::ir::{Call, Program};
use isoform_onnx::schema;

use crate::source::Source;

/// Writes some defaults of windows and leaves out some reversed permutations of known ranks.
pub(super) fn respelled(program: &Ref<Program>, source: &mut Source<'_>) -> Result<Ref<Program>> {
    let mut facts = Analysis::of_program(program);
    let mapped = MapOptions::default().order(WalkOrder::Pre).map_selected(
        program,
        |ty| ty == Some(Call::type_index()),
        |visit| {
            let object = visit.object();
            let call = object.and_then(|it| it.downcast_ref::<Call>().cloned());
            Ok(call.map(|call| respelled_call(&call, &mut facts, source).into()))
        },
    )?;
    mapped.extract()
}

fn respelled_call(call: &Ref<Call>, facts: &mut Analysis, source: &mut Source<'_>) -> Ref<Call> {
    let mut attrs: Vec<(Str, Value)> = call
        .attrs
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut is_known = |input| facts.fact(input).shape.is_some();
    if call.is("Transpose") && call.input(0).is_some_and(&mut is_known) {
        attrs.retain(|(_, perm)| !is_reversed(perm) || source.chance(50));
    }
    let Some(schema) = schema::lookup(&call.domain, &call.op, call.version) else {
        return call.clone();
    };
    let weights = match call.standard_op() {
        Some("Conv" | "ConvTranspose" | "ConvInteger") => call.input(1),
        Some("QLinearConv") => call.input(3),
        Some("AveragePool" | "LpPool" | "MaxPool") => None,
        _ => return call.with_attrs(attrs.into_iter().collect::<Map<Str, Value>>()),
    };
    let kernel: Option<Vec<i64>> = match weights.map(Value::view) {
        Some(ValueRef::Tensor(weights)) => Some(weights.shape()[2..].to_vec()),
        _ => call.ints("kernel_shape").ok().flatten(),
    };
    if let Some(kernel) = kernel {
        let axes = kernel.len();
        for (name, list) in [
            ("strides", vec![1; axes]),
            ("dilations", vec![1; axes]),
            ("pads", vec![0; 2 * axes]),
            ("kernel_shape", kernel),
        ] {
            let is_absent = attrs.iter().all(|(other, _)| other.as_str() != name);
            let is_free = name != "pads" || matches!(call.str("auto_pad"), Ok(None));
            if is_absent && is_free && schema.attribute(name).is_some() && source.chance(50) {
                attrs.push((name.into(), Array::from(list).into()));
            }
        }
    }
    call.with_attrs(attrs.into_iter().collect::<Map<Str, Value>>())
}

fn is_reversed(perm: &Value) -> bool {
    let ValueRef::Array(axes) = perm.view() else {
        return false;
    };
    let reversed = (0..axes.len() as i64).rev().map(Some);
    axes.values().iter().map(Value::as_int).eq(reversed)
}
