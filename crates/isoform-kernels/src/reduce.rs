//! Operators that reduce axes.
//!
//! Axes other than the last axes are first moved to the end in a copy. Time and memory
//! are linear in the elements of the operand.

use crate::control::{BLOCK, Control, Progress};
use crate::element::{Element, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::movement::{Rows, trailing};
use crate::number::{Float, Integer, Number, Wide};
use crate::shape;
use crate::tensor::{Tensor, View};

/// A reduction to one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The sum; 0 of nothing. Integers wrap around; floats accumulate in `f64`, in eight
    /// sums of every eighth element, and round once.
    Sum,
    /// The product; 1 of nothing. Accumulates as the sum.
    Product,
    /// The largest; NaN if any is NaN. Undefined for nothing.
    Max,
    /// The smallest; NaN if any is NaN. Undefined for nothing.
    Min,
    /// The sum divided by the number of elements. Of integers, the exact sum, and the
    /// quotient is rounded towards zero. Of no floats NaN, of no integers undefined.
    Mean,
    /// True if all are; of truth values. True of nothing.
    All,
    /// True if any is; of truth values. False of nothing.
    Any,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: &'static [Reduction] = &[
        Reduction::Sum,
        Reduction::Product,
        Reduction::Max,
        Reduction::Min,
        Reduction::Mean,
        Reduction::All,
        Reduction::Any,
    ];

    /// The name as Relay spells it: `"prod"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Product => "prod",
            Reduction::Max => "max",
            Reduction::Min => "min",
            Reduction::Mean => "mean",
            Reduction::All => "all",
            Reduction::Any => "any",
        }
    }
}

/// The axes that are reduced.
///
/// ```
/// use isoform_kernels::reduce::{Axes, Reduction};
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[2, 2], &[1_i32, 2, 3, 4])?;
/// let columns = Axes { axes: Some(&[0]), ..Axes::default() };
/// let sums = columns.reduce(Reduction::Sum, x.view(), &Control::default())?;
/// assert_eq!(sums.view().to_vec::<i32>()?, [4, 6]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Axes<'a> {
    /// The axes, which may count from the end. None means all axes.
    pub axes: Option<&'a [i64]>,
    /// True to keep reduced axes with size 1.
    pub keep_dims: bool,
    /// True to reduce all axes except `axes`, if given.
    pub exclude: bool,
}

/// The position of the largest or smallest element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extreme {
    /// True for the largest element, false for the smallest.
    pub largest: bool,
    /// True for the last of several equal elements, false for the first.
    pub last: bool,
    /// The type of the result: `int32` or `int64`.
    pub index_type: ElementType,
}

impl Axes<'_> {
    /// The numbers of the reduced axes in ascending order.
    ///
    /// # Errors
    ///
    /// A shape error for an axis outside of the rank or named twice.
    pub fn resolve(&self, rank: usize) -> Result<Vec<usize>> {
        let Some(axes) = self.axes else {
            return Ok((0..rank).collect());
        };
        let named = shape::axes(axes, rank)?;
        if self.exclude {
            let others = (0..rank).filter(|at| named.binary_search(at).is_err());
            return Ok(others.collect());
        }
        Ok(named)
    }

    /// The shape of a reduction.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Axes::resolve).
    pub fn shape(&self, shape: &[usize]) -> Result<Vec<usize>> {
        Ok(shape::reduce(
            shape,
            &self.resolve(shape.len())?,
            self.keep_dims,
        ))
    }

    /// The reduction of these axes; the result has the type of the operand.
    ///
    /// # Errors
    ///
    /// A type error if the type lacks the reduction, a shape error for a wrong axis, an
    /// undefined result as described at [`Reduction`].
    pub fn reduce(
        &self,
        reduction: Reduction,
        x: View<'_>,
        control: &Control<'_>,
    ) -> Result<Tensor> {
        let ty = x.element_type();
        if ty == ElementType::Bool {
            let neutral = match reduction {
                Reduction::All | Reduction::Min => true,
                Reduction::Any | Reduction::Max => false,
                _ => {
                    return Err(not_defined(
                        reduction.name(),
                        "an integer or float type",
                        ty,
                    ));
                }
            };
            self.require_elements(
                matches!(reduction, Reduction::Max | Reduction::Min),
                reduction.name(),
                x,
            )?;
            return self.each(x, control, |row: &[[u8; 1]], progress| {
                let mut has_other = false;
                for block in row.chunks(BLOCK) {
                    has_other |= block.iter().any(|byte| (byte[0] != 0) != neutral);
                    progress.advance(block.len())?;
                }
                Ok(has_other != neutral)
            });
        }
        let numbers = "an integer or float type";
        match reduction {
            Reduction::All | Reduction::Any => Err(not_defined(reduction.name(), "bool", ty)),
            Reduction::Mean if ty.is_integer() => {
                self.require_elements(true, "mean", x)?;
                dispatch!(integer ty, T => self.each(x, control, mean_of_integers::<T>),
                    else Err(not_defined("mean", numbers, ty)))
            }
            Reduction::Mean => {
                dispatch!(float ty, T => self.each(x, control, |row: &[_], progress| {
                Ok(T::narrow(mean::<T>(row, progress)?))
            }), else Err(not_defined("mean", numbers, ty)))
            }
            Reduction::Sum => {
                dispatch!(number ty, T => self.each(x, control, |row: &[_], progress| {
                Ok(T::narrow(sum::<T>(row, progress)?))
            }), else Err(not_defined("sum", numbers, ty)))
            }
            Reduction::Product => {
                dispatch!(number ty, T => self.each(x, control, |row: &[_], progress| {
                Ok(T::narrow(product::<T>(row, progress)?))
            }), else Err(not_defined("prod", numbers, ty)))
            }
            Reduction::Max | Reduction::Min => {
                self.require_elements(true, reduction.name(), x)?;
                let largest = reduction == Reduction::Max;
                dispatch!(number ty, T => self.each(x, control, |row: &[_], progress| {
                    limit::<T>(row, largest, progress)
                }), else Err(not_defined(reduction.name(), numbers, ty)))
            }
        }
    }

    /// The index of the largest or smallest element, within the reduced axes in row-major order.
    /// NaN is larger than the largest and smaller than the smallest, so the first NaN is
    /// found, as in NumPy.
    ///
    /// # Errors
    ///
    /// A type error for an index type other than `int32` and `int64`, and for types
    /// without order. A shape error for a wrong axis. An undefined result for an axis
    /// without elements, or too many for the index type.
    pub fn position(&self, extreme: Extreme, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = x.element_type();
        let name = if extreme.largest { "argmax" } else { "argmin" };
        self.require_elements(true, name, x)?;
        if ty == ElementType::Bool {
            let bytes = View::new(ElementType::UInt8, x.shape(), x.bytes())?;
            return self.position(extreme, bytes, control);
        }
        let expected = "an integer or float type";
        match extreme.index_type {
            ElementType::Int32 => {
                dispatch!(number ty, T => self.each(x, control, |row: &[_], progress| {
                let index = find::<T>(row, extreme, progress)?;
                i32::try_from(index).map_err(|_| KernelError::undefined(format!(
                    "{name}: expected an index in the range of int32, got {index}"
                )))
            }), else Err(not_defined(name, expected, ty)))
            }
            ElementType::Int64 => {
                dispatch!(number ty, T => self.each(x, control, |row: &[_], progress| {
                Ok(find::<T>(row, extreme, progress)? as i64)
            }), else Err(not_defined(name, expected, ty)))
            }
            other => Err(not_defined(name, "int32 or int64 as index type", other)),
        }
    }

    /// The mean of the squared distances from the mean, or from `mean` if given, with a
    /// shape that broadcasts to the result with kept axes. `unbiased` divides by one
    /// less than the number of elements. Computed in `f64` in two passes and rounded
    /// once; NaN for a division by zero.
    ///
    /// # Errors
    ///
    /// A type error for other types than floats, a shape error for a wrong axis or mean.
    pub fn variance(
        &self,
        x: View<'_>,
        mean: Option<View<'_>>,
        unbiased: bool,
        control: &Control<'_>,
    ) -> Result<Tensor> {
        let ty = x.element_type();
        let axes = self.resolve(x.rank())?;
        let broadcast_mean = match mean {
            None => None,
            Some(mean) if mean.element_type() == ty => {
                let kept = shape::reduce(x.shape(), &axes, true);
                let squeezed = shape::reduce(x.shape(), &axes, false);
                let shape = if mean.shape() == squeezed {
                    &kept
                } else {
                    mean.shape()
                };
                Some(crate::movement::broadcast_to(
                    mean.with_shape(shape),
                    &kept,
                    control,
                )?)
            }
            Some(mean) => {
                return Err(KernelError::ty(format!(
                    "variance: expected a mean of type {ty}, got {}",
                    mean.element_type()
                )));
            }
        };
        dispatch!(float ty, T => {
            let means = broadcast_mean.as_ref().map(|mean| mean.view().elements::<T>());
            let mut number = 0;
            self.each(x, control, |row: &[<T as Element>::Raw], progress| {
                let center = match means {
                    Some(means) => T::read(means[number]).wide(),
                    None => crate::reduce::mean::<T>(row, progress)?,
                };
                number += 1;
                let divisor = row.len() as f64 - f64::from(u8::from(unbiased));
                let divisor = if divisor > 0.0 { divisor } else { f64::NAN };
                Ok(T::narrow(squares::<T>(row, center, progress)? / divisor))
            })
        }, else Err(not_defined("variance", "a float type", ty)))
    }

    /// One element for each row of reduced elements.
    fn each<R: RawElement, O: Element>(
        &self,
        x: View<'_>,
        control: &Control<'_>,
        mut f: impl FnMut(&[R], &mut Progress<'_>) -> Result<O>,
    ) -> Result<Tensor> {
        let axes = self.resolve(x.rank())?;
        let shape = shape::reduce(x.shape(), &axes, self.keep_dims);
        let mut bytes = control.zeros(&shape, O::TYPE.size())?;
        let Rows {
            bytes: rows, len, ..
        } = trailing(x, &axes, control)?;
        let rows = R::cast(&rows);
        let mut progress = control.progress();
        for (at, to) in O::chunks_mut(&mut bytes).iter_mut().enumerate() {
            *to = f(&rows[at * len..][..len], &mut progress)?.write();
            progress.advance(1)?;
        }
        Ok(Tensor::raw(O::TYPE, shape, bytes))
    }

    /// An error if the reduction has no result for a row without elements.
    fn require_elements(&self, needed: bool, name: &str, x: View<'_>) -> Result<()> {
        let axes = self.resolve(x.rank())?;
        let empty = axes.iter().any(|at| x.shape()[*at] == 0);
        if needed && empty && !shape::reduce(x.shape(), &axes, false).contains(&0) {
            return Err(KernelError::undefined(format!(
                "{name}: expected one element or more, got shape {:?}",
                x.shape()
            )));
        }
        Ok(())
    }
}

/// The bytes of elements as arrays.
trait RawElement: Copy {
    fn cast(bytes: &[u8]) -> &[Self];
}

impl<const N: usize> RawElement for [u8; N] {
    fn cast(bytes: &[u8]) -> &[Self] {
        bytes.as_chunks().0
    }
}

/// Eight independent accumulators, which vectors hold, combined in pairs at the end.
#[inline]
fn lanes<R: Copy, W: Copy>(
    row: &[R],
    neutral: W,
    step: impl Fn(W, R) -> W,
    join: impl Fn(W, W) -> W,
) -> W {
    let mut all = [neutral; 8];
    let (eights, rest) = row.as_chunks::<8>();
    for eight in eights {
        for (sum, raw) in all.iter_mut().zip(eight) {
            *sum = step(*sum, *raw);
        }
    }
    for (sum, raw) in all.iter_mut().zip(rest) {
        *sum = step(*sum, *raw);
    }
    let [a, b, c, d, e, f, g, h] = all;
    join(join(join(a, b), join(c, d)), join(join(e, f), join(g, h)))
}

/// Joins the results of the lanes of each block of a row, in order. Blocks keep the
/// error from growing with the length, and allow polling.
fn blocks<R: Copy, W: Copy>(
    row: &[R],
    neutral: W,
    step: impl Fn(W, R) -> W,
    join: impl Fn(W, W) -> W,
    progress: &mut Progress<'_>,
) -> Result<W> {
    let mut all = neutral;
    for block in row.chunks(BLOCK) {
        all = join(all, lanes(block, neutral, &step, &join));
        progress.advance(block.len())?;
    }
    Ok(all)
}

pub(crate) fn sum<T: Number>(row: &[T::Raw], progress: &mut Progress<'_>) -> Result<T::Wide> {
    if row.is_empty() {
        return Ok(T::Wide::default());
    }
    let step = |sum: T::Wide, raw| sum.add(T::read(raw).wide());
    // Minus zero is neutral: the sum of negative zeros stays one.
    blocks(row, T::NEUTRAL, step, T::Wide::add, progress)
}

fn product<T: Number>(row: &[T::Raw], progress: &mut Progress<'_>) -> Result<T::Wide> {
    let step = |all: T::Wide, raw| all.multiply(T::read(raw).wide());
    blocks(row, T::Wide::ONE, step, T::Wide::multiply, progress)
}

/// The largest or smallest element of a row that is not empty.
fn limit<T: Number>(row: &[T::Raw], largest: bool, progress: &mut Progress<'_>) -> Result<T> {
    let choose = if largest { T::maximum } else { T::minimum };
    let first = row.first().map(|raw| T::read(*raw)).unwrap_or_default();
    let step = |best, raw| choose(best, T::read(raw));
    blocks(row, first, step, choose, progress)
}

pub(crate) fn mean<T: Float>(row: &[T::Raw], progress: &mut Progress<'_>) -> Result<f64> {
    Ok(sum::<T>(row, progress)? / row.len() as f64)
}

/// The sum of the squared distances from a number.
pub(crate) fn squares<T: Float>(
    row: &[T::Raw],
    center: f64,
    progress: &mut Progress<'_>,
) -> Result<f64> {
    let step = |sum: f64, raw| {
        let distance = T::read(raw).wide() - center;
        sum + distance * distance
    };
    blocks(row, 0.0, step, |a, b| a + b, progress)
}

fn mean_of_integers<T: Integer>(row: &[T::Raw], progress: &mut Progress<'_>) -> Result<T> {
    let step = |sum: i128, raw| {
        let value = T::read(raw).to_i64();
        sum + match T::TYPE {
            ElementType::UInt64 => i128::from(value as u64),
            _ => i128::from(value),
        }
    };
    let total = blocks(row, 0, step, |a, b| a + b, progress)?;
    Ok(T::narrow((total / row.len() as i128) as i64))
}

fn find<T: Number>(row: &[T::Raw], extreme: Extreme, progress: &mut Progress<'_>) -> Result<usize> {
    let mut best = T::read(row[0]);
    let mut best_index = 0;
    for (number, block) in row.chunks(BLOCK).enumerate() {
        for (index, raw) in block.iter().enumerate() {
            let value = T::read(*raw);
            let better = if best.is_nan() {
                extreme.last && value.is_nan()
            } else {
                let further = if extreme.largest {
                    value > best
                } else {
                    value < best
                };
                further || value.is_nan() || (extreme.last && value == best)
            };
            if better {
                (best, best_index) = (value, number * BLOCK + index);
            }
        }
        progress.advance(block.len())?;
    }
    Ok(best_index)
}

/// Sums the tensor to a shape that broadcasts to the tensor's shape, as a gradient of
/// broadcasting.
///
/// # Errors
///
/// A shape error unless `shape` broadcasts to the shape of `x`; otherwise as
/// [`Reduction::Sum`].
pub fn collapse_sum(x: View<'_>, shape: &[usize], control: &Control<'_>) -> Result<Tensor> {
    if !shape::broadcast(&[x.shape(), shape]).is_ok_and(|result| result == x.shape()) {
        return Err(KernelError::shape(format!(
            "collapse_sum: expected a shape that broadcasts to {:?}, got {shape:?}",
            x.shape()
        )));
    }
    let missing = x.rank() - shape.len();
    let grown = |at: &usize| *at < missing || (shape[*at - missing] == 1 && x.shape()[*at] != 1);
    let axes: Vec<i64> = (0..x.rank()).filter(grown).map(|at| at as i64).collect();
    let summed = Axes {
        axes: Some(&axes),
        ..Axes::default()
    }
    .reduce(Reduction::Sum, x, control)?;
    let (ty, _, bytes) = summed.into_parts();
    Ok(Tensor::raw(ty, shape.to_vec(), bytes))
}
