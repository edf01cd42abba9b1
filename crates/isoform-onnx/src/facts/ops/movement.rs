//! Operators that move elements without looking at them.

use super::context::{Context, axes_of, axis_of};
use super::create::{shape_from_elements, unknown_shape};
use super::elementwise::broadcast;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

/// The permutation of a Transpose; it reverses the axes by default.
pub(in crate::facts) fn permutation(c: &Context<'_>, rank: usize) -> Option<Vec<usize>> {
    match c.given_ints("perm")? {
        None => Some((0..rank).rev().collect()),
        Some(perm) => axes_of(&perm, rank).filter(|axes| axes.len() == rank),
    }
}

pub(super) fn transpose(c: &Context<'_>) -> Shape {
    if let Some(shape) = c.shape(0) {
        let perm = permutation(c, shape.len())?;
        return Some(perm.into_iter().map(|axis| shape[axis].clone()).collect());
    }
    None
}

pub(super) fn flatten(c: &mut Context<'_>) -> Shape {
    let axis = c.int("axis", 1)?;
    let Some(shape) = c.shape(0) else {
        return Some(c.symbols.fresh_shape(2));
    };
    let rank = i64::try_from(shape.len()).ok()?;
    // The axis may be the rank itself.
    let axis = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    let axis = usize::try_from(axis)
        .ok()
        .filter(|axis| *axis <= shape.len())?;
    let (before, after) = shape.split_at(axis);
    Some(vec![
        c.symbols.product_of(before),
        c.symbols.product_of(after),
    ])
}

/// Axes given by an attribute before version 13, and by an input since. The outer None
/// means unknown, the inner None means omitted.
pub(super) fn attr_or_input_axes(c: &Context<'_>, since: i64) -> Option<Option<Vec<i64>>> {
    if c.version() < since {
        return c.given_ints("axes");
    }
    if c.has(1) {
        Some(Some(c.consts(1)?))
    } else {
        Some(None)
    }
}

/// The number of axes in an input of axes.
fn axes_count(c: &Context<'_>) -> Option<i64> {
    match c.shape(1)? {
        [count] => count.as_const(),
        [] => Some(1),
        _ => None,
    }
}

/// The axes that a Squeeze leaves.
pub(in crate::facts) fn kept_by_squeeze(c: &Context<'_>) -> Option<Vec<usize>> {
    let shape = c.shape(0)?;
    let one = Size::from(1);
    match attr_or_input_axes(c, 13)? {
        Some(axes) => {
            let axes = axes_of(&axes, shape.len())?;
            Some(
                (0..shape.len())
                    .filter(|axis| !axes.contains(axis))
                    .collect(),
            )
        }
        // All axes of length one, if the lengths of all axes are known.
        None => {
            let mut kept = Vec::new();
            for (axis, size) in shape.iter().enumerate() {
                if !size.known_eq(&one)? {
                    kept.push(axis);
                }
            }
            Some(kept)
        }
    }
}

pub(super) fn squeeze(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    if let Some(kept) = kept_by_squeeze(c) {
        return Some(kept.into_iter().map(|axis| shape[axis].clone()).collect());
    }
    if c.version() >= 13 && c.has(1) && c.consts(1).is_none() {
        let rank = i64::try_from(shape.len()).ok()?;
        let left = rank.checked_sub(axes_count(c)?)?;
        return unknown_shape(c, left);
    }
    None
}

pub(super) fn unsqueeze(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    if c.version() >= 13 && c.consts(1).is_none() {
        let rank = i64::try_from(shape.len())
            .ok()?
            .checked_add(axes_count(c)?)?;
        return unknown_shape(c, rank);
    }
    let axes = attr_or_input_axes(c, 13)??;
    let rank = shape.len().checked_add(axes.len())?;
    let axes = axes_of(&axes, rank)?;
    let mut rest = shape.iter();
    let mut result = Vec::with_capacity(rank);
    for axis in 0..rank {
        result.push(if axes.contains(&axis) {
            Size::from(1)
        } else {
            rest.next()?.clone()
        });
    }
    Some(result)
}

pub(super) fn expand(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    let target = shape_from_elements(c, 1)?;
    Some(broadcast(c.symbols, shape, &target))
}

pub(super) fn tile(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    if c.version() < 6 {
        return unknown_shape(c, i64::try_from(shape.len()).ok()?);
    }
    let Some(repeats) = c.elements(1).filter(|all| all.len() == shape.len()) else {
        return unknown_shape(c, i64::try_from(shape.len()).ok()?);
    };
    let sizes = shape.iter().zip(repeats);
    Some(
        sizes
            .map(|(size, times)| c.symbols.product(size, times))
            .collect(),
    )
}

/// The numbers of elements that a Pad adds before and after each axis; negative numbers
/// remove elements.
pub(in crate::facts) fn pads(c: &Context<'_>, rank: usize) -> Option<Vec<(Size, Size)>> {
    let given: Vec<Size> = match c.version() {
        ..=1 => numbers(c.given_ints("paddings")??),
        2..=10 => numbers(c.given_ints("pads")??),
        _ => c.elements(1)?.to_vec(),
    };
    let axes = if c.has(3) && c.version() >= 18 {
        axes_of(&c.consts(3)?, rank)?
    } else {
        (0..rank).collect()
    };
    if given.len() != axes.len().checked_mul(2)? {
        return None;
    }
    let mut pads = vec![(Size::from(0), Size::from(0)); rank];
    for (at, axis) in axes.iter().enumerate() {
        pads[*axis] = (given[at].clone(), given[at + axes.len()].clone());
    }
    Some(pads)
}

fn numbers(ints: Vec<i64>) -> Vec<Size> {
    ints.into_iter().map(Size::from).collect()
}

pub(super) fn pad(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    let Some(pads) = pads(c, shape.len()) else {
        return Some(c.symbols.fresh_shape(shape.len()));
    };
    let mut result = Vec::with_capacity(shape.len());
    for (size, (before, after)) in shape.iter().zip(pads) {
        let both = c.symbols.sum(&before, &after);
        result.push(c.symbols.sum(size, &both));
    }
    Some(result)
}

pub(super) fn concat(c: &mut Context<'_>) -> Shape {
    // Every input has the rank of the result, and the extents of the result on all axes
    // except the joined axis.
    let shapes: Vec<Option<&[Size]>> = (0..c.inputs.len()).map(|index| c.shape(index)).collect();
    let rank = shapes.iter().flatten().next()?.len();
    // Before version 4, the axis was optional.
    let axis = axis_of(c.int("axis", 1)?, rank)?;
    let mut total = Some(Size::from(0));
    let mut result: Vec<Option<Size>> = vec![None; rank];
    for shape in &shapes {
        let Some(shape) = shape.filter(|shape| shape.len() == rank) else {
            total = None;
            continue;
        };
        total = match total {
            Some(total) => Some(c.symbols.sum(&total, &shape[axis])),
            None => None,
        };
        for (held, size) in result.iter_mut().zip(shape) {
            // At run time the extents are equal, so a number is as right as a symbol.
            if held.is_none() || size.as_const().is_some() {
                *held = Some(size.clone());
            }
        }
    }
    result[axis] = total;
    Some(
        result
            .into_iter()
            .map(|size| c.symbols.or_fresh(size))
            .collect(),
    )
}

/// The lengths of the parts of a Split; empty if not even some are known.
pub(in crate::facts) fn split_lengths(c: &mut Context<'_>, count: usize) -> Option<Vec<Size>> {
    let shape = c.shape(0)?;
    let axis = axis_of(c.int("axis", 0)?, shape.len())?;
    let size = &shape[axis];
    let lengths = match c.version() {
        ..=12 => c.given_ints("split")?.map(numbers),
        _ if c.has(1) => Some(c.elements(1)?.to_vec()),
        _ => None,
    };
    let lengths = match (lengths, c.version()) {
        // Version 1 may take the lengths from an input.
        (None, 1) if c.has(1) => Some(c.elements(1)?.to_vec()),
        (lengths, _) => lengths,
    };
    if let Some(lengths) = lengths {
        return (lengths.len() >= count).then_some(lengths);
    }
    let parts = match c.version() {
        18.. => c.int("num_outputs", i64::try_from(count).ok()?)?,
        _ => i64::try_from(count).ok()?,
    };
    if parts <= 0 {
        return None;
    }
    if parts == 1 {
        return Some(vec![size.clone()]);
    }
    let even = match c.version() {
        // Before version 18, parts are equal, or the operator fails.
        ..=17 => size
            .div_exact(&Size::from(parts))
            .unwrap_or_else(|| c.symbols.floor_div(size, parts)),
        _ => c.symbols.ceil_div(size, parts),
    };
    let whole = i64::try_from(count).ok() == Some(parts) && c.version() >= 18;
    let mut lengths = vec![even.clone(); count];
    if whole && let Some(last) = lengths.last_mut() {
        // The last part takes the rest.
        let others = c.symbols.product(&even, &Size::from(parts - 1));
        let rest = c.symbols.difference(size, &others);
        *last = if rest.is_nonneg() {
            rest
        } else {
            c.symbols.fresh_extent()
        };
    }
    Some(lengths)
}

pub(super) fn split(c: &mut Context<'_>, count: usize) -> Option<Vec<Fact>> {
    let elem = c.elem(0);
    let lengths = split_lengths(c, count);
    let parts = (0..count).map(|at| {
        let mut shape = c.shape(0)?.to_vec();
        let axis = axis_of(c.int("axis", 0)?, shape.len())?;
        let length = lengths
            .as_ref()
            .and_then(|lengths| lengths.get(at))
            .cloned();
        shape[axis] = c.symbols.or_fresh(length);
        Some(shape)
    });
    Some(parts.map(|shape| Fact::tensor(elem, shape)).collect())
}

/// The shape of images, and the length and the area of a block.
fn blocks(c: &Context<'_>) -> Option<([Size; 4], Size, Size)> {
    let block = c.int("blocksize", 0).filter(|block| *block > 0)?;
    let shape = c.shape(0)?.to_vec().try_into().ok()?;
    let area = Size::from(block.checked_mul(block)?);
    Some((shape, Size::from(block), area))
}

pub(super) fn depth_to_space(c: &mut Context<'_>) -> Shape {
    let ([batch, depth, height, width], block, area) = blocks(c)?;
    Some(vec![
        batch,
        c.symbols.exact_quotient(&depth, &area),
        c.symbols.product(&height, &block),
        c.symbols.product(&width, &block),
    ])
}

pub(super) fn space_to_depth(c: &mut Context<'_>) -> Shape {
    let ([batch, depth, height, width], block, area) = blocks(c)?;
    Some(vec![
        batch,
        c.symbols.product(&depth, &area),
        c.symbols.exact_quotient(&height, &block),
        c.symbols.exact_quotient(&width, &block),
    ])
}

pub(super) fn center_crop_pad(c: &mut Context<'_>) -> Shape {
    let shape = c.shape(0)?;
    let axes = match c.given_ints("axes")? {
        Some(axes) => axes_of(&axes, shape.len())?,
        None => (0..shape.len()).collect(),
    };
    let target = c.elements(1).filter(|target| target.len() == axes.len());
    let mut result = shape.to_vec();
    for (at, axis) in axes.into_iter().enumerate() {
        let size = target.map(|target| target[at].clone());
        result[axis] = c.symbols.or_fresh(size);
    }
    Some(result)
}
