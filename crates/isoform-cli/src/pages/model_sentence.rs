//! The difference of two models in one sentence.

use isoform::Ref;
use isoform_onnx::OriginKind;
use isoform_onnx::ir::Call;
use isoform_onnx::report::{ChangeGroup, Report};

use super::words::arrows;
use crate::output::counted;

/// A longer change is told without the names of its nodes.
const LONGEST_CHANGE: usize = 160;

/// The subject of a change, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Interface,
    Operators,
    Wiring,
    Attributes,
    Others,
    Weights,
    Opsets,
}

fn weight(group: &ChangeGroup) -> Weight {
    let is_interface = !group.nodes.is_empty()
        && group
            .nodes
            .iter()
            .all(|origin| origin.kind != OriginKind::Node);
    match group.kind {
        "opset" => Weight::Opsets,
        "tensor" => Weight::Weights,
        _ if is_interface => Weight::Interface,
        "hunk" | "inserted" | "deleted" | "replaced" | "sharing" => Weight::Operators,
        "rewired" => Weight::Wiring,
        "attribute" => Weight::Attributes,
        _ => Weight::Others,
    }
}

/// The answer in one sentence: how much differs, where, and the change that matters most.
pub(super) fn sentence(report: &Report) -> String {
    if report.is_equal() {
        return equal(report);
    }
    // Of changes of one weight, the report has the most important one first.
    let main = report.groups.iter().min_by_key(|group| weight(group));
    let Some(main) = main else {
        return counts(report) + ".";
    };
    let rest = match report.groups.len() - 1 {
        0 => String::new(),
        more => format!("; and {}", counted(more, "more change")),
    };
    let place = match common_place(report) {
        Some(place) if !names_place(report, main, &place) => format!(", all in '{place}'"),
        _ => String::new(),
    };
    format!(
        "{}{place}: {}{rest}.",
        counts(report),
        arrows(brief(&main.text))
    )
}

/// A change without the list of its nodes, if it is long.
fn brief(text: &str) -> &str {
    match text.find(", in '") {
        Some(end) if text.len() > LONGEST_CHANGE => &text[..end],
        _ => text,
    }
}

/// True if the sentence about a change names the place of all changes.
fn names_place(report: &Report, main: &ChangeGroup, place: &str) -> bool {
    let is_alone = report.groups.len() == 1 && main.count == 1;
    brief(&main.text).contains(&format!("'{place}/...'")) || (is_alone && main.text.contains(place))
}

fn equal(report: &Report) -> String {
    if report.summary.opsets.is_empty() {
        "Both models are the same program.".to_owned()
    } else {
        "Both models are the same program, with operator sets that have the same meaning for all \
         of its nodes."
            .to_owned()
    }
}

/// How many nodes and weights differ.
fn counts(report: &Report) -> String {
    let nodes = report.nodes;
    let touched = [
        (nodes.changed, "changed"),
        (nodes.added, "added"),
        (nodes.removed, "removed"),
    ];
    let touched: Vec<String> = touched
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let all = nodes.same + nodes.changed + nodes.removed;
    let weights = report.summary.weights.changed.len();
    let pairs = report.summary.weights.pairs;
    match (touched.as_slice(), weights) {
        ([], 0) => format!("All {} are the same", counted(all, "node")),
        ([], _) => format!(
            "All {} are the same, and {weights} of {} changed",
            counted(all, "node"),
            counted(pairs, "weight")
        ),
        ([first, rest @ ..], _) => {
            let (count, what) = first.split_once(' ').unwrap_or((first, ""));
            let others: String = rest.iter().map(|other| format!(", {other}")).collect();
            if nodes.changed > 0 {
                format!("{count} of {} {what}{others}", counted(all, "node"))
            } else {
                format!("{count} {} {what}{others}", noun(count, "node"))
            }
        }
    }
}

fn noun(count: &str, noun: &str) -> String {
    let plural = if count == "1" { "" } else { "s" };
    format!("{noun}{plural}")
}

/// The folder that the names of all changed nodes share; None if another part changed, too.
fn common_place(report: &Report) -> Option<String> {
    let is_elsewhere = |group: &ChangeGroup| {
        let mut parts = group.parts.iter().flatten().flatten();
        weight(group) == Weight::Interface || parts.any(|part| part.peek::<Ref<Call>>().is_none())
    };
    if report.groups.iter().any(is_elsewhere) {
        return None;
    }
    let is_of_nodes = |group: &&ChangeGroup| weight(group) != Weight::Opsets;
    let groups = report.groups.iter().filter(is_of_nodes);
    let parts = groups.flat_map(|group| &group.parts).flatten().flatten();
    let mut names = parts.filter_map(|part| part.peek::<Ref<Call>>().map(|call| &call.name));
    let first = names.next()?;
    let mut common = first.as_str();
    for name in names {
        let same = common.char_indices().zip(name.as_str().chars());
        let end = same
            .take_while(|((_, left), right)| left == right)
            .last()
            .map_or(0, |((start, sign), _)| start + sign.len_utf8());
        common = &common[..end];
    }
    let end = common.rfind('/')?;
    (end > 0).then(|| common[..end].to_owned())
}
