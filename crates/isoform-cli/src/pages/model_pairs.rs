//! The nodes of two models that are one row, and the order of all rows.

use std::collections::HashMap;
use std::fmt;

use isoform::compare::PairReason;
use isoform::{Ref, Value};
use isoform_onnx::ir::Call;
use isoform_onnx::layout::BodyKind;
use isoform_onnx::report::Report;

use super::model_rows::{ModelRows, RowKind, identity_of};
use super::pictures::is_same_operator;

/// Why two nodes are in one row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowReason {
    /// The diff paired the nodes.
    Pair(PairReason),
    /// The diff has no partner for the nodes, but one change is of both.
    Change,
}

impl fmt::Display for RowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowReason::Pair(reason) => reason.fmt(f),
            RowReason::Change => f.write_str(
                "the same operator, and one change is at both; as nodes of the graphs, neither has \
                 a partner",
            ),
        }
    }
}

/// The pairs of nodes, graphs and functions, by identity.
pub(super) struct Pairs {
    pub(super) of_left: HashMap<u64, (u64, RowReason)>,
    of_right: HashMap<u64, u64>,
}

impl Pairs {
    /// The pairs of the difference, the pairs of single nodes that a change concerns, and the
    /// pairs of graphs and functions that follow.
    pub(super) fn new(report: &Report, [left, right]: &[ModelRows; 2]) -> Self {
        let mut pairs = Pairs {
            of_left: HashMap::new(),
            of_right: HashMap::new(),
        };
        let identity = |value: &Value| value.as_object().map(|object| object.identity());
        for (left, right, reason) in report.difference.node_pairs_with_reasons() {
            if let (Some(left), Some(right)) = (identity(&left), identity(&right)) {
                pairs.add(left, right, RowReason::Pair(reason));
            }
        }
        for [lefts, rights] in report.groups.iter().flat_map(|group| &group.parts) {
            let ([left], [right]) = (&**lefts, &**rights) else {
                continue;
            };
            if let (Some(left), Some(right)) = (left.peek::<Ref<Call>>(), right.peek::<Ref<Call>>())
                && is_same_operator(left, right)
            {
                pairs.add(left.identity(), right.identity(), RowReason::Change);
            }
        }
        pairs.pair_bodies(left, right);
        pairs
    }

    /// Adds a pair of nodes without partners.
    fn add(&mut self, left: u64, right: u64, reason: RowReason) {
        if !self.of_left.contains_key(&left) && !self.of_right.contains_key(&right) {
            self.of_left.insert(left, (right, reason));
            self.of_right.insert(right, left);
        }
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
    pub(super) fn rows(
        &self,
        [left, right]: &[ModelRows; 2],
        are_equal: bool,
    ) -> Vec<Option<usize>> {
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

/// The right binding of each left binding that has a partner, each at most once.
pub(super) fn bindings(
    [left, right]: &[ModelRows; 2],
    partners: &[Option<usize>],
) -> HashMap<u32, u32> {
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
pub(super) fn order(
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
