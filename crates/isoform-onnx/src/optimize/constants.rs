//! Constants of a program: merges equal constants, and reads small constants.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Value, structural_equal, structural_hash};

use crate::elem_type::ElemType;
use crate::values::{ValueKey, constant, tensor};

/// One object for each distinct constant. Constants are equal if type, shape and bytes
/// are equal: -0.0 differs from 0.0, and NaNs with different bytes differ.
///
/// Bytes are read only where two constants have the same type and shape.
#[derive(Default)]
pub(super) struct Constants {
    /// By type and shape.
    groups: HashMap<(String, Vec<i64>), Group>,
    /// The representative of each object, by identity.
    known: HashMap<u64, Value>,
    /// The number of constants replaced by equal constants.
    pub(super) merged: usize,
}

/// Constants of one type and shape.
#[derive(Default)]
struct Group {
    /// The first constant, until a second constant of the group requires reading both.
    first: Option<Value>,
    by_hash: HashMap<u64, Vec<Value>>,
}

impl Group {
    /// The known constant with the same content. If there is none, adds this constant.
    fn intern(&mut self, value: &Value) -> Option<Value> {
        if self.by_hash.is_empty() {
            let Some(first) = self.first.take() else {
                self.first = Some(value.clone());
                return None;
            };
            self.by_hash.insert(content_hash(&first), vec![first]);
        }
        let entries = self.by_hash.entry(content_hash(value)).or_default();
        let found = entries
            .iter()
            .find(|entry| same_content(entry, value))
            .cloned();
        if found.is_none() {
            entries.push(value.clone());
        }
        found
    }
}

fn content_hash(value: &Value) -> u64 {
    match tensor(value) {
        Some(tensor) => rapidhash::v3::rapidhash_v3(tensor.data()),
        None => structural_hash(value).unwrap_or(0),
    }
}

fn same_content(left: &Value, right: &Value) -> bool {
    match (tensor(left), tensor(right)) {
        (Some(left), Some(right)) => left.data() == right.data(),
        _ => structural_equal(left, right).unwrap_or(false),
    }
}

impl Constants {
    /// The object that stands for a constant.
    pub(super) fn intern(&mut self, value: Value) -> Value {
        let ValueKey::Object(identity) = ValueKey::of(&value) else {
            return value;
        };
        if let Some(known) = self.known.get(&identity) {
            return known.clone();
        }
        let group = match tensor(&value) {
            Some(tensor) => (tensor.dtype().to_string(), tensor.shape().to_vec()),
            None => (value.type_name().to_owned(), Vec::new()),
        };
        let found = self.groups.entry(group).or_default().intern(&value);
        self.merged += usize::from(found.is_some());
        let kept = found.unwrap_or(value);
        self.known.insert(identity, kept.clone());
        kept
    }
}

/// The number of bytes of a constant's elements.
pub(super) fn byte_size(value: &Value) -> u64 {
    match tensor(value) {
        Some(tensor) => tensor.data().len() as u64,
        None => {
            let object = value.as_object();
            let strings =
                object.and_then(|object| object.downcast_ref::<crate::ir::StringTensor>());
            strings.map_or(0, |strings| {
                strings.values.iter().map(|text| text.len() as u64).sum()
            })
        }
    }
}

/// The elements of a constant integer or bool tensor; None for values beyond `i64`.
pub(super) fn ints(value: &Value) -> Option<Vec<i64>> {
    let tensor = tensor(constant(value)?)?;
    let (dtype, data) = (tensor.dtype(), tensor.data());
    let chunks = |size| data.chunks_exact(size);
    let read = match (dtype.code(), dtype.bits()) {
        _ if dtype.lanes() != 1 => return None,
        (DTypeCode::Bool, 8) => data.iter().map(|byte| i64::from(*byte != 0)).collect(),
        (DTypeCode::Int, 8) => data.iter().map(|byte| i64::from(*byte as i8)).collect(),
        (DTypeCode::UInt, 8) => data.iter().map(|byte| i64::from(*byte)).collect(),
        (DTypeCode::Int, 16) => chunks(2)
            .map(|b| i64::from(i16::from_le_bytes([b[0], b[1]])))
            .collect(),
        (DTypeCode::UInt, 16) => chunks(2)
            .map(|b| i64::from(u16::from_le_bytes([b[0], b[1]])))
            .collect(),
        (DTypeCode::Int, 32) => chunks(4)
            .map(|b| i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])))
            .collect(),
        (DTypeCode::UInt, 32) => chunks(4)
            .map(|b| i64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])))
            .collect(),
        (DTypeCode::Int, 64) => chunks(8)
            .map(|b| Some(i64::from_le_bytes(b.try_into().ok()?)))
            .collect::<Option<_>>()?,
        (DTypeCode::UInt, 64) => chunks(8)
            .map(|b| i64::try_from(u64::from_le_bytes(b.try_into().ok()?)).ok())
            .collect::<Option<_>>()?,
        _ => return None,
    };
    Some(read)
}

/// The elements of a constant tensor of `float32` or `float64`.
pub(super) fn floats(value: &Value) -> Option<Vec<f64>> {
    let tensor = tensor(constant(value)?)?;
    let data = tensor.data();
    match tensor.dtype() {
        DType::FLOAT32 => data
            .chunks_exact(4)
            .map(|b| Some(f64::from(f32::from_le_bytes(b.try_into().ok()?))))
            .collect(),
        dtype if dtype == DType::new(DTypeCode::Float, 64) => data
            .chunks_exact(8)
            .map(|b| Some(f64::from_le_bytes(b.try_into().ok()?)))
            .collect(),
        _ => None,
    }
}

/// True for a constant tensor of floats without infinities and NaNs.
pub(super) fn is_finite(value: &Value) -> bool {
    // A float is finite unless all bits of its exponent are set.
    all_floats(value, |bits, exponent| bits & exponent != exponent)
}

/// True if a constant has a zero of either sign, or is not a tensor of floats.
pub(super) fn has_zero(value: &Value) -> bool {
    // Without the sign, the bit above the exponent, zero is 0.
    !all_floats(value, |bits, exponent| {
        let sign = (exponent << 1) & !exponent;
        bits & (sign - 1) != 0
    })
}

/// True if all elements of a constant tensor of floats pass a test, which receives the
/// bits of the element and of its exponent.
fn all_floats(value: &Value, test: impl Fn(u64, u64) -> bool) -> bool {
    let Some(tensor) = constant(value).and_then(tensor) else {
        return false;
    };
    let types = [
        (ElemType::Float16, 2, 0x7c00),
        (ElemType::Bfloat16, 2, 0x7f80),
        (ElemType::Float, 4, 0x7f80_0000),
        (ElemType::Double, 8, 0x7ff0_0000_0000_0000),
    ];
    let found = types
        .into_iter()
        .find(|(elem, ..)| elem.dtype() == Some(tensor.dtype()));
    found.is_some_and(|(_, width, exponent)| {
        tensor.data().chunks_exact(width).all(|element| {
            let mut bits = [0; 8];
            bits[..width].copy_from_slice(element);
            test(u64::from_le_bytes(bits), exponent)
        })
    })
}

/// A list of `int64`.
pub(super) fn int64s(values: &[i64]) -> Value {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    match Tensor::new(DType::INT64, vec![values.len() as i64], bytes) {
        Ok(tensor) => tensor.into(),
        Err(_) => Value::NONE,
    }
}

/// The bytes of one element, if all elements of the constant are the same.
pub(super) fn uniform_element(value: &Value) -> Option<&[u8]> {
    let tensor = tensor(value)?;
    let bits = usize::from(tensor.dtype().bits()) * usize::from(tensor.dtype().lanes());
    let size = (bits % 8 == 0)
        .then_some(bits / 8)
        .filter(|size| *size > 0)?;
    let data = tensor.data();
    let first = data.get(..size)?;
    data.chunks_exact(size)
        .all(|element| element == first)
        .then_some(first)
}

/// Hashes the properties that distinguish calls with equal inputs.
pub(super) fn hash_of(parts: impl Hash) -> u64 {
    let mut hasher = rapidhash::fast::RapidHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}
