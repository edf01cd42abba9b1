//! Functions that are not exact, on `f64`, with the same bits on every machine.
//!
//! All float types use these functions and round once. Only `f64` shows their error,
//! which is below 2 units in the last place.

pub use libm::{
    acos, acosh, asin, asinh, atan, atanh, cos, cosh, erf, exp, expm1, log, log1p, log2, log10,
    pow, sin, sinh, tan,
};

/// 1 / sqrt(x).
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// 1 / (1 + exp(-x)).
pub fn sigmoid(x: f64) -> f64 {
    // Below this, exp(-x) may overflow, and adding one has no effect.
    if x < -700.0 {
        return exp(x);
    }
    divide_by_sum(1.0, 1.0, exp(-x))
}

/// The hyperbolic tangent, as `t / (t + 2)` with `t = exp(2x) - 1`.
///
/// The division by a rounded sum would cost almost 2 units in the last place.
pub fn tanh(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // Beyond this, the result rounds to 1.
    let t = libm::expm1(2.0 * x.abs().min(22.0));
    divide_by_sum(t, t, 2.0).copysign(x)
}

/// `x / (a + b)` for a positive sum, as if the sum was not rounded.
fn divide_by_sum(x: f64, a: f64, b: f64) -> f64 {
    let sum = a + b;
    let quotient = x / sum;
    if sum.is_infinite() {
        return quotient;
    }
    // Knuth's exact error of a sum: The Art of Computer Programming, volume 2, 4.2.2.
    let other = sum - a;
    let lost = (a - (sum - other)) + (b - other);
    quotient - quotient * (lost / sum)
}
