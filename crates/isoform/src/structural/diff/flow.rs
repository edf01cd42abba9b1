//! Dag nodes of both sides as dataflow graphs, and their alignment.
//!
//! The operands of a dag node are the dag nodes reachable through other objects:
//! arrays, outputs, the bodies of inner graphs. All other reachable contents form the
//! label of the node.

use super::graphs::{self, Alignment, Graph, PairReason, align};
use super::tables::{Cell, HAS_IDENTITY, NONE, Node, Tables};
use super::tokens::{Tokens, of_plain, step};
use crate::kernel::container::Str;
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::ValueRef;

/// The number of parts through which all nodes of a side reach their operands: this
/// many, and `SHORT` more for each node. Many nodes may share one long list of
/// operands.
const REACHED: u64 = 1 << 22;
const SHORT: u64 = 1 << 6;

/// Stands for an operand in a label.
const OPERAND: u64 = 0x9e37_79b9_7f4a_7c15;

/// The dag nodes of both sides, and their alignment.
pub(super) struct Flow {
    pub(super) sides: [FlowSide; 2],
    pub(super) alignment: Alignment,
}

/// The dag nodes of one side.
pub(super) struct FlowSide {
    /// The nodes' numbers in the tables, ascending.
    pub(super) nodes: Vec<u32>,
    /// The positions in `nodes` of all nodes of the tables.
    pub(super) positions: Vec<u32>,
    pub(super) graph: Graph,
}

impl Flow {
    /// The alignment of the dag nodes of both sides; None if one side has no dag nodes.
    pub(super) fn of(tables: [&Tables; 2], tokens: &[Tokens; 2]) -> Option<Self> {
        let reach = reach(tables[0]).min(reach(tables[1]));
        let sides = [
            FlowSide::of(tables[0], &tokens[0], reach)?,
            FlowSide::of(tables[1], &tokens[1], reach)?,
        ];
        let alignment = align(&sides[0].graph, &sides[1].graph, &[]);
        Some(Flow { sides, alignment })
    }

    /// Pairs of nodes that correspond, as numbers in the tables.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let partners = self.alignment.left.iter().enumerate();
        partners.filter_map(|(left, right)| {
            let right = (*right)?;
            Some((
                self.sides[0].nodes[left],
                self.sides[1].nodes[right as usize],
            ))
        })
    }

    /// Why the nodes of each pair of [`pairs`](Self::pairs) correspond.
    pub(super) fn reasons(&self) -> impl Iterator<Item = PairReason> {
        let Alignment { left, reasons, .. } = &self.alignment;
        let paired = left.iter().zip(reasons);
        paired.filter_map(|(right, reason)| right.and(Some(*reason)))
    }

    /// Pairs of a left node and the right node that replaced it in place.
    pub(super) fn replaced(&self) -> impl Iterator<Item = (u32, u32)> {
        self.alignment.replaced.iter().map(|&(left, right)| {
            (
                self.sides[0].nodes[left as usize],
                self.sides[1].nodes[right as usize],
            )
        })
    }

    /// True if two nodes have the same operator.
    pub(super) fn have_one_op(&self, left: u32, right: u32) -> bool {
        let op = |side: usize, node: u32| {
            let position = self.sides[side].positions[node as usize];
            self.sides[side].graph.ops.get(position as usize)
        };
        op(0, left) == op(1, right)
    }

    /// True if a node takes another node of its side as an operand.
    pub(super) fn takes(&self, side: usize, node: u32, operand: u32) -> bool {
        let side = &self.sides[side];
        let at = |node: u32| side.positions[node as usize];
        side.graph.operands_of(at(node)).contains(&at(operand))
    }

    /// The connected parts of both graphs that have no partner or were replaced.
    pub(super) fn hunks(&self) -> Vec<graphs::Hunk> {
        let [left, right] = &self.sides;
        graphs::hunks(&left.graph, &right.graph, &self.alignment)
    }
}

impl FlowSide {
    fn of(tables: &Tables, tokens: &Tokens, reach: u64) -> Option<Self> {
        let mut positions = vec![NONE; tables.nodes.len()];
        let mut nodes = Vec::new();
        for (number, node) in tables.nodes.iter().enumerate() {
            if node.is_dag() {
                positions[number] = nodes.len() as u32;
                nodes.push(number as u32);
            }
        }
        if nodes.is_empty() {
            return None;
        }
        let mut reader = Reader {
            tables,
            tokens,
            positions: &positions,
            stack: Vec::new(),
            reach,
        };
        let mut graph = Graph {
            starts: vec![0],
            ..Graph::default()
        };
        for &node in &nodes {
            let (label, op) = reader.read(node, &mut graph.operands);
            graph.labels.push(label);
            graph.ops.push(op);
            graph.names.push(name_of(tables.node(node)));
            graph.starts.push(graph.operands.len() as u32);
        }
        if let Some(root) = tables.root.node_number() {
            match positions[root as usize] {
                NONE => {
                    reader.read(root, &mut graph.results);
                }
                root => graph.results.push(root),
            }
        }
        Some(FlowSide {
            nodes,
            positions,
            graph,
        })
    }
}

/// The maximum number of parts in which a node looks for its operands; parts further
/// away are ignored. The number depends on the nodes alone, not on their sharing, and
/// most sides need no limit. O(n).
fn reach(tables: &Tables) -> u64 {
    let mut below: Vec<u64> = Vec::with_capacity(tables.nodes.len());
    let mut of_dags = Vec::new();
    for (number, node) in tables.nodes.iter().enumerate() {
        let parts = tables
            .cells(number as u32)
            .iter()
            .filter_map(Cell::node_number);
        let opened = parts.filter(|&part| {
            let part = tables.node(part);
            part.has(HAS_IDENTITY) && !part.is_dag()
        });
        let own = u64::from(node.count);
        let all = opened.fold(own, |sum, part| sum.saturating_add(below[part as usize]));
        below.push(all);
        if node.is_dag() {
            of_dags.push(all);
        }
    }
    let allowed = REACHED + SHORT * of_dags.len() as u64;
    let mut reach = REACHED;
    let needed = |reach: u64| -> u64 { of_dags.iter().map(|&all| all.min(reach)).sum() };
    while reach > SHORT && needed(reach) > allowed {
        reach /= 2;
    }
    reach
}

struct Reader<'t> {
    tables: &'t Tables,
    tokens: &'t Tokens,
    positions: &'t [u32],
    stack: Vec<u32>,
    reach: u64,
}

impl Reader<'_> {
    /// The label and the operator of a node; adds the node's operands.
    fn read(&mut self, root: u32, operands: &mut Vec<u32>) -> (u64, u64) {
        let seed = self.tables.node(root).info().seed;
        let (mut label, mut op) = (seed, step(seed, u64::from(self.tables.node(root).count)));
        let before = operands.len();
        self.stack.clear();
        self.stack.push(root);
        // A shared part counts at every occurrence, as if the part were not shared.
        let mut left = self.reach;
        while let Some(open) = self.stack.pop() {
            let first = self.stack.len();
            label = step(label, u64::from(self.tables.node(open).count));
            for cell in self.tables.cells(open) {
                if left == 0 {
                    break;
                }
                left -= 1;
                let Some(part) = cell.node_number() else {
                    label = step(label, of_plain(cell.word));
                    if open == root && matches!(cell.value.view(), ValueRef::Str(_)) {
                        op = step(op, cell.word);
                    }
                    continue;
                };
                let node = self.tables.node(part);
                if self.positions[part as usize] != NONE {
                    operands.push(self.positions[part as usize]);
                    label = step(label, OPERAND);
                } else if !node.has(HAS_IDENTITY) {
                    label = step(label, self.tokens[part as usize]);
                    if open == root && is_name(node) {
                        op = step(op, self.tokens[part as usize]);
                    }
                } else {
                    label = step(label, node.info().seed);
                    self.stack.push(part);
                }
            }
            // The first part is to be read first.
            self.stack[first..].reverse();
        }
        let arity = (operands.len() - before) as u64;
        (step(label, arity), step(op, arity))
    }
}

/// True for the name of an operator: a global name, or an object that exists once.
fn is_name(node: &Node) -> bool {
    node.is_var() || node.info().kind == Kind::Singleton
}

/// The hash of the first string ignored by comparison; 0 if all strings are compared.
fn name_of(node: &Node) -> u64 {
    let slots = node.info().slots.iter().enumerate();
    let mut ignored = slots.filter(|(_, slot)| slot.flag == FieldFlag::Ignore);
    let name = ignored.find_map(|(position, _)| {
        let name = field_value_at(&node.object, position)?
            .peek::<Str>()?
            .clone();
        (!name.is_empty()).then_some(name)
    });
    name.map_or(0, |name| {
        crate::kernel::mixing::Mixing::of_process().bytes(name.as_bytes()) | 1
    })
}
