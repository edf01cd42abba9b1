//! The page of two values of any type.

use isoform::compare::{Change, ChangeKind, Difference, PlacePaths};
use isoform::text::{TensorText, TextOptions};
use isoform::values::ValueRef;
use isoform_ir::kernels::tensor_difference;
use isoform_onnx::eval::Control;
use isoform_page::page::{ChangeCard, Fact, Listing, Section, Table, Verdict};
use isoform_page::{Mark, Page};

use super::model_listing::anchor;
use super::pictures::value_changes_picture;
use super::tables::{fact, row, table};
use super::tensors::{Budget, tensor_change};
use super::text_listing::{ChangePlace, TextSide, listing};
use super::value_words::{lines_of, short_path, short_place, short_values};
use super::words::{literals, short_names};
use crate::output::counted;

/// The places of a change that are named.
const MOST_PLACES: usize = 50;
/// The steps of the paths to all places that are marked in the text.
const MARKED_STEPS: usize = 1 << 20;
/// The spaces of a level of indentation.
const INDENT: usize = 2;

/// The page of two compared values, given their names. Change N of
/// [`Difference::changes`] is card N.
///
/// Linear in the distinct objects and the places of changes, as far as the sides are alike;
/// within a bound for differing stretches of the text.
///
/// ```
/// let difference = isoform::compare::diff([1, 2, 3], [1, 5, 3])?;
/// let page = isoform_cli::pages::page_of_values(&difference, ["left.json", "right.json"]);
/// assert_eq!(page.sentence, "1 change: value at <root>[1]: 2 → 5.");
/// # Ok::<(), isoform::Error>(())
/// ```
#[must_use]
pub fn page_of_values(difference: &Difference, names: [&str; 2]) -> Page {
    let names = short_names(names);
    let mut paths = PlacePaths::default();
    let cards = cards(difference, &mut paths);
    let sentence = sentence(difference, &cards);
    let mut sections = Vec::new();
    if !cards.is_empty() {
        sections.push(Section::Changes(cards));
        sections.push(Section::Picture(value_changes_picture(difference)));
    }
    sections.extend(beginnings(&paths).map(Section::Table));
    let listing = text(difference, names.each_ref().map(String::as_str));
    sections.extend(listing.map(Section::Listing));
    Page {
        title: names.join(" → "),
        verdict: if difference.is_empty() {
            Verdict::Equal
        } else {
            Verdict::Different
        },
        sentence,
        facts: facts(difference),
        sections,
    }
}

pub(super) fn mark_of(kind: ChangeKind) -> Mark {
    match kind {
        ChangeKind::Inserted => Mark::Inserted,
        ChangeKind::Deleted => Mark::Deleted,
        _ => Mark::Changed,
    }
}

/// The changes of each kind, as the cards are counted, and the places of all of them.
fn facts(difference: &Difference) -> Vec<Fact> {
    let changes = difference.changes();
    let count = |kind: ChangeKind| {
        changes
            .iter()
            .filter(|change| change.kind() == kind)
            .count()
    };
    let counts = ChangeKind::ALL.into_iter().map(|kind| (kind, count(kind)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let facts = counts.map(|(kind, count)| fact(kind.name(), count, mark_of(kind)));
    let places = places_of(difference);
    let places = (places > changes.len() as u64).then(|| fact("places", places, Mark::Same));
    facts.chain(places).collect()
}

/// The number of places of all changes.
fn places_of(difference: &Difference) -> u64 {
    let counts = difference.changes().iter().map(Change::count);
    counts.fold(0, u64::saturating_add)
}

/// The answer in one sentence, with the largest change.
fn sentence(difference: &Difference, cards: &[ChangeCard]) -> String {
    let changes = difference.changes();
    // Of equally large changes, the first one counts.
    let largest = (0..changes.len()).rev().max_by_key(|&number| {
        changes[number]
            .left_size()
            .max(changes[number].right_size())
    });
    let Some(largest) = largest else {
        return "Both values are equal.".to_owned();
    };
    let text = &cards[largest].text;
    let count = counted(changes.len(), "change");
    let places = places_of(difference);
    let places = if places > changes.len() as u64 {
        format!(" at {places} places")
    } else {
        String::new()
    };
    let largest = if changes.len() > 1 {
        "; the largest"
    } else {
        ""
    };
    format!("{count}{places}{largest}: {text}.")
}

fn cards(difference: &Difference, paths: &mut PlacePaths) -> Vec<ChangeCard> {
    let mut budget = Budget::default();
    let changes = difference.changes().iter().enumerate();
    changes
        .map(|(number, change)| card(change, number, paths, &mut budget))
        .collect()
}

fn card(change: &Change, number: usize, paths: &mut PlacePaths, budget: &mut Budget) -> ChangeCard {
    let values = [change.left(), change.right()];
    let [left, right] = lines_of(values);
    let mut places = Vec::new();
    let mut heading = None;
    for (left, right) in change.places().take(MOST_PLACES) {
        if heading.is_none() {
            heading = short_place(match change.kind() {
                ChangeKind::Deleted => &left,
                _ => &right,
            });
        }
        let [left, right] = [left, right].map(|place| short_path(&paths.text(&place)));
        places.push(match change.kind() {
            ChangeKind::Deleted => left,
            ChangeKind::Inserted => right,
            _ if left == right => right,
            _ => format!("{left} → {right}"),
        });
    }
    let [before, after] = short_values(values);
    let words = match (before, after) {
        (Some(left), Some(right)) if left == right => {
            format!(": {left}{}", tensor_words(change).unwrap_or_default())
        }
        (Some(left), Some(right)) => format!(": {left} → {right}"),
        (Some(value), None) | (None, Some(value)) => format!(": {value}"),
        (None, None) => String::new(),
    };
    let place = heading
        .or_else(|| places.first().cloned())
        .unwrap_or_default();
    ChangeCard {
        anchor: anchor(number),
        kind: change.kind().name().to_owned(),
        mark: mark_of(change.kind()),
        text: format!("{} at {place}{words}", change.kind()),
        count: change.count(),
        changes: vec![number],
        sides: left.zip(right).map(|(left, right)| literals(&left, &right)),
        why: why(change.kind()).to_owned(),
        tensor: tensor_change(change, budget),
        places,
        picture: None,
    }
}

/// How many elements of two tensors differ.
fn tensor_words(change: &Change) -> Option<String> {
    let (ValueRef::Tensor(left), ValueRef::Tensor(right)) =
        (change.left()?.view(), change.right()?.view())
    else {
        return None;
    };
    let difference = tensor_difference(left, right, None, &Control::default()).ok()?;
    let (differing, count) = (difference.differing, difference.count);
    Some(format!(", {differing} of {count} elements differ"))
}

/// Why the sides of a change are one part, by the definition of its kind.
fn why(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Value | ChangeKind::Tensor | ChangeKind::Replaced => {
            "both are the same part of values that correspond"
        }
        ChangeKind::Attribute => "both are under the same key of maps that correspond",
        ChangeKind::Moved => "the part is equal, and only its place differs",
        ChangeKind::Wrapped => "the part on the left is inside of the new part on the right",
        ChangeKind::Unwrapped => "the part on the right was inside of the part on the left",
        ChangeKind::Variable => "both are used at the same place of values that correspond",
        ChangeKind::Sharing => "one is a copy of the other",
        ChangeKind::KeyRenamed => "both keys have values that correspond",
        ChangeKind::Rewired => "both are the same operand of nodes that correspond",
        _ => "",
    }
}

/// The beginnings of long paths, to which the texts of places refer.
fn beginnings(paths: &PlacePaths) -> Option<Table> {
    let beginnings = paths.tree().beginnings();
    let rows = beginnings.iter().enumerate();
    let rows =
        rows.map(|(number, beginning)| row(vec![format!("<{number}>"), short_path(beginning)]));
    let columns = ["in a place", "stands for"];
    (!beginnings.is_empty()).then(|| table("Beginnings of places", &columns, rows))
}

/// The text of both values; None if a value has no text, such as one with cycles.
fn text(difference: &Difference, names: [&str; 2]) -> Option<Listing> {
    let options = TextOptions::default()
        .indent(INDENT)
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        // Ignored fields are no differences.
        .ignored_fields(false);
    let mut marked = [options.clone(), options];
    // The places of changes, and the number of the mark of each on each side.
    let mut places: Vec<(usize, [Option<usize>; 2])> = Vec::new();
    let mut steps = MARKED_STEPS;
    for (number, change) in difference.changes().iter().enumerate() {
        for (left, right) in change.places() {
            let mut marks = [None; 2];
            for (side, place) in [left, right].into_iter().enumerate() {
                let alone = [ChangeKind::Inserted, ChangeKind::Deleted][side];
                if change.kind() == alone {
                    continue;
                }
                // The path to a deep place is long.
                let depth = place.around().take(steps + 1).count();
                // A place that is too deep pays for the look at it.
                let is_near = depth < steps;
                steps = steps.saturating_sub(depth + 1);
                if !is_near {
                    continue;
                }
                let options = std::mem::take(&mut marked[side]);
                marks[side] = Some(options.marks.len());
                marked[side] = options.mark(place.path(), "");
            }
            places.push((number, marks));
        }
    }
    let texts = [
        marked[0].to_pieces(difference.left()).ok()?,
        marked[1].to_pieces(difference.right()).ok()?,
    ];
    let places = places.into_iter().map(|(number, marks)| {
        // Of a rewired operand, the name is another one; of a changed part, its own text.
        let is_use = difference.changes()[number].kind() == ChangeKind::Rewired;
        let sides = [1, 0].into_iter();
        let sides = sides.filter_map(|side| Some((side, marks[side]?)));
        let lines = sides.flat_map(|(side, mark)| {
            let text = &texts[side];
            let (part, name) = (text.mark_lines[mark], text.name_lines[mark]);
            let lines = if is_use { [name, part] } else { [part, name] };
            lines.map(|line| (side, line))
        });
        ChangePlace {
            anchor: anchor(number),
            lines: lines.collect(),
        }
    });
    let places = places.collect();
    let sides = texts.each_ref().map(|text| TextSide::new(text, INDENT));
    Some(listing("Text", names, sides, places))
}
