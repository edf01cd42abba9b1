//! One model as lines in pieces, in the words of `isoform show`.

use std::collections::HashMap;
use std::ops::Range;

use isoform::values::ValueRef;
use isoform::{Ref, Value};
use isoform_onnx::ir::{Call, Input, Output, Program};
use isoform_onnx::layout::{BodyKind, Node, list};
use isoform_page::page::{Line, Piece, PieceRole};

use super::words::{literal, piece, plain};
use crate::output::Palette;
use crate::show::labels::Naming;
use crate::show::names::NameOptions;
use crate::show::rows::Rows;

/// A model as lines.
pub(super) struct ModelRows {
    pub(super) rows: Vec<ModelRow>,
    /// The number of a value in the pieces, by the identity of its node or input and the
    /// position among its outputs.
    pub(super) bindings: HashMap<(u64, i64), u32>,
}

/// A line of a model.
pub(super) struct ModelRow {
    pub(super) line: Line,
    pub(super) what: RowKind,
    /// The pieces of each operand of a node.
    pub(super) operands: Vec<Range<usize>>,
}

/// The part of a model that a line shows.
pub(super) enum RowKind {
    /// The operator sets.
    Opsets,
    /// The head of a graph or function, and how it is reached from another line: the main
    /// graph from none, a graph by an attribute of a node, a function by its first call.
    Head(BodyKind, Option<(u64, String)>),
    /// A node.
    Node(Ref<Call>),
    /// The results of a graph or function, which has that identity.
    Results(u64),
    /// The end of a graph, a function or a node with graphs, which has that identity.
    End(u64),
}

/// A pending step of listing; bodies may nest to any depth.
enum Step {
    Open(String, usize, usize, Option<(u64, String)>),
    Nodes(usize, usize, usize),
    End(u64, usize),
}

struct Lister {
    rows: Rows,
    result: ModelRows,
    stack: Vec<Step>,
}

/// Lists a model. O(nodes × depth of bodies).
/// Without versions, the operators of a program whose versions were changed for comparison
/// stand alone.
pub(super) fn rows_of(program: &Program, has_contents: bool, has_versions: bool) -> ModelRows {
    let options = NameOptions {
        naming: Naming::File,
        contents: has_contents,
        checksums: false,
        style: Palette::default(),
    };
    let mut rows = Rows::new(program, None, list(program), options);
    rows.has_versions = has_versions;
    rows_listed(rows).0
}

/// Lists a model, and returns its rows with the names that they have given. O(nodes × depth of
/// bodies).
pub(super) fn rows_listed(rows: Rows) -> (ModelRows, Rows) {
    let mut lister = Lister {
        rows,
        result: ModelRows {
            rows: Vec::new(),
            bindings: HashMap::new(),
        },
        stack: Vec::new(),
    };
    lister.opsets();
    let callers = lister.callers();
    let functions = lister.rows.listing.functions.clone();
    for root in std::iter::once(0).chain(functions) {
        let from = callers.get(&root).cloned();
        lister.stack.push(Step::Open(String::new(), root, 0, from));
        while let Some(step) = lister.stack.pop() {
            match step {
                Step::Open(label, body, depth, from) => lister.open(label, body, depth, from),
                Step::Nodes(body, position, depth) => lister.node(body, position, depth),
                Step::End(identity, depth) => {
                    lister.push(depth, vec![plain("}")], RowKind::End(identity));
                }
            }
        }
    }
    (lister.result, lister.rows)
}

/// The identity of a graph or function.
pub(super) fn identity_of(kind: &BodyKind) -> u64 {
    match kind {
        BodyKind::Graph(graph) => graph.identity(),
        BodyKind::Function(function) => function.identity(),
    }
}

impl Lister {
    fn push(&mut self, depth: usize, pieces: Vec<Piece>, what: RowKind) {
        let line = Line { depth, pieces };
        self.result.rows.push(ModelRow {
            line,
            what,
            operands: Vec::new(),
        });
    }

    fn opsets(&mut self) {
        if self.rows.opsets.is_empty() || !self.rows.has_versions {
            return;
        }
        let mut pieces = vec![piece("opset", PieceRole::Operator)];
        for (number, (name, version)) in self.rows.opsets.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            pieces.push(plain(format!("{comma} {name} ")));
            pieces.push(piece(version.to_string(), PieceRole::Literal));
        }
        self.push(0, pieces, RowKind::Opsets);
    }

    /// The first call of each function, by the body of the function.
    fn callers(&self) -> HashMap<usize, (u64, String)> {
        let listing = &self.rows.listing;
        let bodies = listing.functions.iter().filter_map(|&body| {
            let BodyKind::Function(function) = &listing.bodies[body].kind else {
                return None;
            };
            Some((function.identity(), body))
        });
        let bodies: HashMap<u64, usize> = bodies.collect();
        let mut callers = HashMap::new();
        for Node { call, .. } in listing.bodies.iter().flat_map(|body| &body.nodes) {
            if let Some(callee) = &call.callee
                && let Some(&body) = bodies.get(&callee.identity())
            {
                let from = (call.identity(), "callee".to_owned());
                callers.entry(body).or_insert(from);
            }
        }
        callers
    }

    fn open(&mut self, label: String, body: usize, depth: usize, from: Option<(u64, String)>) {
        let head = self.rows.head(body);
        let kind = &self.rows.listing.bodies[body].kind;
        let kind = match kind {
            BodyKind::Graph(graph) => BodyKind::Graph(graph.clone()),
            BodyKind::Function(function) => BodyKind::Function(function.clone()),
        };
        let mut pieces = Vec::new();
        if !label.is_empty() {
            pieces.push(piece(label, PieceRole::Field));
            pieces.push(plain(" = "));
        }
        let name = head.function.as_deref().unwrap_or("graph");
        pieces.push(piece(name, PieceRole::Operator));
        pieces.push(plain("("));
        for (position, (param, text)) in kind.params().iter().zip(&head.params).enumerate() {
            if position > 0 {
                pieces.push(plain(", "));
            }
            self.defined(param.identity(), 0, text, &mut pieces);
        }
        pieces.push(plain(")"));
        if !head.attributes.is_empty() {
            pieces.push(plain(" {"));
            literal(&head.attributes.join(", "), &mut pieces);
            pieces.push(plain("}"));
        }
        if head.function.is_none() {
            pieces.push(plain(" -> ("));
            literal(&head.result_types.join(", "), &mut pieces);
            pieces.push(plain(")"));
        }
        pieces.push(plain(" {"));
        self.stack.push(Step::End(identity_of(&kind), depth));
        self.stack.push(Step::Nodes(body, 0, depth + 1));
        self.push(depth, pieces, RowKind::Head(kind, from));
    }

    /// A value where it is defined, before other text.
    fn defined(&mut self, identity: u64, index: i64, text: &str, pieces: &mut Vec<Piece>) {
        let label = self.rows.names.label(identity, index);
        let binding = self.binding(identity, index);
        let rest = text.strip_prefix(label.as_str()).unwrap_or_default();
        pieces.push(Piece {
            binding: Some(binding),
            is_definition: true,
            ..piece(label, PieceRole::Name)
        });
        literal(rest, pieces);
    }

    fn binding(&mut self, identity: u64, index: i64) -> u32 {
        let next = self.result.bindings.len() as u32;
        *self
            .result
            .bindings
            .entry((identity, index))
            .or_insert(next)
    }

    /// A value that is used, given its text, which may go on after the name.
    fn used(&mut self, value: &Value, text: &str, pieces: &mut Vec<Piece>) {
        let Some((identity, index)) = bound(value) else {
            literal(text, pieces);
            return;
        };
        let label = self.rows.names.label(identity, index);
        let binding = self.binding(identity, index);
        let rest = text
            .strip_prefix(label.as_str())
            .unwrap_or_default()
            .to_owned();
        pieces.push(Piece {
            binding: Some(binding),
            ..piece(label, PieceRole::Name)
        });
        if !rest.is_empty() {
            literal(&rest, pieces);
        }
    }

    fn node(&mut self, body: usize, position: usize, depth: usize) {
        let listed = &self.rows.listing.bodies[body];
        let Some(Node { call, bodies }) = listed.nodes.get(position) else {
            self.results(body, depth);
            return;
        };
        let (call, bodies) = (call.clone(), bodies.clone());
        self.stack.push(Step::Nodes(body, position + 1, depth));
        let row = self.rows.row(&call);
        let mut pieces = Vec::new();
        let mut operands = Vec::new();
        for (index, output) in (0..).zip(&row.outputs) {
            if index > 0 {
                pieces.push(plain(", "));
            }
            self.defined(call.identity(), index, output, &mut pieces);
        }
        if !row.outputs.is_empty() {
            pieces.push(plain(" = "));
        }
        pieces.push(piece(row.op, PieceRole::Operator));
        pieces.push(plain("("));
        for (position, (value, text)) in call.inputs.values().iter().zip(&row.inputs).enumerate() {
            if position > 0 {
                pieces.push(plain(", "));
            }
            let start = pieces.len();
            self.used(value, text, &mut pieces);
            operands.push(start..pieces.len());
        }
        pieces.push(plain(")"));
        add_attributes(&row.attributes, &mut pieces);
        if !bodies.is_empty() {
            pieces.push(plain(" {"));
            self.stack.push(Step::End(call.identity(), depth));
            for (label, inner) in bodies.into_iter().rev() {
                let from = Some((call.identity(), label.clone()));
                self.stack.push(Step::Open(label, inner, depth + 1, from));
            }
        }
        self.push(depth, pieces, RowKind::Node(call));
        if let Some(row) = self.result.rows.last_mut() {
            row.operands = operands;
        }
    }

    fn results(&mut self, body: usize, depth: usize) {
        let texts = self.rows.results(body);
        let kind = &self.rows.listing.bodies[body].kind;
        let (values, identity) = (kind.results().clone(), identity_of(kind));
        let mut pieces = vec![piece("return", PieceRole::Operator)];
        for (position, (value, text)) in values.values().iter().zip(&texts).enumerate() {
            pieces.push(plain(if position > 0 { ", " } else { " " }));
            self.used(value, text, &mut pieces);
        }
        self.push(depth, pieces, RowKind::Results(identity));
    }
}

fn add_attributes(attributes: &[(String, String)], pieces: &mut Vec<Piece>) {
    for (position, (name, value)) in attributes.iter().enumerate() {
        pieces.push(plain(if position > 0 { ", " } else { " {" }));
        pieces.push(piece(name, PieceRole::Field));
        pieces.push(plain("="));
        literal(value, pieces);
    }
    if !attributes.is_empty() {
        pieces.push(plain("}"));
    }
}

/// The node or input that makes a value, and the position among its outputs; None for a
/// constant.
pub(super) fn bound(value: &Value) -> Option<(u64, i64)> {
    let object = value.as_object()?;
    if let Some(output) = object.downcast_ref::<Output>() {
        return Some((output.call.identity(), output.index));
    }
    object
        .downcast_ref::<Input>()
        .map(|input| (input.identity(), 0))
}

/// The operands of a node that are constants and differ, although their text may be the
/// same.
pub(super) fn differing_constants(left: &Call, right: &Call) -> Vec<usize> {
    let operands = left.inputs.values().iter().zip(right.inputs.values());
    let differ = operands.enumerate().filter(|(_, (left, right))| {
        let (ValueRef::Tensor(left), ValueRef::Tensor(right)) = (left.view(), right.view()) else {
            return false;
        };
        (left.dtype(), left.shape()) != (right.dtype(), right.shape())
            || left.data() != right.data()
    });
    differ.map(|(position, _)| position).collect()
}
