//! Products of matrices.
//!
//! Operands are converted to `f64` or to integers modulo 2^64, accumulated in the order of
//! the summed axis, and rounded or reduced once at the end. Integer products in a wider
//! type, such as `int8` into `int32`, are therefore exact.
//! The time is the product of the sizes, and the copies take 8 bytes per element.

use crate::control::{BLOCK, Control};
use crate::element::dispatch;
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::number::{Number, Wide};
use crate::shape;
use crate::strided::Plan;
use crate::tensor::{Tensor, View};

/// How two operands are multiplied as matrices.
///
/// ```
/// use isoform_kernels::products::MatMul;
/// use isoform_kernels::{Control, ElementType, Tensor};
///
/// let data = Tensor::from_slice(&[1, 2], &[100_i8, 100])?;
/// let weight = Tensor::from_slice(&[1, 2], &[100_i8, 100])?;
/// // A dense layer multiplies with the transposed weights.
/// let dense = MatMul {
///     transpose_right: true,
///     result_type: Some(ElementType::Int32),
///     ..MatMul::default()
/// };
/// let product = dense.apply(data.view(), weight.view(), &Control::default())?;
/// assert_eq!(product.view().to_vec::<i32>()?, [20_000]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatMul {
    /// True if the last two axes of the left operand are exchanged.
    pub transpose_left: bool,
    /// True if the last two axes of the right operand are exchanged.
    pub transpose_right: bool,
    /// The type of the result. None means the type of the left operand.
    pub result_type: Option<ElementType>,
}

impl MatMul {
    /// The product under the rules of [`shape::matmul`]: the axes before the last two
    /// broadcast.
    ///
    /// Operands are both integers, of any types, with an integer result, or both floats,
    /// with a float result.
    ///
    /// # Errors
    ///
    /// A type error for other types, a shape error for shapes that do not fit.
    pub fn apply(&self, left: View<'_>, right: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = self.result_type.unwrap_or(left.element_type());
        let shape = shape::matmul(
            left.shape(),
            right.shape(),
            self.transpose_left,
            self.transpose_right,
        )?;
        control.elements(&shape, ty.size())?;
        if accumulates_floats("matmul", ty, left, right)? {
            let product = self.multiply(
                floats(left, control)?,
                floats(right, control)?,
                left,
                right,
                &shape,
                control,
            )?;
            return narrow_floats(&product, ty, shape, control);
        }
        let product = self.multiply(
            integers(left, control)?,
            integers(right, control)?,
            left,
            right,
            &shape,
            control,
        )?;
        narrow_integers(&product, ty, shape, control)
    }

    fn multiply<W: Wide>(
        &self,
        left_values: Vec<W>,
        right_values: Vec<W>,
        left: View<'_>,
        right: View<'_>,
        shape: &[usize],
        control: &Control<'_>,
    ) -> Result<Vec<W>> {
        let (Some(a), Some(b)) = (
            shape::matrix(left.shape(), self.transpose_left, true),
            shape::matrix(right.shape(), self.transpose_right, false),
        ) else {
            return Ok(Vec::new());
        };
        let (rows, inner, columns) = (a.rows, a.columns, b.columns);
        let mut product = control.scratch(shape.iter().product(), W::default())?;
        if product.is_empty() || inner == 0 {
            return Ok(product);
        }
        let batch = shape::broadcast(&[a.batch, b.batch])?;
        let plan = Plan::broadcast(&batch, [a.batch, b.batch]);
        let mut progress = control.progress();
        let mut failure = None;
        let transpose = [
            self.transpose_left && left.rank() > 1,
            self.transpose_right && right.rank() > 1,
        ];
        plan.run(control, &mut |run| {
            for i in 0..run.len {
                let [a, b] = [0, 1].map(|n| run.start[n] + run.step[n] as usize * i);
                let result = one_product(
                    [
                        &left_values[a * rows * inner..][..rows * inner],
                        &right_values[b * inner * columns..][..inner * columns],
                    ],
                    transpose,
                    &mut product[(run.out + i) * rows * columns..][..rows * columns],
                    [rows, inner, columns],
                    &mut |work| progress.advance(work),
                );
                if let Err(error) = result {
                    failure.get_or_insert(error);
                    return;
                }
            }
        })?;
        failure.map_or(Ok(product), Err)
    }
}

/// One product of matrices. Each row of the result grows by multiples of rows of the
/// right operand: the inner loop visits consecutive elements, and sums keep their
/// order.
fn one_product<W: Wide>(
    [left, right]: [&[W]; 2],
    transpose: [bool; 2],
    to: &mut [W],
    [rows, inner, columns]: [usize; 3],
    work: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let turned = transpose[1].then(|| {
        let mut turned = Vec::with_capacity(right.len());
        for k in 0..inner {
            turned.extend((0..columns).map(|column| right[column * inner + k]));
        }
        turned
    });
    let right = turned.as_deref().unwrap_or(right);
    for (row, to) in to.chunks_exact_mut(columns).enumerate() {
        for (k, right) in right.chunks_exact(columns).enumerate() {
            let factor = if transpose[0] {
                left[k * rows + row]
            } else {
                left[row * inner + k]
            };
            for (to, right) in to.iter_mut().zip(right) {
                *to = to.add(factor.multiply(*right));
            }
            work(columns)?;
        }
    }
    Ok(())
}

/// True if both operands and the result are floats, false if all are integers.
pub(crate) fn accumulates_floats(
    operator: &str,
    result: ElementType,
    left: View<'_>,
    right: View<'_>,
) -> Result<bool> {
    let types = [left.element_type(), right.element_type(), result];
    if types.iter().all(|ty| ty.is_float()) {
        return Ok(true);
    }
    if types.iter().all(|ty| ty.is_integer()) {
        return Ok(false);
    }
    Err(KernelError::ty(format!(
        "{operator}: expected two operands and a result of floats, or all of integers, got {}, {} and {}",
        types[0], types[1], types[2]
    )))
}

/// The elements of a float tensor in `f64`.
pub(crate) fn floats(x: View<'_>, control: &Control<'_>) -> Result<Vec<f64>> {
    let ty = x.element_type();
    dispatch!(float ty, T => widened::<T>(x, control),
        else Err(not_defined("product", "a float type", ty)))
}

/// The elements of an integer tensor, modulo 2^64.
pub(crate) fn integers(x: View<'_>, control: &Control<'_>) -> Result<Vec<i64>> {
    let ty = x.element_type();
    dispatch!(integer ty, T => widened::<T>(x, control),
        else Err(not_defined("product", "an integer type", ty)))
}

fn widened<T: Number>(x: View<'_>, control: &Control<'_>) -> Result<Vec<T::Wide>> {
    let mut wide = control.scratch(x.len(), T::Wide::default())?;
    let mut progress = control.progress();
    for (to, from) in wide.chunks_mut(BLOCK).zip(x.elements::<T>().chunks(BLOCK)) {
        for (to, raw) in to.iter_mut().zip(from) {
            *to = T::read(*raw).wide();
        }
        progress.advance(from.len())?;
    }
    Ok(wide)
}

/// A tensor of accumulated floats, each rounded once.
pub(crate) fn narrow_floats(
    values: &[f64],
    ty: ElementType,
    shape: Vec<usize>,
    control: &Control<'_>,
) -> Result<Tensor> {
    dispatch!(float ty, T => narrowed::<T>(values, shape, control),
        else Err(not_defined("product", "a float type as result", ty)))
}

/// A tensor of accumulated integers, modulo the range of the type.
pub(crate) fn narrow_integers(
    values: &[i64],
    ty: ElementType,
    shape: Vec<usize>,
    control: &Control<'_>,
) -> Result<Tensor> {
    dispatch!(integer ty, T => narrowed::<T>(values, shape, control),
        else Err(not_defined("product", "an integer type as result", ty)))
}

fn narrowed<T: Number>(
    values: &[T::Wide],
    shape: Vec<usize>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let mut bytes = control.zeros(&shape, T::TYPE.size())?;
    let mut progress = control.progress();
    let blocks = T::chunks_mut(&mut bytes).chunks_mut(BLOCK);
    for (to, values) in blocks.zip(values.chunks(BLOCK)) {
        for (to, value) in to.iter_mut().zip(values) {
            *to = T::narrow(*value).write();
        }
        progress.advance(values.len())?;
    }
    Ok(Tensor::raw(T::TYPE, shape, bytes))
}
