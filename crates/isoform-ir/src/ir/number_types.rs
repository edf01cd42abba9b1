//! The ranges of data types.

use isoform::values::{DType, DTypeCode};

/// The data type of expressions that are not numbers: pointers and strings.
pub(crate) const HANDLE: DType = DType::new(DTypeCode::Handle, 64);

/// Data types by the behaviour of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Bool,
    Int,
    UInt,
    Float,
    Other,
}

impl Class {
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Class::Bool | Class::Int | Class::UInt)
    }
}

pub(crate) fn class(dtype: DType) -> Class {
    match dtype.code() {
        DTypeCode::Bool => Class::Bool,
        DTypeCode::Int => Class::Int,
        DTypeCode::UInt => Class::UInt,
        DTypeCode::Handle | DTypeCode::Complex => Class::Other,
        _ => Class::Float,
    }
}

/// The significant bits for comparing two integer types; a bool has one.
pub(crate) fn width(dtype: DType) -> u8 {
    match class(dtype) {
        Class::Bool => 1,
        _ => dtype.bits(),
    }
}

/// The smallest and the largest number of an integer type, limited to the range of 64
/// signed bits.
pub(crate) fn integer_range(dtype: DType) -> (i64, i64) {
    let bits = u32::from(width(dtype).min(64));
    match class(dtype) {
        Class::Int => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
        _ => (0, i64::MAX >> (63 - bits.min(63))),
    }
}

/// The largest finite number of a float type.
pub(crate) fn largest_float(dtype: DType) -> f64 {
    // By exponent of the largest binade and the bits of the fraction.
    let largest = |exponent: i32, fraction: i32| {
        f64::from(exponent).exp2() * (2.0 - f64::from(-fraction).exp2())
    };
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::Float, 16) => largest(15, 10),
        (DTypeCode::Float, 32) => f64::from(f32::MAX),
        (DTypeCode::BFloat, 16) => largest(127, 7),
        (DTypeCode::Float8E3M4, _) => 15.5,
        (DTypeCode::Float8E4M3, _) => 240.0,
        (DTypeCode::Float8E4M3FN, _) => 448.0,
        (DTypeCode::Float8E4M3FNUZ, _) => 240.0,
        (DTypeCode::Float8E4M3B11FNUZ, _) => 30.0,
        (DTypeCode::Float8E5M2 | DTypeCode::Float8E5M2FNUZ, _) => 57344.0,
        (DTypeCode::Float8E8M0FNU, _) => f64::from(127).exp2(),
        (DTypeCode::Float6E2M3FN, _) => 7.5,
        (DTypeCode::Float6E3M2FN, _) => 28.0,
        (DTypeCode::Float4E2M1FN, _) => 6.0,
        _ => f64::MAX,
    }
}
