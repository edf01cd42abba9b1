//! The report of `--explain`: a table of rules, then each use of a rule.

use std::io;

use isoform_onnx::optimize::{Fired, Report};

use super::written::bytes_text;
use crate::output::{Output, printable};

/// The number of named nodes among nodes with the same change.
const NAMED: usize = 8;

pub(super) fn explain(report: &Report, output: &mut Output<'_, '_>) -> io::Result<()> {
    let totals = report.totals();
    if totals.is_empty() {
        return output.line("no rule applies");
    }
    let width = totals
        .iter()
        .map(|total| total.rule.len())
        .max()
        .unwrap_or(0)
        .max("rule".len());
    let strong = output.style.strong;
    output.line(format_args!(
        "{strong}{:width$}  {:>6}  {:>11}  {:>11}{strong:#}",
        "rule", "times", "nodes saved", "bytes saved"
    ))?;
    for total in &totals {
        output.line(format_args!(
            "{:width$}  {:>6}  {:>11}  {:>11}",
            total.rule,
            total.times,
            total.nodes,
            signed_bytes(total.bytes)
        ))?;
    }
    if report.copies > 0 {
        output.line(format_args!(
            "{:width$}  {:>6}  {:>11}  outputs that are inputs or other outputs need an Identity",
            "(copies)",
            report.copies,
            -(report.copies as i64)
        ))?;
    }
    for total in &totals {
        output.line("")?;
        output.line(format_args!("{strong}{}{strong:#}", total.rule))?;
        let fired = report.fired.iter().filter(|entry| entry.rule == total.rule);
        for group in groups(fired) {
            output.line(line(&group))?;
        }
    }
    output.line("")
}

/// Uses of one rule with the same change, in the order of their first use.
fn groups<'r>(fired: impl Iterator<Item = &'r Fired>) -> Vec<Vec<&'r Fired>> {
    let key = |fired: &Fired| {
        (
            fired.op.clone(),
            fired.graph.clone(),
            fired.nodes,
            fired.bytes,
        )
    };
    let mut places = std::collections::HashMap::new();
    let mut found: Vec<Vec<&Fired>> = Vec::new();
    for one in fired {
        let at = *places.entry(key(one)).or_insert(found.len());
        match found.get_mut(at) {
            Some(group) => group.push(one),
            None => found.push(vec![one]),
        }
    }
    found
}

/// `  Transpose: -1 node, -16 B each (3 in graph 'main'): 'a', 'b', 'c'`.
fn line(group: &[&Fired]) -> String {
    let first = group[0];
    let each = if group.len() > 1 { " each" } else { "" };
    let mut changes = vec![match first.nodes {
        1 => "1 node".to_owned(),
        nodes => format!("{nodes} nodes"),
    }];
    if first.bytes != 0 {
        changes.push(signed_bytes(first.bytes));
    }
    let mut names: Vec<String> = group
        .iter()
        .take(NAMED)
        .map(|entry| node_name(entry))
        .collect();
    if group.len() > NAMED {
        names.push(format!("{} more", group.len() - NAMED));
    }
    format!(
        "  {} in '{}', saves {}{each}: {}",
        printable(&first.op),
        printable(&first.graph),
        changes.join(" and "),
        printable(&names.join(", "))
    )
}

/// The name of a node, or the name of its result.
pub(crate) fn node_name(fired: &Fired) -> String {
    match (fired.node.as_str(), fired.output.as_str()) {
        ("", "") => "a node without a name".to_owned(),
        ("", output) => format!("producing '{output}'"),
        (node, _) => format!("'{node}'"),
    }
}

/// A number of bytes for people, with a sign if it is negative.
pub(crate) fn signed_bytes(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", bytes_text(bytes.unsigned_abs()))
}
