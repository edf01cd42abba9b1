//! Calls on constants, computed.

use std::cell::Cell;

use isoform::transform::check_interrupted;
use isoform::{Ref, Value};
use isoform_kernels::Control;

use super::constants::{byte_size, uniform_element};
use super::rewriter::Rewriter;
use super::settings::Fold;
use super::values::{ValueKey, constant, output};
use crate::eval::{Precision, evaluate, precision};
use crate::ir::Call;

/// A result of equal elements beyond this many bytes takes less room as a node than as a
/// constant.
const UNIFORM_LIMIT: u64 = 128;

/// The results of a call on constants, if they may be computed and are not too large.
pub(super) fn fold(
    rewriter: &mut Rewriter<'_>,
    call: &Ref<Call>,
) -> isoform::Result<Option<Vec<Value>>> {
    let settings = rewriter.settings;
    if settings.fold == Fold::None || !settings.uses("fold-constants") || !call.is_standard() {
        return Ok(None);
    }
    let mut inputs = Vec::with_capacity(call.inputs.len());
    let mut elems = Vec::with_capacity(call.inputs.len());
    for value in call.inputs.values() {
        if value.is_none() {
            inputs.push(None);
            elems.push(None);
            continue;
        }
        let Some(constant) = constant(value) else {
            return Ok(None);
        };
        elems.push(rewriter.analysis.fact(constant).elem);
        inputs.push(Some(constant.clone()));
    }
    let allowed = match precision(call, &elems) {
        Precision::Exact => true,
        Precision::Rounded => settings.fold == Fold::All,
        Precision::Never => false,
    };
    if !allowed {
        return Ok(None);
    }
    let limit = limit(rewriter, &inputs);
    if expected_size(rewriter, call).is_some_and(|size| size > limit) {
        return Ok(None);
    }
    let stopped = Cell::new(None);
    let interrupted = || match check_interrupted() {
        Ok(()) => false,
        Err(error) => {
            stopped.set(Some(error));
            true
        }
    };
    let control = Control {
        max_bytes: usize::try_from(limit.max(1 << 16)).unwrap_or(usize::MAX),
        interrupted: Some(&interrupted),
    };
    let results = match evaluate(call, &inputs, &control) {
        Ok(results) => results,
        Err(_) => {
            return match stopped.take() {
                Some(error) => Err(error),
                None => Ok(None),
            };
        }
    };
    let size: u64 = results.iter().map(byte_size).sum();
    if size > limit || results.len() as i64 != call.outputs {
        return Ok(None);
    }
    let is_uniform = |value: &Value| uniform_element(value).is_some();
    if size > UNIFORM_LIMIT && call.is("ConstantOfShape") && results.iter().all(is_uniform) {
        return Ok(None);
    }
    let results: Vec<Value> = results
        .into_iter()
        .map(|value| rewriter.new_constant(value))
        .collect();
    rewriter.fired("fold-constants", call);
    Ok(Some(results))
}

/// The number of bytes that the results may have: a constant is worth its node if it is
/// small, or if it takes the room of constants that nothing else uses.
fn limit(rewriter: &Rewriter<'_>, inputs: &[Option<Value>]) -> u64 {
    let mut freed = 0;
    for input in inputs.iter().flatten() {
        if rewriter.uses(ValueKey::of(input)) <= 1 {
            freed += byte_size(input);
        }
    }
    freed.max(rewriter.settings.max_constant)
}

/// The size of all results, if their shapes are known.
fn expected_size(rewriter: &mut Rewriter<'_>, call: &Ref<Call>) -> Option<u64> {
    let mut total = 0_u64;
    for index in 0..call.outputs {
        let fact = rewriter.analysis.fact(&output(call, index));
        let mut dims = fact.dims_const()?.into_iter();
        let count = dims.try_fold(1_u64, |count, dim| count.checked_mul(dim.try_into().ok()?))?;
        let bits = u64::from(fact.elem?.bits()?);
        total = total.saturating_add(count.saturating_mul(bits).div_ceil(8));
    }
    Some(total)
}
