//! Two models beside each other, line by line, as the diff pairs their nodes.

use std::collections::{BTreeSet, HashMap};

use isoform::Ref;
use isoform::compare::Place;
use isoform::paths::AccessStep;
use isoform_onnx::ir::{Call, Function, Graph, Program};
use isoform_onnx::layout::BodyKind;
use isoform_onnx::report::{ChangeGroup, Report};
use isoform_onnx::{NodeOrigin, OriginKind};
use isoform_page::Mark;
use isoform_page::page::{Listing, Piece, Row};

use super::model_pairs::{Pairs, RowReason, bindings, order};
use super::model_rows::{ModelRows, RowKind, differing_constants, identity_of, rows_of};
use super::words::{LEFT_OUT, mark_words, plain, renumber};

/// The pieces of a line that are shown in the text of a change.
const MOST_PIECES: usize = 400;

/// The listing of two models, and where their nodes are in it.
pub(super) struct ModelListing {
    pub(super) listing: Listing,
    /// The row of each node, by its identity and its side.
    rows: [HashMap<u64, usize>; 2],
    /// The right node of each left node with a partner or a replacement, and the reason.
    pairs: HashMap<u64, (u64, RowReason)>,
}

impl ModelListing {
    /// Why two nodes are a pair; None if they are not.
    pub(super) fn reason(&self, left: u64, right: u64) -> Option<RowReason> {
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
    let mut sides =
        programs.map(|program| rows_of(&program, has_contents, report.compares_versions()));
    let pairs = Pairs::new(report, &sides);
    let partners = pairs.rows(&sides, difference.is_empty());
    let bindings = bindings(&sides, &partners);
    let [lefts, rights] = &mut sides;
    let lines = lefts.rows.iter_mut().map(|row| &mut row.line);
    renumber(lines, &bindings, rights.bindings.len() as u32);
    let mut merged = Merged {
        sides,
        anchors: Anchors::new(report),
        pairs: pairs.of_left,
        has_weights: false,
        listing: Listing {
            title: "Nodes".to_owned(),
            note: String::new(),
            sides: names.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        },
        rows: Default::default(),
    };
    for (left, right) in order(&merged.sides, &partners) {
        merged.push(left, right);
    }
    merged.listing.note = note(report, merged.has_weights);
    Some(ModelListing {
        listing: merged.listing,
        rows: merged.rows,
        pairs: merged.pairs,
    })
}

/// The legend: what marks mean, and what the lines leave out.
fn note(report: &Report, has_weights: bool) -> String {
    let parts = [
        (
            has_weights,
            "A weight that is marked, but has the same text on both sides, has other elements.",
        ),
        (
            report.omits_defaults(),
            "Attributes with their default values are left out.",
        ),
    ];
    let parts = parts.iter().filter(|(applies, _)| *applies);
    let parts: Vec<&str> = parts.map(|(_, part)| *part).collect();
    parts.join(" ")
}

/// The groups of changes about each part, by the identity of a node, an input or the owner of
/// results.
struct Anchors {
    parts: HashMap<u64, Vec<usize>>,
    /// The groups of types of results, which are in the heads of graphs.
    types: HashMap<u64, Vec<usize>>,
    results: HashMap<u64, Vec<usize>>,
    opsets: Vec<usize>,
}

impl Anchors {
    fn new(report: &Report) -> Self {
        let mut anchors = Anchors {
            parts: HashMap::new(),
            types: HashMap::new(),
            results: HashMap::new(),
            opsets: Vec::new(),
        };
        for (number, group) in report.groups.iter().enumerate() {
            if group.kind == "opset" {
                anchors.opsets.push(number);
            }
            let outputs = group.nodes.iter();
            let outputs: Vec<&NodeOrigin> = outputs
                .filter(|origin| origin.kind == OriginKind::Output)
                .collect();
            for (owner, is_type) in owners_of(report, group, &outputs) {
                let results = &mut anchors.results;
                let owners = if is_type { &mut anchors.types } else { results };
                owners.entry(owner).or_default().push(number);
            }
            // The parts of a changed output are the nodes that made it, and stay the same.
            let parts = group.parts.iter().filter(|_| outputs.is_empty());
            let parts = parts.flatten().flatten();
            let parts: BTreeSet<u64> = parts
                .filter_map(|part| Some(part.as_object()?.identity()))
                .collect();
            for part in parts {
                anchors.parts.entry(part).or_default().push(number);
            }
        }
        anchors
    }

    /// The groups of a row, ascending.
    fn of(&self, row: &RowKind) -> Vec<usize> {
        let groups = match row {
            RowKind::Opsets => Some(&self.opsets),
            RowKind::Node(call) => self.parts.get(&call.identity()),
            RowKind::Results(owner) => self.results.get(owner),
            RowKind::Head(kind, _) => {
                let params = kind.params().iter();
                let groups = params.filter_map(|param| self.parts.get(&param.identity()));
                let types = self.types.get(&identity_of(kind));
                return groups.chain(types).flatten().copied().collect();
            }
            RowKind::End(_) => None,
        };
        groups.cloned().unwrap_or_default()
    }
}

/// The graphs and functions of both sides with changed outputs, by identity: of several graphs
/// with one name, the one that holds the place of a change. True if the type of an output
/// changed.
fn owners_of(
    report: &Report,
    group: &ChangeGroup,
    outputs: &[&NodeOrigin],
) -> BTreeSet<(u64, bool)> {
    if outputs.is_empty() {
        return BTreeSet::new();
    }
    let changes = report.difference.changes();
    let changes = group.changes.iter().map(|&change| &changes[change]);
    let places = changes.flat_map(|change| change.places());
    let places = places.flat_map(|(left, right)| [left, right]);
    let owner = |place: Place| {
        let (kind, position, is_type) = output_of(&place)?;
        let name = kind.result_names().get(position)?;
        let is_told = outputs.iter().any(|origin| origin.name == name.as_str());
        is_told.then(|| (identity_of(&kind), is_type))
    };
    places.filter_map(owner).collect()
}

/// The graph or function whose output is at a place, the position of the output, and true for
/// its type.
fn output_of(place: &Place) -> Option<(BodyKind, usize, bool)> {
    let mut position = None;
    for (value, step) in place.around() {
        let kind = if let Some(graph) = value.peek::<Ref<Graph>>() {
            BodyKind::Graph(graph.clone())
        } else if let Some(function) = value.peek::<Ref<Function>>() {
            BodyKind::Function(function.clone())
        } else if value.peek::<Ref<Call>>().is_some() {
            return None;
        } else {
            if let AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index) = step {
                position = Some(index);
            }
            continue;
        };
        let is_type = matches!(&step, AccessStep::Attr(name) if &**name == "result_types");
        return Some((kind, position?, is_type));
    }
    None
}

/// The listing that is being made.
struct Merged {
    sides: [ModelRows; 2],
    anchors: Anchors,
    pairs: HashMap<u64, (u64, RowReason)>,
    /// True if a row has weights that differ.
    has_weights: bool,
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
        let groups = [(1, right), (0, left)].into_iter().flat_map(|(side, row)| {
            let row = row.map(|row| &self.sides[side].rows[row].what);
            row.map_or_else(Vec::new, |row| self.anchors.of(row))
        });
        let groups: BTreeSet<usize> = groups.collect();
        let mut row = Row {
            anchors: groups.into_iter().map(anchor).collect(),
            mark: Mark::of_sides(left.is_some(), right.is_some()),
            ..Row::default()
        };
        if let (Some(left), Some(right)) = (left, right) {
            row.mark = Mark::Same;
            self.mark(left, right, &mut row);
        }
        let mut line = |side: usize, place: Option<usize>| {
            place.map(|place| std::mem::take(&mut self.sides[side].rows[place].line))
        };
        row.left = line(0, left);
        row.right = line(1, right);
        self.listing.rows.push(row);
    }

    /// Marks a row of two lines, and tells why they are one.
    fn mark(&mut self, left: usize, right: usize, row: &mut Row) {
        let is_told = !row.anchors.is_empty();
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
        let differ = mark_words(&mut left.line, &mut right.line);
        if is_told || differ {
            row.mark = Mark::Changed;
        }
        if let Some((l, r)) = calls {
            for operand in differing_constants(&l, &r) {
                self.has_weights = true;
                for side in [&mut *left, &mut *right] {
                    let pieces = side.operands.get(operand).cloned().unwrap_or_default();
                    let pieces = &mut side.line.pieces[pieces];
                    pieces.iter_mut().for_each(|piece| piece.is_changed = true);
                }
            }
        }
        let mut pieces = left.line.pieces.iter().chain(&right.line.pieces);
        if is_told && !pieces.any(|piece| piece.is_changed) {
            let reason = if row.why.is_empty() { "" } else { "; " };
            row.why = format!("{}{reason}{LEFT_OUT}", row.why);
        }
    }
}

/// The anchor of a group of changes, by its place in the list of groups.
pub(super) fn anchor(group: usize) -> String {
    format!("change-{}", group + 1)
}
