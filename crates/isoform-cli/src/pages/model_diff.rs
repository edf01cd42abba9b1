//! The page of two models.

use std::collections::BTreeSet;

use isoform::Value;
use isoform::compare::Change;
use isoform_onnx::report::{ChangeGroup, Report};
use isoform_onnx::summary::{Changed, Role, ValueSummary, number};
use isoform_page::page::{ChangeCard, Fact, Piece, Section, Table, TableRow, Verdict};
use isoform_page::{Mark, Page};

use super::model_listing::{ModelListing, anchor, listing_of};
use super::model_sentence::sentence;
use super::pictures::ChangePictures;
use super::tables::{fact, mark_if, table};
use super::tensors::{Budget, tensor_change};
use super::words::{arrows, literals, short_names};
use crate::diff::value_texts;
use crate::show::rows::domain_name;

/// Changes with a picture, those that come first.
const MOST_PICTURES: usize = 100;

/// The places of a change that are named.
const MOST_PLACES: usize = 50;
/// The lines of a side of a change.
const MOST_LINES: usize = 12;

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
    let names = short_names(names);
    let listing = listing_of(report, names.each_ref().map(String::as_str));
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

fn facts(report: &Report) -> Vec<Fact> {
    let mut facts = node_facts(report);
    facts.extend(weight_facts(report));
    for (domain, changed) in &report.summary.opsets {
        let side = |versions: &Option<BTreeSet<i64>>| {
            let texts: Vec<String> = versions.iter().flatten().map(i64::to_string).collect();
            if texts.is_empty() {
                "-".to_owned()
            } else {
                texts.join(", ")
            }
        };
        let text = format!("{} → {}", side(&changed.left), side(&changed.right));
        let mark = mark_if(!report.is_equal());
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

fn node_facts(report: &Report) -> Vec<Fact> {
    let nodes = report.nodes;
    let counts = [
        ("nodes changed", nodes.changed, Mark::Changed),
        ("nodes added", nodes.added, Mark::Inserted),
        ("nodes removed", nodes.removed, Mark::Deleted),
        ("nodes the same", nodes.same, Mark::Same),
    ];
    let told = counts
        .into_iter()
        .filter(|(_, count, mark)| *count > 0 || *mark == Mark::Same);
    told.map(|(name, count, mark)| fact(name, count.to_string(), mark))
        .collect()
}

fn weight_facts(report: &Report) -> Vec<Fact> {
    if report.skips_tensor_content() {
        return vec![fact("weights", "not compared", Mark::Same)];
    }
    let weights = &report.summary.weights;
    let text = format!("{} of {}", weights.changed.len(), weights.pairs);
    let mark = mark_if(!weights.changed.is_empty());
    let mut facts = vec![fact("weights changed", text, mark)];
    let alone = [
        ("weights added", weights.right_only.len(), Mark::Inserted),
        ("weights removed", weights.left_only.len(), Mark::Deleted),
    ];
    let alone = alone.into_iter().filter(|(_, count, _)| *count > 0);
    facts.extend(alone.map(|(name, count, mark)| fact(name, count.to_string(), mark)));
    facts
}

/// The changes, in the order of the report, and then those without a sentence.
fn cards(report: &Report, listing: Option<&ModelListing>) -> Vec<ChangeCard> {
    let changes = report.difference.changes();
    let mut budget = Budget::default();
    let pictures = ChangePictures::new(report);
    let mut is_told = vec![false; changes.len()];
    let mut cards = Vec::new();
    for (number, group) in report.groups.iter().enumerate() {
        for &change in &group.changes {
            is_told[change] = true;
        }
        let mut card = card(report, group, number, listing, &mut budget);
        if number < MOST_PICTURES {
            card.picture = pictures.picture(group);
        }
        cards.push(card);
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
    let mut tensors = group
        .changes
        .iter()
        .filter(|_| group.kind == "tensor")
        .map(|change| &changes[*change]);
    let tensor = tensors.find_map(|change| tensor_change(change, budget));
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
        text: arrows(&group.text),
        count: group.count as u64,
        changes: group.changes.clone(),
        places: places(group),
        sides: sides
            .filter(|sides| sides.iter().any(|side| !side.is_empty()))
            .and_then(|sides| apart(sides, &group.changes, changes)),
        why: why.map(|reason| reason.to_string()).unwrap_or_default(),
        picture: None,
        tensor,
    }
}

/// Both sides, if their texts differ; otherwise the parts of the first change whose texts do,
/// such as elements that the text of a node leaves out, if any.
fn apart(sides: [Vec<Piece>; 2], numbers: &[usize], changes: &[Change]) -> Option<[Vec<Piece>; 2]> {
    let text = |side: &[Piece]| -> String { side.iter().map(|piece| &*piece.text).collect() };
    if text(&sides[0]) != text(&sides[1]) {
        return Some(sides);
    }
    let changes = numbers.iter().map(|&number| &changes[number]);
    let mut texts = changes.filter_map(|change| {
        let [left, right] = value_texts([change.left(), change.right()]);
        left.zip(right).filter(|(left, right)| left != right)
    });
    let (left, right) = texts.next()?;
    Some(literals(&left, &right))
}

/// The nodes, inputs or outputs concerned, or else the first place.
fn places(group: &ChangeGroup) -> Vec<String> {
    let nodes = group.nodes.iter().take(MOST_PLACES);
    let mut places: Vec<String> = nodes.map(ToString::to_string).collect();
    places.dedup();
    if places.is_empty() && !group.place.is_empty() {
        places.push(group.place.clone());
    }
    places
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
    let [left, right] = value_texts([change.left(), change.right()]);
    let sides = (left, right);
    let words = match &sides {
        (Some(left), Some(right)) => format!("{left} → {right}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    ChangeCard {
        anchor,
        kind: change.kind().name().to_owned(),
        mark: Mark::of_sides(sides.0.is_some(), sides.1.is_some()),
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
        mark: Mark::of_sides(changed.left.is_some(), changed.right.is_some()),
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
        mark: Mark::of_sides(it.left > 0, it.right > 0),
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
