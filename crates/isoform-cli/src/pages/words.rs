//! Lines in pieces, and the words in which two lines differ.

use isoform_page::page::{Line, Piece, PieceRole};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Longer literals are one word.
const LONGEST_SPLIT: usize = 512;
/// Lines of more pieces differ as a whole: their comparison would take long.
const MOST_PIECES: usize = 4096;

/// A piece of text with a role.
pub(super) fn piece(text: impl Into<String>, role: PieceRole) -> Piece {
    Piece {
        text: text.into(),
        role,
        ..Piece::default()
    }
}

/// Punctuation.
pub(super) fn plain(text: impl Into<String>) -> Piece {
    piece(text, PieceRole::Plain)
}

/// A literal as words and signs, so that only the words that differ are marked.
pub(super) fn literal(text: &str, pieces: &mut Vec<Piece>) {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '/');
    if text.len() > LONGEST_SPLIT {
        pieces.push(piece(text, PieceRole::Literal));
        return;
    }
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_first_word = is_word(first);
        let end = rest.find(|c: char| is_word(c) != is_first_word);
        let (word, tail) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece(word, PieceRole::Literal));
        rest = tail;
    }
}

/// The sides of a short text: literals, with the words in which they differ marked.
pub(super) fn literals(left: &str, right: &str) -> [Vec<Piece>; 2] {
    let mut lines = [left, right].map(|text| {
        let mut line = Line::default();
        literal(text, &mut line.pieces);
        line
    });
    let [left, right] = &mut lines;
    mark_words(left, right, |_| None);
    lines.map(|line| line.pieces)
}

/// The part of a piece by which pieces are compared.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Word<'a> {
    Text(&'a str),
    /// A name, by the number of its binding on the right.
    Bound(u32),
}

/// Marks the pieces that are only in one of two lines, and returns true if there are any.
/// Names are the same if the left binding has the right binding as its partner, whatever
/// their text. At most O(pieces²) for one line.
pub(super) fn mark_words(
    left: &mut Line,
    right: &mut Line,
    partner: impl Fn(u32) -> Option<u32>,
) -> bool {
    let places = [&*left, &*right].map(counting);
    if places.iter().any(|places| places.len() > MOST_PIECES) {
        return mark_whole(left, right);
    }
    let words = [
        words(left, &places[0], partner),
        words(right, &places[1], Some),
    ];
    if words[0] == words[1] {
        return false;
    }
    let mut changed: [Vec<usize>; 2] = Default::default();
    for step in capture_diff_slices(Algorithm::Myers, &words[0], &words[1]) {
        if !matches!(step, DiffOp::Equal { .. }) {
            changed[0].extend(&places[0][step.old_range()]);
            changed[1].extend(&places[1][step.new_range()]);
        }
    }
    for (line, changed) in [left, right].into_iter().zip(changed) {
        for place in changed {
            line.pieces[place].is_changed = true;
        }
    }
    true
}

/// The places of the pieces that count: all but comments.
fn counting(line: &Line) -> Vec<usize> {
    let pieces = line.pieces.iter().enumerate();
    let pieces = pieces.filter(|(_, piece)| piece.role != PieceRole::Comment);
    pieces.map(|(place, _)| place).collect()
}

fn words<'l>(
    line: &'l Line,
    places: &[usize],
    binding_on_right: impl Fn(u32) -> Option<u32>,
) -> Vec<Word<'l>> {
    let word = |&place: &usize| {
        let piece = &line.pieces[place];
        match piece.binding.and_then(&binding_on_right) {
            Some(binding) => Word::Bound(binding),
            None => Word::Text(&piece.text),
        }
    };
    places.iter().map(word).collect()
}

/// Marks all pieces of two lines that differ.
fn mark_whole(left: &mut Line, right: &mut Line) -> bool {
    let differ = left.pieces != right.pieces;
    for piece in left.pieces.iter_mut().chain(&mut right.pieces) {
        piece.is_changed = differ;
    }
    differ
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[Piece]) -> String {
        let texts = pieces.iter().map(|piece| {
            if piece.is_changed {
                format!("<{}>", piece.text)
            } else {
                piece.text.clone()
            }
        });
        texts.collect()
    }

    #[track_caller]
    fn check(left: &str, right: &str, expected: [&str; 2]) {
        let sides = literals(left, right);
        assert_eq!(sides.map(|side| shown(&side)), expected);
    }

    #[test]
    fn only_words_that_differ_are_marked() {
        check("[3, 3]", "[3, 5]", ["[3, <3>]", "[3, <5>]"]);
        check("same", "same", ["same", "same"]);
        check("1.5", "", ["<1.5>", ""]);
        check("é名 1", "é 1", ["<é名> 1", "<é> 1"]);
    }

    #[test]
    fn names_are_compared_by_their_bindings() {
        let name = |text: &str, binding| Piece {
            binding: Some(binding),
            ..piece(text, PieceRole::Name)
        };
        let line = |pieces: &[Piece]| Line {
            depth: 0,
            pieces: pieces.to_vec(),
        };
        let mut left = line(&[name("%a", 7), plain(", "), name("%b", 8)]);
        let mut right = line(&[name("%b", 0), plain(", "), name("%b", 0)]);
        // %a of the left side corresponds to %b of the right side, and %b has no partner.
        assert!(mark_words(&mut left, &mut right, |binding| {
            (binding == 7).then_some(0)
        }));
        assert_eq!(shown(&left.pieces), "%a, <%b>");
        assert_eq!(shown(&right.pieces), "%b, <%b>");
    }
}
