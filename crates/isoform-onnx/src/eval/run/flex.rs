//! FlexAttention: the steps before, between and after the graphs for scores and
//! weights.

use isoform::{Node as _, Value};
use isoform_ir::kernels::{Input as KernelInput, tensor_of};
use isoform_kernels::{Control, Tensor as Computed};

use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::ops::flex;
use crate::eval::refusal::Refusal;
use crate::eval::strings::sizes;
use crate::ir::Call;

/// An attention that waits for a graph.
pub(super) struct FlexState {
    call: Call,
    inputs: Vec<Option<Value>>,
    /// The shape that the graph has to keep.
    shape: Vec<usize>,
    /// The graph that changes the weights, while the graph of the scores is active.
    weights: Option<usize>,
    /// True if the graph changes weights, not scores.
    has_weights: bool,
}

/// The continuation of an attention.
pub(super) enum Flex {
    /// A graph changes the scores or the weights.
    Graph {
        body: usize,
        state: Box<FlexState>,
        input: Value,
    },
    /// The call has this result.
    Done(Value),
}

/// The start of a call with a graph for scores, for weights, or for both.
pub(super) fn start(
    call: &Call,
    inputs: &[Option<Value>],
    [scores, weights]: [Option<usize>; 2],
    control: &Control<'_>,
) -> Result<Flex, Refusal> {
    let args = Args::new(call, inputs, None, control, false)?;
    let first = flex::scores(&args)?;
    let state = Box::new(FlexState {
        call: call.clone_fields(),
        inputs: inputs.to_vec(),
        shape: first.shape().to_vec(),
        weights,
        has_weights: false,
    });
    let input = value(first, control)?;
    match scores {
        Some(body) => Ok(Flex::Graph { body, state, input }),
        None => state.with_scores(&input, control),
    }
}

fn value(tensor: Computed, control: &Control<'_>) -> Result<Value, Refusal> {
    Ok(tensor_of(tensor, control)?.into())
}

fn tensor(value: &Value) -> Result<&isoform::values::Tensor, Refusal> {
    constants::dense(value).ok_or_else(|| Refusal::new("expected a dense tensor"))
}

impl FlexState {
    /// The continuation after a graph.
    pub(super) fn after(
        self: Box<Self>,
        results: &[Value],
        control: &Control<'_>,
    ) -> Result<Flex, Refusal> {
        let [result] = results else {
            return Err(Refusal::new(format!(
                "expected one result of the graph, got {}",
                results.len()
            )));
        };
        let shape = sizes(tensor(result)?.shape())?;
        if shape != self.shape {
            return Err(Refusal::new(format!(
                "expected a result of the graph of shape {:?}, got {shape:?}",
                self.shape
            )));
        }
        if self.has_weights {
            self.with_weights(result, control)
        } else {
            self.with_scores(result, control)
        }
    }

    fn with_scores(
        mut self: Box<Self>,
        scores: &Value,
        control: &Control<'_>,
    ) -> Result<Flex, Refusal> {
        let args = Args::new(&self.call, &self.inputs, None, control, false)?;
        let scores = KernelInput::new(tensor(scores)?, control)?;
        let input = value(flex::weights(&args, scores.view()?)?, control)?;
        drop(args);
        let Some(body) = self.weights else {
            return self.with_weights(&input, control);
        };
        self.has_weights = true;
        Ok(Flex::Graph {
            body,
            state: self,
            input,
        })
    }

    fn with_weights(&self, weights: &Value, control: &Control<'_>) -> Result<Flex, Refusal> {
        let args = Args::new(&self.call, &self.inputs, None, control, false)?;
        let weights = KernelInput::new(tensor(weights)?, control)?;
        let result = flex::weighted(&args, weights.view()?)?;
        Ok(Flex::Done(value(result, control)?))
    }
}
