//! Reductions.

use super::context::{Context, axes_of, axis_of};
use super::movement::attr_or_input_axes;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

/// The axes removed by a reduction; None if unknown.
pub(in crate::facts) fn axes(c: &Context<'_>, op: &str, rank: usize) -> Option<Vec<usize>> {
    let since = if op == "ReduceSum" { 13 } else { 18 };
    match attr_or_input_axes(c, since)? {
        Some(axes) if !axes.is_empty() => axes_of(&axes, rank),
        _ if c.version() >= since && c.int("noop_with_empty_axes", 0)? != 0 => Some(Vec::new()),
        _ => Some((0..rank).collect()),
    }
}

pub(super) fn reduce(c: &mut Context<'_>, op: &str) -> Shape {
    let keep = c.int("keepdims", 1)? != 0;
    let Some(shape) = c.shape(0) else {
        // All axes of whatever rank.
        let since = if op == "ReduceSum" { 13 } else { 18 };
        let all = attr_or_input_axes(c, since)?.is_none_or(|axes| axes.is_empty())
            && c.int("noop_with_empty_axes", 0)? == 0;
        return (all && !keep).then(Vec::new);
    };
    let Some(axes) = axes(c, op, shape.len()) else {
        if keep {
            return Some(c.symbols.fresh_shape(shape.len()));
        }
        // The axes are distinct, so their number is enough for the rank. None given could
        // mean all.
        let [count] = c.shape(1)? else {
            return None;
        };
        let count = usize::try_from(count.as_const()?)
            .ok()
            .filter(|count| *count > 0)?;
        let left = shape.len().checked_sub(count)?;
        return Some(c.symbols.fresh_shape(left));
    };
    Some(without(shape, &axes, keep))
}

fn without(shape: &[Size], axes: &[usize], keep: bool) -> Vec<Size> {
    let mut result = Vec::with_capacity(shape.len());
    for (axis, size) in shape.iter().enumerate() {
        if !axes.contains(&axis) {
            result.push(size.clone());
        } else if keep {
            result.push(Size::from(1));
        }
    }
    result
}

pub(super) fn arg(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    let axis = axis_of(c.int("axis", 0)?, shape.len())?;
    Some(without(shape, &[axis], c.int("keepdims", 1)? != 0))
}
