//! Convolutions.

use std::borrow::Cow;

use isoform_kernels::elementwise::{bias_add, cast};
use isoform_kernels::shape::Window;
use isoform_kernels::windows::Convolution;
use isoform_kernels::{ElementType, Tensor};

use super::dense::{Dense, Work, step};
use super::kernel::Kernel;
use super::products::centered;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Conv" => conv,
        "ConvInteger" => conv_integer,
        "ConvTranspose" => conv_transpose,
        "Col2Im" => col2im,
        _ => return None,
    })
}

/// The rules for padding.
const AUTO_PADS: [&str; 4] = ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"];

/// A list of sizes, one for each spatial axis, or a default for all axes.
pub(super) fn per_axis(
    args: &Args<'_>,
    name: &str,
    rank: usize,
    default: usize,
) -> Result<Vec<usize>, Refusal> {
    let Some(given) = args.ints(name)? else {
        return Ok(vec![default; rank]);
    };
    if given.len() != rank {
        return Err(args.fault(format!(
            "expected {rank} numbers in '{name}', got {given:?}"
        )));
    }
    if let Some(large) = given.iter().find(|number| **number > i64::from(i32::MAX)) {
        return Err(args.fault(format!(
            "expected numbers below 2^31 in '{name}', got {large}"
        )));
    }
    sizes(&given)
}

/// The windows of a convolution or pool over spatial axes of these sizes.
pub(super) fn windows(
    args: &Args<'_>,
    spatial: &[usize],
    kernel: &[usize],
) -> Result<Vec<Window>, Refusal> {
    let rank = spatial.len();
    if kernel.len() != rank {
        return Err(args.fault(format!("expected a kernel of rank {rank}, got {kernel:?}")));
    }
    let strides = per_axis(args, "strides", rank, 1)?;
    let dilations = per_axis(args, "dilations", rank, 1)?;
    let pads = per_axis(args, "pads", 2 * rank, 0)?;
    let auto = args.text("auto_pad", "NOTSET")?;
    let mut windows = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (stride, dilation) = (strides[axis], dilations[axis]);
        if kernel[axis] > i32::MAX as usize {
            return Err(args.fault("expected kernels below 2^31"));
        }
        if stride == 0 || dilation == 0 || kernel[axis] == 0 {
            return Err(args.fault("expected kernels, strides and dilations above 0"));
        }
        let (before, after) = match &*auto {
            "NOTSET" => (pads[axis], pads[rank + axis]),
            "VALID" => (0, 0),
            "SAME_UPPER" | "SAME_LOWER" => {
                let positions = spatial[axis].div_ceil(stride);
                let span = (kernel[axis] - 1)
                    .saturating_mul(dilation)
                    .saturating_add(1);
                let covered = positions
                    .saturating_sub(1)
                    .saturating_mul(stride)
                    .saturating_add(span);
                let total = covered.saturating_sub(spatial[axis]);
                let less = total / 2;
                if auto == "SAME_UPPER" {
                    (less, total - less)
                } else {
                    (total - less, less)
                }
            }
            other => return Err(args.fault(format!("expected a known auto_pad, got '{other}'"))),
        };
        windows.push(Window {
            size: kernel[axis],
            stride,
            dilation,
            before,
            after,
        });
    }
    Ok(windows)
}

/// The sizes of the kernel in weights; an attribute that names them must not contradict.
pub(super) fn kernel<'s>(args: &Args<'_>, weights: &'s [usize]) -> Result<&'s [usize], Refusal> {
    let kernel = spatial(args, weights)?;
    match args.ints("kernel_shape")? {
        Some(declared) if sizes(&declared)? != kernel => Err(args.fault(format!(
            "expected the kernel_shape of the weights, {kernel:?}, got {declared:?}"
        ))),
        _ => Ok(kernel),
    }
}

/// The rule for the padding of a convolution, which excludes pads of its own.
fn convolution_padding<'a>(args: &Args<'a>) -> Result<Cow<'a, str>, Refusal> {
    let auto = args.text("auto_pad", "NOTSET")?;
    if auto != "NOTSET" && args.ints("pads")?.is_some() {
        return Err(args.fault(format!(
            "expected either pads or an auto_pad, got both, with auto_pad '{auto}'"
        )));
    }
    Ok(auto)
}

/// The windows of a convolution with these weights.
pub(super) fn convolution_windows(
    args: &Args<'_>,
    x: &[usize],
    weights: &[usize],
) -> Result<Vec<Window>, Refusal> {
    convolution_padding(args)?;
    windows(args, spatial(args, x)?, kernel(args, weights)?)
}

/// The sizes of the axes after batch and channels.
pub(super) fn spatial<'s>(args: &Args<'_>, shape: &'s [usize]) -> Result<&'s [usize], Refusal> {
    let sizes = shape.get(2..).filter(|sizes| !sizes.is_empty());
    sizes.ok_or_else(|| {
        args.fault(format!(
            "expected rank 3 or more, a batch, channels and spatial axes, got the shape {shape:?}"
        ))
    })
}

fn conv(args: &Args<'_>) -> Outcome {
    let (x, w) = (args.input(0)?, args.input(1)?);
    let windows = convolution_windows(args, x.shape(), w.shape())?;
    let convolution = Convolution {
        windows: &windows,
        groups: args.size("group", 1)?,
        result_type: Some(ElementType::Float64),
    };
    let mut sums = convolution.apply(x, w, args.control)?;
    if let Some(bias) = args.optional(2)? {
        let bias = cast(bias, ElementType::Float64, args.control)?;
        sums = bias_add(sums.view(), bias.view(), 1, args.control)?;
    }
    one(cast(sums.view(), x.element_type(), args.control)?)
}

fn conv_integer(args: &Args<'_>) -> Outcome {
    let (x, w) = (args.input(0)?, args.input(1)?);
    let windows = convolution_windows(args, x.shape(), w.shape())?;
    let x = centered(args, x, args.optional(2)?, 1)?;
    let w = centered(args, w, args.optional(3)?, 0)?;
    let groups = args.size("group", 1)?;
    let convolution = Convolution {
        windows: &windows,
        groups,
        result_type: None,
    };
    one(convolution.apply(x.view(), w.view(), args.control)?)
}

fn conv_transpose(args: &Args<'_>) -> Outcome {
    let (x, w) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let ty = args.input(0)?.element_type();
    let size = spatial(args, &x.shape)?.to_vec();
    let kernel = kernel(args, &w.shape)?.to_vec();
    let rank = size.len();
    let groups = args.size("group", 1)?;
    let (batch, channels) = (x.shape[0], x.shape[1]);
    if kernel.len() != rank || groups == 0 || channels % groups != 0 || w.shape[0] != channels {
        return Err(args.fault(format!(
            "expected weights for {channels} channels in {groups} groups, got {:?}",
            w.shape
        )));
    }
    let strides = per_axis(args, "strides", rank, 1)?;
    let dilations = per_axis(args, "dilations", rank, 1)?;
    let extra = per_axis(args, "output_padding", rank, 0)?;
    let pads = per_axis(args, "pads", 2 * rank, 0)?;
    let wanted = match args.ints("output_shape")? {
        Some(_) => Some(per_axis(args, "output_shape", rank, 0)?),
        None => None,
    };
    let auto = convolution_padding(args)?;
    if !AUTO_PADS.contains(&&*auto) {
        return Err(args.fault(format!("expected a known auto_pad, got '{auto}'")));
    }
    let mut out = Vec::with_capacity(rank);
    let mut before = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (stride, dilation) = (strides[axis], dilations[axis]);
        if stride == 0 || dilation == 0 || extra[axis] >= stride.max(dilation) {
            return Err(args.fault(format!(
                "expected strides and dilations above 0 and output_padding below the larger one, \
                 got {stride}, {dilation} and {}",
                extra[axis]
            )));
        }
        let full = (size[axis] as i128 - 1) * strides[axis] as i128
            + (kernel[axis] as i128 - 1) * dilations[axis] as i128
            + 1
            + extra[axis] as i128;
        let target = match &wanted {
            Some(shape) => Some(shape[axis] as i128),
            None if auto.starts_with("SAME") => Some(size[axis] as i128 * strides[axis] as i128),
            None => None,
        };
        let (start, length) = match target {
            Some(target) if target >= full + stride as i128 => {
                return Err(args.fault(format!(
                    "expected an output_shape that the strides reach, below {} for axis {axis}, \
                     got {target}",
                    full + stride as i128
                )));
            }
            Some(target) => {
                let total = (full - target).max(0);
                let less = total / 2;
                (
                    if auto == "SAME_UPPER" {
                        less
                    } else {
                        total - less
                    },
                    target,
                )
            }
            None => (
                pads[axis] as i128,
                full - pads[axis] as i128 - pads[rank + axis] as i128,
            ),
        };
        let length = usize::try_from(length).ok().filter(|length| *length > 0);
        let length = length.ok_or_else(|| args.fault("expected a result with sizes above 0"))?;
        out.push(length);
        before.push(start as i64);
    }
    let depth = w.shape[1];
    let outputs = depth.saturating_mul(groups);
    let mut shape = vec![batch, outputs];
    shape.extend(&out);
    let mut result = Dense::filled(shape, 0.0, args.control)?;
    if x.data.is_empty() || result.data.is_empty() {
        return Ok(vec![result.made(ty, args.control)?]);
    }
    let (plane, in_plane): (usize, usize) = (out.iter().product(), size.iter().product());
    let window: usize = kernel.iter().product();
    let mut work = Work::new(args.control);
    // For each place of the kernel and of the input, the target of the products.
    if plane > 0 && in_plane > 0 && window > 0 {
        let mut place = vec![0; rank];
        for tap in 0..window {
            let mut position = vec![0; rank];
            let mut targets = Vec::with_capacity(in_plane);
            for from in 0..in_plane {
                let mut target = Some(0_usize);
                for axis in 0..rank {
                    let to = position[axis] as i64 * strides[axis] as i64
                        + place[axis] as i64 * dilations[axis] as i64
                        - before[axis];
                    let to = usize::try_from(to).ok().filter(|to| *to < out[axis]);
                    target = target.zip(to).map(|(all, to)| all * out[axis] + to);
                }
                targets.extend(target.map(|target| (from, target)));
                step(&mut position, &size);
            }
            for image in 0..batch {
                for channel in 0..channels {
                    let group = channel / (channels / groups);
                    let source = &x.data[(image * channels + channel) * in_plane..][..in_plane];
                    for part in 0..depth {
                        let factor = w.data[(channel * depth + part) * window + tap];
                        let to = (image * outputs + group * depth + part) * plane;
                        let to = &mut result.data[to..][..plane];
                        for (from, target) in &targets {
                            to[*target] += source[*from] * factor;
                        }
                        work.advance(targets.len() + 1)?;
                    }
                }
            }
            step(&mut place, &kernel);
        }
    }
    if let Some(bias) = Dense::optional(args, 2)? {
        if bias.shape != [outputs] {
            return Err(args.fault(format!(
                "expected a bias of {outputs} elements, got the shape {:?}",
                bias.shape
            )));
        }
        if plane > 0 {
            for (number, to) in result.data.chunks_exact_mut(plane).enumerate() {
                to.iter_mut()
                    .for_each(|value| *value += bias.data[number % outputs]);
            }
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}

/// Blocks added at their places in an image.
fn col2im(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (image, block) = (sizes(&args.input_ints(1)?)?, sizes(&args.input_ints(2)?)?);
    let windows = windows(args, &image, &block)?;
    let window: usize = block.iter().product();
    let &[batch, rows, columns] = x.shape() else {
        return Err(args.fault(format!("expected rank 3, got {:?}", x.shape())));
    };
    let counts = isoform_kernels::shape::pool(
        &[&[1, 1], &image[..]].concat(),
        &windows,
        isoform_kernels::shape::PoolRounding::Down,
    )?;
    let places: usize = counts[2..].iter().product();
    if window == 0 || rows % window != 0 || places != columns {
        return Err(args.fault(format!("expected blocks of {window} at {places} places")));
    }
    let channels = rows / window;
    let mut shape = vec![batch, channels];
    shape.extend(&image);
    let mut result = Dense::filled(shape, 0.0, args.control)?;
    if x.len() == 0 || result.data.is_empty() {
        return Ok(vec![result.made(x.element_type(), args.control)?]);
    }
    let plane: usize = image.iter().product();
    let values = Dense::input(args, 0)?.data;
    let mut work = Work::new(args.control);
    let mut place = vec![0; block.len()];
    for tap in 0..window {
        let mut block_place = vec![0; image.len()];
        for column in 0..columns {
            let mut target = Some(0_usize);
            for (axis, window) in windows.iter().enumerate() {
                let to = (block_place[axis] * window.stride + place[axis] * window.dilation)
                    .checked_sub(window.before)
                    .filter(|to| *to < image[axis]);
                target = target.zip(to).map(|(all, to)| all * image[axis] + to);
            }
            if let Some(target) = target {
                for number in 0..batch * channels {
                    result.data[number * plane + target] +=
                        values[(number * window + tap) * columns + column];
                }
            }
            work.advance(batch * channels + 1)?;
            step(&mut block_place, &counts[2..]);
        }
        step(&mut place, &block);
    }
    Ok(vec![result.made(x.element_type(), args.control)?])
}

/// A tensor of `int64`.
pub(super) fn indices(values: &[i64], shape: &[usize]) -> Result<Tensor, Refusal> {
    Ok(Tensor::from_slice(shape, values)?)
}
