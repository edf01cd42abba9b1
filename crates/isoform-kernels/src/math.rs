//! Functions that are not exact, on `f64`.
//!
//! All float types go through these and round once, so only `f64` sees their error, which
//! is below 2 units in the last place.

pub(crate) use libm::{acos, asin, atan, cos, cosh, erf, exp, log, log2, log10, sin, tan, tanh};

/// 1 / sqrt(x).
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// 1 / (1 + exp(-x)).
pub(crate) fn sigmoid(x: f64) -> f64 {
    // Below this, exp(-x) may overflow, and adding one to it has no effect.
    if x < -700.0 {
        return exp(x);
    }
    1.0 / (1.0 + exp(-x))
}

pub(crate) use libm::{acosh, asinh, atanh, sinh};
