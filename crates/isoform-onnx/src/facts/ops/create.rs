//! Operators that make tensors of a shape.

use isoform::values::ValueRef;

use super::context::Context;
use crate::elem_type::ElemType;
use crate::facts::fact::{Fact, elem_of};
use crate::facts::size::Size;

/// A Constant that the importer could not read because the value comes from a
/// function's attribute, or a Constant made by a program.
pub(super) fn constant(c: &Context<'_>) -> Option<Vec<Fact>> {
    let value = c.call.attribute("value").ok()??;
    Some(vec![Fact::of_constant(value)])
}

/// The range of axes taken by Shape, clamped to the rank.
pub(in crate::facts) fn shape_bounds(c: &Context<'_>, rank: usize) -> Option<(usize, usize)> {
    let rank_signed = i64::try_from(rank).ok()?;
    let clamp = |at: i64| {
        let at = if at < 0 {
            at.checked_add(rank_signed)?
        } else {
            at
        };
        usize::try_from(at.clamp(0, rank_signed)).ok()
    };
    if c.version() < 15 {
        return Some((0, rank));
    }
    let start = clamp(c.int("start", 0)?)?;
    let end = clamp(c.int("end", rank_signed)?)?;
    Some((start, end.max(start)))
}

pub(super) fn shape_of(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let length = c
        .rank(0)
        .and_then(|rank| {
            let (start, end) = shape_bounds(c, rank)?;
            i64::try_from(end - start).ok()
        })
        .map(Size::from);
    Some(vec![c.symbols.or_fresh(length)])
}

/// The shape spelled out by the elements of an input, as for ConstantOfShape.
pub(super) fn shape_from_elements(c: &mut Context<'_>, at: usize) -> Option<Vec<Size>> {
    if let Some(elements) = c.elements(at) {
        return Some(elements.to_vec());
    }
    let length = match c.shape(at)? {
        [length] => length.as_const()?,
        _ => return None,
    };
    unknown_shape(c, length)
}

/// A shape of a known rank; None for a rank that no tensor has.
pub(super) fn unknown_shape(c: &mut Context<'_>, rank: i64) -> Option<Vec<Size>> {
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= 256)?;
    Some(c.symbols.fresh_shape(rank))
}

pub(super) fn constant_of_shape(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = match c.call.attribute("value").ok()? {
        None => Some(ElemType::Float),
        Some(value) => match value.view() {
            ValueRef::Tensor(tensor) => elem_of(tensor.dtype()),
            _ => None,
        },
    };
    let shape = shape_from_elements(c, 0);
    Some(vec![Fact::tensor(elem, shape)])
}

pub(super) fn range(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let length = range_length(c);
    Some(vec![c.symbols.or_fresh(length)])
}

/// `max(0, ceil((limit - start) / delta))`
fn range_length(c: &mut Context<'_>) -> Option<Size> {
    if let (Some(start), Some(limit), Some(delta)) =
        (c.element(0), c.element(1), c.const_element(2))
    {
        let (from, to) = if delta > 0 {
            (start, limit)
        } else {
            (limit, start)
        };
        // For numbers near the limits of 64 bits, the difference could wrap around.
        let distance = to.sub(from)?;
        let step = delta.checked_abs().filter(|step| *step != 0)?;
        if !(start.is_extent() && limit.is_extent()) && start.as_const() != Some(0) {
            return None;
        }
        let count = c.symbols.ceil_div(&distance, step);
        return Some(c.symbols.max(&count, &Size::from(0)));
    }
    let number = |index: usize| c.floats(index)?.first().copied();
    let (start, limit, delta) = (number(0)?, number(1)?, number(2)?);
    let count = ((limit - start) / delta).ceil().max(0.0);
    // Far below this, the quotient is exact enough to be the runtime's.
    let fits = count.is_finite() && count < 1e6 && start.fract() == 0.0 && limit.fract() == 0.0;
    (fits && delta.fract() == 0.0).then(|| Size::from(count as i64))
}

pub(super) fn random(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem_attr("dtype")?.unwrap_or(ElemType::Float);
    let shape = c
        .given_ints("shape")??
        .into_iter()
        .map(Size::from)
        .collect();
    Some(vec![Fact::tensor(Some(elem), Some(shape))])
}

pub(super) fn multinomial(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem_attr("dtype")?.unwrap_or(ElemType::Int32);
    let samples = Size::from(c.int("sample_size", 1)?);
    let shape = match c.shape(0) {
        Some([batch, _]) => Some(vec![batch.clone(), samples]),
        _ => None,
    };
    Some(vec![Fact::tensor(Some(elem), shape)])
}
