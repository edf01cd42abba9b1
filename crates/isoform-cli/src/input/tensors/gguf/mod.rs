//! The format of llama.cpp: metadata and named tensors, often quantised.
//!
//! A file becomes a map with two entries. `"metadata"` maps each key to a bool, an
//! integer, a float, a string or a list; the width of a number in the file is not part of
//! the value. `"tensors"` maps each name to a tensor, or to a description of a quantised
//! one: a map with the name of its type, its shape in elements, and its blocks as a
//! tensor of bytes. Nothing is dequantised, and the bytes stay those of the mapped file.
//!
//! `cursor.rs` reads numbers and strings within the bounds of the file, `metadata.rs`
//! values, and `types.rs` lists the types of elements. Versions before 2 and files in
//! big-endian order are refused.

mod cursor;
mod metadata;
mod types;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Array, Map, Str, Value};

use cursor::Cursor;
use types::{Element, Layout};

pub(super) const MAGIC: &[u8] = b"GGUF";

/// The entry of a file's map with its metadata.
pub(crate) const METADATA: &str = "metadata";
/// The entry of a file's map with its tensors.
pub(crate) const TENSORS: &str = "tensors";
/// The entry of a quantised tensor with the name of its type.
pub(crate) const TYPE: &str = "type";
/// The entry of a quantised tensor with its dimensions, in elements.
pub(crate) const SHAPE: &str = "shape";
/// The entry of a quantised tensor with its bytes.
pub(crate) const BLOCKS: &str = "blocks";

/// The key for the number of bytes to a multiple of which each tensor is aligned.
const ALIGNMENT: &str = "general.alignment";
/// The alignment of a file that does not name one.
const DEFAULT_ALIGNMENT: u64 = 32;
/// The number of dimensions that a tensor of ggml has at most.
const MAX_DIMS: u32 = 4;

/// The smallest entry of the metadata: an empty key, a type and a byte.
const MIN_PAIR: usize = 8 + 4 + 1;
/// The smallest description of a tensor: an empty name and no dimension.
const MIN_TENSOR: usize = 8 + 4 + 4 + 8;

/// Reads a file. Memory is proportional to its header, whatever numbers the header
/// claims. O(header · log tensors).
pub(super) fn read(file: &Bytes) -> Result<Value, String> {
    read_file(file).map_err(|problem| format!("GGUF: {problem}"))
}

fn read_file(file: &Bytes) -> Result<Value, String> {
    let mut cursor = Cursor::new(file);
    cursor.take(MAGIC.len())?;
    check_version(cursor.u32()?)?;
    let tensor_count = cursor.u64()?;
    let pair_count = cursor.u64()?;
    let pairs = pairs(&mut cursor, pair_count)?;
    let alignment = alignment(&pairs)?;
    let tensors = infos(&mut cursor, tensor_count)?;
    let start = (cursor.position() as u64)
        .checked_next_multiple_of(alignment)
        .ok_or("the alignment is larger than any file")?;
    let mut ranges = Vec::with_capacity(tensors.len());
    let mut entries = Vec::with_capacity(tensors.len());
    for (name, info) in &tensors {
        let failed = |problem| format!("tensor '{name}': {problem}");
        let range = info.range(start, alignment, file.len()).map_err(failed)?;
        let value = info.value(file, &range).map_err(failed)?;
        if !range.is_empty() {
            ranges.push((range, name.as_str()));
        }
        entries.push((Str::from(name.as_str()), value));
    }
    check_overlaps(ranges)?;
    Ok(text_map([
        (METADATA, Map::from_iter(pairs).into()),
        (TENSORS, Map::from_iter(entries).into()),
    ]))
}

fn text_map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.map(|(key, value)| (Str::from(key), value));
    Map::<Str, Value>::from_iter(entries).into()
}

fn check_version(version: u32) -> Result<(), String> {
    match version {
        2 | 3 => Ok(()),
        1 => Err(
            "version 1 of the format is not read; convert the original model again with a current llama.cpp".to_owned(),
        ),
        // The version is a small number, whose bytes are swapped here.
        _ if version != 0 && version.trailing_zeros() >= 16 => Err(
            "the file is in big-endian order, which isoform does not read; convert it with 'gguf-convert-endian FILE little' (pip install gguf)".to_owned(),
        ),
        _ => Err(format!(
            "expected version 2 or 3 of the format, got {version}"
        )),
    }
}

/// The metadata, sorted by key, so that the order of the file does not count.
fn pairs(cursor: &mut Cursor<'_>, count: u64) -> Result<Vec<(Str, Value)>, String> {
    let count = cursor
        .count(count, MIN_PAIR)
        .map_err(|problem| format!("the count of the metadata: {problem}"))?;
    let mut pairs = BTreeMap::new();
    for number in 0..count {
        let key = cursor.text();
        let key = key.map_err(|problem| format!("key {number} of the metadata: {problem}"))?;
        let failed = |problem| format!("metadata '{key}': {problem}");
        let value = metadata::read(cursor).map_err(failed)?;
        if pairs.insert(key, value).is_some() {
            return Err(failed("the key occurs twice".to_owned()));
        }
    }
    let pairs = pairs.into_iter();
    Ok(pairs.map(|(key, value)| (Str::from(key), value)).collect())
}

fn alignment(pairs: &[(Str, Value)]) -> Result<u64, String> {
    let Some((_, value)) = pairs.iter().find(|(key, _)| key.as_str() == ALIGNMENT) else {
        return Ok(DEFAULT_ALIGNMENT);
    };
    let number = value.as_int().and_then(|number| u64::try_from(number).ok());
    number
        .filter(|number| number.is_power_of_two())
        .ok_or_else(|| format!("metadata '{ALIGNMENT}': expected a power of two, got {value:?}"))
}

/// The description of a tensor.
struct TensorInfo {
    element: &'static Element,
    /// The dimensions in the order of the format: the last one runs slowest.
    dims: Vec<u64>,
    /// The distance of the first byte from the start of all tensors.
    offset: u64,
}

/// The descriptions of the tensors, sorted by name.
fn infos(cursor: &mut Cursor<'_>, count: u64) -> Result<BTreeMap<String, TensorInfo>, String> {
    let count = cursor
        .count(count, MIN_TENSOR)
        .map_err(|problem| format!("the count of the tensors: {problem}"))?;
    let mut tensors = BTreeMap::new();
    for number in 0..count {
        let name = cursor.text();
        let name = name.map_err(|problem| format!("the name of tensor {number}: {problem}"))?;
        let failed = |problem| format!("tensor '{name}': {problem}");
        let info = TensorInfo::read(cursor).map_err(failed)?;
        if tensors.contains_key(name) {
            return Err(failed("the name occurs twice".to_owned()));
        }
        tensors.insert(name.to_owned(), info);
    }
    Ok(tensors)
}

impl TensorInfo {
    fn read(cursor: &mut Cursor<'_>) -> Result<TensorInfo, String> {
        let dim_count = cursor.u32()?;
        if dim_count > MAX_DIMS {
            return Err(format!(
                "expected at most {MAX_DIMS} dimensions, got {dim_count}"
            ));
        }
        let dims: Result<Vec<u64>, String> = (0..dim_count).map(|_| cursor.u64()).collect();
        let dims = dims?;
        let element = types::element(cursor.u32()?)?;
        let offset = cursor.u64()?;
        Ok(TensorInfo {
            element,
            dims,
            offset,
        })
    }

    /// The position of the bytes in the file.
    fn range(&self, start: u64, alignment: u64, file: usize) -> Result<Range<usize>, String> {
        if !self.offset.is_multiple_of(alignment) {
            return Err(format!(
                "the offset {} is not a multiple of the alignment {alignment}",
                self.offset
            ));
        }
        let bytes = self.byte_count()?;
        if bytes == 0 {
            return Ok(0..0);
        }
        let from = start.checked_add(self.offset);
        let range = from.and_then(|from| {
            let to = from.checked_add(bytes)?;
            Some(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
        });
        range.filter(|range| range.end <= file).ok_or_else(|| {
            format!(
                "its {bytes} bytes at offset {} lie outside of the file, which has {file} bytes; fetch the file again",
                self.offset
            )
        })
    }

    fn byte_count(&self) -> Result<u64, String> {
        let element = self.element;
        let row = self.row();
        if !row.is_multiple_of(element.elements) {
            return Err(format!(
                "expected rows of whole blocks of {} elements of type {}, got rows of {row}",
                element.elements, element.name
            ));
        }
        let rows = self.dims.iter().skip(1).try_fold(1, product);
        rows.and_then(|rows| product(rows, &(row / element.elements)))
            .and_then(|blocks| product(blocks, &element.bytes))
            .ok_or_else(|| format!("the shape {:?} is too large", self.dims))
    }

    /// The number of elements in a row; a tensor without dimensions is one element.
    fn row(&self) -> u64 {
        self.dims.first().copied().unwrap_or(1)
    }

    fn value(&self, file: &Bytes, range: &Range<usize>) -> Result<Value, String> {
        let element = self.element;
        let data = file.slice(range.clone());
        let mut shape = self.shape()?;
        let dtype = match element.layout {
            Layout::Plain(code, bits) => DType::new(code, bits),
            Layout::Blocks => DType::new(DTypeCode::UInt, 8),
        };
        if let Layout::Plain(..) = element.layout {
            return tensor(dtype, shape, data);
        }
        let elements: Array<i64> = shape.iter().copied().collect();
        shape.pop();
        for number in [self.row() / element.elements, element.bytes] {
            shape.push(i64::try_from(number).map_err(|_| "the shape is too large")?);
        }
        Ok(text_map([
            (TYPE, element.name.into()),
            (SHAPE, elements.into()),
            (BLOCKS, tensor(dtype, shape, data)?),
        ]))
    }

    /// The dimensions in the order of Isoform and NumPy: the last one runs fastest.
    fn shape(&self) -> Result<Vec<i64>, String> {
        let dims = self.dims.iter().rev().map(|&dim| i64::try_from(dim));
        let dims: Result<_, _> = dims.collect();
        dims.map_err(|_| format!("the shape {:?} is too large", self.dims))
    }
}

fn product(product: u64, factor: &u64) -> Option<u64> {
    product.checked_mul(*factor)
}

fn tensor(dtype: DType, shape: Vec<i64>, data: Bytes) -> Result<Value, String> {
    let tensor = Tensor::new(dtype, shape, data);
    tensor
        .map(Value::from)
        .map_err(|error| error.message().to_owned())
}

/// Refuses tensors that share bytes: with many names for all of its bytes, a small file
/// would take forever to compare.
fn check_overlaps(mut ranges: Vec<(Range<usize>, &str)>) -> Result<(), String> {
    ranges.sort_unstable_by_key(|(range, _)| range.start);
    for ((left, left_name), (right, right_name)) in ranges.iter().zip(ranges.iter().skip(1)) {
        if right.start < left.end {
            return Err(format!(
                "tensors '{left_name}' and '{right_name}': their bytes overlap; fetch the file again"
            ));
        }
    }
    Ok(())
}
