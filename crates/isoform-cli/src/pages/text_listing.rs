//! Two printed values beside each other, line by line.
//!
//! Lines are aligned four times, each time between the lines that have partners already:
//! lines that are equal with everything they use; lines with the same text, but for the
//! numbers of names; lines about the same type with the same global names, such as those of
//! operators; and lines about the same type or field. Names count as the same if
//! the lines that define them are partners, so a renumbered program shows its true changes
//! alone.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use isoform::plumbing::align_words;
use isoform::text::{TextPieces, TextRole};
use isoform_page::Mark;
use isoform_page::page::{Line, Listing, Piece, PieceRole, Row};

use super::words::{LEFT_OUT, literal, mark_words, piece, plain, renumber};

/// A printed value as lines.
pub(super) struct TextSide {
    lines: Vec<TextLine>,
}

struct TextLine {
    line: Line,
    /// The hashes that lines with partners have in common, by [`Round`].
    keys: [u64; 4],
    /// The names that the line defines.
    definitions: Vec<u32>,
}

/// A place of a change in the texts.
pub(super) struct ChangePlace {
    /// The anchor of the change.
    pub(super) anchor: String,
    /// The lines that may show the change, by side, the most likely first.
    pub(super) lines: Vec<(usize, usize)>,
}

/// Why two lines are partners.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The lines are equal, with everything they use.
    Whole = 0,
    /// The texts are equal, but for the numbers of names.
    Text = 1,
    /// The lines are about the same type, with the same global names.
    Globals = 2,
    /// The lines are about the same type or field.
    Head = 3,
}

const ROUNDS: [Round; 4] = [Round::Whole, Round::Text, Round::Globals, Round::Head];

impl TextSide {
    /// The lines of a text. O(text).
    pub(super) fn new(text: &TextPieces, indent: usize) -> Self {
        let mut side = TextSide { lines: Vec::new() };
        let mut whole: HashMap<u32, u64> = HashMap::new();
        let mut pieces = text.pieces.iter().peekable();
        let mut start = 0;
        for full in text.text.split_inclusive('\n') {
            let end = start + full.trim_end_matches('\n').len();
            let content = text.text[start..end].trim_start_matches(' ');
            let spaces = end - start - content.len();
            let mut line = LineReader::new(spaces / indent.max(1), start + spaces);
            while let Some(next) = pieces.next_if(|piece| piece.start < end) {
                line.piece(text, *next, &whole);
            }
            let line = line.finish(&text.text[..end]);
            whole.extend(line.definitions.iter().map(|&node| (node, line.keys[0])));
            side.lines.push(line);
            start += full.len();
        }
        side
    }

    fn lines_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.lines.iter_mut().map(|line| &mut line.line)
    }

    /// A number above those of all names.
    fn end_of_names(&mut self) -> u32 {
        let pieces = self.lines_mut().flat_map(|line| &line.pieces);
        let last = pieces.filter_map(|piece| piece.binding).max();
        last.map_or(0, |last| last + 1)
    }

    /// The lines alone.
    pub(super) fn into_lines(self) -> impl Iterator<Item = Line> {
        self.lines.into_iter().map(|line| line.line)
    }
}

/// A line that is being read.
struct LineReader {
    line: Line,
    hashers: [DefaultHasher; 4],
    has_head: bool,
    definitions: Vec<u32>,
    /// The byte after the last piece.
    end: usize,
}

impl LineReader {
    fn new(depth: usize, start: usize) -> Self {
        let mut hashers: [DefaultHasher; 4] = Default::default();
        for hasher in &mut hashers {
            depth.hash(hasher);
        }
        LineReader {
            line: Line {
                depth,
                pieces: Vec::new(),
            },
            hashers,
            has_head: false,
            definitions: Vec::new(),
            end: start,
        }
    }

    fn punctuation(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        for hasher in &mut self.hashers[..2] {
            text.hash(hasher);
        }
        self.line.pieces.push(plain(text));
    }

    fn piece(
        &mut self,
        text: &TextPieces,
        part: isoform::text::TextPiece,
        whole: &HashMap<u32, u64>,
    ) {
        // A comment of several lines begins on an earlier line.
        let start = part.start.max(self.end);
        self.punctuation(&text.text[self.end..start]);
        self.end = part.end.max(start);
        let content = &text.text[start..self.end];
        let role = match part.role {
            TextRole::Name => PieceRole::Name,
            TextRole::Type => PieceRole::Operator,
            TextRole::Field => PieceRole::Field,
            TextRole::Comment => PieceRole::Comment,
            _ => PieceRole::Literal,
        };
        match role {
            PieceRole::Comment => {}
            PieceRole::Name => self.name(content, part.node, part.is_definition, whole),
            _ => {
                for hasher in &mut self.hashers[..2] {
                    content.hash(hasher);
                }
                if !self.has_head && role != PieceRole::Literal {
                    self.has_head = true;
                    content.hash(&mut self.hashers[2]);
                    content.hash(&mut self.hashers[3]);
                }
            }
        }
        match role {
            PieceRole::Literal => literal(content, &mut self.line.pieces),
            _ => self.line.pieces.push(Piece {
                binding: part.node,
                is_definition: part.is_definition,
                ..piece(content, role)
            }),
        }
    }

    fn name(
        &mut self,
        content: &str,
        node: Option<u32>,
        is_definition: bool,
        whole: &HashMap<u32, u64>,
    ) {
        let Some(node) = node else { return };
        // The printer numbers names without a hint, and hints never start with a digit.
        let hint = content
            .get(1..)
            .filter(|rest| !rest.starts_with(|sign: char| sign.is_ascii_digit()));
        hint.hash(&mut self.hashers[1]);
        if content.starts_with('@') {
            hint.hash(&mut self.hashers[2]);
        }
        match whole.get(&node).filter(|_| !is_definition) {
            Some(known) => known.hash(&mut self.hashers[0]),
            None => hint.hash(&mut self.hashers[0]),
        }
        if is_definition {
            self.definitions.push(node);
        }
    }

    fn finish(mut self, text: &str) -> TextLine {
        let rest = text.get(self.end..).unwrap_or_default();
        self.punctuation(rest);
        TextLine {
            line: self.line,
            keys: self.hashers.map(|hasher| hasher.finish()),
            definitions: self.definitions,
        }
    }
}

/// Both sides as rows. O(lines) where the sides are alike; differing stretches cost at
/// most 2^20 comparisons each.
pub(super) fn listing(
    title: &str,
    names: [&str; 2],
    [mut left, mut right]: [TextSide; 2],
    places: Vec<ChangePlace>,
) -> Listing {
    let pairs = pairs(&left, &right);
    let mut partners: HashMap<u32, u32> = HashMap::new();
    for &(l, r, _) in &pairs {
        let lefts = left.lines[l].definitions.iter().copied();
        partners.extend(lefts.zip(right.lines[r].definitions.iter().copied()));
    }
    let end = right.end_of_names();
    renumber(left.lines_mut(), &partners, end);
    let mut lines = [left, right].map(TextSide::into_lines);
    let mut rows: Vec<Row> = Vec::new();
    // The row of each line.
    let mut row_of: [Vec<usize>; 2] = Default::default();
    let ends = (usize::MAX, usize::MAX, None);
    let pairs = pairs.into_iter().map(|(l, r, round)| (l, r, Some(round)));
    for (l, r, round) in pairs.chain([ends]) {
        for (side, end, mark) in [(0, l, Mark::Deleted), (1, r, Mark::Inserted)] {
            while row_of[side].len() < end
                && let Some(line) = lines[side].next()
            {
                row_of[side].push(rows.len());
                rows.push(alone(side, line, mark));
            }
        }
        let [lefts, rights] = &mut lines;
        let sides = lefts.next().zip(rights.next());
        let Some(((left, right), round)) = sides.zip(round) else {
            break;
        };
        row_of.iter_mut().for_each(|places| places.push(rows.len()));
        rows.push(pair(left, right, round));
    }
    for place in places {
        tell(place, &row_of, &mut rows);
    }
    Listing {
        title: title.to_owned(),
        sides: names.map(str::to_owned).to_vec(),
        rows,
        ..Listing::default()
    }
}

/// The row of a line without a partner.
fn alone(side: usize, line: Line, mark: Mark) -> Row {
    let mut row = Row {
        mark,
        ..Row::default()
    };
    *[&mut row.left, &mut row.right][side] = Some(line);
    row
}

/// The row of two lines that are partners.
fn pair(mut left: Line, mut right: Line, round: Round) -> Row {
    let differ = mark_words(&mut left, &mut right);
    let (mark, why) = if differ {
        (Mark::Changed, round.reason())
    } else {
        (Mark::Same, "")
    };
    Row {
        left: Some(left),
        right: Some(right),
        mark,
        why: why.to_owned(),
        ..Row::default()
    }
}

/// Leads from a row to a change: from the first of its lines that differs, or else from its
/// first line.
fn tell(place: ChangePlace, row_of: &[Vec<usize>; 2], rows: &mut [Row]) {
    let places = place.lines.iter();
    let places = places.filter_map(|&(side, line)| row_of[side].get(line).copied());
    let places: Vec<usize> = places.collect();
    let mut differing = places.iter().filter(|row| rows[**row].mark != Mark::Same);
    let Some(&row) = differing.next().or(places.first()) else {
        return;
    };
    let row = &mut rows[row];
    if row.mark == Mark::Same {
        row.mark = Mark::Changed;
        row.why = LEFT_OUT.to_owned();
    }
    if !row.anchors.contains(&place.anchor) {
        row.anchors.push(place.anchor);
    }
}

impl Round {
    fn reason(self) -> &'static str {
        match self {
            Round::Whole => "the same text, with everything that it uses",
            Round::Text => "the same text, but for the names of other parts",
            Round::Globals => "the same type and operator, between lines that correspond",
            Round::Head => "the same type or field, between lines that correspond",
        }
    }
}

/// Lines with partners, ascending on both sides.
fn pairs(left: &TextSide, right: &TextSide) -> Vec<(usize, usize, Round)> {
    let mut pairs: Vec<(usize, usize, Round)> = Vec::new();
    for round in ROUNDS {
        let mut more = Vec::new();
        let mut next = (0, 0);
        let ends = (left.lines.len(), right.lines.len(), round);
        for &(l, r, found_in) in pairs.iter().chain([&ends]) {
            let keys = |lines: &[TextLine]| -> Vec<u64> {
                lines.iter().map(|line| line.keys[round as usize]).collect()
            };
            if next.0 < l && next.1 < r {
                let lefts = keys(&left.lines[next.0..l]);
                let rights = keys(&right.lines[next.1..r]);
                for (x, y) in align_words(&lefts, &rights) {
                    more.push((next.0 + x as usize, next.1 + y as usize, round));
                }
            }
            if l < left.lines.len() {
                more.push((l, r, found_in));
            }
            next = (l + 1, r + 1);
        }
        pairs = more;
    }
    pairs
}
