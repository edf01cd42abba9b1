//! The results of kernels, as constants of programs.

use isoform::values::{Bytes, Shape, Tensor};
use isoform::{Array, Ref, Value};
use isoform_ir::kernels::tensor_of;
use isoform_kernels::{ElementType, Tensor as Computed};

use super::args::Args;
use super::constants;
use super::ops::makes_strings;
use super::refusal::Refusal;
use super::strings::StringIds;
use crate::ir::StringTensor;

/// One result of an operator.
pub(super) enum OpResult {
    /// A new tensor.
    Tensor(Computed),
    /// The elements of an input with this shape. The result shares the input's bytes.
    Shaped(usize, Vec<usize>),
    /// New strings.
    Strings(Vec<usize>, Vec<Vec<u8>>),
    /// A constant that is known already.
    Value(Value),
}

impl From<Computed> for OpResult {
    fn from(tensor: Computed) -> Self {
        OpResult::Tensor(tensor)
    }
}

/// The results of an operator, or the reason why there are no results.
pub(super) type Outcome = Result<Vec<OpResult>, Refusal>;

/// A single result.
pub(super) fn one(made: impl Into<OpResult>) -> Outcome {
    Ok(vec![made.into()])
}

/// The requested results of a call, as constants.
pub(super) fn values(
    args: &Args<'_>,
    made: Vec<OpResult>,
    ids: Option<&StringIds>,
) -> Result<Vec<Value>, Refusal> {
    let requested = usize::try_from(args.call.outputs).unwrap_or(0);
    if made.len() < requested {
        return Err(args.fault(format!(
            "expected {requested} results, of which {} are known",
            made.len()
        )));
    }
    let made = made.into_iter().take(requested).enumerate();
    made.map(|(position, made)| value(args, made, ids, position))
        .collect()
}

fn value(
    args: &Args<'_>,
    result: OpResult,
    ids: Option<&StringIds>,
    position: usize,
) -> Result<Value, Refusal> {
    match result {
        OpResult::Tensor(computed) => {
            let is_string = computed.element_type() == ElementType::Int64
                && makes_strings(&args.call.op, position);
            match ids {
                Some(ids) if is_string => {
                    let values = ids.strings(computed.view(), args.control)?;
                    Ok(string_tensor(computed.shape(), values))
                }
                _ => Ok(tensor_of(computed, args.control)?.into()),
            }
        }
        OpResult::Shaped(position, shape) => {
            let value = args
                .values
                .get(position)
                .and_then(Option::as_ref)
                .ok_or_else(|| args.fault("expected an input"))?;
            reshaped(value, &shape)
        }
        OpResult::Value(value) => Ok(value),
        OpResult::Strings(shape, texts) => {
            let texts: Array<Bytes> = texts.into_iter().map(Bytes::from).collect();
            Ok(string_tensor(&shape, texts))
        }
    }
}

/// A constant with another shape of as many elements.
pub(super) fn reshaped(value: &Value, shape: &[usize]) -> Result<Value, Refusal> {
    if let Some(tensor) = constants::dense(value) {
        let shape = dims(shape);
        if tensor.shape() == shape {
            return Ok(value.clone());
        }
        let tensor = Tensor::new(tensor.dtype(), shape, tensor.data().clone());
        return tensor
            .map(Value::from)
            .map_err(|error| Refusal::new(error.to_string()));
    }
    match constants::strings(value) {
        Some(strings) => Ok(string_tensor(shape, strings.values.clone())),
        None => Err(Refusal::new("expected a tensor")),
    }
}

pub(super) fn string_tensor(shape: &[usize], values: Array<Bytes>) -> Value {
    Ref::new(StringTensor {
        shape: Shape::from(dims(shape)),
        values,
    })
    .into()
}

fn dims(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|size| *size as i64).collect()
}
