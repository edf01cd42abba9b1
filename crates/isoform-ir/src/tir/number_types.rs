//! The data types of results: of operands with different types, with other numbers of
//! lanes, of wrapping arithmetic.

pub(super) use crate::ir::number_types::{Class, HANDLE, class, integer_range, largest_float};

use crate::ir::number_types::width;
use isoform::values::{DType, DTypeCode};

/// The data type of one lane.
pub(super) fn element_of(dtype: DType) -> DType {
    with_lanes(dtype, 1)
}

/// The data type with another nonzero number of lanes.
pub(super) fn with_lanes(dtype: DType, lanes: u16) -> DType {
    DType::from_parts(dtype.code() as u8, dtype.bits(), lanes).unwrap_or(dtype)
}

/// An exact result wrapped to an integer type, like on a machine: modulo the number of
/// values of the type.
pub(super) fn wrap(dtype: DType, exact: i128) -> i64 {
    let bits = u32::from(width(dtype).min(64));
    // The conversion keeps the low bits.
    let low = exact as i64;
    if bits == 64 {
        return low;
    }
    let unused = 64 - bits;
    match class(dtype) {
        Class::Int => low << unused >> unused,
        _ => ((low as u64) << unused >> unused) as i64,
    }
}

/// The common data type of two operands with the same number of lanes; None without a
/// common type.
pub(super) fn common(left: DType, right: DType) -> Option<DType> {
    if left == right {
        return Some(left);
    }
    let wider = |left: DType, right: DType| {
        if width(left) < width(right) {
            right
        } else {
            left
        }
    };
    match (class(left), class(right)) {
        (Class::Float, Class::Float) if left.bits() == right.bits() => None,
        (Class::Other, _) | (_, Class::Other) => None,
        (Class::Float, Class::Float) => Some(wider(left, right)),
        (Class::Float, _) => Some(left),
        (_, Class::Float) => Some(right),
        (Class::Int, Class::Int) | (Class::UInt, Class::UInt) => Some(wider(left, right)),
        // A signed and an unsigned type of the same width have the unsigned type in
        // common.
        (Class::Int, _) if width(left) == width(right) => Some(right),
        (_, Class::Int) if width(left) == width(right) => Some(left),
        _ => Some(wider(left, right)),
    }
}

/// The ways of comparing two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
}

impl Comparison {
    /// The result of comparing two numbers; the order is None if an operand is NaN.
    pub(super) fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        match self {
            Comparison::EQ => order.is_some_and(std::cmp::Ordering::is_eq),
            Comparison::NE => order.is_none_or(std::cmp::Ordering::is_ne),
            Comparison::LT => order.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::LE => order.is_some_and(std::cmp::Ordering::is_le),
            Comparison::GT => order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::GE => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}

/// The data types of bools, whatever their width.
pub(super) fn is_bool(dtype: DType) -> bool {
    dtype.code() == DTypeCode::Bool
}
