//! Shapes of results, without their values.
//!
//! Every kernel computes the shape of its result with one of these functions, and type
//! inference may call the same functions. All functions cost time linear in the ranks.

mod moves;
mod reshape;
mod windows;

pub use moves::{
    arange, concatenate, expand_dims, pad, repeat, slice, split, squeeze, stack, tile, transpose,
};
pub use reshape::{ZeroCode, batch_flatten, reshape, reshape_like, reverse_reshape};
pub use windows::{PoolRounding, Window, convolution, pool};

use crate::error::{KernelError, Result};

/// The common shape of several operands under NumPy's rule: shapes are aligned at the
/// last axis, a missing axis counts as 1, and an axis of size 1 takes the size of the other.
///
/// ```
/// use isoform_kernels::shape::broadcast;
///
/// assert_eq!(broadcast(&[&[4, 1], &[3]])?, [4, 3]);
/// assert_eq!(broadcast(&[&[4, 1], &[0]])?, [4, 0]);
/// assert!(broadcast(&[&[4], &[3]]).is_err());
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error if two sizes of one axis differ and neither is 1.
pub fn broadcast(shapes: &[&[usize]]) -> Result<Vec<usize>> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        let offset = rank - shape.len();
        for (dim, size) in shape.iter().zip(&mut result[offset..]) {
            if *size == 1 {
                *size = *dim;
            } else if *dim != 1 && dim != size {
                return Err(cannot_broadcast(shapes));
            }
        }
    }
    Ok(result)
}

#[cold]
fn cannot_broadcast(shapes: &[&[usize]]) -> KernelError {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    KernelError::shape(format!(
        "broadcast: expected sizes that are equal or 1 on every axis from the last one, got {}",
        shapes.join(" and ")
    ))
}

/// The number of an axis, which may count from the end: `-1` is the last axis.
///
/// # Errors
///
/// A shape error for an axis outside of `-rank..rank`.
///
/// ```
/// assert_eq!(isoform_kernels::shape::axis(-1, 3)?, 2);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
pub fn axis(axis: i64, rank: usize) -> Result<usize> {
    let size = i64::try_from(rank).unwrap_or(i64::MAX);
    let counted = if axis < 0 {
        axis.saturating_add(size)
    } else {
        axis
    };
    if (0..size).contains(&counted) {
        return Ok(counted as usize);
    }
    Err(KernelError::shape(format!(
        "axis: expected -{size} to {}, got {axis}",
        size - 1
    )))
}

/// The numbers of several axes, in ascending order.
///
/// # Errors
///
/// A shape error for an axis outside of `-rank..rank`, or one named twice.
pub fn axes(axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut found = axes
        .iter()
        .map(|number| axis(*number, rank))
        .collect::<Result<Vec<usize>>>()?;
    found.sort_unstable();
    if let Some(pair) = found.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(KernelError::shape(format!(
            "axes: expected each axis once, got axis {} twice in {axes:?}",
            pair[0]
        )));
    }
    Ok(found)
}

/// The shape after reducing these axes, given in ascending order: the axes disappear,
/// or with `keep_dims` become 1.
#[must_use]
pub fn reduce(shape: &[usize], axes: &[usize], keep_dims: bool) -> Vec<usize> {
    let mut result = Vec::with_capacity(shape.len());
    for (at, size) in shape.iter().enumerate() {
        match (axes.binary_search(&at), keep_dims) {
            (Err(_), _) => result.push(*size),
            (Ok(_), true) => result.push(1),
            (Ok(_), false) => {}
        }
    }
    result
}

/// The shape of a matrix product under the rules of `numpy.matmul`, after the
/// transpositions: axes before the last two broadcast. An operand of rank 1 is a row on
/// the left and a column on the right, whose axis disappears from the result.
///
/// ```
/// use isoform_kernels::shape::matmul;
///
/// assert_eq!(matmul(&[5, 2, 3], &[3, 4], false, false)?, [5, 2, 4]);
/// assert_eq!(matmul(&[2, 3], &[3], false, false)?, [2]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for rank 0, or if the summed axes differ.
pub fn matmul(
    left: &[usize],
    right: &[usize],
    transpose_left: bool,
    transpose_right: bool,
) -> Result<Vec<usize>> {
    let (Some(left_parts), Some(right_parts)) = (
        matrix(left, transpose_left, true),
        matrix(right, transpose_right, false),
    ) else {
        return Err(KernelError::shape(format!(
            "matmul: expected operands of rank 1 or more, got shapes {left:?} and {right:?}"
        )));
    };
    if left_parts.columns != right_parts.rows {
        return Err(KernelError::shape(format!(
            "matmul: expected as many columns on the left as rows on the right, got {} and {} from shapes {left:?} and {right:?}",
            left_parts.columns, right_parts.rows
        )));
    }
    let mut result = broadcast(&[left_parts.batch, right_parts.batch])?;
    if left.len() > 1 {
        result.push(left_parts.rows);
    }
    if right.len() > 1 {
        result.push(right_parts.columns);
    }
    Ok(result)
}

/// A shape as a batch of matrices.
pub(crate) struct Matrices<'s> {
    pub(crate) batch: &'s [usize],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// A shape as a batch of matrices; None for rank 0. A vector is not transposed.
pub(crate) fn matrix(shape: &[usize], exchanged: bool, is_left: bool) -> Option<Matrices<'_>> {
    match shape {
        [] => None,
        [size] => Some(Matrices {
            batch: &[],
            rows: if is_left { 1 } else { *size },
            columns: if is_left { *size } else { 1 },
        }),
        [batch @ .., rows, columns] => {
            let (rows, columns) = if exchanged {
                (columns, rows)
            } else {
                (rows, columns)
            };
            Some(Matrices {
                batch,
                rows: *rows,
                columns: *columns,
            })
        }
    }
}
