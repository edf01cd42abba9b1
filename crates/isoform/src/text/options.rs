//! Options for printing a value.

use std::fmt;
use std::sync::Arc;

use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessPath;
use crate::kernel::setters::setters;
use crate::kernel::types::FieldDef;

/// The style of the elements of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TensorText {
    /// Small tensors in place, larger ones under a name in a section after the text.
    #[default]
    Section,
    /// All of them in place.
    Inline,
    /// Small tensors in place; the elements of larger tensors are omitted, and the text
    /// cannot be read back.
    Abbreviated,
}

/// A place to mark in the text, with a note.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TextMark {
    /// The path to the place in the printed value.
    pub path: AccessPath,
    /// The text after the carets; may be empty.
    pub note: String,
}

type Annotate = dyn Fn(&Ref<Obj>) -> Result<Option<String>> + Send + Sync;

/// Options for printing a value; by default, the text has 100 columns and reads back as
/// an equal value with the same sharing.
///
/// ```
/// use isoform::{Array, Value};
/// use isoform::text::{TextOptions, to_text};
/// let value = Value::from(Array::<i64>::from(vec![1, 2, 3]));
/// assert_eq!(to_text(&value)?, "[1, 2, 3]\n");
/// assert_eq!(TextOptions::default().width(8).to_text(&value)?, "[\n  1, 2,\n  3\n]\n");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TextOptions {
    /// The maximum width of a line; unbreakable parts may be longer.
    pub width: usize,
    /// The number of spaces in one level of indentation.
    pub indent: usize,
    /// The number of levels of nested parts; a deeper part gets a name and a line of
    /// its own.
    pub depth: usize,
    /// True to print fields with their default value.
    pub defaults: bool,
    /// True to print fields that comparison ignores.
    pub ignored_fields: bool,
    /// Names of fields never printed, whatever their value.
    pub hidden_fields: Vec<String>,
    /// True to print the fields called `span`: source locations.
    pub spans: bool,
    /// True to print the fields that [`repr()`](crate::objects::repr) leaves out.
    pub unshown_fields: bool,
    /// True to print the type of each object in a trailing comment, if
    /// [known](crate::types::TEXT_TYPE).
    pub types: bool,
    /// The style of tensors.
    pub tensors: TensorText,
    /// True to name nodes without a name by their kind instead of a number.
    pub structural_names: bool,
    /// True to print the section with large tensors after the text; without it, the
    /// text cannot be read back.
    pub metadata: bool,
    /// True to print functions without a global name and opaque objects as `<...>`,
    /// without a way to read the text back, instead of failing.
    pub placeholders: bool,
    /// True to colour the text for a terminal, with ANSI escapes.
    pub color: bool,
    /// The number of parts that are printed, in the order of the fields; containers and
    /// objects without room for their parts end with `...`.
    pub parts: usize,
    /// Underlined places, in lines of comments.
    pub marks: Vec<TextMark>,
    pub(super) annotate: Option<Arc<Annotate>>,
    /// Fields printed regardless of other options.
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
            unshown_fields: true,
            types: false,
            tensors: TensorText::Section,
            structural_names: false,
            metadata: true,
            placeholders: false,
            color: false,
            parts: usize::MAX,
            marks: Vec::new(),
            annotate: None,
            shown: Vec::new(),
        }
    }
}

impl TextOptions {
    setters! {
        /// Sets the maximum width of a line.
        width: usize,
        /// Sets the number of spaces by which parts are indented; at most 16.
        indent: usize,
        /// Sets the number of levels of nested parts, after which a part gets a name and a
        /// line of its own; from 2 to 128.
        depth: usize,
        /// Sets whether to print fields that hold their default.
        defaults: bool,
        /// Sets whether to print fields that comparison ignores.
        ignored_fields: bool,
        /// Sets whether to print the fields called `span`. Without them, values read from the
        /// text have no spans, as after `hide("span")`.
        spans: bool,
        /// Sets whether to print the fields that [`repr()`](crate::objects::repr) leaves out.
        unshown_fields: bool,
        /// Sets whether to print the type of each object in a trailing comment, if it is
        /// [known](crate::types::TEXT_TYPE).
        ///
        /// ```
        /// use isoform_ir::ir::{BaseExpr, PrimType, RelayExpr};
        /// use isoform::{Ref, Value};
        /// use isoform::text::{TextOptions, to_text};
        /// use isoform::values::DType;
        /// let ty = PrimType::new(DType::INT32).upcast();
        /// let expr = Value::from(Ref::new(RelayExpr::typed(Some(ty), None)));
        /// let options = TextOptions::default().types(true).ignored_fields(false);
        /// assert_eq!(options.to_text(&expr)?, "ir.RelayExpr() /* : ir.PrimType(dtype=int32) */\n");
        /// # Ok::<(), isoform::Error>(())
        /// ```
        types: bool,
        /// Sets the style of tensors.
        tensors: TensorText,
        /// Sets whether nodes without a name are named by their kind instead of a number, so
        /// that an edit changes the lines of few other nodes. A name consists of a word and of
        /// digits, which depend on the type, on the names in its fields (singletons, members
        /// of enums, short words), and on the kinds of the lines before it, up to the
        /// beginning of a segment of about eight lines.
        structural_names: bool,
        /// Sets whether to print the section with large tensors after the text.
        metadata: bool,
        /// Sets whether to print values without text as `<...>` instead of failing.
        placeholders: bool,
        /// Sets whether to colour the text for a terminal.
        color: bool,
        /// Sets the number of parts that are printed; the place of further parts, and the
        /// rest of long strings, is `...`, so that the text cannot be read back. The cost does
        /// not depend on the parts that are left out.
        ///
        /// ```
        /// use isoform::Array;
        /// use isoform::text::TextOptions;
        /// let value = Array::<i64>::from((0..1_000_000).collect::<Vec<_>>());
        /// assert_eq!(TextOptions::default().parts(4).to_text(&value)?, "[0, 1, 2, ...]\n");
        /// # Ok::<(), isoform::Error>(())
        /// ```
        parts: usize,
    }

    /// Leaves out the fields of this name, such as `span`. Hidden fields need a default
    /// value, to be restored by the parser.
    #[must_use]
    pub fn hide(mut self, field: impl Into<String>) -> Self {
        self.hidden_fields.push(field.into());
        self
    }

    /// Underlines the place at a path, with a note after the carets.
    #[must_use]
    pub fn mark(mut self, path: AccessPath, note: impl Into<String>) -> Self {
        let note = note.into();
        self.marks.push(TextMark { path, note });
        self
    }

    /// Adds a comment after each object, except where the function returns None.
    ///
    /// ```
    /// use isoform::Node;
    /// use isoform::text::{TextOptions, to_text};
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
    /// let text = TextOptions::default().annotate(owners).to_text(Num::new(1))?;
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

    /// Prints these fields regardless of other options.
    pub(super) fn show_fields(mut self, fields: Vec<(Ref<Obj>, u32)>) -> Self {
        self.shown = fields;
        self
    }

    /// True for a field printed regardless of other options.
    pub(super) fn shows(&self, object: ObjRef<'_>, field: u32) -> bool {
        let shown = |(one, of): &(Ref<Obj>, u32)| *of == field && one.identity() == object.ident();
        self.shown.iter().any(shown)
    }

    /// True if a field is always left out.
    pub(super) fn hides(&self, field: &FieldDef) -> bool {
        let name = field.name();
        name == "span" && !self.spans
            || !self.unshown_fields && !field.is_shown()
            || self.hidden_fields.iter().any(|hidden| hidden == name)
    }

    pub(super) fn has_annotations(&self) -> bool {
        self.types || self.annotate.is_some()
    }

    /// Levels within the limits that keep lines from growing with depth.
    pub(super) fn levels(&self) -> u8 {
        self.depth.clamp(2, 128) as u8
    }

    /// The spaces of one level, within their limit.
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
            .field("unshown_fields", &self.unshown_fields)
            .field("types", &self.types)
            .field("tensors", &self.tensors)
            .field("structural_names", &self.structural_names)
            .field("metadata", &self.metadata)
            .field("placeholders", &self.placeholders)
            .field("color", &self.color)
            .field("parts", &self.parts)
            .field("marks", &self.marks)
            .field("annotate", &self.annotate.is_some())
            .finish()
    }
}
