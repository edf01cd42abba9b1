//! Decides branches of If by their surroundings: both branches compute the same, or one
//! branch has no run that ends well, because its result has a number of axes that the
//! user cannot take.

use std::collections::HashMap;

use isoform::Value;

use super::constants::Constants;
use super::table::{holds_values, same_operator};
use crate::facts::Analysis;
use crate::ir::Call;
use crate::layout::{Listing, Node};
use crate::values::{ValueKey, constant, made_by, output, tensor};

/// True if both branches of an If compute the same from the same values. Linear in their
/// nodes; branches with bodies inside are not compared.
pub(super) fn same_branches(listing: &Listing, node: &Node, constants: &mut Constants) -> bool {
    let body = |name: &str| {
        let entry = node.bodies.iter().find(|(label, _)| label == name);
        entry.map(|(_, index)| &listing.bodies[*index])
    };
    let (Some(left), Some(right)) = (body("then_branch"), body("else_branch")) else {
        return false;
    };
    if left.nodes.len() != right.nodes.len() {
        return false;
    }
    // The calls of the first branch, by the corresponding calls of the second branch.
    let mut twins: HashMap<u64, u64> = HashMap::new();
    let mut key = |value: &Value| match constant(value) {
        Some(value) => ValueKey::of(&constants.intern(value.clone())),
        None => ValueKey::of(value),
    };
    let mut same = |twins: &HashMap<u64, u64>, left: &[Value], right: &[Value]| {
        let mut pairs = left.iter().zip(right);
        left.len() == right.len()
            && pairs.all(|(left, right)| {
                let right = match key(right) {
                    ValueKey::Output(call, index) => {
                        ValueKey::Output(twins.get(&call).copied().unwrap_or(call), index)
                    }
                    other => other,
                };
                key(left) == right
            })
    };
    for (left, right) in left.nodes.iter().zip(&right.nodes) {
        let is_plain = left.bodies.is_empty() && right.bodies.is_empty();
        let (left, right) = (&left.call, &right.call);
        if !is_plain
            || holds_values(left)
            || holds_values(right)
            || !same_operator(left, right)
            || !same(&twins, left.inputs.values(), right.inputs.values())
        {
            return false;
        }
        twins.insert(right.identity(), left.identity());
    }
    let (left, right) = (left.kind.results(), right.kind.results());
    same(&twins, left.values(), right.values())
}

/// Operators whose first output has as many axes as the first input.
const SAME_RANK: &[&str] = &[
    "Abs",
    "Cast",
    "Ceil",
    "Clip",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "HardSigmoid",
    "Identity",
    "LeakyRelu",
    "Log",
    "Neg",
    "Not",
    "Relu",
    "Sigmoid",
    "Softmax",
    "Sqrt",
    "Tanh",
];

/// The numbers of axes of values in every run that ends well.
///
/// A call may need a certain number of axes of an operand, and otherwise has no result.
/// Through calls that add or drop axes, the need extends to earlier values in the same
/// body, because all calls of a body run together. A branch of an If is never taken if
/// its result never has the needed number.
#[derive(Default)]
pub(super) struct Ranks {
    /// The number that values of the source need to have.
    needed: HashMap<ValueKey, usize>,
    /// The possible numbers of new values, as bits, if inference does not know a single
    /// number.
    possible: HashMap<ValueKey, u64>,
    /// The conditions decided this way, for each body under construction, outermost
    /// first.
    decided: Vec<HashMap<ValueKey, bool>>,
}

impl Ranks {
    pub(super) fn enter(&mut self) {
        self.decided.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.decided.pop();
    }

    /// Learns the needs of values in some bodies. Linear in the number of nodes.
    pub(super) fn learn_needs(&mut self, listing: &Listing) {
        let mut place: HashMap<u64, usize> = HashMap::new();
        for (at, body) in listing.bodies.iter().enumerate() {
            let calls = body.nodes.iter().map(|node| node.call.identity());
            place.extend(calls.map(|call| (call, at)));
        }
        // Bodies are listed from the outside in, and producers before users. Visiting
        // nodes in reverse makes the needs of a node's users known first.
        for (at, body) in listing.bodies.iter().enumerate() {
            for node in body.nodes.iter().rev() {
                self.learn_needs_of(listing, node, at, &place);
            }
        }
    }

    fn learn_needs_of(
        &mut self,
        listing: &Listing,
        node: &Node,
        body: usize,
        place: &HashMap<u64, usize>,
    ) {
        let call = &node.call;
        let own = self.needed.get(&ValueKey::of(&output(call, 0))).copied();
        let mut need = |value: Option<&Value>, rank: Option<usize>, body: usize| {
            let origin = value.and_then(made_by).filter(|(origin, _)| {
                // A value made further out may be needed by this body alone.
                place.get(&origin.identity()) == Some(&body)
            });
            if let (Some((origin, index)), Some(rank)) = (origin, rank) {
                let key = ValueKey::Output(origin.identity(), index);
                self.needed.entry(key).or_insert(rank);
            }
        };
        let first = call.input(0);
        match call.standard_op() {
            Some("LSTM" | "GRU" | "RNN") => {
                for index in [0, 5, 6] {
                    need(call.input(index), Some(3), body);
                }
            }
            Some("Conv" | "ConvTranspose") => {
                let weights = call.input(1).and_then(tensor);
                need(first, weights.map(|weights| weights.shape().len()), body);
            }
            Some("Gemm") => {
                need(first, Some(2), body);
                need(call.input(1), Some(2), body);
            }
            Some("Transpose") => {
                let perm = call.ints("perm").ok().flatten();
                need(first, perm.map(|perm| perm.len()), body);
            }
            Some("Unsqueeze") => {
                let before = own.zip(axis_count(call));
                need(
                    first,
                    before.and_then(|(own, axes)| own.checked_sub(axes)),
                    body,
                );
            }
            Some("Squeeze") => {
                let before = own.zip(axis_count(call));
                need(first, before.map(|(own, axes)| own + axes), body);
            }
            Some("If") => {
                for (position, index) in (0..call.outputs).enumerate() {
                    let key = ValueKey::Output(call.identity(), index);
                    let rank = self.needed.get(&key).copied();
                    for (_, inner) in &node.bodies {
                        let results = listing.bodies[*inner].kind.results().values();
                        let origin = results.get(position).and_then(made_by);
                        if let (Some((origin, index)), Some(rank)) = (origin, rank)
                            && place.get(&origin.identity()) == Some(inner)
                        {
                            let key = ValueKey::Output(origin.identity(), index);
                            self.needed.entry(key).or_insert(rank);
                        }
                    }
                }
            }
            Some(op) if SAME_RANK.contains(&op) => need(first, own, body),
            _ => {}
        }
    }

    /// The numbers of axes that a new value can have.
    fn possible(&self, analysis: &mut Analysis, value: &Value) -> Option<u64> {
        match analysis.fact(value).rank() {
            Some(rank) => 1_u64.checked_shl(u32::try_from(rank).ok()?),
            None => self.possible.get(&ValueKey::of(value)).copied(),
        }
    }

    /// Learns the possible ranks of the outputs of a new call.
    pub(super) fn learn_possible(&mut self, analysis: &mut Analysis, call: &isoform::Ref<Call>) {
        let is_if = call.is("If");
        for index in 0..call.outputs.min(if is_if { i64::MAX } else { 1 }) {
            let value = output(call, index);
            if analysis.fact(&value).rank().is_some() {
                continue;
            }
            let found = if is_if {
                self.of_branches(analysis, call, index)
                    .map(|[left, right]| left | right)
            } else {
                self.of_operator(analysis, call)
            };
            if let Some(ranks) = found {
                self.possible.insert(ValueKey::of(&value), ranks);
            }
        }
    }

    fn of_operator(&self, analysis: &mut Analysis, call: &Call) -> Option<u64> {
        let op = call.standard_op()?;
        let axes = match op {
            "Unsqueeze" | "Squeeze" => u32::try_from(axis_count(call)?).ok()?,
            _ if SAME_RANK.contains(&op) => 0,
            _ => return None,
        };
        let ranks = self.possible(analysis, call.input(0)?)?;
        match op {
            "Squeeze" => ranks.checked_shr(axes),
            // Beyond 64 axes nothing is known.
            _ => ranks
                .checked_shl(axes)
                .filter(|_| ranks.leading_zeros() >= axes),
        }
    }

    fn of_branches(&self, analysis: &mut Analysis, call: &Call, index: i64) -> Option<[u64; 2]> {
        let mut of = |name: &str| {
            let graph = call.body(name).ok()??;
            let result = graph.results.values().get(usize::try_from(index).ok()?)?;
            self.possible(analysis, &result.clone())
        };
        Some([of("then_branch")?, of("else_branch")?])
    }

    /// The condition of an If, if a branch never has the ranks needed of the outputs.
    pub(super) fn decide(
        &mut self,
        analysis: &mut Analysis,
        source: &Call,
        identity: u64,
        new: &Call,
    ) -> Option<bool> {
        let condition = new.input(0)?;
        if !source.is("If") || constant(condition).is_some() {
            return None;
        }
        let condition = ValueKey::of(condition);
        for index in 0..source.outputs {
            let Some(rank) = self.needed.get(&ValueKey::Output(identity, index)) else {
                continue;
            };
            let needed = 1_u64.checked_shl(u32::try_from(*rank).ok()?)?;
            let Some(ranks) = self.of_branches(analysis, new, index) else {
                continue;
            };
            let [left, right] = ranks.map(|ranks| ranks & needed != 0);
            if left != right {
                self.decided.last_mut()?.insert(condition, left);
                return Some(left);
            }
        }
        None
    }

    /// The truth of a condition in every run that ends well, if decided before.
    pub(super) fn decided(&self, condition: &Value) -> Option<bool> {
        let key = ValueKey::of(condition);
        let mut scopes = self.decided.iter().rev();
        scopes.find_map(|scope| scope.get(&key)).copied()
    }
}

/// The number of axes that a Squeeze or Unsqueeze drops or adds.
fn axis_count(call: &Call) -> Option<usize> {
    match call.input(1) {
        Some(axes) => usize::try_from(tensor(axes)?.shape().iter().product::<i64>()).ok(),
        None => Some(call.ints("axes").ok()??.len()),
    }
}
