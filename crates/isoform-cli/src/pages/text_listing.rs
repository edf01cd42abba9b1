//! Two printed values beside each other, line by line.
//!
//! Lines are aligned three times, each time between the lines that have partners already:
//! lines that are equal with everything they use; lines with the same text, but for the
//! numbers of names; and lines about the same type or field. Names count as the same if
//! the lines that define them are partners, so a renumbered program shows its true changes
//! alone.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use isoform::plumbing::align_words;
use isoform::text::{TextPieces, TextRole};
use isoform_page::Mark;
use isoform_page::page::{Line, Listing, Piece, PieceRole, Row};

use super::words::{literal, mark_words, piece, plain};

/// A printed value as lines.
pub(super) struct TextSide {
    lines: Vec<TextLine>,
}

struct TextLine {
    line: Line,
    /// The hashes that lines with partners have in common, by [`Round`].
    keys: [u64; 3],
    /// The names that the line defines.
    definitions: Vec<u32>,
    /// The anchor of the change at the line.
    anchor: Option<usize>,
}

/// Why two lines are partners.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The lines are equal, with everything they use.
    Whole = 0,
    /// The texts are equal, but for the numbers of names.
    Text = 1,
    /// The lines are about the same type or field.
    Head = 2,
}

const ROUNDS: [Round; 3] = [Round::Whole, Round::Text, Round::Head];

impl TextSide {
    /// The lines of a text. `anchors` has the lines with changes. O(text).
    pub(super) fn new(text: &TextPieces, anchors: &[(usize, usize)], indent: usize) -> Self {
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
        for &(line, change) in anchors {
            if let Some(line) = side.lines.get_mut(line) {
                line.anchor.get_or_insert(change);
            }
        }
        side
    }

    /// The lines alone.
    pub(super) fn into_lines(self) -> impl Iterator<Item = Line> {
        self.lines.into_iter().map(|line| line.line)
    }
}

/// A line that is being read.
struct LineReader {
    line: Line,
    hashers: [DefaultHasher; 3],
    has_head: bool,
    definitions: Vec<u32>,
    /// The byte after the last piece.
    end: usize,
}

impl LineReader {
    fn new(depth: usize, start: usize) -> Self {
        let mut hashers: [DefaultHasher; 3] = Default::default();
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
            anchor: None,
        }
    }
}

/// Both sides as rows. O(lines) where the sides are alike; differing stretches cost at
/// most 2^20 comparisons each.
pub(super) fn listing(
    title: &str,
    names: [&str; 2],
    [mut left, mut right]: [TextSide; 2],
    anchor: impl Fn(usize) -> String,
) -> Listing {
    let pairs = pairs(&left, &right);
    let mut partners: HashMap<u32, u32> = HashMap::new();
    for &(l, r, _) in &pairs {
        let lefts = left.lines[l].definitions.iter().copied();
        partners.extend(lefts.zip(right.lines[r].definitions.iter().copied()));
    }
    let told = |line: &TextLine| line.anchor.map(&anchor).unwrap_or_default();
    let mut rows = Vec::new();
    let ends = [(left.lines.len(), right.lines.len(), None)];
    let pairs = pairs.into_iter().map(|(l, r, round)| (l, r, Some(round)));
    let mut next = (0, 0);
    for (l, r, round) in pairs.chain(ends) {
        let lefts = left.lines[next.0..l].iter_mut();
        rows.extend(lefts.map(|line| Row {
            anchor: told(line),
            left: Some(std::mem::take(&mut line.line)),
            mark: Mark::Deleted,
            ..Row::default()
        }));
        let rights = right.lines[next.1..r].iter_mut();
        rows.extend(rights.map(|line| Row {
            anchor: told(line),
            right: Some(std::mem::take(&mut line.line)),
            mark: Mark::Inserted,
            ..Row::default()
        }));
        next = (l + 1, r + 1);
        let Some(round) = round else { break };
        let (left, right) = (&mut left.lines[l], &mut right.lines[r]);
        let anchor = [told(right), told(left)]
            .into_iter()
            .find(|anchor| !anchor.is_empty());
        rows.push(row(
            left,
            right,
            round,
            anchor.unwrap_or_default(),
            &partners,
        ));
    }
    Listing {
        title: title.to_owned(),
        sides: names.map(str::to_owned).to_vec(),
        rows,
    }
}

/// The row of two lines that are partners.
fn row(
    left: &mut TextLine,
    right: &mut TextLine,
    round: Round,
    anchor: String,
    partners: &HashMap<u32, u32>,
) -> Row {
    let differ = mark_words(&mut left.line, &mut right.line, |name| {
        partners.get(&name).copied()
    });
    let (mark, why) = if differ || !anchor.is_empty() {
        let reason = match round {
            Round::Whole if !differ => "the same text; the change is in a part that is abbreviated",
            round => round.reason(),
        };
        (Mark::Changed, reason.to_owned())
    } else {
        (Mark::Same, String::new())
    };
    Row {
        anchor,
        mark,
        why,
        left: Some(std::mem::take(&mut left.line)),
        right: Some(std::mem::take(&mut right.line)),
    }
}

impl Round {
    fn reason(self) -> &'static str {
        match self {
            Round::Whole => "the same text, with everything that it uses",
            Round::Text => "the same text, but for the names of other parts",
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
