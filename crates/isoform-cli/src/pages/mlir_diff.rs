//! The page of two programs of MLIR.

use isoform::compare::Difference;
use isoform::{Ref, Value};
use isoform_mlir::{
    OperationChange, OperationChangeKind, Program, ProgramText, Report, WriteOptions,
};
use isoform_page::page::{ChangeCard, Listing, Section, Verdict};
use isoform_page::{Mark, Page};

use super::mlir_text::{ELEMENTS, INDENT, mlir_pieces};
use super::model_listing::anchor;
use super::pictures::value_changes_picture;
use super::tables::fact;
use super::text_listing::{ChangePlace, TextSide, listing};
use super::words::{literals, short_names};

/// The page of two compared programs of MLIR, given their names. Change N of the report is
/// card N. Linear in the texts of the programs, as far as the sides are alike.
///
/// ```
/// let program = |name: &str| isoform_mlir::read(format!("\"x.{name}\"() : () -> ()"));
/// let difference = isoform::compare::diff(program("a")?, program("b")?)?;
/// let report = isoform_mlir::Report::new(&difference)?;
/// let page = isoform_cli::pages::page_of_mlir(&difference, &report, ["l.mlir", "r.mlir"]);
/// assert_eq!(page.sentence, "1 operation changed: x.a became x.b.");
/// # Ok::<(), isoform::Error>(())
/// ```
#[must_use]
pub fn page_of_mlir(difference: &Difference, report: &Report, names: [&str; 2]) -> Page {
    let names = short_names(names);
    let cards: Vec<ChangeCard> = report.changes.iter().enumerate().map(card).collect();
    let sentence = match report.changes.as_slice() {
        [] => "Both programs are equal.".to_owned(),
        [only] => format!("{}: {}.", report.summary(), only.text),
        [first, ..] => format!("{}; the first: {}.", report.summary(), first.text),
    };
    let mut sections = Vec::new();
    if !cards.is_empty() {
        sections.push(Section::Changes(cards));
        sections.push(Section::Picture(value_changes_picture(difference)));
    }
    let sides = names.each_ref().map(String::as_str);
    sections.extend(text(difference, report, sides).map(Section::Listing));
    let kinds = [
        OperationChangeKind::Changed,
        OperationChangeKind::Removed,
        OperationChangeKind::Added,
        OperationChangeKind::Moved,
    ];
    let count = |kind: OperationChangeKind| {
        let changes = report.changes.iter().filter(|change| change.kind == kind);
        changes.map(|change| change.count).sum::<usize>()
    };
    let counts = kinds.map(|kind| (kind, count(kind)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    Page {
        title: names.join(" → "),
        verdict: if difference.is_empty() {
            Verdict::Equal
        } else {
            Verdict::Different
        },
        sentence,
        facts: counts
            .map(|(kind, count)| fact(format!("operations {}", kind.name()), count, mark_of(kind)))
            .collect(),
        sections,
    }
}

fn mark_of(kind: OperationChangeKind) -> Mark {
    match kind {
        OperationChangeKind::Added => Mark::Inserted,
        OperationChangeKind::Removed => Mark::Deleted,
        _ => Mark::Changed,
    }
}

fn card((number, change): (usize, &OperationChange)) -> ChangeCard {
    let [left, right] = change.lines.clone();
    ChangeCard {
        anchor: anchor(number),
        kind: change.kind.name().to_owned(),
        mark: mark_of(change.kind),
        text: change.text.clone(),
        count: change.count as u64,
        changes: change.changes.clone(),
        sides: left.zip(right).map(|(left, right)| literals(&left, &right)),
        why: String::new(),
        tensor: None,
        places: Vec::new(),
        picture: None,
    }
}

/// Both programs beside each other; None if a program cannot be written.
fn text(difference: &Difference, report: &Report, names: [&str; 2]) -> Option<Listing> {
    let side = |value: &Value| {
        let program = value.peek::<Ref<Program>>()?;
        let options = WriteOptions::default().max_elements(ELEMENTS);
        let text = ProgramText::new(program, options).ok()?.into_text();
        Some(TextSide::new(&mlir_pieces(text), INDENT))
    };
    let sides = [side(difference.left())?, side(difference.right())?];
    let places = report.changes.iter().enumerate().map(|(number, change)| {
        let lines = [1, 0].into_iter();
        let lines = lines.filter_map(|side| Some((side, change.line_numbers[side]? - 1)));
        ChangePlace {
            anchor: anchor(number),
            lines: lines.collect(),
        }
    });
    Some(listing("Text", names, sides, places.collect()))
}
