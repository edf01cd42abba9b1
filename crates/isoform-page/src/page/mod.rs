//! The contents of a page: a verdict, facts, and sections; and the page as HTML and Markdown.
//!
//! | file | job |
//! |---|---|
//! | `html.rs` | the document, its first screen, and the fragment for notebooks |
//! | `cards.rs`, `tensor.rs`, `table.rs`, `listing.rs`, `chart.rs` | the sections |
//! | `toolbar.rs`, `style.css`, `script.js`, `data.js`, `viewer.js` | what readers use; `tests/script.test.mjs` tests the script |
//! | `encode.rs`, `scenes.rs` | listings and pictures in the form that the script reads |
//! | `embed.rs`, `text.rs` | data, code and any text inside of HTML |
//! | `markdown.rs` | the summary for a pull request |
//!
//! Texts of a page may come from hostile files. All of them go through `text.rs`, `embed.rs`
//! or `markdown.rs`.

use serde::Serialize;

use crate::{Mark, Picture};

mod cards;
mod chart;
mod embed;
mod encode;
mod html;
mod listing;
mod markdown;
mod scenes;
mod table;
mod tensor;
mod text;
mod toolbar;

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

impl Page {
    /// The page as one file of HTML that needs no other file, makes no request, and opens from
    /// disk. A content security policy lets only its own script run. Without script, readers
    /// see the verdict, the changes and the pictures.
    ///
    /// Takes linear time.
    ///
    /// # Examples
    ///
    /// ```
    /// use isoform_page::Mark;
    /// use isoform_page::page::{ChangeCard, Page, Section, Verdict};
    ///
    /// let page = Page {
    ///     title: "old.onnx → new.onnx".to_owned(),
    ///     verdict: Verdict::Different,
    ///     sentence: "An attribute of one node changed".to_owned(),
    ///     sections: vec![Section::Changes(vec![ChangeCard {
    ///         anchor: "change-1".to_owned(),
    ///         kind: "attribute".to_owned(),
    ///         mark: Mark::Changed,
    ///         text: "<Conv> has strides [2, 2] instead of [1, 1]".to_owned(),
    ///         count: 1,
    ///         ..ChangeCard::default()
    ///     }])],
    ///     ..Page::default()
    /// };
    /// let html = page.html();
    /// assert!(html.starts_with("<!DOCTYPE html>"));
    /// assert!(html.contains("&lt;Conv&gt; has strides"));
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        html::document(self)
    }

    /// The contents of the page for the output of a notebook: an element with a style of its
    /// own, without script, and readable where scripts and styles are removed. Shows the first
    /// changes, rows and lines, and says how many more there are.
    ///
    /// Takes time linear in the size of the result and in the number of rows.
    ///
    /// # Examples
    ///
    /// ```
    /// use isoform_page::page::{Page, Verdict};
    ///
    /// let page = Page { verdict: Verdict::Equal, ..Page::default() };
    /// assert!(page.notebook_html().starts_with("<div class=\"isoform-page"));
    /// ```
    #[must_use]
    pub fn notebook_html(&self) -> String {
        html::fragment(self)
    }

    /// A summary for a comment on a pull request, always below 60,000 UTF-16 code units: the
    /// verdict, the facts, and as many changes as there is room for. `page_url` is the address
    /// of the whole page.
    ///
    /// Takes linear time.
    ///
    /// # Examples
    ///
    /// ```
    /// use isoform_page::page::{Page, Verdict};
    ///
    /// let page = Page {
    ///     verdict: Verdict::Different,
    ///     sentence: "@octocat is only text".to_owned(),
    ///     ..Page::default()
    /// };
    /// let summary = page.markdown(Some("https://example.org/page.html"));
    /// assert_eq!(
    ///     summary,
    ///     "**≠ Different.** @<!-- -->octocat is only text\n\n\
    ///      [The whole page](<https://example.org/page.html>)\n"
    /// );
    /// ```
    #[must_use]
    pub fn markdown(&self, page_url: Option<&str>) -> String {
        markdown::summary(self, page_url)
    }
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
    /// A step succeeded, in a word such as `Optimized`.
    Good(&'static str),
    /// A step failed, in a word such as `Wrong`.
    Bad(&'static str),
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
    /// Parts of a program or steps of a command, which have anchors as changes do.
    Cards(Cards),
    /// A table.
    Table(Table),
    /// The text of one program, or of both beside each other.
    Listing(Listing),
    /// A graph.
    Picture(Picture),
    /// Numbers in an order, such as errors along a graph.
    Chart(Chart),
}

impl Section {
    /// The changes or cards of the section, if it has any, and the words around them.
    fn cards(&self) -> Option<(&[ChangeCard], CardWords<'_>)> {
        match self {
            Section::Changes(changes) => Some((changes, CardWords::default())),
            Section::Cards(cards) => Some((
                &cards.cards,
                CardWords {
                    noun: &cards.noun,
                    reason: &cards.reason,
                },
            )),
            Section::Table(_) | Section::Listing(_) | Section::Picture(_) | Section::Chart(_) => {
                None
            }
        }
    }
}

/// The words around cards.
#[derive(Clone, Copy)]
struct CardWords<'p> {
    noun: &'p str,
    reason: &'p str,
}

impl Default for CardWords<'_> {
    fn default() -> Self {
        CardWords {
            noun: "change",
            reason: "Why these two were matched",
        }
    }
}

/// Cards that are not changes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cards {
    /// The heading.
    pub title: String,
    /// The noun for one card, such as `block`.
    pub noun: String,
    /// The heading of [`ChangeCard::why`], such as `Why the results stay the same`.
    pub reason: String,
    /// The cards, most important first.
    pub cards: Vec<ChangeCard>,
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
    /// Both sides as text, with the parts that differ marked. A plain piece `"\n"` ends a line.
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

/// Numbers in an order, drawn as bars on a logarithmic scale.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// The bars from left to right. Of many bars, neighbours are drawn as one bar with their
    /// largest value.
    pub bars: Vec<ChartBar>,
}

/// A bar of a chart.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChartBar {
    /// The name, which is shown on request.
    pub label: String,
    /// The value, which is not negative; None if it is unknown.
    pub value: Option<f64>,
    /// [`Mark::Changed`] for a bar that stands out, such as the first error.
    pub mark: Mark,
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
    /// A legend above the listing; may be empty.
    pub note: String,
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
    /// The anchors of the changes that the row shows.
    pub anchors: Vec<String>,
    /// Why both lines count as one line; empty where the lines are equal.
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

impl Piece {
    /// True for the end of a line, in texts of more than one line.
    fn is_line_end(&self) -> bool {
        self.text == "\n" && self.role == PieceRole::Plain && self.binding.is_none()
    }
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
