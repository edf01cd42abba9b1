//! Graphs that can be edited, and the truth about two of them: a node keeps its
//! identity through all edits.

use std::collections::{HashMap, HashSet};

use super::super::{Alignment, Graph, align};

/// Random numbers that are the same in every run.
#[derive(Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below the limit, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 11) as usize % limit
    }

    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// A node. Inputs have operator 0.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    pub(super) op: u32,
    pub(super) attribute: u64,
    pub(super) name: u64,
    /// By identity.
    pub(super) operands: Vec<u32>,
}

/// A graph in topological order.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) nodes: Vec<Node>,
    pub(super) results: Vec<u32>,
    pub(super) next_id: u32,
}

pub(super) const INPUT: u32 = 0;

impl Model {
    /// Adds a node, and returns its identity.
    pub(super) fn add(&mut self, op: u32, attribute: u64, operands: &[u32]) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        self.nodes.push(Node {
            id,
            op,
            attribute,
            name: 0,
            operands: operands.to_vec(),
        });
        id
    }

    /// Makes every unused node a result.
    pub(super) fn finish(mut self) -> Self {
        let mut is_used = vec![false; self.next_id as usize];
        for operand in self.nodes.iter().flat_map(|node| &node.operands) {
            is_used[*operand as usize] = true;
        }
        let unused = self.nodes.iter().filter(|node| !is_used[node.id as usize]);
        self.results = unused.map(|node| node.id).collect();
        self
    }

    /// A random edit of a node that is not an input, with a known truth. Only nodes
    /// without operands lose their last use, since layers and branches look alike. No
    /// edited node was or is like its neighbours.
    pub(super) fn edit(&mut self, random: &mut Random, ops: u32) {
        loop {
            let mut edited = self.clone();
            let id = edited.edit_anywhere(random, ops);
            if self.resembles_neighbour(id) || edited.resembles_neighbour(id) {
                continue;
            }
            let inner = |model: &Model| {
                let nodes = model.nodes.iter();
                nodes.filter(|node| !node.operands.is_empty()).count()
            };
            let count = inner(&edited);
            edited.drop_unused();
            if inner(&edited) == count {
                *self = edited;
                return;
            }
        }
    }

    /// True if the node has the operator of an operand or user.
    fn resembles_neighbour(&self, id: u32) -> bool {
        let Some(node) = self.nodes.iter().find(|node| node.id == id) else {
            return false;
        };
        self.nodes
            .iter()
            .filter(|other| other.op == node.op)
            .any(|other| other.operands.contains(&id) || node.operands.contains(&other.id))
    }

    /// Returns the identity of the edited node.
    fn edit_anywhere(&mut self, random: &mut Random, ops: u32) -> u32 {
        let (place, slot) = loop {
            let place = random.below(self.nodes.len());
            let count = self.nodes[place].operands.len();
            if count > 0 {
                break (place, random.below(count));
            }
        };
        let id = self.nodes[place].id;
        match random.below(5) {
            // Inserts a node into an edge.
            0 => {
                let value = self.nodes[place].operands[slot];
                let op = 1 + random.below(ops as usize) as u32;
                let mut operands = vec![value];
                if random.below(3) == 0 {
                    operands.push(self.nodes[random.below(place)].id);
                }
                let new = self.add(op, random.word() % 4, &operands);
                self.nodes[place].operands[slot] = new;
                let node = self.nodes.pop().expect("just added");
                self.nodes.insert(place, node);
                return new;
            }
            // Deletes a node.
            1 => {
                let node = self.nodes.remove(place);
                let uses = self.nodes.iter_mut().flat_map(|node| &mut node.operands);
                for operand in uses.chain(&mut self.results).filter(|used| **used == id) {
                    *operand = node.operands[0];
                }
            }
            // Replaces the operator.
            2 => {
                let node = &mut self.nodes[place];
                node.op = 1 + (node.op + random.below(ops as usize - 1) as u32) % ops;
            }
            3 => self.nodes[place].attribute = random.word(),
            // Uses another value: a near value if a far value could leave most of the
            // graph without users.
            _ => {
                let reach = if slot == 0 { place.min(5) } else { place };
                let other = self.nodes[place - 1 - random.below(reach)].id;
                self.nodes[place].operands[slot] = other;
            }
        }
        id
    }

    /// Changes the attributes of all nodes, as training does.
    pub(super) fn perturb(&mut self, random: &mut Random) {
        for node in self.nodes.iter_mut().filter(|node| node.op != INPUT) {
            node.attribute = random.word();
        }
    }

    /// Removes the nodes that no result needs, except inputs.
    fn drop_unused(&mut self) {
        let mut is_needed = vec![false; self.next_id as usize];
        for result in &self.results {
            is_needed[*result as usize] = true;
        }
        for node in self.nodes.iter().rev().filter(|node| node.op != INPUT) {
            if is_needed[node.id as usize] {
                for operand in &node.operands {
                    is_needed[*operand as usize] = true;
                }
            }
        }
        self.nodes
            .retain(|node| node.op == INPUT || is_needed[node.id as usize]);
    }

    /// Lists the nodes in another topological order.
    pub(super) fn shuffle(&mut self, random: &mut Random) {
        let place_of: HashMap<u32, usize> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(place, node)| (node.id, place))
            .collect();
        let mut waiting: Vec<usize> = self.nodes.iter().map(|node| node.operands.len()).collect();
        let mut users = vec![Vec::new(); self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            for operand in &node.operands {
                users[place_of[operand]].push(place);
            }
        }
        let mut ready: Vec<usize> = (0..self.nodes.len())
            .filter(|place| waiting[*place] == 0)
            .collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while !ready.is_empty() {
            let place = ready.swap_remove(random.below(ready.len()));
            order.push(self.nodes[place].clone());
            for &user in &users[place] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    ready.push(user);
                }
            }
        }
        self.nodes = order;
    }

    /// The graph without its inputs, which the labels of their users have in place of operands,
    /// as in a program whose inputs are variables; and the nodes in it.
    pub(super) fn graph_of_calls(&self) -> (Graph, Vec<&Node>) {
        let inputs = self.nodes.iter().filter(|node| node.op == INPUT);
        let inputs: HashSet<u32> = inputs.map(|node| node.id).collect();
        let mut calls = self.clone();
        calls.nodes.retain(|node| node.op != INPUT);
        for node in &mut calls.nodes {
            for (slot, operand) in (1..).zip(&node.operands) {
                if inputs.contains(operand) {
                    let word = (u64::from(*operand) + 1) << 8 | slot;
                    node.attribute = Random(node.attribute ^ word).word();
                }
            }
            node.operands.retain(|operand| !inputs.contains(operand));
        }
        calls.results.retain(|result| !inputs.contains(result));
        let nodes = self.nodes.iter().filter(|node| node.op != INPUT);
        (calls.graph(), nodes.collect())
    }

    pub(super) fn graph(&self) -> Graph {
        let place_of: HashMap<u32, u32> = (0..)
            .zip(&self.nodes)
            .map(|(place, node)| (node.id, place))
            .collect();
        let mut graph = Graph {
            starts: vec![0],
            ..Graph::default()
        };
        for node in &self.nodes {
            let op = u64::from(node.op) * 1000 + node.operands.len() as u64;
            graph.ops.push(op);
            graph
                .labels
                .push(op ^ node.attribute.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            graph.names.push(node.name);
            graph
                .operands
                .extend(node.operands.iter().map(|id| place_of[id]));
            graph.starts.push(graph.operands.len() as u32);
        }
        graph.results = self.results.iter().map(|id| place_of[id]).collect();
        graph
    }
}

/// How an alignment compares with the truth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Judgement {
    /// Nodes on both sides.
    pub(super) true_pairs: usize,
    /// True pairs found.
    pub(super) right: usize,
    /// Pairs outside of the truth.
    pub(super) wrong: usize,
}

impl Judgement {
    pub(super) fn recall(self) -> f64 {
        self.right as f64 / self.true_pairs.max(1) as f64
    }

    pub(super) fn wrong_share(self) -> f64 {
        self.wrong as f64 / (self.right + self.wrong).max(1) as f64
    }

    pub(super) fn add(&mut self, other: Judgement) {
        self.true_pairs += other.true_pairs;
        self.right += other.right;
        self.wrong += other.wrong;
    }
}

/// Aligns two models whose inputs are known to correspond, checks the promises of every
/// alignment, and compares the alignment with the truth.
pub(super) fn judge(left: &Model, right: &Model) -> Judgement {
    let (l, r) = (left.graph(), right.graph());
    let place_of: HashMap<u32, u32> = (0..)
        .zip(&right.nodes)
        .map(|(place, node)| (node.id, place))
        .collect();
    let inputs = (0..).zip(&left.nodes).filter(|(_, node)| node.op == INPUT);
    let fixed: Vec<(u32, u32)> = inputs
        .map(|(place, node)| (place, place_of[&node.id]))
        .collect();
    let alignment = align(&l, &r, &fixed);
    check(&l, &r, &fixed, &alignment);
    let mut judgement = Judgement::default();
    let pairs = (0..)
        .zip(&alignment.left)
        .filter_map(|(l, r)| Some((l, (*r)?)));
    for (l, r) in pairs.chain(alignment.replaced.iter().copied()) {
        if left.nodes[l as usize].id == right.nodes[r as usize].id {
            judgement.right += 1
        } else {
            judgement.wrong += 1
        }
    }
    judgement.true_pairs = left
        .nodes
        .iter()
        .filter(|node| place_of.contains_key(&node.id))
        .count();
    judgement
}

/// Checks the properties of every alignment.
#[track_caller]
pub(super) fn check(left: &Graph, right: &Graph, fixed: &[(u32, u32)], alignment: &Alignment) {
    assert_eq!(alignment.left.len(), left.len());
    assert_eq!(alignment.right.len(), right.len());
    for &(l, r) in fixed {
        assert_eq!(alignment.left[l as usize], Some(r), "a given pair");
    }
    for (l, partner) in (0..).zip(&alignment.left) {
        let Some(r) = *partner else { continue };
        assert_eq!(alignment.right[r as usize], Some(l), "partners differ");
        let is_fixed = fixed.contains(&(l, r));
        assert!(
            is_fixed || left.ops[l as usize] == right.ops[r as usize],
            "operators differ"
        );
    }
    for (r, partner) in (0..).zip(&alignment.right) {
        let Some(l) = *partner else { continue };
        assert_eq!(alignment.left[l as usize], Some(r), "partners differ");
    }
    let mut seen = [vec![false; left.len()], vec![false; right.len()]];
    for &(l, r) in &alignment.replaced {
        assert!(!std::mem::replace(&mut seen[0][l as usize], true));
        assert!(!std::mem::replace(&mut seen[1][r as usize], true));
        assert_eq!(
            (alignment.left[l as usize], alignment.right[r as usize]),
            (None, None)
        );
        assert_ne!(left.ops[l as usize], right.ops[r as usize]);
        let operands = left.operands_of(l).iter();
        let partners: Option<Vec<u32>> = operands.map(|x| alignment.left[*x as usize]).collect();
        assert_eq!(partners.as_deref(), Some(right.operands_of(r)));
    }
}
