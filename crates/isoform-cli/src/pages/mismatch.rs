//! The page of the first difference of two values.

use isoform::Value;
use isoform::compare::Mismatch;
use isoform::text::{MismatchOptions, TensorText, TextOptions};
use isoform_page::page::{ChangeCard, Listing, Section, Verdict};
use isoform_page::{Mark, Page};
use similar::TextDiff;

use super::commands::rows_beside;
use super::model_listing::anchor;
use super::words::{literals, short_names};

/// The parts of a value that a change shows.
const MOST_PARTS: usize = 40;
/// The lines above and below the place.
const LINES: usize = 12;

/// The page of the first difference of two values, given their names: the reason, both places,
/// and the text around. The cost depends only on the lengths of the paths.
///
/// ```
/// let (left, right) = ([1, 2].into(), [1, 3].into());
/// let mismatch = isoform::explain_mismatch(&left, &right)?.expect("they differ");
/// let page = isoform_cli::pages::page_of_mismatch(&left, &right, &mismatch, ["old", "new"]);
/// assert_eq!(page.sentence, "the values differ, at <root>[1]");
/// # Ok::<(), isoform::Error>(())
/// ```
#[must_use]
pub fn page_of_mismatch(
    left: &Value,
    right: &Value,
    mismatch: &Mismatch,
    names: [&str; 2],
) -> Page {
    let names = short_names(names);
    let paths = [&mismatch.left_path, &mismatch.right_path].map(ToString::to_string);
    let place = match &paths {
        [left, right] if left == right => left.clone(),
        [left, right] => format!("{left} and {right}"),
    };
    let sides = (
        short(mismatch.left.as_ref()),
        short(mismatch.right.as_ref()),
    );
    let card = ChangeCard {
        anchor: anchor(0),
        kind: "mismatch".to_owned(),
        mark: Mark::of_sides(mismatch.left.is_some(), mismatch.right.is_some()),
        text: mismatch.reason.to_string(),
        count: 1,
        places: paths.to_vec(),
        sides: Some(literals(&sides.0, &sides.1)),
        ..ChangeCard::default()
    };
    let options = MismatchOptions::default().lines(LINES);
    let texts = options.sides(left, right, mismatch).map(|lines| {
        let lines = lines.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>()
    });
    let around = Listing {
        title: "Around the place".to_owned(),
        sides: names.to_vec(),
        rows: rows_beside(&unified(&texts, &paths)),
        ..Listing::default()
    };
    Page {
        title: names.join(" → "),
        verdict: Verdict::Different,
        sentence: format!("{}, at {place}", mismatch.reason),
        facts: Vec::new(),
        sections: vec![Section::Changes(vec![card]), Section::Listing(around)],
    }
}

/// Both texts as one unified diff with all lines.
fn unified(texts: &[String; 2], names: &[String; 2]) -> String {
    if texts[0] == texts[1] {
        // The sides may differ in what they share, for example.
        let count = texts[0].lines().count();
        let lines = texts[0].lines().map(|line| format!(" {line}\n"));
        let head = format!(
            "--- {}\n+++ {}\n@@ -1,{count} +1,{count} @@\n",
            names[0], names[1]
        );
        return head + &lines.collect::<String>();
    }
    TextDiff::from_lines(&texts[0], &texts[1])
        .unified_diff()
        .context_radius(usize::MAX / 4)
        .header(&names[0], &names[1])
        .to_string()
}

/// The beginning of a value; empty without one.
fn short(value: Option<&Value>) -> String {
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        .parts(MOST_PARTS);
    // A value that contains itself has no text.
    let text = value.map(|value| options.to_text(value).unwrap_or_else(|_| "...".to_owned()));
    text.unwrap_or_default().trim_end().to_owned()
}
