//! Interpolation of images to another size.
//!
//! Every mode is separable: an axis has a list of weighted elements for each position,
//! and the axes are processed in sequence.

use isoform_kernels::shape;

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Resize" => resize,
        "Upsample" => upsample,
        _ => return None,
    })
}

/// The settings that all axes share.
struct Settings {
    coordinates: String,
    mode: Mode,
    antialias: bool,
    exclude_outside: bool,
}

#[derive(Clone, Copy)]
enum Mode {
    Nearest(Nearest),
    Linear,
    Cubic(f64),
}

#[derive(Clone, Copy)]
enum Nearest {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}

/// One axis that is resized.
struct Axis {
    size: usize,
    out: usize,
    scale: f64,
    roi: (f64, f64),
}

/// The elements that make up a position; None for the extrapolated value.
type Taps = Option<Vec<(usize, f64)>>;

fn resize(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let rank = x.rank();
    if args.version() < 11 {
        let scales = args.input_floats(1)?;
        return with_scales(args, &scales, &legacy_settings(args)?);
    }
    let axes = match args.ints("axes")? {
        Some(axes) => axes,
        None => (0..rank as i64).collect(),
    };
    let places = axes
        .iter()
        .map(|axis| Ok(shape::axis(*axis, rank)?))
        .collect::<Result<Vec<usize>, Refusal>>()?;
    let input_numbers = |position: usize| -> Result<Option<Vec<f64>>, Refusal> {
        let values = Dense::optional(args, position)?;
        Ok(values
            .map(|values| values.data)
            .filter(|values| !values.is_empty()))
    };
    let coordinates = args
        .text("coordinate_transformation_mode", "half_pixel")?
        .into_owned();
    let mode = match &*args.text("mode", "nearest")? {
        "nearest" => Mode::Nearest(match &*args.text("nearest_mode", "round_prefer_floor")? {
            "round_prefer_floor" => Nearest::PreferFloor,
            "round_prefer_ceil" => Nearest::PreferCeil,
            "floor" => Nearest::Floor,
            "ceil" => Nearest::Ceil,
            other => return Err(args.fault(format!("expected a nearest_mode, got '{other}'"))),
        }),
        "linear" => Mode::Linear,
        "cubic" => Mode::Cubic(args.float("cubic_coeff_a", -0.75)?),
        other => return Err(args.fault(format!("expected a known mode, got '{other}'"))),
    };
    let settings = Settings {
        coordinates,
        mode,
        antialias: args.flag("antialias", false)?,
        exclude_outside: args.flag("exclude_outside", false)?,
    };
    let roi = input_numbers(1)?.filter(|_| settings.coordinates == "tf_crop_and_resize");
    let mut resized: Vec<Axis> = x
        .shape()
        .iter()
        .map(|size| Axis {
            size: *size,
            out: *size,
            scale: 1.0,
            roi: (0.0, 1.0),
        })
        .collect();
    let count = places.len();
    if let Some(roi) = roi {
        if roi.len() != 2 * count {
            return Err(args.fault(format!("expected a region of {count} axes")));
        }
        for (number, place) in places.iter().enumerate() {
            resized[*place].roi = (roi[number], roi[count + number]);
        }
    }
    match (
        input_numbers(2)?,
        args.optional_ints(3)?.filter(|sizes| !sizes.is_empty()),
    ) {
        (Some(scales), None) if scales.len() == count => {
            for (scale, place) in scales.iter().zip(&places) {
                resized[*place].scale = *scale;
                resized[*place].out = scaled(args, resized[*place].size, *scale)?;
            }
        }
        (None, Some(target)) if target.len() == count => {
            let target = sizes(&target)?;
            let ratios = target
                .iter()
                .zip(&places)
                .map(|(to, place)| *to as f64 / resized[*place].size as f64);
            let policy = args.text("keep_aspect_ratio_policy", "stretch")?;
            let common = match &*policy {
                "stretch" => None,
                "not_larger" => Some(ratios.fold(f64::INFINITY, f64::min)),
                "not_smaller" => Some(ratios.fold(f64::NEG_INFINITY, f64::max)),
                other => return Err(args.fault(format!("expected a known policy, got '{other}'"))),
            };
            for (to, place) in target.iter().zip(&places) {
                let axis = &mut resized[*place];
                match common {
                    None => {
                        axis.out = *to;
                        axis.scale = *to as f64 / axis.size as f64;
                    }
                    Some(scale) => {
                        axis.scale = scale;
                        axis.out = (scale * axis.size as f64 + 0.5).floor() as usize;
                    }
                }
            }
        }
        _ => return Err(args.fault("expected either scales or sizes, one for each axis")),
    }
    interpolate(args, &resized, &settings)
}

/// The settings before version 11: positions are divided by the scale, and rounded down.
fn legacy_settings(args: &Args<'_>) -> Result<Settings, Refusal> {
    let mode = match &*args.text("mode", "nearest")? {
        "nearest" => Mode::Nearest(Nearest::Floor),
        "linear" | "bilinear" => Mode::Linear,
        other => return Err(args.fault(format!("expected nearest or linear, got '{other}'"))),
    };
    Ok(Settings {
        coordinates: "asymmetric".to_owned(),
        mode,
        antialias: false,
        exclude_outside: false,
    })
}

fn upsample(args: &Args<'_>) -> Outcome {
    let scales = match args.version() {
        ..7 => {
            let mut scales = vec![1.0; args.input(0)?.rank().saturating_sub(2)];
            scales.push(args.float("height_scale", 1.0)?);
            scales.push(args.float("width_scale", 1.0)?);
            scales
        }
        7..9 => args.call.floats("scales")?.unwrap_or_default(),
        _ => args.input_floats(1)?,
    };
    with_scales(args, &scales, &legacy_settings(args)?)
}

fn scaled(args: &Args<'_>, size: usize, scale: f64) -> Result<usize, Refusal> {
    let out = (size as f64 * scale).floor();
    if scale > 0.0 && (0.0..1e15).contains(&out) {
        return Ok(out as usize);
    }
    Err(args.fault(format!("expected a scale above 0, got {scale}")))
}

fn with_scales(args: &Args<'_>, scales: &[f64], settings: &Settings) -> Outcome {
    let x = args.input(0)?;
    if scales.len() != x.rank() {
        return Err(args.fault(format!(
            "expected {} scales, got {}",
            x.rank(),
            scales.len()
        )));
    }
    let axes = x.shape().iter().zip(scales).map(|(size, scale)| {
        Ok(Axis {
            size: *size,
            out: scaled(args, *size, *scale)?,
            scale: *scale,
            roi: (0.0, 1.0),
        })
    });
    interpolate(
        args,
        &axes.collect::<Result<Vec<Axis>, Refusal>>()?,
        settings,
    )
}

fn interpolate(args: &Args<'_>, axes: &[Axis], settings: &Settings) -> Outcome {
    let view = args.input(0)?;
    let extrapolated = args.float("extrapolation_value", 0.0)?;
    let mut x = Dense::of(view, args.control)?;
    if x.data.is_empty() || axes.iter().any(|axis| axis.out == 0) {
        let shape = axes.iter().map(|axis| axis.out).collect();
        return Ok(vec![
            Dense::filled(shape, 0.0, args.control)?.made(view.element_type(), args.control)?,
        ]);
    }
    let mut work = Work::new(args.control);
    for (axis_index, axis) in axes.iter().enumerate() {
        let crops = settings.coordinates == "tf_crop_and_resize";
        if axis.out == axis.size && axis.scale == 1.0 && !crops {
            continue;
        }
        let mut shape = x.shape.clone();
        shape[axis_index] = axis.out;
        let mut result = Dense::filled(shape, 0.0, args.control)?;
        let taps = (0..axis.out)
            .map(|place| taps(args, axis, settings, place as f64))
            .collect::<Result<Vec<Taps>, Refusal>>()?;
        let inner: usize = x.shape[axis_index + 1..].iter().product();
        let outer: usize = x.shape[..axis_index].iter().product();
        for number in 0..outer {
            for (place, taps) in taps.iter().enumerate() {
                let to = &mut result.data[(number * axis.out + place) * inner..][..inner];
                let Some(taps) = taps else {
                    to.fill(f64::NAN);
                    continue;
                };
                for (from, weight) in taps {
                    let from = &x.data[(number * axis.size + from) * inner..][..inner];
                    if *weight == 1.0 && taps.len() == 1 {
                        to.copy_from_slice(from);
                    } else {
                        to.iter_mut()
                            .zip(from)
                            .for_each(|(to, from)| *to += from * weight);
                    }
                }
                work.advance(inner * taps.len() + 1)?;
            }
        }
        // Later axes join NaN to NaN, so places outside stay marked until the end.
        x = result;
    }
    if settings.coordinates == "tf_crop_and_resize" {
        x.data
            .iter_mut()
            .filter(|value| value.is_nan())
            .for_each(|value| *value = extrapolated);
    }
    let tensor: OpResult = x.made(view.element_type(), args.control)?;
    Ok(vec![tensor])
}

/// The weighted elements for a position, after the standard's reference implementation.
fn taps(args: &Args<'_>, axis: &Axis, settings: &Settings, place: f64) -> Result<Taps, Refusal> {
    let (size, scale) = (axis.size as f64, axis.scale);
    let width = scale * size;
    let origin = match &*settings.coordinates {
        "align_corners" if width == 1.0 => 0.0,
        "align_corners" => place * (size - 1.0) / (width - 1.0),
        "asymmetric" => place / scale,
        "tf_crop_and_resize" => {
            let (start, end) = axis.roi;
            let inside = if width == 1.0 {
                (end - start) * (size - 1.0) / 2.0
            } else {
                place * (end - start) * (size - 1.0) / (width - 1.0)
            };
            let origin = inside + start * (size - 1.0);
            if origin < 0.0 || origin > size - 1.0 {
                return Ok(None);
            }
            origin
        }
        "pytorch_half_pixel" if width == 1.0 => -0.5,
        "half_pixel" | "pytorch_half_pixel" => (place + 0.5) / scale - 0.5,
        "half_pixel_symmetric" => {
            let adjustment = axis.out as f64 / width;
            size / 2.0 * (1.0 - adjustment) + (place + 0.5) / scale - 0.5
        }
        other => return Err(args.fault(format!("expected known coordinates, got '{other}'"))),
    };
    // The ratio lies above 0: a position on an element is at the end of the gap before it.
    let floor = origin.floor();
    let ratio = if origin == floor { 1.0 } else { origin - floor };
    let weights = weights(settings, ratio, scale);
    let first = origin.ceil() as i64 - weights.len() as i64 / 2;
    let last = axis.size as i64 - 1;
    let inside = |index: i64| (0..=last).contains(&index);
    let mut taps: Vec<(usize, f64)> = Vec::with_capacity(weights.len());
    let mut total = 0.0;
    for (index, weight) in (first..).zip(&weights) {
        if settings.exclude_outside && !inside(index) {
            continue;
        }
        if *weight != 0.0 {
            taps.push((index.clamp(0, last) as usize, *weight));
            total += weight;
        }
    }
    if settings.exclude_outside {
        taps.iter_mut().for_each(|(_, weight)| *weight /= total);
    }
    Ok(Some(taps))
}

fn weights(settings: &Settings, ratio: f64, scale: f64) -> Vec<f64> {
    let shrinks = settings.antialias && scale < 1.0;
    match settings.mode {
        Mode::Nearest(nearest) => {
            let upper = ratio == 1.0
                || match nearest {
                    Nearest::PreferFloor => ratio > 0.5,
                    Nearest::PreferCeil => ratio >= 0.5,
                    Nearest::Floor => false,
                    Nearest::Ceil => true,
                };
            if upper {
                vec![0.0, 1.0]
            } else {
                vec![1.0, 0.0]
            }
        }
        Mode::Linear if shrinks => {
            let start = (-1.0 / scale).floor() as i64 + 1;
            let terms = (start..2 - start)
                .map(|tap| (1.0 - ((tap as f64 - ratio) * scale).abs()).clamp(0.0, 1.0));
            normalized(terms.collect())
        }
        Mode::Linear => vec![1.0 - ratio, ratio],
        Mode::Cubic(a) if shrinks => {
            let start = (-2.0 / scale).floor() as i64 + 1;
            let terms = (start..2 - start).map(|tap| cubic(scale * (tap as f64 - ratio), a));
            normalized(terms.collect())
        }
        Mode::Cubic(a) => (-1..3)
            .map(|tap| cubic(f64::from(tap) - ratio, a))
            .collect(),
    }
}

fn normalized(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// Keys, "Cubic convolution interpolation for digital image processing", 1981.
pub(super) fn cubic(distance: f64, a: f64) -> f64 {
    let x = distance.abs();
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}
