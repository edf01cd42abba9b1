//! Uses of other values by nodes that stayed, where the sentences about added and removed
//! nodes leave these values open.
//!
//! Added nodes are taken to stand between a user and the value that the user had before,
//! and removed nodes to have stood there. A user of anything else is told apart.

use std::collections::{BTreeSet, HashMap, HashSet};

use isoform::compare::Hunk;
use isoform::values::ValueRef;
use isoform::{Array, Ref, Value};

use super::groups::{CallPair, Writer};
use super::place;
use super::sentence::{Item, Rank};
use super::values::operand;
use crate::NodeOrigin;
use crate::ir::{Call, Input, Program};
use crate::layout::{Body, BodyKind, list, made_by};

/// The values named as the operands of an added node.
const MOST_SOURCES: usize = 4;

/// A value apart from the object that holds it: the node and the number of its output, or
/// an input.
type Wire = (u64, i64);

/// How the added and removed nodes of both models are connected with all others.
pub(super) struct Wiring {
    /// The right partners of left nodes and inputs that stayed.
    partners: HashMap<u64, u64>,
    /// The hunk of each added, removed or replaced node.
    hunk_of: HashMap<u64, usize>,
    hunks: Vec<Connections>,
    /// Corresponding nodes, and bodies, with the positions of operands, and results, that
    /// changed in ways that no sentence about nodes tells.
    pub(super) users: Vec<(CallPair, Vec<usize>)>,
    pub(super) bodies: Vec<((Body, Body), Vec<usize>)>,
}

/// The values that the nodes of a hunk use, of nodes outside and of inputs.
struct Connections {
    entering: [BTreeSet<Wire>; 2],
    /// True for a side whose nodes use constants.
    has_constants: [bool; 2],
    /// True for a side whose hunk has no nodes on the other side.
    is_alone: [bool; 2],
    /// The entering values of the right side in words.
    sources: Vec<String>,
    /// True if the entering values of the right side are known without a word about them.
    has_known_sources: bool,
}

impl Wiring {
    /// Linear in the nodes of both models and their operands.
    pub(super) fn new(pairs: Vec<CallPair>, bodies: Vec<(Body, Body)>, hunks: &[Hunk]) -> Self {
        let mut wiring = Wiring {
            partners: HashMap::new(),
            hunk_of: HashMap::new(),
            hunks: Vec::new(),
            users: Vec::new(),
            bodies: Vec::new(),
        };
        for (left, right) in &pairs {
            wiring.partners.insert(left.identity(), right.identity());
        }
        for (left, right) in &bodies {
            wiring.pair_inputs(left.kind.params(), right.kind.params());
        }
        for (number, hunk) in hunks.iter().enumerate() {
            for call in calls(&hunk.left).chain(calls(&hunk.right)) {
                wiring.hunk_of.insert(call.identity(), number);
            }
        }
        for (number, hunk) in hunks.iter().enumerate() {
            let connections = wiring.connections(number, hunk);
            wiring.hunks.push(connections);
        }
        let mut placed = HashSet::new();
        for pair in pairs {
            let open = wiring.unexplained(&pair.0.inputs, &pair.1.inputs, &mut placed);
            wiring.users.push((pair, open));
        }
        for pair in bodies {
            let (left, right) = (pair.0.kind.results(), pair.1.kind.results());
            let open = wiring.unexplained(left, right, &mut placed);
            wiring.bodies.push((pair, open));
        }
        wiring.users.retain(|(_, open)| !open.is_empty());
        wiring.bodies.retain(|(_, open)| !open.is_empty());
        for number in placed {
            wiring.hunks[number].has_known_sources = true;
        }
        let right = |call: &Ref<Call>, at: usize| call.inputs.values().get(at).cloned();
        let users = wiring.users.iter();
        let users = users.flat_map(|((_, call), open)| open.iter().map(|&at| right(call, at)));
        let results = wiring.bodies.iter().flat_map(|((_, body), open)| {
            let results = body.kind.results().values();
            open.iter().map(|&at| results.get(at).cloned())
        });
        let open = users.chain(results).flatten();
        let open: Vec<usize> = open
            .filter_map(|value| wiring.hunk_of.get(&wire(&value)?.0).copied())
            .collect();
        for number in open {
            wiring.hunks[number].has_known_sources = false;
        }
        wiring
    }

    /// Inputs correspond by name, and others by position.
    fn pair_inputs(&mut self, left: &Array<Ref<Input>>, right: &Array<Ref<Input>>) {
        let by_name: HashMap<&str, u64> = right
            .iter()
            .map(|input| (input.name.as_str(), input.identity()))
            .collect();
        for (position, input) in left.iter().enumerate() {
            let other = by_name.get(input.name.as_str()).copied();
            let other = other.or_else(|| right.get(position).map(|input| input.identity()));
            if let Some(other) = other {
                self.partners.insert(input.identity(), other);
            }
        }
    }

    fn connections(&self, number: usize, hunk: &Hunk) -> Connections {
        let sides: [&[Value]; 2] = [&hunk.left, &hunk.right];
        let mut found = Connections {
            entering: Default::default(),
            has_constants: [false; 2],
            is_alone: [sides[1].is_empty(), sides[0].is_empty()],
            sources: Vec::new(),
            has_known_sources: false,
        };
        for (side, nodes) in sides.into_iter().enumerate() {
            for call in calls(nodes) {
                for (value, name) in call.inputs.values().iter().zip(&call.input_names) {
                    let Some(wire) = wire(value) else {
                        found.has_constants[side] |= !matches!(value.view(), ValueRef::None);
                        continue;
                    };
                    let is_inside = self.hunk_of.get(&wire.0) == Some(&number);
                    if !is_inside && found.entering[side].insert(wire) && side == 1 {
                        found.sources.push(operand(value, Some(name)));
                    }
                }
            }
        }
        let [left, right] = sides;
        if !left.is_empty() {
            let image = |wire: &Wire| self.image(*wire);
            let images: BTreeSet<Wire> = found.entering[0].iter().filter_map(image).collect();
            let is_same = match (
                &*calls(left).collect::<Vec<_>>(),
                &*calls(right).collect::<Vec<_>>(),
            ) {
                // One node for another has the same operands, in order.
                ([left], [right]) => self.wires(left, true) == self.wires(right, false),
                // Nodes that do the work of others may share more with the rest of the graph.
                _ if hunk.is_enclosed => images.is_subset(&found.entering[1]),
                _ => images == found.entering[1],
            };
            found.has_known_sources = is_same;
        }
        found
    }

    /// The wire on the right side of a left wire that stayed.
    fn image(&self, (node, output): Wire) -> Option<Wire> {
        Some((*self.partners.get(&node)?, output))
    }

    /// The wires of a node, as wires of the right side.
    fn wires(&self, call: &Call, is_left: bool) -> Vec<Option<Wire>> {
        let wires = call.inputs.values().iter().map(wire);
        wires
            .map(|wire| if is_left { self.image(wire?) } else { wire })
            .collect()
    }

    /// The positions at which corresponding lists of operands, or of results, differ in ways
    /// that no sentence about nodes tells. Hunks that stand between a value and one of its
    /// former users go into `placed`.
    fn unexplained(&self, left: &Array, right: &Array, placed: &mut HashSet<usize>) -> Vec<usize> {
        if left.len() != right.len() {
            return Vec::new();
        }
        let both = left.values().iter().zip(right.values());
        both.enumerate()
            .filter(|(_, (left, right))| !self.is_explained(left, right, placed))
            .map(|(position, _)| position)
            .collect()
    }

    /// True if a user's former operand and its present one follow from the sentences about
    /// nodes.
    fn is_explained(&self, left: &Value, right: &Value, placed: &mut HashSet<usize>) -> bool {
        let wires = [wire(left), wire(right)];
        let hunks = wires.map(|wire| self.hunk_of.get(&wire?.0).copied());
        let (hunk, side, kept) = match hunks {
            // The diff itself tells a change from one of these to another.
            [None, None] => return true,
            [Some(left), Some(right)] => return left == right,
            [Some(hunk), None] => (hunk, 0, wires[1]),
            [None, Some(hunk)] => (hunk, 1, wires[0].and_then(|wire| self.image(wire))),
        };
        let connections = &self.hunks[hunk];
        let entering = &connections.entering[side];
        let is_between = connections.is_alone[side]
            && match (kept, side) {
                (None, _) => connections.has_constants[side] && entering.is_empty(),
                (Some(kept), 0) => entering.iter().all(|wire| self.image(*wire) == Some(kept)),
                (Some(kept), _) => entering.iter().all(|wire| *wire == kept),
            };
        if is_between && side == 1 {
            placed.insert(hunk);
        }
        is_between && (kept.is_none() || !entering.is_empty())
    }

    /// The operands of the added nodes of a hunk, as in `, of Relu 'a' and input 'x'`; empty
    /// if they are known.
    pub(super) fn sources(&self, node: u64) -> String {
        let Some(connections) = self.hunk_of.get(&node).map(|&hunk| &self.hunks[hunk]) else {
            return String::new();
        };
        if connections.has_known_sources {
            return String::new();
        }
        Self::sources_text(connections.sources.clone())
    }

    /// Operands after a node, as in `, of Relu 'a' and input 'x'`; empty for none.
    pub(super) fn sources_text(mut sources: Vec<String>) -> String {
        if sources.is_empty() {
            return String::new();
        }
        if sources.len() > MOST_SOURCES {
            sources.truncate(MOST_SOURCES - 1);
            sources.push("...".to_owned());
        }
        format!(", of {}", sources.join(" and "))
    }
}

impl Writer<'_> {
    /// Reports operands and results that changed to or from an added, removed or replaced
    /// node in ways that the sentences about these nodes leave open.
    pub(super) fn rewired(&mut self) {
        for ((left, right), open) in std::mem::take(&mut self.wiring.users) {
            for position in open {
                let operand = |call: &Call| {
                    let value = call.inputs.values().get(position)?.clone();
                    Some((value, call.input_names.get(position).cloned()))
                };
                let sides = [operand(&left), operand(&right)];
                let numbers = sides.iter().flatten().filter_map(|(value, _)| {
                    self.of_node.get(&made_by(value)?.0.identity()).copied()
                });
                let changes: Vec<usize> = numbers.collect();
                let Some(&number) = changes.first() else {
                    continue;
                };
                self.changed.insert(left.identity());
                let Some(mut item) = self.input_item(number, position, [&left, &right], sides)
                else {
                    continue;
                };
                item.place = format!("{}.inputs[{position}]", place::head_of_node(&right));
                item.changes = changes;
                item.parts = [&left, &right].map(|call| vec![call.clone().into()]);
                self.items.push(item);
            }
        }
        for ((left, right), open) in std::mem::take(&mut self.wiring.bodies) {
            for position in open {
                let values =
                    [&left, &right].map(|body| body.kind.results().values()[position].clone());
                let numbers = values
                    .iter()
                    .filter_map(|value| self.of_node.get(&made_by(value)?.0.identity()).copied());
                let changes: Vec<usize> = numbers.collect();
                let names = right.kind.result_names();
                let name = names.get(position).cloned().unwrap_or_default();
                let (graph, of, in_function, owner) = match &right.kind {
                    BodyKind::Graph(graph) if graph.name == *self.main => {
                        (&graph.name, String::new(), false, graph.identity())
                    }
                    BodyKind::Graph(graph) => {
                        let of = format!(" of graph '{}'", graph.name);
                        (&graph.name, of, false, graph.identity())
                    }
                    BodyKind::Function(function) => {
                        let of = format!(" of function '{}'", function.name);
                        (&function.name, of, true, function.identity())
                    }
                };
                let told = ["replaced", "value", "rewired"].iter().any(|kind| {
                    self.told
                        .contains(&(owner, format!("results {position} {kind}")))
                });
                if changes.is_empty() || told {
                    continue;
                }
                let [before, after] = values.map(|value| operand(&value, None));
                let text = format!("output '{name}'{of}: {before} -> {after}");
                let mut item = Item::new(Rank::Interface, "rewired", text, String::new());
                item.node = NodeOrigin::of_output(graph, in_function, names, position);
                item.changes = changes;
                self.items.push(item);
            }
        }
    }
}

/// The bodies of both programs that correspond: all of them, if there are equally many.
pub(super) fn bodies([left, right]: [&Program; 2]) -> Vec<(Body, Body)> {
    let (left, right) = (list(left).bodies, list(right).bodies);
    if left.len() == right.len() {
        left.into_iter().zip(right).collect()
    } else {
        // The main graph comes first.
        left.into_iter().zip(right).take(1).collect()
    }
}

fn wire(value: &Value) -> Option<Wire> {
    if let Some((call, output)) = made_by(value) {
        return Some((call.identity(), output));
    }
    let input = value.as_object()?.downcast_ref::<Input>()?;
    Some((input.identity(), -1))
}

fn calls(nodes: &[Value]) -> impl Iterator<Item = &Ref<Call>> {
    nodes.iter().filter_map(|node| node.peek::<Ref<Call>>())
}
