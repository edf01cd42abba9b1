//! Sparse constants.

use crate::{
    elem_type::ElemType,
    error::{OnnxError, Result, ResultExt},
    external::ExternalResolver,
    proto::{DataLocation, SparseTensorProto},
    tensor_data::{TensorData, decode_tensor, element_count},
};

/// A sparse constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SparseTensorData {
    /// Shape of the dense tensor. No dimension is negative.
    pub dims: Vec<i64>,
    /// Row-major positions in the dense tensor, strictly ascending.
    pub positions: Vec<u64>,
    /// The element at each position, a tensor of shape `[positions.len()]`.
    pub values: TensorData,
}

/// Reads a sparse tensor, bringing both ways of writing positions into one.
///
/// # Errors
///
/// Fails if the tensor contradicts itself, or if its positions are out of bounds, out of
/// order or given twice. The error names the tensor.
pub fn decode_sparse_tensor(
    sparse: &SparseTensorProto,
    resolver: &ExternalResolver,
) -> Result<SparseTensorData> {
    let name = sparse
        .values
        .as_ref()
        .map_or("", |values| values.name.as_str());
    decode_sparse(sparse, resolver).within(|| format!("sparse tensor '{name}'"))
}

fn decode_sparse(
    sparse: &SparseTensorProto,
    resolver: &ExternalResolver,
) -> Result<SparseTensorData> {
    let count = element_count(&sparse.dims)?;
    // Every position is checked, and without the data, the file can claim any number of
    // positions.
    if resolver.leaves_out()
        && let parts = [&sparse.values, &sparse.indices]
        && let mut parts = parts.into_iter().flatten()
        && parts.any(|part| part.data_location == i32::from(DataLocation::External))
    {
        return Err(OnnxError::unsupported(
            "external data of sparse tensors cannot be left out",
        ));
    }
    let values = sparse
        .values
        .as_ref()
        .ok_or_else(|| OnnxError::key("the values are missing"))?;
    let values = decode_tensor(values, resolver).within(|| "values")?;
    if values.dims.len() != 1 {
        return Err(OnnxError::value(format!(
            "expected values of rank 1, got rank {}",
            values.dims.len()
        )));
    }
    let entries = values.len();
    let positions = match &sparse.indices {
        Some(indices) => {
            let indices = decode_tensor(indices, resolver).within(|| "indices")?;
            positions(&sparse.dims, entries, &indices).within(|| "indices")?
        }
        // Writers may leave the indices out where there is nothing to index.
        None if entries == 0 => Vec::new(),
        None => return Err(OnnxError::key("the indices are missing")),
    };
    if let Some(position) = positions.iter().find(|&&position| position >= count as u64) {
        return Err(OnnxError::value(format!(
            "position {position} lies outside of the {count} elements of the shape"
        )));
    }
    if let Some(pair) = positions.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(OnnxError::value(format!(
            "positions must ascend, got {} before {}",
            pair[0], pair[1]
        )));
    }
    Ok(SparseTensorData {
        dims: sparse.dims.clone(),
        positions,
        values,
    })
}

/// Turns indices of shape `[entries]` or `[entries, rank]` into row-major positions.
fn positions(dims: &[i64], entries: usize, indices: &TensorData) -> Result<Vec<u64>> {
    let (ElemType::Int64, Some(bytes)) = (indices.elem, indices.bytes()) else {
        return Err(OnnxError::value(format!(
            "expected type int64, got {}",
            indices.elem
        )));
    };
    let width = match *indices.dims.as_slice() {
        [rows] if usize::try_from(rows) == Ok(entries) => None,
        [rows, columns]
            if usize::try_from(rows) == Ok(entries)
                && usize::try_from(columns) == Ok(dims.len()) =>
        {
            Some(dims.len())
        }
        _ => {
            return Err(OnnxError::value(format!(
                "expected shape [{entries}] or [{entries}, {}], got {:?}",
                dims.len(),
                indices.dims
            )));
        }
    };
    let numbers = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&chunk| i64::from_le_bytes(chunk));
    let Some(rank) = width else {
        return numbers
            .map(|number| {
                u64::try_from(number)
                    .map_err(|_| OnnxError::value(format!("position {number} is negative")))
            })
            .collect();
    };
    let numbers: Vec<i64> = numbers.collect();
    let rows = (0..entries).map(|row| &numbers[row * rank..(row + 1) * rank]);
    rows.map(|row| {
        let mut position = 0_u64;
        for (&index, &dim) in row.iter().zip(dims) {
            if !(0..dim).contains(&index) {
                return Err(OnnxError::value(format!(
                    "index {index} lies outside of a dimension of {dim}"
                )));
            }
            // Cannot overflow: every partial position is below the product of the
            // dimensions, which was checked.
            position = position
                .saturating_mul(dim as u64)
                .saturating_add(index as u64);
        }
        Ok(position)
    })
    .collect()
}

#[cfg(test)]
mod tests;
