//! Output that depends on a terminal: its width, lines cut at it, and the wish for colour.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use unicode_width::UnicodeWidthChar;

/// When to use colour.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the environment forbids it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The width that a terminal has unless it tells another.
const USUAL: usize = 80;

/// The width of the terminal that is standard output; None if that is not a terminal.
pub(crate) fn columns() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let set = std::env::var("COLUMNS")
        .ok()
        .and_then(|set| set.parse().ok());
    let columns = set.or_else(|| window(&out)).filter(|columns| *columns > 0);
    Some(columns.unwrap_or(USUAL))
}

#[cfg(unix)]
fn window(out: &io::Stdout) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn window(_out: &io::Stdout) -> Option<usize> {
    None
}

/// True if FORCE_COLOR asks for colour, which NO_COLOR overrides.
pub(crate) fn forces_color() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_zero = std::env::var_os("FORCE_COLOR").is_some_and(|value| value == "0");
    is_set("FORCE_COLOR") && !is_zero && !is_set("NO_COLOR")
}

/// Cuts lines of text at a width; an ellipsis takes the place of the rest. Escape sequences,
/// which have no width, stay, so that colours end where they should.
pub(crate) struct CutLines<'a> {
    out: &'a mut dyn Write,
    width: usize,
    column: usize,
    /// The character in the last column, which stays if the line ends there, and the escape
    /// sequences after it.
    last: Option<(String, String)>,
    is_cut: bool,
    escape: Escape,
    /// The start of a character.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    /// After the escape character.
    Begun,
    /// In a control sequence, up to its letter.
    Sequence,
}

const ELLIPSIS: &str = "…";

impl<'a> CutLines<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, width: usize) -> Self {
        CutLines {
            out,
            width: width.max(1),
            column: 0,
            last: None,
            is_cut: false,
            escape: Escape::None,
            partial: Vec::new(),
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            match self.escape {
                Escape::None if c == '\u{1b}' => self.escape = Escape::Begun,
                Escape::None => {
                    self.character(c, out);
                    continue;
                }
                Escape::Begun if c == '[' => self.escape = Escape::Sequence,
                Escape::Begun => self.escape = Escape::None,
                Escape::Sequence if ('\u{40}'..='\u{7e}').contains(&c) => {
                    self.escape = Escape::None;
                }
                Escape::Sequence => {}
            }
            match &mut self.last {
                Some((_, escapes)) => escapes.push(c),
                None => out.push(c),
            }
        }
    }

    fn character(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            self.end_last(out);
            out.push(c);
            (self.column, self.is_cut) = (0, false);
            return;
        }
        if self.is_cut {
            return;
        }
        let width = c.width().unwrap_or(0);
        if width == 0 {
            match &mut self.last {
                Some((last, _)) => last.push(c),
                None => out.push(c),
            }
            return;
        }
        if let Some((_, escapes)) = self.last.take() {
            out.push_str(ELLIPSIS);
            out.push_str(&escapes);
            self.is_cut = true;
            return;
        }
        self.column += width;
        match self.column.cmp(&self.width) {
            std::cmp::Ordering::Less => out.push(c),
            std::cmp::Ordering::Equal => self.last = Some((c.to_string(), String::new())),
            std::cmp::Ordering::Greater => {
                out.push_str(ELLIPSIS);
                self.is_cut = true;
            }
        }
    }

    fn end_last(&mut self, out: &mut String) {
        if let Some((last, escapes)) = self.last.take() {
            out.push_str(&last);
            out.push_str(&escapes);
        }
    }
}

impl Write for CutLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut out = String::new();
        let mut rest = &*all;
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text, &mut out);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text(&String::from_utf8_lossy(valid), &mut out);
                    let Some(bad) = error.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    self.text("\u{fffd}", &mut out);
                    rest = &after[bad..];
                }
            }
        }
        self.out.write_all(out.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.end_last(&mut out);
        self.out.write_all(out.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: usize, text: &str, expected: &str) {
        // Also where a character or a sequence is written in two parts.
        for size in 1..=text.len().max(1) {
            let mut out = Vec::new();
            let mut cut = CutLines::new(&mut out, width);
            for part in text.as_bytes().chunks(size) {
                cut.write_all(part).expect("written");
            }
            cut.flush().expect("flushed");
            assert_eq!(String::from_utf8(out).expect("text"), expected, "{size}");
        }
    }

    #[test]
    fn lines_are_cut_at_the_width() {
        check(4, "abc\nabcd\nabcde\n\nab", "abc\nabcd\nabc…\n\nab");
        check(4, "abcd", "abcd");
        check(1, "ab\na\n", "…\na\n");
    }

    #[test]
    fn colours_have_no_width_and_end() {
        let (red, end) = ("\u{1b}[31m", "\u{1b}[0m");
        check(
            4,
            &format!("{red}abcd{end}\n{red}abcdef{end}gh\n"),
            &format!("{red}abcd{end}\n{red}abc…{end}\n"),
        );
        check(3, &format!("ab{red}c{end}d\n"), &format!("ab{red}…{end}\n"));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check(4, "名前名\n", "名…\n");
        check(5, "名前名\n", "名前…\n");
        check(6, "名前名\n", "名前名\n");
        check(2, "e\u{301}x\n", "e\u{301}x\n");
    }
}
