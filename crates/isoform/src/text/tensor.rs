//! Tensors in text: the elements of small tensors as numbers, base 64 otherwise.

use base64::prelude::{BASE64_STANDARD, Engine};

use super::spelling::{self, TENSOR};
use crate::kernel::container::Tensor;
use crate::kernel::error::Result;
use crate::kernel::spell;
use crate::kernel::value::{DType, DTypeCode, Value, ValueRef};

/// Up to this many elements are printed as numbers.
const LISTED: usize = 16;

/// Tensors with more bytes are large constants.
pub(super) const LARGE: usize = 128;

/// The number formats of elements.
#[derive(Clone, Copy)]
pub(super) enum Element {
    Int(usize),
    UInt(usize),
    Float32,
    Float64,
    Bool,
}

impl Element {
    pub(super) fn of(dtype: DType) -> Option<Element> {
        if dtype.lanes() != 1 {
            return None;
        }
        match (dtype.code(), dtype.bits()) {
            (DTypeCode::Int, bits @ (8 | 16 | 32 | 64)) => Some(Element::Int(bits as usize / 8)),
            (DTypeCode::UInt, bits @ (8 | 16 | 32 | 64)) => Some(Element::UInt(bits as usize / 8)),
            (DTypeCode::Float, 32) => Some(Element::Float32),
            (DTypeCode::Float, 64) => Some(Element::Float64),
            (DTypeCode::Bool, 8) => Some(Element::Bool),
            _ => None,
        }
    }

    fn width(self) -> usize {
        match self {
            Element::Int(width) | Element::UInt(width) => width,
            Element::Float32 => 4,
            Element::Float64 => 8,
            Element::Bool => 1,
        }
    }

    /// Appends the bytes of an element; returns false if the value is not a number.
    pub(super) fn append(self, value: &Value, data: &mut Vec<u8>) -> bool {
        match self {
            Element::Int(width) => {
                let unused = 64 - 8 * width as u32;
                let Some(number) = value.as_int() else {
                    return false;
                };
                data.extend_from_slice(&number.to_le_bytes()[..width]);
                number << unused >> unused == number
            }
            Element::UInt(width) => {
                let number = match value.view() {
                    ValueRef::Int(number) => u64::try_from(number).ok(),
                    ValueRef::BigInt(number) => u64::try_from(number).ok(),
                    _ => None,
                };
                let Some(number) = number else {
                    return false;
                };
                data.extend_from_slice(&number.to_le_bytes()[..width]);
                width == 8 || number >> (8 * width) == 0
            }
            Element::Float32 | Element::Float64 => {
                let number = match value.view() {
                    ValueRef::Float(number) => number,
                    ValueRef::Int(number) => number as f64,
                    _ => return false,
                };
                match self {
                    Element::Float32 => data.extend_from_slice(&narrow(number).to_le_bytes()),
                    _ => data.extend_from_slice(&number.to_le_bytes()),
                }
                true
            }
            Element::Bool => {
                data.push(u8::from(value.as_bool() == Some(true)));
                value.as_bool().is_some()
            }
        }
    }

    /// Appends one element; returns false if no literal denotes exactly the element's
    /// bits, as for most NaNs.
    fn push(self, bytes: &[u8], out: &mut String) -> bool {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * bytes.len() as u32;
        let mut digits = itoa::Buffer::new();
        match self {
            Element::Int(_) => out.push_str(digits.format((bits << unused) as i64 >> unused)),
            Element::UInt(_) => out.push_str(digits.format(bits)),
            Element::Float32 => {
                let number = f32::from_bits(bits as u32);
                if number.is_nan() && bits as u32 != f32::NAN.to_bits() {
                    return false;
                }
                // The shortest digits of the narrow float, only few.
                spell::float_text(&format!("{number:?}"), out);
            }
            Element::Float64 => {
                let number = f64::from_bits(bits);
                if number.is_nan() && bits != f64::NAN.to_bits() {
                    return false;
                }
                spell::float(number, out);
            }
            Element::Bool => match bits {
                0 | 1 => out.push_str(spell::bool_text(bits == 1)),
                _ => return false,
            },
        }
        true
    }
}

/// Appends the text of a tensor, with or without its elements.
///
/// # Errors
///
/// `ValueError` for a data type without a name.
pub(super) fn push(tensor: &Tensor, with_elements: bool, out: &mut String) -> Result<()> {
    out.push_str(TENSOR);
    out.push('(');
    spelling::push_dtype(tensor.dtype(), out)?;
    out.push_str(", ");
    spell::numbers("[", tensor.shape(), "]", out);
    out.push_str(", ");
    if !with_elements {
        out.push_str("...");
    } else if !push_numbers(tensor, out) {
        out.push_str("b64\"");
        BASE64_STANDARD.encode_string(tensor.data(), out);
        out.push('"');
    }
    out.push(')');
    Ok(())
}

/// Appends the elements as numbers; returns false, without appending, for many elements
/// or elements other than numbers.
fn push_numbers(tensor: &Tensor, out: &mut String) -> bool {
    let Some(element) = Element::of(tensor.dtype()) else {
        return false;
    };
    let data = tensor.data();
    if data.len() > LISTED * element.width() {
        return false;
    }
    let start = out.len();
    out.push('[');
    for (position, bytes) in data.chunks_exact(element.width()).enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        if !element.push(bytes, out) {
            out.truncate(start);
            return false;
        }
    }
    out.push(']');
    true
}

/// True for a tensor counted as a large constant.
pub(super) fn is_large(tensor: &Tensor) -> bool {
    tensor.data().len() > LARGE
}

/// A float of 32 bits; of all NaNs, only the NaN printed as a number.
fn narrow(number: f64) -> f32 {
    if number.is_nan() {
        f32::NAN
    } else {
        number as f32
    }
}
