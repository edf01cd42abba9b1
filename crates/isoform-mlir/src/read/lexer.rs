//! From bytes to tokens.
//!
//! A token is a kind and a range of bytes; nothing is copied. No word is reserved, so
//! keywords are bare identifiers here.

use std::ops::Range;

use super::fault::{Read, refuse};

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// A word, which may contain dots.
    Word,
    /// A decimal integer.
    Integer,
    /// An integer with `0x`.
    Hex,
    /// A decimal number with a dot.
    Float,
    /// A string, with its quotes.
    String,
    /// `%name`.
    Value,
    /// `^name`.
    Block,
    /// `!name`.
    Type,
    /// `#name`.
    Attribute,
    /// `@name` or `@"name"`.
    Symbol,
    /// `->`.
    Arrow,
    /// `...`.
    Ellipsis,
    /// `{-#`.
    OpenResources,
    /// `#-}`.
    CloseResources,
    /// A character.
    Mark(u8),
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl From<Token> for Range<usize> {
    fn from(token: Token) -> Self {
        token.start..token.end
    }
}

const SPACE: u8 = 1;
const WORD_START: u8 = 2;
const WORD: u8 = 4;
const SUFFIX_START: u8 = 8;
const SUFFIX: u8 = 16;
const DIGIT: u8 = 32;
/// A byte inside of a string that needs a closer look.
const STRING_STOP: u8 = 64;

/// The roles of each byte.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        let mut roles = 0;
        if matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0) {
            roles |= SPACE;
        }
        if c.is_ascii_alphabetic() || c == b'_' {
            roles |= WORD_START;
        }
        if c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.') {
            roles |= WORD;
        }
        if c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'.' | b'-') {
            roles |= SUFFIX_START;
        }
        if c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.' | b'-') {
            roles |= SUFFIX;
        }
        if c.is_ascii_digit() {
            roles |= DIGIT;
        }
        if matches!(c, b'"' | b'\\' | b'\n' | 0x0b | 0x0c) {
            roles |= STRING_STOP;
        }
        class[byte] = roles;
        byte += 1;
    }
    class
};

fn is(byte: u8, roles: u8) -> bool {
    CLASS[usize::from(byte)] & roles != 0
}

/// True for a byte that may begin a word.
pub(crate) fn starts_word(byte: u8) -> bool {
    is(byte, WORD_START)
}

/// True for a byte that may continue a word.
pub(crate) fn continues_word(byte: u8) -> bool {
    is(byte, WORD)
}

/// The position after white space.
pub(super) fn skip_blank(text: &[u8], at: usize) -> usize {
    run(text, at, SPACE)
}

/// True for a whole word, as keys are written without quotes.
pub(crate) fn is_word(text: &[u8]) -> bool {
    text.first().is_some_and(|&byte| starts_word(byte))
        && text.iter().all(|&byte| continues_word(byte))
}

/// The position after a run of bytes with one of the roles.
fn run(text: &[u8], from: usize, roles: u8) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|&&byte| is(byte, roles)).count()
}

/// The position after white space and comments.
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    loop {
        at = run(text, at, SPACE);
        if text[at.min(text.len())..].starts_with(b"//") {
            let rest = text[at..].iter();
            at += rest
                .take_while(|&&byte| byte != b'\n' && byte != b'\r')
                .count();
        } else {
            return at;
        }
    }
}

/// The next token at or after a position.
pub(super) fn next_token(text: &[u8], from: usize) -> Read<Token> {
    let start = skip_space(text, from);
    let token = |kind, end| Ok(Token { kind, start, end });
    let Some(&first) = text.get(start) else {
        return token(Kind::End, start);
    };
    if is(first, WORD_START) {
        return token(Kind::Word, run(text, start + 1, WORD));
    }
    if is(first, DIGIT) {
        let (kind, end) = number(text, start);
        return token(kind, end);
    }
    let rest = &text[start..];
    match first {
        b'%' => token(Kind::Value, suffix(text, start, "a value, such as %0")?),
        b'^' => token(Kind::Block, suffix(text, start, "a block, such as ^bb0")?),
        b'!' => token(Kind::Type, suffix(text, start, "a type, such as !x.t")?),
        b'#' if rest.starts_with(b"#-}") => token(Kind::CloseResources, start + 3),
        b'#' => token(
            Kind::Attribute,
            suffix(text, start, "an attribute, such as #x.a")?,
        ),
        b'@' => match rest.get(1) {
            Some(b'"') => token(Kind::Symbol, string_end(text, start + 1)?),
            Some(&byte) if is(byte, WORD_START) => token(Kind::Symbol, run(text, start + 2, WORD)),
            _ => refuse(start..start + 1, "expected a symbol, such as @f, got '@'"),
        },
        b'"' => token(Kind::String, string_end(text, start)?),
        b'-' if rest.starts_with(b"->") => token(Kind::Arrow, start + 2),
        b'.' if rest.starts_with(b"...") => token(Kind::Ellipsis, start + 3),
        b'{' if rest.starts_with(b"{-#") => token(Kind::OpenResources, start + 3),
        b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'?'
        | b'+' | b'-' | b'*' | b'|' => token(Kind::Mark(first), start + 1),
        _ => refuse(
            start..start + 1,
            format!("expected a token, got {}", spelled(rest)),
        ),
    }
}

/// The end of a number, and its kind.
pub(super) fn number(text: &[u8], start: usize) -> (Kind, usize) {
    let hex = |byte: &u8| byte.is_ascii_hexdigit();
    if text[start..].starts_with(b"0x") && text.get(start + 2).is_some_and(hex) {
        let digits = text[start + 2..]
            .iter()
            .take_while(|byte| hex(byte))
            .count();
        return (Kind::Hex, start + 2 + digits);
    }
    let whole = run(text, start, DIGIT);
    if text.get(whole) != Some(&b'.') {
        return (Kind::Integer, whole);
    }
    let fraction = run(text, whole + 1, DIGIT);
    if let Some(b'e' | b'E') = text.get(fraction) {
        let sign = matches!(text.get(fraction + 1), Some(b'+' | b'-'));
        let digits = fraction + 1 + usize::from(sign);
        if text.get(digits).is_some_and(|&byte| is(byte, DIGIT)) {
            return (Kind::Float, run(text, digits, DIGIT));
        }
    }
    (Kind::Float, fraction)
}

/// The end of an identifier with a sigil.
pub(super) fn suffix(text: &[u8], start: usize, expected: &str) -> Read<usize> {
    match text.get(start + 1) {
        Some(&byte) if is(byte, DIGIT) => Ok(run(text, start + 2, DIGIT)),
        Some(&byte) if is(byte, SUFFIX_START) => Ok(run(text, start + 2, SUFFIX)),
        _ => refuse(
            start..start + 1,
            format!("expected {expected}, got {}", spelled(&text[start..])),
        ),
    }
}

/// The end of the string that begins with the quote at a position.
pub(super) fn string_end(text: &[u8], quote: usize) -> Read<usize> {
    let mut at = quote + 1;
    loop {
        let rest = &text[at.min(text.len())..];
        at += rest
            .iter()
            .take_while(|&&byte| !is(byte, STRING_STOP))
            .count();
        match (text.get(at), text.get(at + 1)) {
            (Some(b'"'), _) => return Ok(at + 1),
            (Some(b'\\'), Some(b'\\' | b'"' | b'n' | b't')) => at += 2,
            (Some(b'\\'), Some(byte)) if byte.is_ascii_hexdigit() => {
                if !text.get(at + 2).is_some_and(u8::is_ascii_hexdigit) {
                    return refuse(at..at + 2, "expected two hex digits after '\\'");
                }
                at += 3;
            }
            (Some(b'\\'), _) => {
                let message = "expected '\\\\', '\\\"', '\\n', '\\t' or two hex digits after '\\'";
                return refuse(at..at + 1, message);
            }
            _ => {
                let message = "expected '\"' at the end of the string, got the end of the line";
                return refuse(quote..at, message);
            }
        }
    }
}

/// The bytes of a string token, quotes included.
pub(super) fn unescape(token: &[u8]) -> Vec<u8> {
    let inner = token
        .get(1..token.len().saturating_sub(1))
        .unwrap_or_default();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        if byte != b'\\' {
            bytes.push(byte);
            at += 1;
            continue;
        }
        let next = inner.get(at + 1).copied().unwrap_or_default();
        at += 2;
        match next {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'\\' | b'"' => bytes.push(next),
            _ => {
                let low = inner.get(at).copied().unwrap_or_default();
                bytes.push(nibble(next) << 4 | nibble(low));
                at += 1;
            }
        }
    }
    bytes
}

/// The value of each hex digit; 16 for other bytes.
const NIBBLES: [u8; 256] = {
    let mut nibbles = [16; 256];
    let mut digit = 0;
    while digit < 16 {
        nibbles[b"0123456789abcdef"[digit] as usize] = digit as u8;
        nibbles[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    nibbles
};

/// The value of a hex digit; 16 for another byte.
pub(super) fn nibble(digit: u8) -> u8 {
    NIBBLES[usize::from(digit)]
}

/// The first character of a text, for messages.
pub(super) fn spelled(text: &[u8]) -> String {
    let head = String::from_utf8_lossy(&text[..text.len().min(4)]);
    match head.chars().next() {
        None => "the end of the text".to_owned(),
        Some(c) if c.is_control() => format!("the character U+{:04X}", u32::from(c)),
        Some(c) => format!("'{c}'"),
    }
}
