//! Text in pieces with roles, for programs that show the text in their own way.

use hashbrown::HashMap;

use super::options::TextOptions;
use super::style::Piece;
use super::{Marked, print_marked};
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// The role of a piece of printed text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TextRole {
    /// The name of a node.
    Name,
    /// The type of an object.
    Type,
    /// The name of a field.
    Field,
    /// A number, a string or another value without parts.
    Literal,
    /// A comment.
    Comment,
}

/// A piece of printed text with one role. Text between pieces is punctuation and space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextPiece {
    /// The byte where the piece starts.
    pub start: usize,
    /// The byte after the end of the piece.
    pub end: usize,
    /// The role of the piece.
    pub role: TextRole,
    /// The number of the named node, the same for all names of the node in the text; None
    /// unless the piece is a name.
    pub node: Option<u32>,
    /// True for the name before the node itself.
    pub is_definition: bool,
}

impl TextPiece {
    /// A piece at these bytes, for a text in another notation.
    pub fn new(bytes: std::ops::Range<usize>, role: TextRole) -> Self {
        TextPiece {
            start: bytes.start,
            end: bytes.end,
            role,
            node: None,
            is_definition: false,
        }
    }

    /// The piece as a name of the node with this number.
    #[must_use]
    pub fn named(mut self, node: u32, is_definition: bool) -> Self {
        self.node = Some(node);
        self.is_definition = is_definition;
        self
    }
}

/// Printed text, and the pieces in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct TextPieces {
    /// The text, as of [`to_text`](super::to_text) without underlines.
    pub text: String,
    /// The pieces in the order of the text, without overlaps.
    pub pieces: Vec<TextPiece>,
    /// The line with the text of each of the [`marks`](TextOptions::marks), counted from 0: of
    /// the place itself, or else of the nearest printed place around it. The text of a named
    /// node is where the node is defined.
    pub mark_lines: Vec<usize>,
    /// The line of each marked place, which has only the name of a node that is defined
    /// elsewhere.
    pub name_lines: Vec<usize>,
}

/// The pieces noted while a text is printed.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) pieces: Vec<TextPiece>,
    /// The places of marks.
    pub(super) marks: Vec<MarkPlace>,
}

/// The place of a mark in the text.
pub(super) struct MarkPlace {
    /// The number of the mark.
    pub(super) mark: usize,
    /// The line, counted from 0.
    pub(super) line: usize,
    /// The byte where the place starts.
    pub(super) start: usize,
}

impl Recording {
    /// Notes a piece that starts at a byte.
    pub(super) fn note(&mut self, piece: Piece, start: usize, length: usize) {
        let role = match piece {
            Piece::Punctuation => return,
            Piece::Name => TextRole::Name,
            Piece::Type => TextRole::Type,
            Piece::Field => TextRole::Field,
            Piece::Number | Piece::Quoted | Piece::Word => TextRole::Literal,
            Piece::Comment => TextRole::Comment,
        };
        self.pieces.push(TextPiece {
            start,
            end: start + length,
            role,
            node: None,
            is_definition: false,
        });
    }

    /// Tells which node the last piece names.
    pub(super) fn names(&mut self, node: u32, is_definition: bool) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.node = Some(node);
            piece.is_definition = is_definition;
        }
    }
}

impl TextOptions {
    /// The text of a value as by [`to_text`](Self::to_text), never coloured, and the pieces
    /// in it. Marked places are told by their lines instead of carets.
    ///
    /// # Errors
    ///
    /// As [`to_text`](super::to_text).
    ///
    /// ```
    /// use isoform::{Array, Value};
    /// use isoform::text::{TextOptions, TextRole};
    /// let shared = Value::from(isoform::values::List::from(vec![Value::from(1)]));
    /// let value = Value::from(Array::<Value>::from(vec![shared.clone(), shared]));
    /// let text = TextOptions::default().to_pieces(&value)?;
    /// assert_eq!(text.text, "%0 = List[1]\n[%0, %0]\n");
    /// let names = text.pieces.iter().filter(|piece| piece.role == TextRole::Name);
    /// let names: Vec<_> = names.map(|name| (name.start, name.is_definition)).collect();
    /// assert_eq!(names, [(0, true), (14, false), (18, false)]);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn to_pieces(&self, value: impl Into<Value>) -> Result<TextPieces> {
        self.pieces_of(&value.into())
    }

    fn pieces_of(&self, value: &Value) -> Result<TextPieces> {
        let options = self.clone().color(false);
        let Marked {
            text, recording, ..
        } = print_marked(value, &options, Some(Recording::default()))?;
        let Recording { pieces, marks } = recording.unwrap_or_default();
        let mut mark_lines = vec![0; self.marks.len()];
        let mut name_lines = mark_lines.clone();
        let definitions = Definitions::new(&text, if marks.is_empty() { &[] } else { &pieces });
        for MarkPlace { mark, line, start } in marks {
            mark_lines[mark] = definitions.line(&pieces, start).unwrap_or(line);
            name_lines[mark] = line;
        }
        Ok(TextPieces {
            text,
            pieces,
            mark_lines,
            name_lines,
        })
    }
}

/// The lines where named nodes are defined.
struct Definitions(HashMap<u32, usize>);

impl Definitions {
    /// O(text).
    fn new(text: &str, pieces: &[TextPiece]) -> Self {
        let mut lines = HashMap::new();
        let (mut line, mut counted) = (0, 0);
        for piece in pieces.iter().filter(|piece| piece.is_definition) {
            line += text[counted..piece.start].matches('\n').count();
            counted = piece.start;
            lines.extend(piece.node.map(|node| (node, line)));
        }
        Definitions(lines)
    }

    /// The line of the node whose name starts at a byte. O(log pieces).
    fn line(&self, pieces: &[TextPiece], start: usize) -> Option<usize> {
        let place = pieces.binary_search_by_key(&start, |piece| piece.start);
        self.0.get(&pieces[place.ok()?].node?).copied()
    }
}
