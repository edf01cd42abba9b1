//! Bodies of dialects, strings and keys.

use isoform::values::{Bytes, ValueRef};
use isoform::{Array, Error, Result, Str};

use super::{Object, Piece, Writer};
use crate::nodes::{DialectAttr, DialectType, ResourceAttr, SymbolRefAttr};
use crate::read::lexer::{continues_word, is_word, starts_word};

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
        spaces: Option<&Bytes>,
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
        let spaces: Option<&[u8]> = spaces.map(|spaces| &**spaces);
        let spaces = spaces.filter(|spaces| spaces.len() == body.len() + 1);
        let mut previous = "<".to_owned();
        for (position, token) in body.iter().enumerate() {
            let (piece, text) = match token.view() {
                ValueRef::Str(text) => (Piece::Owned(text.to_owned()), text.to_owned()),
                ValueRef::Int(_) | ValueRef::BigInt(_) => {
                    (Piece::Owned(token.to_string()), token.to_string())
                }
                _ => match token.peek::<Object>() {
                    Some(object) => (Piece::Object(object), like(object).to_owned()),
                    None => {
                        let got = token.type_name();
                        return Err(Error::type_error(format!("expected a token, got {got}")));
                    }
                },
            };
            let has_space = match spaces {
                Some(spaces) => spaces[position] == 1 || merge(&previous, &text),
                None => merge(&previous, &text) || looks_better_apart(&previous, &text),
            };
            if has_space {
                self.pieces.push(Piece::Text(" "));
            }
            self.pieces.push(piece);
            previous = text;
        }
        if previous == "-" || spaces.is_some_and(|spaces| spaces.last() == Some(&1)) {
            self.pieces.push(Piece::Text(" "));
        }
        self.pieces.push(Piece::Text(">"));
        Ok(())
    }
}

/// A text that the next token may touch or not, as it may touch an object.
fn like(object: &Object) -> &'static str {
    let is_open = match (
        object.downcast_ref::<DialectType>(),
        object.downcast_ref::<DialectAttr>(),
    ) {
        (Some(ty), _) => ty.body.is_none(),
        (_, Some(attribute)) => attribute.body.is_none(),
        _ => object.isa::<ResourceAttr>(),
    };
    if is_open {
        "!x"
    } else if object.isa::<SymbolRefAttr>() {
        "@x"
    } else {
        "\"\""
    }
}

/// True if two tokens would be read as others without a space.
fn merge(previous: &str, next: &str) -> bool {
    let is_word = next
        .as_bytes()
        .first()
        .is_some_and(|&byte| continues_word(byte));
    if previous == "-" {
        return next.starts_with('>');
    }
    if previous.starts_with(['!', '#', '@']) {
        let is_name = !previous.starts_with('@') && next != "->";
        let is_suffix = is_name && next.starts_with(['-', '<']);
        let is_string = previous == "@" && next.starts_with('"');
        return is_word || is_suffix || is_string;
    }
    let first_of = |text: &str| text.bytes().next().unwrap_or_default();
    let is_word = starts_word(first_of(previous)) || first_of(previous).is_ascii_digit();
    if !is_word || !continues_word(first_of(next)) {
        return false;
    }
    let is_number = first_of(previous).is_ascii_digit();
    let first = first_of(next);
    let is_apart = first.is_ascii_alphabetic() || first == b'_';
    let second = next.as_bytes().get(1);
    let is_hex_digit = second.is_some_and(u8::is_ascii_hexdigit);
    let is_hex = previous == "0" && first == b'x' && is_hex_digit;
    let is_exponent = previous.contains('.') && matches!(first, b'e' | b'E');
    let is_digit = previous.starts_with("0x") && first.is_ascii_hexdigit();
    !is_number || !is_apart || is_hex || is_exponent || is_digit
}

/// True if a space between tokens is usual; for bodies that no file had.
fn looks_better_apart(previous: &str, next: &str) -> bool {
    let opens = matches!(previous, "<" | "(" | "[" | "{" | "-" | "!" | "#" | "@");
    let closes = matches!(next, ">" | ")" | "]" | "}" | "," | ":" | "<" | "(");
    // `4` and `xf32` are the size and the element of a shaped type.
    let is_size = previous.bytes().all(|byte| byte.is_ascii_digit()) && next.starts_with('x');
    !opens && !closes && !is_size
}
