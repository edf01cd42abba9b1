//! Listings and changes in the compact form that the script decodes: a table of texts, the
//! first of which is empty, and numbers.
//!
//! A row is `[mark, left, right, anchor, why]` without its last default parts. `left` and
//! `right` are lines, `0` for no line, and `1` on the right for the line on the left, which is
//! the default. `anchor` and `why` are places in the table of texts.
//!
//! A line is `[depth, piece, piece, ...]`. A piece is a number: the place of its text times 64,
//! plus its role, plus 8 for a changed piece, 16 for a piece with a binding, whose number
//! follows, and 32 for a definition. Role 6 marks the symbol of an invisible character.
//!
//! A change is `[anchor, kind, mark, text, times, places, left, right, why, picture, tensor, changes]`:
//! texts, `mark` as in rows, lists of texts and lines, the scenes of the picture (`scenes.rs`) or 0,
//! a text that holds the markup of the tensor, and the numbers of the changes.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::embed::json;
use super::text::{grouped, runs, visible};
use super::{ChangeCard, Line, Listing, Piece, PieceRole, Row, scenes, tensor};
use crate::Mark;

const SYMBOL_ROLE: u64 = 6;
const CHANGED: u64 = 8;
const BOUND: u64 = 16;
const DEFINITION: u64 = 32;
const TEXT_FACTOR: u64 = 64;

/// The listing as JSON that can stand inside a `script` element. Takes linear time.
pub(super) fn listing(listing: &Listing) -> String {
    let mut texts = Texts::new();
    let mut rows = Vec::with_capacity(listing.rows.len());
    for row in &listing.rows {
        rows.push(row_code(&mut texts, row));
    }
    let sides: Vec<_> = listing.sides.iter().map(|name| visible(name)).collect();
    format!(
        "{{\"sides\":{},\"texts\":{},\"rows\":[{}]}}",
        json(&sides),
        json(&texts.list),
        rows.join(",")
    )
}

/// Changes as JSON that can stand inside a `script` element. The prefix and the number of a
/// change replace a missing anchor, and `reason` is the heading of reasons. Takes linear
/// time.
pub(super) fn changes(changes: &[ChangeCard], prefix: &str, reason: &str) -> String {
    let mut texts = Texts::new();
    let mut cards = Vec::with_capacity(changes.len());
    for (number, change) in changes.iter().enumerate() {
        cards.push(change_code(
            &mut texts,
            change,
            &format!("{prefix}-{number}"),
        ));
    }
    format!(
        "{{\"reason\":{},\"texts\":{},\"cards\":[{}]}}",
        json(&visible(reason)),
        json(&texts.list),
        cards.join(",")
    )
}

/// Texts with a place for each, without repetition.
pub(super) struct Texts {
    places: HashMap<String, u64>,
    list: Vec<String>,
}

impl Texts {
    pub(super) fn new() -> Texts {
        let (places, list) = (HashMap::from([(String::new(), 0)]), vec![String::new()]);
        Texts { places, list }
    }

    pub(super) fn list(&self) -> &[String] {
        &self.list
    }

    pub(super) fn place(&mut self, text: String) -> u64 {
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        let place = self.list.len() as u64;
        self.list.push(text.clone());
        self.places.insert(text, place);
        place
    }
}

fn mark_code(mark: Mark) -> u8 {
    match mark {
        Mark::Same => 0,
        Mark::Changed => 1,
        Mark::Deleted => 2,
        Mark::Inserted => 3,
    }
}

fn row_code(texts: &mut Texts, row: &Row) -> String {
    let mut out = format!("[{},", mark_code(row.mark));
    let anchor = texts.place(row.anchor.clone());
    let why = texts.place(visible(&row.why).into_owned());
    write_line(&mut out, texts, row.left.as_ref());
    let has_more = anchor + why > 0;
    if row.left != row.right {
        out.push(',');
        write_line(&mut out, texts, row.right.as_ref());
    } else if has_more {
        out.push_str(",1");
    }
    if has_more {
        let _ = write!(out, ",{anchor},{why}");
    }
    out.push(']');
    out
}

fn change_code(texts: &mut Texts, change: &ChangeCard, prefix: &str) -> String {
    let anchor = if change.anchor.is_empty() {
        prefix
    } else {
        &change.anchor
    };
    let times = if change.count > 1 {
        grouped(change.count)
    } else {
        String::new()
    };
    let picture = change
        .picture
        .as_ref()
        .map(|picture| scenes::scenes(texts, picture));
    let elements = change
        .tensor
        .as_ref()
        .map(|change| tensor::change(change).into_string());
    let places: Vec<String> = change
        .places
        .iter()
        .map(|place| texts.place(visible(place).into_owned()).to_string())
        .collect();
    let mut out = format!(
        "[{},{},{},{},{},[{}],",
        texts.place(anchor.to_owned()),
        texts.place(visible(&change.kind).into_owned()),
        mark_code(change.mark),
        texts.place(visible(&change.text).into_owned()),
        texts.place(times),
        places.join(",")
    );
    for side in 0..2 {
        let pieces = change.sides.as_ref().map(|sides| &sides[side]);
        match pieces.filter(|pieces| !pieces.is_empty()) {
            Some(pieces) => write_pieces(&mut out, texts, 0, pieces),
            None => out.push('0'),
        }
        out.push(',');
    }
    let _ = write!(
        out,
        "{},{},{},{}]",
        texts.place(visible(&change.why).into_owned()),
        picture.as_deref().unwrap_or("0"),
        texts.place(elements.unwrap_or_default()),
        json(&change.changes)
    );
    out
}

fn write_line(out: &mut String, texts: &mut Texts, line: Option<&Line>) {
    match line {
        Some(line) => write_pieces(out, texts, line.depth, &line.pieces),
        None => out.push('0'),
    }
}

fn write_pieces(out: &mut String, texts: &mut Texts, depth: usize, pieces: &[Piece]) {
    let _ = write!(out, "[{depth}");
    let mut pending = (String::new(), 0);
    for piece in pieces {
        if piece.is_line_end() {
            flush(out, texts, &mut pending);
            pending = ("\n".to_owned(), 0);
            continue;
        }
        for run in runs(&piece.text) {
            let style = style(piece, run.is_symbol);
            if style != pending.1 || piece.binding.is_some() {
                flush(out, texts, &mut pending);
                pending.1 = style;
            }
            pending.0.push_str(&run.text);
            if let Some(binding) = piece.binding {
                flush(out, texts, &mut pending);
                let _ = write!(out, ",{binding}");
            }
        }
    }
    flush(out, texts, &mut pending);
    out.push(']');
}

fn flush(out: &mut String, texts: &mut Texts, pending: &mut (String, u64)) {
    if !pending.0.is_empty() {
        let place = texts.place(std::mem::take(&mut pending.0));
        let _ = write!(out, ",{}", place * TEXT_FACTOR + pending.1);
    }
}

fn style(piece: &Piece, is_symbol: bool) -> u64 {
    let role = match piece.role {
        _ if is_symbol => SYMBOL_ROLE,
        PieceRole::Plain => 0,
        PieceRole::Operator => 1,
        PieceRole::Name => 2,
        PieceRole::Field => 3,
        PieceRole::Literal => 4,
        PieceRole::Comment => 5,
    };
    role + u64::from(piece.is_changed) * CHANGED
        + u64::from(piece.binding.is_some()) * BOUND
        + u64::from(piece.is_definition) * DEFINITION
}
