//! The spelling of names and plain values, for the printer and the parser.

use std::fmt::Write;

use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::spell::{self, Style, spell};
use crate::kernel::value::{DType, DTypeCode, ValueRef};

/// The data type `void`, and its name.
pub(super) const VOID: DType = DType::new(DTypeCode::Handle, 0).with_lanes(0);
pub(super) const VOID_NAME: &str = "void";

/// Words before a parenthesis other than type keys.
pub(super) const TENSOR: &str = "Tensor";
pub(super) const DEVICE: &str = "device";
pub(super) const FUNCTION: &str = "func";

/// The place of parts that are left out.
pub(super) const ELLIPSIS: &str = "...";
/// The bytes of a string beyond which its rest is left out of a limited text.
const BEGINNING: usize = 1000;

/// The first character of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Sigil {
    /// Values of the program: `%`.
    Local,
    /// Singletons: `@`.
    Global,
    /// Large constants: `#`.
    Constant,
}

impl Sigil {
    pub(super) fn letter(self) -> char {
        match self {
            Sigil::Local => '%',
            Sigil::Global => '@',
            Sigil::Constant => '#',
        }
    }

    pub(super) fn of(byte: u8) -> Option<Sigil> {
        match byte {
            b'%' => Some(Sigil::Local),
            b'@' => Some(Sigil::Global),
            b'#' => Some(Sigil::Constant),
            _ => None,
        }
    }
}

/// True if a character may occur in a word, after the first.
pub(super) fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// True if a character may start a word.
pub(super) fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// True if a character may occur in a name, after the sigil.
pub(super) fn is_name_char(c: char) -> bool {
    is_word_char(c) || matches!(c, '.' | '$' | '-')
}

fn is_word(text: &str) -> bool {
    text.starts_with(starts_word) && text.chars().all(is_word_char)
}

/// Appends a type key, in quotes if the bare key could be read as another word.
pub(super) fn push_key(key: &str, out: &mut String) {
    if key.split('.').all(is_word) && ![TENSOR, DEVICE, FUNCTION].contains(&key) {
        out.push_str(key);
    } else {
        spell::string(key, out);
    }
}

/// Appends a field's name.
pub(super) fn push_field(name: &str, out: &mut String) {
    if is_word(name) {
        out.push_str(name);
    } else {
        spell::string(name, out);
    }
}

/// Appends a value without parts; returns false for a value with parts.
///
/// # Errors
///
/// `ValueError` for a data type without a name.
pub(super) fn push_plain(value: ValueRef<'_>, out: &mut String) -> Result<bool> {
    match value {
        ValueRef::DType(dtype) => push_dtype(dtype, out).map(|()| true),
        _ => Ok(spell(value, Style::Text, out)),
    }
}

/// Appends the beginning of a string or number that is too long for a limited text; false
/// if the value is short.
pub(super) fn push_beginning(value: ValueRef<'_>, out: &mut String) -> bool {
    match value {
        ValueRef::Str(text) if text.len() > BEGINNING => {
            let beginning = &text[..text.floor_char_boundary(BEGINNING)];
            spell(ValueRef::Str(beginning), Style::Text, out);
        }
        ValueRef::Bytes(bytes) if bytes.len() > BEGINNING => {
            spell(ValueRef::Bytes(&bytes[..BEGINNING]), Style::Text, out);
        }
        ValueRef::BigInt(number) if number.bits() > 8 * BEGINNING as u64 => {
            let _ = write!(out, "<{} bits>", number.bits());
        }
        _ => return false,
    }
    out.push_str(ELLIPSIS);
    true
}

/// Appends the name of a data type.
///
/// # Errors
///
/// `ValueError` without bits or lanes, and hence without a name.
pub(super) fn push_dtype(dtype: DType, out: &mut String) -> Result<()> {
    if dtype == VOID {
        out.push_str(VOID_NAME);
    } else if dtype.bits() == 0 || dtype.lanes() == 0 {
        return Err(Error::value_error(format!(
            "the dtype {dtype} has no bits and no name"
        )));
    } else {
        let _ = write!(out, "{dtype}");
    }
    Ok(())
}

/// Text for a comment: one line, without the end of a comment.
pub(super) fn comment_text(text: &str) -> String {
    let flat: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    flat.replace("*/", "* /")
}

/// A word or literal for a message, abbreviated if long.
pub(super) fn shown(text: &str) -> String {
    let mut end = text.len().min(display::KEY_BUDGET);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let rest = if end < text.len() { "..." } else { "" };
    format!("{}{rest}", &text[..end])
}
