//! The beginning of a value, for the output of a notebook: the cost does not depend on the size
//! of the value.

use isoform::Value;
use isoform::text::{TensorText, TextOptions, TextPieces};
use isoform_page::page::{Listing, Page, Row, Section, Verdict};
use isoform_page::{Mark, Picture};

use super::fact;
use super::show_value::{script_rows, text_rows};
use crate::output::counted;
use crate::pages::pictures::value_picture;
use crate::show::root_type;
use crate::summary::object_types;

/// The parts of a value that are printed.
const MOST_PARTS: usize = 2_000;
/// The types that are counted one by one.
const MOST_FACTS: usize = 8;
/// The objects of a value that is drawn: a larger picture tells less than the text.
const DRAWN: usize = 40;

/// The page of a value for the output of a notebook: the beginning of its text, and a picture
/// of a value with few objects. At most 2,000 parts are visited.
///
/// # Errors
///
/// As [`TextOptions::to_pieces`].
///
/// ```
/// let large = isoform::Array::<i64>::from((0..1_000_000).collect::<Vec<_>>()).into();
/// let page = isoform_cli::pages::excerpt_of_value(&large)?;
/// assert_eq!(page.sentence, "isoform.Array: the first 2000 parts");
/// assert!(page.notebook_html().len() < 1 << 18);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn excerpt_of_value(value: &Value) -> isoform::Result<Page> {
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        .parts(MOST_PARTS);
    let text = options.to_pieces(value)?;
    if !is_cut(&text) {
        return page_of_small(value, &text);
    }
    let root = root_type(value);
    Ok(Page {
        verdict: Verdict::Shown,
        sentence: format!("{root}: the first {MOST_PARTS} parts"),
        sections: vec![listing(text_rows(&text))],
        ..Page::default()
    })
}

/// The page of a value whose text is complete.
fn page_of_small(value: &Value, text: &TextPieces) -> isoform::Result<Page> {
    let root = root_type(value);
    let types = object_types(value.clone())?;
    let objects = types.values().sum::<u64>() as usize;
    let facts = types
        .iter()
        .map(|(key, count)| fact(key, count, Mark::Same));
    let script = match value.as_object() {
        Some(object) => isoform_ir::transform::own_script(object)?,
        None => None,
    };
    let rows = match script {
        Some(script) => script_rows(&script),
        None => text_rows(text),
    };
    let drawing = drawing(value).map(Section::Picture);
    Ok(Page {
        verdict: Verdict::Shown,
        sentence: match objects {
            0 | 1 => root.to_owned(),
            _ => format!("{root}: {}", counted(objects, "object")),
        },
        facts: match types.len() {
            0 | 1 => Vec::new(),
            _ => facts.take(MOST_FACTS).collect(),
        },
        sections: [listing(rows)].into_iter().chain(drawing).collect(),
        ..Page::default()
    })
}

fn listing(rows: Vec<Row>) -> Section {
    Section::Listing(Listing {
        title: "Text".to_owned(),
        sides: vec!["text".to_owned()],
        rows,
        ..Listing::default()
    })
}

/// True if the text leaves parts out.
fn is_cut(text: &TextPieces) -> bool {
    let mut pieces = text.pieces.iter();
    // A string that ends with dots has a quote after them.
    pieces.any(|piece| text.text[piece.start..piece.end].ends_with("..."))
}

/// The picture of a value with several objects, but not many.
fn drawing(value: &Value) -> Option<Picture> {
    let picture = value_picture(value, "Objects");
    (2..=DRAWN)
        .contains(&picture.nodes.len())
        .then_some(picture)
}
