//! Source locations of nodes.
//!
//! Spans are held in ignored fields, so programs never differ by their spans.

use isoform::values::Dict;
use isoform::{Array, Node, Ref, Result, Str, export};

/// The name of a source text.
///
/// Two names with the same text are equal; they need not be one object.
#[derive(Node)]
#[node(key = "ir.SourceName", convert = source_name_from)]
#[repr(C)]
pub struct SourceName {
    /// The name, such as the path of a file.
    pub name: Str,
}

/// Takes the name.
#[export("ir.SourceName.__ffi_convert__")]
fn source_name_from(name: Str) -> Ref<SourceName> {
    SourceName::new(name)
}

/// A place in a source text.
///
/// Lines and columns count from 1; 0 means that the location is unknown.
#[derive(Node)]
#[node(key = "ir.Span")]
#[repr(C)]
pub struct Span {
    /// The source text; None for a place in several texts.
    pub source_name: Option<Ref<SourceName>>,
    /// The first line.
    pub line: i64,
    /// The last line.
    pub end_line: i64,
    /// The first column.
    pub column: i64,
    /// The column after the last one.
    pub end_column: i64,
}

/// The places of an expression that was made of several.
#[derive(Node)]
#[node(key = "ir.SequentialSpan", init = make_sequential_span, no_new)]
#[repr(C)]
pub struct SequentialSpan {
    #[node(base)]
    base: Span,
    /// The places, none of which is a sequence itself.
    pub spans: Array<Ref<Span>>,
}

impl SequentialSpan {
    /// The sequence of these places, with those of sequences in their stead.
    pub fn new(spans: impl IntoIterator<Item = Ref<Span>>) -> Ref<Self> {
        let mut flat = Vec::new();
        for span in spans {
            match span.downcast_ref::<SequentialSpan>() {
                // A sequence has been flattened when it was made.
                Some(inner) => flat.extend(inner.spans.iter().cloned()),
                None => flat.push(span),
            }
        }
        Ref::new(SequentialSpan {
            base: Span {
                source_name: None,
                line: 0,
                end_line: 0,
                column: 0,
                end_column: 0,
            },
            spans: flat.into(),
        })
    }
}

/// Flattens sequences among the places; its own line and column are 0.
#[export("ir.SequentialSpan")]
fn make_sequential_span(spans: Vec<Ref<Span>>) -> Ref<SequentialSpan> {
    SequentialSpan::new(spans)
}

/// A source text, for messages that show its lines.
#[derive(Node)]
#[node(key = "ir.Source")]
#[repr(C)]
pub struct Source {
    /// Its name.
    pub source_name: Ref<SourceName>,
    /// The text.
    pub source: Str,
}

/// The source texts that spans refer to.
#[derive(Node)]
#[node(key = "ir.SourceMap")]
#[repr(C)]
pub struct SourceMap {
    /// The texts by name.
    #[node(default)]
    pub source_map: Dict<Str, Ref<Source>>,
}

impl SourceMap {
    /// Adds a text, or replaces the existing one of that name, and returns the name.
    ///
    /// # Errors
    ///
    /// As [`Dict::insert`], if the texts are also held by another field.
    pub fn add(&self, name: &str, content: &str) -> Result<Ref<SourceName>> {
        let source_name = SourceName::new(name);
        let source = Source::new(&source_name, content);
        self.source_map.insert(name.into(), source)?;
        Ok(source_name)
    }

    /// Returns the text of a name.
    pub fn find(&self, name: &SourceName) -> Option<Ref<Source>> {
        self.source_map.get(&name.name.clone().into())
    }
}

/// Adds a text, or replaces the existing one of that name, and returns the name.
#[export("ir.SourceMap.add")]
fn source_map_add(this: &Ref<SourceMap>, name: &str, content: &str) -> Result<Ref<SourceName>> {
    this.add(name, content)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { SourceMap: add = source_map_add }?;
    Ok(())
}
