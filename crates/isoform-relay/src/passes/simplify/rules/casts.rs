//! Casts and clips without effect on values.

use crate::Call;
use crate::attrs::{CastAttrs, ClipAttrs};
use crate::op;
use crate::passes::simplify::row::{Exact, Row, call_with, keep};
use crate::passes::simplify::rule_match::{
    Expr, Holes, RuleMatch, is_float, is_integer, is_number, only_arg, tensor_type,
};
use isoform::pattern::InteriorUses;
use isoform::values::{DType, DTypeCode};
use isoform::{Ref, Result};

pub(in super::super) const ROWS: &[Row] = &[
    Row {
        name: "cast_same",
        exact: Exact::Always,
        reason: "a cast to the data type that a tensor has returns the tensor",
        templates: |h| Ok(vec![call_with("cast", &h.x, &h.attrs[0])?]),
        inner: InteriorUses::Auto,
        guard: |f| Ok(dtype_of(f.x()?) == Some(f.dtype()?)),
        drops: None,
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "cast_cast",
        exact: Exact::Always,
        reason: "the type between has every value of the first one, or all bits that the last \
                 one keeps; integers that pass through a float type fit the last one",
        templates: |h| Ok(vec![cast_twice(h, call_with("cast", &h.x, &h.attrs[1])?)?]),
        // One cast replaces another cast, even if the inner cast has other users.
        inner: InteriorUses::Anywhere,
        guard: |f| {
            let middle = dtype_of(only_arg(f.root()?)?);
            let (Some(first), Some(middle)) = (dtype_of(f.x()?), middle) else {
                return Ok(false);
            };
            let last = f.dtype()?;
            let keeps_bits =
                [first, middle, last].into_iter().all(is_integer) && last.bits() <= middle.bits();
            let keeps_values = has_values_of(middle, first)
                && (!checks_range(first, middle, last) || has_values_of(last, first));
            Ok(keeps_bits || keeps_values)
        },
        drops: None,
        replacement: |f| cast(f, f.x()?),
    },
    Row {
        name: "clip_cast_cast",
        exact: Exact::Always,
        reason: "the type between has every integer that the clip lets through, and so has the \
                 last one if the type between is a float type, or if the clip is one of floats, \
                 which lose the same digits in both",
        templates: |h| {
            let clipped = call_with("clip", &h.x, &h.attrs[2])?;
            Ok(vec![cast_twice(
                h,
                call_with("cast", &clipped, &h.attrs[1])?,
            )?])
        },
        inner: InteriorUses::Anywhere,
        guard: |f| {
            let (Some(first), Some(attrs)) = (dtype_of(f.x()?), f.attrs::<ClipAttrs>(2)) else {
                return Ok(false);
            };
            let Some(middle) = dtype_of(only_arg(f.root()?)?) else {
                return Ok(false);
            };
            let last = f.dtype()?;
            // A cast of floats to integers drops digits, so both types are of integers.
            let truncates = is_float(first) && is_integer(middle) && is_integer(last);
            let all = truncates.then_some([f64::NEG_INFINITY, f64::INFINITY]);
            let Some([least, most]) = range(first).or(all) else {
                return Ok(false);
            };
            let (least, most) = (attrs.a_min.max(least), attrs.a_max.min(most));
            // Comparisons with a bound that is not a number are false.
            let must_fit = truncates || checks_range(first, middle, last);
            let fits = !must_fit || holds(last, least, most);
            Ok(least <= most && holds(middle, least, most) && fits)
        },
        drops: None,
        replacement: |f| {
            let clipped = only_arg(f.root()?)?.downcast_ref::<Call>().map(only_arg);
            match clipped.transpose()? {
                Some(clipped) if dtype_of(clipped) == Some(f.dtype()?) => keep(clipped),
                Some(clipped) => cast(f, clipped),
                None => Ok(None),
            }
        },
    },
    Row {
        name: "clip_everything",
        exact: Exact::Always,
        reason: "no value of the data type is outside of the bounds",
        templates: |h| Ok(vec![call_with("clip", &h.x, &h.attrs[0])?]),
        inner: InteriorUses::Auto,
        guard: |f| {
            let Some(attrs) = f.attrs::<ClipAttrs>(0) else {
                return Ok(false);
            };
            let dtype = f.dtype()?;
            let bounds = match range(dtype) {
                Some(bounds) => bounds,
                None if is_float(dtype) => [f64::NEG_INFINITY, f64::INFINITY],
                None => return Ok(false),
            };
            Ok(attrs.a_min <= bounds[0] && bounds[1] <= attrs.a_max)
        },
        drops: None,
        replacement: |f| keep(f.x()?),
    },
];

/// The template of a cast around another cast.
fn cast_twice(holes: &Holes, inner: Ref<Call>) -> Result<Ref<Call>> {
    call_with("cast", &inner, &holes.attrs[0])
}

fn dtype_of(expr: &Expr) -> Option<DType> {
    tensor_type(expr).map(|ty| ty.dtype)
}

/// A cast to the data type of the result.
fn cast(found: &RuleMatch<'_>, data: &Expr) -> Result<Option<Expr>> {
    found.call(&op::cast(data, CastAttrs::new(found.dtype()?)))
}

/// The smallest and the largest integer of a type. The largest integer of 64 bits is
/// rounded to a power of two; bounds of clips cannot tell the two apart.
fn range(dtype: DType) -> Option<[f64; 2]> {
    if !is_integer(dtype) {
        return None;
    }
    let power = |bits: u8| f64::from(bits).exp2();
    Some(match dtype.code() {
        DTypeCode::Int => [-power(dtype.bits() - 1), power(dtype.bits() - 1) - 1.0],
        _ => [0.0, power(dtype.bits()) - 1.0],
    })
}

/// The number of bits of the integers that a float type represents exactly.
fn precision(dtype: DType) -> u8 {
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::BFloat, _) => 8,
        (_, 16) => 11,
        (_, 32) => 24,
        _ => 53,
    }
}

/// True if two casts reject integers outside of the last type, but one cast would drop
/// their upper bits.
fn checks_range(first: DType, middle: DType, last: DType) -> bool {
    is_integer(first) && is_float(middle) && is_integer(last)
}

/// True if `wide` represents every value of `narrow`, so that a cast by way of `wide`
/// equals a direct cast.
fn has_values_of(wide: DType, narrow: DType) -> bool {
    let is_bool = narrow == DType::BOOL;
    if wide == narrow {
        return is_bool || is_number(narrow);
    }
    if !is_number(wide) || !(is_bool || is_number(narrow)) {
        return false;
    }
    // Without the sign.
    let digits = match narrow.code() {
        DTypeCode::Int => narrow.bits() - 1,
        _ => narrow.bits(),
    };
    match (is_float(narrow), is_float(wide)) {
        _ if is_bool => true,
        (false, true) => digits <= precision(wide),
        (false, false) => match (narrow.code(), wide.code()) {
            (DTypeCode::Int, DTypeCode::UInt) => false,
            (_, DTypeCode::Int) => digits < wide.bits(),
            _ => digits <= wide.bits(),
        },
        // The two formats of 16 bits trade range for precision.
        (true, true) => narrow.bits() < wide.bits(),
        (true, false) => false,
    }
}

/// True if a type has all integers between two bounds.
fn holds(dtype: DType, least: f64, most: f64) -> bool {
    let (least, most) = (least.floor(), most.ceil());
    if dtype == DType::BOOL {
        return least >= 0.0 && most <= 1.0;
    }
    match range(dtype) {
        // Rounding has made the largest integer of 64 bits too large by one.
        Some([first, last]) if dtype.bits() == 64 => first <= least && most < last,
        Some([first, last]) => first <= least && most <= last,
        None if is_float(dtype) => {
            let limit = f64::from(precision(dtype)).exp2();
            -limit <= least && most <= limit
        }
        None => false,
    }
}
