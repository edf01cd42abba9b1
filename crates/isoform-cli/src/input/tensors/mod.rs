//! Files of named tensors, which become a map from names to tensors.
//!
//! `npy.rs` reads arrays of NumPy, `shards.rs` weights in several safetensors files, and
//! `gguf/` weights with metadata.

pub(crate) mod gguf;
mod npy;
mod shards;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use bytes::Bytes;
use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use isoform::{Map, Str, Value};
use safetensors::{Dtype, SafeTensors};
use zip::{CompressionMethod, ZipArchive};

use super::packed::LIMIT;
use crate::output::Failure;

pub(super) use shards::{Neighbours, is_index};

/// A format for tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TensorForm {
    /// The format of Hugging Face.
    Safetensors,
    /// The index of tensors in several safetensors files.
    Shards,
    /// The format of llama.cpp.
    Gguf,
    /// Arrays of NumPy in a zip archive, or another archive.
    Zip,
    /// One array of NumPy.
    Npy,
}

/// The size that the header of a safetensors file may have.
const MAX_HEADER: u64 = 100_000_000;

impl TensorForm {
    /// The binary format of a file that starts like this.
    pub(super) fn of(start: &[u8]) -> Option<TensorForm> {
        if start.starts_with(gguf::MAGIC) {
            return Some(TensorForm::Gguf);
        }
        if start.starts_with(b"\x93NUMPY") {
            return Some(TensorForm::Npy);
        }
        if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            return Some(TensorForm::Zip);
        }
        let (size, rest) = start.split_first_chunk()?;
        let size = u64::from_le_bytes(*size);
        let is_header = (2..=MAX_HEADER).contains(&size) && rest.first() == Some(&b'{');
        is_header.then_some(TensorForm::Safetensors)
    }

    /// The name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TensorForm::Safetensors => "safetensors",
            TensorForm::Shards => "safetensors index",
            TensorForm::Gguf => "GGUF",
            TensorForm::Zip => "NumPy archive",
            TensorForm::Npy => "NumPy array",
        }
    }

    /// The name for programs.
    pub(crate) fn key(self) -> &'static str {
        match self {
            TensorForm::Safetensors => "safetensors",
            TensorForm::Shards => "safetensors-index",
            TensorForm::Gguf => "gguf",
            TensorForm::Zip => "npz",
            TensorForm::Npy => "npy",
        }
    }

    /// The name of the type of elements of each tensor in the value of a file, and the
    /// number of its elements.
    pub(super) fn elements(self, value: &Value) -> Vec<(String, u64)> {
        let tensors = match (self, value.view()) {
            (TensorForm::Gguf, ValueRef::Map(parts)) => parts.get(gguf::TENSORS),
            _ => Some(value),
        };
        match tensors.map(Value::view) {
            Some(ValueRef::Map(tensors)) => {
                tensors.iter().map(|(_, tensor)| elements(tensor)).collect()
            }
            _ => vec![elements(value)],
        }
    }

    /// Reads a file: a map from names to tensors, the single tensor of an array, or the
    /// metadata and the tensors of a GGUF file.
    pub(super) fn read(
        self,
        bytes: &Bytes,
        neighbours: Option<&Neighbours<'_>>,
    ) -> Result<TensorFile, Failure> {
        let value = match self {
            TensorForm::Safetensors => map(safetensors(bytes)?),
            TensorForm::Shards => return shards::read(bytes, neighbours),
            TensorForm::Gguf => gguf::read(bytes)?,
            TensorForm::Zip => map(npz(bytes)?),
            TensorForm::Npy => npy::read(bytes)
                .map_err(|problem| format!("NumPy array: {problem}"))?
                .into(),
        };
        let files = Vec::new();
        Ok(TensorFile { value, files })
    }
}

/// The name of the type of elements of a tensor, which may be quantised, and their number.
fn elements(tensor: &Value) -> (String, u64) {
    let quantized = match tensor.view() {
        ValueRef::Tensor(tensor) => {
            let extents = tensor.shape().iter().copied();
            return (tensor.dtype().to_string(), product(extents));
        }
        ValueRef::Map(quantized) => quantized,
        _ => return (tensor.type_name().to_owned(), 0),
    };
    let part = |key: &str| quantized.get(key).map(Value::view);
    let name = match part(gguf::TYPE) {
        Some(ValueRef::Str(name)) => name.to_owned(),
        _ => tensor.type_name().to_owned(),
    };
    let extents = match part(gguf::SHAPE) {
        Some(ValueRef::Array(shape)) => shape.values().iter().filter_map(Value::as_int).collect(),
        _ => Vec::new(),
    };
    (name, product(extents.into_iter()))
}

/// The number of elements of a shape.
fn product(mut extents: impl Iterator<Item = i64>) -> u64 {
    let product = extents.try_fold(1, |product: u64, extent| {
        product.checked_mul(u64::try_from(extent).ok()?)
    });
    product.unwrap_or(u64::MAX)
}

/// The contents of a file of tensors.
#[derive(Debug)]
pub(super) struct TensorFile {
    pub(super) value: Value,
    /// The names of the other files with the tensors, all in the same folder, sorted.
    pub(super) files: Vec<String>,
}

/// Tensors by name, in the order of the names, which files do not keep.
type Tensors = BTreeMap<String, Tensor>;

fn map(tensors: Tensors) -> Value {
    let entries = tensors
        .into_iter()
        .map(|(name, tensor)| (Str::from(name.as_str()), Value::from(tensor)));
    Value::from(entries.collect::<Map<Str, Value>>())
}

fn safetensors(bytes: &Bytes) -> Result<Tensors, String> {
    let read = SafeTensors::read_metadata(bytes);
    let (header, metadata) = read.map_err(|error| {
        format!(
            "this is a safetensors file, but cut short or damaged: {error}; fetch the file again"
        )
    })?;
    let start = 8 + header;
    let mut tensors = Tensors::new();
    for (name, info) in metadata.tensors() {
        let failed = |problem: &str| format!("safetensors: tensor '{name}': {problem}");
        let dtype = dtype_of(info.dtype)
            .ok_or_else(|| failed(&format!("elements of type {:?} are not read", info.dtype)))?;
        let shape: Result<Vec<i64>, _> = info.shape.iter().map(|&dim| i64::try_from(dim)).collect();
        let shape = shape.map_err(|_| failed("the shape is too large"))?;
        let (from, to) = info.data_offsets;
        let range = start.saturating_add(from)..start.saturating_add(to);
        if range.start > range.end || range.end > bytes.len() {
            return Err(failed("its bytes lie outside of the file"));
        }
        let tensor = Tensor::new(dtype, shape, bytes.slice(range))
            .map_err(|error| failed(error.message()))?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

fn dtype_of(dtype: Dtype) -> Option<DType> {
    use DTypeCode as Code;
    let (code, bits) = match dtype {
        Dtype::BOOL => (Code::Bool, 8),
        Dtype::F4 => (Code::Float4E2M1FN, 4),
        Dtype::F6_E2M3 => (Code::Float6E2M3FN, 6),
        Dtype::F6_E3M2 => (Code::Float6E3M2FN, 6),
        Dtype::U8 => (Code::UInt, 8),
        Dtype::I8 => (Code::Int, 8),
        Dtype::F8_E5M2 => (Code::Float8E5M2, 8),
        Dtype::F8_E4M3 => (Code::Float8E4M3FN, 8),
        Dtype::F8_E8M0 => (Code::Float8E8M0FNU, 8),
        Dtype::I16 => (Code::Int, 16),
        Dtype::U16 => (Code::UInt, 16),
        Dtype::F16 => (Code::Float, 16),
        Dtype::BF16 => (Code::BFloat, 16),
        Dtype::I32 => (Code::Int, 32),
        Dtype::U32 => (Code::UInt, 32),
        Dtype::F32 => (Code::Float, 32),
        Dtype::C64 => (Code::Complex, 64),
        Dtype::F64 => (Code::Float, 64),
        Dtype::I64 => (Code::Int, 64),
        Dtype::U64 => (Code::UInt, 64),
        _ => return None,
    };
    Some(DType::new(code, bits))
}

fn npz(bytes: &Bytes) -> Result<Tensors, String> {
    let damaged = |problem: &dyn std::fmt::Display| {
        format!("this is a zip archive, but cut short or damaged: {problem}; fetch the file again")
    };
    let mut archive = ZipArchive::new(Cursor::new(&bytes[..])).map_err(|error| damaged(&error))?;
    if let Some(refusal) = other_archive(archive.file_names()) {
        return Err(refusal.into());
    }
    let mut left = LIMIT;
    let mut tensors = Tensors::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| damaged(&error))?;
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let failed = |problem: &str| format!("NumPy archive: array '{name}': {problem}");
        let array = match (entry.compression(), entry.data_start()) {
            (CompressionMethod::Stored, Some(start)) => {
                let range = usize::try_from(start)
                    .ok()
                    .zip(usize::try_from(entry.size()).ok())
                    .and_then(|(start, size)| Some(start..start.checked_add(size)?));
                let range = range.filter(|range| range.end <= bytes.len());
                bytes.slice(range.ok_or_else(|| failed("its bytes lie outside of the file"))?)
            }
            _ => {
                let mut out = Vec::new();
                let read = (&mut entry).take(left + 1).read_to_end(&mut out);
                read.map_err(|error| failed(&format!("cut short or damaged: {error}")))?;
                left = left.checked_sub(out.len() as u64).ok_or_else(|| {
                    failed(&format!(
                        "the archive has more than {LIMIT} bytes when it is unpacked, the limit for compressed files; write it with numpy.savez, without compression"
                    ))
                })?;
                Bytes::from(out)
            }
        };
        let mut sum = flate2::Crc::new();
        sum.update(&array);
        if sum.sum() != entry.crc32() {
            return Err(failed("the checksum is wrong; fetch the file again"));
        }
        let tensor = npy::read(&array).map_err(|problem| failed(&problem))?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(failed("the name occurs twice"));
        }
    }
    Ok(tensors)
}

/// The refusal of an archive that does not consist of arrays.
fn other_archive<'n>(names: impl Iterator<Item = &'n str>) -> Option<Cow<'static, str>> {
    let names: Vec<&str> = names.collect();
    let any = |part: &str| names.iter().any(|name| name.contains(part));
    if any("/code/") || any("constants.pkl") {
        return Some("this is a TorchScript model, which isoform does not read; export the model with torch.onnx.export".into());
    }
    if any("data.pkl") {
        return Some("this is a PyTorch file with a pickle in it, which isoform does not read, because reading a pickle runs the code in it; export the model with torch.onnx.export, or the weights with safetensors.torch.save_file".into());
    }
    if any("model.weights.h5") {
        return Some(
            "this is a Keras model, which isoform does not read; convert it with tf2onnx".into(),
        );
    }
    let other = names.iter().find(|name| !name.ends_with(".npy"));
    match (names.is_empty(), other) {
        (true, _) => Some("this is an empty zip archive; give an ONNX model or an IR file".into()),
        (_, Some(name)) => Some(
            format!("this is a zip archive, and '{name}' in it is not an array of NumPy; unpack it with 'unzip' and give a file from it").into(),
        ),
        (_, None) => None,
    }
}
