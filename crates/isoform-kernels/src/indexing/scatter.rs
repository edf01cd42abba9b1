//! Writing elements at given places.

use super::gather::{GatherNd, TupleAxis, check_places, each_place};
use super::read_indices;
use super::take::IndexMode;
use crate::control::Control;
use crate::element::{by_size, dispatch};
use crate::element_type::not_defined;
use crate::error::{KernelError, Result};
use crate::number::Number;
use crate::shape;
use crate::tensor::{Tensor, View};

/// The way of joining an update with the element at its position. Several updates of
/// one element are applied in their row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ScatterMode {
    /// The update replaces the element; of any type.
    #[default]
    Replace,
    /// The sum, with [`Binary::Add`](crate::elementwise::Binary::Add).
    Add,
    /// The product, with [`Binary::Multiply`](crate::elementwise::Binary::Multiply).
    Multiply,
    /// The larger element, with
    /// [`Binary::Maximum`](crate::elementwise::Binary::Maximum).
    Maximum,
    /// The smaller one, with [`Binary::Minimum`](crate::elementwise::Binary::Minimum).
    Minimum,
}

/// A copy of `data` with each update joined to the element at the update's position,
/// with the index on `axis`: `ScatterElements` of ONNX.
///
/// ```
/// use isoform_kernels::indexing::{IndexMode, ScatterMode, scatter_elements};
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[3], &[1_i32, 2, 3])?;
/// let indices = Tensor::from_slice(&[2], &[2_i64, 2])?;
/// let updates = Tensor::from_slice(&[2], &[10_i32, 20])?;
/// let (views, modes) = ([indices.view(), updates.view()], (IndexMode::Reject, ScatterMode::Add));
/// let result = scatter_elements(data.view(), views, 0, modes, &Control::default())?;
/// assert_eq!(result.view().to_vec::<i32>()?, [1, 2, 33]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for indices that are not integers, updates of another type than the
/// data, or a type without the arithmetic of the mode. A shape error if indices and
/// updates have different shapes or do not fit into the data. An undefined result for
/// indices that the mode rejects.
pub fn scatter_elements(
    data: View<'_>,
    [indices, updates]: [View<'_>; 2],
    axis: i64,
    (index_mode, mode): (IndexMode, ScatterMode),
    control: &Control<'_>,
) -> Result<Tensor> {
    let axis = shape::axis(axis, data.rank())?;
    check_places("scatter_elements", data, indices.shape(), axis)?;
    check_updates("scatter_elements", data, updates, indices.shape())?;
    let values = read_indices("scatter_elements", indices, control)?;
    let size = data.shape()[axis];
    let mut places = control.scratch(values.len(), 0)?;
    each_place(
        data.shape(),
        indices.shape(),
        axis,
        control,
        &mut |number, base, stride| {
            let index = index_mode.resolve("scatter_elements", values[number], size)?;
            places[number] = base + index * stride;
            Ok(())
        },
    )?;
    write("scatter_elements", data, updates, &places, 1, mode, control)
}

/// A copy of `data` with each slice of the updates joined to the slice at its tuple of
/// indices: `ScatterND` of ONNX.
///
/// # Errors
///
/// As [`scatter_elements`]; the updates have the shape computed by [`GatherNd::shape`].
pub fn scatter_nd(
    data: View<'_>,
    [indices, updates]: [View<'_>; 2],
    tuples: TupleAxis,
    (index_mode, mode): (IndexMode, ScatterMode),
    control: &Control<'_>,
) -> Result<Tensor> {
    let gather = GatherNd {
        tuples,
        batch_dims: 0,
        mode: index_mode,
    };
    let shape = gather.shape(data.shape(), indices.shape())?;
    check_updates("scatter_nd", data, updates, &shape)?;
    let values = read_indices("scatter_nd", indices, control)?;
    let places = gather.places(
        "scatter_nd",
        data.shape(),
        indices.shape(),
        &values,
        control,
    )?;
    write(
        "scatter_nd",
        data,
        updates,
        &places.starts,
        places.piece,
        mode,
        control,
    )
}

fn check_updates(operator: &str, data: View<'_>, updates: View<'_>, shape: &[usize]) -> Result<()> {
    if updates.element_type() != data.element_type() {
        return Err(KernelError::ty(format!(
            "{operator}: expected updates of type {}, got {}",
            data.element_type(),
            updates.element_type()
        )));
    }
    if updates.shape() != shape {
        return Err(KernelError::shape(format!(
            "{operator}: expected updates of shape {shape:?}, got {:?}",
            updates.shape()
        )));
    }
    Ok(())
}

/// Joins pieces of updates to the data at their places.
fn write(
    operator: &str,
    data: View<'_>,
    updates: View<'_>,
    places: &[usize],
    piece: usize,
    mode: ScatterMode,
    control: &Control<'_>,
) -> Result<Tensor> {
    let ty = data.element_type();
    let mut bytes = data.copied(control)?;
    if piece > 0 {
        match mode {
            ScatterMode::Replace => by_size!(ty, N => {
                let from = updates.bytes().as_chunks::<N>().0;
                let to = bytes.as_chunks_mut::<N>().0;
                join(to, from, places, piece, control, |to, from| *to = *from)?;
            }),
            _ => dispatch!(number ty, T => {
                combine::<T>(mode, &mut bytes, updates, places, piece, control)?;
            }, else return Err(not_defined(operator, "an integer or float type", ty))),
        }
    }
    Ok(Tensor::raw(ty, data.shape().to_vec(), bytes))
}

fn combine<T: Number>(
    mode: ScatterMode,
    bytes: &mut [u8],
    updates: View<'_>,
    places: &[usize],
    piece: usize,
    control: &Control<'_>,
) -> Result<()> {
    let operator = match mode {
        ScatterMode::Multiply => T::multiply,
        ScatterMode::Maximum => T::maximum,
        ScatterMode::Minimum => T::minimum,
        _ => T::add,
    };
    let (to, from) = (T::chunks_mut(bytes), updates.elements::<T>());
    join(to, from, places, piece, control, |to, from| {
        *to = operator(T::read(*to), T::read(*from)).write();
    })
}

fn join<R>(
    to: &mut [R],
    from: &[R],
    places: &[usize],
    piece: usize,
    control: &Control<'_>,
    one: impl Fn(&mut R, &R),
) -> Result<()> {
    let mut progress = control.progress();
    for (from, place) in from.chunks_exact(piece).zip(places) {
        for (to, from) in to[*place..][..piece].iter_mut().zip(from) {
            one(to, from);
        }
        progress.advance(piece)?;
    }
    Ok(())
}
