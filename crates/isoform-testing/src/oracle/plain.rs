//! Values without parts to visit: their equality, order and text.

use std::cmp::Ordering;
use std::fmt::Write;

use num_bigint::BigInt;

use isoform::Value;
use isoform::values::{DType, DTypeCode, Tensor, ValueRef};

/// True if a value, as a map key, is matched by content.
pub(crate) fn is_plain(value: &Value) -> bool {
    type_rank(value).is_some()
}

/// The position of a plain value's type among the plain types.
fn type_rank(value: &Value) -> Option<usize> {
    let name = match value.view() {
        ValueRef::None => "None",
        ValueRef::Bool(_) => "bool",
        ValueRef::Int(_) | ValueRef::BigInt(_) => "int",
        ValueRef::Float(_) => "float",
        ValueRef::Str(_) => "str",
        ValueRef::Bytes(_) => "bytes",
        ValueRef::DType(_) => "dtype",
        ValueRef::Device(_) => "device",
        _ => return None,
    };
    [
        "None", "bool", "int", "float", "str", "bytes", "dtype", "device",
    ]
    .iter()
    .position(|known| *known == name)
}

/// The canonical order of plain values: by type, then by value.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    type_rank(left)
        .cmp(&type_rank(right))
        .then_with(|| match (left.view(), right.view()) {
            (ValueRef::Bool(l), ValueRef::Bool(r)) => l.cmp(&r),
            (ValueRef::Float(l), ValueRef::Float(r)) => one_nan(l).total_cmp(&one_nan(r)),
            (ValueRef::Str(l), ValueRef::Str(r)) => l.as_bytes().cmp(r.as_bytes()),
            (ValueRef::Bytes(l), ValueRef::Bytes(r)) => l.cmp(r),
            (ValueRef::DType(l), ValueRef::DType(r)) => l.cmp(&r),
            (ValueRef::Device(l), ValueRef::Device(r)) => l.cmp(&r),
            _ => integer(left).cmp(&integer(right)),
        })
}

fn integer(value: &Value) -> Option<BigInt> {
    match value.view() {
        ValueRef::Int(number) => Some(BigInt::from(number)),
        ValueRef::BigInt(number) => Some(number.clone()),
        _ => None,
    }
}

/// The float itself, or the one NaN that represents all NaNs.
fn one_nan(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number }
}

/// Equality of two values without parts; false for any other pair.
pub(super) fn same_plain(left: &Value, right: &Value) -> bool {
    match (left.view(), right.view()) {
        (ValueRef::Shape(l), ValueRef::Shape(r)) => l[..] == r[..],
        (ValueRef::Float(l), ValueRef::Float(r)) => {
            l.to_bits() == r.to_bits() || (l.is_nan() && r.is_nan())
        }
        _ => is_plain(left) && is_plain(right) && order(left, right).is_eq(),
    }
}

/// Text that is the same exactly for equal plain values and shapes.
pub(super) fn text(value: &Value) -> Option<String> {
    Some(match value.view() {
        ValueRef::None => "none".to_string(),
        ValueRef::Bool(flag) => format!("bool:{flag}"),
        ValueRef::Int(number) => format!("int:{number}"),
        ValueRef::BigInt(number) => format!("int:{number}"),
        ValueRef::Float(number) if number.is_nan() => "float:nan".to_string(),
        ValueRef::Float(number) => format!("float:{:016x}", number.to_bits()),
        ValueRef::Str(text) => format!("str:{text:?}"),
        ValueRef::Bytes(bytes) => format!("bytes:{bytes:?}"),
        ValueRef::DType(dtype) => format!("dtype:{dtype}"),
        ValueRef::Device(device) => format!("device:{}.{}", device.kind(), device.ordinal()),
        ValueRef::Shape(shape) => format!("shape:{:?}", &shape[..]),
        _ => return None,
    })
}

/// Equality of two tensors: NaNs are equal to one another, zeros differ.
pub(super) fn same_tensor(left: &Tensor, right: &Tensor, skip_content: bool) -> bool {
    left.dtype() == right.dtype()
        && left.shape() == right.shape()
        && (skip_content || elements(left) == elements(right))
}

/// Text, equal exactly for equal tensors.
pub(super) fn tensor_text(tensor: &Tensor, skip_content: bool) -> String {
    let mut text = format!("tensor:{}:{:?}", tensor.dtype(), tensor.shape());
    if !skip_content {
        for element in elements(tensor) {
            // Writing to a string cannot fail.
            let _ = match element {
                Some(bytes) => write!(text, ",{bytes:02x?}"),
                None => write!(text, ",nan"),
            };
        }
    }
    text
}

/// The numbers of a tensor as bytes, None for a NaN. Numbers of fractional bytes cannot
/// be NaN and are listed byte by byte.
fn elements(tensor: &Tensor) -> Vec<Option<Vec<u8>>> {
    let dtype = tensor.dtype();
    // A complex number is two floats of half its width.
    let bits = match dtype.code() {
        DTypeCode::Complex => usize::from(dtype.bits() / 2),
        _ => usize::from(dtype.bits()),
    };
    let width = if bits % 8 == 0 && bits > 0 {
        bits / 8
    } else {
        1
    };
    tensor
        .data()
        .chunks(width)
        .map(|chunk| (!is_nan(dtype, chunk)).then(|| chunk.to_vec()))
        .collect()
}

/// The numbers of exponent and fraction bits of a number format.
fn float_fields(dtype: DType) -> Option<(u32, u32)> {
    Some(match (dtype.code(), dtype.bits()) {
        (DTypeCode::Float, 16) | (DTypeCode::Complex, 32) => (5, 10),
        (DTypeCode::Float, 32) | (DTypeCode::Complex, 64) => (8, 23),
        (DTypeCode::Float, 64) | (DTypeCode::Complex, 128) => (11, 52),
        (DTypeCode::BFloat, 16) => (8, 7),
        (DTypeCode::Float8E5M2, 8) => (5, 2),
        (DTypeCode::Float8E4M3, 8) => (4, 3),
        (DTypeCode::Float8E3M4, 8) => (3, 4),
        _ => return None,
    })
}

fn is_nan(dtype: DType, little_endian: &[u8]) -> bool {
    let mut bits = 0u64;
    for byte in little_endian.iter().rev() {
        bits = bits << 8 | u64::from(*byte);
    }
    match dtype.code() {
        // These formats have a few NaN patterns instead of a NaN exponent.
        DTypeCode::Float8E4M3FN => return bits == 0x7f || bits == 0xff,
        DTypeCode::Float8E8M0FNU => return bits == 0xff,
        DTypeCode::Float8E4M3FNUZ | DTypeCode::Float8E4M3B11FNUZ | DTypeCode::Float8E5M2FNUZ => {
            return bits == 0x80;
        }
        _ => {}
    }
    float_fields(dtype).is_some_and(|(exponent_bits, fraction_bits)| {
        let exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
        let fraction = bits & ((1 << fraction_bits) - 1);
        exponent == (1 << exponent_bits) - 1 && fraction != 0
    })
}
