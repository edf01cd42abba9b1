//! Encodes strings as numbers, to reuse the kernels for moving and comparing numbers.

use isoform::values::Bytes;
use isoform::{Array, Value};
use isoform_kernels::{Control, Tensor as Computed, View, to_i64s};

use super::constants;
use super::refusal::Refusal;
use crate::ir::StringTensor;

/// The distinct strings of all inputs in the order of their bytes. A string's number is
/// its position: numbers compare like the strings. The empty string is number 0.
pub(super) struct StringIds {
    sorted: Vec<Bytes>,
}

impl StringIds {
    /// The strings of the inputs; None if no input has any type of strings.
    /// O(n log n) comparisons.
    pub(super) fn new(inputs: &[Option<Value>]) -> Result<Option<Self>, Refusal> {
        let tensors: Vec<&StringTensor> = inputs
            .iter()
            .flatten()
            .filter_map(constants::strings)
            .collect();
        if tensors.is_empty() {
            return Ok(None);
        }
        let mut sorted: Vec<Bytes> = vec![Bytes::from(Vec::new())];
        sorted.extend(
            tensors
                .iter()
                .flat_map(|tensor| tensor.values.iter().cloned()),
        );
        sorted.sort_by(|left, right| left[..].cmp(&right[..]));
        sorted.dedup_by(|left, right| left[..] == right[..]);
        Ok(Some(StringIds { sorted }))
    }

    /// The numbers of a tensor's strings.
    pub(super) fn tensor(
        &self,
        strings: &StringTensor,
        control: &Control<'_>,
    ) -> Result<Computed, Refusal> {
        let shape = sizes(&strings.shape)?;
        let id = |text: &Bytes| {
            let found = self
                .sorted
                .binary_search_by(|other| other[..].cmp(&text[..]));
            found.unwrap_or_else(|place| place) as i64
        };
        let ids: Vec<i64> = strings.values.iter().map(id).collect();
        Ok(isoform_kernels::from_i64s(
            &ids,
            isoform_kernels::ElementType::Int64,
            &shape,
            control,
        )?)
    }

    /// The strings with these numbers.
    pub(super) fn strings(
        &self,
        ids: View<'_>,
        control: &Control<'_>,
    ) -> Result<Array<Bytes>, Refusal> {
        let ids = to_i64s(ids, control)?;
        let strings = ids.iter().map(|id| {
            let found = usize::try_from(*id).ok().and_then(|id| self.sorted.get(id));
            found
                .cloned()
                .ok_or_else(|| Refusal::new("expected the number of a string"))
        });
        Ok(strings.collect::<Result<Vec<Bytes>, Refusal>>()?.into())
    }
}

/// Dimensions as sizes.
pub(super) fn sizes(dims: &[i64]) -> Result<Vec<usize>, Refusal> {
    let sizes = dims.iter().map(|dim| {
        usize::try_from(*dim)
            .map_err(|_| Refusal::new(format!("expected a size of 0 or more, got {dim}")))
    });
    sizes.collect()
}
