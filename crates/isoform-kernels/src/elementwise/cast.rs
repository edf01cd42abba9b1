//! Conversions between all element types.

use super::loops::map;
use crate::control::{BLOCK, Control};
use crate::element::{Class, Element, dispatch, names::F8E8M0Fnu};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::small_float::ScaleRounding;
use crate::tensor::{Tensor, View};

/// The integer for a float that is NaN or, after truncation, outside of the integer's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutOfRange {
    /// An error with [`ErrorKind::Undefined`](crate::ErrorKind::Undefined): C, LLVM, NumPy
    /// and ONNX leave the result open, so a compiler keeps the cast in the program.
    #[default]
    Undefined,
    /// The nearest integer of the range, and 0 for NaN.
    Saturate,
}

/// How values outside of the range of a type are cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CastOptions {
    /// Floats outside of the range of an integer type.
    pub out_of_range: OutOfRange,
    /// True to turn numbers and infinities beyond the largest finite number into that
    /// number when casting to an 8-bit float, the default of ONNX. Otherwise they
    /// become infinity, or NaN if the format has no infinity.
    pub saturate_float8: bool,
    /// The power of two for a number between two of them, when casting to `float8_e8m0fnu`.
    pub scale_rounding: ScaleRounding,
}

impl CastOptions {
    /// The elements of `x` converted to another type.
    ///
    /// | from | to | result |
    /// |---|---|---|
    /// | any | bool | false for 0 and -0, true for all else, also for NaN |
    /// | integer | integer | the same modulo the range: the lower bits |
    /// | float | integer | truncated towards zero; `out_of_range` beyond the range |
    /// | any | float | the nearest, ties to even, in one rounding; infinite beyond the range |
    ///
    /// A cast to the same type copies the bytes.
    ///
    /// # Errors
    ///
    /// An undefined result for floats outside of the range, unless they saturate; a type
    /// error for complex numbers.
    pub fn cast(self, x: View<'_>, to: ElementType, control: &Control<'_>) -> Result<Tensor> {
        if x.element_type() == to {
            return x.to_tensor(control);
        }
        if to == ElementType::Float8E8M0Fnu {
            let rounding = self.scale_rounding;
            let saturate = self.saturate_float8;
            return dispatch!(any x.element_type(), S => map(x, control, |value: S| {
                F8E8M0Fnu::rounded(value.to_f64(), rounding, saturate)
            }), else Err(not_defined("cast", "a real number", x.element_type())));
        }
        dispatch!(any x.element_type(), S => {
            dispatch!(any to, D => convert::<S, D>(self, x, control),
                else Err(not_defined("cast to", "a real type", to)))
        }, else Err(not_defined("cast", "a real type", x.element_type())))
    }
}

/// The elements of `x` converted to another type, with the default [`CastOptions`].
///
/// ```
/// use isoform_kernels::elementwise::cast;
/// use isoform_kernels::{Control, ElementType, ErrorKind, Tensor};
///
/// let x = Tensor::from_slice(&[2], &[-1.9_f32, 300.0])?;
/// let whole = cast(x.view(), ElementType::Int16, &Control::default())?;
/// assert_eq!(whole.view().to_vec::<i16>()?, [-1, 300]);
/// let error = cast(x.view(), ElementType::Int8, &Control::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Undefined);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// As [`CastOptions::cast`].
pub fn cast(x: View<'_>, to: ElementType, control: &Control<'_>) -> Result<Tensor> {
    CastOptions::default().cast(x, to, control)
}

fn convert<S: Element, D: Element>(
    options: CastOptions,
    x: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let mut bytes = control.zeros(x.shape(), D::TYPE.size())?;
    let mut progress = control.progress();
    let source = x.elements::<S>();
    let checks = S::CLASS == Class::Float
        && matches!(D::CLASS, Class::Signed | Class::Unsigned)
        && options.out_of_range == OutOfRange::Undefined;
    let saturates =
        options.saturate_float8 && D::CLASS == Class::Float && D::TYPE.is_storage_only();
    let blocks = source
        .chunks(BLOCK)
        .zip(D::chunks_mut(&mut bytes).chunks_mut(BLOCK));
    for (number, (from, to)) in blocks.enumerate() {
        if checks {
            let outside = |raw: &S::Raw| !D::holds(S::read(*raw).to_f64());
            if let Some(index) = from.iter().position(outside) {
                return Err(KernelError::undefined(format!(
                    "cast: expected values in the range of {}, got {} at element {}",
                    D::TYPE,
                    S::read(from[index]).to_f64(),
                    number * BLOCK + index
                )));
            }
        }
        let pairs = from.iter().zip(&mut *to);
        match S::CLASS {
            // Integers that are not exact in `f64` are beyond every 8-bit float.
            _ if saturates => {
                pairs.for_each(|(from, to)| {
                    *to = D::from_f64_saturating(S::read(*from).to_f64()).write();
                });
            }
            Class::Float => {
                pairs.for_each(|(from, to)| *to = D::from_f64(S::read(*from).to_f64()).write());
            }
            Class::Unsigned => pairs.for_each(|(from, to)| {
                *to = D::from_u64(S::read(*from).to_i64() as u64).write();
            }),
            Class::Bool | Class::Signed => {
                pairs.for_each(|(from, to)| *to = D::from_i64(S::read(*from).to_i64()).write());
            }
        }
        progress.advance(to.len())?;
    }
    Ok(Tensor::raw(D::TYPE, x.shape().to_vec(), bytes))
}
