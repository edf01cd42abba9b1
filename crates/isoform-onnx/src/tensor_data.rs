//! Constants as plain bytes, regardless of their form in the file.
//!
//! The bytes are little-endian on every host: typed fields are written with
//! `to_le_bytes`, and this module never reinterprets memory as numbers.

use bytes::Bytes;

use crate::{
    elem_type::ElemType,
    error::{OnnxError, Result, ResultExt},
    external::ExternalResolver,
    proto::{DataLocation, TensorProto},
};

/// A constant tensor.
///
/// Tensors are equal exactly if they have the same type, shape and element bits,
/// regardless of their form in the file. Floats are compared by bits: a NaN equals
/// itself, and the two zeros differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorData {
    /// Element type.
    pub elem: ElemType,
    /// Shape; empty for a scalar. No dimension is negative.
    pub dims: Vec<i64>,
    /// The elements in row-major order.
    pub data: TensorPayload,
}

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TensorPayload {
    /// Packed little-endian elements of every type but strings; unused bits of the last
    /// byte are zero.
    Packed(Bytes),
    /// Strings; ONNX requires UTF-8 but does not enforce it.
    Strings(Vec<Bytes>),
}

impl TensorData {
    /// The number of elements.
    pub fn len(&self) -> usize {
        // The product was checked when the tensor was made; saturating avoids a panic for
        // tensors made by hand.
        self.dims.iter().fold(1_usize, |product, &dim| {
            product.saturating_mul(usize::try_from(dim).unwrap_or(0))
        })
    }

    /// True if the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The packed bytes; `None` for strings.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.data {
            TensorPayload::Packed(bytes) => Some(bytes),
            TensorPayload::Strings(_) => None,
        }
    }

    /// The strings; `None` for any other element type.
    pub fn strings(&self) -> Option<&[Bytes]> {
        match &self.data {
            TensorPayload::Packed(_) => None,
            TensorPayload::Strings(strings) => Some(strings),
        }
    }
}

/// Reads a tensor, taking the bytes of `raw_data` and of mapped files without copying.
///
/// The order of the checks makes sure that memory is reserved only for elements the file
/// really contains.
///
/// # Errors
///
/// Fails if the tensor contradicts itself, if its external data cannot be read, or if
/// it is only a chunk of a larger tensor. The error names the tensor.
pub fn decode_tensor(tensor: &TensorProto, resolver: &ExternalResolver) -> Result<TensorData> {
    decode(tensor, resolver).within(|| format!("tensor '{}'", tensor.name))
}

fn decode(tensor: &TensorProto, resolver: &ExternalResolver) -> Result<TensorData> {
    let elem = ElemType::from_code(tensor.data_type)
        .ok_or_else(|| OnnxError::value(format!("{} is not an element type", tensor.data_type)))?;
    if tensor.segment.is_some() {
        return Err(OnnxError::unsupported(
            "tensors stored in several chunks are not supported",
        ));
    }
    let count = element_count(&tensor.dims)?;
    let field = stored_field(tensor)?;
    let data = match DataLocation::try_from(tensor.data_location) {
        Ok(DataLocation::External) => {
            if let Some(field) = field.name() {
                return Err(OnnxError::value(format!(
                    "the data is declared to be external but {field} is present"
                )));
            }
            if elem == ElemType::String {
                return Err(OnnxError::value(
                    "strings cannot be stored as external data",
                ));
            }
            let length = elem.byte_len(count).ok_or_else(too_many)?;
            match resolver.stand_in(&tensor.external_data, length)? {
                // Zeros are valid elements of every type. Checking them would take time
                // proportional to the size claimed by the file.
                Some(zeros) => TensorPayload::Packed(zeros),
                None => packed(elem, count, resolver.resolve(&tensor.external_data)?)?,
            }
        }
        Ok(DataLocation::Default) => inline(tensor, elem, count, field)?,
        Err(_) => {
            return Err(OnnxError::value(format!(
                "{} is not a data location",
                tensor.data_location
            )));
        }
    };
    Ok(TensorData {
        elem,
        dims: tensor.dims.clone(),
        data,
    })
}

fn too_many() -> OnnxError {
    OnnxError::value("the shape has too many elements to address")
}

/// Multiplies dimensions, refusing negative numbers and products that cannot be
/// addressed.
pub(crate) fn element_count(dims: &[i64]) -> Result<usize> {
    if let Some(&dim) = dims.iter().find(|&&dim| dim < 0) {
        return Err(OnnxError::value(format!(
            "the shape contains the negative dimension {dim}"
        )));
    }
    // An empty dimension makes the tensor empty however large the others are.
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(1_usize, |product, &dim| {
            product.checked_mul(usize::try_from(dim).ok()?)
        })
        .ok_or_else(too_many)
}

/// The field of a tensor message with the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredField {
    None,
    Raw,
    Float,
    Int32,
    String,
    Int64,
    Double,
    Uint64,
}

impl StoredField {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::Raw => "raw_data",
            Self::Float => "float_data",
            Self::Int32 => "int32_data",
            Self::String => "string_data",
            Self::Int64 => "int64_data",
            Self::Double => "double_data",
            Self::Uint64 => "uint64_data",
        })
    }

    /// The typed field that the specification assigns to an element type.
    fn typed_for(elem: ElemType) -> Self {
        match elem {
            ElemType::Float | ElemType::Complex64 => Self::Float,
            ElemType::Double | ElemType::Complex128 => Self::Double,
            ElemType::Int64 => Self::Int64,
            ElemType::Uint32 | ElemType::Uint64 => Self::Uint64,
            ElemType::String => Self::String,
            ElemType::Uint8
            | ElemType::Int8
            | ElemType::Uint16
            | ElemType::Int16
            | ElemType::Int32
            | ElemType::Bool
            | ElemType::Float16
            | ElemType::Bfloat16
            | ElemType::Float8E4m3fn
            | ElemType::Float8E4m3fnuz
            | ElemType::Float8E5m2
            | ElemType::Float8E5m2fnuz
            | ElemType::Uint4
            | ElemType::Int4
            | ElemType::Float4E2m1
            | ElemType::Float8E8m0
            | ElemType::Uint2
            | ElemType::Int2
            | ElemType::Float6E2m3
            | ElemType::Float6E3m2 => Self::Int32,
        }
    }
}

/// Finds the only present field, and rejects two, between which readers would choose
/// differently.
fn stored_field(tensor: &TensorProto) -> Result<StoredField> {
    let fields = [
        (StoredField::Raw, tensor.raw_data.is_some()),
        (StoredField::Float, !tensor.float_data.is_empty()),
        (StoredField::Int32, !tensor.int32_data.is_empty()),
        (StoredField::String, !tensor.string_data.is_empty()),
        (StoredField::Int64, !tensor.int64_data.is_empty()),
        (StoredField::Double, !tensor.double_data.is_empty()),
        (StoredField::Uint64, !tensor.uint64_data.is_empty()),
    ];
    let mut present = fields
        .iter()
        .filter(|(_, present)| *present)
        .map(|&(field, _)| field);
    let field = present.next().unwrap_or(StoredField::None);
    match (field.name(), present.next().and_then(StoredField::name)) {
        (Some(first), Some(second)) => Err(OnnxError::value(format!(
            "the data is stored twice, in {first} and in {second}"
        ))),
        _ => Ok(field),
    }
}

fn inline(
    tensor: &TensorProto,
    elem: ElemType,
    count: usize,
    field: StoredField,
) -> Result<TensorPayload> {
    let expected = StoredField::typed_for(elem);
    if field == StoredField::Raw && elem != ElemType::String {
        return packed(elem, count, tensor.raw_data.clone().unwrap_or_default());
    }
    if field != expected
        && let Some(got) = field.name()
    {
        let expected = expected.name().unwrap_or_default();
        return Err(OnnxError::value(format!(
            "elements of type {elem} belong in {expected}, got {got}"
        )));
    }
    let bytes: Vec<u8> = match elem {
        ElemType::String => {
            check_entries(elem, "string_data", count, tensor.string_data.len())?;
            return Ok(TensorPayload::Strings(tensor.string_data.clone()));
        }
        ElemType::Float | ElemType::Complex64 => {
            let entries = entries_for(elem, count, 2)?;
            check_entries(elem, "float_data", entries, tensor.float_data.len())?;
            tensor
                .float_data
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        }
        ElemType::Double | ElemType::Complex128 => {
            let entries = entries_for(elem, count, 2)?;
            check_entries(elem, "double_data", entries, tensor.double_data.len())?;
            tensor
                .double_data
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        }
        ElemType::Int64 => {
            check_entries(elem, "int64_data", count, tensor.int64_data.len())?;
            tensor
                .int64_data
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        }
        ElemType::Uint64 => {
            check_entries(elem, "uint64_data", count, tensor.uint64_data.len())?;
            tensor
                .uint64_data
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        }
        ElemType::Uint32 => {
            check_entries(elem, "uint64_data", count, tensor.uint64_data.len())?;
            let mut bytes = Vec::with_capacity(tensor.uint64_data.len() * 4);
            for (index, &value) in tensor.uint64_data.iter().enumerate() {
                let value = u32::try_from(value).map_err(|_| {
                    OnnxError::value(format!(
                        "uint64_data[{index}] is {value}, which does not fit {elem}"
                    ))
                })?;
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            bytes
        }
        _ => from_int32_data(elem, count, &tensor.int32_data)?,
    };
    packed(elem, count, Bytes::from(bytes))
}

/// The number of entries that `count` elements take; complex types have several `parts`.
fn entries_for(elem: ElemType, count: usize, parts: usize) -> Result<usize> {
    match elem {
        ElemType::Complex64 | ElemType::Complex128 => count.checked_mul(parts).ok_or_else(too_many),
        _ => Ok(count),
    }
}

fn check_entries(elem: ElemType, field: &str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    Err(OnnxError::value(format!(
        "expected {expected} entries of {field} for the shape and type {elem}, got {got}"
    )))
}

/// Lays out `int32_data`. An entry holds an element, except that entries of 4-bit and
/// 2-bit types hold a packed byte.
fn from_int32_data(elem: ElemType, count: usize, values: &[i32]) -> Result<Vec<u8>> {
    let bits = elem.bits().unwrap_or(32);
    let (entries, width) = match bits {
        2 | 4 => (elem.byte_len(count).unwrap_or(usize::MAX), 8),
        bits => (count, bits),
    };
    check_entries(elem, "int32_data", entries, values.len())?;
    for (index, &value) in values.iter().enumerate() {
        let fits = match width {
            32 => true,
            // The specification requires the two upper bits of these to be zero.
            6 => (0..64).contains(&value),
            // Writers disagree on whether narrow values are sign-extended. The relevant bits are
            // the same, so both are accepted.
            width => (-(1_i32 << (width - 1))..1_i32 << width).contains(&value),
        };
        if !fits {
            return Err(OnnxError::value(format!(
                "int32_data[{index}] is {value}, which does not fit {elem}"
            )));
        }
    }
    Ok(match width {
        32 => values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        16 => values
            .iter()
            .flat_map(|&value| (value as u16).to_le_bytes())
            .collect(),
        6 => pack_6bit(values),
        _ => values.iter().map(|&value| value as u8).collect(),
    })
}

/// Packs 6-bit values four to three bytes, first in the low bits.
fn pack_6bit(values: &[i32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len().div_ceil(4) * 3);
    for group in values.chunks(4) {
        let word = group
            .iter()
            .enumerate()
            .fold(0_u32, |word, (index, &value)| {
                word | (value as u32 & 0x3f) << (6 * index)
            });
        let used = (group.len() * 6).div_ceil(8);
        bytes.extend_from_slice(&word.to_le_bytes()[..used]);
    }
    bytes
}

/// Checks packed bytes against the shape and clears the unused bits of the last byte.
fn packed(elem: ElemType, count: usize, bytes: Bytes) -> Result<TensorPayload> {
    let expected = elem.byte_len(count).ok_or_else(too_many)?;
    if bytes.len() != expected {
        return Err(OnnxError::value(format!(
            "expected {expected} bytes for {count} elements of type {elem}, got {}",
            bytes.len()
        )));
    }
    if elem == ElemType::Bool
        && let Some(index) = bytes.iter().position(|&byte| byte > 1)
    {
        return Err(OnnxError::value(format!(
            "expected 0 or 1 for element {index} of type bool, got {}",
            bytes[index]
        )));
    }
    Ok(TensorPayload::Packed(clear_padding(elem, count, bytes)))
}

/// Zeroes the bits after the last element. Copies only if such a bit is set.
fn clear_padding(elem: ElemType, count: usize, bytes: Bytes) -> Bytes {
    let bits = elem.bits().unwrap_or(8) as usize;
    // Only the bits modulo 8 matter, so the product may be taken of the remainder.
    let used = (count % 8) * bits % 8;
    if used == 0 {
        return bytes;
    }
    let mask = !(u8::MAX << used);
    match bytes.last() {
        Some(last) if last & !mask != 0 => {
            let mut copy = bytes.to_vec();
            if let Some(last) = copy.last_mut() {
                *last &= mask;
            }
            Bytes::from(copy)
        }
        _ => bytes,
    }
}

#[cfg(test)]
mod tests;
