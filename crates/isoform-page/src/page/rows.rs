//! Listings in the compact form that the script decodes: a table of texts, and rows of numbers.
//!
//! A row is `[mark, left, right, anchor, why]` without its last default parts. `left` and
//! `right` are lines, `0` for no line, and `1` on the right for the line on the left, which is
//! the default. `anchor` and `why` are places in the table of texts, whose first text is empty.
//!
//! A line is `[depth, piece, piece, ...]`. A piece is a number: the place of its text times 64,
//! plus its role, plus 8 for a changed piece, 16 for a piece with a binding, whose number
//! follows, and 32 for a definition. Role 6 marks the symbol of an invisible character.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::embed::json;
use super::text::runs;
use super::{Line, Listing, Piece, PieceRole, Row};
use crate::Mark;

const SYMBOL_ROLE: u64 = 6;
const CHANGED: u64 = 8;
const BOUND: u64 = 16;
const DEFINITION: u64 = 32;
const TEXT_FACTOR: u64 = 64;

/// The listing as JSON that can stand inside a `script` element. Takes linear time.
pub(super) fn encode(listing: &Listing) -> String {
    let mut texts = Texts::default();
    texts.place(String::new());
    let mut rows = String::new();
    for row in &listing.rows {
        if !rows.is_empty() {
            rows.push(',');
        }
        write_row(&mut rows, &mut texts, row);
    }
    let sides: Vec<&str> = listing.sides.iter().map(String::as_str).collect();
    format!(
        "{{\"sides\":{},\"texts\":{},\"rows\":[{rows}]}}",
        json(&sides),
        json(&texts.list)
    )
}

/// Texts with a place for each, without repetition.
#[derive(Default)]
struct Texts {
    places: HashMap<String, u64>,
    list: Vec<String>,
}

impl Texts {
    fn place(&mut self, text: String) -> u64 {
        if let Some(place) = self.places.get(&text) {
            return *place;
        }
        let place = self.list.len() as u64;
        self.list.push(text.clone());
        self.places.insert(text, place);
        place
    }
}

fn write_row(out: &mut String, texts: &mut Texts, row: &Row) {
    let mark = match row.mark {
        Mark::Same => 0,
        Mark::Changed => 1,
        Mark::Deleted => 2,
        Mark::Inserted => 3,
    };
    let anchor = texts.place(row.anchor.clone());
    let why = texts.place(row.why.clone());
    let _ = write!(out, "[{mark},");
    write_line(out, texts, row.left.as_ref());
    if row.left != row.right || anchor + why > 0 {
        out.push(',');
        if row.left == row.right {
            out.push('1');
        } else {
            write_line(out, texts, row.right.as_ref());
        }
    }
    if anchor + why > 0 {
        let _ = write!(out, ",{anchor}");
    }
    if why > 0 {
        let _ = write!(out, ",{why}");
    }
    out.push(']');
}

fn write_line(out: &mut String, texts: &mut Texts, line: Option<&Line>) {
    let Some(line) = line else {
        out.push('0');
        return;
    };
    let _ = write!(out, "[{}", line.depth);
    let mut pending = (String::new(), 0);
    for piece in &line.pieces {
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
