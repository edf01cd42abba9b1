//! Judges inferred facts about values by the values of runs.

use std::collections::HashMap;

use isoform::values::{DTypeCode, Tensor};
use isoform::{Array, Node, Ref, Str, Value};
use isoform_onnx::facts::{Analysis, Fact, Kind, Size};
use isoform_onnx::ir::{Graph, Program};
use isoform_onnx::layout::list;

use super::build;
use super::programs::RandomProgram;
use super::running;

/// Checks all that is inferred about every value of the main graph against both runs.
///
/// A symbol represents one number in a run: the first value with this symbol as an extent
/// or element decides the number, and all later values have to agree.
pub(super) fn hold(drawn: &RandomProgram) -> Result<(), String> {
    let graph = &drawn.program.graph;
    let listing = list(&drawn.program);
    let inputs = graph.params.iter().cloned().map(Value::from);
    let outputs = listing.bodies[0].nodes.iter().flat_map(|node| {
        let count = usize::try_from(node.call.outputs).unwrap_or(0);
        (0..count).map(|index| build::output(&node.call, index))
    });
    let values: Vec<Value> = inputs.chain(outputs).collect();
    let mut analysis = Analysis::new();
    analysis.enter_graph(graph);
    let facts: Vec<Fact> = values
        .iter()
        .map(|value| (*analysis.fact(value)).clone())
        .collect();

    let names = (0..values.len()).map(|position| Str::from(format!("value{position}")));
    let all = Ref::new(Program {
        graph: Ref::new(Graph {
            results: Array::from(values),
            result_names: names.collect(),
            result_types: Array::new(),
            ..graph.clone_fields()
        }),
        ..drawn.program.clone_fields()
    });
    let runs = running::results(drawn, &all)?;
    for (which, results) in runs.iter().enumerate() {
        let mut run = Run::default();
        // A symbol may be met in a product before it is met alone.
        for _ in 0..2 {
            for (position, (fact, value)) in facts.iter().zip(results).enumerate() {
                run.check(fact, value).map_err(|what| {
                    let value = running::shown(value);
                    format!("value {position} with sizes {which}: {what}, but the run gave {value}")
                })?;
            }
        }
    }
    Ok(())
}

/// The numbers of the symbols in one run.
#[derive(Default)]
struct Run {
    numbers: HashMap<u64, i64>,
}

impl Run {
    fn check(&mut self, fact: &Fact, value: &Value) -> Result<(), String> {
        if fact.kind != Kind::Tensor {
            return Ok(());
        }
        let (elem, shape) = running::type_of(value);
        if fact.elem.is_some_and(|inferred| elem != Some(inferred)) {
            return Err(format!("inferred elements of {:?}", fact.elem));
        }
        if let Some(inferred) = &fact.shape {
            self.numbers(inferred, &shape, "shape")?;
        }
        if let (Some(inferred), Some(got)) = (&fact.elements, value.peek().and_then(integers)) {
            self.numbers(inferred, &got, "elements")?;
        }
        if let Some(constant) = &fact.constant
            && !running::agree(constant, value, None)
        {
            return Err(format!(
                "inferred the constant {}",
                running::shown(constant)
            ));
        }
        Ok(())
    }

    fn numbers(&mut self, inferred: &[Size], got: &[i64], what: &str) -> Result<(), String> {
        let agrees = inferred.len() == got.len()
            && inferred
                .iter()
                .zip(got)
                .all(|(size, got)| self.agrees(size, *got));
        if agrees {
            Ok(())
        } else {
            let sizes: Vec<String> = inferred.iter().map(Size::to_string).collect();
            Err(format!("inferred {what} [{}]", sizes.join(", ")))
        }
    }

    fn agrees(&mut self, size: &Size, got: i64) -> bool {
        if size.lower_bound().is_some_and(|least| got < least)
            || size.upper_bound().is_some_and(|most| got > most)
        {
            return false;
        }
        if let Some(symbol) = size.as_symbol() {
            return *self.numbers.entry(symbol.ident()).or_insert(got) == got;
        }
        let expected = size.evaluate(|symbol| self.numbers.get(&symbol.ident()).copied());
        expected.is_none_or(|expected| expected == got)
    }
}

/// The elements of a tensor of integers or bools; None if any does not fit.
fn integers(tensor: &Tensor) -> Option<Vec<i64>> {
    let dtype = tensor.dtype();
    let is_signed = match dtype.code() {
        DTypeCode::Int => true,
        DTypeCode::UInt | DTypeCode::Bool => false,
        _ => return None,
    };
    let width = usize::from(dtype.bits()) / 8;
    if !matches!(width, 1 | 2 | 4 | 8) {
        return None;
    }
    let chunks = tensor.data().chunks(width).map(|bytes| {
        let mut number = 0_i128;
        for byte in bytes.iter().rev() {
            number = number << 8 | i128::from(*byte);
        }
        if is_signed && number >> (8 * width - 1) == 1 {
            number -= 1_i128 << (8 * width);
        }
        i64::try_from(number).ok()
    });
    chunks.collect()
}
