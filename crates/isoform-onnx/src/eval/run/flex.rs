//! FlexAttention: what happens before, between and after the graphs that change its scores
//! and its weights.

use isoform::kernels::{Input as KernelInput, tensor_of};
use isoform::{Node as _, Value};
use isoform_kernels::{Control, Tensor as Computed};

use super::control_flow::{After, Step, shape_of};
use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::ops::flex;
use crate::eval::refusal::Refusal;
use crate::ir::Call;

/// An attention that waits for a graph.
pub(super) struct FlexState {
    call: Call,
    inputs: Vec<Option<Value>>,
    /// The shape that the graph has to keep.
    shape: Vec<usize>,
    /// The graph that changes the weights, while that of the scores is active.
    weights: Option<usize>,
    /// True if the graph changes weights, not scores.
    has_weights: bool,
}

/// The start of a call with at least one graph.
pub(super) fn start(
    call: &Call,
    inputs: &[Option<Value>],
    [scores, weights]: [Option<usize>; 2],
    control: &Control<'_>,
) -> Result<Step, Refusal> {
    let args = Args::new(call, inputs, None, control, false)?;
    let first = flex::scores(&args)?;
    let state = Box::new(FlexState {
        call: call.clone_fields(),
        inputs: inputs.to_vec(),
        shape: first.shape().to_vec(),
        weights,
        has_weights: false,
    });
    match scores {
        Some(body) => state.enter(body, first, control),
        None => state.with_scores(&value(first, control)?, control),
    }
}

fn value(tensor: Computed, control: &Control<'_>) -> Result<Value, Refusal> {
    Ok(tensor_of(tensor, control)?.into())
}

impl FlexState {
    fn enter(
        self: Box<Self>,
        body: usize,
        tensor: Computed,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        Ok(Step::Enter {
            body,
            after: After::Flex(self),
            inputs: vec![value(tensor, control)?],
        })
    }

    /// The continuation after a graph.
    pub(super) fn after(
        self: Box<Self>,
        results: Vec<Value>,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        let [result] = &results[..] else {
            return Err(Refusal::new(format!(
                "expected one result of the graph, got {}",
                results.len()
            )));
        };
        if shape_of(result)? != self.shape {
            return Err(Refusal::new(format!(
                "expected a result of the graph of shape {:?}, got {:?}",
                self.shape,
                shape_of(result)?
            )));
        }
        match self.has_weights {
            false => self.with_scores(result, control),
            true => self.with_weights(result, control),
        }
    }

    fn with_scores(
        mut self: Box<Self>,
        scores: &Value,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        let args = Args::new(&self.call, &self.inputs, None, control, false)?;
        let scores = KernelInput::new(tensor(scores)?, control)?;
        let weights = flex::weights(&args, scores.view()?)?;
        drop(args);
        match self.weights {
            Some(body) => {
                self.has_weights = true;
                self.enter(body, weights, control)
            }
            None => self.with_weights(&value(weights, control)?, control),
        }
    }

    fn with_weights(
        self: Box<Self>,
        weights: &Value,
        control: &Control<'_>,
    ) -> Result<Step, Refusal> {
        let args = Args::new(&self.call, &self.inputs, None, control, false)?;
        let weights = KernelInput::new(tensor(weights)?, control)?;
        let result = flex::weighted(&args, weights.view()?)?;
        Ok(Step::Done(vec![value(result, control)?]))
    }
}

fn tensor(value: &Value) -> Result<&isoform::values::Tensor, Refusal> {
    constants::dense(value).ok_or_else(|| Refusal::new("expected a dense tensor"))
}
