//! Operators that make tensors from sizes and scalars.

use isoform::values::ValueRef;
use isoform_kernels::{ElementType, Tensor, create, from_f64s, math};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Constant" => constant,
        "ConstantOfShape" => constant_of_shape,
        "Range" => range,
        "EyeLike" => eye_like,
        "HannWindow" => |args| window(args, [0.5, 0.5, 0.0]),
        "HammingWindow" => {
            // The numerators and the denominator of the optimal coefficients.
            |args| window(args, [25.0 / 46.0, 1.0 - 25.0 / 46.0, 0.0])
        }
        "BlackmanWindow" => |args| window(args, [0.42, 0.5, 0.08]),
        "MelWeightMatrix" => mel_weight_matrix,
        _ => return None,
    })
}

/// A constant that is still a node, because its attribute came from a function.
fn constant(args: &Args<'_>) -> Outcome {
    let [(name, value)] = &args.call.attrs.iter().collect::<Vec<_>>()[..] else {
        return Err(args.fault("expected one attribute"));
    };
    let texts = |value: &isoform::Value| match value.view() {
        ValueRef::Str(text) => Some(text.as_bytes().to_vec()),
        ValueRef::Bytes(bytes) => Some(bytes.to_vec()),
        _ => None,
    };
    let result: OpResult = match name.as_str() {
        "value_int" => Tensor::scalar(args.int("value_int", 0)?).into(),
        "value_float" => Tensor::scalar(args.float("value_float", 0.0)? as f32).into(),
        "value_ints" => {
            let values = args.ints("value_ints")?.unwrap_or_default();
            Tensor::from_slice(&[values.len()], &values)?.into()
        }
        "value_floats" => {
            let values: Vec<f32> = args
                .call
                .floats("value_floats")?
                .unwrap_or_default()
                .iter()
                .map(|value| *value as f32)
                .collect();
            Tensor::from_slice(&[values.len()], &values)?.into()
        }
        "value_string" => {
            let text = texts(value).ok_or_else(|| args.fault("expected a string"))?;
            OpResult::Strings(Vec::new(), vec![text])
        }
        "value_strings" => match value.view() {
            ValueRef::Array(items) => {
                let texts: Option<Vec<Vec<u8>>> = items.values().iter().map(texts).collect();
                let texts = texts.ok_or_else(|| args.fault("expected strings"))?;
                OpResult::Strings(vec![texts.len()], texts)
            }
            _ => return Err(args.fault("expected strings")),
        },
        "value" => OpResult::Value((*value).clone()),
        other => return Err(args.fault(format!("attribute '{other}' is not supported"))),
    };
    Ok(vec![result])
}

fn constant_of_shape(args: &Args<'_>) -> Outcome {
    let shape = sizes(&args.input_ints(0)?)?;
    let zero = Tensor::scalar(0.0_f32);
    let Some(value) = args.call.attribute("value")? else {
        return one(create::full(&shape, zero.view(), args.control)?);
    };
    if let Some(tensor) = constants::dense(value) {
        let input = isoform_ir::kernels::Input::new(tensor, args.control)?;
        return one(create::full(&shape, input.view()?, args.control)?);
    }
    let strings = constants::strings(value).filter(|strings| strings.values.len() == 1);
    let text = strings
        .and_then(|strings| strings.values.get(0))
        .ok_or_else(|| args.fault("expected a tensor with one element"))?;
    // The size of the result is checked like the size of a tensor of handles.
    let count = create::full(&shape, Tensor::scalar(0_u64).view(), args.control)?
        .view()
        .len();
    Ok(vec![OpResult::Strings(shape, vec![text.to_vec(); count])])
}

fn range(args: &Args<'_>) -> Outcome {
    one(create::arange(
        args.input(0)?,
        args.input(1)?,
        args.input(2)?,
        args.control,
    )?)
}

fn eye_like(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let &[rows, columns] = x.shape() else {
        return Err(args.fault(format!("expected rank 2, got {:?}", x.shape())));
    };
    let ty = args.element("dtype")?.unwrap_or(x.element_type());
    let k = args.int("k", 0)?;
    let zero = from_f64s(&[0.0], ty, &[], args.control)?;
    let one_element = from_f64s(&[1.0], ty, &[], args.control)?;
    let (ty, shape, mut bytes) =
        create::full(&[rows, columns], zero.view(), args.control)?.into_parts();
    let size = ty.size();
    for row in 0..rows {
        let column = usize::try_from((row as i64).saturating_add(k));
        if let Ok(column) = column
            && column < columns
        {
            bytes[(row * columns + column) * size..][..size].copy_from_slice(one_element.bytes());
        }
    }
    one(Tensor::new(ty, shape, bytes)?)
}

/// A window made of cosines: `a - b cos(t) + c cos(2t)`.
fn window(args: &Args<'_>, [a, b, c]: [f64; 3]) -> Outcome {
    let size = args.optional_int_input(0)?.unwrap_or(-1);
    let size = usize::try_from(size).map_err(|_| args.fault("expected a size of 0 or more"))?;
    let ty = args
        .element("output_datatype")?
        .unwrap_or(ElementType::Float32);
    let periodic = args.flag("periodic", true)?;
    let period = if periodic {
        size as f64
    } else {
        size as f64 - 1.0
    };
    create::full(&[size], Tensor::scalar(0.0_f64).view(), args.control)?;
    let value = |at: usize| {
        let angle = 2.0 * std::f64::consts::PI * at as f64 / period;
        a - b * math::cos(angle) + c * math::cos(2.0 * angle)
    };
    let values: Vec<f64> = (0..size).map(value).collect();
    one(from_f64s(&values, ty, &[size], args.control)?)
}

fn scalar_of(args: &Args<'_>, position: usize) -> Result<f64, Refusal> {
    match args.input_floats(position)?[..] {
        [one] => Ok(one),
        _ => Err(args.fault(format!("expected one number in input {position}"))),
    }
}

fn mel_weight_matrix(args: &Args<'_>) -> Outcome {
    let bins = args.optional_int_input(0)?.unwrap_or(-1);
    let length = args.optional_int_input(1)?.unwrap_or(-1);
    let rate = scalar_of(args, 2)?;
    let (low, high) = (scalar_of(args, 3)?, scalar_of(args, 4)?);
    let ty = args
        .element("output_datatype")?
        .unwrap_or(ElementType::Float32);
    let size = |size: i64| usize::try_from(size).map_err(|_| args.fault("expected sizes"));
    let (bins, length) = (size(bins)?, size(length)?);
    let rows = length / 2 + 1;
    create::full(&[rows, bins], Tensor::scalar(0.0_f64).view(), args.control)?;
    create::full(
        &[bins.saturating_add(2)],
        Tensor::scalar(0.0_f64).view(),
        args.control,
    )?;
    let mel = |hertz: f64| 2595.0 * math::log10(1.0 + hertz / 700.0);
    let hertz = |mel: f64| 700.0 * (math::pow(10.0, mel / 2595.0) - 1.0);
    let (low, high) = (mel(low), mel(high));
    // The reference divides by the number of edges, not by the number of intervals.
    let step = (high - low) / (bins as f64 + 2.0);
    let edges: Vec<i64> = (0..bins + 2)
        .map(|edge| {
            let frequency = hertz(low + edge as f64 * step);
            ((length as f64 + 1.0) * frequency / rate).floor() as i64
        })
        .collect();
    let mut values = vec![0.0; rows * bins];
    for bin in 0..bins {
        let (left, center, right) = (edges[bin], edges[bin + 1], edges[bin + 2]);
        for row in 0..rows {
            let position = row as i64;
            let value = if center == left && position == center {
                1.0
            } else if left <= position && position <= center && center != left {
                (position - left) as f64 / (center - left) as f64
            } else if center <= position && position < right {
                (right - position) as f64 / (right - center) as f64
            } else {
                0.0
            };
            values[row * bins + bin] = value;
        }
    }
    one(from_f64s(&values, ty, &[rows, bins], args.control)?)
}
