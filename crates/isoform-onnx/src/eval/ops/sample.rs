//! Images sampled at given places.

use super::dense::{Dense, Work, step};
use super::kernel::Kernel;
use super::resize::cubic;
use crate::eval::args::Args;
use crate::eval::results::Outcome;
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "GridSample" => grid_sample,
        "AffineGrid" => affine_grid,
        "RoiAlign" => roi_align,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// A coordinate mirrored at the ends of an axis.
fn reflected(at: f64, low: f64, high: f64) -> f64 {
    let range = high - low;
    if range <= 0.0 {
        return low;
    }
    let distance = (at - low).rem_euclid(2.0 * range);
    low + if distance > range {
        2.0 * range - distance
    } else {
        distance
    }
}

fn grid_sample(args: &Args<'_>) -> Outcome {
    let (x, grid) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let ty = args.input(0)?.element_type();
    let aligned = args.flag("align_corners", false)?;
    let taps = match &*args.text("mode", "linear")? {
        "linear" | "bilinear" => 2,
        "nearest" => 1,
        "cubic" | "bicubic" => 4,
        other => return Err(args.fault(format!("expected a known mode, got '{other}'"))),
    };
    let padding = match &*args.text("padding_mode", "zeros")? {
        "zeros" => Padding::Zeros,
        "border" => Padding::Border,
        "reflection" => Padding::Reflection,
        other => return Err(args.fault(format!("expected a known padding, got '{other}'"))),
    };
    let rank = x
        .shape
        .len()
        .checked_sub(2)
        .filter(|rank| *rank > 0)
        .ok_or_else(|| args.fault("expected spatial axes"))?;
    let fits =
        grid.shape.len() == rank + 2 && grid.shape[0] == x.shape[0] && grid.shape[rank + 1] == rank;
    if !fits {
        return Err(args.fault(format!(
            "expected a grid for {:?}, got {:?}",
            x.shape, grid.shape
        )));
    }
    let (channels, spatial) = (x.shape[1], &x.shape[2..]);
    let out = &grid.shape[1..=rank];
    let plane: usize = spatial.iter().product();
    let points: usize = out.iter().product();
    let mut shape = x.shape[..2].to_vec();
    shape.extend(out);
    let mut result = Dense::filled(shape, 0.0, args.control)?;
    if result.data.is_empty() {
        return Ok(vec![result.made(ty, args.control)?]);
    }
    if plane == 0 {
        return Err(args.fault("expected elements"));
    }
    let mut work = Work::new(args.control);
    let window = vec![taps; rank];
    for image in 0..x.shape[0] {
        for point in 0..points {
            let place = &grid.data[(image * points + point) * rank..][..rank];
            // For each axis, the elements and their weights; the grid names the last axis first.
            let axes: Vec<Vec<(Option<usize>, f64)>> = (0..rank)
                .map(|axis| {
                    axis_taps(
                        place[rank - 1 - axis],
                        spatial[axis],
                        taps,
                        aligned,
                        padding,
                    )
                })
                .collect();
            let mut tap = vec![0; rank];
            loop {
                let mut weight = 1.0;
                let mut from = Some(0);
                for (axis, choice) in tap.iter().enumerate() {
                    let (index, part) = axes[axis][*choice];
                    weight *= part;
                    from = from
                        .zip(index)
                        .map(|(all, index)| all * spatial[axis] + index);
                }
                if let Some(from) = from {
                    for channel in 0..channels {
                        let source = x.data[(image * channels + channel) * plane + from];
                        result.data[(image * channels + channel) * points + point] +=
                            weight * source;
                    }
                }
                work.advance(channels + 1)?;
                if !step(&mut tap, &window) {
                    break;
                }
            }
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}

/// The elements along one axis for a coordinate from -1 to 1; None for padding.
fn axis_taps(
    coordinate: f64,
    size: usize,
    taps: usize,
    aligned: bool,
    padding: Padding,
) -> Vec<(Option<usize>, f64)> {
    let length = size as f64;
    let (low, high) = if aligned {
        (0.0, length - 1.0)
    } else {
        (-0.5, length - 0.5)
    };
    let mut coordinate = if aligned {
        (coordinate + 1.0) / 2.0 * (length - 1.0)
    } else {
        ((coordinate + 1.0) * length - 1.0) / 2.0
    };
    if !coordinate.is_finite() {
        coordinate = -1.0;
    }
    if taps == 1 {
        coordinate = coordinate.round_ties_even();
    }
    if taps < 4 && (coordinate < low || coordinate > high) {
        coordinate = match padding {
            Padding::Zeros => coordinate,
            Padding::Border => coordinate.clamp(0.0, length - 1.0),
            Padding::Reflection => reflected(coordinate, low, high),
        };
    }
    let element = |index: f64| -> Option<usize> {
        let inside = (0.0..length).contains(&index);
        let index = match padding {
            _ if inside => index,
            Padding::Zeros => return None,
            Padding::Border => index.clamp(0.0, length - 1.0),
            Padding::Reflection => reflected(index, low, high).clamp(0.0, length - 1.0),
        };
        Some(index as usize)
    };
    let floor = coordinate.floor();
    let ratio = coordinate - floor;
    match taps {
        1 => vec![(element(coordinate.round_ties_even()), 1.0)],
        2 => vec![(element(floor), 1.0 - ratio), (element(floor + 1.0), ratio)],
        _ => (-1..3)
            .map(|tap| {
                let tap = f64::from(tap);
                (element(floor + tap), cubic(ratio - tap, -0.75))
            })
            .collect(),
    }
}

/// The places given by an affine map of the unit cube, for each element of an image.
fn affine_grid(args: &Args<'_>) -> Outcome {
    let theta = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let size = sizes(&args.input_ints(1)?)?;
    let aligned = args.flag("align_corners", false)?;
    let rank = size
        .len()
        .checked_sub(2)
        .filter(|rank| *rank > 0)
        .ok_or_else(|| args.fault("expected spatial axes"))?;
    if theta.shape != [size[0], rank, rank + 1] {
        return Err(args.fault(format!(
            "expected maps of shape [{}, {rank}, {}], got {:?}",
            size[0],
            rank + 1,
            theta.shape
        )));
    }
    let spatial = &size[2..];
    let mut shape = vec![size[0]];
    shape.extend(spatial);
    shape.push(rank);
    let mut result = Dense::filled(shape, 0.0, args.control)?;
    let coordinate = |position: usize, size: usize| {
        let (position, size) = (position as f64, size as f64);
        if !aligned {
            (2.0 * position + 1.0) / size - 1.0
        } else if size == 1.0 {
            0.0
        } else {
            -1.0 + 2.0 * position / (size - 1.0)
        }
    };
    let mut index = vec![0; rank];
    let points: usize = spatial.iter().product();
    if points == 0 {
        return Ok(vec![result.made(ty, args.control)?]);
    }
    for (number, point) in result.data.chunks_exact_mut(rank).enumerate() {
        let map = &theta.data[number / points * rank * (rank + 1)..][..rank * (rank + 1)];
        for (row, to) in point.iter_mut().enumerate() {
            let row = &map[row * (rank + 1)..][..=rank];
            *to = row[rank];
            for (axis, factor) in row[..rank].iter().enumerate() {
                let from = rank - 1 - axis;
                *to += factor * coordinate(index[from], spatial[from]);
            }
        }
        step(&mut index, spatial);
    }
    Ok(vec![result.made(ty, args.control)?])
}

fn roi_align(args: &Args<'_>) -> Outcome {
    let (x, rois) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let images = args.input_ints(2)?;
    let ty = args.input(0)?.element_type();
    let offset = match &*args.text("coordinate_transformation_mode", "half_pixel")? {
        _ if args.version() < 16 => 0.0,
        "half_pixel" => 0.5,
        "output_half_pixel" => 0.0,
        other => return Err(args.fault(format!("expected known coordinates, got '{other}'"))),
    };
    let takes_max = match &*args.text("mode", "avg")? {
        "avg" => false,
        "max" => true,
        other => return Err(args.fault(format!("expected avg or max, got '{other}'"))),
    };
    let (rows, columns) = (
        args.size("output_height", 1)?,
        args.size("output_width", 1)?,
    );
    let ratio = args.size("sampling_ratio", 0)?;
    let scale = args.float("spatial_scale", 1.0)?;
    let &[batch, channels, height, width] = &x.shape[..] else {
        return Err(args.fault("expected rank 4"));
    };
    let count = images.len();
    if rois.shape != [count, 4] || height == 0 || width == 0 {
        return Err(args.fault(format!("expected {count} regions of four numbers")));
    }
    let mut result = Dense::filled(vec![count, channels, rows, columns], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (number, image) in images.iter().enumerate() {
        let image = usize::try_from(*image).ok().filter(|image| *image < batch);
        let image = image.ok_or_else(|| args.fault("expected the number of an image"))?;
        let roi = &rois.data[number * 4..][..4];
        let [left, top, right, bottom] = [0, 1, 2, 3].map(|index| roi[index] * scale - offset);
        let (mut roi_width, mut roi_height) = (right - left, bottom - top);
        if offset == 0.0 {
            (roi_width, roi_height) = (roi_width.max(1.0), roi_height.max(1.0));
        }
        let (bin_height, bin_width) = (roi_height / rows as f64, roi_width / columns as f64);
        let samples = |size: f64| {
            let natural = if ratio > 0 { ratio as f64 } else { size.ceil() };
            if natural.is_finite() {
                natural.clamp(0.0, 1e6) as usize
            } else {
                0
            }
        };
        let (grid_rows, grid_columns) = (samples(bin_height), samples(bin_width));
        for cell in 0..rows * columns {
            let (row, column) = (cell / columns, cell % columns);
            let mut held = vec![if takes_max { f64::NEG_INFINITY } else { 0.0 }; channels];
            for sample in 0..grid_rows * grid_columns {
                let (in_row, in_column) = (sample / grid_columns, sample % grid_columns);
                let place = |start: f64, bin: usize, size: f64, number: usize, count: usize| {
                    start + bin as f64 * size + (number as f64 + 0.5) * size / count as f64
                };
                let y = place(top, row, bin_height, in_row, grid_rows);
                let x_at = place(left, column, bin_width, in_column, grid_columns);
                let taps = bilinear(y, x_at, height, width);
                for (channel, held) in held.iter_mut().enumerate() {
                    let plane = &x.data[(image * channels + channel) * height * width..];
                    let parts = taps
                        .iter()
                        .map(|(position, weight)| plane[*position] * weight);
                    if takes_max {
                        *held = parts.fold(*held, f64::max);
                    } else {
                        *held += parts.sum::<f64>();
                    }
                }
                work.advance(4 * channels + 1)?;
            }
            let samples = (grid_rows * grid_columns).max(1) as f64;
            for (channel, held) in held.iter().enumerate() {
                let value = if !takes_max {
                    held / samples
                } else if held.is_infinite() {
                    0.0
                } else {
                    *held
                };
                result.data[((number * channels + channel) * rows + row) * columns + column] =
                    value;
            }
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}

/// Four weighted elements around a place, with no weight outside of the image.
fn bilinear(y: f64, x: f64, height: usize, width: usize) -> Vec<(usize, f64)> {
    if y < -1.0 || y > height as f64 || x < -1.0 || x > width as f64 || y.is_nan() || x.is_nan() {
        return vec![(0, 0.0)];
    }
    let axis = |coordinate: f64, size: usize| {
        let coordinate = coordinate.max(0.0);
        let low = coordinate as usize;
        if low >= size - 1 {
            (size - 1, size - 1, 0.0)
        } else {
            (low, low + 1, coordinate - low as f64)
        }
    };
    let (top, bottom, down) = axis(y, height);
    let (left, right, across) = axis(x, width);
    vec![
        (top * width + left, (1.0 - down) * (1.0 - across)),
        (top * width + right, (1.0 - down) * across),
        (bottom * width + left, down * (1.0 - across)),
        (bottom * width + right, down * across),
    ]
}
