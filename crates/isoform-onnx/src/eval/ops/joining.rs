//! Operators that join tensors, or split one.

use isoform_kernels::{movement, shape};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::results::{OpResult, Outcome, one};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Concat" => concat,
        "Split" => split,
        _ => return None,
    })
}

fn concat(args: &Args<'_>) -> Outcome {
    let default = if args.version() < 4 { Some(1) } else { None };
    let axis = args.call.int("axis")?.or(default);
    let axis = axis.ok_or_else(|| args.fault("expected an axis"))?;
    one(movement::concatenate(&args.inputs()?, axis, args.control)?)
}

fn split(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.int("axis", 0)?;
    let size = x.shape()[shape::axis(axis, x.rank())?];
    let lengths = match args.version() {
        ..13 if args.version() < 2 && args.count() > 1 => args.optional_ints(1)?,
        ..13 => args.ints("split")?,
        _ => args.optional_ints(1)?,
    };
    let parts = match lengths {
        Some(parts) => sizes(&parts)?,
        None => {
            let count = if args.version() >= 18 {
                args.int("num_outputs", args.call.outputs)?
            } else {
                args.call.outputs
            };
            let count = usize::try_from(count)
                .ok()
                .filter(|count| *count > 0)
                .ok_or_else(|| args.fault("expected one part or more"))?;
            if i64::try_from(count) != Ok(args.call.outputs) {
                return Err(args.fault("expected as many parts as outputs"));
            }
            if args.version() < 18 && size % count != 0 {
                return Err(args.fault(format!("expected {count} equal parts of {size}")));
            }
            let part = size.div_ceil(count);
            let mut rest = size;
            (0..count)
                .map(|_| {
                    let this = part.min(rest);
                    rest -= this;
                    this
                })
                .collect()
        }
    };
    let total = parts
        .iter()
        .try_fold(0_usize, |all, part| all.checked_add(*part));
    if total != Some(size) || parts.is_empty() {
        return Err(args.fault(format!("expected parts that make {size}, got {parts:?}")));
    }
    let mut ends = Vec::with_capacity(parts.len());
    let mut end = 0;
    for part in &parts[..parts.len() - 1] {
        end += part;
        ends.push(end);
    }
    let parts = movement::split(x, &ends, axis, args.control)?;
    Ok(parts.into_iter().map(OpResult::from).collect())
}
