//! Conversions to and from quantized numbers.

use isoform_kernels::elementwise::{CastOptions, OutOfRange, bias_add, cast};
use isoform_kernels::windows::Convolution;
use isoform_kernels::{ElementType, ScaleRounding, View, from_f64s, to_f64s, to_i64s};

use super::conv::convolution_windows;
use super::dense::{Dense, Work};
use super::kernel::Kernel;
use super::products::centered;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "QuantizeLinear" => quantize,
        "DequantizeLinear" => dequantize,
        "DynamicQuantizeLinear" => dynamic,
        "QLinearMatMul" => matmul,
        "QLinearConv" => conv,
        _ => return None,
    })
}

/// Expands a parameter to one value per element of the input. The parameter has a single
/// value, a value per index of `axis`, or a value per block along `axis`.
fn spread(args: &Args<'_>, x: &[usize], parameter: &Dense) -> Result<Vec<f64>, Refusal> {
    let all = Dense::filled(x.to_vec(), 0.0, args.control)?.data.len();
    if let [value] = parameter.data[..]
        && parameter.shape.len() < 2
    {
        return Ok(vec![value; all]);
    }
    let channel_axis = isoform_kernels::shape::axis(args.int("axis", 1)?, x.len())?;
    let block = args.size("block_size", 0)?;
    if block == 0 {
        if parameter.shape != [x[channel_axis]] {
            return Err(args.fault(format!(
                "expected {} scales, got {:?}",
                x[channel_axis], parameter.shape
            )));
        }
        let mut shape = vec![1; x.len()];
        shape[channel_axis] = x[channel_axis];
        return Dense {
            shape,
            data: parameter.data.clone(),
        }
        .broadcast(x, args.control);
    }
    let mut expected = x.to_vec();
    expected[channel_axis] = x[channel_axis].div_ceil(block);
    if parameter.shape != expected {
        return Err(args.fault(format!(
            "expected scales of {expected:?}, got {:?}",
            parameter.shape
        )));
    }
    let inner: usize = x[channel_axis + 1..].iter().product();
    let value = |number: usize| {
        let (outer, rest) = (
            number / (inner * x[channel_axis]),
            number % (inner * x[channel_axis]),
        );
        let (place, inside) = (rest / inner, rest % inner);
        parameter.data[(outer * expected[channel_axis] + place / block) * inner + inside]
    };
    Ok((0..all).map(value).collect())
}

/// The range of an integer type.
fn range(ty: ElementType) -> Option<(f64, f64)> {
    Some(match ty {
        ElementType::Int2 => (-2.0, 1.0),
        ElementType::UInt2 => (0.0, 3.0),
        ElementType::Int4 => (-8.0, 7.0),
        ElementType::UInt4 => (0.0, 15.0),
        ElementType::Int8 => (-128.0, 127.0),
        ElementType::UInt8 => (0.0, 255.0),
        ElementType::Int16 => (-32768.0, 32767.0),
        ElementType::UInt16 => (0.0, 65535.0),
        _ => return None,
    })
}

/// Quotients as elements of a quantized type: rounded and limited for integers.
fn quantized(
    args: &Args<'_>,
    values: &[f64],
    zeros: Option<&[f64]>,
    ty: ElementType,
    shape: &[usize],
) -> Outcome {
    let zero = |index: usize| zeros.map_or(0.0, |zeros| zeros[index]);
    if let Some((low, high)) = range(ty) {
        let limited: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(index, value)| (value.round_ties_even() + zero(index)).clamp(low, high))
            .collect();
        return one(from_f64s(&limited, ty, shape, args.control)?);
    }
    let values: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(index, value)| value + zero(index))
        .collect();
    let wide = from_f64s(&values, ElementType::Float64, shape, args.control)?;
    let options = CastOptions {
        out_of_range: OutOfRange::Saturate,
        saturate_float8: args.flag("saturate", true)?,
        scale_rounding: ScaleRounding::Up,
    };
    one(options.cast(wide.view(), ty, args.control)?)
}

/// A quotient in the precision of the operands.
fn divided(
    args: &Args<'_>,
    x: &[f64],
    scales: &[f64],
    ty: ElementType,
) -> Result<Vec<f64>, Refusal> {
    let quotients: Vec<f64> = x.iter().zip(scales).map(|(x, scale)| x / scale).collect();
    let narrow = from_f64s(&quotients, ty, &[quotients.len()], args.control)?;
    Ok(to_f64s(narrow.view(), args.control)?)
}

fn quantize(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let zero = args.optional(2)?;
    let ty = match (args.int("output_dtype", 0)?, zero) {
        (0, Some(zero)) => zero.element_type(),
        (0, None) => ElementType::UInt8,
        _ => args.element("output_dtype")?.unwrap_or(ElementType::UInt8),
    };
    let scale = args.input(1)?;
    let scales = spread(args, x.shape(), &Dense::of(scale, args.control)?)?;
    let zeros = match zero {
        Some(zero) => Some(spread(args, x.shape(), &Dense::of(zero, args.control)?)?),
        None => None,
    };
    let precision = match args.int("precision", 0)? {
        0 if scale.element_type().is_float() => scale.element_type(),
        0 => ElementType::Float32,
        _ => args.element("precision")?.unwrap_or(ElementType::Float32),
    };
    let values = to_f64s(x, args.control)?;
    let quotients = divided(args, &values, &scales, precision)?;
    quantized(args, &quotients, zeros.as_deref(), ty, x.shape())
}

fn dequantize(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let scale = args.input(1)?;
    let ty = match args.int("output_dtype", 0)? {
        0 => scale.element_type(),
        _ => args
            .element("output_dtype")?
            .unwrap_or(scale.element_type()),
    };
    let scales = spread(args, x.shape(), &Dense::of(scale, args.control)?)?;
    let zeros = match args.optional(2)? {
        Some(zero) => Some(spread(args, x.shape(), &Dense::of(zero, args.control)?)?),
        None => None,
    };
    let values: Vec<f64> = to_f64s(x, args.control)?
        .iter()
        .zip(&scales)
        .enumerate()
        .map(|(index, (value, scale))| {
            (value - zeros.as_ref().map_or(0.0, |zeros| zeros[index])) * scale
        })
        .collect();
    one(from_f64s(&values, ty, x.shape(), args.control)?)
}

fn dynamic(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let values = to_f64s(x, args.control)?;
    let low = values.iter().copied().fold(0.0, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    // Each step rounds to `float32`, like the function that defines the operator.
    let scale = f64::from(((high as f32) - (low as f32)) / 255.0);
    let scale = if scale == 0.0 { 1.0 } else { scale };
    let zero = f64::from(-(low as f32) / scale as f32)
        .round_ties_even()
        .clamp(0.0, 255.0);
    let quotients = divided(
        args,
        &values,
        &vec![scale; values.len()],
        ElementType::Float32,
    )?;
    let zeros = vec![zero; values.len()];
    let mut results = quantized(
        args,
        &quotients,
        Some(&zeros),
        ElementType::UInt8,
        x.shape(),
    )?;
    results.push(from_f64s(&[scale], ElementType::Float32, &[], args.control)?.into());
    results.push(from_f64s(&[zero], ElementType::UInt8, &[], args.control)?.into());
    Ok(results)
}

/// Numbers less their zero points, times their scales. Parameters of a matrix belong to
/// the rows of a left operand and to the columns of a right operand.
fn scaled(args: &Args<'_>, first: usize, is_left: bool) -> Result<Dense, Refusal> {
    let mut x = Dense::input(args, first)?;
    let column = |view: View<'_>| -> Result<Vec<f64>, Refusal> {
        let mut parameter = Dense::of(view, args.control)?;
        if is_left && parameter.shape.len() == 1 && parameter.data.len() > 1 {
            parameter.shape.push(1);
        }
        parameter.broadcast(&x.shape, args.control)
    };
    let scales = column(args.input(first + 1)?)?;
    let zeros = column(args.input(first + 2)?)?;
    for ((value, scale), zero) in x.data.iter_mut().zip(&scales).zip(&zeros) {
        *value = (*value - zero) * scale;
    }
    Ok(x)
}

fn matmul(args: &Args<'_>) -> Outcome {
    let (a, b) = (scaled(args, 0, true)?, scaled(args, 3, false)?);
    let wide = ElementType::Float64;
    let a = from_f64s(&a.data, wide, &a.shape, args.control)?;
    let b = from_f64s(&b.data, wide, &b.shape, args.control)?;
    let product =
        isoform_kernels::products::MatMul::default().apply(a.view(), b.view(), args.control)?;
    let scale = Dense::input(args, 6)?.broadcast(product.shape(), args.control)?;
    let zero = args.input(7)?;
    let zeros = cast(zero, wide, args.control)?;
    let zeros = Dense::of(zeros.view(), args.control)?.broadcast(product.shape(), args.control)?;
    let values = to_f64s(product.view(), args.control)?;
    let mut work = Work::new(args.control);
    work.advance(values.len())?;
    let values: Vec<f64> = values
        .iter()
        .zip(&scale)
        .map(|(value, scale)| value / scale)
        .collect();
    quantized(
        args,
        &values,
        Some(&zeros),
        zero.element_type(),
        product.shape(),
    )
}

/// Sums are exact integers. As in runtimes, every channel has a scale of one `float32`
/// number: results then agree with runtimes even if a quotient is near a half.
fn conv(args: &Args<'_>) -> Outcome {
    let (x, w) = (args.input(0)?, args.input(3)?);
    let windows = convolution_windows(args, x.shape(), w.shape())?;
    let x = centered(args, x, args.optional(2)?, 1)?;
    let w = centered(args, w, args.optional(5)?, 0)?;
    let convolution = Convolution {
        windows: &windows,
        groups: args.size("group", 1)?,
        result_type: None,
    };
    let mut sums = convolution.apply(x.view(), w.view(), args.control)?;
    if let Some(bias) = args.optional(8)? {
        sums = bias_add(sums.view(), bias, 1, args.control)?;
    }
    let single = |position: usize| -> Result<f32, Refusal> {
        match args.input_floats(position)?[..] {
            [value] => Ok(value as f32),
            ref many => Err(args.fault(format!(
                "expected one number in input {position}, got {}",
                many.len()
            ))),
        }
    };
    let (from, to, zero) = (single(1)?, single(6)?, single(7)?);
    let scales = args.input_floats(4)?;
    let outputs = sums.shape()[1];
    if scales.len() != 1 && scales.len() != outputs {
        return Err(args.fault(format!(
            "expected 1 or {outputs} scales of weights, got {}",
            scales.len()
        )));
    }
    let plane: usize = sums.shape()[2..].iter().product();
    let values = to_i64s(sums.view(), args.control)?;
    let mut work = Work::new(args.control);
    work.advance(values.len())?;
    let values: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let scale = match scales[..] {
                [scale] => scale,
                _ => scales[index / plane % outputs],
            };
            f64::from(*value as f32 * (from * scale as f32 / to))
        })
        .collect();
    let zeros = vec![f64::from(zero); values.len()];
    let ty = args.input(7)?.element_type();
    quantized(args, &values, Some(&zeros), ty, sums.shape())
}
