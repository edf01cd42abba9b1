//! How a value is printed.

use std::fmt;
use std::sync::Arc;

use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessPath;

/// How the elements of a tensor are printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TensorText {
    /// Small tensors where they stand, larger ones under a name in a section
    /// behind the text.
    #[default]
    Section,
    /// All of them where they stand.
    Inline,
    /// Small tensors where they stand; the elements of larger ones are left
    /// out, so that the text cannot be read again.
    Abbreviated,
}

/// A place that is marked in the text, and what is said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextMark {
    /// Where it is in the printed value.
    pub path: AccessPath,
    /// What stands behind the carets; may be empty.
    pub note: String,
}

type Annotate = dyn Fn(&Ref<Obj>) -> Result<Option<String>> + Send + Sync;

/// How to print a value; the default is text of 100 columns that is read as an
/// equal value with the same sharing.
///
/// ```
/// use isoform::{Array, TextOptions, Value, to_text};
/// let value = Value::from(Array::<i64>::from(vec![1, 2, 3]));
/// assert_eq!(to_text(&value, &TextOptions::default())?, "[1, 2, 3]\n");
/// assert_eq!(to_text(&value, &TextOptions::default().width(8))?, "[\n  1, 2,\n  3\n]\n");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TextOptions {
    /// How many columns a line should have at most; parts without a place to
    /// break may be longer.
    pub width: usize,
    /// By how many spaces parts are indented.
    pub indent: usize,
    /// How many levels of parts stand inside one another before they get a
    /// name and a line of their own.
    pub depth: usize,
    /// Whether fields that hold their default are printed.
    pub defaults: bool,
    /// Whether fields are printed that comparison ignores.
    pub ignored_fields: bool,
    /// Names of fields that are not printed, whatever they hold.
    pub hidden_fields: Vec<String>,
    /// Whether the fields called `span` are printed: where in a source text
    /// something was written.
    pub spans: bool,
    /// Whether a comment behind each object says its type, where that is
    /// [known](crate::TEXT_TYPE).
    pub types: bool,
    /// How tensors are printed.
    pub tensors: TensorText,
    /// Whether the section with large tensors stands behind the text; without
    /// it, the text cannot be read again.
    pub metadata: bool,
    /// Whether functions without a global name and opaque objects are printed,
    /// as `<...>`, which cannot be read again, and are no error.
    pub placeholders: bool,
    /// Whether the text is coloured for a terminal, by ANSI escapes.
    pub color: bool,
    /// Places that are underlined, in lines of comments.
    pub marks: Vec<TextMark>,
    pub(super) annotate: Option<Arc<Annotate>>,
    /// Fields that are printed whatever else is said.
    shown: Vec<(Ref<Obj>, u32)>,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            width: 100,
            indent: 2,
            depth: 16,
            defaults: false,
            ignored_fields: true,
            hidden_fields: Vec::new(),
            spans: true,
            types: false,
            tensors: TensorText::Section,
            metadata: true,
            placeholders: false,
            color: false,
            marks: Vec::new(),
            annotate: None,
            shown: Vec::new(),
        }
    }
}

impl TextOptions {
    /// Sets how many columns a line should have at most.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Sets by how many spaces parts are indented; at most 16.
    #[must_use]
    pub fn indent(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// Sets how many levels of parts stand inside one another before they get
    /// a name and a line of their own; from 2 to 128.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Sets whether fields that hold their default are printed.
    #[must_use]
    pub fn defaults(mut self, defaults: bool) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets whether fields are printed that comparison ignores.
    #[must_use]
    pub fn ignored_fields(mut self, ignored_fields: bool) -> Self {
        self.ignored_fields = ignored_fields;
        self
    }

    /// Leaves out the fields of this name, such as `span`. What is read from
    /// the text has their default, so they need one.
    #[must_use]
    pub fn hide(mut self, field: impl Into<String>) -> Self {
        self.hidden_fields.push(field.into());
        self
    }

    /// Sets whether the fields called `span` are printed. Without them, what is
    /// read from the text has none, as after `hide("span")`.
    #[must_use]
    pub fn spans(mut self, spans: bool) -> Self {
        self.spans = spans;
        self
    }

    /// Sets whether a comment behind each object says its type, where that is
    /// [known](crate::TEXT_TYPE).
    ///
    /// ```
    /// use isoform::ir::{BaseExpr, PrimType, RelayExpr};
    /// use isoform::{DType, Ref, TextOptions, Value, to_text};
    /// let ty = PrimType::new(DType::INT32).upcast();
    /// let expr = Value::from(Ref::new(RelayExpr::typed(Some(ty), None)));
    /// let options = TextOptions::default().types(true).ignored_fields(false);
    /// assert_eq!(to_text(&expr, &options)?, "ir.RelayExpr() /* : ir.PrimType(dtype=int32) */\n");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn types(mut self, types: bool) -> Self {
        self.types = types;
        self
    }

    /// Sets how tensors are printed.
    #[must_use]
    pub fn tensors(mut self, tensors: TensorText) -> Self {
        self.tensors = tensors;
        self
    }

    /// Sets whether the section with large tensors stands behind the text.
    #[must_use]
    pub fn metadata(mut self, metadata: bool) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets whether what has no text is printed as `<...>` and is no error.
    #[must_use]
    pub fn placeholders(mut self, placeholders: bool) -> Self {
        self.placeholders = placeholders;
        self
    }

    /// Sets whether the text is coloured for a terminal.
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Underlines what is at a path, with a note behind the carets.
    #[must_use]
    pub fn mark(mut self, path: AccessPath, note: impl Into<String>) -> Self {
        let note = note.into();
        self.marks.push(TextMark { path, note });
        self
    }

    /// Sets what stands in a comment behind each object; None is no comment.
    ///
    /// ```
    /// use isoform::{Node, TextOptions, to_text};
    ///
    /// /// A number.
    /// #[derive(Node)]
    /// #[node(key = "doc.text.Num")]
    /// #[repr(C)]
    /// pub struct Num {
    ///     /// Its value.
    ///     pub value: i64,
    /// }
    ///
    /// let owners = |object: &isoform::Ref<isoform::Obj>| Ok(Some(object.type_info().kind().to_string()));
    /// let text = to_text(&Num::new(1).into(), &TextOptions::default().annotate(owners))?;
    /// assert_eq!(text, "doc.text.Num(value=1) /* tree */\n");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn annotate(
        mut self,
        annotate: impl Fn(&Ref<Obj>) -> Result<Option<String>> + Send + Sync + 'static,
    ) -> Self {
        self.annotate = Some(Arc::new(annotate));
        self
    }

    /// Prints these fields whatever else is said.
    pub(super) fn show_fields(mut self, fields: Vec<(Ref<Obj>, u32)>) -> Self {
        self.shown = fields;
        self
    }

    /// Whether a field is printed whatever else is said.
    pub(super) fn shows(&self, object: ObjRef<'_>, field: u32) -> bool {
        let shown = |(one, of): &(Ref<Obj>, u32)| *of == field && one.identity() == object.ident();
        self.shown.iter().any(shown)
    }

    /// Whether fields of a name are printed of no object.
    pub(super) fn hides(&self, field: &str) -> bool {
        field == "span" && !self.spans || self.hidden_fields.iter().any(|hidden| hidden == field)
    }

    pub(super) fn has_annotations(&self) -> bool {
        self.types || self.annotate.is_some()
    }

    /// Levels within the limits that keep lines from growing with depth.
    pub(super) fn levels(&self) -> u8 {
        self.depth.clamp(2, 128) as u8
    }

    /// Spaces of one level within their limit.
    pub(super) fn indentation(&self) -> usize {
        self.indent.min(16)
    }
}

impl fmt::Debug for TextOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextOptions")
            .field("width", &self.width)
            .field("indent", &self.indent)
            .field("depth", &self.depth)
            .field("defaults", &self.defaults)
            .field("ignored_fields", &self.ignored_fields)
            .field("hidden_fields", &self.hidden_fields)
            .field("spans", &self.spans)
            .field("types", &self.types)
            .field("tensors", &self.tensors)
            .field("metadata", &self.metadata)
            .field("placeholders", &self.placeholders)
            .field("color", &self.color)
            .field("marks", &self.marks)
            .field("annotate", &self.annotate.is_some())
            .finish()
    }
}
