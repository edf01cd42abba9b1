//! Text for people: one printer and one parser for every registered type.
//!
//! ```text
//! @add = demo.Op()
//! demo.Function(
//!   params=[%x: demo.Var(), %y: demo.Var()],
//!   %0 = demo.Call(op=@add, args=[%x, %y]),
//!   body=demo.Call(op=@add, args=[%0, %0]),
//! )
//! ```
//!
//! The grammar and the rules are in `docs/text.md`. Both directions rely only on the
//! table of types: a type can be printed as soon as it is registered. The list of
//! nodes, the singletons and the check of fields are shared with the JSON graph.
//!
//! | file | job |
//! |---|---|
//! | `graph.rs` | a value as nodes with the texts of their literals |
//! | `plan/`, `names.rs` | which nodes get a name, the names, and the lines where they are defined |
//! | `print.rs`, `style.rs`, `marks.rs` | layout, colours, underlined places |
//! | `pieces.rs` | the text in pieces with roles |
//! | `lexer.rs`, `literals.rs`, `parser.rs`, `build.rs`, `settle.rs` | from text to values |
//! | `scopes.rs` | the definitions of names by scopes |
//! | `fault.rs` | errors in a text, with the line and a caret |
//! | `display.rs` | `{}` of values |
//! | `annotation.rs` | the comments of objects: annotations from the caller, the types of expressions |
//! | `mismatch.rs` | both sides of a mismatch, underlined |
//! | `golden.rs` | `assert_golden!`: the text in a file against a value |
//!
//! Absent: cycles; functions without a global name, and opaque objects.
//!
//! Printed text parses as an equal value with the same sharing, and prints as the same
//! text again. Lines do not grow with depth, and text is linear in the number of
//! distinct objects. A name may be used before its definition, hence the position of a
//! line has no meaning.
//!
//! Also absent: syntax for single types.

mod annotation;
mod build;
mod display;
pub(crate) mod fault;
pub(crate) mod golden;
mod graph;
mod lexer;
mod literals;
mod marks;
pub(crate) mod mismatch;
mod names;
mod options;
mod parser;
mod pieces;
mod plan;
mod print;
mod scopes;
mod settle;
pub(crate) mod sketch;
mod spelling;
mod style;
mod tensor;

pub use fault::TextFault;
pub use mismatch::{MismatchOptions, assert_structural_equal, render_mismatch};
pub use options::{TensorText, TextMark, TextOptions};
pub use pieces::{TextPiece, TextPieces, TextRole};

use std::cell::Cell;

use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// Prints a value as text, read back by [`from_text`] as an equal value with the same
/// sharing. The same value always prints as the same text.
///
/// Linear in the number of distinct objects. Depth takes heap, not stack, and does not
/// make lines longer.
///
/// # Errors
///
/// `TypeError` for functions not registered under their name and for opaque objects;
/// `ValueError` for a value that contains itself, for a dtype without a name, and for a
/// singleton that reading would mistake for a registered singleton. The error has the
/// path.
///
/// ```
/// use isoform::{Node, Obj, Ref, Str, structural_equal};
/// use isoform::text::{from_text, to_text};
///
/// /// A variable.
/// #[derive(Node)]
/// #[node(key = "doc.text.Var", kind = var)]
/// #[repr(C)]
/// pub struct Var {
///     /// What it is called.
///     #[node(ignore)]
///     pub name: Str,
/// }
///
/// /// A function of one parameter.
/// #[derive(Node)]
/// #[node(key = "doc.text.Fun", scope)]
/// #[repr(C)]
/// pub struct Fun {
///     /// Its parameter.
///     #[node(def)]
///     pub param: Ref<Var>,
///     /// What it gives.
///     pub body: Ref<Obj>,
/// }
///
/// let x = Var::new("x");
/// let id = Fun::new(&x, &x);
/// let text = to_text(&id)?;
/// assert_eq!(text, "doc.text.Fun(param=%x: doc.text.Var(), body=%x)\n");
/// assert!(structural_equal(from_text(&text)?, id)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn to_text(value: impl Into<Value>) -> Result<String> {
    TextOptions::default().to_text(value)
}

impl TextOptions {
    /// [`to_text`] with these options.
    ///
    /// # Errors
    ///
    /// As [`to_text`].
    pub fn to_text(&self, value: impl Into<Value>) -> Result<String> {
        Ok(print_marked(&value.into(), self, None)?.text)
    }
}

/// A text with marks in it.
struct Marked {
    text: String,
    /// The numbers of the lines with carets.
    lines: Vec<usize>,
    /// True if every mark is exactly at its place.
    is_exact: bool,
    /// The pieces, if they were to be noted.
    recording: Option<pieces::Recording>,
}

/// Memory kept by a thread from one text to the next.
#[derive(Default)]
struct Scratch {
    graph: graph::Tables,
    spots: Vec<plan::NodeLayout>,
}

thread_local! {
    // Taken during printing: an annotation that prints makes its own memory.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

fn print_marked(
    value: &Value,
    options: &TextOptions,
    recording: Option<pieces::Recording>,
) -> Result<Marked> {
    let scratch = SCRATCH.try_with(Cell::take).ok().flatten();
    let Scratch { graph, spots } = scratch.unwrap_or_default();
    let graph = graph::collect(value, options, graph)?;
    let mut plan = plan::plan(&graph, spots)?;
    let marks = if options.marks.is_empty() {
        marks::Marks::default()
    } else {
        marks::find(&graph, &plan, value)
    };
    let (text, lines, recording) = print::print(&graph, &mut plan, &marks, recording)?;
    let (graph, spots) = (graph.into_tables(), plan.into_spots());
    // At the end of a thread the memory is simply freed.
    let _ = SCRATCH.try_with(|cell| cell.set(Some(Scratch { graph, spots })));
    Ok(Marked {
        text,
        lines,
        is_exact: marks.are_exact,
        recording,
    })
}

/// Parses a text.
///
/// Takes time and memory proportional to the text, even for malicious input.
///
/// # Errors
///
/// `ValueError` if the text is malformed, with line, column and the line itself;
/// the source of the error is a [`TextFault`]. `TypeError` for unknown types, missing
/// fields without a default, and values that do not fit their field. Errors of hooks are
/// passed on.
///
/// ```
/// use isoform::text::from_text;
/// assert_eq!(from_text("1_000").expect_err("no number").to_string(), "\
/// ValueError: text: line 1, column 2: expected a definition or the end of the text, got '_000'
///   |
/// 1 | 1_000
///   |  ^^^^");
/// let shared = from_text("[%a, %a] %a = List[1, 2,]  // defined further down")?;
/// assert_eq!(format!("{shared:?}"), "[List[1, 2], List[1, 2]]");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn from_text(text: &str) -> Result<Value> {
    TextReadOptions::default().read(text)
}

/// Options for reading a text.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TextReadOptions {
    /// True to skip fields missing in a type.
    pub ignore_unknown_fields: bool,
}

impl TextReadOptions {
    /// Sets whether to skip fields missing in a type. Names defined in a skipped field can
    /// be used elsewhere.
    #[must_use]
    pub fn ignore_unknown_fields(mut self, ignore: bool) -> Self {
        self.ignore_unknown_fields = ignore;
        self
    }

    /// [`from_text`] with these options.
    ///
    /// # Errors
    ///
    /// As [`from_text`].
    ///
    /// ```
    /// use isoform::text::{TextReadOptions, from_text, to_text};
    /// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
    /// register_type(TypeDef::new("doc.Age").field(FieldDef::new("years", Schema::Int)))?;
    /// let old = "doc.Age(years=7, months=[1, %m: 2])";
    /// assert!(from_text(old).is_err());
    /// let age = TextReadOptions::default().ignore_unknown_fields(true).read(old)?;
    /// assert_eq!(to_text(&age)?, "doc.Age(years=7)\n");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn read(self, text: &str) -> Result<Value> {
        parser::parse(text, self)
    }
}
