//! Diagnostics: messages about places in source texts, shown with the lines.
//!
//! `annotate-snippets` does the drawing; this module provides its input.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use isoform::functions::Function;
use isoform::values::List;
use isoform::{Error, Node, Ref, Result, Str, export};

use super::module::IRModule;
use super::span::{SequentialSpan, SourceMap, Span};

/// The severity of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(i64)]
#[non_exhaustive]
pub enum DiagnosticLevel {
    /// An error in the compiler.
    Bug = 10,
    /// An error in the program.
    Error = 20,
    /// A possible error in the program.
    Warning = 30,
    /// Additional information about another message.
    Note = 40,
    /// A suggestion.
    Help = 50,
}

impl DiagnosticLevel {
    /// All levels, worst first.
    pub const ALL: [DiagnosticLevel; 5] = [
        DiagnosticLevel::Bug,
        DiagnosticLevel::Error,
        DiagnosticLevel::Warning,
        DiagnosticLevel::Note,
        DiagnosticLevel::Help,
    ];

    /// Returns the level for a number, the form stored in fields.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown level.
    pub fn from_number(number: i64) -> Result<Self> {
        let mut known = DiagnosticLevel::ALL.into_iter();
        known
            .find(|level| *level as i64 == number)
            .ok_or_else(|| Error::value_error(format!("{number} is not a valid DiagnosticLevel")))
    }

    fn drawn(self) -> Level<'static> {
        match self {
            DiagnosticLevel::Bug => Level::ERROR.with_name("bug"),
            DiagnosticLevel::Error => Level::ERROR,
            DiagnosticLevel::Warning => Level::WARNING,
            DiagnosticLevel::Note => Level::NOTE,
            DiagnosticLevel::Help => Level::HELP,
        }
    }
}

/// A message about a place in a source text.
#[derive(Node)]
#[node(key = "ir.Diagnostic", init = make_diagnostic)]
#[repr(C)]
pub struct Diagnostic {
    /// The severity, a [`DiagnosticLevel`].
    pub level: i64,
    /// The place, if known.
    pub span: Option<Ref<Span>>,
    /// The text of the message.
    pub message: Str,
}

/// Makes a message about a place in a source text.
#[export("ir.Diagnostic")]
fn make_diagnostic(level: i64, span: Option<Ref<Span>>, message: Str) -> Result<Ref<Diagnostic>> {
    DiagnosticLevel::from_number(level)?;
    Ok(Ref::new(Diagnostic {
        level,
        span,
        message,
    }))
}

/// Shows the messages of a context to people.
#[derive(Node)]
#[node(key = "ir.DiagnosticRenderer", kind = none)]
#[repr(C)]
pub struct DiagnosticRenderer {
    /// The function called with the context.
    pub func: Function,
}

/// Collects messages about a module until they are rendered.
#[derive(Node)]
#[node(key = "ir.DiagnosticContext", kind = none, init = make_context)]
#[repr(C)]
pub struct DiagnosticContext {
    /// The module, which contains the source texts.
    pub module: Ref<IRModule>,
    /// The messages so far.
    #[node(default)]
    pub diagnostics: List<Ref<Diagnostic>>,
    /// Shows the messages; without a renderer, the messages become the message of an
    /// error.
    #[node(default)]
    pub renderer: Option<Ref<DiagnosticRenderer>>,
}

/// Makes a context without messages.
#[export("ir.DiagnosticContext")]
fn make_context(
    module: Ref<IRModule>,
    renderer: Option<Ref<DiagnosticRenderer>>,
) -> Ref<DiagnosticContext> {
    Ref::new(DiagnosticContext {
        module,
        diagnostics: List::new(),
        renderer,
    })
}

impl DiagnosticContext {
    /// Adds a message.
    ///
    /// # Errors
    ///
    /// Errors of [`List::push`], if another field holds the messages, too.
    pub fn emit(&self, diagnostic: Ref<Diagnostic>) -> Result<()> {
        self.diagnostics.push(diagnostic)
    }

    /// The messages as text with their source lines.
    pub fn to_text(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let diagnostics = self.diagnostics.snapshot();
        let diagnostics = diagnostics.values().iter().filter_map(|item| item.peek());
        let texts: Vec<String> = diagnostics
            .map(|diagnostic: &Ref<Diagnostic>| {
                renderer.render(&[drawn(diagnostic, &self.module.source_map)])
            })
            .collect();
        texts.join("\n\n")
    }

    /// Shows the messages and clears them.
    ///
    /// # Errors
    ///
    /// `DiagnosticError` if the messages include a bug or an error, with the text of
    /// the messages if there is no renderer; errors of the renderer.
    pub fn render(this: &Ref<Self>) -> Result<()> {
        let shown = match &this.renderer {
            Some(renderer) => {
                renderer.func.call(&[this.into()])?;
                None
            }
            None => Some(this.to_text(false)),
        };
        let diagnostics = this.diagnostics.snapshot();
        this.diagnostics.clear();
        let mut diagnostics = diagnostics.values().iter().filter_map(|item| item.peek());
        let is_error =
            |diagnostic: &Ref<Diagnostic>| diagnostic.level <= DiagnosticLevel::Error as i64;
        if diagnostics.any(is_error) {
            Err(Error::of_kind(
                "DiagnosticError",
                shown.unwrap_or_else(|| {
                    "one or more error diagnostics were emitted, please check diagnostic render \
                     for output"
                        .to_owned()
                }),
            ))
        } else {
            Ok(())
        }
    }
}

/// The simple places of a place.
fn parts(span: &Ref<Span>) -> Vec<Ref<Span>> {
    match span.downcast_ref::<SequentialSpan>() {
        Some(sequence) => sequence.spans.iter().cloned().collect(),
        None => vec![span.clone()],
    }
}

fn drawn<'a>(diagnostic: &Ref<Diagnostic>, sources: &Ref<SourceMap>) -> Group<'a> {
    let level = DiagnosticLevel::from_number(diagnostic.level).unwrap_or(DiagnosticLevel::Error);
    let mut group = Group::with_title(level.drawn().primary_title(diagnostic.message.to_string()));
    for (position, span) in diagnostic.span.iter().flat_map(parts).enumerate() {
        let Some(name) = &span.source_name else {
            continue;
        };
        let kind = match position {
            0 => AnnotationKind::Primary,
            _ => AnnotationKind::Context,
        };
        group = match sources.find(name) {
            Some(source) => {
                let text = source.source.to_string();
                let place = place(&text, &span);
                let snippet = Snippet::source(text).path(name.name.to_string());
                group.element(snippet.annotation(kind.span(place)))
            }
            None => {
                let origin = Origin::path(name.name.to_string());
                let number = |number: i64| usize::try_from(number).unwrap_or(0).max(1);
                let origin = origin.line(number(span.line));
                group.element(origin.char_column(number(span.column)))
            }
        };
    }
    group
}

/// The bytes of a place in a text: at least one character if possible, and never
/// outside of the text.
fn place(text: &str, span: &Span) -> std::ops::Range<usize> {
    let start = offset(text, span.line, span.column);
    let end = offset(text, span.end_line, span.end_column);
    if end > start {
        return start..end;
    }
    let next = text[start..]
        .chars()
        .next()
        .filter(|letter| *letter != '\n');
    start..start + next.map_or(0, char::len_utf8)
}

/// The byte offset of a line and a column, both counted from 1.
fn offset(text: &str, line: i64, column: i64) -> usize {
    let index = |number: i64| usize::try_from(number.saturating_sub(1)).unwrap_or(0);
    let mut start = 0;
    for found in text.split_inclusive('\n').take(index(line)) {
        start += found.len();
    }
    let rest = text[start..].split('\n').next().unwrap_or_default();
    let mut letters = rest.char_indices();
    let inside = letters.nth(index(column)).map_or(rest.len(), |(at, _)| at);
    start + inside
}

/// Adds a message.
#[export("ir.DiagnosticContext.emit")]
fn emit(this: &Ref<DiagnosticContext>, diagnostic: Ref<Diagnostic>) -> Result<()> {
    this.emit(diagnostic)
}

/// Shows the messages, and forgets them; DiagnosticError if they include a bug or an
/// error.
#[export("ir.DiagnosticContext.render")]
fn render(this: &Ref<DiagnosticContext>) -> Result<()> {
    DiagnosticContext::render(this)
}

/// The messages as text with their source lines.
#[export("ir.DiagnosticContext.to_text")]
fn to_text(this: &Ref<DiagnosticContext>, #[default = false] colour: bool) -> String {
    this.to_text(colour)
}

/// Shows the messages of a context.
#[export("ir.DiagnosticRenderer.render")]
fn render_with(this: &Ref<DiagnosticRenderer>, ctx: &Ref<DiagnosticContext>) -> Result<()> {
    this.func.call(&[ctx.into()]).map(drop)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { DiagnosticContext: emit = emit, render = render, to_text = to_text }?;
    isoform::register_methods! { DiagnosticRenderer: render = render_with }?;
    Ok(())
}
