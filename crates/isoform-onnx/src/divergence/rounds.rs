//! Runs of both models, in rounds that expose a few pairs of values at a time.
//!
//! All values of a large model together may not fit into memory. A round therefore takes
//! as many pairs as fit into a budget, judged by their shapes, or where these are unknown, by
//! the largest values of the rounds before. Each round runs the models from their inputs on,
//! so few rounds matter.

use std::collections::HashMap;

use isoform::values::{Tensor, ValueRef};
use isoform::{Ref, Value};
use isoform_ir::transform::check_interrupted;

use super::pairs::ValuePair;
use super::side::Side;
use crate::facts::Analysis;
use crate::ir::Program;
use crate::values::ValueKey;
use crate::verify::{Inputs, Ran, Runner};

/// The number of pairs in the first round.
const FIRST: usize = 8;

/// Later rounds have at most as many times more pairs than the round before.
const GROWTH: usize = 8;

/// Both models, and what runs them.
pub(super) struct Rounds<'a> {
    pub(super) runner: &'a dyn Runner,
    pub(super) sides: [&'a Side; 2],
    /// The sets of inputs of each model.
    pub(super) inputs: [Vec<Inputs>; 2],
    /// The number of bytes that the values of a round should not exceed.
    pub(super) budget: usize,
}

/// The receiver of the values of pairs.
pub(super) trait Visitor {
    /// Both values, for one set of inputs.
    fn values(&mut self, pair: usize, values: [&Value; 2]) -> isoform::Result<()>;

    /// The reason why a pair has no values.
    fn failed(&mut self, pair: usize, reason: String);

    /// So many pairs are done.
    fn progress(&mut self, pairs: usize);
}

impl Rounds<'_> {
    /// Visits the values of all pairs. A round that fails is divided until the pair that
    /// makes it fail is alone.
    ///
    /// # Errors
    ///
    /// Errors of the runner and of the visitor; interruption.
    pub(super) fn visit(
        &self,
        pairs: &[ValuePair],
        visitor: &mut dyn Visitor,
    ) -> isoform::Result<()> {
        let expected = self.expected(pairs);
        let (mut next, mut size, mut largest) = (0, FIRST, 1);
        while next < pairs.len() {
            check_interrupted()?;
            let mut room = self.budget;
            let fits = |expected: &&Option<usize>| {
                let left = room.checked_sub(expected.unwrap_or(largest));
                room = left.unwrap_or_default();
                left.is_some()
            };
            let fitting = expected[next..].iter().take(size).take_while(fits).count();
            let round = &pairs[next..next + fitting.max(1)];
            let end = next + round.len();
            match self.round(round)? {
                Ok(values) => {
                    for (index, sets) in values.pairs(round) {
                        for values in sets {
                            let bytes: usize = values.iter().map(|value| byte_len(value)).sum();
                            largest = largest.max(bytes * self.inputs[0].len());
                            visitor.values(next + index, values)?;
                        }
                    }
                    next = end;
                    size = round.len() * GROWTH;
                }
                Err(reason) if round.len() == 1 => {
                    visitor.failed(next, reason);
                    next = end;
                    size = FIRST;
                }
                Err(_) => size = round.len() / 2,
            }
            visitor.progress(next);
        }
        Ok(())
    }

    /// The bytes of each pair for all sets of inputs; None where a shape is unknown.
    fn expected(&self, pairs: &[ValuePair]) -> Vec<Option<usize>> {
        let mut analyses = self.sides.map(|side| Analysis::of_program(&side.program));
        let sets = self.inputs[0].len();
        let mut bytes = |side: usize, value: &Value| {
            let fact = analyses[side].fact(value);
            let dims = fact.dims_const()?;
            let count = dims.iter().try_fold(1_usize, |all, dim| {
                all.checked_mul(usize::try_from(*dim).ok()?)
            });
            fact.elem?.byte_len(count?)?.checked_mul(sets)
        };
        let pairs = pairs.iter().map(|pair| &pair.values);
        pairs
            .map(|[left, right]| bytes(0, left)?.checked_add(bytes(1, right)?))
            .collect()
    }

    fn round(&self, round: &[ValuePair]) -> isoform::Result<Result<RoundValues, String>> {
        let mut sides = Vec::new();
        for side in [0, 1] {
            let mut places = HashMap::new();
            let mut values = Vec::new();
            for pair in round {
                let value = &pair.values[side];
                places.entry(ValueKey::of(value)).or_insert_with(|| {
                    values.push(value.clone());
                    values.len() - 1
                });
            }
            let program = self.sides[side].exposing(&values);
            let ran = self.run(&program, side)?;
            match ran.into_iter().collect::<Result<Vec<Vec<Value>>, String>>() {
                Ok(sets) => sides.push(SideValues { places, sets }),
                Err(reason) => {
                    let name = ["left", "right"][side];
                    return Ok(Err(format!("the {name} model does not run: {reason}")));
                }
            }
        }
        Ok(Ok(RoundValues(sides)))
    }

    fn run(&self, program: &Ref<Program>, side: usize) -> isoform::Result<Vec<Ran>> {
        self.runner.run(program.into(), &self.inputs[side])
    }
}

struct SideValues {
    /// The positions of values among the results.
    places: HashMap<ValueKey, usize>,
    /// The results for each set of inputs.
    sets: Vec<Vec<Value>>,
}

struct RoundValues(Vec<SideValues>);

impl RoundValues {
    /// The values of each pair, for all sets of inputs.
    fn pairs<'v>(
        &'v self,
        round: &'v [ValuePair],
    ) -> impl Iterator<Item = (usize, Vec<[&'v Value; 2]>)> {
        round.iter().enumerate().map(move |(index, pair)| {
            let places = [0, 1].map(|side| self.0[side].places[&ValueKey::of(&pair.values[side])]);
            let sets = self.0[0].sets.iter().zip(&self.0[1].sets);
            let values = sets
                .filter_map(|(left, right)| Some([left.get(places[0])?, right.get(places[1])?]));
            (index, values.collect())
        })
    }
}

/// The bytes of the tensors in a value.
fn byte_len(value: &Value) -> usize {
    match value.view() {
        ValueRef::Tensor(tensor) => Tensor::data(tensor).len(),
        ValueRef::Array(values) => values.values().iter().map(flat_byte_len).sum(),
        _ => 0,
    }
}

fn flat_byte_len(value: &Value) -> usize {
    value
        .peek::<Tensor>()
        .map_or(0, |tensor| tensor.data().len())
}
