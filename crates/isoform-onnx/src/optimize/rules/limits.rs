//! Chains of calls that limit elements, or combine elements with constants.

use isoform::Value;

use super::super::rule::{Row, Site};
use super::arithmetic::{is_float, scalar_zero};
use crate::ir::Call;
use crate::values::constant;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "merge-limits",
        versions: 11..=i64::MAX,
        patterns: &["outer:Clip|Relu(inner:Clip|Relu(x, ...), ...)"],
        replacement: "Clip(x, low, high)",
        reason: "limits within limits are limits; all are constants, and each lower one is not \
                 above its upper one; zeros of both signs are no limits to merge",
        rewrite: limits,
    },
    Row {
        name: "merge-constant-operands",
        versions: 8..=i64::MAX,
        patterns: &[
            "Add(inner:Add(x, #a), #b)",
            "Mul(inner:Mul(x, #a), #b)",
            "Max(Max(x, #a), #b)",
            "Min(Min(x, #a), #b)",
            "And(And(x, #a), #b)",
            "Or(Or(x, #a), #b)",
        ],
        replacement: "Add(x, a + b), …",
        reason: "the operator is associative: on integers, which wrap around, and on bools",
        rewrite: constants,
    },
];

/// A lower and an upper limit, as constants of the tensor's type.
#[derive(Clone)]
struct Limits {
    low: Option<(f64, Value)>,
    high: Option<(f64, Value)>,
}

fn limits_of(site: &mut Site<'_, '_>, call: &Call, x: &Value) -> Option<Limits> {
    let elem = site.fact(x).elem?;
    if call.is("Relu") {
        let zero = site.constant(scalar_zero(elem)?);
        return Some(Limits {
            low: Some((0.0, zero)),
            high: None,
        });
    }
    let mut limit = |position: usize| match call.input(position) {
        None => Some(None),
        Some(value) => {
            let numbers = site.floats(value).or_else(|| {
                let ints = site.ints(value)?;
                Some(ints.into_iter().map(|int| int as f64).collect())
            })?;
            match numbers.as_slice() {
                // Beyond 2^53 the comparison would not be exact.
                [number] if number.abs() < 9e15 || number.is_infinite() => {
                    Some(Some((*number, value.clone())))
                }
                _ => None,
            }
        }
    };
    let limits = Limits {
        low: limit(1)?,
        high: limit(2)?,
    };
    match (&limits.low, &limits.high) {
        (Some((low, _)), Some((high, _))) if low > high => None,
        _ => Some(limits),
    }
}

fn limits(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let (outer, inner) = (site.labelled("outer")?, site.labelled("inner")?);
    if outer.is("Relu") && inner.is("Relu") {
        return None;
    }
    let first = limits_of(site, &inner, &x)?;
    let second = limits_of(site, &outer, &x)?;
    // Each limit of the first is limited by the second; -0.0 is below 0.0.
    let limited = |limit: Option<(f64, Value)>| {
        limit.map(|limit| {
            let limit = match &second.low {
                Some(low) if limit.0.total_cmp(&low.0).is_lt() => low.clone(),
                _ => limit,
            };
            match &second.high {
                Some(high) if limit.0.total_cmp(&high.0).is_gt() => high.clone(),
                _ => limit,
            }
        })
    };
    let limits = [&first.low, &first.high, &second.low, &second.high];
    let zeros = || limits.into_iter().flatten().map(|(limit, _)| *limit);
    let is_zero =
        |negative: bool| zeros().any(|limit| limit == 0.0 && limit.is_sign_negative() == negative);
    if is_zero(true) && is_zero(false) {
        // The sign of a zero result depends on the limit met first.
        return None;
    }
    let low = limited(first.low.clone()).or(second.low.clone());
    let high = limited(first.high.clone()).or(second.high.clone());
    if let (Some((low, _)), Some((high, _))) = (&low, &high)
        && *low == 0.0
        && *high == 0.0
    {
        // A zero between limits of zero keeps its sign.
        return None;
    }
    let or_none = |limit: Option<(f64, Value)>| limit.map_or(Value::NONE, |(_, value)| value);
    site.replace("Clip", vec![x, or_none(low), or_none(high)], &[])
}

fn constants(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (x, a, b) = (site.value("x")?, site.value("a")?, site.value("b")?);
    let root = site.root().clone();
    let inner = root
        .inputs
        .values()
        .iter()
        .find(|value| constant(value).is_none())?;
    if !site.has_one_use(inner) || (is_float(site.fact(&a).elem?)) {
        return None;
    }
    let combined = site.make(&root.op, vec![a, b], &[])?;
    constant(&combined)?;
    site.replace(&root.op, vec![x, combined], &[])
}
