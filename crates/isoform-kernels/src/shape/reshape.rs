//! Shapes of reshaped tensors.

use crate::error::{KernelError, Result};

/// The meaning of the code 0 of [`reshape`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ZeroCode {
    /// Copies the size of the input axis, which does not count for -1: the default of Relay.
    Copy,
    /// Copies the size of the input axis, and counts the size for -1: the default of
    /// ONNX. The size of -1 next to a copied 0 is not determined.
    CopyCounted,
    /// The size 0: `allowzero` of Relay and ONNX.
    Size,
}

/// The result shape of a reshape, with the codes of Relay and MXNet.
///
/// | code | meaning |
/// |---|---|
/// | above 0 | this size |
/// | 0 | as `zero` says |
/// | -1 | the size that keeps the number of elements; at most once |
/// | -2 | all remaining input axes |
/// | -3 | the product of the next two input axes |
/// | -4 | splits the next input axis into the two positive sizes that follow, one of which may be -1 |
///
/// ONNX has only positive sizes, 0 and -1. Every code but -1 consumes its input axes,
/// from the left; a positive size and -1 consume one. Axes consumed by -2, -3 and -4 do
/// not count for -1. The size of -1 is therefore determined even if these axes are
/// empty.
///
/// ```
/// use isoform_kernels::shape::{ZeroCode, reshape};
///
/// assert_eq!(reshape(&[2, 3, 4], &[0, -1], ZeroCode::Copy)?, [2, 12]);
/// assert_eq!(reshape(&[2, 3, 4], &[-3, -2], ZeroCode::Copy)?, [6, 4]);
/// assert_eq!(reshape(&[2, 3, 4], &[-4, 1, -1, -2], ZeroCode::Copy)?, [1, 2, 3, 4]);
/// assert_eq!(reshape(&[0, 3], &[0, -1], ZeroCode::Copy)?, [0, 3]);
/// assert!(reshape(&[0, 3], &[0, -1], ZeroCode::CopyCounted).is_err());
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for an unknown code, for one without an input axis, for two unknown
/// sizes, and if the numbers of elements differ. Next to a size of 0 that counts, `-1` is
/// ambiguous and an error.
pub fn reshape(shape: &[usize], codes: &[i64], zero: ZeroCode) -> Result<Vec<usize>> {
    let fault = |what: &str| {
        KernelError::shape(format!(
            "reshape: {what}, got shape {shape:?} and codes {codes:?}"
        ))
    };
    let mut result = Vec::with_capacity(codes.len());
    let mut unknown = None;
    // The sizes that count for -1, of the input and of the result.
    let (mut counted_from, mut counted_to) = (Vec::new(), Vec::new());
    let mut source = shape.iter().copied();
    let mut codes_left = codes.iter().copied();
    while let Some(code) = codes_left.next() {
        match code {
            0 if zero == ZeroCode::Size => {
                counted_from.extend(source.next());
                counted_to.push(0);
                result.push(0);
            }
            0 => {
                let size = source
                    .next()
                    .ok_or_else(|| fault("expected an input axis for the code 0"))?;
                if zero == ZeroCode::CopyCounted {
                    counted_from.push(size);
                    counted_to.push(size);
                }
                result.push(size);
            }
            -1 => {
                if unknown.replace(result.len()).is_some() {
                    return Err(fault("expected at most one -1"));
                }
                counted_from.extend(source.next());
                result.push(1);
            }
            -2 => result.extend(source.by_ref()),
            -3 => {
                let (Some(first), Some(second)) = (source.next(), source.next()) else {
                    return Err(fault("expected two input axes for the code -3"));
                };
                let product = first.checked_mul(second);
                result.push(product.ok_or_else(|| fault("expected a product in range"))?);
            }
            -4 => {
                let (Some(size), Some(first), Some(second)) =
                    (source.next(), codes_left.next(), codes_left.next())
                else {
                    return Err(fault(
                        "expected an input axis and two sizes for the code -4",
                    ));
                };
                let (first, second) = divide_axis(size, first, second)
                    .ok_or_else(|| fault("expected two sizes that divide the axis after -4"))?;
                result.extend([first, second]);
            }
            size => {
                counted_from.extend(source.next());
                let size = usize::try_from(size);
                let size = size.map_err(|_| fault("expected a size or a code from -4 to 0"))?;
                counted_to.push(size);
                result.push(size);
            }
        }
    }
    counted_from.extend(source);
    let count = |sizes: &[usize]| {
        if sizes.contains(&0) {
            return Some(0);
        }
        sizes
            .iter()
            .try_fold(1_usize, |all, size| all.checked_mul(*size))
    };
    if let Some(axis) = unknown {
        let counts = (count(&counted_from), count(&counted_to));
        let (Some(from), Some(to)) = counts else {
            return Err(fault("expected a number of elements in range"));
        };
        if to == 0 || from % to != 0 {
            return Err(fault("expected sizes that determine the one of -1"));
        }
        result[axis] = from / to;
    }
    let (before, after) = (count(shape), count(&result));
    if before != after || before.is_none() {
        return Err(fault(&format!(
            "expected as many elements as before, not those of {result:?}"
        )));
    }
    Ok(result)
}

/// The sizes of the two parts of a divided axis; one size may be given as unknown.
fn divide_axis(size: usize, first: i64, second: i64) -> Option<(usize, usize)> {
    let known = |size: i64| usize::try_from(size).ok().filter(|size| *size > 0);
    let rest = |known: usize| size.is_multiple_of(known).then(|| size / known);
    match (first, second) {
        (-1, -1) => None,
        (-1, second) => Some((rest(known(second)?)?, known(second)?)),
        (first, -1) => Some((known(first)?, rest(known(first)?)?)),
        (first, second) => {
            let sizes = (known(first)?, known(second)?);
            (sizes.0.checked_mul(sizes.1)? == size).then_some(sizes)
        }
    }
}

/// The shape that [`reshape`] leads to if both the input axes and the codes are read from
/// the right. The code -4 still comes before its two sizes.
///
/// ```
/// use isoform_kernels::shape::reverse_reshape;
///
/// assert_eq!(reverse_reshape(&[10, 5, 4], &[-1, 0])?, [50, 4]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// As [`reshape`].
pub fn reverse_reshape(shape: &[usize], codes: &[i64]) -> Result<Vec<usize>> {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let mut groups = Vec::with_capacity(codes.len());
    let mut left = codes.iter().copied();
    while let Some(code) = left.next() {
        let mut group = vec![code];
        if code == -4 {
            group.extend(left.by_ref().take(2));
            group[1..].reverse();
        }
        groups.push(group);
    }
    let flipped: Vec<i64> = groups.into_iter().rev().flatten().collect();
    let mut result = reshape(&reversed, &flipped, ZeroCode::Copy)?;
    result.reverse();
    Ok(result)
}

/// The shape of one tensor with some axes replaced by axes of another: the axes `left`
/// of `shape` are replaced by the axes `right` of `like`. Ranges are `begin..end`,
/// negative bounds count from the end, and no end means the last axis.
///
/// ```
/// use isoform_kernels::shape::reshape_like;
///
/// assert_eq!(reshape_like(&[2, 12], &[9, 3, 4], (1, None), (1, None))?, [2, 3, 4]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for bounds outside of the ranks, or if the numbers of elements differ.
pub fn reshape_like(
    shape: &[usize],
    like: &[usize],
    left: (i64, Option<i64>),
    right: (i64, Option<i64>),
) -> Result<Vec<usize>> {
    let range = |(begin, end): (i64, Option<i64>), rank: usize| {
        let size = rank as i64;
        let bound = |axis: i64| {
            if axis < 0 {
                axis.saturating_add(size)
            } else {
                axis
            }
        };
        let (begin, end) = (bound(begin), bound(end.unwrap_or(size)));
        if 0 <= begin && begin <= end && end <= size {
            return Ok(begin as usize..end as usize);
        }
        Err(KernelError::shape(format!(
            "reshape_like: expected a range of axes within rank {rank}, got {begin}..{end}"
        )))
    };
    let (left, right) = (range(left, shape.len())?, range(right, like.len())?);
    let mut result = shape[..left.start].to_vec();
    result.extend(&like[right]);
    result.extend(&shape[left.end..]);
    let codes: Vec<i64> = result.iter().map(|size| *size as i64).collect();
    reshape(shape, &codes, ZeroCode::Size)
}

/// The shape with all axes except the first merged.
///
/// # Errors
///
/// A shape error for rank 0, or if the product is out of range.
pub fn batch_flatten(shape: &[usize]) -> Result<Vec<usize>> {
    let rest = |rest: &[usize]| {
        rest.iter()
            .try_fold(1_usize, |all, size| all.checked_mul(*size))
    };
    match shape {
        [first, others @ ..] if rest(others).is_some() => {
            Ok(vec![*first, rest(others).unwrap_or(0)])
        }
        _ => Err(KernelError::shape(format!(
            "batch_flatten: expected rank 1 or more, got shape {shape:?}"
        ))),
    }
}
