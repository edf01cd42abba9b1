//! The tokens of a body, and the name that they begin with.

use isoform::{Str, Value};
use num_bigint::BigInt;

use super::cursor::text_of;
use super::fault::{Read, refuse};
use super::lexer::{
    Kind, Token, continues_word, is_word, number, skip_space, starts_word, string_end,
};

/// A name, and the tokens in brackets with their spaces.
pub(super) type Named = (Str, Option<(Vec<Value>, Vec<u8>)>);

/// Tokens, and for each of them 1 if white space precedes it.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) values: Vec<Value>,
    pub(super) spaces: Vec<u8>,
    /// White space before the next token.
    pub(super) space: u8,
}

impl Tokens {
    pub(super) fn push(&mut self, token: impl Into<Value>) {
        self.values.push(token.into());
        self.spaces.push(self.space);
        self.space = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn push_text(&mut self, text: &[u8]) {
        self.push(text_of(text));
    }

    /// Adds a token that is a word, a number or a character; returns its end.
    pub(super) fn push_plain(&mut self, text: &[u8], at: usize) -> Read<usize> {
        let rest = &text[at..];
        if rest.starts_with(b"->") {
            self.push_text(b"->");
            return Ok(at + 2);
        }
        if starts_word(rest[0]) {
            let end = at + word_length(rest);
            self.push_text(&text[at..end]);
            return Ok(end);
        }
        if rest[0].is_ascii_digit() {
            let (kind, end) = number(text, at);
            let spelling = &text[at..end];
            match kind {
                // By spelling, since `0x3` may be the dimension 0 and a word.
                Kind::Hex => {
                    let digits = spelling[2..].to_ascii_uppercase();
                    self.push_text(&[b"0x", digits.as_slice()].concat());
                }
                Kind::Float => self.push_text(plain_float(spelling).as_bytes()),
                _ if spelling.len() < 18 => {
                    let value = text_of(spelling).parse::<i64>().unwrap_or_default();
                    self.push(value);
                }
                _ if spelling.len() < 5_000 => {
                    let value = text_of(spelling).parse::<BigInt>().unwrap_or_default();
                    self.push(value);
                }
                _ => self.push_text(spelling),
            }
            return Ok(end);
        }
        let length =
            (1..=4.min(rest.len())).find(|&length| std::str::from_utf8(&rest[..length]).is_ok());
        match length {
            Some(length) => {
                self.push_text(&rest[..length]);
                Ok(at + length)
            }
            None => refuse(at..at + 1, "expected a body in UTF-8"),
        }
    }
}

/// A decimal number with a dot, without zeros that do not matter.
///
/// The number is exact: a dialect may read more digits than a double has.
fn plain_float(spelling: &[u8]) -> String {
    let text = std::str::from_utf8(spelling).unwrap_or_default();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i64>() else {
        return text.to_owned();
    };
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return "0.0".to_owned();
    }
    let dropped = (digits.len() - kept.len()) as i64;
    let exponent = exponent
        .saturating_sub(fraction.len() as i64)
        .saturating_add(dropped);
    match exponent {
        0..=20 => format!("{kept}{}.0", "0".repeat(exponent as usize)),
        -20..0 => {
            let places = exponent.unsigned_abs() as usize;
            let padded = format!(
                "{}{kept}",
                "0".repeat((places + 1).saturating_sub(kept.len()))
            );
            let (whole, fraction) = padded.split_at(padded.len() - places);
            format!("{whole}.{fraction}")
        }
        _ => format!("{kept}.0e{exponent}"),
    }
}

pub(super) fn word_length(text: &[u8]) -> usize {
    text.iter()
        .take_while(|&&byte| continues_word(byte))
        .count()
}

pub(super) fn starts_symbol(text: &[u8], at: usize) -> bool {
    text.get(at) == Some(&b'@')
        && text
            .get(at + 1)
            .is_some_and(|&byte| byte == b'"' || starts_word(byte))
}

/// The name and the tokens of `!dialect<tokens>`: `!x<name<…>>` is `!x.name<…>`.
pub(super) fn verbose(tokens: Tokens, pair_end: Option<usize>) -> Named {
    let Tokens { values, spaces, .. } = tokens;
    let name = values.first().and_then(Value::as_str).unwrap_or_default();
    let name: Option<Str> = is_word(name.as_bytes()).then(|| name.into());
    match name {
        _ if values.is_empty() => (Str::default(), None),
        Some(name) if values.len() == 1 => (name, None),
        Some(name) if pair_end == Some(values.len() - 1) => {
            let end = values.len() - 1;
            (
                name,
                Some((values[2..end].to_vec(), spaces[2..=end].to_vec())),
            )
        }
        _ => (Str::default(), Some((values, spaces))),
    }
}

/// The name and the tokens of `!dialect.name<tokens>`; a name that is not a word is a part
/// of the tokens, as MLIR prints it.
pub(super) fn pretty(name: &[u8], inner: Option<Tokens>) -> Read<Named> {
    if is_word(name) {
        return Ok((
            text_of(name),
            inner.map(|inner| (inner.values, inner.spaces)),
        ));
    }
    let mut tokens = Tokens::default();
    let mut at = 0;
    while at < name.len() {
        at = tokens.push_plain(name, at)?;
    }
    if let Some(mut inner) = inner {
        tokens.push_text(b"<");
        tokens.values.append(&mut inner.values);
        tokens.spaces.append(&mut inner.spaces);
        tokens.values.push(Value::from(">"));
    }
    tokens.spaces.push(0);
    Ok((Str::default(), Some((tokens.values, tokens.spaces))))
}

/// True if a token with `!` or `#` names an alias, not a type or attribute of a dialect.
pub(super) fn is_alias(text: &[u8], token: Token) -> bool {
    text.get(token.end) != Some(&b'<') && !text[token.start..token.end].contains(&b'.')
}

/// True for the beginning of `distinct[0]<…>`.
pub(super) fn is_distinct(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"distinct[") else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest[digits..].starts_with(b"]<")
}

/// True for the beginning of `dense_resource<key> : type`.
pub(super) fn is_resource(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"dense_resource<") else {
        return false;
    };
    let key = match rest.first() {
        Some(b'"') => string_end(rest, 0).unwrap_or(0),
        _ => word_length(rest),
    };
    let rest = &rest[key..];
    key > 0 && rest.starts_with(b">") && rest.get(skip_space(rest, 1)) == Some(&b':')
}
