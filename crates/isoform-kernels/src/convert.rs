//! Converts all elements to numbers of one wide type and back, for operators that
//! compute in the wide type and round once.

use crate::control::{BLOCK, Control};
use crate::element::{Element, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::Result;
use crate::indexing::read_indices;
use crate::tensor::{Tensor, View};

/// The elements in `f64`: floats exactly, and integers rounded beyond 2^53.
///
/// # Errors
///
/// A type error for complex numbers, a size error beyond the limit of `control`.
pub fn to_f64s(x: View<'_>, control: &Control<'_>) -> Result<Vec<f64>> {
    let mut wide = control.scratch(x.len(), 0.0)?;
    let ty = x.element_type();
    dispatch!(any ty, T => {
        let mut progress = control.progress();
        for (to, from) in wide.chunks_mut(BLOCK).zip(x.elements::<T>().chunks(BLOCK)) {
            for (to, raw) in to.iter_mut().zip(from) {
                *to = T::read(*raw).to_f64();
            }
            progress.advance(from.len())?;
        }
    }, else return Err(not_defined("to_f64s", "a real type", ty)));
    Ok(wide)
}

/// A tensor of numbers, each converted by a function of its element type.
macro_rules! from_numbers {
    ($what:literal, $from:ident, $values:ident, $ty:ident, $shape:ident, $control:ident) => {{
        let mut bytes = $control.zeros($shape, $ty.size())?;
        dispatch!(any $ty, T => {
            let mut progress = $control.progress();
            let blocks = T::chunks_mut(&mut bytes).chunks_mut(BLOCK);
            for (to, values) in blocks.zip($values.chunks(BLOCK)) {
                for (to, value) in to.iter_mut().zip(values) {
                    *to = T::$from(*value).write();
                }
                progress.advance(values.len())?;
            }
        }, else return Err(not_defined($what, "a real type", $ty)));
        checked(bytes, $values.len(), $ty, $shape)
    }};
}

/// A tensor of the nearest numbers of a type; integers are truncated and limited to the
/// range.
///
/// # Errors
///
/// A type error for complex types, a shape error for a wrong number of values, a size error
/// beyond the limit of `control`.
pub fn from_f64s(
    values: &[f64],
    ty: ElementType,
    shape: &[usize],
    control: &Control<'_>,
) -> Result<Tensor> {
    from_numbers!("from_f64s", from_f64, values, ty, shape, control)
}

/// The elements of an integer tensor in `i64`; larger elements become the largest
/// `i64`.
///
/// # Errors
///
/// A type error for other types than integers of 8 to 64 bits, a size error beyond the limit
/// of `control`.
pub fn to_i64s(x: View<'_>, control: &Control<'_>) -> Result<Vec<i64>> {
    read_indices("to_i64s", x, control)
}

/// A tensor of integers modulo the range of the type, or of the nearest floats.
///
/// # Errors
///
/// As [`from_f64s`].
pub fn from_i64s(
    values: &[i64],
    ty: ElementType,
    shape: &[usize],
    control: &Control<'_>,
) -> Result<Tensor> {
    from_numbers!("from_i64s", from_i64, values, ty, shape, control)
}

/// The tensor, if the number of values is the number of elements of the shape.
fn checked(bytes: Vec<u8>, count: usize, ty: ElementType, shape: &[usize]) -> Result<Tensor> {
    if count * ty.size() == bytes.len() {
        return Ok(Tensor::raw(ty, shape.to_vec(), bytes));
    }
    Err(crate::error::KernelError::shape(format!(
        "expected as many values as shape {shape:?} has elements, got {count}"
    )))
}
