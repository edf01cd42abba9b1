//! Tokens of JSON text, read one at a time at the reader's request.
//!
//! The crate `jiter` is not used: it takes 1.5 times as many instructions to read the
//! nodes of workload W at depth 16, and has neither our errors nor a way to read from
//! an earlier position.

use std::borrow::Cow;

use crate::kernel::error::{Error, Result};

/// A position in JSON text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// A number as written in the text.
#[derive(Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) digits: &'a str,
    /// True without fraction and exponent.
    pub(super) is_integer: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Moves to a position returned by [`position`](Self::position).
    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// The next byte other than white space.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes the next byte if equal to `byte`.
    #[inline(always)]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{}'", char::from(byte))))
    }

    /// Consumes a word if next in the text.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.peek();
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Advances in a list; returns false after consuming `close`. `first` is true before
    /// the first element.
    #[inline(always)]
    pub(super) fn more(&mut self, first: bool, close: u8) -> Result<bool> {
        if self.eat(close) {
            return Ok(false);
        }
        if !first && !self.eat(b',') {
            return Err(self.unexpected(&format!("',' or '{}'", char::from(close))));
        }
        Ok(true)
    }

    /// Consumes the next string if equal to `word`, written without escapes; `word`
    /// must not contain characters that need escapes.
    #[inline(always)]
    pub(super) fn eat_string(&mut self, word: &str) -> bool {
        if self.peek() != Some(b'"') {
            return false;
        }
        let rest = &self.text.as_bytes()[self.at + 1..];
        let found = rest.starts_with(word.as_bytes()) && rest.get(word.len()) == Some(&b'"');
        self.at += if found { word.len() + 2 } else { 0 };
        found
    }

    /// A string with its escapes resolved.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        if !self.eat(b'"') {
            return Err(self.unexpected("a string"));
        }
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let text = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Cow::Borrowed(text));
                }
                b'\\' => return self.escaped_string(start).map(Cow::Owned),
                0..0x20 => return Err(self.control_character()),
                _ => self.at += 1,
            }
        }
        Err(self.unexpected("the end of a string"))
    }

    #[cold]
    fn control_character(&self) -> Error {
        self.fail("expected an escape sequence, got a control character in a string")
    }

    #[cold]
    fn escaped_string(&mut self, start: usize) -> Result<String> {
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
                    self.at += 1;
                    out.push(self.escape()?);
                    run = self.at;
                }
                0..0x20 => return Err(self.control_character()),
                _ => self.at += 1,
            }
        }
        Err(self.unexpected("the end of a string"))
    }

    /// Reads the rest of an escape, after the backslash.
    fn escape(&mut self) -> Result<char> {
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return Err(self.unexpected("an escape sequence"));
        };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => {
                self.at -= 1;
                return Err(self.fail("unknown escape sequence in a string"));
            }
        })
    }

    fn unicode_escape(&mut self) -> Result<char> {
        let start = self.at;
        let first = self.four_digits()?;
        let code = match first {
            0xd800..0xdc00 => {
                let rest = &self.text.as_bytes()[self.at..];
                if !rest.starts_with(b"\\u") {
                    return Err(self.lone_surrogate(start));
                }
                self.at += 2;
                match self.four_digits()? {
                    second @ 0xdc00..0xe000 => {
                        0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                    }
                    _ => return Err(self.lone_surrogate(start)),
                }
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.lone_surrogate(start))
    }

    fn lone_surrogate(&mut self, start: usize) -> Error {
        self.at = start;
        self.fail("invalid UTF-16: half of a surrogate pair in a string")
    }

    fn four_digits(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.as_bytes().get(self.at);
            let Some(digit) = digit.and_then(|&byte| char::from(byte).to_digit(16)) else {
                return Err(self.fail("expected four hexadecimal digits in a string"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// A number by the grammar of JSON.
    pub(super) fn number(&mut self) -> Result<Number<'a>> {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += usize::from(bytes.get(self.at) == Some(&b'-'));
        let first = self.at;
        let mut is_integer = true;
        let whole = self.digits();
        if whole == 0 {
            self.at = start;
            return Err(self.unexpected("a number"));
        }
        if whole > 1 && bytes[first] == b'0' {
            self.at = start;
            return Err(self.fail("a number must not start with zeros"));
        }
        if bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            is_integer = false;
            if self.digits() == 0 {
                return Err(self.unexpected("digits after the decimal point"));
            }
        }
        if let Some(b'e' | b'E') = bytes.get(self.at) {
            self.at += 1;
            is_integer = false;
            self.at += usize::from(matches!(bytes.get(self.at), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.unexpected("digits of an exponent"));
            }
        }
        Ok(Number {
            digits: &self.text[start..self.at],
            is_integer,
        })
    }

    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// An integer of 64 bits.
    #[inline]
    pub(super) fn int(&mut self) -> Result<i64> {
        let start = self.at;
        let number = self.number()?;
        if !number.is_integer {
            self.at = start;
            return Err(self.fail(&format!("expected an int, got {}", shown(number.digits))));
        }
        number.digits.parse().map_err(|_| {
            self.at = start;
            let digits = shown(number.digits);
            self.fail(&format!("int out of the 64-bit range: {digits}"))
        })
    }

    /// The number of a node.
    #[inline(always)]
    pub(super) fn index(&mut self) -> Result<u32> {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut index = 0u32;
        while let Some(digit) = bytes.get(self.at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            let next = index
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(u32::from(digit)));
            let Some(next) = next else {
                return Err(self.bad_index(start));
            };
            index = next;
            self.at += 1;
        }
        let leading_zero = self.at > start + 1 && bytes[start] == b'0';
        let goes_on = matches!(bytes.get(self.at), Some(b'.' | b'e' | b'E'));
        if self.at == start || leading_zero || goes_on {
            return Err(self.bad_index(start));
        }
        Ok(index)
    }

    #[cold]
    fn bad_index(&mut self, start: usize) -> Error {
        self.at = start;
        match self.number() {
            Ok(number) => {
                self.at = start;
                let digits = shown(number.digits);
                self.fail(&format!("expected the number of a node, got {digits}"))
            }
            Err(_) => {
                self.at = start;
                self.unexpected("the number of a node")
            }
        }
    }

    /// A float; an int is a float, too, like the words for NaN and infinity.
    pub(super) fn float(&mut self) -> Result<f64> {
        match self.peek() {
            Some(b'N') if self.word("NaN") => return Ok(f64::NAN),
            Some(b'I') if self.word("Infinity") => return Ok(f64::INFINITY),
            Some(b'-') if self.word("-Infinity") => return Ok(f64::NEG_INFINITY),
            _ => {}
        }
        let start = self.at;
        let number = self.number()?;
        // The standard parser turns too large numbers into infinity; nobody writes
        // infinity in digits.
        match number.digits.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(float),
            _ => {
                self.at = start;
                let digits = shown(number.digits);
                Err(self.fail(&format!("float out of range: {digits}")))
            }
        }
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        if self.word("true") {
            return Ok(true);
        }
        if self.word("false") {
            return Ok(false);
        }
        Err(self.unexpected("true or false"))
    }

    /// The error about an unexpected token here.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &str) -> Error {
        self.peek();
        let got = match self.text[self.at..].chars().next() {
            Some(found) => format!("{found:?}"),
            None => "the end of the text".to_owned(),
        };
        self.fail(&format!("expected {expected}, got {got}"))
    }

    /// An error at this position.
    #[cold]
    pub(super) fn fail(&self, what: &str) -> Error {
        Error::value_error(format!("{what} (byte {})", self.at))
    }
}

/// Digits for a message, abbreviated for a long number.
fn shown(digits: &str) -> &str {
    &digits[..digits.len().min(40)]
}
