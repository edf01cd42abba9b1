//! The page of two models.

use std::collections::BTreeSet;

use isoform::Value;
use isoform::compare::Change;
use isoform_onnx::report::{ChangeGroup, Report};
use isoform_onnx::summary::{Changed, Role, ValueSummary, number};
use isoform_page::page::{ChangeCard, Fact, Section, Table, TableRow, Verdict};
use isoform_page::{Mark, Page};

use super::model_listing::{ModelListing, anchor, listing_of};
use super::model_sentence::sentence;
use super::tensors::{Budget, tensor_change};
use super::words::literals;
use crate::diff::value_text;
use crate::show::rows::domain_name;

/// The places of a change that are named.
const MOST_PLACES: usize = 50;
/// The lines of a side of a change.
const MOST_LINES: usize = 12;
/// The rows of a table.
const MOST_ROWS: usize = 500;

/// The page of two compared models, given their names.
///
/// Every change of [`Report::difference`] is in [`ChangeCard::changes`] of a card, by its
/// place in the list of changes. O(nodes × depth of bodies), O(places of changes), and
/// linear in the elements of changed weights, of which at most 2^26 are read.
///
/// ```
/// # fn page(left: &isoform_onnx::Model, right: &isoform_onnx::Model) -> isoform::Result<()> {
/// let report = isoform_onnx::report::report(left.program(), right.program())?;
/// let page = isoform_cli::pages::page_of_models(&report, ["before.onnx", "after.onnx"]);
/// println!("{}", page.sentence);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn page_of_models(report: &Report, names: [&str; 2]) -> Page {
    let listing = listing_of(report, names);
    let mut sections = Vec::new();
    if !report.is_equal() {
        sections.push(Section::Changes(cards(report, listing.as_ref())));
    }
    sections.extend(tables(report).into_iter().map(Section::Table));
    sections.extend(listing.map(|it| Section::Listing(it.listing)));
    Page {
        title: names.join(" → "),
        verdict: if report.is_equal() {
            Verdict::Equal
        } else {
            Verdict::Different
        },
        sentence: sentence(report),
        facts: facts(report),
        sections,
    }
}

fn fact(name: impl Into<String>, value: impl Into<String>, mark: Mark) -> Fact {
    Fact {
        name: name.into(),
        value: value.into(),
        mark,
    }
}

fn facts(report: &Report) -> Vec<Fact> {
    let nodes = report.nodes;
    let mut facts = Vec::new();
    let counts = [
        ("nodes changed", nodes.changed, Mark::Changed),
        ("nodes added", nodes.added, Mark::Inserted),
        ("nodes removed", nodes.removed, Mark::Deleted),
        ("nodes the same", nodes.same, Mark::Same),
    ];
    for (name, count, mark) in counts {
        if count > 0 || mark == Mark::Same {
            facts.push(fact(name, count.to_string(), mark));
        }
    }
    let weights = &report.summary.weights;
    if report.skips_tensor_content() {
        facts.push(fact("weights", "not compared", Mark::Same));
    } else {
        let text = format!("{} of {}", weights.changed.len(), weights.pairs);
        let mark = if weights.changed.is_empty() {
            Mark::Same
        } else {
            Mark::Changed
        };
        facts.push(fact("weights changed", text, mark));
    }
    let alone = [
        ("weights added", weights.right_only.len(), Mark::Inserted),
        ("weights removed", weights.left_only.len(), Mark::Deleted),
    ];
    for (name, count, mark) in alone {
        if count > 0 {
            facts.push(fact(name, count.to_string(), mark));
        }
    }
    for (domain, changed) in &report.summary.opsets {
        let side = |versions: &Option<BTreeSet<i64>>| {
            let texts = versions.iter().flatten().map(ToString::to_string);
            let texts: Vec<String> = texts.collect();
            if texts.is_empty() {
                "-".to_owned()
            } else {
                texts.join(", ")
            }
        };
        let text = format!("{} → {}", side(&changed.left), side(&changed.right));
        let mark = if report.is_equal() {
            Mark::Same
        } else {
            Mark::Changed
        };
        facts.push(fact(format!("opset {}", domain_name(domain)), text, mark));
    }
    let interface = [
        ("inputs that differ", &report.summary.inputs),
        ("outputs that differ", &report.summary.outputs),
    ];
    for (name, values) in interface {
        if !values.is_empty() && !report.is_equal() {
            facts.push(fact(name, values.len().to_string(), Mark::Changed));
        }
    }
    facts
}

/// The changes, in the order of the report, and then those without a sentence.
fn cards(report: &Report, listing: Option<&ModelListing>) -> Vec<ChangeCard> {
    let changes = report.difference.changes();
    let mut budget = Budget::default();
    let mut is_told = vec![false; changes.len()];
    let mut cards = Vec::new();
    for (number, group) in report.groups.iter().enumerate() {
        for &change in &group.changes {
            is_told[change] = true;
        }
        cards.push(card(report, group, number, listing, &mut budget));
    }
    for (number, change) in changes.iter().enumerate().filter(|(it, _)| !is_told[*it]) {
        let anchor = anchor(cards.len());
        cards.push(untold(report, change, number, anchor));
    }
    cards
}

fn card(
    report: &Report,
    group: &ChangeGroup,
    number: usize,
    listing: Option<&ModelListing>,
    budget: &mut Budget,
) -> ChangeCard {
    let changes = report.difference.changes();
    let tensor = match group.kind {
        "tensor" => {
            let mut tensors = group.changes.iter();
            tensors.find_map(|change| tensor_change(&changes[*change], budget))
        }
        _ => None,
    };
    let mut places: Vec<String> = group
        .nodes
        .iter()
        .take(MOST_PLACES)
        .map(ToString::to_string)
        .collect();
    places.dedup();
    if places.is_empty() && !group.place.is_empty() {
        places.push(group.place.clone());
    }
    let ids = group.parts.first().map(|parts| {
        parts.each_ref().map(|side| {
            let ids = side.iter().filter_map(Value::as_object);
            ids.map(|object| object.identity()).collect::<Vec<u64>>()
        })
    });
    let both = listing.zip(ids.as_ref());
    let sides =
        both.map(|(listing, ids)| [0, 1].map(|side| listing.text_of(side, &ids[side], MOST_LINES)));
    let why = both.and_then(|(listing, ids)| match ids {
        [left, right] if left.len() == 1 && right.len() == 1 => listing.reason(left[0], right[0]),
        _ => None,
    });
    ChangeCard {
        anchor: anchor(number),
        kind: group.kind.to_owned(),
        mark: match group.role {
            Role::Left => Mark::Deleted,
            Role::Right => Mark::Inserted,
            _ => Mark::Changed,
        },
        text: group.text.clone(),
        count: group.count as u64,
        changes: group.changes.clone(),
        places,
        sides: sides.filter(|sides| sides.iter().any(|side| !side.is_empty())),
        why: why.map(|reason| reason.to_string()).unwrap_or_default(),
        picture: None,
        tensor,
    }
}

/// A change that no sentence of the report tells.
fn untold(report: &Report, change: &Change, number: usize, anchor: String) -> ChangeCard {
    let places = change.places().take(MOST_PLACES).map(|(left, right)| {
        let place = if change.right().is_some() {
            right
        } else {
            left
        };
        report.place_text(change, &place)
    });
    let text = |value: Option<&Value>| value.map(value_text);
    let sides = (text(change.left()), text(change.right()));
    let words = match &sides {
        (Some(left), Some(right)) => format!("{left} → {right}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    ChangeCard {
        anchor,
        kind: change.kind().name().to_owned(),
        mark: match sides {
            (Some(_), None) => Mark::Deleted,
            (None, Some(_)) => Mark::Inserted,
            _ => Mark::Changed,
        },
        text: format!("{}: {words}", change.kind()),
        count: change.count(),
        changes: vec![number],
        places: places.collect(),
        sides: sides
            .0
            .zip(sides.1)
            .map(|(left, right)| literals(&left, &right)),
        ..ChangeCard::default()
    }
}

fn tables(report: &Report) -> Vec<Table> {
    if report.is_equal() {
        return Vec::new();
    }
    let interface = [
        ("Inputs", &report.summary.inputs),
        ("Outputs", &report.summary.outputs),
    ];
    let interface = interface.map(|(title, values)| interface_table(title, values));
    let tables = interface
        .into_iter()
        .chain([operator_table(report), weight_table(report)]);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn interface_table(title: &str, values: &[(usize, Changed<ValueSummary>)]) -> Table {
    let text = |side: &Option<ValueSummary>| {
        let text = |it: &ValueSummary| format!("{}: {}{}", it.name, it.dtype, it.shape);
        side.as_ref().map_or_else(|| "-".to_owned(), text)
    };
    let rows = values.iter().map(|(position, changed)| TableRow {
        cells: vec![
            position.to_string(),
            text(&changed.left),
            text(&changed.right),
        ],
        mark: mark_of(changed.left.is_some(), changed.right.is_some()),
    });
    table(title, &["position", "before", "after"], rows)
}

fn operator_table(report: &Report) -> Table {
    let operators = report.summary.operators.iter();
    let mut differing: Vec<_> = operators.filter(|it| it.change() != 0).collect();
    differing.sort_by_key(|it| std::cmp::Reverse(it.change().unsigned_abs()));
    let rows = differing.into_iter().map(|it| TableRow {
        cells: vec![
            it.operator.to_string(),
            it.left.to_string(),
            it.right.to_string(),
            format!("{:+}", it.change()),
        ],
        mark: mark_of(it.left > 0, it.right > 0),
    });
    let columns = ["operator", "before", "after", "change"];
    table("Operators", &columns, rows)
}

fn weight_table(report: &Report) -> Table {
    let measured = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let rows = report.summary.weights.changed.iter().map(|weight| {
        let names = [&weight.left.name, &weight.right.name].map(|name| name.as_str());
        let name = if names[0] == names[1] {
            names[0].to_owned()
        } else {
            names.join(" → ")
        };
        let difference = weight.difference.as_ref();
        let share = difference.map_or_else(
            || "-".to_owned(),
            |it| format!("{} of {}", it.differing, it.count),
        );
        TableRow {
            cells: vec![
                name,
                weight.types(),
                share,
                measured(difference.and_then(|it| it.max_abs)),
                measured(difference.and_then(|it| it.relative_l2)),
                measured(difference.and_then(|it| it.cosine)),
            ],
            mark: Mark::Changed,
        }
    });
    let columns = [
        "weight",
        "type",
        "elements that differ",
        "max abs",
        "relative L2",
        "cosine",
    ];
    table("Weights", &columns, rows)
}

/// A table with at most [`MOST_ROWS`] rows; its title tells how many there are.
fn table(title: &str, columns: &[&str], rows: impl Iterator<Item = TableRow>) -> Table {
    let mut rows: Vec<TableRow> = rows.collect();
    let title = if rows.len() > MOST_ROWS {
        format!("{title} (the first {MOST_ROWS} of {})", rows.len())
    } else {
        title.to_owned()
    };
    rows.truncate(MOST_ROWS);
    Table {
        title,
        columns: columns.iter().map(ToString::to_string).collect(),
        rows,
    }
}

fn mark_of(is_left: bool, is_right: bool) -> Mark {
    match (is_left, is_right) {
        (true, false) => Mark::Deleted,
        (false, true) => Mark::Inserted,
        _ => Mark::Changed,
    }
}
