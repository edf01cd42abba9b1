//! Reductions of small tensors, and cumulative sums.

use super::arithmetic::fit;
use super::small::{Small, indices, position};
use crate::elem_type::ElemType;
use crate::facts::ops::{Context, rules};
use crate::facts::size::Size;
use crate::facts::symbols::Symbols;

type Elements = Option<Vec<Size>>;

fn fold(symbols: &mut Symbols, op: &str, elem: ElemType, held: &Size, next: &Size) -> Size {
    match op {
        "ReduceMin" => symbols.min(held, next),
        "ReduceMax" => symbols.max(held, next),
        "ReduceProd" => {
            let product = symbols.product(held, next);
            fit(symbols, &product, elem)
        }
        _ => {
            let sum = symbols.sum(held, next);
            fit(symbols, &sum, elem)
        }
    }
}

pub(super) fn reduce(c: &mut Context<'_>, op: &str, elem: ElemType, dims: &[usize]) -> Elements {
    let data = Small::of(c, 0)?;
    let axes = rules::reduced_axes(c, op, data.dims.len())?;
    let keep = c.int("keepdims", 1)? != 0;
    let count: usize = dims.iter().product();
    let mut result: Vec<Option<Size>> = vec![None; count];
    for (index, number) in indices(&data.dims).into_iter().zip(data.elements) {
        let mut target = Vec::with_capacity(index.len());
        for (axis, position) in index.into_iter().enumerate() {
            if !axes.contains(&axis) {
                target.push(position);
            } else if keep {
                target.push(0);
            }
        }
        let held = result.get_mut(position(dims, &target)?)?;
        *held = Some(match held {
            Some(held) => fold(c.symbols, op, elem, held, number),
            None => number.clone(),
        });
    }
    // Without elements, the sum is 0, the product is 1, and there is no least element.
    let empty = match op {
        "ReduceSum" => Some(Size::from(0)),
        "ReduceProd" => Some(Size::from(1)),
        _ => None,
    };
    result
        .into_iter()
        .map(|held| held.or_else(|| empty.clone()))
        .collect()
}

pub(super) fn cumulative(c: &mut Context<'_>, elem: ElemType) -> Elements {
    let data = Small::of(c, 0)?;
    let axis = rules::axis_of(c.const_element(1)?, data.dims.len())?;
    let (exclusive, reverse) = (c.int("exclusive", 0)? != 0, c.int("reverse", 0)? != 0);
    let length = data.dims[axis];
    let mut result = Vec::with_capacity(data.elements.len());
    for index in indices(&data.dims) {
        let position = index[axis];
        let (from, to) = match (reverse, exclusive) {
            (false, false) => (0, position + 1),
            (false, true) => (0, position),
            (true, false) => (position, length),
            (true, true) => (position + 1, length),
        };
        let mut sum = Size::from(0);
        for other in from..to {
            let mut index = index.clone();
            index[axis] = other;
            sum = fold(c.symbols, "ReduceSum", elem, &sum, data.at(&index)?);
        }
        result.push(sum);
    }
    Some(result)
}
