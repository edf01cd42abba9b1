//! Bodies of dialects, strings and keys.

use isoform::{Array, Error, Result, Str};

use super::{Object, Piece, Writer};
use crate::read::lexer::is_word;

/// Writes a string with its quotes.
pub(super) fn write_string(bytes: &[u8], out: &mut String) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' if byte != b'"' => out.push(char::from(byte)),
            _ => {
                out.push('\\');
                super::numbers::write_hex(&[byte], out);
            }
        }
    }
    out.push('"');
}

/// Writes a key, in quotes unless it is a word.
pub(super) fn write_key(key: &str, out: &mut String) {
    if is_word(key.as_bytes()) {
        out.push_str(key);
    } else {
        write_string(key.as_bytes(), out);
    }
}

impl<'p> Writer<'p> {
    /// Writes a type or attribute of a dialect, after its sigil.
    pub(super) fn write_dialect(
        &mut self,
        dialect: &str,
        name: &Str,
        body: Option<&'p Array>,
    ) -> Result<()> {
        self.out.push_str(dialect);
        if !name.is_empty() {
            self.out.push('.');
            self.out.push_str(name);
        }
        let Some(body) = body else {
            if name.is_empty() {
                self.out.push_str("<>");
            }
            return Ok(());
        };
        self.out.push('<');
        let mut previous = "<";
        for token in body {
            match token.view() {
                isoform::values::ValueRef::Str(text) => {
                    if needs_space(previous, text) {
                        self.pieces.push(Piece::Text(" "));
                    }
                    self.pieces.push(Piece::Owned(text.to_owned()));
                    previous = text;
                }
                isoform::values::ValueRef::Object(_) => {
                    if needs_space(previous, "\"") {
                        self.pieces.push(Piece::Text(" "));
                    }
                    let object = token.peek::<Object>();
                    self.pieces.extend(object.map(Piece::Object));
                    previous = "\"";
                }
                isoform::values::ValueRef::Int(_) | isoform::values::ValueRef::BigInt(_) => {
                    if needs_space(previous, "0") {
                        self.pieces.push(Piece::Text(" "));
                    }
                    self.pieces.push(Piece::Owned(token.to_string()));
                    previous = "0";
                }
                _ => {
                    let got = token.type_name();
                    return Err(Error::type_error(format!("expected a token, got {got}")));
                }
            }
        }
        self.pieces.push(Piece::Text(">"));
        Ok(())
    }
}

/// True if a token must or should not touch the token before it.
fn needs_space(previous: &str, next: &str) -> bool {
    let opens = |text: &str| matches!(text, "<" | "(" | "[" | "{" | "-" | "!" | "#" | "@");
    let closes = |text: &str| matches!(text, ">" | ")" | "]" | "}" | "," | ":" | "<" | "(");
    if previous == "-" && next == ">" {
        return true;
    }
    let is_size = |text: &str| {
        // `4` and `xf32` are the sizes and the element of a shaped type.
        let digits = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit());
        digits && !text.starts_with("0x")
    };
    if is_size(previous) && next.starts_with('x') {
        let hex = previous == "0" && next.bytes().nth(1).is_some_and(|b| b.is_ascii_hexdigit());
        return hex;
    }
    !opens(previous) && !closes(next)
}
