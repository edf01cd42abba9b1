//! Probabilities and labels from the scores of models.

use isoform::values::Bytes;
use isoform_kernels::{Tensor, math};

use crate::eval::args::Args;
use crate::eval::ops::words;
use crate::eval::refusal::Refusal;
use crate::eval::results::OpResult;

/// A function of the scores of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostTransform {
    None,
    Softmax,
    Logistic,
    SoftmaxZero,
    Probit,
}

impl PostTransform {
    pub(super) fn of(args: &Args<'_>) -> Result<Self, Refusal> {
        Ok(match &*args.text("post_transform", "NONE")? {
            "NONE" => PostTransform::None,
            "SOFTMAX" => PostTransform::Softmax,
            "LOGISTIC" => PostTransform::Logistic,
            "SOFTMAX_ZERO" => PostTransform::SoftmaxZero,
            "PROBIT" => PostTransform::Probit,
            other => {
                return Err(args.fault(format!("expected a known post_transform, got '{other}'")));
            }
        })
    }

    /// Changes the scores of a row.
    pub(super) fn apply(self, args: &Args<'_>, row: &mut [f64]) -> Result<(), Refusal> {
        let is_inside = |score: &f64| *score > 0.0 && *score < 1.0;
        if self == PostTransform::Probit && !row.iter().all(is_inside) {
            return Err(args.fault("runtimes differ in PROBIT of 0, of 1 and beyond"));
        }
        match self {
            PostTransform::None => {}
            PostTransform::Softmax => exponentials(row, |_| true),
            // A score of 0 keeps the weight 0, before and after the division.
            PostTransform::SoftmaxZero => exponentials(row, |score| score.abs() > 1e-7),
            PostTransform::Logistic => row
                .iter_mut()
                .for_each(|score| *score = math::sigmoid(*score)),
            PostTransform::Probit => row.iter_mut().for_each(|score| *score = probit(*score)),
        }
        Ok(())
    }
}

fn exponentials(row: &mut [f64], counts: impl Fn(f64) -> bool) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for score in &mut *row {
        *score = if counts(*score) {
            math::exp(*score - max)
        } else {
            *score * math::exp(-max)
        };
    }
    let sum: f64 = row.iter().sum();
    match sum {
        // Only if all scores are 0 and therefore ignored.
        0.0 => row.fill(0.5),
        _ => row.iter_mut().for_each(|score| *score /= sum),
    }
}

/// The quantile of a normal distribution, by the approximation of the standard.
fn probit(score: f64) -> f64 {
    let x = 2.0 * score - 1.0;
    let log = math::log((1.0 - x) * (1.0 + x));
    let part = 2.0 / (std::f64::consts::PI * 0.147) + 0.5 * log;
    let root = ((part * part - log / 0.147).sqrt() - part).sqrt();
    std::f64::consts::SQRT_2 * root.copysign(x)
}

/// The place of the largest score, or the first place among equal scores.
pub(super) fn largest(row: &[f64]) -> usize {
    let mut best = 0;
    for (at, score) in row.iter().enumerate() {
        if *score > row[best] {
            best = at;
        }
    }
    best
}

/// The names of classes.
pub(super) enum Classes {
    Ints(Vec<i64>),
    Texts(Vec<Bytes>),
}

impl Classes {
    pub(super) fn of(args: &Args<'_>, ints: &str) -> Result<Self, Refusal> {
        if let Some(texts) = args.text_list("classlabels_strings")?
            && !texts.is_empty()
        {
            return Ok(Classes::Texts(texts));
        }
        let numbers = args.ints(ints)?.unwrap_or_default();
        if numbers.is_empty() {
            return Err(args.fault(format!(
                "expected classes in '{ints}' or 'classlabels_strings'"
            )));
        }
        Ok(Classes::Ints(numbers))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Classes::Ints(numbers) => numbers.len(),
            Classes::Texts(texts) => texts.len(),
        }
    }

    /// The class names of the rows.
    pub(super) fn labels(&self, args: &Args<'_>, rows: &[usize]) -> Result<OpResult, Refusal> {
        let shape = vec![rows.len()];
        match self {
            Classes::Ints(numbers) => {
                let labels: Vec<i64> = rows.iter().map(|at| numbers[*at]).collect();
                Ok(Tensor::from_slice(&shape, &labels)?.into())
            }
            Classes::Texts(texts) => {
                let labels = rows.iter().map(|at| texts[*at].clone()).collect();
                words::made(args, shape, labels)
            }
        }
    }
}
