//! Losses of classifiers.

use isoform_kernels::normalize;

use super::dense::Dense;
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "NegativeLogLikelihoodLoss" => negative_log_likelihood,
        "SoftmaxCrossEntropyLoss" => cross_entropy,
        _ => return None,
    })
}

fn negative_log_likelihood(args: &Args<'_>) -> Outcome {
    let logs = Dense::input(args, 0)?;
    let loss = reduced(args, &logs)?;
    Ok(vec![
        loss.made(args.input(0)?.element_type(), args.control)?,
    ])
}

fn cross_entropy(args: &Args<'_>) -> Outcome {
    let scores = args.input(0)?;
    let ty = scores.element_type();
    let wide = isoform_kernels::elementwise::cast(
        scores,
        isoform_kernels::ElementType::Float64,
        args.control,
    )?;
    let logs = Dense::of(
        normalize::log_softmax(wide.view(), 1, args.control)?.view(),
        args.control,
    )?;
    let mut results = vec![reduced(args, &logs)?.made(ty, args.control)?];
    if args.call.outputs > 1 {
        results.push(logs.made(ty, args.control)?);
    }
    Ok(results)
}

/// The weighted logarithms of the labels' classes, negated and perhaps joined.
fn reduced(args: &Args<'_>, logs: &Dense) -> Result<Dense, Refusal> {
    let labels = args.input_ints(1)?;
    let weights = Dense::optional(args, 2)?;
    let ignored = args.call.int("ignore_index")?;
    let &[batch, classes, ref rest @ ..] = &logs.shape[..] else {
        return Err(args.fault("expected a batch and classes"));
    };
    let plane: usize = rest.iter().product();
    if labels.len() != batch * plane {
        return Err(args.fault("expected a label for each place"));
    }
    let mut losses = Vec::with_capacity(labels.len());
    let mut total = 0.0;
    for (number, label) in labels.iter().enumerate() {
        if ignored == Some(*label) {
            losses.push(0.0);
            continue;
        }
        let class = usize::try_from(*label)
            .ok()
            .filter(|class| *class < classes);
        let class = class.ok_or_else(|| args.fault(format!("label {label} is no class")))?;
        let weight = match &weights {
            Some(weights) => *weights
                .data
                .get(class)
                .ok_or_else(|| args.fault("expected a weight for each class"))?,
            None => 1.0,
        };
        let position = (number / plane * classes + class) * plane + number % plane;
        losses.push(-logs.data[position] * weight);
        total += weight;
    }
    let sum = || losses.iter().sum::<f64>();
    Ok(match &*args.text("reduction", "mean")? {
        "none" => {
            let mut shape = vec![batch];
            shape.extend(rest);
            Dense {
                shape,
                data: losses,
            }
        }
        "sum" => Dense {
            shape: Vec::new(),
            data: vec![sum()],
        },
        "mean" => Dense {
            shape: Vec::new(),
            data: vec![sum() / total],
        },
        other => return Err(args.fault(format!("expected a known reduction, got '{other}'"))),
    })
}
