//! Operators that move elements of one tensor.

use isoform_kernels::movement::{self, AxisSlice, PadMode};
use isoform_kernels::{Tensor, View, from_f64s, shape};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};
use crate::eval::strings::sizes;
use crate::facts::is_far;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Transpose" => transpose,
        "Slice" => slice,
        "Expand" => expand,
        "Tile" => tile,
        "Pad" => pad,
        "DepthToSpace" => depth_to_space,
        "SpaceToDepth" => space_to_depth,
        "ReverseSequence" => reverse_sequence,
        "CenterCropPad" => center_crop_pad,
        _ => return None,
    })
}

fn transpose(args: &Args<'_>) -> Outcome {
    let order = args.ints("perm")?;
    one(movement::transpose(
        args.input(0)?,
        order.as_deref(),
        args.control,
    )?)
}

/// A bound of a slice: the numbers at both ends of the range stand for the ends of the
/// axis, also if they count from its end.
fn bound(at: i64, step: i64) -> Option<i64> {
    (!(step < 0 && at == i64::MIN)).then_some(at)
}

fn slice(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let by_attribute = args.version() < 10;
    let list = |name: &str, position: usize| {
        if by_attribute {
            args.ints(name)
        } else {
            args.optional_ints(position)
        }
    };
    let starts = list("starts", 1)?.ok_or_else(|| args.fault("expected starts"))?;
    let ends = list("ends", 2)?.ok_or_else(|| args.fault("expected ends"))?;
    let axes = list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = if by_attribute {
        None
    } else {
        args.optional_ints(4)?
    };
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(args.fault("expected as many starts, ends, axes and steps"));
    }
    if args.strict {
        for index in 0..starts.len() {
            let size = x.shape()[shape::axis(axes[index], x.rank())?];
            let is_before = i128::from(starts[index]) + (size as i128) < 0;
            if steps[index] < 0 && (is_before || is_far(ends[index])) {
                return Err(args.fault(
                    "runtimes disagree where a slice begins before its axis, or how far it goes back",
                ));
            }
        }
    }
    let slices: Vec<AxisSlice> = (0..starts.len())
        .map(|index| AxisSlice {
            axis: axes[index],
            begin: Some(starts[index]),
            end: bound(ends[index], steps[index]),
            step: steps[index],
        })
        .collect();
    one(movement::strided_slice(x, &slices, args.control)?)
}

fn expand(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let target = sizes(&args.input_ints(1)?)?;
    let shape = shape::broadcast(&[x.shape(), &target])?;
    one(movement::broadcast_to(x, &shape, args.control)?)
}

fn tile(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let repeats = if args.version() < 6 {
        let tiles = args
            .optional_int_input(1)?
            .ok_or_else(|| args.fault("expected tiles"))?;
        let axis = args
            .optional_int_input(2)?
            .ok_or_else(|| args.fault("expected an axis"))?;
        let mut repeats = vec![1; x.rank()];
        repeats[shape::axis(axis, x.rank())?] = tiles;
        repeats
    } else {
        args.input_ints(1)?
    };
    if repeats.len() != x.rank() {
        return Err(args.fault(format!(
            "expected {} repeats, got {}",
            x.rank(),
            repeats.len()
        )));
    }
    one(movement::tile(x, &sizes(&repeats)?, args.control)?)
}

fn pad(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let rank = x.rank();
    let widths = match args.version() {
        ..2 => args.ints("paddings")?,
        2..11 => args.ints("pads")?,
        _ => args.optional_ints(1)?,
    };
    let widths = widths.ok_or_else(|| args.fault("expected pads"))?;
    let axes = if args.version() >= 18 {
        args.optional_ints(3)?
    } else {
        None
    };
    let axes = axes.unwrap_or_else(|| (0..rank as i64).collect());
    if widths.len() != 2 * axes.len() {
        return Err(args.fault(format!(
            "expected two pads for each of {} axes, got {}",
            axes.len(),
            widths.len()
        )));
    }
    let mut pairs = vec![(0, 0); rank];
    let mut seen = vec![false; rank];
    for (number, axis) in axes.iter().enumerate() {
        let position = shape::axis(*axis, rank)?;
        if std::mem::replace(&mut seen[position], true) {
            return Err(args.fault(format!(
                "expected each axis once, got axis {position} twice"
            )));
        }
        pairs[position] = (widths[number], widths[axes.len() + number]);
    }
    let mode = args.text("mode", "constant")?;
    let zero;
    let fill;
    let mode = match &*mode {
        "constant" => {
            let value = if args.version() < 11 {
                None
            } else {
                args.optional(2)?
            };
            match value {
                Some(value) => {
                    fill = value;
                    PadMode::Constant(fill)
                }
                None => {
                    let number = if args.version() < 11 {
                        args.float("value", 0.0)?
                    } else {
                        0.0
                    };
                    zero = constant(x, number, args)?;
                    PadMode::Constant(zero.view())
                }
            }
        }
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "wrap" if args.version() >= 19 => PadMode::Wrap,
        other => return Err(args.fault(format!("expected a known mode, got '{other}'"))),
    };
    one(movement::pad(x, &pairs, mode, args.control)?)
}

/// A scalar of the type of a tensor.
fn constant(x: View<'_>, number: f64, args: &Args<'_>) -> Result<Tensor, Refusal> {
    let ty = x.element_type();
    if ty.is_complex() {
        return Ok(Tensor::new(ty, Vec::new(), vec![0; ty.size()])?);
    }
    Ok(from_f64s(&[number], ty, &[], args.control)?)
}

/// The elements in another shape.
fn with_shape<'a>(x: View<'a>, shape: &'a [usize]) -> Result<View<'a>, Refusal> {
    Ok(View::new(x.element_type(), shape, x.bytes())?)
}

fn depth_to_space(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let block = args.size("blocksize", 0)?;
    let &[n, c, h, w] = x.shape() else {
        return Err(args.fault(format!("expected rank 4, got {:?}", x.shape())));
    };
    let square = block
        .checked_mul(block)
        .filter(|square| *square > 0 && c % square == 0);
    let Some(square) = square else {
        return Err(args.fault(format!("expected {c} channels to be blocks of {block}")));
    };
    let mode = args.text("mode", "DCR")?;
    let (split, order): ([usize; 6], [i64; 6]) = match &*mode {
        "DCR" => ([n, block, block, c / square, h, w], [0, 3, 4, 1, 5, 2]),
        "CRD" => ([n, c / square, block, block, h, w], [0, 1, 4, 2, 5, 3]),
        other => return Err(args.fault(format!("expected mode DCR or CRD, got '{other}'"))),
    };
    let moved = movement::transpose(with_shape(x, &split)?, Some(&order), args.control)?;
    let (ty, shape, bytes) = moved.into_parts();
    let shape = vec![shape[0], shape[1], shape[2] * shape[3], shape[4] * shape[5]];
    one(Tensor::new(ty, shape, bytes)?)
}

fn space_to_depth(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let block = args.size("blocksize", 0)?;
    let &[n, c, h, w] = x.shape() else {
        return Err(args.fault(format!("expected rank 4, got {:?}", x.shape())));
    };
    if block == 0 || h % block != 0 || w % block != 0 {
        return Err(args.fault(format!("expected blocks of {block} in {h} times {w}")));
    }
    let split = [n, c, h / block, block, w / block, block];
    let order = match &*args.text("mode", "DCR")? {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        other => return Err(args.fault(format!("expected mode DCR or CRD, got '{other}'"))),
    };
    let moved = movement::transpose(with_shape(x, &split)?, Some(&order), args.control)?;
    let (ty, shape, bytes) = moved.into_parts();
    let depth = shape[1]
        .checked_mul(shape[2])
        .and_then(|depth| depth.checked_mul(shape[3]));
    let depth = depth.ok_or_else(|| args.fault("expected a depth in range"))?;
    let shape = vec![shape[0], depth, shape[4], shape[5]];
    one(Tensor::new(ty, shape, bytes)?)
}

fn reverse_sequence(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let lengths = args.input_ints(1)?;
    let batch_axis = shape::axis(args.int("batch_axis", 1)?, x.rank())?;
    let time_axis = shape::axis(args.int("time_axis", 0)?, x.rank())?;
    if batch_axis == time_axis || lengths.len() != x.shape()[batch_axis] {
        return Err(args.fault("expected two axes, and a length for each batch"));
    }
    if x.len() == 0 {
        return Ok(vec![OpResult::Shaped(0, x.shape().to_vec())]);
    }
    // The index of each element along the axis of time, for gathering the moved
    // elements.
    let time = x.shape()[time_axis];
    let mut index = vec![1; x.rank()];
    index[batch_axis] = lengths.len();
    index[time_axis] = time;
    let mut indices = Vec::with_capacity(lengths.len().saturating_mul(time));
    let place = |batch: usize, position: usize| -> Result<i64, Refusal> {
        let length = lengths[batch];
        if !(0..=time as i64).contains(&length) {
            return Err(args.fault(format!("expected a length up to {time}, got {length}")));
        }
        let position = position as i64;
        Ok(if position < length {
            length - 1 - position
        } else {
            position
        })
    };
    if batch_axis < time_axis {
        for batch in 0..lengths.len() {
            for position in 0..time {
                indices.push(place(batch, position)?);
            }
        }
    } else {
        for position in 0..time {
            for batch in 0..lengths.len() {
                indices.push(place(batch, position)?);
            }
        }
    }
    let indices = Tensor::from_slice(&index, &indices)?;
    let indices = movement::broadcast_to(indices.view(), x.shape(), args.control)?;
    one(isoform_kernels::indexing::gather(
        x,
        indices.view(),
        time_axis as i64,
        isoform_kernels::indexing::IndexMode::Reject,
        args.control,
    )?)
}

fn center_crop_pad(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let target = sizes(&args.input_ints(1)?)?;
    let axes = args
        .ints("axes")?
        .unwrap_or_else(|| (0..x.rank() as i64).collect());
    if axes.len() != target.len() {
        return Err(args.fault("expected a size for each axis"));
    }
    let mut widths = vec![(0, 0); x.rank()];
    for (axis, size) in axes.iter().zip(&target) {
        let position = shape::axis(*axis, x.rank())?;
        let (now, size) = (x.shape()[position] as i64, *size as i64);
        let difference = size.saturating_sub(now);
        // The middle is rounded down both where elements are removed and added.
        let before = if difference < 0 {
            -(-difference / 2)
        } else {
            difference / 2
        };
        widths[position] = (before, difference - before);
    }
    let zero = constant(x, 0.0, args)?;
    one(movement::pad(
        x,
        &widths,
        PadMode::Constant(zero.view()),
        args.control,
    )?)
}
