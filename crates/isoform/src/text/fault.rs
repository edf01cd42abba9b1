//! Errors in a text, and their positions.

use std::error::Error as StdError;
use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::kernel::error::{Error, ErrorKind};

/// The position of a fault in a text, and the reason.
///
/// The fault is the source of the [`Error`] returned by
/// [`from_text`](crate::text::from_text), whose message also shows the line.
///
/// ```
/// use isoform::text::{TextFault, from_text};
/// let error = from_text("[1, 2").expect_err("no end");
/// let source = error.into_source().expect("a fault");
/// let fault = source.downcast_ref::<TextFault>().expect("a fault");
/// assert_eq!((fault.line(), fault.column()), (1, 6));
/// assert_eq!(fault.message(), "expected ',' or ']', got the end of the text");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextFault {
    line: usize,
    column: usize,
    message: String,
}

impl TextFault {
    /// The line, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1 on.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextFault {
            line,
            column,
            message,
        } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}

impl StdError for TextFault {}

/// A fault recorded by the parser: a range of bytes.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) message: String,
}

/// The number of characters shown before a fault and after its start; lines of
/// malicious texts can have any length.
const BEFORE: usize = 60;
const BEHIND: usize = 60;

impl Fault {
    /// The error, with the line of the text.
    pub(super) fn into_error(self, text: &str) -> Error {
        self.into_error_in("text", text)
    }

    /// [`into_error`](Self::into_error) for a text of another kind.
    fn into_error_in(self, what: &str, text: &str) -> Error {
        let start = boundary(text, self.start);
        let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let line = text[..line_start].matches('\n').count() + 1;
        let fault = TextFault {
            line,
            column: text[line_start..start].chars().count() + 1,
            message: self.message,
        };
        let shown = self.kind == ErrorKind::Value || self.kind == ErrorKind::Type;
        let kind = if shown { self.kind } else { ErrorKind::Value };
        let snippet = snippet(text, start, self.end, line_start, line);
        Error::new(kind, format!("{what}: {fault}\n{snippet}")).caused_by(fault)
    }
}

/// The error for a range of bytes of a text of another kind than those of this module,
/// with the line and a caret. `what` names the text.
pub fn text_error(
    what: &str,
    text: &str,
    kind: ErrorKind,
    range: std::ops::Range<usize>,
    message: String,
) -> Error {
    let fault = Fault {
        kind,
        start: range.start,
        end: range.end,
        message,
    };
    fault.into_error_in(what, text)
}

/// The line with a caret under the fault.
fn snippet(text: &str, start: usize, end: usize, line_start: usize, line: usize) -> String {
    let rest = &text[start..];
    let behind: usize = rest
        .chars()
        .take(BEHIND)
        .take_while(|&c| c != '\n')
        .map(char::len_utf8)
        .sum();
    let front: usize = text[line_start..start]
        .chars()
        .rev()
        .take(BEFORE)
        .map(char::len_utf8)
        .sum();
    let is_cut = start - front > line_start;
    let goes_on = !matches!(rest[behind..].chars().next(), None | Some('\n' | '\r'));
    let prefix = if is_cut { "..." } else { "" };
    let suffix = if goes_on { "..." } else { "" };
    let window = &text[start - front..start + behind];
    // Control characters would move the caret, or the terminal.
    let clean = |text: &str| -> String {
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        text.chars().map(plain).collect()
    };
    let source = format!("{prefix}{}{suffix}", clean(window));
    let from = prefix.len() + clean(&window[..front]).len();
    let length = clean(&text[start..boundary(text, end.clamp(start, start + behind))]).len();
    // At least one character, or one column after the last character.
    let first = source[from..].chars().next().map_or(1, char::len_utf8);
    let to = from + length.max(first);
    let snippet = Snippet::source(source)
        .line_start(line)
        .annotation(AnnotationKind::Primary.span(from..to));
    let report = [Group::with_level(Level::ERROR).element(snippet)];
    let rendered = Renderer::plain().render(&report);
    // No trailing white space in messages.
    let lines: Vec<&str> = rendered.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The nearest start of a character at or before a position.
fn boundary(text: &str, position: usize) -> usize {
    let mut position = position.min(text.len());
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
}
