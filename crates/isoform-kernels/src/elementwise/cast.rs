//! Conversions between all element types.

use super::loops::map;
use crate::control::Control;
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
        self.convert(x, to, control)
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

/// The number of elements that are converted at once: their wide values stay in the cache.
const BUFFER: usize = 1 << 12;

/// Elements in the widest type of their class. One loop leads from each type to wide values,
/// and one from each kind of wide values to each type, in place of one for each pair of types.
enum Wide {
    Floats(Vec<f64>),
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
}

impl Wide {
    fn of_class(class: Class) -> Wide {
        match class {
            Class::Float => Wide::Floats(Vec::new()),
            Class::Unsigned => Wide::Unsigned(Vec::new()),
            Class::Bool | Class::Signed => Wide::Signed(Vec::new()),
        }
    }

    /// Reads elements of type `S`, whose class this is.
    fn read<S: Element>(&mut self, from: &[S::Raw]) {
        let values = from.iter().map(|raw| S::read(*raw));
        match self {
            Wide::Floats(wide) => {
                wide.clear();
                wide.extend(values.map(S::to_f64));
            }
            Wide::Signed(wide) => {
                wide.clear();
                wide.extend(values.map(S::to_i64));
            }
            Wide::Unsigned(wide) => {
                wide.clear();
                wide.extend(values.map(|value| value.to_i64() as u64));
            }
        }
    }

    /// Writes the values as elements of type `D`. Returns the place of a float that `D` does
    /// not hold, if such floats have no defined result; nothing is written then.
    fn write<D: Element>(&self, options: CastOptions, to: &mut [D::Raw]) -> Option<usize> {
        // Integers that are not exact in `f64` are beyond every 8-bit float.
        let saturates =
            options.saturate_float8 && D::CLASS == Class::Float && D::TYPE.is_storage_only();
        match self {
            Wide::Floats(wide) => {
                let checks = matches!(D::CLASS, Class::Signed | Class::Unsigned)
                    && options.out_of_range == OutOfRange::Undefined;
                let outside = || wide.iter().position(|value| !D::holds(*value));
                if let Some(place) = checks.then(outside).flatten() {
                    return Some(place);
                }
                if saturates {
                    write_each(wide, to, |value| D::from_f64_saturating(value).write());
                } else {
                    write_each(wide, to, |value| D::from_f64(value).write());
                }
            }
            Wide::Signed(wide) if saturates => {
                write_each(wide, to, |value| {
                    D::from_f64_saturating(value as f64).write()
                });
            }
            Wide::Signed(wide) => write_each(wide, to, |value| D::from_i64(value).write()),
            Wide::Unsigned(wide) if saturates => {
                write_each(wide, to, |value| {
                    D::from_f64_saturating(value as f64).write()
                });
            }
            Wide::Unsigned(wide) => write_each(wide, to, |value| D::from_u64(value).write()),
        }
        None
    }

    /// The float at a place.
    fn float(&self, place: usize) -> Option<f64> {
        match self {
            Wide::Floats(wide) => wide.get(place).copied(),
            Wide::Signed(_) | Wide::Unsigned(_) => None,
        }
    }
}

fn write_each<T: Copy, R>(from: &[T], to: &mut [R], convert: impl Fn(T) -> R) {
    for (from, to) in from.iter().zip(to) {
        *to = convert(*from);
    }
}

impl CastOptions {
    /// As [`cast`](Self::cast), for real types that differ.
    fn convert(self, x: View<'_>, to: ElementType, control: &Control<'_>) -> Result<Tensor> {
        let from = x.element_type();
        let mut wide = dispatch!(any from, S => Wide::of_class(S::CLASS),
            else return Err(not_defined("cast", "a real type", from)));
        let to = dispatch!(any to, D => D::TYPE,
            else return Err(not_defined("cast to", "a real type", to)));
        let mut bytes = control.zeros(x.shape(), to.size())?;
        let mut progress = control.progress();
        let len = x.len();
        for start in (0..len).step_by(BUFFER) {
            let range = start..len.min(start + BUFFER);
            dispatch!(any from, S => wide.read::<S>(&x.elements::<S>()[range.clone()]),
                else return Err(not_defined("cast", "a real type", from)));
            let outside = dispatch!(any to, D => {
                wide.write::<D>(self, &mut D::chunks_mut(&mut bytes)[range.clone()])
            }, else return Err(not_defined("cast to", "a real type", to)));
            if let Some(place) = outside {
                return Err(KernelError::undefined(format!(
                    "cast: expected values in the range of {to}, got {} at element {}",
                    wide.float(place).unwrap_or(f64::NAN),
                    start + place
                )));
            }
            progress.advance(range.len())?;
        }
        Ok(Tensor::raw(to, x.shape().to_vec(), bytes))
    }
}
