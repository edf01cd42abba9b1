//! Summaries of two models as lines of text.

use std::fmt;

use isoform_kernels::difference::Difference;

use super::ValueSummary;
use super::pair::{Changed, ModelsSummary, OperatorDifference};
use super::text::Align::{Left, Right};
use super::text::{Line, Lines, Role, domain_text, versions, write};
use super::weights::MeasuredWeight;

/// Changed weights that are listed; their number is known in any case.
const MOST_WEIGHTS: usize = 20;

/// The side of a one-sided property.
pub(crate) fn changed_role<T>(changed: &Changed<T>) -> Role {
    match (&changed.left, &changed.right) {
        (_, None) => Role::Left,
        (None, _) => Role::Right,
        _ => Role::Changed,
    }
}

/// A row of both sides, with a dash for an absent side.
fn sides<T>(
    name: String,
    changed: &Changed<T>,
    text: impl Fn(&T) -> String,
) -> (Role, Vec<String>) {
    let side = |it: &Option<T>| it.as_ref().map_or_else(|| "-".to_owned(), &text);
    let cells = [
        name,
        side(&changed.left),
        "->".to_owned(),
        side(&changed.right),
    ];
    (changed_role(changed), cells.to_vec())
}

impl ModelsSummary {
    /// The text in lines; of weights, only the most different ones. O(length).
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Lines::default();
        let facts = self.left.facts().into_iter().zip(self.right.facts());
        let facts = facts.map(|((name, left), (_, right))| {
            let role = if left == right {
                Role::Row
            } else {
                Role::Changed
            };
            let arrow = if left == right { "" } else { "->" };
            let right = if left == right { String::new() } else { right };
            (role, vec![name.to_owned(), left, arrow.to_owned(), right])
        });
        lines.table("", &[Left, Left, Left, Left], facts.collect());
        let opsets = self.opsets.iter().map(|(domain, changed)| {
            sides(domain_text(domain).to_owned(), changed, |opset_versions| {
                versions(opset_versions)
            })
        });
        lines.table("opsets that differ", &[Left; 4], opsets.collect());
        for (heading, values) in [
            ("inputs that differ", &self.inputs),
            ("outputs that differ", &self.outputs),
        ] {
            let value = |summary: &ValueSummary| format!("{} {}", summary.name, summary.ty());
            let rows = values
                .iter()
                .map(|(index, changed)| sides(format!("#{index}"), changed, value));
            lines.table(heading, &[Left; 4], rows.collect());
        }
        lines.table(
            "operators",
            &[Left, Right, Left, Right, Right],
            self.operator_rows(),
        );
        self.weight_lines(&mut lines);
        lines.done()
    }

    /// Rows of the most different operators first, and of equal operators at the end.
    fn operator_rows(&self) -> Vec<(Role, Vec<String>)> {
        let mut operators: Vec<_> = self.operators.iter().collect();
        operators.sort_by_key(|it| std::cmp::Reverse(it.change().unsigned_abs()));
        let row = |it: &OperatorDifference| {
            let role = match (it.left, it.right) {
                (left, right) if left == right => Role::Row,
                (_, 0) => Role::Left,
                (0, _) => Role::Right,
                _ => Role::Changed,
            };
            let change = match it.change() {
                0 => String::new(),
                change => format!("{change:+}"),
            };
            let name = it.operator.to_string();
            let [left, right] = [it.left, it.right].map(|count| count.to_string());
            (role, vec![name, left, "->".to_owned(), right, change])
        };
        operators.into_iter().map(row).collect()
    }

    fn weight_lines(&self, lines: &mut Lines) {
        let weights = &self.weights;
        let (changed, pairs) = (weights.changed.len(), weights.pairs);
        let mut text = format!("weights: {changed} of {pairs} changed");
        if weights.differing > 0 {
            text.push_str(&format!(
                ", {} of {} elements",
                weights.differing, weights.elements
            ));
        }
        if let Some(largest) = weights.max_abs.filter(|distance| *distance > 0.0) {
            text.push_str(&format!(", by at most {}", number(largest)));
        }
        lines.heading(&text);
        let mut rows: Vec<&MeasuredWeight> = weights.changed.iter().collect();
        let apart = |measured: &&MeasuredWeight| {
            measured.difference.map_or(f64::INFINITY, |difference| {
                difference.relative_l2.unwrap_or(f64::INFINITY)
            })
        };
        rows.sort_by(|left, right| apart(right).total_cmp(&apart(left)));
        let mut shown: Vec<_> = rows
            .iter()
            .take(MOST_WEIGHTS)
            .map(|measured| (Role::Changed, weight(measured)))
            .collect();
        if rows.len() > MOST_WEIGHTS {
            let more = format!("... {} more", rows.len() - MOST_WEIGHTS);
            shown.push((Role::Row, vec![more]));
        }
        lines.table(" changed", &[Left; 6], shown);
        for (heading, names, role) in [
            (" only on the left", &weights.left_only, Role::Left),
            (" only on the right", &weights.right_only, Role::Right),
        ] {
            let mut rows: Vec<_> = names
                .iter()
                .take(MOST_WEIGHTS)
                .map(|name| (role, vec![name.to_string()]))
                .collect();
            if names.len() > MOST_WEIGHTS {
                let more = format!("... {} more", names.len() - MOST_WEIGHTS);
                rows.push((Role::Row, vec![more]));
            }
            lines.table(heading, &[Left], rows);
        }
    }
}

/// The cells of a weight that differs.
fn weight(measured: &MeasuredWeight) -> Vec<String> {
    let name = if measured.left.name == measured.right.name {
        measured.left.name.to_string()
    } else {
        format!("{} -> {}", measured.left.name, measured.right.name)
    };
    let types = measured.types();
    let Some(difference) = &measured.difference else {
        return vec![name, types];
    };
    let Difference {
        count, differing, ..
    } = *difference;
    let told = |name: &str, value: Option<f64>| {
        value.map_or_else(String::new, |value| format!("{name} {}", number(value)))
    };
    vec![
        name,
        types,
        format!("{differing} of {count}"),
        told("max", difference.max_abs),
        told("relative L2", difference.relative_l2),
        told("cosine", difference.cosine),
    ]
}

/// A number in a few digits.
#[must_use]
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-4..1e6).contains(&size) => {
            let text = format!("{value:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.3e}"),
    }
}

/// The text of the command `isoform summary` for two files, without a newline at the end.
impl fmt::Display for ModelsSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.lines(), f)
    }
}
