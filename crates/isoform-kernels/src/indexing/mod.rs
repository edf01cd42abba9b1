//! Operators that read or write elements at integer indices.

mod gather;
mod one_hot;
mod scatter;
mod sort;
mod take;

pub use gather::{GatherNd, TupleAxis, gather};
pub use one_hot::OneHot;
pub use scatter::{ScatterMode, scatter_elements, scatter_nd};
pub use sort::{argsort, top_k};
pub use take::{IndexMode, Take};

use crate::control::{BLOCK, Control};
use crate::element::{Element, dispatch};
use crate::element_type::not_defined;
use crate::error::Result;
use crate::tensor::View;

/// The indices in a tensor of any integer type. Indices beyond `int64` become the
/// largest `int64`, which is outside of every axis.
pub(crate) fn read_indices(
    operator: &str,
    indices: View<'_>,
    control: &Control<'_>,
) -> Result<Vec<i64>> {
    let mut values = control.scratch(indices.len(), 0)?;
    let ty = indices.element_type();
    dispatch!(integer ty, T => {
        let mut progress = control.progress();
        let blocks = values.chunks_mut(BLOCK).zip(indices.elements::<T>().chunks(BLOCK));
        for (to, from) in blocks {
            for (to, raw) in to.iter_mut().zip(from) {
                let value = T::read(*raw).to_i64();
                *to = if T::MIN == 0 && value < 0 { i64::MAX } else { value };
            }
            progress.advance(from.len())?;
        }
    }, else return Err(not_defined(operator, "an integer type as indices", ty)));
    Ok(values)
}
