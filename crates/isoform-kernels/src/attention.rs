//! Scaled dot-product attention, computed in `f64` and rounded once.
//!
//! The time is the number of scores times the widths of keys and values. Only one row of
//! scores exists at a time, unless the scores are a result; the copies of the operands take
//! 8 bytes per element.

use crate::control::Control;
use crate::element::dispatch;
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::math;
use crate::number::Number;
use crate::products::{floats, narrow_floats};
use crate::shape;
use crate::tensor::{Tensor, View};

/// A stage of the scores of an attention that can be a separate result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// The scaled products of queries and keys.
    Products,
    /// The scores after the soft cap.
    Capped,
    /// The scores after the bias.
    Biased,
    /// The weights of the values.
    Weights,
}

/// How queries attend to keys.
///
/// ```
/// use isoform_kernels::attention::Attention;
/// use isoform_kernels::{Control, Tensor};
///
/// // One query and two keys, of which the second one is masked.
/// let query = Tensor::from_slice(&[1, 1, 1, 1], &[1.0_f32])?;
/// let key = Tensor::from_slice(&[1, 1, 2, 1], &[1.0_f32, 2.0])?;
/// let value = Tensor::from_slice(&[1, 1, 2, 1], &[10.0_f32, 20.0])?;
/// let bias = Tensor::from_slice(&[2], &[0.0, f64::NEG_INFINITY])?;
/// let attention = Attention { bias: Some(bias.view()), ..Attention::new(1.0) };
/// let (result, _) =
///     attention.apply(query.view(), key.view(), value.view(), &Control::default())?;
/// assert_eq!(result.view().to_vec::<f32>()?, [10.0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Attention<'a> {
    /// The factor of the products of queries and keys.
    pub scale: f64,
    /// A score x becomes `cap * tanh(x / cap)`.
    pub softcap: Option<f64>,
    /// Floats to be added to the scores, in a shape that broadcasts to
    /// `(batch, heads, queries, keys)`. A key with -infinity is masked.
    pub bias: Option<View<'a>>,
    /// Scores round to this type before they become weights.
    pub softmax_type: Option<ElementType>,
    /// The scores that are a second result.
    pub scores: Option<Scores>,
}

impl Attention<'_> {
    /// Attention without a cap and a bias.
    #[must_use]
    pub fn new(scale: f64) -> Self {
        Attention {
            scale,
            softcap: None,
            bias: None,
            softmax_type: None,
            scores: None,
        }
    }

    /// `softmax(scale * query * keyᵀ + bias) * value` in the type of the query, and the
    /// scores if they are asked for, `(batch, heads, queries, keys)`.
    ///
    /// The query is `(batch, heads, queries, width)`, the key
    /// `(batch, groups, keys, width)`, and the value `(batch, groups, keys, value width)`,
    /// where consecutive heads share a group. The first result is
    /// `(batch, heads, queries, value width)`. A query whose keys are all masked has
    /// weights of zero.
    ///
    /// # Errors
    ///
    /// A type error for types other than floats; a shape error for shapes that do not
    /// fit.
    pub fn apply(
        &self,
        query: View<'_>,
        key: View<'_>,
        value: View<'_>,
        control: &Control<'_>,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let ty = query.element_type();
        let sizes = Sizes::new(query, key, value)?;
        let (shape, all_scores) = (sizes.result(), sizes.scores());
        control.elements(&shape, ty.size())?;
        let bias = match self.bias {
            Some(bias) => Some(Bias::new(bias, &all_scores, control)?),
            None => None,
        };
        let operands = [query, key, value].map(|x| floats(x, control));
        let [query, key, value] = operands;
        let (query, key, value) = (query?, key?, value?);
        let mut result = control.scratch(shape.iter().product(), 0.0)?;
        let mut kept = match self.scores {
            Some(_) => {
                control.elements(&all_scores, ty.size())?;
                control.scratch(all_scores.iter().product(), 0.0)?
            }
            None => Vec::new(),
        };
        let mut row = control.scratch(sizes.keys, 0.0)?;
        let mut progress = control.progress();
        let per_group = sizes.heads / sizes.groups.max(1);
        for number in 0..sizes.batch * sizes.heads * sizes.queries {
            let head = number / sizes.queries;
            let (batch, group) = (head / sizes.heads, head % sizes.heads / per_group);
            let first = (batch * sizes.groups + group) * sizes.keys;
            let query = &query[number * sizes.width..][..sizes.width];
            for (position, score) in row.iter_mut().enumerate() {
                let key = &key[(first + position) * sizes.width..][..sizes.width];
                let product: f64 = query.iter().zip(key).map(|(a, b)| a * b).sum();
                *score = product * self.scale;
                progress.advance(sizes.width + 1)?;
            }
            let mut keep = |stage: Scores, row: &[f64]| {
                if self.scores == Some(stage) {
                    kept[number * sizes.keys..][..sizes.keys].copy_from_slice(row);
                }
            };
            keep(Scores::Products, &row);
            if let Some(cap) = self.softcap {
                row.iter_mut()
                    .for_each(|score| *score = cap * math::tanh(*score / cap));
            }
            keep(Scores::Capped, &row);
            let is_masked = match &bias {
                Some(bias) => bias.add(number, &sizes, &mut row),
                None => false,
            };
            keep(Scores::Biased, &row);
            if let Some(ty) = self.softmax_type {
                round(&mut row, ty)?;
            }
            weigh(&mut row, is_masked);
            keep(Scores::Weights, &row);
            let to = &mut result[number * sizes.value_width..][..sizes.value_width];
            for (position, weight) in row.iter().enumerate() {
                let value = &value[(first + position) * sizes.value_width..][..sizes.value_width];
                for (to, value) in to.iter_mut().zip(value) {
                    *to += weight * value;
                }
                progress.advance(sizes.value_width + 1)?;
            }
            progress.advance(1)?;
        }
        let result = narrow_floats(&result, ty, shape, control)?;
        let scores = match self.scores {
            Some(_) => Some(narrow_floats(&kept, ty, all_scores.to_vec(), control)?),
            None => None,
        };
        Ok((result, scores))
    }
}

/// Turns scores into weights that add up to one, or to zeros if all keys are masked.
fn weigh(row: &mut [f64], is_masked: bool) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if is_masked || (max == f64::NEG_INFINITY && !row.iter().any(|score| score.is_nan())) {
        row.fill(0.0);
        return;
    }
    let mut sum = 0.0;
    for score in &mut *row {
        *score = math::exp(*score - max);
        sum += *score;
    }
    row.iter_mut().for_each(|weight| *weight /= sum);
}

/// Rounds numbers to a type.
fn round(row: &mut [f64], ty: ElementType) -> Result<()> {
    dispatch!(float ty, T => {
        row.iter_mut().for_each(|score| *score = T::narrow(*score).wide());
        Ok(())
    }, else Err(not_defined("attention", "a float type for the softmax", ty)))
}

struct Sizes {
    batch: usize,
    heads: usize,
    groups: usize,
    queries: usize,
    keys: usize,
    width: usize,
    value_width: usize,
}

impl Sizes {
    fn new(query: View<'_>, key: View<'_>, value: View<'_>) -> Result<Self> {
        let (
            &[batch, heads, queries, width],
            &[key_batch, groups, keys, key_width],
            &[value_batch, value_groups, values, value_width],
        ) = (query.shape(), key.shape(), value.shape())
        else {
            return Err(KernelError::shape(format!(
                "attention: expected queries, keys and values of rank 4, got ranks {}, {} and {}",
                query.rank(),
                key.rank(),
                value.rank()
            )));
        };
        let fits = key_batch == batch
            && value_batch == batch
            && key_width == width
            && value_groups == groups
            && values == keys
            && (groups > 0 && heads % groups == 0 || heads == 0 && groups == 0);
        if !fits {
            return Err(KernelError::shape(format!(
                "attention: expected one batch size, as many values as keys, queries as wide as keys, and heads that are a multiple of the heads of keys and values, got queries {:?}, keys {:?} and values {:?}",
                query.shape(),
                key.shape(),
                value.shape()
            )));
        }
        Ok(Sizes {
            batch,
            heads,
            groups,
            queries,
            keys,
            width,
            value_width,
        })
    }

    fn result(&self) -> Vec<usize> {
        vec![self.batch, self.heads, self.queries, self.value_width]
    }

    fn scores(&self) -> [usize; 4] {
        [self.batch, self.heads, self.queries, self.keys]
    }
}

/// A bias with the distances between its elements along the axes of the scores.
struct Bias {
    values: Vec<f64>,
    strides: [usize; 4],
}

impl Bias {
    fn new(bias: View<'_>, scores: &[usize; 4], control: &Control<'_>) -> Result<Self> {
        let fits = shape::broadcast(&[bias.shape(), scores]).is_ok_and(|shape| shape == scores);
        if !fits {
            return Err(KernelError::shape(format!(
                "attention: expected a bias that broadcasts to {scores:?}, got {:?}",
                bias.shape()
            )));
        }
        let mut strides = [0; 4];
        let mut stride = 1;
        for (size, to) in bias.shape().iter().rev().zip(strides.iter_mut().rev()) {
            if *size != 1 {
                *to = stride;
            }
            stride *= size;
        }
        Ok(Bias {
            values: floats(bias, control)?,
            strides,
        })
    }

    /// Adds the bias to a row of scores; returns true if all scores are masked.
    fn add(&self, number: usize, sizes: &Sizes, row: &mut [f64]) -> bool {
        let (head, query) = (number / sizes.queries, number % sizes.queries);
        let start = head / sizes.heads * self.strides[0]
            + head % sizes.heads * self.strides[1]
            + query * self.strides[2];
        let mut is_masked = !row.is_empty();
        for (at, score) in row.iter_mut().enumerate() {
            let bias = self.values[start + at * self.strides[3]];
            *score += bias;
            is_masked &= bias == f64::NEG_INFINITY;
        }
        is_masked
    }
}
