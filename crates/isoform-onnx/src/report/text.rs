//! Reports as lines of text.

use std::collections::BTreeMap;
use std::fmt;

use super::{NodeChanges, Report};
use crate::summary::{
    Changed, Line, MeasuredWeight, OperatorDifference, Role, ValueSummary, changed_role,
    domain_text, number, versions, write,
};

/// The default limit of listed changes.
pub(super) const MOST_CHANGES: usize = 20;

/// Rows of one part of a summary.
const MOST_ROWS: usize = 5;

/// Operators that are listed in a summary.
const MOST_OPERATORS: usize = 12;

impl Report {
    /// The summary in lines; the first line is `equal` or `different`. O(length).
    #[must_use]
    pub fn summary_lines(&self) -> Vec<Line> {
        let verdict = if self.is_equal() {
            "equal"
        } else {
            "different"
        };
        let mut lines = vec![line(Role::Heading, verdict.to_owned())];
        lines.extend(self.opset_lines());
        if self.is_equal() {
            return lines;
        }
        lines.extend(value_lines("input", &self.summary.inputs));
        lines.extend(value_lines("output", &self.summary.outputs));
        lines.extend(self.operator_line());
        lines.push(line(Role::Row, format!("nodes: {}", self.nodes)));
        lines.extend(self.weight_lines());
        lines
    }

    /// The summary, and the first `max` changes in words, or all changes if `max` is
    /// None. O(length).
    #[must_use]
    pub fn lines(&self, max: Option<usize>) -> Vec<Line> {
        let mut lines = self.summary_lines();
        if self.groups.is_empty() {
            return lines;
        }
        lines.push(line(Role::Row, String::new()));
        let shown = max.unwrap_or(self.groups.len()).min(self.groups.len());
        let groups = self.groups[..shown].iter();
        lines.extend(groups.map(|group| line(group.role, group.text.clone())));
        let more = self.groups.len() - shown;
        if more > 0 {
            let plural = if more == 1 { "" } else { "s" };
            let text = format!("... and {more} more change{plural}; --max 0 shows all");
            lines.push(line(Role::Row, text));
        }
        lines
    }

    fn opset_lines(&self) -> Vec<Line> {
        let is_equal = self.is_equal();
        let opsets = self.summary.opsets.iter();
        let lines = opsets.map(|(domain, changed)| {
            let side = |it: &Option<_>| it.as_ref().map_or_else(|| "-".to_owned(), versions);
            let sides = format!("{} -> {}", side(&changed.left), side(&changed.right));
            let text = format!("opset {} {sides}", domain_text(domain));
            if is_equal {
                line(
                    Role::Row,
                    format!("{text}, with the same meaning for all nodes"),
                )
            } else {
                line(changed_role(changed), text)
            }
        });
        lines.collect()
    }

    fn operator_line(&self) -> Option<Line> {
        let operators = self.summary.operators.iter();
        let mut differing: Vec<&OperatorDifference> =
            operators.filter(|it| it.change() != 0).collect();
        differing.sort_by_key(|it| std::cmp::Reverse(it.change().unsigned_abs()));
        let shown = differing.iter().take(MOST_OPERATORS);
        let mut texts: Vec<String> = shown
            .map(|it| format!("{} {} -> {}", it.operator, it.left, it.right))
            .collect();
        if differing.len() > MOST_OPERATORS {
            texts.push(format!("... {} more", differing.len() - MOST_OPERATORS));
        }
        let text = format!("operators: {}", texts.join(", "));
        (!texts.is_empty()).then(|| line(Role::Changed, text))
    }

    /// The number of different weights and their distances, also for weights with a new
    /// type.
    fn weight_lines(&self) -> Vec<Line> {
        if self.options.compare.skip_tensor_content {
            return vec![line(Role::Row, "weights: not compared".to_owned())];
        }
        let weights = &self.summary.weights;
        let (changed, pairs) = (weights.changed.len(), weights.pairs);
        let (left, right) = (weights.left_only.len(), weights.right_only.len());
        let mut text = match (left, right) {
            (0, 0) => format!("weights: {changed} of {pairs} changed"),
            _ => format!("weights: {pairs} on both sides, {changed} changed"),
        };
        if self.options.tolerance.is_some() {
            text.push_str(" beyond the tolerance");
        }
        text.push_str(&extremes(&weights.changed.iter().collect::<Vec<_>>()));
        let alone: Vec<String> = [(left, "left"), (right, "right")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, side)| format!("{count} only on the {side}"))
            .collect();
        if !alone.is_empty() {
            text.push_str(&format!("; {}", alone.join(", ")));
        }
        let mut lines = vec![line(Role::Row, text)];
        let mut retyped: BTreeMap<String, Vec<&MeasuredWeight>> = BTreeMap::new();
        for weight in &weights.changed {
            let [left, right] = [&weight.left, &weight.right].map(|side| side.tensor.dtype());
            if left != right {
                let types = format!("{left} -> {right}");
                retyped.entry(types).or_default().push(weight);
            }
        }
        for (types, group) in retyped {
            let text = format!("  {} {types}{}", group.len(), extremes(&group));
            lines.push(line(Role::Changed, text));
        }
        lines
    }
}

/// The largest distances of weights, each after a comma.
fn extremes(weights: &[&MeasuredWeight]) -> String {
    let differences = || {
        weights
            .iter()
            .filter_map(|weight| weight.difference.as_ref())
    };
    // Beside zeros, no relative distance of elements is finite.
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let facts = [
        (
            "max abs",
            differences()
                .filter_map(|difference| difference.max_abs)
                .reduce(f64::max),
        ),
        (
            "relative L2 up to",
            differences()
                .filter_map(|difference| difference.relative_l2)
                .reduce(f64::max),
        ),
        (
            "max rel",
            finite(
                differences()
                    .filter_map(|difference| difference.max_rel)
                    .reduce(f64::max),
            ),
        ),
    ];
    let mut text = String::new();
    for (name, value) in facts {
        if let Some(value) = value {
            text.push_str(&format!(", {name} {}", number(value)));
        }
    }
    let cosine = differences()
        .filter_map(|difference| difference.cosine)
        .reduce(f64::min);
    // With 1.000000, it would say nothing.
    if let Some(cosine) = cosine.filter(|cosine| *cosine < 1.0 - 5e-7) {
        text.push_str(&format!(", cosine at least {cosine:.6}"));
    }
    text
}

fn line(role: Role, text: String) -> Line {
    Line { role, text }
}

fn value_lines(what: &str, values: &[(usize, Changed<ValueSummary>)]) -> Vec<Line> {
    let shown = values.iter().take(MOST_ROWS);
    let mut lines: Vec<Line> = shown
        .map(|(index, changed)| {
            let name = |value: &ValueSummary| format!("'{}'", value.name);
            let text = match (&changed.left, &changed.right) {
                (Some(left), Some(right)) if left.name == right.name => {
                    format!("{}: {} -> {}", name(left), left.ty(), right.ty())
                }
                (Some(left), Some(right)) => {
                    let sides =
                        [left, right].map(|value| format!("{} {}", name(value), value.ty()));
                    sides.join(" -> ")
                }
                (Some(left), None) => format!("{} removed: {}", name(left), left.ty()),
                (None, Some(right)) => format!("{} added: {}", name(right), right.ty()),
                (None, None) => String::new(),
            };
            line(changed_role(changed), format!("{what} #{index} {text}"))
        })
        .collect();
    if values.len() > MOST_ROWS {
        let more = values.len() - MOST_ROWS;
        lines.push(line(Role::Row, format!("... {more} more {what}s")));
    }
    lines
}

/// As in `120 the same, 2 changed, 1 added, 3 removed`.
impl fmt::Display for NodeChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeChanges {
            same,
            changed,
            added,
            removed,
        } = self;
        write!(
            f,
            "{same} the same, {changed} changed, {added} added, {removed} removed"
        )
    }
}

/// The text of the command `isoform diff`, without a newline at the end.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.lines(Some(MOST_CHANGES)), f)
    }
}
