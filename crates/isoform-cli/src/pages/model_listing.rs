//! Two models beside each other, line by line, as the diff pairs their nodes.

use std::collections::HashMap;

use isoform::Ref;
use isoform::compare::{Difference, PairReason};
use isoform_onnx::OriginKind;
use isoform_onnx::ir::Program;
use isoform_onnx::layout::BodyKind;
use isoform_onnx::report::Report;
use isoform_page::Mark;
use isoform_page::page::{Listing, Piece, Row};

use super::model_rows::{ModelRows, RowKind, differing_constants, identity_of, rows_of};
use super::words::{mark_words, plain};

/// The pieces of a line that are shown in the text of a change.
const MOST_PIECES: usize = 400;

/// The listing of two models, and where their nodes are in it.
pub(super) struct ModelListing {
    pub(super) listing: Listing,
    /// The row of each node, by its identity and its side.
    rows: [HashMap<u64, usize>; 2],
    /// The right node of each left node with a partner or a replacement, and the reason.
    pairs: HashMap<u64, (u64, PairReason)>,
}

impl ModelListing {
    /// Why two nodes are a pair; None if they are not.
    pub(super) fn reason(&self, left: u64, right: u64) -> Option<PairReason> {
        let (partner, reason) = self.pairs.get(&left)?;
        (*partner == right).then_some(*reason)
    }

    /// The lines of nodes of a side, given by identity, at most a number of them.
    pub(super) fn text_of(&self, side: usize, nodes: &[u64], most: usize) -> Vec<Piece> {
        let rows = nodes.iter().filter_map(|node| self.rows[side].get(node));
        let mut rows: Vec<usize> = rows.copied().collect();
        rows.sort_unstable();
        let mut pieces = Vec::new();
        for (number, &row) in rows.iter().take(most).enumerate() {
            let row = &self.listing.rows[row];
            let line = if side == 0 { &row.left } else { &row.right };
            if number > 0 {
                pieces.push(plain("\n"));
            }
            let line = line.iter().flat_map(|line| &line.pieces);
            let line = line.take(MOST_PIECES);
            // Bindings have a meaning within the listing alone.
            pieces.extend(line.cloned().map(|piece| Piece {
                binding: None,
                is_definition: false,
                ..piece
            }));
        }
        if rows.len() > most {
            pieces.push(plain("\n"));
            pieces.push(plain(format!("... {} more", rows.len() - most)));
        }
        pieces
    }
}

/// Lists both models of a report. The nodes are in the order of the right model; every
/// left node stands beside its partner, or else after the node before it. O(nodes × depth
/// of bodies) and O(places of changes).
pub(super) fn listing_of(report: &Report, names: [&str; 2]) -> Option<ModelListing> {
    let program = |value: &isoform::Value| value.peek::<Ref<Program>>().cloned();
    let difference = &report.difference;
    let programs = [program(difference.left())?, program(difference.right())?];
    let has_contents = !report.skips_tensor_content();
    let sides = programs.map(|program| rows_of(&program, has_contents, report.compares_versions()));
    let pairs = Pairs::new(difference, &sides);
    let partners = pairs.rows(&sides, difference.is_empty());
    let bindings = bindings(&sides, &partners);
    let anchors = Anchors::new(report, &sides);
    let mut merged = Merged {
        sides,
        anchors,
        bindings,
        pairs: pairs.of_left,
        listing: Listing {
            title: "Nodes".to_owned(),
            sides: names.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        },
        rows: Default::default(),
    };
    for (left, right) in order(&merged.sides, &partners) {
        merged.push(left, right);
    }
    Some(ModelListing {
        listing: merged.listing,
        rows: merged.rows,
        pairs: merged.pairs,
    })
}

/// The pairs of nodes, graphs and functions, by identity.
struct Pairs {
    of_left: HashMap<u64, (u64, PairReason)>,
    of_right: HashMap<u64, u64>,
}

impl Pairs {
    /// The pairs of a difference, and the pairs of graphs and functions that follow.
    fn new(difference: &Difference, [left, right]: &[ModelRows; 2]) -> Self {
        let mut pairs = Pairs {
            of_left: HashMap::new(),
            of_right: HashMap::new(),
        };
        for (left, right, reason) in difference.node_pairs_with_reasons() {
            let identity = |value: &isoform::Value| value.as_object().map(|it| it.identity());
            if let (Some(left), Some(right)) = (identity(&left), identity(&right)) {
                pairs.of_left.insert(left, (right, reason));
                pairs.of_right.insert(right, left);
            }
        }
        pairs.pair_bodies(left, right);
        pairs
    }

    /// Pairs graphs in the same attribute of a pair of nodes, and functions that a pair of
    /// nodes calls.
    fn pair_bodies(&mut self, left: &ModelRows, right: &ModelRows) {
        let mut heads = HashMap::new();
        let mut callees = HashMap::new();
        for row in &left.rows {
            match &row.what {
                RowKind::Head(kind, from) => {
                    heads.insert(from.clone(), identity_of(kind));
                }
                RowKind::Node(call) => {
                    let callee = call.callee.as_ref();
                    callees.extend(callee.map(|callee| (call.identity(), callee.identity())));
                }
                _ => {}
            }
        }
        for row in &right.rows {
            let RowKind::Head(kind, from) = &row.what else {
                continue;
            };
            let left_from = match from {
                None => Some(None),
                Some((call, label)) => {
                    let call = self.of_right.get(call);
                    call.map(|call| Some((*call, label.clone())))
                }
            };
            let owner = left_from.and_then(|from| match (kind, &from) {
                (BodyKind::Function(_), Some((call, _))) => callees.get(call).copied(),
                _ => heads.get(&from).copied(),
            });
            if let Some(owner) = owner {
                self.of_right.entry(identity_of(kind)).or_insert(owner);
            }
        }
    }

    /// The left row of each right row that has a partner, each at most once.
    fn rows(&self, [left, right]: &[ModelRows; 2], are_equal: bool) -> Vec<Option<usize>> {
        if are_equal && left.rows.len() == right.rows.len() {
            // The order of equal programs is the same.
            return (0..right.rows.len()).map(Some).collect();
        }
        let mut places: HashMap<(u8, u64), usize> = HashMap::new();
        for (place, row) in left.rows.iter().enumerate() {
            places.insert(row.what.key(), place);
        }
        let partner = |row: &RowKind| {
            let (kind, identity) = row.key();
            let identity = match row {
                RowKind::Opsets => identity,
                _ => *self.of_right.get(&identity)?,
            };
            Some((kind, identity))
        };
        let rows = right.rows.iter();
        rows.map(|row| partner(&row.what).and_then(|key| places.remove(&key)))
            .collect()
    }
}

impl RowKind {
    /// The kind of a row, and the identity of its part.
    fn key(&self) -> (u8, u64) {
        match self {
            RowKind::Opsets => (0, 0),
            RowKind::Head(kind, _) => (1, identity_of(kind)),
            RowKind::Node(call) => (2, call.identity()),
            RowKind::Results(identity) => (3, *identity),
            RowKind::End(identity) => (4, *identity),
        }
    }
}

/// The right binding of each left binding that has a partner.
fn bindings([left, right]: &[ModelRows; 2], partners: &[Option<usize>]) -> HashMap<u32, u32> {
    let mut bindings = HashMap::new();
    let mut bind = |l: (u64, i64), r: (u64, i64)| {
        if let (Some(l), Some(r)) = (left.bindings.get(&l), right.bindings.get(&r)) {
            bindings.insert(*l, *r);
        }
    };
    for (row, partner) in right.rows.iter().zip(partners) {
        let Some(partner) = partner else { continue };
        match (&left.rows[*partner].what, &row.what) {
            (RowKind::Node(l), RowKind::Node(r)) => {
                for output in 0..l.outputs.min(r.outputs) {
                    bind((l.identity(), output), (r.identity(), output));
                }
            }
            (RowKind::Head(l, _), RowKind::Head(r, _)) => {
                let (lefts, rights) = (l.params(), r.params());
                let by_position = lefts.len() == rights.len();
                for (position, l) in lefts.iter().enumerate() {
                    let r = if by_position {
                        rights.get(position)
                    } else {
                        rights.iter().find(|r| r.name == l.name)
                    };
                    if let Some(r) = r {
                        bind((l.identity(), 0), (r.identity(), 0));
                    }
                }
            }
            _ => {}
        }
    }
    bindings
}

/// The rows of the listing: the rows of the right model in order, each with its partner,
/// and each other row of the left model after the row before it.
fn order(
    [left, _]: &[ModelRows; 2],
    partners: &[Option<usize>],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut is_paired = vec![false; left.rows.len()];
    for &partner in partners.iter().flatten() {
        is_paired[partner] = true;
    }
    let alone_after = |start: usize| (start..left.rows.len()).take_while(|row| !is_paired[*row]);
    let mut rows: Vec<_> = alone_after(0).map(|row| (Some(row), None)).collect();
    for (right, partner) in partners.iter().enumerate() {
        rows.push((*partner, Some(right)));
        if let Some(partner) = partner {
            rows.extend(alone_after(partner + 1).map(|row| (Some(row), None)));
        }
    }
    rows
}

/// The first group of changes about each part, by the identity of a node, an input or the
/// owner of results.
struct Anchors {
    parts: HashMap<u64, usize>,
    results: HashMap<u64, usize>,
    opsets: Option<usize>,
}

impl Anchors {
    fn new(report: &Report, sides: &[ModelRows; 2]) -> Self {
        let mut anchors = Anchors {
            parts: HashMap::new(),
            results: HashMap::new(),
            opsets: report.groups.iter().position(|it| it.kind == "opset"),
        };
        let mut owners: HashMap<(bool, &str), Vec<u64>> = HashMap::new();
        for row in sides.iter().flat_map(|side| &side.rows) {
            if let RowKind::Head(kind, _) = &row.what {
                let key = match kind {
                    BodyKind::Graph(graph) => (false, graph.name.as_str()),
                    BodyKind::Function(function) => (true, function.name.as_str()),
                };
                owners.entry(key).or_default().push(identity_of(kind));
            }
        }
        for (number, group) in report.groups.iter().enumerate() {
            let is_of_outputs = (group.nodes.iter()).any(|node| node.kind == OriginKind::Output);
            // The parts of a changed output are the nodes that made it, and stay the same.
            let parts = group.parts.iter().filter(|_| !is_of_outputs);
            for part in parts
                .flatten()
                .flatten()
                .filter_map(|part| part.as_object())
            {
                anchors.parts.entry(part.identity()).or_insert(number);
            }
            let outputs = group.nodes.iter();
            for origin in outputs.filter(|origin| origin.kind == OriginKind::Output) {
                let key = (origin.in_function, origin.graph.as_str());
                for &owner in owners.get(&key).into_iter().flatten() {
                    anchors.results.entry(owner).or_insert(number);
                }
            }
        }
        anchors
    }

    fn of(&self, row: &RowKind) -> Option<usize> {
        match row {
            RowKind::Opsets => self.opsets,
            RowKind::Node(call) => self.parts.get(&call.identity()).copied(),
            RowKind::Head(kind, _) => {
                let params = kind.params().iter();
                params
                    .filter_map(|param| self.parts.get(&param.identity()))
                    .min()
                    .copied()
            }
            RowKind::Results(owner) => self.results.get(owner).copied(),
            RowKind::End(_) => None,
        }
    }
}

/// The listing that is being made.
struct Merged {
    sides: [ModelRows; 2],
    anchors: Anchors,
    bindings: HashMap<u32, u32>,
    pairs: HashMap<u64, (u64, PairReason)>,
    listing: Listing,
    rows: [HashMap<u64, usize>; 2],
}

impl Merged {
    fn push(&mut self, left: Option<usize>, right: Option<usize>) {
        let place = self.listing.rows.len();
        for (side, row) in [left, right].into_iter().enumerate() {
            if let Some(row) = row
                && let RowKind::Node(call) = &self.sides[side].rows[row].what
            {
                self.rows[side].insert(call.identity(), place);
            }
        }
        let group = [(1, right), (0, left)].into_iter().find_map(|(side, row)| {
            let row = row?;
            self.anchors.of(&self.sides[side].rows[row].what)
        });
        let mut row = Row {
            anchor: group.map_or_else(String::new, anchor),
            mark: match (left, right) {
                (Some(_), None) => Mark::Deleted,
                (None, Some(_)) => Mark::Inserted,
                _ => Mark::Same,
            },
            ..Row::default()
        };
        if let (Some(left), Some(right)) = (left, right) {
            self.mark(left, right, group.is_some(), &mut row);
        }
        let mut line = |side: usize, place: Option<usize>| {
            place.map(|place| std::mem::take(&mut self.sides[side].rows[place].line))
        };
        row.left = line(0, left);
        row.right = line(1, right);
        self.listing.rows.push(row);
    }

    /// Marks a row of two lines, and tells why they are one.
    fn mark(&mut self, left: usize, right: usize, is_told: bool, row: &mut Row) {
        let [lefts, rights] = &mut self.sides;
        let (left, right) = (&mut lefts.rows[left], &mut rights.rows[right]);
        let calls = match (&left.what, &right.what) {
            (RowKind::Node(left), RowKind::Node(right)) => Some((left.clone(), right.clone())),
            _ => None,
        };
        if let Some((l, _)) = &calls
            && let Some((_, reason)) = self.pairs.get(&l.identity())
        {
            row.why = reason.to_string();
        }
        // A node in no change is the same, whatever its names.
        if calls.is_some() && !is_told {
            return;
        }
        let bindings = &self.bindings;
        let differ = mark_words(&mut left.line, &mut right.line, |binding| {
            bindings.get(&binding).copied()
        });
        if is_told || differ {
            row.mark = Mark::Changed;
        }
        let Some((l, r)) = calls else { return };
        for operand in differing_constants(&l, &r) {
            for side in [&mut *left, &mut *right] {
                if let Some(pieces) = side.operands.get(operand) {
                    for piece in &mut side.line.pieces[pieces.clone()] {
                        piece.is_changed = true;
                    }
                }
            }
        }
    }
}

/// The anchor of a group of changes, by its place in the list of groups.
pub(super) fn anchor(group: usize) -> String {
    format!("change-{}", group + 1)
}
