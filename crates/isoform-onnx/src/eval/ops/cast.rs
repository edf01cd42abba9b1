//! Conversions between element types, also from and to strings.

use isoform::values::Bytes;
use isoform_kernels::elementwise::{CastOptions, OutOfRange};
use isoform_kernels::{
    ElementType, ScaleRounding, Tensor, View, from_f64s, from_i64s, to_f64s, to_i64s,
};

use super::kernel::Kernel;
use crate::elem_type::ElemType;
use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Cast" => cast,
        "CastLike" => cast_like,
        "BitCast" => bit_cast,
        "StringConcat" => string_concat,
        _ => return None,
    })
}

fn cast(args: &Args<'_>) -> Outcome {
    // Before version 6, the type is given by name.
    let to = if args.version() < 6 {
        let name = args.text("to", "")?;
        ElemType::from_name(&name.to_ascii_lowercase())
    } else {
        args.call.elem("to")?
    };
    convert(args, to.ok_or_else(|| args.fault("expected a type"))?)
}

fn cast_like(args: &Args<'_>) -> Outcome {
    let elems = args.elems();
    let to = elems.get(1).copied().flatten();
    convert(
        args,
        to.ok_or_else(|| args.fault("expected a second input"))?,
    )
}

fn convert(args: &Args<'_>, to: ElemType) -> Outcome {
    let x = args.input(0)?;
    if args.is_string(0) {
        if to == ElemType::String {
            return Ok(vec![OpResult::Shaped(0, x.shape().to_vec())]);
        }
        return one(parsed(args, args.element_type(to)?)?);
    }
    if to == ElemType::String {
        return Ok(vec![OpResult::Strings(
            x.shape().to_vec(),
            printed(args, x)?,
        )]);
    }
    let to = args.element_type(to)?;
    if to == x.element_type() {
        return Ok(vec![OpResult::Shaped(0, x.shape().to_vec())]);
    }
    let scale_rounding = match &*args.text("round_mode", "up")? {
        "up" => ScaleRounding::Up,
        "down" => ScaleRounding::Down,
        "nearest" => ScaleRounding::Nearest,
        other => return Err(args.fault(format!("expected a known rounding, got '{other}'"))),
    };
    let options = CastOptions {
        out_of_range: OutOfRange::Undefined,
        saturate_float8: args.flag("saturate", true)?,
        scale_rounding,
    };
    let is_whole = !to.is_float() && (to.is_integer() || range_is_small(to));
    if args.strict || !is_whole || x.element_type().is_integer() {
        return one(options.cast(x, to, args.control)?);
    }
    // The standard does not define the result for a float outside of the range; most
    // runtimes keep the low bits of a wider integer.
    let wide = if to == ElementType::UInt64 {
        to
    } else {
        ElementType::Int64
    };
    let limits = CastOptions {
        out_of_range: OutOfRange::Saturate,
        ..options
    };
    let whole = limits.cast(x, wide, args.control)?;
    one(options.cast(whole.view(), to, args.control)?)
}

/// True for integers of fewer bits than a byte.
fn range_is_small(ty: ElementType) -> bool {
    matches!(
        ty,
        ElementType::Int2 | ElementType::UInt2 | ElementType::Int4 | ElementType::UInt4
    )
}

/// The numbers that strings spell.
fn parsed(args: &Args<'_>, to: ElementType) -> Result<Tensor, Refusal> {
    let strings = args.values[0].as_ref().and_then(constants::strings);
    let strings = strings.ok_or_else(|| args.fault("expected strings"))?;
    let shape = args.input(0)?.shape().to_vec();
    let texts = strings
        .values
        .iter()
        .map(|text: &Bytes| {
            let text = std::str::from_utf8(text).map(str::trim);
            text.map_err(|_| args.fault("expected text in UTF-8"))
        })
        .collect::<Result<Vec<&str>, Refusal>>()?;
    let fault = |text: &str| args.fault(format!("expected the text of a {to}, got '{text}'"));
    match to {
        ElementType::Float32 => {
            let values = texts
                .iter()
                .map(|text| text.parse::<f32>().map_err(|_| fault(text)));
            Ok(Tensor::from_slice(
                &shape,
                &values.collect::<Result<Vec<f32>, _>>()?,
            )?)
        }
        ElementType::UInt64 => {
            let values = texts
                .iter()
                .map(|text| text.parse::<u64>().map_err(|_| fault(text)));
            Ok(Tensor::from_slice(
                &shape,
                &values.collect::<Result<Vec<u64>, _>>()?,
            )?)
        }
        _ if to.is_integer() => {
            let values = texts
                .iter()
                .map(|text| text.parse::<i64>().map_err(|_| fault(text)))
                .collect::<Result<Vec<i64>, _>>()?;
            let tensor = from_i64s(&values, to, &shape, args.control)?;
            if to_i64s(tensor.view(), args.control)? != values {
                return Err(args.fault(format!("expected numbers in the range of {to}")));
            }
            Ok(tensor)
        }
        _ if to.is_float() || to.is_storage_only() => {
            let values = texts
                .iter()
                .map(|text| text.parse::<f64>().map_err(|_| fault(text)))
                .collect::<Result<Vec<f64>, _>>()?;
            Ok(from_f64s(&values, to, &shape, args.control)?)
        }
        _ => Err(args.fault(format!("strings do not spell elements of type {to}"))),
    }
}

/// Numbers as text: the shortest text that reads back as the same number.
fn printed(args: &Args<'_>, x: View<'_>) -> Result<Vec<Vec<u8>>, Refusal> {
    let ty = x.element_type();
    if ty == ElementType::Bool {
        let text = |byte: &u8| {
            if *byte == 0 {
                b"False".to_vec()
            } else {
                b"True".to_vec()
            }
        };
        return Ok(x.bytes().iter().map(text).collect());
    }
    if ty == ElementType::UInt64 {
        let words = x.bytes().as_chunks::<8>().0.iter();
        return Ok(words
            .map(|word| u64::from_le_bytes(*word).to_string().into())
            .collect());
    }
    if ty.is_integer() {
        let values = to_i64s(x, args.control)?;
        return Ok(values
            .iter()
            .map(|value| value.to_string().into())
            .collect());
    }
    let values = to_f64s(x, args.control)?;
    let digits = |value: f64| match ty {
        ElementType::Float64 => format!("{value:e}"),
        // The shortest text for the type itself.
        ElementType::Float32 => format!("{:e}", value as f32),
        _ => shortest(value, ty),
    };
    Ok(values
        .iter()
        .map(|value| float_text(*value, &digits(*value)).into())
        .collect())
}

/// The fewest digits that make a 16-bit or smaller float.
fn shortest(value: f64, ty: ElementType) -> String {
    let same = |text: &str| {
        let back = text.parse::<f64>().unwrap_or(f64::NAN);
        let control = isoform_kernels::Control::default();
        from_f64s(&[back], ty, &[], &control)
            .and_then(|tensor| to_f64s(tensor.view(), &control))
            .is_ok_and(|back| back == [value])
    };
    let texts = (0..9).map(|digits| format!("{value:.digits$e}"));
    texts
        .into_iter()
        .find(|text| same(text))
        .unwrap_or_else(|| format!("{value:e}"))
}

/// A float in Python's notation: plain between 1e-4 and 1e16, and otherwise with an
/// exponent.
fn float_text(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if !(-4..16).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{mark}{:02}", exponent.abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        let zeros = "0".repeat(whole - digits.len());
        return format!("{sign}{digits}{zeros}.0");
    }
    let (whole, rest) = digits.split_at(whole);
    format!("{sign}{whole}.{rest}")
}

/// The same bytes with elements of another type of the same size.
fn bit_cast(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let to = args
        .element("to")?
        .ok_or_else(|| args.fault("expected a type"))?;
    if to.packed_bits() != x.element_type().packed_bits() {
        return Err(args.fault(format!(
            "expected a type of {} bits, got {to}",
            x.element_type().packed_bits()
        )));
    }
    one(Tensor::new(
        to,
        x.shape().to_vec(),
        x.to_tensor(args.control)?.into_parts().2,
    )?)
}

fn string_concat(args: &Args<'_>) -> Outcome {
    use isoform_kernels::{movement, shape};
    let (a, b) = (args.input(0)?, args.input(1)?);
    let shape = shape::broadcast(&[a.shape(), b.shape()])?;
    let texts = |position: usize, x: View<'_>| -> Result<Vec<Bytes>, Refusal> {
        let strings = args.values[position].as_ref().and_then(constants::strings);
        let strings = strings.ok_or_else(|| args.fault("expected strings"))?;
        let places: Vec<i64> = (0..x.len() as i64).collect();
        let places = Tensor::from_slice(x.shape(), &places)?;
        let places = movement::broadcast_to(places.view(), &shape, args.control)?;
        let places = to_i64s(places.view(), args.control)?;
        let text = |place: &i64| strings.values.get(*place as usize).cloned();
        let texts: Option<Vec<Bytes>> = places.iter().map(text).collect();
        texts.ok_or_else(|| args.fault("expected a string for each element"))
    };
    let (left, right) = (texts(0, a)?, texts(1, b)?);
    let joined = left
        .iter()
        .zip(&right)
        .map(|(left, right)| [&left[..], &right[..]].concat())
        .collect();
    Ok(vec![OpResult::Strings(shape, joined)])
}
