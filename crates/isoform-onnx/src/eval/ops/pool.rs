//! Pools.

use isoform_kernels::shape::{self, PoolRounding, Window};
use isoform_kernels::windows::{Pool, global_windows};
use isoform_kernels::{Tensor, View, math};

use super::conv::{indices, per_axis, spatial, windows};
use super::dense::{Dense, Work, step};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "MaxPool" => max_pool,
        "AveragePool" => average_pool,
        "LpPool" => lp_pool,
        "GlobalMaxPool" => |args| global(args, |pool, x, control| pool.max(x, control)),
        "GlobalAveragePool" => {
            |args| global(args, |pool, x, control| pool.average(x, false, control))
        }
        "GlobalLpPool" => global_lp_pool,
        "MaxUnpool" => max_unpool,
        _ => return None,
    })
}

/// The windows of a pool, and how its size is rounded.
fn pool_windows(args: &Args<'_>, x: View<'_>) -> Result<(Vec<Window>, PoolRounding), Refusal> {
    let kernel = args.ints("kernel_shape")?;
    let kernel = sizes(&kernel.ok_or_else(|| args.fault("expected a kernel_shape"))?)?;
    let windows = windows(args, spatial(args, x.shape())?, &kernel)?;
    let pads = per_axis(args, "pads", 2 * kernel.len(), 0)?;
    if let Some((pad, size)) =
        (pads.iter().zip(kernel.iter().cycle())).find(|(pad, size)| pad >= size)
    {
        return Err(args.fault(format!(
            "expected pads smaller than the kernel, got {pad} for a kernel of {size}"
        )));
    }
    let rounding = if args.flag("ceil_mode", false)? {
        PoolRounding::UpWithin
    } else {
        PoolRounding::Down
    };
    Ok((windows, rounding))
}

fn max_pool(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (windows, rounding) = pool_windows(args, x)?;
    let pool = Pool {
        windows: &windows,
        rounding,
    };
    let largest = pool.max(x, args.control)?;
    if args.call.outputs < 2 {
        return one(largest);
    }
    let places = positions(args, x, &windows, largest.shape())?;
    Ok(vec![largest.into(), places.into()])
}

/// The place of the largest element of each window, the first among equal elements.
fn positions(
    args: &Args<'_>,
    x: View<'_>,
    windows: &[Window],
    out: &[usize],
) -> Result<Tensor, Refusal> {
    let column_major = args.flag("storage_order", false)?;
    let values = Dense::of(x, args.control)?;
    let spatial = &x.shape()[2..];
    let plane: usize = spatial.iter().product();
    let mut places = Vec::with_capacity(out.iter().product());
    let planes = x.shape()[0] * x.shape()[1];
    let mut work = Work::new(args.control);
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    for number in 0..planes {
        let values = &values.data[number * plane..][..plane];
        let mut place = vec![0; windows.len()];
        for _ in 0..out[2..].iter().product() {
            let mut best: Option<(f64, Vec<usize>)> = None;
            each_place(windows, &kernel, &place, spatial, &mut |index| {
                let flat = index
                    .iter()
                    .zip(spatial)
                    .fold(0, |all, (place, size)| all * size + place);
                let value = values[flat];
                let first = best.as_ref().is_none_or(|(held, _)| value > *held);
                if first {
                    best = Some((value, index.to_vec()));
                }
                work.advance(1)
            })?;
            let Some((_, index)) = best else {
                return Err(args.fault("expected an element in each window"));
            };
            let pairs = index.iter().zip(spatial);
            let flat = if column_major {
                pairs.rev().fold(0, |all, (place, size)| all * size + place)
            } else {
                pairs.fold(0, |all, (place, size)| all * size + place)
            };
            places.push((number * plane + flat) as i64);
            step(&mut place, &out[2..]);
        }
    }
    indices(&places, out)
}

/// Calls `work` with each place of a window inside the tensor.
fn each_place(
    windows: &[Window],
    kernel: &[usize],
    position: &[usize],
    spatial: &[usize],
    work: &mut dyn FnMut(&[usize]) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut tap = vec![0; windows.len()];
    let mut index = vec![0; windows.len()];
    loop {
        let mut inside = true;
        for (axis, window) in windows.iter().enumerate() {
            let place = (position[axis] * window.stride + tap[axis] * window.dilation)
                .checked_sub(window.before);
            match place.filter(|place| *place < spatial[axis]) {
                Some(place) => index[axis] = place,
                None => inside = false,
            }
        }
        if inside {
            work(&index)?;
        }
        if !step(&mut tap, kernel) {
            return Ok(());
        }
    }
}

fn average_pool(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (windows, rounding) = pool_windows(args, x)?;
    let counts = args.flag("count_include_pad", false)?;
    one(Pool {
        windows: &windows,
        rounding,
    }
    .average(x, counts, args.control)?)
}

fn lp_pool(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (windows, rounding) = pool_windows(args, x)?;
    let p = if args.version() < 2 {
        args.float("p", 2.0)?
    } else {
        args.int("p", 2)? as f64
    };
    let values = Dense::of(x, args.control)?;
    let out = shape::pool(x.shape(), &windows, rounding)?;
    let mut result = Dense::filled(out.clone(), 0.0, args.control)?;
    let spatial = &x.shape()[2..];
    let (plane, out_plane): (usize, usize) = (spatial.iter().product(), out[2..].iter().product());
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let mut work = Work::new(args.control);
    if out_plane > 0 {
        for (number, to) in result.data.chunks_exact_mut(out_plane).enumerate() {
            let values = &values.data[number * plane..][..plane];
            let mut place = vec![0; windows.len()];
            for to in to {
                each_place(&windows, &kernel, &place, spatial, &mut |index| {
                    let flat = index
                        .iter()
                        .zip(spatial)
                        .fold(0, |all, (place, size)| all * size + place);
                    *to += math::pow(values[flat].abs(), p);
                    work.advance(1)
                })?;
                *to = math::pow(*to, 1.0 / p);
                step(&mut place, &out[2..]);
            }
        }
    }
    Ok(vec![result.made(x.element_type(), args.control)?])
}

type Global = fn(
    &Pool<'_>,
    View<'_>,
    &isoform_kernels::Control<'_>,
) -> Result<Tensor, isoform_kernels::KernelError>;

fn global(args: &Args<'_>, f: Global) -> Outcome {
    let x = args.input(0)?;
    spatial(args, x.shape())?;
    let windows = global_windows(x.shape());
    one(f(
        &Pool {
            windows: &windows,
            rounding: PoolRounding::Down,
        },
        x,
        args.control,
    )?)
}

fn global_lp_pool(args: &Args<'_>) -> Outcome {
    let x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let p = if args.version() < 2 {
        args.float("p", 2.0)?
    } else {
        args.int("p", 2)? as f64
    };
    let spatial = spatial(args, &x.shape)?;
    let plane: usize = spatial.iter().product();
    let mut shape = x.shape[..2].to_vec();
    shape.extend(std::iter::repeat_n(1, spatial.len()));
    if plane == 0 {
        return Err(args.fault("expected elements"));
    }
    let norm = |values: &[f64]| {
        let sum: f64 = values.iter().map(|value| math::pow(value.abs(), p)).sum();
        math::pow(sum, 1.0 / p)
    };
    let data = x.data.chunks_exact(plane).map(norm).collect();
    Ok(vec![Dense { shape, data }.made(ty, args.control)?])
}

fn max_unpool(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let places = args.input_ints(1)?;
    let rank = x
        .rank()
        .checked_sub(2)
        .ok_or_else(|| args.fault("expected rank 3 or more"))?;
    let kernel = args
        .ints("kernel_shape")?
        .ok_or_else(|| args.fault("expected a kernel_shape"))?;
    let strides = args.ints("strides")?.unwrap_or_else(|| vec![1; rank]);
    let pads = args.ints("pads")?.unwrap_or_else(|| vec![0; 2 * rank]);
    if kernel.len() != rank || strides.len() != rank || pads.len() != 2 * rank {
        return Err(args.fault(format!(
            "expected a kernel, strides and pads of rank {rank}"
        )));
    }
    let mut natural = x.shape()[..2].to_vec();
    for axis in 0..rank {
        let size = (x.shape()[axis + 2] as i128 - 1) * i128::from(strides[axis])
            + i128::from(kernel[axis])
            - i128::from(pads[axis])
            - i128::from(pads[rank + axis]);
        natural.push(usize::try_from(size).map_err(|_| args.fault("expected sizes above 0"))?);
    }
    let shape = match args.optional_ints(2)? {
        Some(shape) => sizes(&shape)?,
        None => natural.clone(),
    };
    if shape.len() != natural.len() || places.len() != x.len() {
        return Err(args.fault("expected an index for each element, and a shape of the same rank"));
    }
    let mut result = Dense::filled(shape.clone(), 0.0, args.control)?;
    let values = Dense::of(x, args.control)?;
    for (value, place) in values.data.iter().zip(&places) {
        // Indices count in the natural shape.
        let mut rest = usize::try_from(*place).unwrap_or(usize::MAX);
        let mut target = Some(0_usize);
        let mut stride = 1;
        for (size, own) in natural.iter().zip(&shape).rev() {
            let place = rest.checked_rem(*size).filter(|place| place < own);
            rest = rest.checked_div(*size).unwrap_or(0);
            target = target.zip(place).map(|(all, place)| all + place * stride);
            stride *= own;
        }
        let target = target
            .filter(|_| rest == 0)
            .ok_or_else(|| args.fault(format!("index {place} is outside")))?;
        result.data[target] = *value;
    }
    Ok(vec![result.made(x.element_type(), args.control)?])
}
