//! Operators that work element by element.

use super::context::Context;
use crate::elem_type::ElemType;
use crate::facts::size::Size;
use crate::facts::symbols::Symbols;

/// The shape to which two shapes broadcast.
pub(super) fn broadcast(symbols: &mut Symbols, left: &[Size], right: &[Size]) -> Vec<Size> {
    let rank = left.len().max(right.len());
    let axis = |shape: &[Size], at: usize| {
        let missing = rank - shape.len();
        at.checked_sub(missing)
            .and_then(|at| shape.get(at).cloned())
    };
    let both = (0..rank).map(|at| match (axis(left, at), axis(right, at)) {
        (Some(left), Some(right)) => symbols.broadcast(&left, &right),
        (one, other) => one.or(other).unwrap_or_else(|| Size::from(1)),
    });
    both.collect()
}

/// Before version 7, the second input was stretched to the shape of the first input on
/// demand, and had the same shape otherwise. Either way, the result has the shape of
/// the first input.
fn stretches_to_first(c: &Context<'_>) -> bool {
    c.version() < 7
}

/// The shape of a result of two inputs.
pub(super) fn binary(c: &mut Context<'_>) -> Option<Vec<Size>> {
    if stretches_to_first(c) {
        return c.shape(0).map(<[Size]>::to_vec);
    }
    let (left, right) = (c.shape(0)?, c.shape(1)?);
    Some(broadcast(c.symbols, left, right))
}

/// The shape of a result of any number of inputs.
pub(super) fn variadic(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let mut shape = c.shape(0)?.to_vec();
    for at in 1..c.inputs.len() {
        let other = c.shape(at)?;
        // Before version 8, all shapes had to be the same.
        if c.version() >= 8 {
            shape = broadcast(c.symbols, &shape, other);
        }
    }
    Some(shape)
}

/// The target type of Cast, given by name before version 6.
pub(super) fn cast_elem(c: &Context<'_>) -> Option<ElemType> {
    if let Ok(Some(name)) = c.call.str("to") {
        return ElemType::from_name(&name.to_ascii_lowercase());
    }
    c.elem_attr("to")?
}

pub(super) fn quantized_elem(c: &Context<'_>) -> Option<ElemType> {
    if c.has(2) {
        return c.elem(2);
    }
    Some(c.elem_attr("output_dtype")?.unwrap_or(ElemType::Uint8))
}

pub(super) fn dequantized_elem(c: &Context<'_>) -> Option<ElemType> {
    c.elem_attr("output_dtype")?.or_else(|| c.elem(1))
}
