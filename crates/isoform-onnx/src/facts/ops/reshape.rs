//! Reshape, whose target works like a small program.

use super::context::Context;
use super::create::unknown_shape;
use crate::facts::size::{Bounds, Size};
use crate::facts::symbols::Opaque;

/// The shape of the result. A target element 0 keeps the extent at the same position
/// (unless `allowzero`), and -1 stands for the extent left by the other elements.
pub(super) fn reshape(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let target: Vec<Size> = if c.version() < 5 {
        c.given_ints("shape")??
            .into_iter()
            .map(Size::from)
            .collect()
    } else if let Some(elements) = c.elements(1) {
        elements.to_vec()
    } else {
        let length = match c.shape(1)? {
            [length] => length.as_const()?,
            _ => return None,
        };
        return unknown_shape(c, length);
    };
    let zero_copies = c.version() < 14 || c.int("allowzero", 0)? == 0;
    let input = c.shape(0);
    let mut rest = None;
    let mut result = Vec::with_capacity(target.len());
    for (axis, size) in target.iter().enumerate() {
        if size.as_const() == Some(-1) {
            if rest.is_some() {
                return None;
            }
            rest = Some(axis);
            result.push(Size::from(1));
        } else if size.as_const() == Some(0) && zero_copies {
            let kept = input.and_then(|input| input.get(axis)).cloned();
            result.push(c.symbols.or_fresh(kept));
        } else if size.is_nonneg() || input.is_some_and(|input| input.contains(size)) {
            // Extents of a tensor are not negative, whatever they derive from.
            let is_extent = size.is_positive() || !zero_copies || cannot_copy(&target, axis, input);
            result.push(match (is_extent, input.and_then(|input| input.get(axis))) {
                (true, _) => size.clone(),
                // The extent is this size, or the input's extent if this size is zero.
                (false, Some(kept)) => {
                    let limits = Bounds::new(Some(0), None);
                    c.symbols.opaque(Opaque::OrIfZero, size, kept, limits)
                }
                (false, None) => c.symbols.fresh_extent(),
            });
        } else {
            // The size may be -1 at run time.
            result.push(c.symbols.fresh_extent());
        }
    }
    if let Some(axis) = rest {
        result[axis] = Size::from(1);
        let size = input.map(|input| remaining(c, input, &result, axis));
        result[axis] = c.symbols.or_fresh(size);
        return Some(result);
    }
    Some(result)
}

/// True if the symbolic target at a position cannot be a zero that copies another extent
/// than zero.
fn cannot_copy(target: &[Size], axis: usize, input: Option<&[Size]>) -> bool {
    let Some(input) = input else {
        return false;
    };
    let size = &target[axis];
    let Some(kept) = input.get(axis) else {
        // There is no extent to copy: the operator fails.
        return true;
    };
    if kept == size || vanishes_with(kept, size) {
        return true;
    }
    // If this size is zero and the input is empty then, the result has to be empty too,
    // which it cannot be by copying a positive extent.
    let factors = size.factors().unwrap_or_default();
    let count_vanishes = !factors.is_empty()
        && factors.iter().all(|symbol| {
            let mut extents = input.iter();
            extents.any(|extent| extent.is_multiple_of_symbol(symbol))
        });
    let others_positive = target
        .iter()
        .enumerate()
        .all(|(other, size)| other == axis || size.is_positive());
    count_vanishes && others_positive
}

/// True if the first size is zero whenever the second is.
fn vanishes_with(first: &Size, second: &Size) -> bool {
    second.factors().is_some_and(|symbols| {
        symbols
            .iter()
            .all(|symbol| first.is_multiple_of_symbol(symbol))
    })
}

/// The extent that makes the numbers of elements equal.
fn remaining(c: &mut Context<'_>, input: &[Size], others: &[Size], at: usize) -> Size {
    // The product of the other extents is not zero at run time: the operator fails
    // otherwise. Equal extents therefore cancel out, even polynomials of several terms.
    let mut left: Vec<Size> = input.to_vec();
    let mut right: Vec<Size> = Vec::new();
    for (other, size) in others.iter().enumerate() {
        if other == at {
            continue;
        }
        match left.iter().position(|extent| extent == size) {
            Some(found) => {
                left.swap_remove(found);
            }
            None => right.push(size.clone()),
        }
    }
    let left = c.symbols.product_of(&left);
    let right = c.symbols.product_of(&right);
    c.symbols.exact_quotient(&left, &right)
}
