//! Tensors of a few elements: positions and indices.

use crate::elem_type::ElemType;
use crate::facts::fact::{Fact, MAX_ELEMENTS};
use crate::facts::size::Size;

/// A tensor whose elements are known, in row-major order.
pub(super) struct Small<'a> {
    pub(super) dims: Vec<usize>,
    pub(super) elements: &'a [Size],
}

/// The extents of a tensor of at most [`MAX_ELEMENTS`] elements.
pub(super) fn dims_of(fact: &Fact) -> Option<Vec<usize>> {
    let mut count = 1_usize;
    let mut dims = Vec::with_capacity(fact.rank()?);
    for size in fact.shape.as_deref()? {
        let dim = usize::try_from(size.as_const()?).ok()?;
        dims.push(dim);
        count = count.checked_mul(dim)?;
    }
    (count <= MAX_ELEMENTS).then_some(dims)
}

/// The indices of all elements, in row-major order.
pub(super) fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = dims.iter().product();
    let mut index = vec![0; dims.len()];
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        all.push(index.clone());
        for (at, dim) in index.iter_mut().zip(dims).rev() {
            *at += 1;
            if *at < *dim {
                break;
            }
            *at = 0;
        }
    }
    all
}

/// The position of an index; None if out of range.
pub(super) fn position(dims: &[usize], index: &[usize]) -> Option<usize> {
    let mut position = 0;
    for (dim, at) in dims.iter().zip(index) {
        if at >= dim {
            return None;
        }
        position = position * dim + at;
    }
    (dims.len() == index.len()).then_some(position)
}

impl Small<'_> {
    pub(super) fn at(&self, index: &[usize]) -> Option<&Size> {
        self.elements.get(position(&self.dims, index)?)
    }
}

impl<'a> Small<'a> {
    /// The element read by an index of a larger shape, as in broadcasting.
    pub(super) fn broadcast_at(&self, index: &[usize]) -> Option<&'a Size> {
        let missing = index.len().checked_sub(self.dims.len())?;
        let own: Vec<usize> = index[missing..]
            .iter()
            .zip(&self.dims)
            .map(|(at, dim)| if *dim == 1 { 0 } else { *at })
            .collect();
        self.elements.get(position(&self.dims, &own)?)
    }
}

/// An index that may count from the end; None if out of range.
pub(super) fn wrapped(index: i64, dim: usize) -> Option<usize> {
    let signed = i64::try_from(dim).ok()?;
    let index = if index < 0 {
        index.checked_add(signed)?
    } else {
        index
    };
    usize::try_from(index).ok().filter(|index| *index < dim)
}

/// The least and the largest number of an integer type or bool; None for other types.
pub(super) fn range_of(elem: ElemType) -> Option<(i128, i128)> {
    Some(match elem {
        ElemType::Bool => (0, 1),
        ElemType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        ElemType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        ElemType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        ElemType::Int64 => (i64::MIN.into(), i64::MAX.into()),
        ElemType::Uint8 => (0, u8::MAX.into()),
        ElemType::Uint16 => (0, u16::MAX.into()),
        ElemType::Uint32 => (0, u32::MAX.into()),
        ElemType::Uint64 => (0, u64::MAX.into()),
        _ => return None,
    })
}
