//! Normalisations; computed in `f64` and rounded once.

use isoform_kernels::{math, shape};

use super::dense::Dense;
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "BatchNormalization" => batch,
        "LayerNormalization" => |args| layer(args, true),
        "RMSNormalization" => |args| layer(args, false),
        "InstanceNormalization" => instance,
        "GroupNormalization" => group,
        "LpNormalization" => lp,
        "MeanVarianceNormalization" => mean_variance,
        "LRN" => local_response,
        _ => return None,
    })
}

fn with_type(args: &Args<'_>, result: &Dense) -> Outcome {
    Ok(vec![
        result.made(args.input(0)?.element_type(), args.control)?,
    ])
}

fn batch(args: &Args<'_>) -> Outcome {
    let trains = match args.version() {
        ..7 => !args.flag("is_test", false)?,
        7..14 => args.call.outputs > 1,
        _ => args.flag("training_mode", false)?,
    };
    if trains {
        return Err(args.fault("the statistics of training are not computed"));
    }
    if args.version() < 9 && !args.flag("spatial", true)? {
        return Err(args.fault("statistics for each element are not supported"));
    }
    let mut x = Dense::input(args, 0)?;
    let channels = x.shape.get(1).copied().unwrap_or(1);
    let plane: usize = x.shape.get(2..).unwrap_or(&[]).iter().product();
    let epsilon = args.float("epsilon", f64::from(1e-5_f32))?;
    let parameters = (1..5)
        .map(|position| {
            let parameter = Dense::input(args, position)?;
            if parameter.data.len() == channels {
                return Ok(parameter.data);
            }
            Err(args.fault(format!("expected {channels} numbers in input {position}")))
        })
        .collect::<Result<Vec<Vec<f64>>, Refusal>>()?;
    let [scale, bias, mean, variance] = &parameters[..] else {
        return Err(args.fault("expected five inputs"));
    };
    if plane > 0 {
        for (number, values) in x.data.chunks_exact_mut(plane).enumerate() {
            let channel = number % channels.max(1);
            let factor = scale[channel] / (variance[channel] + epsilon).sqrt();
            for value in values {
                *value = (*value - mean[channel]) * factor + bias[channel];
            }
        }
    }
    with_type(args, &x)
}

/// The mean, and one divided by the standard deviation.
fn statistics(values: &[f64], centered: bool, epsilon: f64) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = if centered {
        values.iter().sum::<f64>() / count
    } else {
        0.0
    };
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    (mean, 1.0 / (squares / count + epsilon).sqrt())
}

fn layer(args: &Args<'_>, centered: bool) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let axis = shape::axis(args.int("axis", -1)?, x.shape.len())?;
    let epsilon = args.float("epsilon", f64::from(1e-5_f32))?;
    let (rows, row) = x.shape.split_at(axis);
    let mut reduced = rows.to_vec();
    reduced.extend(row.iter().map(|_| 1));
    let length: usize = row.iter().product();
    let scale = Dense::input(args, 1)?.broadcast(&x.shape, args.control)?;
    let bias = match Dense::optional(args, 2)? {
        Some(bias) if centered => Some(bias.broadcast(&x.shape, args.control)?),
        _ => None,
    };
    let (mut means, mut inverses) = (Vec::new(), Vec::new());
    if length > 0 {
        for values in x.data.chunks_exact_mut(length) {
            let (mean, inverse) = statistics(values, centered, epsilon);
            means.push(mean);
            inverses.push(inverse);
            values
                .iter_mut()
                .for_each(|value| *value = (*value - mean) * inverse);
        }
    }
    x.data
        .iter_mut()
        .zip(&scale)
        .for_each(|(value, scale)| *value *= scale);
    if let Some(bias) = bias {
        x.data
            .iter_mut()
            .zip(&bias)
            .for_each(|(value, bias)| *value += bias);
    }
    let mut results = with_type(args, &x)?;
    if centered && args.call.outputs > 1 {
        let stash = args.int("stash_type", 1)?;
        let stash = i32::try_from(stash)
            .ok()
            .and_then(crate::ElemType::from_code);
        let stash = args.element_type(stash.ok_or_else(|| args.fault("expected a stash_type"))?)?;
        for data in [means, inverses] {
            results.push(
                Dense {
                    shape: reduced.clone(),
                    data,
                }
                .made(stash, args.control)?,
            );
        }
    }
    Ok(results)
}

/// Normalised rows, with a scale and a bias for each part of a row.
fn rows(
    args: &Args<'_>,
    x: &mut Dense,
    count: usize,
    parts: usize,
    epsilon: f64,
    parameters: &dyn Fn(usize) -> (f64, f64),
) -> Result<(), Refusal> {
    if count == 0 || x.data.is_empty() {
        return Ok(());
    }
    if !x.data.len().is_multiple_of(count * parts) {
        return Err(args.fault("expected groups that divide the channels"));
    }
    let length = x.data.len() / count;
    for (number, values) in x.data.chunks_exact_mut(length).enumerate() {
        let (mean, inverse) = statistics(values, true, epsilon);
        for (part, values) in values.chunks_exact_mut(length / parts).enumerate() {
            let (scale, bias) = parameters(number * parts + part);
            for value in values {
                *value = (*value - mean) * inverse * scale + bias;
            }
        }
    }
    Ok(())
}

fn instance(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let (scale, bias) = (Dense::input(args, 1)?.data, Dense::input(args, 2)?.data);
    let &[batch, channels, ..] = &x.shape[..] else {
        return Err(args.fault("expected a batch and channels"));
    };
    if scale.len() != channels || bias.len() != channels {
        return Err(args.fault(format!("expected {channels} scales and biases")));
    }
    let epsilon = args.float("epsilon", f64::from(1e-5_f32))?;
    rows(args, &mut x, batch * channels, 1, epsilon, &|at| {
        (scale[at % channels], bias[at % channels])
    })?;
    with_type(args, &x)
}

fn group(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let (scale, bias) = (Dense::input(args, 1)?.data, Dense::input(args, 2)?.data);
    let groups = args.size("num_groups", 0)?;
    let &[batch, channels, ..] = &x.shape[..] else {
        return Err(args.fault("expected a batch and channels"));
    };
    if groups == 0 || channels % groups != 0 {
        return Err(args.fault(format!(
            "expected {groups} groups to divide {channels} channels"
        )));
    }
    // Version 18 has a scale for each group, later versions for each channel.
    let count = if args.version() < 21 {
        groups
    } else {
        channels
    };
    if scale.len() != count || bias.len() != count {
        return Err(args.fault(format!("expected {count} scales and biases")));
    }
    let per = channels / groups;
    let epsilon = args.float("epsilon", f64::from(1e-5_f32))?;
    rows(args, &mut x, batch * groups, per, epsilon, &|row| {
        let channel = row % channels;
        let parameter = if count == groups {
            channel / per
        } else {
            channel
        };
        (scale[parameter], bias[parameter])
    })?;
    with_type(args, &x)
}

fn lp(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let p = args.int("p", 2)?;
    let (outer, size, inner) = x.around(args.int("axis", -1)?)?;
    if x.data.is_empty() {
        return with_type(args, &x);
    }
    for row in 0..outer * inner {
        let start = row / inner * size * inner + row % inner;
        let places = || (0..size).map(|place| start + place * inner);
        let norm = match p {
            1 => places().map(|place| x.data[place].abs()).sum::<f64>(),
            2 => places()
                .map(|place| x.data[place] * x.data[place])
                .sum::<f64>()
                .sqrt(),
            other => return Err(args.fault(format!("expected p of 1 or 2, got {other}"))),
        };
        for place in places() {
            x.data[place] = if norm == 0.0 {
                0.0
            } else {
                x.data[place] / norm
            };
        }
    }
    with_type(args, &x)
}

fn mean_variance(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let axes = args.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = shape::axes(&axes, x.shape.len())?;
    let mut sums: std::collections::BTreeMap<usize, (f64, f64, f64)> = Default::default();
    // The group number of each element.
    let mut index = vec![0; x.shape.len()];
    let mut groups = Vec::with_capacity(x.data.len());
    for _ in 0..x.data.len() {
        let mut group = 0;
        for (axis, (place, size)) in index.iter().zip(&x.shape).enumerate() {
            if axes.binary_search(&axis).is_err() {
                group = group * size + place;
            }
        }
        groups.push(group);
        super::dense::step(&mut index, &x.shape);
    }
    for (value, group) in x.data.iter().zip(&groups) {
        let sum = sums.entry(*group).or_default();
        sum.0 += 1.0;
        sum.1 += value;
    }
    for (value, group) in x.data.iter().zip(&groups) {
        if let Some(sum) = sums.get_mut(group) {
            let distance = value - sum.1 / sum.0;
            sum.2 += distance * distance;
        }
    }
    for (value, group) in x.data.iter_mut().zip(&groups) {
        if let Some((count, sum, squares)) = sums.get(group) {
            *value = (*value - sum / count) / ((squares / count).sqrt() + 1e-9);
        }
    }
    with_type(args, &x)
}

fn local_response(args: &Args<'_>) -> Outcome {
    let x = Dense::input(args, 0)?;
    let alpha = args.float("alpha", f64::from(1e-4_f32))?;
    let (beta, bias) = (args.float("beta", 0.75)?, args.float("bias", 1.0)?);
    let size = args.size("size", 1)?;
    if x.shape.len() < 2 || size == 0 {
        return Err(args.fault("expected channels, and a size of 1 or more"));
    }
    let (_, channels, plane) = x.around(1)?;
    let mut result = x.clone();
    for (index, value) in result.data.iter_mut().enumerate() {
        let (channel, rest) = (index / plane % channels, index % plane);
        let image = index / (plane * channels) * channels;
        let first = channel.saturating_sub((size - 1) / 2);
        let last = channel.saturating_add(size / 2).min(channels - 1);
        let squares: f64 = (first..=last)
            .map(|other| x.data[(image + other) * plane + rest])
            .map(|other| other * other)
            .sum();
        *value /= math::pow(bias + alpha / size as f64 * squares, beta);
    }
    with_type(args, &result)
}
