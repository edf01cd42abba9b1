//! Constants and values without parts.

use isoform::structural_digest;
use isoform::text::{TensorText, TextOptions};
use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use isoform::{Obj, Ref, Value};
use isoform_ir::ir::{FloatImm, IntImm};

use super::pieces::{Piece, text};
use super::types::tensor_type_text;
use crate::Any;
use crate::eval::numbers;

/// Tensors of up to this many elements are shown in full.
const WHOLE: usize = 8;
/// The number of elements shown of a larger tensor.
const FIRST: usize = 3;
/// The number of characters shown of a string.
const LONGEST: usize = 200;
/// The number of digits shown of a digest.
const DIGITS: usize = 8;

/// A scalar as a literal; another tensor as a reference with a summary.
pub(super) fn constant<T, V>(tensor: &Tensor) -> Piece<T, V> {
    if tensor.shape().is_empty()
        && let Some(number) = first_elements(tensor, 1).and_then(|mut elements| elements.pop())
        && let Some(suffix) = suffix(tensor.dtype())
    {
        return text(format!("{number}{suffix}"));
    }
    let count: usize = tensor
        .shape()
        .iter()
        .map(|dim| dim.unsigned_abs() as usize)
        .product();
    let digest = structural_digest(tensor.clone());
    let digest = digest.map_or_else(|_| String::new(), |digest| digest.to_string());
    let mut summary = tensor_type_text(tensor.shape(), tensor.dtype());
    let shown = if count <= WHOLE { count } else { FIRST };
    if let Some(elements) = first_elements(tensor, shown) {
        let dots = if shown < count { ", ..." } else { "" };
        summary.push_str(&format!(" [{}{dots}]", elements.join(", ")));
    }
    if count > WHOLE {
        let start: String = digest.chars().take(DIGITS).collect();
        summary.push_str(&format!(" #{start}"));
    }
    Piece::Constant(digest.into(), summary.into())
}

/// The end of a literal, for its data type; None for types without literals.
fn suffix(dtype: DType) -> Option<String> {
    if dtype.lanes() != 1 {
        return None;
    }
    Some(match (dtype.code(), dtype.bits()) {
        (DTypeCode::Bool, _) | (DTypeCode::Int, 32) => String::new(),
        (DTypeCode::Float, 32) => "f".to_owned(),
        (DTypeCode::Int, bits) => format!("i{bits}"),
        (DTypeCode::UInt, bits) => format!("u{bits}"),
        (DTypeCode::Float, bits) => format!("f{bits}"),
        (DTypeCode::BFloat, bits) => format!("bf{bits}"),
        _ => return None,
    })
}

/// The first elements as text; None for types unknown to kernels.
fn first_elements(tensor: &Tensor, count: usize) -> Option<Vec<String>> {
    let dtype = tensor.dtype();
    let width = usize::from(dtype.bits()) / 8;
    if dtype.lanes() != 1 || !(1..=8).contains(&width) {
        return None;
    }
    let bytes = tensor.data().get(..count.checked_mul(width)?)?;
    let element = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..width].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * width as u32;
        Some(match dtype.code() {
            DTypeCode::Bool => (if bits == 0 { "False" } else { "True" }).to_owned(),
            DTypeCode::Int => ((bits << unused) as i64 >> unused).to_string(),
            DTypeCode::UInt => bits.to_string(),
            DTypeCode::Float if width == 8 => float(&format!("{:?}", f64::from_bits(bits))),
            DTypeCode::Float | DTypeCode::BFloat => {
                let one = Tensor::new(dtype, Vec::new(), bytes.to_vec()).ok()?;
                let number = *numbers(&one)?.first()?;
                float(&format!("{:?}", number as f32))
            }
            _ => return None,
        })
    };
    bytes.chunks(width).map(element).collect()
}

/// The digits of a float, without those of an integer after the point.
fn float(digits: &str) -> String {
    digits.strip_suffix(".0").unwrap_or(digits).to_lowercase()
}

/// A number or an unknown size in a field for scalar expressions.
pub(super) fn number<T, V>(object: &Ref<Obj>) -> Option<Piece<T, V>> {
    Some(if let Some(literal) = object.downcast_ref::<IntImm>() {
        text(match literal.dtype {
            DType::BOOL => plain_text(&Value::from(literal.value != 0)),
            _ => literal.value.to_string(),
        })
    } else if let Some(literal) = object.downcast_ref::<FloatImm>() {
        text(plain_text(&Value::from(literal.value)))
    } else if object.isa::<Any>() {
        text("?")
    } else {
        return None;
    })
}

/// A value without parts.
pub(super) fn plain<T, V>(value: &Value) -> Piece<T, V> {
    text(plain_text(value))
}

fn plain_text(value: &Value) -> String {
    match value.view() {
        ValueRef::DType(dtype) => format!("{:?}", dtype.to_string()),
        ValueRef::Str(text) => match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{:?}...", &text[..end]),
            None => format!("{text:?}"),
        },
        ValueRef::Bytes(bytes) => format!("<{} bytes>", bytes.len()),
        ValueRef::Tensor(tensor) => tensor_type_text(tensor.shape(), tensor.dtype()),
        _ => {
            let options = TextOptions::default()
                .width(usize::MAX)
                .tensors(TensorText::Abbreviated)
                .placeholders(true);
            match options.to_text(value) {
                Ok(text) => text.trim_end().to_owned(),
                Err(_) => format!("<{}>", value.type_name()),
            }
        }
    }
}
