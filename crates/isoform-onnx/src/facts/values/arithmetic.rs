//! Arithmetic, comparisons and logic on integers.
//!
//! Integer tensors wrap around. A polynomial is right modulo 2 to the power of 64: sums
//! and products of 64-bit integers can be kept. Comparisons and divisions require proof
//! that nothing wraps.

use super::small::{Small, indices, range_of};
use crate::elem_type::ElemType;
use crate::facts::ops::Context;
use crate::facts::size::{Bounds, Size};
use crate::facts::symbols::{Opaque, Symbols};

type Elements = Option<Vec<Size>>;

/// The element that a number becomes in a tensor of the type.
pub(super) fn fit(symbols: &mut Symbols, number: &Size, elem: ElemType) -> Size {
    let Some((least, most)) = range_of(elem) else {
        return symbols.fresh(None, None);
    };
    if let Some(constant) = number.as_const() {
        return wrap_constant(symbols, constant.into(), elem);
    }
    if elem == ElemType::Int64 {
        return number.clone();
    }
    let (lower, upper) = (number.lower_bound(), number.upper_bound());
    let fits = lower.is_some_and(|bound| i128::from(bound) >= least)
        && (upper.is_some_and(|bound| i128::from(bound) <= most)
            || (elem == ElemType::Uint64 && number.is_extent()));
    if fits {
        return number.clone();
    }
    let limit = |bound: i128| i64::try_from(bound).ok();
    wrap(
        symbols,
        number,
        elem,
        Bounds::new(limit(least), limit(most)),
    )
}

fn wrap(symbols: &mut Symbols, number: &Size, elem: ElemType, bounds: Bounds) -> Size {
    let code = Size::from(i64::from(elem.code()));
    symbols.opaque(Opaque::Wrap, number, &code, bounds)
}

/// True if an unsigned number may be beyond the signed integers of 64 bits.
fn may_exceed(number: &Size) -> bool {
    !number.is_extent() && number.upper_bound().is_none()
}

/// A constant modulo the range of the type.
fn wrap_constant(symbols: &mut Symbols, number: i128, elem: ElemType) -> Size {
    let wrapped = range_of(elem).and_then(|(least, most)| {
        let wrapped = least + (number - least).rem_euclid(most - least + 1);
        i64::try_from(wrapped).ok()
    });
    match wrapped {
        Some(number) => Size::from(number),
        None => symbols.fresh(None, None),
    }
}

/// True if the polynomial is the number itself and not only modulo 2 to the power of 64.
fn is_exact(number: &Size) -> bool {
    number.is_extent()
        || number.as_symbol().is_some()
        || (number.lower_bound().is_some() && number.upper_bound().is_some())
}

pub(super) fn cast(c: &mut Context<'_>, elem: ElemType) -> Elements {
    let from = c.elem(0)?;
    range_of(from)?;
    let elements = c.elements(0)?;
    let one = |number: &Size| match elem {
        ElemType::Bool => is_true(c.symbols, number),
        ElemType::Int64 if from == ElemType::Uint64 && may_exceed(number) => {
            // The bounds of the unsigned number do not hold for the signed one.
            wrap(c.symbols, number, elem, Bounds::new(None, None))
        }
        _ => fit(c.symbols, number, elem),
    };
    Some(elements.iter().map(one).collect())
}

/// 1 unless the number is zero.
fn is_true(symbols: &mut Symbols, number: &Size) -> Size {
    let within = |bound: Option<i64>, limit: i64| bound == Some(limit);
    if within(number.lower_bound(), 0) && within(number.upper_bound(), 1) {
        return number.clone();
    }
    let is_zero = symbols.equal(number, &Size::from(0));
    not(symbols, &is_zero)
}

fn not(symbols: &mut Symbols, bit: &Size) -> Size {
    symbols.difference(&Size::from(1), bit)
}

pub(super) fn unary(c: &mut Context<'_>, op: &str, elem: ElemType) -> Elements {
    let elements = c.elements(0)?;
    let mut result = Vec::with_capacity(elements.len());
    for number in elements {
        let symbols = &mut *c.symbols;
        result.push(match op {
            "Not" => not(symbols, number),
            "Neg" => negative(symbols, number, elem),
            "Abs" if number.is_nonneg() && is_exact(number) => number.clone(),
            "Abs" if number.as_const().is_some() => negative(symbols, number, elem),
            "Sign" => match number.as_const() {
                Some(constant) => Size::from(constant.signum()),
                None if number.is_positive() && is_exact(number) => Size::from(1),
                None => symbols.fresh(Some(-1), Some(1)),
            },
            _ => symbols.fresh(None, None),
        });
    }
    Some(result)
}

fn negative(symbols: &mut Symbols, number: &Size, elem: ElemType) -> Size {
    match number.as_const() {
        Some(constant) => wrap_constant(symbols, -i128::from(constant), elem),
        None => {
            let negative = symbols.difference(&Size::from(0), number);
            fit(symbols, &negative, elem)
        }
    }
}

/// The inputs' elements for each element of the result.
fn aligned<'a>(c: &Context<'a>, inputs: usize, dims: &[usize]) -> Option<Vec<Vec<&'a Size>>> {
    let parts: Option<Vec<Small<'a>>> = (0..inputs).map(|at| Small::of(c, at)).collect();
    let parts = parts?;
    let mut rows = Vec::new();
    for index in indices(dims) {
        let mut row = Vec::with_capacity(inputs);
        for part in &parts {
            row.push(part.broadcast_at(&index)?);
        }
        rows.push(row);
    }
    Some(rows)
}

pub(super) fn binary(c: &mut Context<'_>, op: &str, elem: ElemType, dims: &[usize]) -> Elements {
    if c.version() < 7 {
        // The second input could be stretched along any axes.
        return None;
    }
    // Comparisons of floats have no elements to compare.
    let of_dividend = op == "Mod" && c.int("fmod", 0)? != 0;
    let rows = aligned(c, 2, dims)?;
    let symbols = &mut *c.symbols;
    let mut result = Vec::with_capacity(rows.len());
    for row in rows {
        let [left, right] = *row else {
            return None;
        };
        result.push(two(symbols, op, elem, left, right, of_dividend));
    }
    Some(result)
}

fn two(
    symbols: &mut Symbols,
    op: &str,
    elem: ElemType,
    left: &Size,
    right: &Size,
    of_dividend: bool,
) -> Size {
    let exact = is_exact(left) && is_exact(right);
    if let (Some(left), Some(right)) = (left.as_const(), right.as_const()) {
        let (left, right) = (i128::from(left), i128::from(right));
        let number = match op {
            "Add" => Some(left + right),
            "Sub" => Some(left - right),
            "Mul" => left.checked_mul(right),
            _ => None,
        };
        if let Some(number) = number {
            return wrap_constant(symbols, number, elem);
        }
    }
    match op {
        "Add" => {
            let sum = symbols.sum(left, right);
            fit(symbols, &sum, elem)
        }
        "Sub" => {
            let difference = symbols.difference(left, right);
            fit(symbols, &difference, elem)
        }
        "Mul" => {
            let product = symbols.product(left, right);
            fit(symbols, &product, elem)
        }
        "Div" if exact => {
            let quotient = symbols.trunc_div(left, right);
            fit(symbols, &quotient, elem)
        }
        "Mod" if exact => symbols.remainder(left, right, of_dividend),
        "And" => match (left.as_const(), right.as_const()) {
            (Some(0), _) | (_, Some(0)) => Size::from(0),
            (Some(_), _) => right.clone(),
            (_, Some(_)) => left.clone(),
            _ if left == right => left.clone(),
            _ => symbols.symmetric(Opaque::Min, left, right, Bounds::BIT),
        },
        "Or" => match (left.as_const(), right.as_const()) {
            (Some(0), _) => right.clone(),
            (_, Some(0)) => left.clone(),
            (Some(_), _) | (_, Some(_)) => Size::from(1),
            _ if left == right => left.clone(),
            _ => symbols.symmetric(Opaque::Max, left, right, Bounds::BIT),
        },
        "Xor" => {
            let same = symbols.equal(left, right);
            not(symbols, &same)
        }
        // Unequal polynomials with a constant difference are unequal modulo any range.
        "Equal" => symbols.equal(left, right),
        "Less" => symbols.less(left, right),
        "Greater" => symbols.less(right, left),
        "LessOrEqual" => {
            let greater = symbols.less(right, left);
            not(symbols, &greater)
        }
        "GreaterOrEqual" => {
            let less = symbols.less(left, right);
            not(symbols, &less)
        }
        _ => symbols.fresh(None, None),
    }
}

pub(super) fn variadic(c: &mut Context<'_>, op: &str, elem: ElemType, dims: &[usize]) -> Elements {
    if c.version() < 8 {
        return None;
    }
    let rows = aligned(c, c.inputs.len(), dims)?;
    let symbols = &mut *c.symbols;
    let mut result = Vec::with_capacity(rows.len());
    for row in rows {
        let (first, rest) = row.split_first()?;
        let mut held = (*first).clone();
        for number in rest {
            held = match op {
                "Min" => symbols.min(&held, number),
                "Max" => symbols.max(&held, number),
                _ => {
                    let sum = symbols.sum(&held, number);
                    fit(symbols, &sum, elem)
                }
            };
        }
        result.push(held);
    }
    Some(result)
}

pub(super) fn clip(c: &mut Context<'_>) -> Elements {
    let elements = c.elements(0)?;
    let limit = |c: &Context<'_>, index: usize| {
        if c.has(index) {
            c.element(index).cloned().map(Some)
        } else {
            Some(None)
        }
    };
    let (low, high) = (limit(c, 1)?, limit(c, 2)?);
    let clipped = |number: &Size| {
        let mut held = number.clone();
        if let Some(low) = &low {
            held = c.symbols.max(&held, low);
        }
        if let Some(high) = &high {
            held = c.symbols.min(&held, high);
        }
        held
    };
    Some(elements.iter().map(clipped).collect())
}

/// Where.
pub(super) fn choose(c: &mut Context<'_>, dims: &[usize]) -> Elements {
    let rows = aligned(c, 3, dims)?;
    let mut result = Vec::with_capacity(rows.len());
    for row in rows {
        let [condition, yes, no] = *row else {
            return None;
        };
        result.push(match condition.as_const() {
            Some(0) => no.clone(),
            Some(_) => yes.clone(),
            None if yes == no => yes.clone(),
            None => either(c.symbols, yes, no),
        });
    }
    Some(result)
}

/// A number that equals one of two numbers.
pub(super) fn either(symbols: &mut Symbols, one: &Size, other: &Size) -> Size {
    let lower = one.lower_bound().zip(other.lower_bound());
    let upper = one.upper_bound().zip(other.upper_bound());
    let least = lower.map(|(one, other)| one.min(other));
    let greatest = upper.map(|(one, other)| one.max(other));
    if one.is_extent() && other.is_extent() {
        symbols.fresh_number(least, greatest)
    } else {
        symbols.fresh(least, greatest)
    }
}
