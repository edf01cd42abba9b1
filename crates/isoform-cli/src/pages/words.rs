//! Lines in pieces, and the words in which two lines differ.

use std::collections::HashMap;

use isoform_page::page::{Line, Piece, PieceRole};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Longer literals are one word.
const LONGEST_SPLIT: usize = 512;
/// Lines of more pieces differ as a whole: their comparison would take long.
const MOST_PIECES: usize = 4096;

/// Why a row is of a change although both texts are the same.
pub(super) const LEFT_OUT: &str = "the same text; the change is in a part that the text leaves out";

/// A piece of text with a role.
pub(super) fn piece(text: impl Into<String>, role: PieceRole) -> Piece {
    Piece {
        text: text.into(),
        role,
        ..Piece::default()
    }
}

/// A sentence of a report with the arrows of pages. Names in quotes stay as they are.
pub(super) fn arrows(text: &str) -> String {
    let parts = text.split('\'').enumerate().map(|(number, part)| {
        if number % 2 == 0 {
            part.replace(" -> ", " → ")
        } else {
            part.to_owned()
        }
    });
    parts.collect::<Vec<_>>().join("'")
}

/// The ends of two names of files that tell them apart: the names without folders, or with as
/// many of the last folders as it takes.
pub(super) fn short_names(names: [&str; 2]) -> [String; 2] {
    let is_border = |sign: char| matches!(sign, '/' | '\\');
    let tail = |name: &str, parts: usize| {
        let mut borders = name.rmatch_indices(is_border);
        let border = borders.nth(parts - 1);
        name[border.map_or(0, |(place, _)| place + 1)..].to_owned()
    };
    let most = names.map(|name| name.matches(is_border).count() + 1);
    let most = most.into_iter().max().unwrap_or(1);
    let pairs = (1..=most).map(|parts| names.map(|name| tail(name, parts)));
    let mut pairs = pairs.filter(|[left, right]| left != right);
    pairs
        .next()
        .unwrap_or_else(|| names.map(|name| tail(name, 1)))
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
        for (number, text) in text.split('\n').enumerate() {
            if number > 0 {
                line.pieces.push(plain("\n"));
            }
            literal(text, &mut line.pieces);
        }
        line
    });
    let [left, right] = &mut lines;
    mark_words(left, right);
    lines.map(|line| line.pieces)
}

/// Gives the names of left lines the numbers of their partners on the right, so that a page
/// has lines that are the same on both sides once. The other names get numbers from `end` on,
/// which is above all numbers of the right. Linear.
pub(super) fn renumber<'l>(
    lines: impl Iterator<Item = &'l mut Line>,
    partners: &HashMap<u32, u32>,
    end: u32,
) {
    let mut numbers = partners.clone();
    let mut next = end;
    for piece in lines.flat_map(|line| &mut line.pieces) {
        if let Some(binding) = &mut piece.binding {
            let number = numbers.entry(*binding).or_insert(next);
            next += u32::from(*number == next);
            *binding = *number;
        }
    }
}

/// The part of a piece by which pieces are compared.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Word<'a> {
    Text(&'a str),
    /// A name, by the number of its binding.
    Bound(u32),
}

/// Marks the pieces that are only in one of two lines, and returns true if there are any.
/// Names are the same if their numbers are, whatever their text: see [`renumber`]. At most
/// O(pieces²) for one line.
pub(super) fn mark_words(left: &mut Line, right: &mut Line) -> bool {
    let places = [&*left, &*right].map(counting);
    if places.iter().any(|places| places.len() > MOST_PIECES) {
        return mark_whole(left, right);
    }
    let words = [words(left, &places[0]), words(right, &places[1])];
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

fn words<'l>(line: &'l Line, places: &[usize]) -> Vec<Word<'l>> {
    let word = |&place: &usize| {
        let piece = &line.pieces[place];
        piece.binding.map_or(Word::Text(&piece.text), Word::Bound)
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
    fn names_of_files_are_as_short_as_they_can_be() {
        let check = |names, expected| assert_eq!(short_names(names), expected);
        check(["/a/b/old.onnx", "/a/b/new.onnx"], ["old.onnx", "new.onnx"]);
        check(["/x/a/m.onnx", "/x/b/m.onnx"], ["a/m.onnx", "b/m.onnx"]);
        check(["x/a/m.onnx", "b/a/m.onnx"], ["x/a/m.onnx", "b/a/m.onnx"]);
        check(["m.onnx", "a/m.onnx"], ["m.onnx", "a/m.onnx"]);
        check(["a/m.onnx", "a/m.onnx"], ["m.onnx", "m.onnx"]);
        check(["C:\\a\\m.onnx", ""], ["m.onnx", ""]);
    }

    #[test]
    fn arrows_in_names_stay() {
        assert_eq!(
            arrows("w 'a -> b': 1 -> 2, 'c' -> 'd'"),
            "w 'a -> b': 1 → 2, 'c' → 'd'"
        );
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
        let mut left = line(&[name("%a", 7), plain(", "), name("%b", 8), name("%b", 8)]);
        let mut right = line(&[name("%b", 0), plain(", "), name("%b", 0), name("%b", 0)]);
        // %a of the left side corresponds to %b of the right side, and %b has no partner.
        renumber([&mut left].into_iter(), &HashMap::from([(7, 0)]), 1);
        let numbers = left.pieces.iter().map(|piece| piece.binding);
        assert_eq!(
            numbers.collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(1)]
        );
        assert!(mark_words(&mut left, &mut right));
        assert_eq!(shown(&left.pieces), "%a, <%b><%b>");
        assert_eq!(shown(&right.pieces), "%b, <%b><%b>");
    }
}
