//! Elements of tensors as text, for every element type.

mod pair;

use std::fmt::Write;

use isoform::values::{DType, DTypeCode, Tensor};
use isoform_ir::kernels::tensor_difference;
use isoform_kernels::Control;

pub use self::pair::{texts_that_differ, with_another};

/// The type of a tensor, like `float32[64, 3]`; a scalar is `float32`. O(rank).
#[must_use]
pub fn tensor_type(tensor: &Tensor) -> String {
    let mut out = tensor.dtype().to_string();
    if !tensor.shape().is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{:?}", tensor.shape());
    }
    out
}

/// The number of elements of the tensor. O(rank).
#[must_use]
pub fn element_count(tensor: &Tensor) -> u64 {
    // A tensor exists only if this fits.
    tensor
        .shape()
        .iter()
        .map(|&dim| dim.unsigned_abs())
        .product()
}

/// The elements as `{1.0, 2.0, ...}`: all elements up to a number of `most`, otherwise
/// the first `few`. O(elements shown).
#[must_use]
pub fn abbreviated(tensor: &Tensor, most: u64, few: u64) -> String {
    let count = element_count(tensor);
    let shown = if count <= most { count } else { few };
    let mut out = String::from("{");
    for index in 0..shown {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&element(tensor, index));
    }
    if shown < count {
        out.push_str(if shown > 0 { ", ..." } else { "..." });
    }
    out.push('}');
    out
}

/// Two texts of which at most a number of characters is shown: their beginnings, or the
/// parts around their first difference if the beginnings are alike. O(texts).
///
/// ```
/// use isoform_onnx::elements::abbreviated_pair;
/// assert_eq!(abbreviated_pair(["same, a", "same, b"], 9), ["same, a", "same, b"]);
/// let [left, right] = abbreviated_pair(["0123456789 left", "0123456789 right"], 8);
/// assert_eq!([left, right], ["...9 left", "...9 right"]);
/// ```
#[must_use]
pub fn abbreviated_pair(texts: [&str; 2], most: usize) -> [String; 2] {
    let pairs = texts[0].chars().zip(texts[1].chars());
    let common = pairs.take_while(|(left, right)| left == right).count();
    // The last quarter shows a difference in the beginnings.
    let start = if common < most - most / 4 {
        0
    } else {
        common - most / 4
    };
    texts.map(|text| {
        let place = |count: usize| text.char_indices().nth(count).map(|(place, _)| place);
        let begin = place(start).unwrap_or(text.len());
        let dots = if begin > 0 { "..." } else { "" };
        match place(start.saturating_add(most)) {
            Some(end) => format!("{dots}{}...", &text[begin..end]),
            None => format!("{dots}{}", &text[begin..]),
        }
    })
}

/// An element as text, counted in row-major order; `?` outside the tensor. O(lanes).
#[must_use]
pub fn element(tensor: &Tensor, index: u64) -> String {
    let dtype = tensor.dtype();
    let lane_bits = u64::from(dtype.bits());
    let lanes = u64::from(dtype.lanes());
    let lane = |lane: u64| {
        let start = index
            .checked_mul(lanes)?
            .checked_add(lane)?
            .checked_mul(lane_bits)?;
        Some(number(dtype, read_bits(tensor.data(), start, lane_bits)?))
    };
    let texts: Option<Vec<String>> = (0..lanes).map(lane).collect();
    match texts {
        Some(texts) if texts.len() == 1 => texts.concat(),
        Some(texts) => format!("<{}>", texts.join(", ")),
        None => "?".to_owned(),
    }
}

/// The first different element of two tensors of the same type and shape. Elements are
/// compared by bits, like in the contract, except that all NaNs are equal. O(elements).
#[must_use]
pub fn first_difference(left: &Tensor, right: &Tensor) -> Option<u64> {
    let found = tensor_difference(left, right, None, &Control::default()).ok()?;
    let lanes = u64::from(left.dtype().lanes());
    found.first.map(|lane| lane as u64 / lanes)
}

/// Converts a row-major position to an index per axis, like `[0, 2, 1]`. O(rank).
#[must_use]
pub fn indices(shape: &[i64], mut position: u64) -> Vec<u64> {
    let mut out: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&dim| {
            let dim = dim.unsigned_abs().max(1);
            let index = position % dim;
            position /= dim;
            index
        })
        .collect();
    out.reverse();
    out
}

/// Up to 128 bits from a little-endian bit string.
fn read_bits(data: &[u8], start: u64, width: u64) -> Option<u128> {
    let first = usize::try_from(start / 8).ok()?;
    let end = usize::try_from(start.checked_add(width)?.div_ceil(8)).ok()?;
    let mut out = 0;
    for (position, &byte) in data.get(first..end)?.iter().take(16).enumerate() {
        out |= u128::from(byte) << (8 * position);
    }
    out >>= start % 8;
    Some(if width < 128 {
        out & ((1 << width) - 1)
    } else {
        out
    })
}

fn number(dtype: DType, bits: u128) -> String {
    let width = u32::from(dtype.bits());
    match (dtype.code(), width) {
        (DTypeCode::Int, 1..=128) => {
            let unused = 128 - width;
            ((bits << unused) as i128 >> unused).to_string()
        }
        (DTypeCode::UInt, _) => bits.to_string(),
        (DTypeCode::Bool, _) => (bits != 0).to_string(),
        (DTypeCode::Float, 16) => float32(half_to_float(bits as u16)),
        (DTypeCode::BFloat, 16) => float32(f32::from_bits((bits as u32) << 16)),
        (DTypeCode::Float, 32) => float32(f32::from_bits(bits as u32)),
        (DTypeCode::Float, 64) => format!("{:?}", f64::from_bits(bits as u64)),
        (DTypeCode::Complex, 64) => {
            let part = |shift: u32| float32(f32::from_bits((bits >> shift) as u32));
            format!("({}, {})", part(0), part(32))
        }
        (DTypeCode::Complex, 128) => {
            let part = |shift: u32| format!("{:?}", f64::from_bits((bits >> shift) as u64));
            format!("({}, {})", part(0), part(64))
        }
        // There are many narrow float formats, and the bits are equally informative.
        _ => format!("0x{bits:0width$x}", width = width.div_ceil(4) as usize),
    }
}

fn float32(number: f32) -> String {
    format!("{number:?}")
}

/// Formats a 64-bit float. A number that a 32-bit float represents exactly gets the shorter
/// text of the 32-bit float. O(1).
#[must_use]
pub fn float(number: f64) -> String {
    let short = number as f32;
    if f64::from(short).to_bits() == number.to_bits() {
        float32(short)
    } else {
        format!("{number:?}")
    }
}

/// The number that a half-precision float represents.
fn half_to_float(bits: u16) -> f32 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dtype: &str, data: &[u8], expected: &[&str]) {
        let dtype: DType = dtype.parse().unwrap();
        let tensor = Tensor::new(dtype, vec![expected.len() as i64], data.to_vec()).unwrap();
        let texts: Vec<String> = (0..expected.len() as u64)
            .map(|index| element(&tensor, index))
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn elements_of_every_format() {
        check("int64", &(-2i64).to_le_bytes(), &["-2"]);
        check("int8", &[0xff, 7], &["-1", "7"]);
        check("uint64", &u64::MAX.to_le_bytes(), &["18446744073709551615"]);
        check("int4", &[0x8f, 0x01], &["-1", "-8", "1"]);
        check("uint4", &[0x8f], &["15", "8"]);
        check("bool", &[0, 1], &["false", "true"]);
        check("float32", &0.1f32.to_le_bytes(), &["0.1"]);
        check("float64", &0.1f64.to_le_bytes(), &["0.1"]);
        check(
            "float16",
            &[0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc],
            &["1.0", "5.9604645e-8", "-inf"],
        );
        check("bfloat16", &[0x80, 0x3f], &["1.0"]);
        check("float8_e4m3fn", &[0x38], &["0x38"]);
        check("float4_e2m1fn", &[0x38], &["0x8", "0x3"]);
        let complex: Vec<u8> = [1f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        check("complex64", &complex, &["(1.0, -2.0)"]);
        check("int8x2", &[1, 2, 3, 4], &["<1, 2>", "<3, 4>"]);
    }

    fn floats(numbers: &[u32]) -> Tensor {
        let data: Vec<u8> = numbers.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        Tensor::new(DType::FLOAT32, vec![numbers.len() as i64], data).unwrap()
    }

    #[test]
    fn long_tensors_are_abbreviated() {
        let one = 1f32.to_bits();
        assert_eq!(abbreviated(&floats(&[one; 3]), 3, 1), "{1.0, 1.0, 1.0}");
        assert_eq!(abbreviated(&floats(&[one; 4]), 3, 1), "{1.0, ...}");
        assert_eq!(abbreviated(&floats(&[]), 3, 1), "{}");
        assert_eq!(tensor_type(&floats(&[one])), "float32[1]");
    }

    #[test]
    fn a_difference_is_found_where_the_contract_sees_one() {
        let one = 1f32.to_bits();
        let (nan, other_nan) = (0x7fc0_0000, 0x7fc0_0001);
        let left = floats(&[one, nan, 0, one]);
        assert_eq!(first_difference(&left, &left), None);
        assert_eq!(
            first_difference(&left, &floats(&[one, other_nan, 0, one + 1])),
            Some(3)
        );
        assert_eq!(
            first_difference(&left, &floats(&[one, nan, 0x8000_0000, one])),
            Some(2)
        );
        assert_eq!(first_difference(&left, &floats(&[one])), None);

        let nibbles = |byte| Tensor::new("uint4".parse().unwrap(), vec![2], vec![byte]).unwrap();
        assert_eq!(first_difference(&nibbles(0x12), &nibbles(0x32)), Some(1));
    }

    #[test]
    fn positions_become_indices() {
        assert_eq!(indices(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(indices(&[], 0), [] as [u64; 0]);
    }

    #[test]
    fn floats_are_written_short() {
        assert_eq!(float(f64::from(0.1f32)), "0.1");
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(1e300), "1e300");
    }
}
