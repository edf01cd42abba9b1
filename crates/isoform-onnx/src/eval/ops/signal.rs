//! Discrete Fourier transforms.

use isoform_kernels::{math, shape};

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "DFT" => dft,
        "STFT" => stft,
        _ => return None,
    })
}

/// The transform of one signal, by the definition: O(n²) for a length with large prime
/// factors, and by halves (Cooley and Tukey, 1965) as far as the length is even.
fn transform(
    signal: &[(f64, f64)],
    inverse: bool,
    work: &mut Work<'_>,
) -> Result<Vec<(f64, f64)>, Refusal> {
    let length = signal.len();
    let odd = length >> length.trailing_zeros().min(usize::BITS - 1);
    let turn = if inverse { 2.0 } else { -2.0 } * std::f64::consts::PI;
    let root = |number: usize, of: usize| {
        let angle = turn * (number % of) as f64 / of as f64;
        (math::cos(angle), math::sin(angle))
    };
    if length == 0 {
        return Ok(Vec::new());
    }
    // Every `count`-th element forms a part of odd length; each doubling joins two.
    let mut count = length / odd;
    let mut parts = vec![(0.0, 0.0); length];
    for part in 0..count {
        for frequency in 0..odd {
            let mut sum = (0.0, 0.0);
            for place in 0..odd {
                let (re, im) = signal[part + place * count];
                let (c, s) = root(frequency * place % odd, odd);
                sum = (sum.0 + re * c - im * s, sum.1 + re * s + im * c);
            }
            work.advance(odd)?;
            parts[part * odd + frequency] = sum;
        }
    }
    let mut size = odd;
    while count > 1 {
        count /= 2;
        let mut joined = vec![(0.0, 0.0); length];
        for part in 0..count {
            for frequency in 0..size {
                let (c, s) = root(frequency, 2 * size);
                let even = parts[part * size + frequency];
                let (re, im) = parts[(part + count) * size + frequency];
                let turned = (re * c - im * s, re * s + im * c);
                joined[part * 2 * size + frequency] = (even.0 + turned.0, even.1 + turned.1);
                joined[part * 2 * size + size + frequency] = (even.0 - turned.0, even.1 - turned.1);
            }
        }
        work.advance(length)?;
        parts = joined;
        size *= 2;
    }
    if inverse {
        let length = length as f64;
        parts
            .iter_mut()
            .for_each(|(re, im)| (*re, *im) = (*re / length, *im / length));
    }
    Ok(parts)
}

fn dft(args: &Args<'_>) -> Outcome {
    let x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let axis = if args.version() >= 20 {
        args.optional_int_input(2)?.unwrap_or(-2)
    } else {
        args.int("axis", 1)?
    };
    let (inverse, onesided) = (args.flag("inverse", false)?, args.flag("onesided", false)?);
    let rank = x.shape.len();
    let signal_axis = shape::axis(axis, rank)?;
    let parts = x.shape.last().copied().unwrap_or(0);
    if signal_axis + 1 == rank || !(1..=2).contains(&parts) {
        return Err(args.fault("expected an axis before the last one, which has 1 or 2 elements"));
    }
    let input_length = x.shape[signal_axis];
    // One side of the spectrum of a real signal: half of the length, plus one.
    let from_half = inverse && onesided;
    let natural = if from_half {
        input_length.saturating_sub(1) * 2
    } else {
        input_length
    };
    let length = match args.optional_int_input(1)? {
        Some(length) => usize::try_from(length).map_err(|_| args.fault("expected a length"))?,
        None => natural,
    };
    if length == 0 {
        return Err(args.fault("expected a length of 1 or more"));
    }
    let kept = if onesided && !inverse {
        length / 2 + 1
    } else {
        length
    };
    let components = if from_half { 1 } else { 2 };
    let mut out = x.shape.clone();
    out[signal_axis] = kept;
    out[rank - 1] = components;
    let mut result = Dense::filled(out, 0.0, args.control)?;
    Dense::filled(vec![length, 2], 0.0, args.control)?;
    let inner: usize = x.shape[signal_axis + 1..rank - 1].iter().product();
    let outer: usize = x.shape[..signal_axis].iter().product();
    let mut work = Work::new(args.control);
    for row in 0..outer * inner {
        let (before, after) = (row / inner, row % inner);
        let element = |place: usize| {
            let from = ((before * input_length + place) * inner + after) * parts;
            (
                x.data[from],
                if parts == 2 { x.data[from + 1] } else { 0.0 },
            )
        };
        let mut signal = vec![(0.0, 0.0); length];
        for (place, to) in signal.iter_mut().enumerate() {
            if place < input_length {
                *to = element(place);
            } else if from_half && length - place < input_length {
                // The other side is the conjugate.
                let (re, im) = element(length - place);
                *to = (re, -im);
            }
        }
        let spectrum = transform(&signal, inverse, &mut work)?;
        for (place, (re, im)) in spectrum.into_iter().take(kept).enumerate() {
            let to = ((before * kept + place) * inner + after) * components;
            result.data[to] = re;
            if components == 2 {
                result.data[to + 1] = im;
            }
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}

fn stft(args: &Args<'_>) -> Outcome {
    let x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let step = args.optional_int_input(1)?.unwrap_or(0);
    let window = Dense::optional(args, 2)?.map(|window| window.data);
    let length = args
        .optional_int_input(3)?
        .or(window.as_ref().map(|window| window.len() as i64))
        .unwrap_or(0);
    let size = |size: i64| {
        let size = usize::try_from(size).ok().filter(|size| *size > 0);
        size.ok_or_else(|| args.fault("expected a step and a length of 1 or more"))
    };
    let (step, length) = (size(step)?, size(length)?);
    let (batch, total, parts) = match x.shape[..] {
        [batch, total] => (batch, total, 1),
        [batch, total, parts @ 1..=2] => (batch, total, parts),
        _ => return Err(args.fault("expected signals with one or two components")),
    };
    let onesided = args.flag("onesided", true)? && parts == 1;
    let window = window.unwrap_or_else(|| vec![1.0; length.min(total)]);
    if window.len() != length || total < length {
        return Err(args.fault(format!(
            "expected a window of {length} in a signal of {total}"
        )));
    }
    let frames = (total - length) / step + 1;
    let kept = if onesided { length / 2 + 1 } else { length };
    let mut result = Dense::filled(vec![batch, frames, kept, 2], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (number, to) in result.data.chunks_exact_mut(kept * 2).enumerate() {
        let start = number / frames * total + number % frames * step;
        let signal: Vec<(f64, f64)> = (0..length)
            .map(|sample| {
                let from = (start + sample) * parts;
                let im = if parts == 2 { x.data[from + 1] } else { 0.0 };
                (x.data[from] * window[sample], im * window[sample])
            })
            .collect();
        let spectrum = transform(&signal, false, &mut work)?;
        for (to, (re, im)) in to.chunks_exact_mut(2).zip(spectrum) {
            to.copy_from_slice(&[re, im]);
        }
    }
    Ok(vec![result.made(ty, args.control)?])
}
