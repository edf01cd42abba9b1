//! How models are compared for a report, and one group of changes.

use isoform::Value;
use isoform::compare::CompareOptions;
pub use isoform_kernels::difference::Tolerance;

use crate::NodeOrigin;
use crate::levels::Levels;
use crate::summary::Role;

/// How two models are compared for a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportOptions {
    /// The differences that do not count.
    pub levels: Levels,
    /// As for [`isoform::structural_equal`]; free variables of two models always
    /// correspond.
    pub compare: CompareOptions,
    /// Numbers within this tolerance count as equal.
    pub tolerance: Option<Tolerance>,
}

/// As in the command `isoform diff`, operator sets are compared by meaning, and an omitted
/// attribute equals an attribute with the default value.
impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            levels: Levels::MEANING,
            compare: CompareOptions::default(),
            tolerance: None,
        }
    }
}

/// Equal changes, told once.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ChangeGroup {
    /// The kind of change: `inserted`, `deleted` and `replaced` nodes, a `hunk` of
    /// several replaced nodes, an `attribute`, a `rewired` input, the elements of a
    /// `tensor`, a declared `type`, another version of an `opset`; otherwise the name
    /// from [`isoform::compare::ChangeKind::name`].
    pub kind: &'static str,
    /// How often it occurs.
    pub count: usize,
    /// The nodes, inputs or outputs concerned, at most one for each occurrence.
    pub nodes: Vec<NodeOrigin>,
    /// The place of the first occurrence, in the right model if possible, from the
    /// enclosing node, graph or function: `<node 7 of 'main'>.inputs[1]`.
    #[serde(skip)]
    pub place: String,
    /// The change in words.
    pub text: String,
    /// The side of a change that concerns only the left or only the right model.
    #[serde(skip)]
    pub role: Role,
    /// The changes of the [difference](super::Report::difference) that are told, by their
    /// place in its list, ascending. A change with several places may be told by several
    /// groups.
    #[serde(skip)]
    pub changes: Vec<usize>,
    /// For each occurrence, the nodes and inputs concerned: those of the left model, and
    /// those of the right one. The values are a `Ref<Call>` or a `Ref<Input>`.
    #[serde(skip)]
    pub parts: Vec<[Vec<Value>; 2]>,
}
