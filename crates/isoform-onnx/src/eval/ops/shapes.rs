//! Operators that change or read only shapes.

use isoform_kernels::Tensor;
use isoform_kernels::shape::{self, ZeroCode};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Identity" => identity,
        "Dropout" => dropout,
        "Reshape" => reshape,
        "Flatten" => flatten,
        "Squeeze" => squeeze,
        "Unsqueeze" => unsqueeze,
        "Shape" => shape_of,
        "Size" => size,
        _ => return None,
    })
}

/// The first input with another shape.
fn shaped(shape: Vec<usize>) -> Outcome {
    Ok(vec![OpResult::Shaped(0, shape)])
}

fn identity(args: &Args<'_>) -> Outcome {
    shaped(args.input(0)?.shape().to_vec())
}

/// The result of inference: the input, and a mask that keeps all elements.
fn dropout(args: &Args<'_>) -> Outcome {
    let training = if args.version() >= 12 {
        let mode = args.optional(2)?;
        mode.is_some_and(|mode| mode.bytes().iter().any(|byte| *byte != 0))
    } else if args.version() < 7 {
        !args.flag("is_test", false)?
    } else {
        false
    };
    if training {
        return Err(args.fault("the result of training is random"));
    }
    let x = args.input(0)?;
    let mut results = shaped(x.shape().to_vec())?;
    if args.call.outputs > 1 {
        let kept = if args.version() >= 10 {
            isoform_kernels::create::full(x.shape(), Tensor::scalar(true).view(), args.control)?
        } else {
            let one = isoform_kernels::from_i64s(&[1], x.element_type(), &[], args.control)?;
            isoform_kernels::create::full(x.shape(), one.view(), args.control)?
        };
        results.push(kept.into());
    }
    Ok(results)
}

fn reshape(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let codes = if args.version() < 5 {
        args.ints("shape")?.unwrap_or_default()
    } else {
        args.input_ints(1)?
    };
    if let Some(code) = codes.iter().find(|code| **code < -1) {
        return Err(args.fault(format!("expected a size, 0 or -1, got {code}")));
    }
    let zero = if args.flag("allowzero", false)? {
        ZeroCode::Size
    } else {
        ZeroCode::CopyCounted
    };
    shaped(shape::reshape(x.shape(), &codes, zero)?)
}

/// The product of the sizes of an existing tensor or a tensor without elements.
fn product(args: &Args<'_>, sizes: &[usize]) -> Result<usize, Refusal> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let product = sizes
        .iter()
        .try_fold(1_usize, |all, size| all.checked_mul(*size));
    product.ok_or_else(|| args.fault("expected a product of sizes in range"))
}

fn flatten(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let rank = x.rank() as i64;
    let axis = args.int("axis", 1)?;
    let at = if axis < 0 && args.version() >= 11 {
        axis.saturating_add(rank)
    } else {
        axis
    };
    if !(0..=rank).contains(&at) {
        return Err(args.fault(format!("expected an axis from 0 to {rank}, got {axis}")));
    }
    let (rows, columns) = x.shape().split_at(at as usize);
    shaped(vec![product(args, rows)?, product(args, columns)?])
}

fn squeeze(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axes = args.moved_ints("axes", 1, 13)?;
    shaped(shape::squeeze(x.shape(), axes.as_deref())?)
}

fn unsqueeze(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axes = args.moved_ints("axes", 1, 13)?;
    let axes = axes.ok_or_else(|| args.fault("expected axes"))?;
    if axes.len() > 64 {
        return Err(args.fault("expected at most 64 new axes"));
    }
    let rank = x.rank() + axes.len();
    let new = shape::axes(&axes, rank)?;
    let mut old = x.shape().iter();
    let sizes = (0..rank).map(|at| match new.binary_search(&at) {
        Ok(_) => Some(1),
        Err(_) => old.next().copied(),
    });
    shaped(sizes.flatten().collect())
}

fn shape_of(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let rank = x.rank() as i64;
    let bound = |at: i64| {
        let at = if at < 0 { at.saturating_add(rank) } else { at };
        at.clamp(0, rank) as usize
    };
    let start = bound(args.int("start", 0)?);
    let end = bound(args.int("end", rank)?);
    let sizes: Vec<i64> = x.shape()[start..end.max(start)]
        .iter()
        .map(|size| *size as i64)
        .collect();
    one(Tensor::from_slice(&[sizes.len()], &sizes)?)
}

fn size(args: &Args<'_>) -> Outcome {
    one(Tensor::scalar(args.input(0)?.len() as i64))
}
