//! Elementwise functions of neural networks, and transcendental functions.

use isoform_kernels::elementwise::{self, Binary, Comparison, Unary};
use isoform_kernels::{Tensor, View, from_f64s, math, normalize, shape};

use super::kernel::{Kernel, unary};
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    macro_rules! function {
        ($f:expr) => {
            |args| one(elementwise::apply(args.input(0)?, $f, args.control)?)
        };
    }
    Some(match name {
        "Exp" => unary!(Exp),
        "Log" => unary!(Log),
        "Sin" => unary!(Sin),
        "Cos" => unary!(Cos),
        "Tan" => unary!(Tan),
        "Asin" => unary!(Asin),
        "Acos" => unary!(Acos),
        "Atan" => unary!(Atan),
        "Sinh" => unary!(Sinh),
        "Cosh" => unary!(Cosh),
        "Tanh" => unary!(Tanh),
        "Asinh" => unary!(Asinh),
        "Acosh" => unary!(Acosh),
        "Atanh" => unary!(Atanh),
        "Erf" => unary!(Erf),
        "Sigmoid" => unary!(Sigmoid),
        "Softplus" => function!(softplus),
        "Softsign" => function!(|x: f64| x / (1.0 + x.abs())),
        "Mish" => function!(|x: f64| x * math::tanh(softplus(x))),
        "HardSwish" => function!(|x: f64| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        "LeakyRelu" => leaky_relu,
        "PRelu" => p_relu,
        "ThresholdedRelu" => thresholded_relu,
        "HardSigmoid" => hard_sigmoid,
        "Elu" => elu,
        "Selu" => selu,
        "Celu" => celu,
        "Gelu" => gelu,
        "Swish" => swish,
        "SwiGLU" => swiglu,
        "Shrink" => shrink,
        "Softmax" => |args| along(args, normalize::softmax),
        "LogSoftmax" => |args| along(args, normalize::log_softmax),
        "Hardmax" => hardmax,
        _ => return None,
    })
}

/// The logarithm of `1 + exp(x)`, without overflow.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + math::log1p(math::exp(-x.abs())) + if x.is_nan() { x } else { 0.0 }
}

fn apply(args: &Args<'_>, f: impl Fn(f64) -> f64) -> Outcome {
    one(elementwise::apply(args.input(0)?, f, args.control)?)
}

fn leaky_relu(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", f64::from(0.01_f32))?;
    one(elementwise::leaky_relu(
        args.input(0)?,
        alpha,
        args.control,
    )?)
}

fn p_relu(args: &Args<'_>) -> Outcome {
    let (x, slope) = (args.input(0)?, args.input(1)?);
    // Before version 7, a vector of slopes belongs to the channels.
    let mut channels = vec![1; x.rank().saturating_sub(1)];
    let slope = match slope.shape() {
        [count] if args.version() < 7 && x.rank() > 1 && *count != 1 => {
            channels[0] = *count;
            View::new(slope.element_type(), &channels, slope.bytes())?
        }
        _ => slope,
    };
    let product = elementwise::binary(Binary::Multiply, x, slope, args.control)?;
    if product.shape() != x.shape() {
        return Err(args.fault("expected slopes that broadcast to the input"));
    }
    let zero = from_f64s(&[0.0], x.element_type(), &[], args.control)?;
    let negative = elementwise::compare(Comparison::Less, x, zero.view(), args.control)?;
    one(elementwise::select(
        negative.view(),
        product.view(),
        x,
        args.control,
    )?)
}

fn thresholded_relu(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", 1.0)?;
    apply(args, |x| if x > alpha || x.is_nan() { x } else { 0.0 })
}

fn hard_sigmoid(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", f64::from(0.2_f32))?;
    let beta = args.float("beta", 0.5)?;
    apply(args, |x| (alpha * x + beta).clamp(0.0, 1.0))
}

fn elu(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", 1.0)?;
    apply(args, |x| if x < 0.0 { alpha * math::expm1(x) } else { x })
}

fn selu(args: &Args<'_>) -> Outcome {
    // The defaults of version 1 have fewer digits.
    let (alpha, gamma) = if args.version() < 6 {
        (f64::from(1.6732_f32), f64::from(1.0507_f32))
    } else {
        (f64::from(1.673_263_2_f32), f64::from(1.050_701_f32))
    };
    let (alpha, gamma) = (args.float("alpha", alpha)?, args.float("gamma", gamma)?);
    apply(args, |x| {
        gamma * if x > 0.0 { x } else { alpha * math::expm1(x) }
    })
}

fn celu(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", 1.0)?;
    apply(args, |x| {
        if x.is_nan() {
            x
        } else {
            x.max(0.0) + (alpha * math::expm1(x / alpha)).min(0.0)
        }
    })
}

fn gelu(args: &Args<'_>) -> Outcome {
    match &*args.text("approximate", "none")? {
        "none" => apply(args, |x| {
            0.5 * x * (1.0 + math::erf(x * std::f64::consts::FRAC_1_SQRT_2))
        }),
        "tanh" => apply(args, |x| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + math::tanh(inner))
        }),
        other => Err(args.fault(format!("expected none or tanh, got '{other}'"))),
    }
}

fn swish(args: &Args<'_>) -> Outcome {
    let alpha = args.float("alpha", 1.0)?;
    apply(args, |x| x * math::sigmoid(alpha * x))
}

/// A gate by the swish of another tensor.
fn swiglu(args: &Args<'_>) -> Outcome {
    let (a, b) = (args.input(0)?, args.input(1)?);
    if a.shape() != b.shape() || a.element_type() != b.element_type() {
        return Err(args.fault(format!(
            "expected two tensors of one shape and type, got {:?} of {} and {:?} of {}",
            a.shape(),
            a.element_type(),
            b.shape(),
            b.element_type()
        )));
    }
    let alpha = args.float("alpha", 1.0)?;
    let (left, right) = (args.input_floats(0)?, args.input_floats(1)?);
    let gated: Vec<f64> = left
        .iter()
        .zip(&right)
        .map(|(a, b)| a * math::sigmoid(alpha * a) * b)
        .collect();
    one(from_f64s(
        &gated,
        a.element_type(),
        a.shape(),
        args.control,
    )?)
}

fn shrink(args: &Args<'_>) -> Outcome {
    let (lambda, bias) = (args.float("lambd", 0.5)?, args.float("bias", 0.0)?);
    let shrunk = |x: f64| {
        if x < -lambda {
            x + bias
        } else if x > lambda {
            x - bias
        } else if x.is_nan() {
            x
        } else {
            0.0
        }
    };
    let x = args.input(0)?;
    if !x.element_type().is_integer() {
        return apply(args, shrunk);
    }
    let values: Vec<f64> = args.input_floats(0)?.into_iter().map(shrunk).collect();
    one(from_f64s(
        &values,
        x.element_type(),
        x.shape(),
        args.control,
    )?)
}

/// The axis that holds rows. Before version 13, all axes from `axis` on form one row.
fn row_axis<'a>(
    args: &Args<'_>,
    x: View<'a>,
    flat: &'a mut Vec<usize>,
) -> Result<(View<'a>, i64), Refusal> {
    if args.version() >= 13 {
        return Ok((x, args.int("axis", -1)?));
    }
    let axis = args.int("axis", 1)?;
    let at = if axis == x.rank() as i64 {
        x.rank()
    } else {
        shape::axis(axis, x.rank())?
    };
    let (rows, columns) = x.shape().split_at(at);
    *flat = vec![rows.iter().product(), columns.iter().product()];
    Ok((View::new(x.element_type(), flat, x.bytes())?, 1))
}

fn along(
    args: &Args<'_>,
    f: fn(
        View<'_>,
        i64,
        &isoform_kernels::Control<'_>,
    ) -> Result<Tensor, isoform_kernels::KernelError>,
) -> Outcome {
    let x = args.input(0)?;
    let mut flat = Vec::new();
    let (rows, axis) = row_axis(args, x, &mut flat)?;
    let (ty, _, bytes) = f(rows, axis, args.control)?.into_parts();
    one(Tensor::new(ty, x.shape().to_vec(), bytes)?)
}

fn hardmax(args: &Args<'_>) -> Outcome {
    use isoform_kernels::indexing::OneHot;
    use isoform_kernels::reduce::{Axes, Extreme};
    let x = args.input(0)?;
    let mut flat = Vec::new();
    let (rows, axis) = row_axis(args, x, &mut flat)?;
    let extreme = Extreme {
        largest: true,
        last: false,
        index_type: isoform_kernels::ElementType::Int64,
    };
    let axes = Axes {
        axes: Some(&[axis]),
        ..Axes::default()
    };
    let positions = axes.position(extreme, rows, args.control)?;
    let ty = x.element_type();
    let (on, off) = (
        from_f64s(&[1.0], ty, &[], args.control)?,
        from_f64s(&[0.0], ty, &[], args.control)?,
    );
    let place = shape::axis(axis, rows.rank())?;
    let one_hot = OneHot {
        on: on.view(),
        off: off.view(),
        depth: rows.shape()[place],
        axis: place as i64,
        from_end: false,
    };
    let (ty, _, bytes) = one_hot.apply(positions.view(), args.control)?.into_parts();
    one(Tensor::new(ty, x.shape().to_vec(), bytes)?)
}
