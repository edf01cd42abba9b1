//! Operators that scale, choose and join features.

use isoform_kernels::indexing::{IndexMode, Take};
use isoform_kernels::{ElementType, Tensor};

use crate::eval::args::Args;
use crate::eval::ops::dense::{Dense, Work};
use crate::eval::ops::kernel::Kernel;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "ArrayFeatureExtractor" => array_feature_extractor,
        "Binarizer" => binarizer,
        "FeatureVectorizer" => feature_vectorizer,
        "Imputer" => imputer,
        "Normalizer" => normalizer,
        "Scaler" => scaler,
        _ => return None,
    })
}

/// The elements of the last axis at some indices; a vector becomes a matrix of one row.
fn array_feature_extractor(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let indices = args.input_ints(1)?;
    let indices = Tensor::from_slice(&[indices.len()], &indices)?;
    let take = Take {
        axis: Some(-1),
        batch_dims: 0,
        mode: IndexMode::Reject,
    };
    let (ty, mut shape, bytes) = take.apply(x, indices.view(), args.control)?.into_parts();
    if shape.len() == 1 {
        shape.insert(0, 1);
    }
    one(Tensor::new(ty, shape, bytes)?)
}

fn binarizer(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let threshold = args.float("threshold", 0.0)?;
    for value in &mut x.data {
        *value = f64::from(u8::from(*value > threshold));
    }
    Ok(vec![x.made(args.input(0)?.element_type(), args.control)?])
}

/// Rows of the inputs side by side. A row is cut or filled with zeros to its width.
fn feature_vectorizer(args: &Args<'_>) -> Outcome {
    let inputs = (0..args.count())
        .map(|index| Dense::input(args, index))
        .collect::<Result<Vec<Dense>, Refusal>>()?;
    let mut widths = Vec::new();
    let dimensions = args.ints("inputdimensions")?;
    let mut rows = None;
    for (index, x) in inputs.iter().enumerate() {
        // The standard and its reference differ in the meaning of a vector.
        let (count, width) = match x.shape[..] {
            [count, width] => (count, width),
            [1] => (1, 1),
            _ => {
                return Err(args.fault(format!(
                    "expected matrices, got shape {:?} in input {index}",
                    x.shape
                )));
            }
        };
        if *rows.get_or_insert(count) != count {
            return Err(args.fault("expected matrices with one number of rows"));
        }
        let wanted = match &dimensions {
            None => width,
            Some(dimensions) => {
                let wanted = dimensions
                    .get(index)
                    .and_then(|size| usize::try_from(*size).ok());
                wanted.ok_or_else(|| args.fault("expected a width for each input"))?
            }
        };
        widths.push((width, wanted));
    }
    let rows = rows.unwrap_or(0);
    let total = widths
        .iter()
        .fold(0_usize, |all, (_, wanted)| all.saturating_add(*wanted));
    let mut result = Dense::filled(vec![rows, total], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (row, to) in result.data.chunks_exact_mut(total.max(1)).enumerate() {
        let mut start = 0;
        for (x, (width, wanted)) in inputs.iter().zip(&widths) {
            let count = *width.min(wanted);
            to[start..][..count].copy_from_slice(&x.data[row * width..][..count]);
            start += wanted;
        }
        work.advance(total)?;
    }
    Ok(vec![result.made(ElementType::Float32, args.control)?])
}

/// Expands the numbers of an attribute to one number per feature; a single number applies
/// to all features.
fn per_feature(
    args: &Args<'_>,
    name: &str,
    numbers: Vec<f64>,
    features: usize,
) -> Result<Vec<f64>, Refusal> {
    match numbers[..] {
        [one] => Ok(vec![one; features]),
        _ if numbers.len() == features => Ok(numbers),
        _ => Err(args.fault(format!(
            "expected 1 or {features} numbers in '{name}', got {}",
            numbers.len()
        ))),
    }
}

fn imputer(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let features = x.shape.last().copied().unwrap_or(1);
    let (name, numbers, replaced) = if ty.is_integer() {
        let numbers = args
            .ints("imputed_value_int64s")?
            .unwrap_or_default()
            .into_iter()
            .map(|number| number as f64)
            .collect();
        let replaced = args.int("replaced_value_int64", 0)? as f64;
        ("imputed_value_int64s", numbers, replaced)
    } else {
        let numbers = args.floats("imputed_value_floats")?.unwrap_or_default();
        let replaced = args.float("replaced_value_float", 0.0)?;
        ("imputed_value_floats", numbers, replaced)
    };
    let numbers = per_feature(args, name, numbers, features)?;
    let limit = (1_i64 << 53) as f64;
    if ty.is_integer()
        && x.data
            .iter()
            .chain(&numbers)
            .any(|value| value.abs() >= limit)
    {
        return Err(args.fault("expected integers below 2^53"));
    }
    for (index, value) in x.data.iter_mut().enumerate() {
        if *value == replaced || value.is_nan() && replaced.is_nan() {
            *value = numbers[index % features];
        }
    }
    Ok(vec![x.made(ty, args.control)?])
}

fn scaler(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let features = x.shape.last().copied().unwrap_or(1);
    let numbers = |name: &str| {
        let numbers = args
            .floats(name)?
            .ok_or_else(|| args.fault(format!("expected attribute '{name}'")))?;
        per_feature(args, name, numbers, features)
    };
    let (offset, scale) = (numbers("offset")?, numbers("scale")?);
    for (at, value) in x.data.iter_mut().enumerate() {
        *value = (*value - offset[at % features]) * scale[at % features];
    }
    Ok(vec![x.made(ElementType::Float32, args.control)?])
}

fn normalizer(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    if !(1..=2).contains(&x.shape.len()) {
        return Err(args.fault(format!("expected rank 1 or 2, got {:?}", x.shape)));
    }
    let features = x.shape.last().copied().unwrap_or(1).max(1);
    let norm = args.text("norm", "MAX")?;
    for row in x.data.chunks_exact_mut(features) {
        let largest = |size: fn(f64) -> f64| row.iter().copied().map(size).fold(0.0, f64::max);
        let length = match &*norm {
            "MAX" => {
                let length = largest(f64::abs);
                if length != largest(|value| value) {
                    return Err(args.fault(
                        "runtimes differ where the largest size is that of a negative number",
                    ));
                }
                length
            }
            "L1" => row.iter().map(|value| value.abs()).sum(),
            "L2" => row.iter().map(|value| value * value).sum::<f64>().sqrt(),
            other => return Err(args.fault(format!("expected MAX, L1 or L2, got '{other}'"))),
        };
        if length != 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    }
    Ok(vec![x.made(ElementType::Float32, args.control)?])
}
