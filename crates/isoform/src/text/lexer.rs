//! The words of a text, read one at a time at the parser's request.

use std::borrow::Cow;

use super::fault::Fault;
use super::spelling::{Sigil, is_name_char, is_word_char, shown, starts_word};
use crate::kernel::error::ErrorKind;

/// A position in a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

pub(super) type Lexed<T> = Result<T, Box<Fault>>;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Moves to a position returned by [`position`](Self::position).
    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// The byte at this position.
    #[inline(always)]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte outside of white space and comments.
    ///
    /// # Errors
    ///
    /// A fault for a comment without end.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Lexed<Option<u8>> {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                b'/' => self.comment()?,
                _ => return Ok(Some(byte)),
            }
        }
        Ok(None)
    }

    #[cold]
    fn comment(&mut self) -> Lexed<()> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Ok(());
        }
        if !rest.starts_with("/*") {
            return Err(self.fault(start, "expected a comment, got '/'"));
        }
        match rest[2..].find("*/") {
            Some(length) => {
                self.at += length + 4;
                Ok(())
            }
            None => Err(self.fault(start, "the comment has no end")),
        }
    }

    /// Takes the next byte if equal to `byte`.
    #[inline(always)]
    pub(super) fn eat(&mut self, byte: u8) -> Lexed<bool> {
        let found = self.peek()? == Some(byte);
        self.at += usize::from(found);
        Ok(found)
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, byte: u8) -> Lexed<()> {
        if self.eat(byte)? {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{}'", char::from(byte))))
    }

    /// Advances in a list; returns false after consuming `close`. A trailing comma is
    /// allowed.
    #[inline(always)]
    pub(super) fn more(&mut self, is_first: bool, close: u8) -> Lexed<bool> {
        if self.eat(close)? {
            return Ok(false);
        }
        if is_first {
            return Ok(true);
        }
        if !self.eat(b',')? {
            return Err(self.unexpected(&format!("',' or '{}'", char::from(close))));
        }
        Ok(!self.eat(close)?)
    }

    /// The next token, a name with its sigil.
    pub(super) fn name(&mut self) -> Lexed<&'a str> {
        let start = self.at;
        self.at += 1;
        self.take_while(is_name_char);
        if self.at == start + 1 {
            let what = format!("expected a name after '{}'", &self.text[start..self.at]);
            return Err(self.fault(start, &what));
        }
        Ok(&self.text[start..self.at])
    }

    /// True if a name is next.
    pub(super) fn is_name(byte: Option<u8>) -> bool {
        byte.and_then(Sigil::of).is_some()
    }

    /// A word without dots, or nothing.
    pub(super) fn word(&mut self) -> &'a str {
        let start = self.at;
        if self.text[start..].starts_with(starts_word) {
            self.take_while(is_word_char);
        }
        &self.text[start..self.at]
    }

    /// Words with dots between them.
    #[inline]
    pub(super) fn dotted_word(&mut self) -> &'a str {
        let start = self.at;
        self.word();
        while self.byte() == Some(b'.') && self.text[self.at + 1..].starts_with(starts_word) {
            self.at += 1;
            self.word();
        }
        &self.text[start..self.at]
    }

    #[inline]
    fn take_while(&mut self, accept: impl Fn(char) -> bool) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if byte.is_ascii() {
                if !accept(char::from(byte)) {
                    return;
                }
                self.at += 1;
            } else {
                match self.text[self.at..].chars().next() {
                    Some(c) if accept(c) => self.at += c.len_utf8(),
                    _ => return,
                }
            }
        }
    }

    /// The characters of the next token, a number with its sign.
    pub(super) fn number(&mut self) -> &'a str {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        let is_hex = self.text[self.at..].starts_with("0x");
        while let Some(byte) = self.byte() {
            let before = self.text.as_bytes()[self.at - usize::from(self.at > start)];
            let is_sign = matches!(byte, b'+' | b'-')
                && self.at > start
                && !is_hex
                && matches!(before, b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || is_sign) {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A string in quotes, with resolved escapes.
    pub(super) fn string(&mut self) -> Lexed<Cow<'a, str>> {
        if self.peek()? != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        let opening = self.at;
        self.at += 1;
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
                }
                b'\\' => return self.escaped(opening, start).map(Cow::Owned),
                b'\n' => break,
                _ => self.at += 1,
            }
        }
        Err(self.no_end(opening))
    }

    #[cold]
    fn no_end(&self, opening: usize) -> Box<Fault> {
        let mut fault = self.fault(opening, "the string has no end on its line");
        fault.end = self.at;
        fault
    }

    #[cold]
    fn escaped(&mut self, opening: usize, start: usize) -> Lexed<String> {
        let bytes = self.text.as_bytes();
        let mut out = self.text[start..self.at].to_owned();
        let mut run = self.at;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    out.push_str(&self.text[run..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    out.push_str(&self.text[run..self.at]);
                    let escape_start = self.at;
                    let code = self.escape()?;
                    let Some(c) = char::from_u32(code) else {
                        return Err(
                            self.fault(escape_start, "the escape does not denote a character")
                        );
                    };
                    out.push(c);
                    run = self.at;
                }
                b'\n' => break,
                _ => self.at += 1,
            }
        }
        Err(self.no_end(opening))
    }

    /// A byte string, after its `b`.
    pub(super) fn bytes(&mut self) -> Lexed<Vec<u8>> {
        let opening = self.at;
        self.at += 1;
        let bytes = self.text.as_bytes();
        let mut out = Vec::new();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    let escape_start = self.at;
                    match u8::try_from(self.escape()?) {
                        Ok(byte) => out.push(byte),
                        Err(_) => {
                            return Err(
                                self.fault(escape_start, "the escape does not denote a byte")
                            );
                        }
                    }
                }
                b'\n' => break,
                0x20..0x7f => {
                    out.push(byte);
                    self.at += 1;
                }
                _ => return Err(self.fault(self.at, "expected \\x and two digits for this byte")),
            }
        }
        Err(self.no_end(opening))
    }

    /// Takes an escape sequence.
    fn escape(&mut self) -> Lexed<u32> {
        let start = self.at;
        self.at += 2;
        let digits = match self.text.as_bytes().get(start + 1) {
            Some(b'n') => return Ok(u32::from(b'\n')),
            Some(b'r') => return Ok(u32::from(b'\r')),
            Some(b't') => return Ok(u32::from(b'\t')),
            Some(b'0') => return Ok(0),
            Some(&byte @ (b'"' | b'\\' | b'\'')) => return Ok(u32::from(byte)),
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => {
                self.at = start + 1;
                return Err(self.fault(start, "unknown escape sequence in a string"));
            }
        };
        let code = self.text.as_bytes().get(self.at..self.at + digits);
        let is_hex = |code: &&[u8]| code.iter().all(u8::is_ascii_hexdigit);
        let code = code
            .filter(is_hex)
            .and_then(|_| u32::from_str_radix(&self.text[self.at..self.at + digits], 16).ok());
        let Some(code) = code else {
            let what = format!("expected {digits} hexadecimal digits in the escape sequence");
            return Err(self.fault(start, &what));
        };
        self.at += digits;
        Ok(code)
    }

    /// The fault about an unexpected token here.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &str) -> Box<Fault> {
        if let Err(fault) = self.peek() {
            return fault;
        }
        let start = self.at;
        let end = self.end_of_word();
        let got = match &self.text[start..end] {
            "" => "the end of the text".to_owned(),
            text => format!("'{}'", shown(text)),
        };
        let mut fault = self.fault(start, &format!("expected {expected}, got {got}"));
        fault.end = end;
        fault
    }

    /// The end of the next word, as seen by people.
    fn end_of_word(&self) -> usize {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            return self.at;
        };
        let length = match first {
            '%' | '@' | '#' => {
                1 + rest[1..]
                    .find(|c| !is_name_char(c))
                    .unwrap_or(rest.len() - 1)
            }
            c if is_word_char(c) => rest.find(|c| !is_name_char(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        self.at + length
    }

    /// A fault between a position and the current position.
    #[cold]
    pub(super) fn fault(&self, start: usize, message: &str) -> Box<Fault> {
        self.fault_of(ErrorKind::Value, start, message)
    }

    #[cold]
    pub(super) fn fault_of(&self, kind: ErrorKind, start: usize, message: &str) -> Box<Fault> {
        Box::new(Fault {
            kind,
            start,
            end: self.at,
            message: message.to_owned(),
        })
    }
}
