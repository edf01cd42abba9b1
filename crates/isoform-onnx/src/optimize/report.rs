//! The report of optimisation: the rules that fired, the places, and the savings.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use isoform::{Error, Value};

use super::constants::byte_size;
use crate::ir::Call;
use crate::layout::{Listing, call_of, operands};
use crate::values::{ValueKey, constant};

/// One application of a rule or a step.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Fired {
    /// The rule or step.
    pub rule: String,
    /// Operator of the node that was replaced.
    pub op: String,
    /// Name of the node; may be empty.
    pub node: String,
    /// Name of the node's first output; may be empty.
    pub output: String,
    /// Name of the graph or function that lists the node.
    pub graph: String,
    /// Net number of nodes removed, including nodes that became unused.
    pub nodes: i64,
    /// Net number of bytes of constants removed.
    pub bytes: i64,
}

/// Sums over the applications of one rule.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RuleTotal {
    /// The rule or step.
    pub rule: String,
    /// How often it fired.
    pub times: usize,
    /// As in [`Fired`].
    pub nodes: i64,
    /// As in [`Fired`].
    pub bytes: i64,
}

/// The report of optimisation.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// All applications, in order of time.
    pub fired: Vec<Fired>,
    /// Nodes before, counted by [`Listing::node_count`].
    pub nodes_before: usize,
    /// Nodes after, [`copies`](Self::copies) included.
    pub nodes_after: usize,
    /// `Identity` nodes that a file needs after optimisation, for an output that is an
    /// input, an outer value or another output under a separate name.
    pub copies: usize,
    /// Bytes of distinct constants before optimisation.
    pub bytes_before: u64,
    /// Bytes of constants after.
    pub bytes_after: u64,
    /// The number of walks over the program; the last walk changed nothing.
    pub rounds: usize,
}

impl Report {
    /// Sums by rule, ordered by saved nodes, most first.
    #[must_use]
    pub fn totals(&self) -> Vec<RuleTotal> {
        let mut totals: Vec<RuleTotal> = Vec::new();
        for fired in &self.fired {
            let index = totals
                .iter()
                .position(|total| total.rule == fired.rule)
                .unwrap_or_else(|| {
                    totals.push(RuleTotal {
                        rule: fired.rule.clone(),
                        times: 0,
                        nodes: 0,
                        bytes: 0,
                    });
                    totals.len() - 1
                });
            totals[index].times += 1;
            totals[index].nodes += fired.nodes;
            totals[index].bytes += fired.bytes;
        }
        totals.sort_by(|left, right| (right.nodes, &left.rule).cmp(&(left.nodes, &right.rule)));
        totals
    }
}

/// The nodes and constants of the bodies of a listing.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) nodes: HashSet<u64>,
    pub(super) constants: HashMap<u64, u64>,
    /// Results that a file can express only as an `Identity` of a value.
    pub(super) copies: usize,
}

impl Contents {
    pub(super) fn add(&mut self, listing: &Listing) {
        for body in &listing.bodies {
            for node in &body.nodes {
                self.nodes.insert(node.call.identity());
                for value in operands(&node.call) {
                    self.add_constant(value);
                }
            }
            for value in body.kind.results().values() {
                self.add_constant(value);
            }
            self.copies += body.copies();
        }
    }

    fn add_constant(&mut self, value: &Value) {
        if let (Some(value), ValueKey::Object(identity)) = (constant(value), ValueKey::of(value)) {
            self.constants.insert(identity, byte_size(value));
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.constants.values().sum()
    }
}

/// The error of rules that never come to an end.
#[cold]
pub(super) fn without_end(rule: &str) -> Error {
    Error::value_error(format!(
        "rules replace what they made without an end, the last one was '{rule}'"
    ))
}

/// Records events while a program is made again.
#[derive(Default)]
pub(super) struct Log {
    pub(super) fired: Vec<Fired>,
    /// For each replaced call, by identity, the last event that replaced the call.
    replaced: HashMap<u64, usize>,
    /// For the calls that an event put in place, the event.
    placed: HashMap<u64, usize>,
    /// Made since the last event.
    pending: Vec<u64>,
    /// The changes of each event to the tables above, for undoing.
    trail: Vec<(usize, Change)>,
    steps: usize,
    limit: usize,
}

/// A change of the tables of a log.
enum Change {
    /// A call was replaced; before, by this event.
    Replaced(u64, Option<usize>),
    /// A call or a constant was put in place.
    Placed(u64),
}

impl Log {
    pub(super) fn enter(&mut self, listing: &Listing) {
        let nodes: usize = listing.bodies.iter().map(|body| body.nodes.len()).sum();
        self.limit = self
            .limit
            .saturating_add(nodes.saturating_mul(64))
            .saturating_add(4096);
    }

    /// Accounts for the savings of the events of one graph or function. A removed node
    /// belongs to the event that replaced the node, or otherwise to the event of the
    /// node's last user.
    pub(super) fn leave(&mut self, before: &Listing, after: &Listing, origin: &HashMap<u64, u64>) {
        let (mut had, mut has) = (Contents::default(), Contents::default());
        had.add(before);
        has.add(after);
        let source = |identity: &u64| origin.get(identity).copied().unwrap_or(*identity);
        let present: HashSet<u64> = has.nodes.iter().map(source).collect();
        for identity in &has.nodes {
            if let (Some(event), None) = (self.placed.get(identity), origin.get(identity)) {
                self.fired[*event].nodes -= 1;
            }
        }
        for (identity, size) in &has.constants {
            if let (Some(event), None) = (self.placed.get(identity), had.constants.get(identity)) {
                self.fired[*event].bytes -= *size as i64;
            }
        }
        let mut cause: HashMap<u64, usize> = HashMap::new();
        // Bodies are listed from the outside in, and producers before users. In reverse
        // order, the event that removed a user is known before the operands are visited.
        for body in before.bodies.iter().rev() {
            for node in body.nodes.iter().rev() {
                let identity = node.call.identity();
                if present.contains(&identity) {
                    continue;
                }
                let event = self
                    .replaced
                    .get(&identity)
                    .or_else(|| cause.get(&identity));
                let Some(&event) = event else {
                    continue;
                };
                self.fired[event].nodes += 1;
                for value in operands(&node.call) {
                    if let Some(used) = call_of(value) {
                        cause.entry(used.identity()).or_insert(event);
                    } else if let ValueKey::Object(identity) = ValueKey::of(value)
                        && !has.constants.contains_key(&identity)
                        && let Some(size) = had.constants.remove(&identity)
                    {
                        self.fired[event].bytes += size as i64;
                    }
                }
            }
        }
    }

    /// Notes a call or a constant that a rule makes.
    pub(super) fn made(&mut self, identity: u64) {
        self.pending.push(identity);
    }

    /// Records that values replace a call, which was made from a call of the source.
    pub(super) fn event(&mut self, rule: &str, call: &Call, source: Option<u64>) {
        let event = self.fired.len();
        if let Some(source) = source {
            let before = self.replaced.insert(source, event);
            self.trail.push((event, Change::Replaced(source, before)));
        }
        for identity in self.pending.drain(..) {
            if let Entry::Vacant(place) = self.placed.entry(identity) {
                place.insert(event);
                self.trail.push((event, Change::Placed(identity)));
            }
        }
        self.fired.push(Fired {
            rule: rule.to_owned(),
            op: call.op_name.to_string(),
            node: call.name.to_string(),
            output: call
                .output_names
                .get(0)
                .map_or_else(String::new, ToString::to_string),
            graph: call.graph.to_string(),
            nodes: 0,
            bytes: 0,
        });
    }

    /// A place in the log to come back to.
    pub(super) fn mark(&self) -> usize {
        self.fired.len()
    }

    /// Forgets the events since the mark, because the rule did not apply after all.
    /// Linear in the forgotten events.
    pub(super) fn reset(&mut self, mark: usize) {
        self.fired.truncate(mark);
        self.pending.clear();
        while let Some((_, change)) = self.trail.pop_if(|(event, _)| *event >= mark) {
            match change {
                Change::Replaced(identity, Some(event)) => {
                    self.replaced.insert(identity, event);
                }
                Change::Replaced(identity, None) => {
                    self.replaced.remove(&identity);
                }
                Change::Placed(identity) => {
                    self.placed.remove(&identity);
                }
            }
        }
    }

    /// Counts an application of a rule.
    ///
    /// # Errors
    ///
    /// `ValueError` after far more applications than there are nodes.
    pub(super) fn step(&mut self, rule: &str) -> isoform::Result<()> {
        self.steps += 1;
        if self.steps > self.limit {
            return Err(without_end(rule));
        }
        Ok(())
    }
}
