//! Linear models.

use isoform_kernels::ElementType;

use super::inputs::observations;
use super::scores::{Classes, PostTransform, largest};
use crate::eval::args::Args;
use crate::eval::ops::dense::{Dense, Work};
use crate::eval::ops::kernel::Kernel;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "LinearClassifier" => classifier,
        "LinearRegressor" => regressor,
        _ => return None,
    })
}

/// The scores of the given number of targets for each observation.
fn scores(args: &Args<'_>, targets: Option<usize>) -> Result<Dense, Refusal> {
    let x = observations(args)?;
    let (rows, features) = (x.shape[0], x.shape[1]);
    let coefficients = args.floats("coefficients")?.unwrap_or_default();
    let targets = targets.unwrap_or(coefficients.len() / features.max(1));
    if targets == 0 || Some(coefficients.len()) != targets.checked_mul(features) {
        return Err(args.fault(format!(
            "expected {features} coefficients for each target, got {}",
            coefficients.len()
        )));
    }
    let intercepts = args.floats("intercepts")?.unwrap_or_default();
    if !intercepts.is_empty() && intercepts.len() != targets {
        return Err(args.fault(format!(
            "expected {targets} intercepts, got {}",
            intercepts.len()
        )));
    }
    let mut scores = Dense::filled(vec![rows, targets], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (index, score) in scores.data.iter_mut().enumerate() {
        let (row, target) = (index / targets, index % targets);
        let values = &x.data[row * features..][..features];
        let coefficients = &coefficients[target * features..][..features];
        let sum: f64 = values.iter().zip(coefficients).map(|(x, c)| x * c).sum();
        *score = sum + intercepts.get(target).copied().unwrap_or(0.0);
        work.advance(features + 1)?;
    }
    Ok(scores)
}

fn regressor(args: &Args<'_>) -> Outcome {
    let mut scores = scores(args, Some(args.size("targets", 1)?))?;
    let transform = PostTransform::of(args)?;
    let width = scores.shape[1];
    if width == 1 && transform != PostTransform::None {
        return Err(args.fault("runtimes differ in what a post_transform makes of one score"));
    }
    for row in scores.data.chunks_exact_mut(width) {
        transform.apply(args, row)?;
    }
    Ok(vec![scores.made(ElementType::Float32, args.control)?])
}

fn classifier(args: &Args<'_>) -> Outcome {
    let scores = scores(args, None)?;
    let classes = Classes::of(args, "classlabels_ints")?;
    let width = scores.shape[1];
    if width == 1 && classes.len() == 2 {
        return single(args, &scores, &classes);
    }
    if width == 1 || width != classes.len() {
        return Err(args.fault(format!(
            "expected coefficients for each of two or more classes, got {width} rows for {} classes",
            classes.len()
        )));
    }
    classified(args, scores, &classes)
}

/// Two classes with one score; a score above 0 selects the second class.
fn single(args: &Args<'_>, scores: &Dense, classes: &Classes) -> Outcome {
    if PostTransform::of(args)? != PostTransform::Logistic {
        return Err(args.fault("runtimes differ in two classes with one score without LOGISTIC"));
    }
    let mut both = Dense::filled(vec![scores.shape[0], 2], 0.0, args.control)?;
    for (score, to) in scores.data.iter().zip(both.data.chunks_exact_mut(2)) {
        to.copy_from_slice(&[-score, *score]);
    }
    classified(args, both, classes)
}

/// The class with the largest score for each observation, and the scores after the
/// transformation of the call.
pub(super) fn classified(args: &Args<'_>, mut scores: Dense, classes: &Classes) -> Outcome {
    let transform = PostTransform::of(args)?;
    let width = scores.shape[1];
    let mut labels = Vec::with_capacity(scores.shape[0]);
    for row in scores.data.chunks_exact_mut(width) {
        let label = largest(row);
        let is_number = row.iter().all(|score| !score.is_nan());
        transform.apply(args, row)?;
        // Runtimes take the class before the transformation, the reference after it.
        if !is_number || largest(row) != label {
            return Err(args.fault("runtimes differ in the class of an observation"));
        }
        labels.push(label);
    }
    Ok(vec![
        classes.labels(args, &labels)?,
        scores.made(ElementType::Float32, args.control)?,
    ])
}
