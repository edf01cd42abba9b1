//! The spelling of plain values: messages, `repr` and the text form differ in a few
//! kinds only, and each difference is a line here.
//!
//! Values with parts, and the names of types and fields, are left to the printers.

use std::fmt::{self, Write};

use num_bigint::Sign;

use super::container::OpaqueObj;
use super::value::ValueRef;

/// For whom a value is spelled.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// For messages and `Debug`, in the spelling of Rust. Of strings, bytes and shapes,
    /// no more than this many elements are spelled.
    Message(usize),
    /// For `repr`, in the spelling of Python.
    Repr,
    /// For the text form, which is read back.
    Text,
}

/// Larger integers are read back from base 16, which takes linear time.
const DECIMAL_BITS: u64 = 2048;

/// The number of bits shown of a larger integer in a message.
const SHOWN_BITS: u64 = 64;

/// Appends a value without parts. Returns false, appending nothing, if the value has
/// parts, or if the text form has a special spelling for the value.
pub(crate) fn spell(value: ValueRef<'_>, style: Style, out: &mut String) -> bool {
    // Writing to a string cannot fail.
    write_plain(value, style, out).unwrap_or(true)
}

fn write_plain(value: ValueRef<'_>, style: Style, out: &mut String) -> Result<bool, fmt::Error> {
    use Style::Text;
    use Style::{Message, Repr};
    use ValueRef as V;
    match (value, style) {
        (V::None, _) => out.push_str("None"),
        (V::Bool(flag), _) => out.push_str(bool_text(flag)),
        (V::Int(number), _) => out.push_str(itoa::Buffer::new().format(number)),
        (V::BigInt(number), Text) if number.bits() > DECIMAL_BITS => write!(out, "{number:#x}")?,
        // Digits in base 10 take quadratic time.
        (V::BigInt(number), Message(limit)) if number.bits() / 3 > limit as u64 => {
            let sign = if number.sign() == Sign::Minus {
                "-"
            } else {
                ""
            };
            let first = number.magnitude() >> (number.bits() - SHOWN_BITS.min(number.bits()));
            write!(out, "{sign}{first:#x}... ({} bits)", number.bits())?;
        }
        (V::BigInt(number), _) => write!(out, "{number}")?,
        (V::Float(number), Message(_)) => write!(out, "{number:?}")?,
        (V::Float(number), _) => float(number, out),
        (V::DType(dtype), Message(_)) => write!(out, "dtype({dtype})")?,
        (V::DType(dtype), _) => write!(out, "{dtype}")?,
        (V::Device(device), Message(_)) => write!(out, "device({device})")?,
        (V::Device(device), Repr) => write!(out, "{device}")?,
        (V::Device(device), Text) => write!(out, "device(\"{device}\")")?,
        (V::Str(text), Message(limit)) => {
            let shown: String = text.chars().take(limit).collect();
            write!(out, "{shown:?}")?;
        }
        (V::Str(text), _) => string(text, out),
        (V::Bytes(bytes), Message(limit)) => {
            let shown = &bytes[..bytes.len().min(limit)];
            write!(out, "b\"{}\"", shown.escape_ascii())?;
        }
        (V::Bytes(bytes), _) => byte_string(bytes, out)?,
        (V::Shape(shape), _) => {
            let (limit, open, close) = match style {
                Message(limit) => (limit, "[", "]"),
                Repr => (usize::MAX, "(", ")"),
                Text => (usize::MAX, "[", "]"),
            };
            out.push_str("Shape");
            numbers(open, &shape[..shape.len().min(limit)], close, out);
        }
        (V::Tensor(tensor), Message(_)) => {
            write!(out, "Tensor({}, ", tensor.dtype())?;
            numbers("[", tensor.shape(), "])", out);
        }
        (V::Tensor(tensor), Repr) => {
            write!(out, "{}", tensor.dtype())?;
            numbers("[", tensor.shape(), "]@cpu:0", out);
        }
        (V::Function(function), Message(_)) => write!(out, "{function:?}")?,
        (V::Function(function), Repr) => match function.name() {
            Some(name) => write!(out, "Function({name})")?,
            None => out.push_str("Function"),
        },
        (V::Object(object), Message(_) | Repr) => match object.downcast_ref::<OpaqueObj>() {
            Some(opaque) => write!(out, "<{}>", opaque.type_name())?,
            None => return Ok(false),
        },
        _ => return Ok(false),
    }
    Ok(true)
}

pub(crate) fn bool_text(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

/// Appends integers between brackets.
pub(crate) fn numbers(open: &str, numbers: &[i64], close: &str, out: &mut String) {
    let mut digits = itoa::Buffer::new();
    out.push_str(open);
    for (position, number) in numbers.iter().enumerate() {
        out.push_str(if position > 0 { ", " } else { "" });
        out.push_str(digits.format(*number));
    }
    out.push_str(close);
}

/// Appends the shortest text that reads back as the same float, in the spelling of
/// Python.
pub(crate) fn float(number: f64, out: &mut String) {
    float_text(&format!("{number:?}"), out);
}

/// Appends the standard library's text of a float in the spelling of Python.
pub(crate) fn float_text(text: &str, out: &mut String) {
    match text.split_once('e') {
        None if text == "NaN" => out.push_str("nan"),
        None => out.push_str(text),
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or(0);
            // Writing to a string cannot fail.
            let _ = write!(out, "{digits}e{exponent:+03}");
        }
    }
}

/// Appends a string in double quotes, in the spelling of Python.
pub(crate) fn string(text: &str, out: &mut String) {
    out.push('"');
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.push_str(text)
    } else {
        // Writing to a string cannot fail.
        text.chars().try_for_each(|c| escape(c, out)).unwrap_or(())
    }
    out.push('"');
}

fn escape(c: char, out: &mut String) -> fmt::Result {
    let code = u32::from(c);
    match c {
        '"' => out.write_str("\\\""),
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\'' => out.write_char(c),
        // Characters that Rust escapes are not printable.
        _ if c.escape_debug().len() == 1 => out.write_char(c),
        _ if code < 0x100 => write!(out, "\\x{code:02x}"),
        _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    }
}

fn byte_string(bytes: &[u8], out: &mut String) -> fmt::Result {
    out.push_str("b\"");
    for &byte in bytes {
        match byte {
            0..0x80 => escape(char::from(byte), out)?,
            0x80.. => write!(out, "\\x{byte:02x}")?,
        }
    }
    out.push('"');
    Ok(())
}
