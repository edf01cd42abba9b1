//! Listings in the compact form that the script decodes: a table of texts, the first of which is
//! empty, and numbers.
//!
//! A row is `[mark, left, right, why, anchor, anchor, ...]` without its last default parts.
//! `left` and `right` are lines, `0` for no line, and `1` on the right for the line on the left,
//! which is the default. `why` and the anchors are places in the table of texts.
//!
//! A line is `[depth, piece, piece, ...]`. A piece is a number: the place of its text times 64,
//! plus its role, plus 8 for a changed piece, 16 for a piece with a binding, whose number
//! follows, and 32 for a definition. Role 6 marks the symbol of an invisible character.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::embed::json;
use super::text::{runs, visible};
use super::{Line, Listing, Piece, PieceRole, Row};
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
    write_line(&mut out, texts, row.left.as_ref());
    let has_more = !(row.anchors.is_empty() && row.why.is_empty());
    if row.left != row.right {
        out.push(',');
        write_line(&mut out, texts, row.right.as_ref());
    } else if has_more {
        out.push_str(",1");
    }
    if has_more {
        let _ = write!(out, ",{}", texts.place(visible(&row.why).into_owned()));
        for anchor in &row.anchors {
            let _ = write!(out, ",{}", texts.place(anchor.clone()));
        }
    }
    out.push(']');
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
