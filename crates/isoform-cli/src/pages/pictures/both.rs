//! Both sides of a comparison as one graph: parts that correspond are one node.

use std::collections::{HashMap, HashSet};

use isoform::Value;
use isoform::compare::{Difference, PairReason};
use isoform_onnx::ir::{Call, Program};
use isoform_onnx::report::Report;
use isoform_page::Mark;

use super::parts::{PartKind, Parts, Use};

/// A model and the model it became. The nodes are the parts of the right model, followed by
/// the parts of the left model; left parts with a partner stand empty.
pub(super) struct Both {
    pub(super) sides: [Parts; 2],
    /// The right part of each left part.
    partners: Vec<Option<usize>>,
    /// The left part of each right part.
    pub(super) lefts: Vec<Option<usize>>,
    /// The right body of each left body.
    pub(super) bodies: Vec<Option<usize>>,
    pub(super) edges: Vec<BothEdge>,
    /// The edges of each node.
    pub(super) edges_of: Vec<Vec<usize>>,
}

/// A use on one side or on both.
pub(super) struct BothEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) slot: usize,
    pub(super) mark: Mark,
}

impl Both {
    /// O(nodes × depth of bodies + operands) of both models; None if a side of the difference
    /// is another value.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let difference = &report.difference;
        let program = |value: &Value| value.peek::<isoform::Ref<Program>>().cloned();
        let [left, right] = [difference.left(), difference.right()].map(program);
        let sides = [Parts::of(&*left?), Parts::of(&*right?)];
        let mut both = Both {
            partners: vec![None; sides[0].list.len()],
            lefts: vec![None; sides[1].list.len()],
            bodies: vec![None; sides[0].bodies.len()],
            edges: Vec::new(),
            edges_of: Vec::new(),
            sides,
        };
        both.pair_nodes(difference);
        both.pair_told(report);
        both.pair_bodies();
        both.pair_borders();
        both.connect();
        Some(both)
    }

    fn pair(&mut self, left: usize, right: usize) {
        if self.partners[left].is_none() && self.lefts[right].is_none() {
            self.partners[left] = Some(right);
            self.lefts[right] = Some(left);
        }
    }

    fn pair_nodes(&mut self, difference: &Difference) {
        if difference.is_empty() {
            // Equal models have the same order of computation.
            let count = self.partners.len().min(self.lefts.len());
            (0..count).for_each(|number| self.pair(number, number));
        }
        for (left, right, reason) in difference.node_pairs_with_reasons() {
            let numbers = self.sides[0]
                .number(&left)
                .zip(self.sides[1].number(&right));
            let Some((left, right)) = numbers else {
                continue;
            };
            if reason != PairReason::Replaced || self.is_one_operator(left, right) {
                self.pair(left, right);
            }
        }
    }

    /// Nodes of one operator that the report calls one changed node.
    fn pair_told(&mut self, report: &Report) {
        for parts in report.groups.iter().flat_map(|group| &group.parts) {
            if let [[left], [right]] = parts.each_ref().map(Vec::as_slice)
                && let Some(left) = self.sides[0].number(left)
                && let Some(right) = self.sides[1].number(right)
                && self.is_one_operator(left, right)
            {
                self.pair(left, right);
            }
        }
    }

    /// False for nodes of two operators, which are a deleted and an inserted node.
    fn is_one_operator(&self, left: usize, right: usize) -> bool {
        let calls = [(0, left), (1, right)].map(|(side, part)| self.sides[side].list[part].call());
        match calls {
            [Some(left), Some(right)] => is_same_operator(left, right),
            _ => false,
        }
    }

    /// Main graphs correspond, functions of one name, and graphs in the same attributes of nodes
    /// that correspond.
    fn pair_bodies(&mut self) {
        let key = |parts: &Parts, body: usize, partner: &dyn Fn(usize) -> Option<usize>| {
            let info = &parts.bodies[body];
            match &info.owner {
                Some((owner, attribute)) => {
                    let owner = partner(*parts.numbers.get(owner)?)?;
                    Some((Some(owner), attribute.clone()))
                }
                None if info.is_main => Some((None, String::new())),
                None => Some((None, info.label.clone())),
            }
        };
        let [left, right] = &self.sides;
        let rights: HashMap<_, usize> = (0..right.bodies.len())
            .filter_map(|body| Some((key(right, body, &Some)?, body)))
            .collect();
        for body in 0..left.bodies.len() {
            let key = key(left, body, &|part| self.partners[part]);
            self.bodies[body] = key.and_then(|key| rights.get(&key).copied());
        }
    }

    /// Inputs and outputs of bodies that correspond: those of one name, and then those of one
    /// position.
    fn pair_borders(&mut self) {
        for by_name in [true, false] {
            let mut rights = HashMap::new();
            for (number, part) in self.sides[1].list.iter().enumerate() {
                if let Some(border) = border(&part.kind, by_name)
                    && self.lefts[number].is_none()
                {
                    rights.entry((part.body, border)).or_insert(number);
                }
            }
            let mut pairs = Vec::new();
            for (number, part) in self.sides[0].list.iter().enumerate() {
                if let Some(border) = border(&part.kind, by_name)
                    && let Some(body) = self.bodies[part.body]
                    && let Some(&right) = rights.get(&(body, border))
                {
                    pairs.push((number, right));
                }
            }
            pairs
                .into_iter()
                .for_each(|(left, right)| self.pair(left, right));
        }
    }

    /// The node of a part of a side.
    pub(super) fn node(&self, side: usize, part: usize) -> usize {
        match side {
            0 => self.partners[part].unwrap_or(self.lefts.len() + part),
            _ => part,
        }
    }

    /// The parts of a node on both sides.
    pub(super) fn parts(&self, node: usize) -> [Option<usize>; 2] {
        match node.checked_sub(self.lefts.len()) {
            Some(left) => [Some(left), None],
            None => [self.lefts[node], Some(node)],
        }
    }

    fn connect(&mut self) {
        let uses = [0, 1].map(|side| -> Vec<Use> {
            let uses = self.sides[side].uses.iter();
            uses.map(|used| Use {
                from: self.node(side, used.from),
                to: self.node(side, used.to),
                slot: used.slot,
            })
            .collect()
        });
        let [left, right] = &uses;
        let lefts: HashSet<&Use> = left.iter().collect();
        let rights: HashSet<&Use> = right.iter().collect();
        let edge = |used: &Use, mark: Mark| BothEdge {
            from: used.from,
            to: used.to,
            slot: used.slot,
            mark,
        };
        let deleted = left.iter().filter(|used| !rights.contains(used));
        self.edges = deleted.map(|used| edge(used, Mark::Deleted)).collect();
        self.edges.extend(right.iter().map(|used| {
            let is_new = !lefts.contains(used);
            edge(used, [Mark::Same, Mark::Inserted][usize::from(is_new)])
        }));
        self.edges_of = vec![Vec::new(); self.lefts.len() + self.partners.len()];
        for (number, edge) in self.edges.iter().enumerate() {
            self.edges_of[edge.from].push(number);
            if edge.to != edge.from {
                self.edges_of[edge.to].push(number);
            }
        }
    }
}

pub(crate) fn is_same_operator(left: &Call, right: &Call) -> bool {
    let callee = |call: &Call| call.callee.as_ref().map(|callee| callee.name.clone());
    (&left.domain, &left.op, callee(left)) == (&right.domain, &right.op, callee(right))
}

/// The name of an input or output, or its position, and whether it is an output.
fn border(kind: &PartKind, by_name: bool) -> Option<(bool, String)> {
    let (is_output, name, position) = match kind {
        PartKind::Call(_) => return None,
        PartKind::Input(input) => (false, input.name.to_string(), input.position as usize),
        PartKind::Output(name, position) => (true, name.clone(), *position),
    };
    let border = if by_name { name } else { position.to_string() };
    Some((is_output, border))
}
