//! Sequences and optional values, which exist only inside of programs.

use isoform::{Array, Value};
use isoform_kernels::{Control, Tensor as Computed, shape};

use super::control_flow::{joined, operator, shape_of, single_result};
use super::plan::items;
use crate::eval::constants;
use crate::eval::refusal::Refusal;
use crate::eval::results::reshaped;
use crate::ir::Call;

/// The results of an operator on sequences or optional values; None for any other
/// operator.
pub(super) fn compute(
    call: &Call,
    inputs: &[Option<Value>],
    control: &Control<'_>,
) -> Result<Option<Vec<Value>>, Refusal> {
    let Some(name) = call.standard_op() else {
        return Ok(None);
    };
    let input = |position: usize| inputs.get(position).and_then(Option::as_ref);
    let required = |position: usize| {
        input(position)
            .ok_or_else(|| Refusal::new(format!("expected input {position}, which is omitted")))
    };
    let sequence = |position: usize| -> Result<&[Value], Refusal> {
        items(required(position)?).ok_or_else(|| Refusal::new("expected a sequence"))
    };
    let value = match name {
        "Identity" if input(0).is_none_or(|value| items(value).is_some()) => {
            input(0).cloned().unwrap_or(Value::NONE)
        }
        "Optional" => input(0).cloned().unwrap_or(Value::NONE),
        "OptionalGetElement" => match input(0) {
            Some(value) => value.clone(),
            None => return Err(Refusal::new("expected a value, which is absent")),
        },
        "OptionalHasElement" => scalar(Computed::scalar(input(0).is_some()), control)?,
        "SequenceEmpty" => Array::<Value>::new().into(),
        "SequenceConstruct" => {
            let values = (0..inputs.len()).map(|position| required(position).cloned());
            values.collect::<Result<Vec<Value>, Refusal>>()?.into()
        }
        "SequenceLength" => scalar(Computed::scalar(sequence(0)?.len() as i64), control)?,
        "SequenceAt" => {
            let items = sequence(0)?;
            items[position(required(1)?, items.len())?].clone()
        }
        "SequenceInsert" => {
            let mut items = sequence(0)?.to_vec();
            let position = match input(2) {
                None => items.len(),
                Some(index) => insertion(index, items.len())?,
            };
            items.insert(position, required(1)?.clone());
            items.into()
        }
        "SequenceErase" => {
            let mut items = sequence(0)?.to_vec();
            let position = match input(1) {
                None => items.len().checked_sub(1).ok_or_else(|| {
                    Refusal::new("expected an item to erase, got an empty sequence")
                })?,
                Some(index) => position(index, items.len())?,
            };
            items.remove(position);
            items.into()
        }
        "ConcatFromSequence" => {
            let axis = call
                .int("axis")?
                .ok_or_else(|| Refusal::new("expected an axis"))?;
            let new = call.int("new_axis")?.unwrap_or(0) != 0;
            let items = sequence(0)?.iter().map(|item| {
                if !new {
                    return Ok(Some(item.clone()));
                }
                let mut sizes = shape_of(item)?;
                sizes.insert(shape::axis(axis, sizes.len() + 1)?, 1);
                Ok(Some(reshaped(item, &sizes)?))
            });
            joined(&items.collect::<Result<Vec<_>, Refusal>>()?, axis, control)?
        }
        "SplitToSequence" => split(call, required(0)?, input(1), control)?,
        _ => return Ok(None),
    };
    Ok(Some(vec![value]))
}

fn scalar(tensor: Computed, control: &Control<'_>) -> Result<Value, Refusal> {
    Ok(isoform_ir::kernels::tensor_of(tensor, control)?.into())
}

/// The integers of a tensor.
fn integers(value: &Value, control: &Control<'_>) -> Result<Vec<i64>, Refusal> {
    let tensor = constants::dense(value).ok_or_else(|| Refusal::new("expected integers"))?;
    let input = isoform_ir::kernels::Input::new(tensor, control)?;
    Ok(isoform_kernels::to_i64s(input.view()?, control)?)
}

fn index(value: &Value) -> Result<i64, Refusal> {
    match integers(value, &Control::default())?[..] {
        [at] => Ok(at),
        _ => Err(Refusal::new("expected one position")),
    }
}

/// A position of an item, which may count from the end.
fn position(value: &Value, length: usize) -> Result<usize, Refusal> {
    Ok(shape::axis(index(value)?, length)?)
}

/// A position to insert at, up to the end.
fn insertion(value: &Value, length: usize) -> Result<usize, Refusal> {
    let (at, size) = (index(value)?, length as i64);
    let counted = if at < 0 { at.saturating_add(size) } else { at };
    if (0..=size).contains(&counted) {
        return Ok(counted as usize);
    }
    Err(Refusal::new(format!(
        "expected a position from -{size} to {size}, got {at}"
    )))
}

fn split(
    call: &Call,
    value: &Value,
    lengths: Option<&Value>,
    control: &Control<'_>,
) -> Result<Value, Refusal> {
    let axis = call.int("axis")?.unwrap_or(0);
    let sizes = shape_of(value)?;
    let split_axis = shape::axis(axis, sizes.len())?;
    let size = sizes[split_axis];
    // A part without elements is still a tensor and takes memory.
    if lengths.is_none() && size > control.max_bytes / 64 {
        return Err(Refusal::new(format!(
            "{size} parts exceed the limit of memory"
        )));
    }
    let keeps = call.int("keepdims")?.unwrap_or(1) != 0 || lengths.is_some();
    let parts: Vec<usize> = match lengths {
        None => vec![1; size],
        Some(lengths) => {
            let is_scalar = shape_of(lengths)?.is_empty();
            let numbers = crate::eval::strings::sizes(&integers(lengths, control)?)?;
            match numbers[..] {
                [part] if is_scalar => {
                    if part == 0 {
                        return Err(Refusal::new("expected parts of one element or more"));
                    }
                    (0..size.div_ceil(part))
                        .map(|n| part.min(size - n * part))
                        .collect()
                }
                _ => numbers,
            }
        }
    };
    let mut items = Vec::with_capacity(parts.len());
    let mut start = 0_usize;
    for part in parts {
        let end = start.saturating_add(part);
        if end > size {
            return Err(Refusal::new(format!("expected parts that make {size}")));
        }
        let vector = |number: usize| -> Result<Option<Value>, Refusal> {
            Ok(Some(scalar(
                Computed::from_slice(&[1], &[number as i64])?,
                control,
            )?))
        };
        let inputs = [
            Some(value.clone()),
            vector(start)?,
            vector(end)?,
            vector(split_axis)?,
        ];
        let mut item = single_result(operator("Slice", &[]), &inputs, control)?;
        if !keeps {
            let mut shape = sizes.clone();
            shape.remove(split_axis);
            item = reshaped(&item, &shape)?;
        }
        items.push(item);
        start = end;
    }
    Ok(items.into())
}
