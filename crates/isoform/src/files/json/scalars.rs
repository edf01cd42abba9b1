//! Numbers and strings as JSON.

use std::fmt::Write;

use num_bigint::BigInt;

use crate::kernel::error::{Error, Result};

pub(super) const MAX_DIGITS: usize = 100_000;

/// Appends the shortest digits that read back as the same float.
pub(super) fn push_float(number: f64, out: &mut String) {
    if number.is_nan() {
        out.push_str("NaN");
    } else if number.is_infinite() {
        out.push_str(if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
    } else {
        // Writing to a string cannot fail.
        let _ = write!(out, "{number:?}");
    }
}

/// Appends a string in quotes.
pub(super) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    let mut run = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => {
                out.push_str(&text[run..index]);
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
                run = index + 1;
                continue;
            }
            _ => continue,
        };
        out.push_str(&text[run..index]);
        out.push_str(escape);
        run = index + 1;
    }
    out.push_str(&text[run..]);
    out.push('"');
}

/// Appends the digits of a large number.
pub(super) fn push_big(number: &BigInt, out: &mut String) -> Result<()> {
    // Ten bits are a little more than three digits.
    if number.bits() / 10 * 3 > MAX_DIGITS as u64 {
        return Err(Error::value_error(format!(
            "expected an int of at most {MAX_DIGITS} digits, got one of {} bits",
            number.bits()
        )));
    }
    out.push_str(&number.to_string());
    Ok(())
}
