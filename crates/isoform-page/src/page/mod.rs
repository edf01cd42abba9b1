//! The contents of a page: a verdict, facts, and sections.

use serde::Serialize;

use crate::{Mark, Picture};

/// The contents of a page, as plain text without markup.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    /// The names of the compared files, or of the file shown: the title of the page.
    pub title: String,
    /// The answer to the question of the page.
    pub verdict: Verdict,
    /// The answer in one sentence, with the most important change.
    pub sentence: String,
    /// The numbers below the sentence, most important first.
    pub facts: Vec<Fact>,
    /// The parts of the page, in the order of reading.
    pub sections: Vec<Section>,
}

/// The answer to the question of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The page shows one program, and judges nothing.
    #[default]
    Shown,
    /// Both sides are equal.
    Equal,
    /// The sides differ.
    Different,
}

/// A number or a short text with a name.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Fact {
    /// The name, such as `nodes changed`.
    pub name: String,
    /// The value, such as `12` or `17 → 18`.
    pub value: String,
    /// The side that the fact tells of.
    pub mark: Mark,
}

/// A part of a page with a heading.
#[derive(Clone, PartialEq, Debug)]
pub enum Section {
    /// Changes, most important first.
    Changes(Vec<ChangeCard>),
    /// A table.
    Table(Table),
    /// The text of one program, or of both beside each other.
    Listing(Listing),
    /// A graph.
    Picture(Picture),
}

/// A change, which has an anchor of its own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChangeCard {
    /// The anchor, without `#`: letters, digits and `-`.
    pub anchor: String,
    /// The kind of change, by which readers filter, such as `attribute` or `rewired`.
    pub kind: String,
    /// The side that the change concerns.
    pub mark: Mark,
    /// The change in words.
    pub text: String,
    /// How often the change occurs.
    pub count: u64,
    /// The numbers of the changes in other output of the same comparison, such as JSON,
    /// counted from 0.
    pub changes: Vec<usize>,
    /// The places where the change occurs, by the names of the programs.
    pub places: Vec<String>,
    /// Both sides as text, with the parts that differ marked.
    pub sides: Option<[Vec<Piece>; 2]>,
    /// Why the two changed parts count as one part that changed; empty without a pair.
    pub why: String,
    /// The changed nodes with the nodes around them.
    pub picture: Option<Picture>,
    /// The elements of a changed tensor.
    pub tensor: Option<TensorChange>,
}

/// The elements of a tensor on both sides.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TensorChange {
    /// Names and values of both sides, such as `mean`, `0.1` and `0.2`.
    pub statistics: Vec<[String; 3]>,
    /// The borders of the bins, one more than there are bins.
    pub borders: Vec<f64>,
    /// The number of elements of each side in each bin.
    pub bins: [Vec<u64>; 2],
    /// The borders and numbers of the difference of the elements, if the shapes are the same.
    pub difference: Option<(Vec<f64>, Vec<u64>)>,
}

/// A table with a heading.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows; cells after the last column are an error of the caller.
    pub rows: Vec<TableRow>,
}

/// A row of a table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TableRow {
    /// The cells, one for each column.
    pub cells: Vec<String>,
    /// The side that the row tells of.
    pub mark: Mark,
}

/// The text of one program, or of two programs line by line.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Listing {
    /// The heading.
    pub title: String,
    /// The names of the sides: one name for one program, two for two.
    pub sides: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
}

/// A row of a listing: a line of one side, or corresponding lines of both.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Row {
    /// The line on the left, or the only line.
    pub left: Option<Line>,
    /// The line on the right.
    pub right: Option<Line>,
    /// The side that the row belongs to. Rows with [`Mark::Same`] are folded.
    pub mark: Mark,
    /// The anchor of the change that the row shows; empty without a change.
    pub anchor: String,
    /// Why both lines count as one line; empty where nothing is known beyond equal text.
    pub why: String,
}

/// A line of a program.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Line {
    /// The depth of nesting.
    pub depth: usize,
    /// The text in pieces.
    pub pieces: Vec<Piece>,
}

/// A piece of text with one style.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// The role of the text.
    pub role: PieceRole,
    /// True if the piece is one of those that differ.
    pub is_changed: bool,
    /// The number of the variable or shared part that the piece names, equal for its binding
    /// and all of its uses within one side.
    pub binding: Option<u32>,
    /// True if the piece is the binding itself.
    pub is_definition: bool,
}

/// The role of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceRole {
    /// Punctuation, and whatever has no role.
    #[default]
    Plain,
    /// An operator or a type of nodes.
    Operator,
    /// The name of a value.
    Name,
    /// The name of an attribute or a field.
    Field,
    /// A number, a text or another literal.
    Literal,
    /// A comment.
    Comment,
}
