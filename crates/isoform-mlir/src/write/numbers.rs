//! Numbers, and literals of many numbers.

use isoform::values::ValueRef;
use isoform::{Error, Result, Value, structural_digest};
use num_bigint::{BigInt, Sign};

use super::Object;
use crate::nodes::DenseAttr;
use crate::read::floats::Format;
use crate::read::numbers::{Element, Numeric, shape_of, signed};

/// The digits of a digest that tell large constants apart.
const DIGEST: usize = 12;
/// The number of elements up to which a literal is a list.
const LISTED: usize = 100;

/// Appends bytes as hex digits in capitals.
pub(super) fn write_hex(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(2 * bytes.len());
    for &byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// The text of a float attribute.
pub(super) fn float_text(ty: &Object, bits: &Value) -> Result<String> {
    let bits = match bits.view() {
        ValueRef::Int(bits) => u128::try_from(bits).ok(),
        ValueRef::BigInt(bits) => u128::try_from(bits).ok(),
        _ => None,
    };
    match (Numeric::of(ty), bits) {
        (Some(Numeric::Float(format)), Some(bits)) => Ok(float_literal(format, bits)),
        _ => Err(Error::value_error(
            "expected the bits of a float and its type",
        )),
    }
}

/// The shortest decimal number with these bits, or the bits in hex.
fn float_literal(format: &Format, bits: u128) -> String {
    let hex = || {
        let digits = format.bits.div_ceil(4) as usize;
        format!("0x{bits:0digits$X}")
    };
    let Some(value) = format.double(bits) else {
        return hex();
    };
    let text = if format.bits == 32 {
        format!("{:e}", value as f32)
    } else {
        format!("{value:e}")
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let dot = if mantissa.contains('.') { "" } else { ".0" };
    let text = match exponent {
        "0" => format!("{mantissa}{dot}"),
        _ => format!("{mantissa}{dot}e{exponent}"),
    };
    let is_negative = text.starts_with('-');
    if format.round(text.trim_start_matches('-'), is_negative) == bits {
        text
    } else {
        hex()
    }
}

/// The text of each element of dense data.
pub(super) fn listed(element: &Object, data: &[u8]) -> Result<Vec<String>> {
    let element = element_of(element)?;
    let size = element.number.bytes();
    if size == 0 {
        return Ok(vec!["0".to_owned(); data.len()]);
    }
    let numbers = data
        .chunks(size)
        .map(|bytes| number_text(element.number, bytes));
    let numbers: Vec<String> = numbers.collect();
    if !element.is_complex {
        return Ok(numbers);
    }
    let numbers = numbers.chunks(2);
    Ok(numbers
        .map(|parts| format!("({})", parts.join(",")))
        .collect())
}

fn number_text(number: Numeric, bytes: &[u8]) -> String {
    match number {
        Numeric::Float(format) => {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            float_literal(format, u128::from_le_bytes(all))
        }
        Numeric::Integer { width: 1, .. } => (bytes.first() != Some(&0)).to_string(),
        Numeric::Integer { width, signedness } => {
            let bits = BigInt::from_bytes_le(Sign::Plus, bytes);
            signed(bits, width, signedness).to_string()
        }
    }
}

/// The static shape and the element type of a shaped type.
pub(super) fn static_shape(ty: &Object) -> Result<(Vec<usize>, &Object)> {
    let found = shape_of(ty).and_then(|(dims, element)| {
        let dims = dims?.into_iter().map(|size| usize::try_from(size).ok());
        Some((dims.collect::<Option<_>>()?, element))
    });
    let message = "expected the type of a tensor or vector with a static shape";
    found.ok_or_else(|| Error::value_error(message))
}

fn element_of(ty: &Object) -> Result<Element> {
    Element::of(ty).ok_or_else(|| Error::value_error("expected dense data of numbers"))
}

/// Writes at most `most` elements of a dense attribute, and the beginning of a digest if there
/// are more.
pub(super) fn write_first(dense: &DenseAttr, most: usize, out: &mut String) -> Result<()> {
    let (_, element) = static_shape(&dense.ty)?;
    let size = element_of(element)?.bytes();
    if size == 0 || dense.data.len() / size <= most.max(1) {
        return write_elements(dense, out);
    }
    let first = listed(element, &dense.data[..size * most])?;
    let digest = structural_digest(&dense.data)?.to_string();
    let first = first.join(", ");
    out.push_str(&format!("[{first}, ...] #{}", &digest[..DIGEST]));
    Ok(())
}

/// The beginning of the digest of an attribute.
pub(super) fn short_digest(attribute: &Object) -> Result<String> {
    let mut digest = structural_digest(attribute)?.to_string();
    digest.truncate(DIGEST);
    Ok(digest)
}

/// Writes the literal of a dense attribute.
pub(super) fn write_dense(dense: &DenseAttr, out: &mut String) -> Result<()> {
    let size = element_of(static_shape(&dense.ty)?.1)?.bytes();
    if size == 0 || dense.data.len() / size <= LISTED {
        return write_elements(dense, out);
    }
    out.push_str("\"0x");
    write_hex(&dense.data, out);
    out.push('"');
    Ok(())
}

/// Writes the elements of a dense attribute as a list, or as a single element.
pub(super) fn write_elements(dense: &DenseAttr, out: &mut String) -> Result<()> {
    let (dims, element) = static_shape(&dense.ty)?;
    if dense.data.is_empty() {
        // Elements of no bits take no bytes.
        if !dims.contains(&0) {
            out.push('0');
        }
        return Ok(());
    }
    let elements = listed(element, &dense.data)?;
    match elements.as_slice() {
        [only] => out.push_str(only),
        _ => write_lists(&elements, &dims, out),
    }
    Ok(())
}

/// Writes the elements of a dense attribute as a list, even if all are equal.
pub(super) fn write_all_elements(dense: &DenseAttr, out: &mut String) -> Result<()> {
    let (dims, element) = static_shape(&dense.ty)?;
    let count = dims.iter().copied().fold(1, usize::saturating_mul);
    let mut elements = listed(element, &dense.data)?;
    if let [only] = elements.as_slice() {
        elements = vec![only.clone(); count];
    }
    write_lists(&elements, &dims, out);
    Ok(())
}

/// Writes elements as nested lists of these sizes.
pub(super) fn write_lists(elements: &[String], dims: &[usize], out: &mut String) {
    // The number of elements of a list at each depth.
    let mut sizes: Vec<usize> = Vec::with_capacity(dims.len());
    for &dim in dims.iter().rev() {
        let inner = sizes.last().copied().unwrap_or(1);
        sizes.push(inner.saturating_mul(dim).max(1));
    }
    for (position, element) in elements.iter().enumerate() {
        let begins = |size: &&usize| position % **size == 0;
        let opened = sizes.iter().filter(begins).count();
        if position > 0 {
            out.push_str(", ");
        }
        out.extend(std::iter::repeat_n('[', opened));
        out.push_str(element);
        let ends = |size: &&usize| (position + 1) % **size == 0;
        out.extend(std::iter::repeat_n(']', sizes.iter().filter(ends).count()));
    }
}
