//! How two models differ: a summary first, then every change in words.
//!
//! | file | job |
//! |---|---|
//! | `options.rs` | how models are compared, and one group of changes |
//! | `place.rs` | the node, graph and input that a place of a program belongs to |
//! | `values.rs` | short text of operands, attributes and tensors |
//! | `groups.rs` | changes of a diff as sentences, and those of nodes |
//! | `interface.rs` | inputs, outputs and their types |
//! | `attributes.rs` | attributes and versions of nodes |
//! | `sentence.rs` | sentences, and those with the same words as one |
//! | `coverage.rs` | the changes, nodes and inputs of each sentence |
//! | `hunks.rs` | parts of a graph that became other ones |
//! | `rewired.rs` | uses of other values that sentences about nodes leave open |
//! | `weights.rs` | weights as the diff pairs them |
//! | `text.rs` | the lines |
//!
//! The command `isoform diff` and `isoform.onnx.diff` print these lines.

mod attributes;
mod coverage;
mod groups;
mod hunks;
mod interface;
mod options;
mod place;
mod rewired;
mod sentence;
mod text;
mod values;
mod weights;

use std::collections::HashSet;

use isoform::compare::{Change, CompareOptions, DiffOptions, Difference, Place};
use isoform::{Ref, Result};
use isoform_ir::kernels::within;
use isoform_kernels::Control;

pub use self::options::{ChangeGroup, ReportOptions, Tolerance};
use self::place::call_identity;

use crate::NodeOrigin;
use crate::ir::Program;
use crate::layout::list;
use crate::summary::ModelsSummary;

/// How many nodes of two models correspond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct NodeChanges {
    /// Nodes that are the same on both sides, but for the elements and types of their weights.
    pub same: usize,
    /// Nodes of the left model that became another node, or got other attributes or
    /// inputs.
    pub changed: usize,
    /// Nodes that only the right model has.
    pub added: usize,
    /// Nodes that only the left model has.
    pub removed: usize,
}

/// How two models differ.
///
/// The text is the output of the command `isoform diff`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// All changes as data. The sides are the compared programs: the programs of the
    /// models, without the ignored differences.
    pub difference: Difference,
    /// The differences in numbers. Ignored differences are left out, but the operator
    /// sets come from the models.
    pub summary: ModelsSummary,
    /// How many nodes correspond.
    pub nodes: NodeChanges,
    /// The changes in words, changes of the graph first and changes of weights last.
    pub groups: Vec<ChangeGroup>,
    options: ReportOptions,
}

/// Compares two models, and tells how they differ; see [`ReportOptions::report`].
///
/// # Errors
///
/// As [`ReportOptions::report`].
pub fn report(left: &Ref<Program>, right: &Ref<Program>) -> Result<Report> {
    ReportOptions::default().report(left, right, &Control::default())
}

impl ReportOptions {
    /// [`report`] with these options. Costs as much as [`isoform::compare::diff`], plus
    /// O(1) for each place of a change, and linear in the bytes of differing weights.
    ///
    /// # Errors
    ///
    /// As [`isoform::compare::diff`]; `RuntimeError` if interrupted by `control`.
    pub fn report(
        self,
        left: &Ref<Program>,
        right: &Ref<Program>,
        control: &Control<'_>,
    ) -> Result<Report> {
        let has_tolerance = self.tolerance.is_some();
        let (l, r) = self.levels.apply_pair_for(left, right, has_tolerance)?;
        let difference = self.diff_options().diff(&l, &r)?;
        let mut summary = self.summary(&l, &r, &difference, control)?;
        // Levels rewrite the versions of nodes.
        let files = ModelsSummary::with_weights(left, right, Default::default());
        let opsets = [&files.left.opsets, &files.right.opsets];
        let (groups, changed) = if difference.is_empty() {
            Default::default()
        } else {
            groups::groups(self, [&l, &r], opsets, &difference, &summary.weights)
        };
        summary.opsets = files.opsets;
        let nodes = node_changes(&l, &r, &difference, &changed);
        Ok(Report {
            difference,
            summary,
            nodes,
            groups,
            options: self,
        })
    }

    fn diff_options(self) -> DiffOptions {
        let compare = CompareOptions {
            map_free_vars: true,
            ..self.compare
        };
        let mut options = DiffOptions {
            compare,
            ..DiffOptions::default()
        };
        let tolerance = self.tolerance;
        options
            .ignore
            .extend(tolerance.map(|it| within(it.rtol, it.atol)));
        options
    }

    fn summary(
        self,
        left: &Program,
        right: &Program,
        difference: &Difference,
        control: &Control<'_>,
    ) -> Result<ModelsSummary> {
        let measured = if self.compare.skip_tensor_content {
            Default::default()
        } else {
            weights::measured(self.tolerance, left, right, difference, control)?
        };
        let has_names = !left.io_names.is_empty();
        Ok(ModelsSummary::of(left, right, measured, has_names))
    }
}

impl Report {
    /// True if nothing that counts differs. O(1).
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.difference.is_empty()
    }

    /// True if operator sets were compared by number. Otherwise, the programs of the
    /// difference have other versions of operators than the files. O(1).
    #[must_use]
    pub fn compares_versions(&self) -> bool {
        !self.options.levels.same_opset_meaning
    }

    /// True if attributes with default values count as omitted. Then the programs of the
    /// difference have none of them. O(1).
    #[must_use]
    pub fn omits_defaults(&self) -> bool {
        self.options.levels.defaults
    }

    /// True if the elements of tensors were not compared. O(1).
    #[must_use]
    pub fn skips_tensor_content(&self) -> bool {
        self.options.compare.skip_tensor_content
    }

    /// The part of a model affected by a change of [`difference`](Self::difference) at
    /// one of its [`places`](Change::places): the removed node, or the nearest node,
    /// input or output of the right model, or else of the left model. O(1) for each
    /// step up to that part.
    #[must_use]
    pub fn origin(&self, change: &Change, places: &(Place, Place)) -> Option<NodeOrigin> {
        place::origin(change, places)
    }

    /// A place of a change on one side as text, from the enclosing node, graph or
    /// function, as in `<node 7 of 'main'>.inputs[1]`: node 7 of the file's list,
    /// counted from 0. O(1) for each step up to that part.
    #[must_use]
    pub fn place_text(&self, change: &Change, place: &Place) -> String {
        place::text(change, place)
    }
}

/// Counts nodes, given the changed left nodes.
fn node_changes(
    l: &Program,
    r: &Program,
    difference: &Difference,
    changed: &HashSet<u64>,
) -> NodeChanges {
    let count = |program| -> usize {
        let bodies = list(program).bodies;
        bodies.iter().map(|body| body.nodes.len()).sum()
    };
    let (left, right) = (count(l), count(r));
    if difference.is_empty() {
        return NodeChanges {
            same: left,
            ..Default::default()
        };
    }
    let pairs = difference.node_pairs();
    let mut paired: HashSet<u64> = pairs
        .filter_map(|(left, _)| call_identity(Some(&left)))
        .collect();
    paired.extend(changed);
    NodeChanges {
        same: paired.len() - changed.len(),
        changed: changed.len(),
        added: right.saturating_sub(paired.len()),
        removed: left.saturating_sub(paired.len()),
    }
}
