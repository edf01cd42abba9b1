//! Calls with bodies: the steps before, between and after the bodies of If, Loop, Scan
//! and SequenceMap. FlexAttention is in `flex.rs`.

use isoform::{Array, Value};
use isoform_ir::kernels::{Input as KernelInput, tensor_of};
use isoform_kernels::{Control, Tensor as Computed, View, movement};

use super::flex::{self, Flex, FlexState};
use super::plan::items;
use crate::eval::call::compute;
use crate::eval::constants;
use crate::eval::refusal::Refusal;
use crate::eval::results::reshaped;
use crate::eval::strings::sizes;
use crate::ir::{Call, TensorType};
use crate::layout::{Body, BodyKind};

/// The purpose of the results of a body.
pub(super) enum After {
    /// The results of the program.
    Program,
    /// The results of the call; the body is a branch or a function.
    Call,
    /// The values that start the next iteration, or end the loop.
    Loop(Box<LoopState>),
    /// The results for a single slice of the scanned tensors.
    Scan(Box<ScanState>),
    /// The results for a single position of the mapped sequences.
    Map(Box<MapState>),
    /// The modified scores or weights of an attention.
    Flex(Box<FlexState>),
}

/// The continuation of a body.
pub(super) enum Step {
    /// The body runs again.
    Again { after: After, inputs: Vec<Value> },
    /// Another body of the call runs.
    Enter {
        body: usize,
        after: After,
        inputs: Vec<Value>,
    },
    /// The call has these results.
    Done(Vec<Value>),
}

pub(super) struct LoopState {
    next: i64,
    /// The number of iterations, if limited.
    trips: Option<i64>,
    carried: usize,
    scanned: Vec<Vec<Value>>,
    empty: Vec<Value>,
}

pub(super) struct ScanState {
    next: usize,
    length: usize,
    states: usize,
    inputs: Vec<Scanned>,
    outputs: Vec<(i64, bool)>,
    collected: Vec<Vec<Value>>,
}

struct Scanned {
    value: Value,
    axis: i64,
    reversed: bool,
}

pub(super) struct MapState {
    next: usize,
    length: usize,
    inputs: Vec<Value>,
    collected: Vec<Vec<Value>>,
}

/// The start of a call with bodies; None for any other call.
pub(super) fn start(
    call: &Call,
    inputs: &[Option<Value>],
    body: &dyn Fn(&str) -> Option<usize>,
    bodies: &[Body],
    control: &Control<'_>,
) -> Result<Option<(usize, Step)>, Refusal> {
    if call.callee.is_none() && call.domain == "ai.onnx.preview" && call.op == "FlexAttention" {
        let graphs = ["score_mod", "prob_mod"].map(body);
        return match graphs {
            [None, None] => Ok(None),
            _ => Ok(Some((
                0,
                flex::start(call, inputs, graphs, control)?.into(),
            ))),
        };
    }
    let Some(name) = call.standard_op() else {
        return Ok(None);
    };
    let find = |label: &str| {
        body(label).ok_or_else(|| Refusal::new(format!("expected a graph as attribute '{label}'")))
    };
    let (inner, step) = match name {
        "If" => {
            let taken = truth(input(inputs, 0)?)?;
            let label = if taken { "then_branch" } else { "else_branch" };
            (
                find(label)?,
                Step::Again {
                    after: After::Call,
                    inputs: Vec::new(),
                },
            )
        }
        "Loop" => {
            let inner = find("body")?;
            (inner, start_loop(inputs, &bodies[inner].kind)?)
        }
        "Scan" => {
            let inner = find("body")?;
            (
                inner,
                start_scan(call, inputs, &bodies[inner].kind, control)?,
            )
        }
        "SequenceMap" => (find("body")?, start_map(call, inputs)?),
        _ => return Ok(None),
    };
    Ok(Some((inner, step)))
}

impl From<Flex> for Step {
    fn from(flex: Flex) -> Self {
        match flex {
            Flex::Graph { body, state, input } => Step::Enter {
                body,
                after: After::Flex(state),
                inputs: vec![input],
            },
            Flex::Done(value) => Step::Done(vec![value]),
        }
    }
}

impl After {
    /// The continuation after a body with these results.
    pub(super) fn results(
        self,
        results: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        match self {
            After::Program | After::Call => Ok(Step::Done(results)),
            After::Loop(state) => state.after(results, control),
            After::Scan(state) => state.after(results, control),
            After::Map(state) => state.after(results),
            After::Flex(state) => Ok(state.after(&results, control)?.into()),
        }
    }
}

fn input(inputs: &[Option<Value>], at: usize) -> Result<&Value, Refusal> {
    let value = inputs.get(at).and_then(Option::as_ref);
    value.ok_or_else(|| Refusal::new(format!("expected input {at}, which is omitted")))
}

/// The single element of a tensor as bytes.
fn single(value: &Value) -> Result<&[u8], Refusal> {
    let tensor = constants::dense(value);
    let tensor = tensor.filter(|tensor| tensor.shape().iter().all(|size| *size == 1));
    tensor
        .map(|tensor| &tensor.data()[..])
        .ok_or_else(|| Refusal::new("expected a tensor with one element"))
}

fn truth(value: &Value) -> Result<bool, Refusal> {
    match single(value)? {
        [byte] => Ok(*byte != 0),
        _ => Err(Refusal::new("expected a truth value")),
    }
}

fn integer(value: &Value) -> Result<i64, Refusal> {
    match *single(value)? {
        [a, b, c, d, e, f, g, h] => Ok(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        [a, b, c, d] => Ok(i64::from(i32::from_le_bytes([a, b, c, d]))),
        _ => Err(Refusal::new("expected an integer of 64 bits")),
    }
}

fn constant(tensor: Computed) -> Result<Value, Refusal> {
    Ok(tensor_of(tensor, &Control::default())?.into())
}

fn start_loop(inputs: &[Option<Value>], body: &BodyKind) -> Result<Step, Refusal> {
    let optional = |index: usize| inputs.get(index).and_then(Option::as_ref);
    let trips = optional(0).map(integer).transpose()?;
    let condition = optional(1).map(truth).transpose()?;
    let carried: Vec<Value> = inputs
        .iter()
        .skip(2)
        .map(|value| value.clone().unwrap_or(Value::NONE))
        .collect();
    let scanned = body
        .results()
        .len()
        .checked_sub(1 + carried.len())
        .ok_or_else(|| Refusal::new("the body has fewer results than states"))?;
    let state = LoopState {
        next: 0,
        trips,
        carried: carried.len(),
        scanned: vec![Vec::new(); scanned],
        empty: (0..scanned)
            .map(|index| empty_scan(body, 1 + carried.len() + index))
            .collect(),
    };
    Box::new(state).go_on(condition.unwrap_or(true), carried, &Control::default())
}

/// The scanned result without iterations, as far as its type is declared.
fn empty_scan(body: &BodyKind, at: usize) -> Value {
    let BodyKind::Graph(graph) = body else {
        return Value::NONE;
    };
    let ty = graph
        .result_types
        .values()
        .get(at)
        .and_then(Value::as_object)
        .and_then(|object| object.downcast_ref::<TensorType>());
    let Some((ty, dtype)) = ty.and_then(|ty| Some((ty, ty.elem.as_dtype()?))) else {
        return Value::NONE;
    };
    let mut shape = vec![0];
    let dims = ty.shape.iter().flat_map(|shape| shape.values());
    shape.extend(dims.map(|dim| dim.as_int().unwrap_or(0)));
    isoform::values::Tensor::new(dtype, shape, Vec::new()).map_or(Value::NONE, Value::from)
}

impl LoopState {
    fn after(
        mut self: Box<Self>,
        results: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        let mut results = results.into_iter();
        let condition = results
            .next()
            .ok_or_else(|| Refusal::new("the body has no condition"))?;
        let condition = truth(&condition)?;
        let carried: Vec<Value> = results.by_ref().take(self.carried).collect();
        for (all, value) in self.scanned.iter_mut().zip(results) {
            // A result without elements is still a tensor and takes memory.
            if all.len() >= control.max_bytes / 64 {
                return Err(Refusal::new(
                    "the results of the loop exceed the limit of memory",
                ));
            }
            all.push(value);
        }
        self.go_on(condition, carried, control)
    }

    fn go_on(
        mut self: Box<Self>,
        condition: bool,
        carried: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        if condition && self.trips.is_none_or(|trips| self.next < trips) {
            let mut inputs = vec![constant(Computed::scalar(self.next))?];
            inputs.push(constant(Computed::scalar(true))?);
            inputs.extend(carried);
            self.next += 1;
            return Ok(Step::Again {
                after: After::Loop(self),
                inputs,
            });
        }
        let mut values = carried;
        for (all, empty) in self.scanned.iter().zip(&self.empty) {
            values.push(if all.is_empty() {
                empty.clone()
            } else {
                stacked(all, 0, control)?
            });
        }
        Ok(Step::Done(values))
    }
}

/// Equal tensors along a new axis.
fn stacked(values: &[Value], axis: i64, control: &Control<'_>) -> Result<Value, Refusal> {
    let expanded = values
        .iter()
        .map(|value| {
            let rank = rank(value)?;
            let at = isoform_kernels::shape::axis(axis, rank + 1)?;
            let mut shape = shape_of(value)?;
            shape.insert(at, 1);
            Ok(Some(reshaped(value, &shape)?))
        })
        .collect::<Result<Vec<Option<Value>>, Refusal>>()?;
    joined(&expanded, axis, control)
}

/// Tensors joined along an axis.
pub(super) fn joined(
    values: &[Option<Value>],
    axis: i64,
    control: &Control<'_>,
) -> Result<Value, Refusal> {
    let attributes = [("axis", axis)];
    single_result(operator("Concat", &attributes), values, control)
}

/// A call of an operator on values.
pub(super) fn operator(op: &str, attributes: &[(&str, i64)]) -> Call {
    let attrs = attributes
        .iter()
        .map(|(name, value)| ((*name).into(), Value::from(*value)));
    Call {
        domain: "".into(),
        op: op.into(),
        version: 18,
        callee: None,
        attrs: attrs.collect(),
        inputs: Array::new(),
        outputs: 1,
        name: "".into(),
        op_name: op.into(),
        doc: "".into(),
        input_names: Array::new(),
        output_names: Array::new(),
        graph: "".into(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    }
}

pub(super) fn single_result(
    call: Call,
    values: &[Option<Value>],
    control: &Control<'_>,
) -> Result<Value, Refusal> {
    let results = compute(&call, values, control, false)?;
    results
        .into_iter()
        .next()
        .ok_or_else(|| Refusal::new("expected a result"))
}

pub(super) fn shape_of(value: &Value) -> Result<Vec<usize>, Refusal> {
    if let Some(tensor) = constants::dense(value) {
        return sizes(tensor.shape());
    }
    match constants::strings(value) {
        Some(strings) => sizes(&strings.shape),
        None => Err(Refusal::new("expected a tensor")),
    }
}

fn rank(value: &Value) -> Result<usize, Refusal> {
    Ok(shape_of(value)?.len())
}

/// One index of an axis, without the axis.
fn element(value: &Value, axis: i64, at: usize, control: &Control<'_>) -> Result<Value, Refusal> {
    let tensor = constants::dense(value).ok_or_else(|| Refusal::new("expected a dense tensor"))?;
    let input = KernelInput::new(tensor, control)?;
    let view: View<'_> = input.view()?;
    let slice = movement::AxisSlice {
        axis,
        begin: Some(at as i64),
        end: Some(at as i64 + 1),
        step: 1,
    };
    let part = movement::strided_slice(view, &[slice], control)?;
    let (ty, mut shape, bytes) = part.into_parts();
    shape.remove(isoform_kernels::shape::axis(axis, shape.len())?);
    Ok(tensor_of(Computed::new(ty, shape, bytes)?, control)?.into())
}

fn start_scan(
    call: &Call,
    inputs: &[Option<Value>],
    body: &BodyKind,
    control: &Control<'_>,
) -> Result<Step, Refusal> {
    if call.version < 9 {
        return Err(Refusal::new(
            "Scan has no kernel before version 9 of the operator set",
        ));
    }
    let count = call.int("num_scan_inputs")?.unwrap_or(0);
    let count = usize::try_from(count)
        .ok()
        .filter(|count| (1..=inputs.len()).contains(count))
        .ok_or_else(|| Refusal::new("expected a number of scanned inputs"))?;
    let states = inputs.len() - count;
    let outputs = body
        .results()
        .len()
        .checked_sub(states)
        .ok_or_else(|| Refusal::new("the body has fewer results than states"))?;
    let list = |name: &str, count: usize| -> Result<Vec<i64>, Refusal> {
        let values = call.ints(name)?.unwrap_or_else(|| vec![0; count]);
        if values.len() == count {
            return Ok(values);
        }
        Err(Refusal::new(format!(
            "expected {count} numbers in '{name}'"
        )))
    };
    let axes = list("scan_input_axes", count)?;
    let directions = list("scan_input_directions", count)?;
    let output_axes = list("scan_output_axes", outputs)?;
    let output_directions = list("scan_output_directions", outputs)?;
    let mut scanned = Vec::with_capacity(count);
    let mut length = None;
    for index in 0..count {
        let value = input(inputs, states + index)?.clone();
        let shape = shape_of(&value)?;
        let size = shape[isoform_kernels::shape::axis(axes[index], shape.len())?];
        if length.is_some_and(|length| length != size) {
            return Err(Refusal::new("expected scanned inputs of one length"));
        }
        length = Some(size);
        scanned.push(Scanned {
            value,
            axis: axes[index],
            reversed: directions[index] != 0,
        });
    }
    let state = ScanState {
        next: 0,
        length: length.unwrap_or(0),
        states,
        inputs: scanned,
        outputs: output_axes
            .into_iter()
            .zip(output_directions)
            .map(|(axis, direction)| (axis, direction != 0))
            .collect(),
        collected: vec![Vec::new(); outputs],
    };
    let first = inputs[..states]
        .iter()
        .map(|value| value.clone().unwrap_or(Value::NONE));
    Box::new(state).go_on(first.collect(), control)
}

impl ScanState {
    fn after(
        mut self: Box<Self>,
        results: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        let mut results = results.into_iter();
        let states: Vec<Value> = results.by_ref().take(self.states).collect();
        for (all, value) in self.collected.iter_mut().zip(results) {
            all.push(value);
        }
        self.go_on(states, control)
    }

    fn go_on(
        mut self: Box<Self>,
        states: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        if self.next < self.length {
            let mut inputs = states;
            for scanned in &self.inputs {
                let position = if scanned.reversed {
                    self.length - 1 - self.next
                } else {
                    self.next
                };
                inputs.push(element(&scanned.value, scanned.axis, position, control)?);
            }
            self.next += 1;
            return Ok(Step::Again {
                after: After::Scan(self),
                inputs,
            });
        }
        let mut values = states;
        for (all, (axis, reversed)) in self.collected.iter_mut().zip(&self.outputs) {
            if all.is_empty() {
                return Err(Refusal::new("the shape of a scan of nothing is not known"));
            }
            if *reversed {
                all.reverse();
            }
            values.push(stacked(all, *axis, control)?);
        }
        Ok(Step::Done(values))
    }
}

fn start_map(call: &Call, inputs: &[Option<Value>]) -> Result<Step, Refusal> {
    let first = items(input(inputs, 0)?).ok_or_else(|| Refusal::new("expected a sequence"))?;
    let length = first.len();
    let values: Vec<Value> = inputs
        .iter()
        .map(|value| value.clone().unwrap_or(Value::NONE))
        .collect();
    if values
        .iter()
        .filter_map(items)
        .any(|items| items.len() != length)
    {
        return Err(Refusal::new("expected sequences of one length"));
    }
    let outputs = usize::try_from(call.outputs).unwrap_or(0);
    let state = MapState {
        next: 0,
        length,
        inputs: values,
        collected: vec![Vec::new(); outputs],
    };
    Ok(Box::new(state).go_on())
}

impl MapState {
    fn after(mut self: Box<Self>, results: Vec<Value>) -> Result<Step, Refusal> {
        for (all, value) in self.collected.iter_mut().zip(results) {
            all.push(value);
        }
        Ok(self.go_on())
    }

    fn go_on(mut self: Box<Self>) -> Step {
        if self.next < self.length {
            let at = self.next;
            self.next += 1;
            let inputs = self
                .inputs
                .iter()
                .map(|value| match items(value) {
                    Some(items) => items.get(at).cloned().unwrap_or(Value::NONE),
                    None => value.clone(),
                })
                .collect();
            return Step::Again {
                after: After::Map(self),
                inputs,
            };
        }
        Step::Done(self.collected.into_iter().map(Value::from).collect())
    }
}
