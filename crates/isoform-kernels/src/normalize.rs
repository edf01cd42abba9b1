//! Normalisations, computed in `f64` and rounded once.
//!
//! Time and memory are linear in the elements.

use crate::control::{BLOCK, Control, Progress};
use crate::element::{Element, dispatch};
use crate::element_type::not_defined;
use crate::error::{KernelError, Result};
use crate::math;
use crate::movement::{restore_axis, trailing};
use crate::number::{Float, Number};
use crate::reduce::{mean, squares};
use crate::shape;
use crate::tensor::{Tensor, View};

/// `exp(x - max) / sum(exp(x - max))` along an axis; of floats.
///
/// A row with NaN or +infinity, or of -infinity alone, becomes NaN.
///
/// ```
/// use isoform_kernels::normalize::softmax;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[1, 2], &[1000.0_f32, 1000.0])?;
/// let result = softmax(x.view(), -1, &Control::default())?;
/// assert_eq!(result.view().to_vec::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for other types, a shape error for an axis outside of the rank.
pub fn softmax(x: View<'_>, axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let finish = |shifted: &mut [f64], progress: &mut Progress<'_>| {
        let mut sum = 0.0;
        for block in shifted.chunks_mut(BLOCK) {
            for value in &mut *block {
                *value = math::exp(*value);
                sum += *value;
            }
            progress.advance(block.len())?;
        }
        shifted.iter_mut().for_each(|value| *value /= sum);
        Ok(())
    };
    shifted_rows("softmax", x, axis, control, finish)
}

/// `x - max - log(sum(exp(x - max)))` along an axis; of floats.
///
/// # Errors
///
/// As [`softmax`].
pub fn log_softmax(x: View<'_>, axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let finish = |shifted: &mut [f64], progress: &mut Progress<'_>| {
        let mut sum = 0.0;
        for block in shifted.chunks(BLOCK) {
            sum += block.iter().map(|value| math::exp(*value)).sum::<f64>();
            progress.advance(block.len())?;
        }
        let log = math::log(sum);
        shifted.iter_mut().for_each(|value| *value -= log);
        Ok(())
    };
    shifted_rows("log_softmax", x, axis, control, finish)
}

/// Applies a function to each row along an axis, less the maximum of the row.
fn shifted_rows(
    operator: &str,
    x: View<'_>,
    axis: i64,
    control: &Control<'_>,
    finish: impl Fn(&mut [f64], &mut Progress<'_>) -> Result<()>,
) -> Result<Tensor> {
    let ty = x.element_type();
    let at = shape::axis(axis, x.rank())?;
    let result = dispatch!(float ty, T => {
        rows::<T>(x, &[at], control, &|_, row, progress| {
            let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let infinite = max.is_infinite() || row.iter().any(|value| value.is_nan());
            let max = if infinite { f64::NAN } else { max };
            row.iter_mut().for_each(|value| *value -= max);
            finish(row, progress)
        })
    }, else Err(not_defined(operator, "a float type", ty)))?;
    restore_axis(result, x.shape(), at, control)
}

/// Changes a row in `f64`, given its stored elements.
type Change<'f, R> = dyn Fn(&[R], &mut [f64], &mut Progress<'_>) -> Result<()> + 'f;

/// The rows along some axes, each changed in `f64`; the result consists of the rows in
/// order.
fn rows<T: Float>(
    x: View<'_>,
    axes: &[usize],
    control: &Control<'_>,
    change: &Change<'_, T::Raw>,
) -> Result<Tensor> {
    let rows = trailing(x, axes, control)?;
    let mut bytes = control.zeros(&[rows.count, rows.len], T::TYPE.size())?;
    let mut wide = control.scratch(rows.len, 0.0)?;
    let mut progress = control.progress();
    if rows.len > 0 {
        let from = T::chunks(&rows.bytes).chunks_exact(rows.len);
        for (from, to) in from.zip(T::chunks_mut(&mut bytes).chunks_exact_mut(rows.len)) {
            for (wide, raw) in wide.iter_mut().zip(from) {
                *wide = T::read(*raw).wide();
            }
            change(from, &mut wide, &mut progress)?;
            for (to, wide) in to.iter_mut().zip(&wide) {
                *to = T::narrow(*wide).write();
            }
            progress.advance(rows.len)?;
        }
    }
    Ok(Tensor::raw(T::TYPE, vec![rows.count, rows.len], bytes))
}

/// The parameters of a batch normalisation with known statistics: vectors as long as
/// the channel axis, of the type of the data.
#[derive(Debug, Clone, Copy)]
pub struct BatchNorm<'a> {
    /// Multiplied with the normalised data; without it, 1.
    pub gamma: Option<View<'a>>,
    /// Added at the end; without it, 0.
    pub beta: Option<View<'a>>,
    /// The mean of each channel.
    pub mean: View<'a>,
    /// The variance of each channel.
    pub variance: View<'a>,
    /// The axis of channels, which may count from the end.
    pub axis: i64,
    /// Added to the variance.
    pub epsilon: f64,
}

impl BatchNorm<'_> {
    /// `(x - mean) / sqrt(variance + epsilon) * gamma + beta`.
    ///
    /// # Errors
    ///
    /// A type error for other types than floats, or parameters of another type; a shape
    /// error for parameters of another length.
    pub fn apply(&self, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = x.element_type();
        let at = shape::axis(self.axis, x.rank())?;
        let channels = x.shape()[at];
        let given = [Some(self.mean), Some(self.variance), self.gamma, self.beta];
        for parameter in given.into_iter().flatten() {
            parameter_of("batch_norm", x, parameter, &[channels])?;
        }
        dispatch!(float ty, T => self.scale::<T>(x, at, control),
            else Err(not_defined("batch_norm", "a float type", ty)))
    }

    fn scale<T: Float>(&self, x: View<'_>, axis: usize, control: &Control<'_>) -> Result<Tensor> {
        let channels = x.shape()[axis];
        let wide = |view: View<'_>| -> Vec<f64> {
            view.elements::<T>()
                .iter()
                .map(|raw| T::read(*raw).wide())
                .collect()
        };
        let (mean, mut scale) = (wide(self.mean), wide(self.variance));
        scale
            .iter_mut()
            .for_each(|value| *value = (*value + self.epsilon).sqrt());
        let gamma = self.gamma.map_or_else(|| vec![1.0; channels], wide);
        let beta = self.beta.map_or_else(|| vec![0.0; channels], wide);
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let mut bytes = control.zeros(x.shape(), T::TYPE.size())?;
        let mut progress = control.progress();
        if !bytes.is_empty() {
            let from = x.elements::<T>().chunks_exact(inner);
            let to = T::chunks_mut(&mut bytes).chunks_exact_mut(inner);
            for (number, (from, to)) in from.zip(to).enumerate() {
                let c = number % channels;
                for (from, to) in from.chunks(BLOCK).zip(to.chunks_mut(BLOCK)) {
                    for (raw, to) in from.iter().zip(&mut *to) {
                        let centered = T::read(*raw).wide() - mean[c];
                        *to = T::narrow(centered / scale[c] * gamma[c] + beta[c]).write();
                    }
                    progress.advance(to.len())?;
                }
            }
        }
        Ok(Tensor::raw(T::TYPE, x.shape().to_vec(), bytes))
    }
}

/// The parameters of a layer normalisation.
///
/// ```
/// use isoform_kernels::normalize::LayerNorm;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[1, 2], &[1.0_f64, 3.0])?;
/// let norm = LayerNorm { gamma: None, beta: None, axes: &[-1], epsilon: 0.0 };
/// assert_eq!(norm.apply(x.view(), &Control::default())?.view().to_vec::<f64>()?, [-1.0, 1.0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LayerNorm<'a> {
    /// Multiplied with the normalised data, with the shape of the normalised axes; without
    /// it, 1.
    pub gamma: Option<View<'a>>,
    /// Added at the end, with the shape of the normalised axes; without it, 0.
    pub beta: Option<View<'a>>,
    /// The normalised axes, which may count from the end.
    pub axes: &'a [i64],
    /// Added to the variance.
    pub epsilon: f64,
}

impl LayerNorm<'_> {
    /// `(x - mean) / sqrt(variance + epsilon) * gamma + beta` with the mean and the biased
    /// variance over the normalised axes.
    ///
    /// # Errors
    ///
    /// A type error for other types than floats, or parameters of another type; a shape
    /// error for parameters of another shape, or axes that are not consecutive.
    pub fn apply(&self, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let ty = x.element_type();
        let axes = shape::axes(self.axes, x.rank())?;
        let sizes: Vec<usize> = axes.iter().map(|axis| x.shape()[*axis]).collect();
        if axes.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
            return Err(KernelError::shape(format!(
                "layer_norm: expected consecutive axes, got {:?}",
                self.axes
            )));
        }
        for parameter in [self.gamma, self.beta].into_iter().flatten() {
            parameter_of("layer_norm", x, parameter, &sizes)?;
        }
        let normalised = dispatch!(float ty, T => {
            let gamma = self.gamma.map(|view| view.elements::<T>());
            let beta = self.beta.map(|view| view.elements::<T>());
            rows::<T>(x, &axes, control, &|raw, row, progress| {
                let center = mean::<T>(raw, progress)?;
                let variance = squares::<T>(raw, center, progress)? / row.len() as f64;
                let scale = (variance + self.epsilon).sqrt();
                for (index, value) in row.iter_mut().enumerate() {
                    *value = (*value - center) / scale;
                    if let Some(gamma) = gamma {
                        *value *= T::read(gamma[index]).wide();
                    }
                    if let Some(beta) = beta {
                        *value += T::read(beta[index]).wide();
                    }
                }
                Ok(())
            })
        }, else Err(not_defined("layer_norm", "a float type", ty)))?;
        let Some(first) = axes.first() else {
            return Ok(Tensor::raw(
                ty,
                x.shape().to_vec(),
                normalised.into_parts().2,
            ));
        };
        // The normalised axes are consecutive, and move back as a single axis.
        let mut merged = x.shape()[..*first].to_vec();
        merged.push(sizes.iter().product());
        merged.extend(&x.shape()[first + axes.len()..]);
        let (_, _, bytes) = restore_axis(normalised, &merged, *first, control)?.into_parts();
        Ok(Tensor::raw(ty, x.shape().to_vec(), bytes))
    }
}

fn parameter_of(operator: &str, x: View<'_>, parameter: View<'_>, shape: &[usize]) -> Result<()> {
    if parameter.element_type() != x.element_type() {
        return Err(KernelError::ty(format!(
            "{operator}: expected parameters of type {}, got {}",
            x.element_type(),
            parameter.element_type()
        )));
    }
    if parameter.shape() != shape {
        return Err(KernelError::shape(format!(
            "{operator}: expected parameters of shape {shape:?} for data of shape {:?}, got {:?}",
            x.shape(),
            parameter.shape()
        )));
    }
    Ok(())
}
