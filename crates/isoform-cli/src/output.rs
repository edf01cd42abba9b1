//! The destination and style of a command's text.
//!
//! Commands are independent of terminals: they write through [`Output`], which handles
//! the colours, reports failures and remembers the exit status.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use isoform::plumbing::controls_terminal;

use crate::args::Common;
use crate::input::alone::UnknownFile;
use crate::input::is_dash;
use crate::terminal::{ColorWhen, columns, forces_color};

/// Success; for `diff`, the models are equal.
pub(crate) const SUCCESS: u8 = 0;
/// The compared models differ.
pub(crate) const DIFFERENT: u8 = 1;
/// A file failed, or the command line is wrong.
pub(crate) const TROUBLE: u8 = 2;

/// The streams that a run writes to, and their capabilities.
pub struct Streams<'a> {
    /// For results.
    pub out: &'a mut dyn Write,
    /// For failures.
    pub err: &'a mut dyn Write,
    /// True if `--color auto` enables colour on `out`.
    pub color_out: bool,
    /// True if `--color auto` enables colour on `err`.
    pub color_err: bool,
    /// True if a progress bar may be drawn on the standard error of the process.
    pub progress: bool,
    /// The width of the terminal that is `out`, at which long lines are cut and which gets no
    /// binary; None if `out` is not a terminal.
    pub columns: Option<usize>,
}

impl<'a> Streams<'a> {
    /// Streams that are not terminals.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Streams {
            out,
            err,
            color_out: false,
            color_err: false,
            progress: false,
            columns: None,
        }
    }

    /// Calls `body` with the streams of the process.
    pub fn with_standard<R>(body: impl FnOnce(&mut Streams<'_>) -> R) -> R {
        let is_forced = forces_color();
        let colored = |choice| is_forced || !matches!(choice, anstream::ColorChoice::Never);
        let color_out = colored(anstream::AutoStream::choice(&io::stdout()));
        let color_err = colored(anstream::AutoStream::choice(&io::stderr()));
        let mut out = io::BufWriter::new(io::stdout().lock());
        // Standard error is not locked: the progress bar draws on it too.
        let mut err = io::stderr();
        body(&mut Streams {
            out: &mut out,
            err: &mut err,
            color_out,
            color_err,
            progress: io::stderr().is_terminal(),
            columns: columns(),
        })
    }
}

impl fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("color_out", &self.color_out)
            .field("color_err", &self.color_err)
            .field("progress", &self.progress)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// The reason why a file failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// One line, without the name of the file.
    pub(crate) message: String,
    /// The offending lines of the file, with a caret.
    pub(crate) excerpt: Vec<String>,
    /// The file, if it could be read but for its unknown types.
    pub(crate) unknown: Option<Arc<UnknownFile>>,
}

impl Failure {
    /// A failure whose first line is the message.
    pub(crate) fn of_text(text: impl AsRef<str>) -> Self {
        let mut lines = text.as_ref().lines().map(str::to_owned);
        Failure {
            message: lines.next().unwrap_or_default(),
            excerpt: lines.collect(),
            unknown: None,
        }
    }

    pub(crate) fn json(&self, file: &Path) -> serde_json::Value {
        serde_json::json!({"file": file.to_string_lossy(), "error": self.message})
    }
}

impl<T: Into<String>> From<T> for Failure {
    fn from(message: T) -> Self {
        Failure {
            message: message.into(),
            excerpt: Vec::new(),
            unknown: None,
        }
    }
}

/// The output of a running command.
pub(crate) struct Output<'a, 'b> {
    streams: &'a mut Streams<'b>,
    /// The name of the command, before messages.
    pub(crate) name: &'a str,
    style_err: Palette,
    /// The style of results.
    pub(crate) style: Palette,
    /// True if results are printed as JSON.
    pub(crate) json: bool,
    /// True if progress, notes and summaries are suppressed.
    pub(crate) quiet: bool,
    /// The exit status so far, kept even if the reader goes away.
    pub(crate) status: u8,
}

impl<'a, 'b> Output<'a, 'b> {
    pub(crate) fn new(streams: &'a mut Streams<'b>, common: &Common) -> Self {
        Output {
            style: Palette::new(wants_color(common.color, streams.color_out)),
            style_err: Palette::new(wants_color(common.color, streams.color_err)),
            json: common.json,
            quiet: common.quiet,
            status: SUCCESS,
            name: "isoform",
            streams,
        }
    }

    /// Writes one line of the result.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.streams.out, "{text}")
    }

    /// Writes one line of JSON.
    pub(crate) fn json_line(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.line(value)
    }

    /// Writes one less important line.
    pub(crate) fn faint(&mut self, text: &str) -> io::Result<()> {
        let faint = self.style.faint;
        self.line(format_args!("{faint}{text}{faint:#}"))
    }

    /// Writes bytes unchanged, except binary on a terminal, which is an error.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.streams.columns.is_some()
            && (bytes.contains(&0) || std::str::from_utf8(bytes).is_err())
        {
            self.failure(Path::new("-"), &NO_BINARY.into());
            return Ok(());
        }
        self.streams.out.write_all(bytes)
    }

    /// True if results are printed on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.streams.columns.is_some()
    }

    /// Fails if binary would be written to a terminal.
    pub(crate) fn check_binary(&self, target: &Path) -> Result<(), Failure> {
        if self.streams.columns.is_some() && is_dash(target) {
            return Err(NO_BINARY.into());
        }
        Ok(())
    }

    /// Flushes the output so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.streams.out.flush()
    }

    /// Reports that a file or folder failed, and sets the exit status to error.
    pub(crate) fn failure(&mut self, file: &Path, failure: &Failure) {
        self.status = TROUBLE;
        let file = file.display().to_string();
        let bad = self.style_err.bad;
        // If standard error is gone, the failure cannot be reported.
        let _ = writeln!(
            self.streams.err,
            "{}: {bad}{}{bad:#}: {}",
            self.name,
            printable(&file),
            printable(&failure.message)
        );
        for line in &failure.excerpt {
            let _ = writeln!(self.streams.err, "{}", printable(line));
        }
    }

    /// Writes a note to standard error.
    pub(crate) fn note(&mut self, note: &str) {
        let note = printable(note);
        // If standard error is gone, the note cannot be written.
        let _ = writeln!(self.streams.err, "{}: note: {note}", self.name);
    }

    /// Writes text besides the result to standard error.
    pub(crate) fn aside(&mut self, text: &str) {
        // If standard error is gone, the text cannot be written.
        let _ = write!(self.streams.err, "{text}");
    }

    /// The style of text besides the result.
    pub(crate) fn style_aside(&self) -> Palette {
        self.style_err
    }

    /// Writes bytes of another program to standard error.
    pub(crate) fn bytes_aside(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.streams.err.write_all(bytes)?;
        self.streams.err.flush()
    }

    /// True if a progress bar may be drawn.
    pub(crate) fn shows_progress(&self) -> bool {
        self.streams.progress && !self.quiet
    }
}

const NO_BINARY: &str = "the result is binary, and standard output is a terminal; give the name of a file, or write '> FILE' behind the command";

/// True if text gets colour; `auto` is the decision for `--color auto`.
pub(crate) fn wants_color(when: ColorWhen, auto: bool) -> bool {
    match when {
        ColorWhen::Auto => auto,
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

/// The styles of a stream; all empty without colour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    /// True if there is any colour.
    pub(crate) is_color: bool,
    /// Errors, and "different".
    pub(crate) bad: Style,
    /// "equal".
    pub(crate) good: Style,
    /// The left side.
    pub(crate) left: Style,
    /// The right side.
    pub(crate) right: Style,
    /// Headings and operators.
    pub(crate) strong: Style,
    /// Values and constants of a program.
    pub(crate) value: Style,
    /// Types of a program.
    pub(crate) ty: Style,
    /// Comments and other less important text.
    pub(crate) faint: Style,
}

impl Palette {
    fn new(color: bool) -> Self {
        if !color {
            return Palette::default();
        }
        Palette {
            is_color: true,
            bad: AnsiColor::Red.on_default().bold(),
            good: AnsiColor::Green.on_default().bold(),
            left: AnsiColor::Red.on_default(),
            right: AnsiColor::Green.on_default(),
            strong: Style::new().bold(),
            value: AnsiColor::Cyan.on_default(),
            ty: AnsiColor::Yellow.on_default(),
            faint: Style::new().dimmed(),
        }
    }
}

/// A count with its noun, in singular or plural.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Text from a file, or the file's name. Characters that would move the cursor, colour
/// the terminal or reverse the direction of writing are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(controls_terminal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if controls_terminal(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("naïve/名前.onnx"), "naïve/名前.onnx");
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
    }
}
