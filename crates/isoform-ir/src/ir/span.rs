//! Source locations of nodes.
//!
//! Ignored fields hold the spans, so programs never differ by their spans.

use isoform::values::Dict;
use isoform::{Array, Node, Ref, Result, Str, export};

/// The name of a source text.
///
/// Names with the same text are equal, even as different objects.
#[derive(Node)]
#[node(key = "ir.SourceName", convert = source_name_from)]
#[repr(C)]
pub struct SourceName {
    /// The name, for example the path of a file.
    pub name: Str,
}

/// Takes the name.
#[export("ir.SourceName.__ffi_convert__")]
fn source_name_from(name: Str) -> Ref<SourceName> {
    SourceName::new(name)
}

/// A place in a source text.
///
/// Lines and columns count from 1; 0 means an unknown location.
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
    /// The column after the last column of the place.
    pub end_column: i64,
}

/// The places of an expression made from several expressions.
#[derive(Node)]
#[node(key = "ir.SequentialSpan", init = make_sequential_span, no_new)]
#[repr(C)]
pub struct SequentialSpan {
    #[node(base)]
    base: Span,
    /// The places; sequences are flattened.
    pub spans: Array<Ref<Span>>,
}

impl SequentialSpan {
    /// The sequence of the given places, with the places of sequences in place of the
    /// sequences.
    pub fn new(spans: impl IntoIterator<Item = Ref<Span>>) -> Ref<Self> {
        let mut flat = Vec::new();
        for span in spans {
            match span.downcast_ref::<SequentialSpan>() {
                // A sequence has been flattened at construction.
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

/// Flattens sequences among the places; the line and column of the result are 0.
#[export("ir.SequentialSpan")]
fn make_sequential_span(spans: Vec<Ref<Span>>) -> Ref<SequentialSpan> {
    SequentialSpan::new(spans)
}

/// A source text, for messages with source lines.
#[derive(Node)]
#[node(key = "ir.Source")]
#[repr(C)]
pub struct Source {
    /// Its name.
    pub source_name: Ref<SourceName>,
    /// The text.
    pub source: Str,
}

/// The source texts of spans.
#[derive(Node)]
#[node(key = "ir.SourceMap")]
#[repr(C)]
pub struct SourceMap {
    /// The texts by name.
    #[node(default)]
    pub source_map: Dict<Str, Ref<Source>>,
}

impl SourceMap {
    /// Adds or replaces the text of a name, and returns the name.
    ///
    /// # Errors
    ///
    /// Errors of [`Dict::insert`], if another field holds the texts, too.
    pub fn add(&self, name: &str, content: &str) -> Result<Ref<SourceName>> {
        let source_name = SourceName::new(name);
        let source = Source::new(&source_name, content);
        self.source_map.insert(name.into(), source)?;
        Ok(source_name)
    }

    /// Returns the text of a name.
    pub fn find(&self, name: &SourceName) -> Option<Ref<Source>> {
        self.source_map.get(name.name.clone())
    }
}

/// Adds or replaces the text of a name, and returns the name.
#[export("ir.SourceMap.add")]
fn source_map_add(this: &Ref<SourceMap>, name: &str, content: &str) -> Result<Ref<SourceName>> {
    this.add(name, content)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { SourceMap: add = source_map_add }?;
    Ok(())
}
