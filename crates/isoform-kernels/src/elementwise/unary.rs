//! Functions of one operand.

use super::loops::map;
use crate::control::Control;
use crate::element::dispatch;
use crate::element_type::{ElementType, not_defined};
use crate::error::Result;
use crate::math;
use crate::number::{Float, Integer, Number};
use crate::tensor::{Tensor, View};

macro_rules! unary_operators {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// An operator with one operand.
        ///
        /// Functions of floats without exact results are within 2 units in the last
        /// place for `float64`, and within 1 for the other types.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Unary {
            $(#[doc = $doc] $variant,)*
        }

        impl Unary {
            /// Every operator.
            pub const ALL: &'static [Unary] = &[$(Unary::$variant),*];

            /// The name in Relay's spelling: `"logical_not"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Unary::$variant => $name,)* }
            }
        }
    };
}

unary_operators! {
    Log "log" "The natural logarithm; of floats.",
    Log2 "log2" "The logarithm to base 2; of floats.",
    Log10 "log10" "The logarithm to base 10; of floats.",
    Exp "exp" "The exponential function; of floats.",
    Sqrt "sqrt" "The square root, correctly rounded; of floats.",
    Rsqrt "rsqrt" "One divided by the square root; of floats.",
    Reciprocal "reciprocal" "One divided by the number, correctly rounded; of floats.",
    Sigmoid "sigmoid" "`1 / (1 + exp(-x))`; of floats.",
    Erf "erf" "The error function; of floats.",
    Sin "sin" "The sine of an angle in radians; of floats.",
    Cos "cos" "The cosine of an angle in radians; of floats.",
    Tan "tan" "The tangent of an angle in radians; of floats.",
    Asin "asin" "The angle in radians with this sine; of floats.",
    Acos "acos" "The angle in radians with this cosine; of floats.",
    Atan "atan" "The angle in radians with this tangent; of floats.",
    Sinh "sinh" "The hyperbolic sine; of floats.",
    Cosh "cosh" "The hyperbolic cosine; of floats.",
    Tanh "tanh" "The hyperbolic tangent; of floats.",
    Asinh "asinh" "The inverse of `sinh`; of floats.",
    Acosh "acosh" "The inverse of `cosh`; of floats.",
    Atanh "atanh" "The inverse of `tanh`; of floats.",
    Floor "floor" "Rounded down; integers stay.",
    Ceil "ceil" "Rounded up; integers stay.",
    Trunc "trunc" "Rounded towards zero; integers stay.",
    Round "round" "Rounded to the nearest integer, halves to the even one, as in ONNX and NumPy; integers stay.",
    RoundAway "round_away" "Rounded to the nearest integer, halves away from zero, as `round` of C; integers stay.",
    Absolute "abs" "Without the sign; the smallest signed integer stays.",
    Negative "negative" "With the other sign; integers wrap around.",
    Sign "sign" "-1, 0 or 1; 0 for -0, and NaN for NaN.",
    Relu "relu" "The number, or 0 if it is negative; 0 for -0, and NaN for NaN.",
    Copy "copy" "The same bytes; of any type.",
    ZerosLike "zeros_like" "Zeros; of any type.",
    OnesLike "ones_like" "Ones; of any type.",
    LogicalNot "logical_not" "True for false; of truth values.",
    BitwiseNot "bitwise_not" "With every bit inverted; of integers and truth values.",
    IsNan "isnan" "True for NaN, never for integers; the result is bool.",
    IsFinite "isfinite" "True except for NaN and infinities, always for integers; the result is bool.",
    IsInf "isinf" "True for infinities, never for integers; the result is bool.",
}

/// The result of an operator on each element.
///
/// ```
/// use isoform_kernels::elementwise::{Unary, unary};
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[3], &[-1.5_f32, 0.5, 2.5])?;
/// let rounded = unary(Unary::Round, x.view(), &Control::default())?;
/// assert_eq!(rounded.view().to_vec::<f32>()?, [-2.0, 0.0, 2.0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error if the type has no such operator.
pub fn unary(op: Unary, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    use Unary as U;
    let ty = x.element_type();
    match op {
        U::Copy => x.to_tensor(control),
        U::ZerosLike => constant(0, x, control),
        U::OnesLike => constant(1, x, control),
        U::LogicalNot | U::BitwiseNot if ty == ElementType::Bool => map(x, control, |x: bool| !x),
        U::LogicalNot => Err(not_defined(op.name(), "bool", ty)),
        U::BitwiseNot => dispatch!(integer ty, T => map(x, control, <T as Integer>::not),
            else Err(not_defined(op.name(), "an integer type or bool", ty))),
        U::Absolute | U::Negative | U::Sign | U::Relu | U::IsNan | U::IsFinite | U::IsInf => {
            dispatch!(number ty, T => of_numbers::<T>(op, x, control),
                else Err(not_defined(op.name(), "an integer or float type", ty)))
        }
        U::Floor | U::Ceil | U::Trunc | U::Round | U::RoundAway if ty.is_integer() => {
            x.to_tensor(control)
        }
        _ => dispatch!(float ty, T => of_floats::<T>(op, x, control),
            else Err(not_defined(op.name(), "a float type", ty))),
    }
}

fn constant(value: i64, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    use crate::element::Element;
    let ty = x.element_type();
    dispatch!(any ty, T => {
        let value = T::from_i64(value);
        map(x, control, |_: T| value)
    }, else Err(not_defined("constant", "a real type", ty)))
}

fn of_numbers<T: Number>(op: Unary, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    use Unary as U;
    // An infinity is the only number that the difference with itself is not 0 for.
    let is_infinite = |x: T| T::IS_FLOAT && !x.is_nan() && x.subtract(x) != T::ZERO;
    match op {
        U::Absolute => map(x, control, T::absolute),
        U::Negative => map(x, control, T::negate),
        U::Sign => map(x, control, T::sign),
        U::Relu => map(x, control, |x: T| x.maximum(T::ZERO)),
        U::IsNan => map(x, control, T::is_nan),
        U::IsInf => map(x, control, is_infinite),
        _ => map(x, control, |x: T| !x.is_nan() && !is_infinite(x)),
    }
}

fn of_floats<T: Float>(op: Unary, x: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    use Unary as U;
    let function = match op {
        U::Floor => return map(x, control, T::floor),
        U::Ceil => return map(x, control, T::ceil),
        U::Trunc => return map(x, control, T::trunc),
        U::Round => return map(x, control, T::round_ties_even),
        U::RoundAway => return map(x, control, T::round_away),
        U::Sqrt => return map(x, control, T::sqrt),
        U::Reciprocal => return map(x, control, |x: T| T::ONE.divide(x)),
        U::Log => math::log,
        U::Log2 => math::log2,
        U::Log10 => math::log10,
        U::Exp => math::exp,
        U::Rsqrt => math::rsqrt,
        U::Sigmoid => math::sigmoid,
        U::Erf => math::erf,
        U::Sin => math::sin,
        U::Cos => math::cos,
        U::Tan => math::tan,
        U::Asin => math::asin,
        U::Acos => math::acos,
        U::Atan => math::atan,
        U::Sinh => math::sinh,
        U::Cosh => math::cosh,
        U::Tanh => math::tanh,
        U::Asinh => math::asinh,
        U::Acosh => math::acosh,
        U::Atanh => math::atanh,
        _ => return Err(not_defined(op.name(), "another type", T::TYPE)),
    };
    // These are called through a pointer: a call costs far less than the function.
    let function: fn(f64) -> f64 = function;
    map(x, control, |x: T| T::narrow(function(x.wide())))
}

/// The number, multiplied by `alpha` if negative, for floats. The product is computed
/// in `f64` and rounded once. NaN stays NaN.
///
/// # Errors
///
/// A type error for other types.
pub fn leaky_relu(x: View<'_>, alpha: f64, control: &Control<'_>) -> Result<Tensor> {
    let ty = x.element_type();
    dispatch!(float ty, T => map(x, control, |x: T| {
        if x < T::ZERO { T::narrow(x.wide() * alpha) } else { x }
    }), else Err(not_defined("leaky_relu", "a float type", ty)))
}

/// A function of `f64` applied to each element of a float tensor, and rounded once.
///
/// ```
/// use isoform_kernels::elementwise::apply;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[2], &[1.0_f32, -2.0])?;
/// let cubes = apply(x.view(), |x| x * x * x, &Control::default())?;
/// assert_eq!(cubes.view().to_vec::<f32>()?, [1.0, -8.0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for other types.
pub fn apply(x: View<'_>, f: impl Fn(f64) -> f64, control: &Control<'_>) -> Result<Tensor> {
    let ty = x.element_type();
    dispatch!(float ty, T => map(x, control, |x: T| T::narrow(f(x.wide()))),
        else Err(not_defined("apply", "a float type", ty)))
}
