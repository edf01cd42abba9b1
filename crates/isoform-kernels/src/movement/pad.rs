//! Padding and repetition.

use crate::control::Control;
use crate::element::by_size;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::strided::row_major;
use crate::tensor::{Tensor, View};

/// The elements that padding adds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PadMode<'a> {
    /// A scalar of the same element type.
    Constant(View<'a>),
    /// The nearest element of the tensor.
    Edge,
    /// The tensor mirrored at its outermost elements: `3 2 | 1 2 3 | 2 1`.
    Reflect,
    /// The tensor mirrored between elements: `2 1 | 1 2 3 | 3 2`.
    Symmetric,
    /// The tensor repeated: `2 3 | 1 2 3 | 1 2`.
    Wrap,
}

/// The tensor with `(before, after)` elements added at each axis. Negative widths
/// remove elements; padding at the other end then sees only the remaining elements.
///
/// ```
/// use isoform_kernels::movement::{PadMode, pad};
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[3], &[1_u8, 2, 3])?;
/// let padded = pad(x.view(), &[(2, 1)], PadMode::Reflect, &Control::default())?;
/// assert_eq!(padded.bytes(), [3, 2, 1, 2, 3, 2]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for a constant of another type. A shape error for a constant that is
/// not a scalar, for widths that do not fit, and if a mode other than `Constant` has no
/// element to repeat.
pub fn pad(
    x: View<'_>,
    widths: &[(i64, i64)],
    mode: PadMode<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let shape = shape::pad(x.shape(), widths)?;
    let constant = match mode {
        PadMode::Constant(constant) => Some(constant),
        _ => None,
    };
    if let Some(constant) = constant
        && (constant.element_type() != x.element_type() || constant.len() != 1)
    {
        return Err(KernelError::ty(format!(
            "pad: expected a scalar of type {} as constant, got {} of shape {:?}",
            x.element_type(),
            constant.element_type(),
            constant.shape()
        )));
    }
    control.elements(&shape, x.element_type().size())?;
    let mut maps = Vec::with_capacity(shape.len());
    for ((size, (before, after)), padded) in x.shape().iter().zip(widths).zip(&shape) {
        let removed = usize::try_from(-before.min(&0)).unwrap_or(0);
        let kept = size - removed - usize::try_from(-after.min(&0)).unwrap_or(0);
        if kept == 0 && *padded > 0 && constant.is_none() {
            return Err(KernelError::shape(
                "pad: expected an element to repeat, got an empty axis",
            ));
        }
        let before = (*before).max(0);
        control.elements(&[*padded], size_of::<Option<usize>>())?;
        let map = (0..*padded as i64).map(|position| {
            let inner = inner_index(position - before, kept as i64, mode);
            inner.map(|inner| inner + removed)
        });
        maps.push(map.collect());
    }
    let constant = constant.map(|constant| constant.bytes());
    rearrange(x, &maps, constant, control)
}

/// The element for a place inside or outside of `0..size`; None for the constant.
fn inner_index(at: i64, size: i64, mode: PadMode<'_>) -> Option<usize> {
    let mirrored = |period: i64, gap: i64| {
        let at = at.rem_euclid(period.max(1));
        if at < size { at } else { period - gap - at }
    };
    let inner = match mode {
        _ if (0..size).contains(&at) => at,
        PadMode::Constant(_) => return None,
        PadMode::Edge => at.clamp(0, size - 1),
        PadMode::Reflect => mirrored(2 * (size - 1), 0),
        PadMode::Symmetric => mirrored(2 * size, 1),
        PadMode::Wrap => at.rem_euclid(size),
    };
    Some(inner as usize)
}

/// Each element repeated `repeats` times along an axis.
///
/// # Errors
///
/// As [`shape::repeat`].
pub fn repeat(x: View<'_>, repeats: usize, axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let shape = shape::repeat(x.shape(), repeats, axis)?;
    let at = shape::axis(axis, shape.len())? + 1;
    let (mut inner, mut wide) = (x.shape().to_vec(), x.shape().to_vec());
    inner.insert(at, 1);
    wide.insert(at, repeats);
    repeated(x.with_shape(&inner), &wide, shape, control)
}

/// The whole tensor repeated along each axis; missing axes count as 1, from the left.
///
/// # Errors
///
/// As [`shape::tile`].
pub fn tile(x: View<'_>, repeats: &[usize], control: &Control<'_>) -> Result<Tensor> {
    let shape = shape::tile(x.shape(), repeats)?;
    let missing = shape.len() - x.rank();
    let (mut inner, mut wide) = (Vec::new(), Vec::new());
    for at in 0..shape.len() {
        let size = if at < missing {
            1
        } else {
            x.shape()[at - missing]
        };
        let ahead = shape.len() - repeats.len();
        inner.extend([1, size]);
        wide.extend([if at < ahead { 1 } else { repeats[at - ahead] }, size]);
    }
    repeated(x.with_shape(&inner), &wide, shape, control)
}

/// The tensor broadcast with an additional axis for each repetition.
fn repeated(
    x: View<'_>,
    wide: &[usize],
    shape: Vec<usize>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let (element_type, _, bytes) = super::broadcast_to(x, wide, control)?.into_parts();
    Ok(Tensor::raw(element_type, shape, bytes))
}

/// The tensor with each index of an axis replaced by another index, or by a constant.
///
/// The caller has checked the size of the result.
fn rearrange(
    x: View<'_>,
    maps: &[Vec<Option<usize>>],
    constant: Option<&[u8]>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let shape: Vec<usize> = maps.iter().map(Vec::len).collect();
    let ty = x.element_type();
    let mut bytes = control.zeros(&shape, ty.size())?;
    if !bytes.is_empty() {
        by_size!(ty, N => {
            let mut fill = [0; N];
            if let Some(constant) = constant {
                fill.copy_from_slice(constant);
            }
            place(x, maps, fill, bytes.as_chunks_mut::<N>().0, control)?;
        });
    }
    Ok(Tensor::raw(ty, shape, bytes))
}

fn place<const N: usize>(
    x: View<'_>,
    maps: &[Vec<Option<usize>>],
    fill: [u8; N],
    to: &mut [[u8; N]],
    control: &Control<'_>,
) -> Result<()> {
    let from = x.bytes().as_chunks::<N>().0;
    // Unchanged trailing axes form a single contiguous piece.
    let same = |map: &[Option<usize>], size: usize| {
        map.len() == size
            && map
                .iter()
                .enumerate()
                .all(|(position, index)| *index == Some(position))
    };
    let pairs = maps.iter().zip(x.shape());
    let whole = pairs
        .rev()
        .take_while(|(map, size)| same(map, **size))
        .count();
    let outer = maps.len() - whole;
    let piece: usize = x.shape()[outer..].iter().product();
    let strides = row_major(x.shape());
    let mut progress = control.progress();
    let Some((inner_map, outer_maps)) = maps[..outer].split_last() else {
        to.copy_from_slice(from);
        return Ok(());
    };
    let mut index = vec![0_usize; outer_maps.len()];
    for row in to.chunks_exact_mut(inner_map.len() * piece) {
        let places = index.iter().zip(outer_maps).zip(&strides);
        let base = places
            .map(|((position, map), stride)| Some(map[*position]? * *stride as usize))
            .sum::<Option<usize>>();
        for (to, inner) in row.chunks_exact_mut(piece).zip(inner_map) {
            match (base, inner) {
                (Some(base), Some(inner)) => {
                    to.copy_from_slice(&from[base + inner * piece..][..piece]);
                }
                _ => to.fill(fill),
            }
            progress.advance(piece)?;
        }
        for (position, map) in index.iter_mut().zip(outer_maps).rev() {
            *position += 1;
            if *position < map.len() {
                break;
            }
            *position = 0;
        }
    }
    Ok(())
}
