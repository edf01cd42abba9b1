//! Deformable convolution: each tap of the kernel reads the image beside its place,
//! between pixels.

use super::conv::{kernel, spatial, windows};
use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "DeformConv" => deform_conv,
        _ => return None,
    })
}

fn deform_conv(args: &Args<'_>) -> Outcome {
    let (x, weight) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let (offset, mask) = (Dense::input(args, 2)?, Dense::optional(args, 4)?);
    let ty = args.input(0)?.element_type();
    let (&[batch, channels, height, width], &[outputs, depth, rows, columns]) =
        (&x.shape[..], &weight.shape[..])
    else {
        return Err(args.fault(format!(
            "expected images and weights with two spatial axes, got {:?} and {:?}",
            x.shape, weight.shape
        )));
    };
    let windows = windows(args, spatial(args, &x.shape)?, kernel(args, &weight.shape)?)?;
    let (groups, parts) = (args.size("group", 1)?, args.size("offset_group", 1)?);
    let divides = |count: usize, number: usize| count > 0 && number.is_multiple_of(count);
    if !divides(groups, channels)
        || !divides(groups, outputs)
        || !divides(parts, channels)
        || channels / groups != depth
    {
        return Err(args.fault(format!(
            "expected {groups} groups and {parts} groups of offsets to divide {channels} channels, and weights to match, got {:?}",
            weight.shape
        )));
    }
    let places = isoform_kernels::shape::pool(
        &x.shape,
        &windows,
        isoform_kernels::shape::PoolRounding::Down,
    )?;
    let (tall, wide) = (places[2], places[3]);
    let (plane, taps) = (tall * wide, rows * columns);
    if offset.shape != [batch, parts * taps * 2, tall, wide] {
        return Err(args.fault(format!(
            "expected offsets of {:?}, got {:?}",
            [batch, parts * taps * 2, tall, wide],
            offset.shape
        )));
    }
    if let Some(mask) = &mask
        && mask.shape != [batch, parts * taps, tall, wide]
    {
        return Err(args.fault(format!(
            "expected a mask of {:?}, got {:?}",
            [batch, parts * taps, tall, wide],
            mask.shape
        )));
    }
    let bias = Dense::optional(args, 3)?;
    if let Some(bias) = &bias
        && bias.shape != [outputs]
    {
        return Err(args.fault(format!(
            "expected a bias of {outputs} elements, got {:?}",
            bias.shape
        )));
    }
    let mut result = Dense::filled(vec![batch, outputs, tall, wide], 0.0, args.control)?;
    // The samples of one channel: for each tap, the samples of all places.
    let mut samples = Dense::filled(vec![taps, plane], 0.0, args.control)?.data;
    let mut work = Work::new(args.control);
    for row in 0..batch * channels {
        let (number, channel) = (row / channels, row % channels);
        let image = &x.data[row * height * width..][..height * width];
        let part = number * parts + channel / (channels / parts);
        for (tap, samples) in samples.chunks_exact_mut(plane.max(1)).enumerate() {
            let (tap_row, tap_column) = (tap / columns, tap % columns);
            let first = (part * taps + tap) * 2 * plane;
            for (place, sample) in samples.iter_mut().enumerate() {
                let coordinate = |axis: usize, place: usize, tap: usize| {
                    let window = &windows[axis];
                    (place * window.stride + tap * window.dilation) as f64 - window.before as f64
                };
                let y = coordinate(0, place / wide, tap_row) + offset.data[first + place];
                let x =
                    coordinate(1, place % wide, tap_column) + offset.data[first + plane + place];
                *sample = bilinear(image, [height, width], y, x);
                if let Some(mask) = &mask {
                    *sample *= mask.data[(part * taps + tap) * plane + place];
                }
            }
            work.advance(4 * plane + 1)?;
        }
        let (group, inner) = (channel / depth, channel % depth);
        let per_group = outputs / groups;
        for output in group * per_group..(group + 1) * per_group {
            let weight = &weight.data[(output * depth + inner) * taps..][..taps];
            let to = &mut result.data[(number * outputs + output) * plane..][..plane];
            for (factor, samples) in weight.iter().zip(samples.chunks_exact(plane.max(1))) {
                for (to, sample) in to.iter_mut().zip(samples) {
                    *to += factor * sample;
                }
            }
            work.advance(plane * taps + 1)?;
        }
    }
    if let Some(bias) = &bias {
        for (row, to) in result.data.chunks_exact_mut(plane.max(1)).enumerate() {
            to.iter_mut()
                .for_each(|value| *value += bias.data[row % outputs]);
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}

/// The image between four pixels, which are 0 outside.
fn bilinear(image: &[f64], [height, width]: [usize; 2], y: f64, x: f64) -> f64 {
    // A place further out touches no pixel; this refuses NaN as well.
    let is_near = |place: f64, size: usize| place > -1.0 && place < size as f64;
    if !is_near(y, height) || !is_near(x, width) {
        return if y.is_nan() || x.is_nan() {
            f64::NAN
        } else {
            0.0
        };
    }
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let pixel = |row: f64, column: f64| {
        let is_inside = row >= 0.0 && column >= 0.0 && row < height as f64 && column < width as f64;
        if is_inside {
            image[row as usize * width + column as usize]
        } else {
            0.0
        }
    };
    let upper = pixel(top, left) * (1.0 - right) + pixel(top, left + 1.0) * right;
    let lower = pixel(top + 1.0, left) * (1.0 - right) + pixel(top + 1.0, left + 1.0) * right;
    upper * (1.0 - down) + lower * down
}
