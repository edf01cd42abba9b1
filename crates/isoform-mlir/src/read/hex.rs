//! The bytes of dense literals in hex.

use super::cursor::Cursor;
use super::fault::{Read, refuse};
use super::lexer::{Token, nibble};
use super::numbers::Element;

/// The bytes of `"0x…"`, for this number of elements if it is known.
pub(super) fn hex_bytes(
    cursor: &Cursor<'_>,
    token: Token,
    element: Element,
    count: Option<i64>,
) -> Read<Vec<u8>> {
    let Some(mut bytes) = hex_string(cursor.slice(token)) else {
        return refuse(token, "expected \"0x\" and pairs of hex digits");
    };
    let size = element.bytes();
    if let Some(count) = count.and_then(|count| usize::try_from(count).ok()) {
        if element.is_bool() && count > 8 && bytes.len() == count.div_ceil(8) {
            // Older versions write eight elements to a byte.
            let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1;
            return Ok((0..count).map(bit).collect());
        }
        if bytes.len() != count.saturating_mul(size) && bytes.len() != size {
            let message = format!(
                "expected {size} bytes for each of {count} elements, or for one, got {} bytes",
                bytes.len()
            );
            return refuse(token, message);
        }
    }
    drop_padding(&mut bytes, element);
    Ok(bytes)
}

/// Clears the bits of each number that its type lacks; any bit makes a bool true.
fn drop_padding(bytes: &mut [u8], element: Element) {
    let number = element.number;
    if element.is_bool() {
        bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::from(*byte != 0));
    } else if !number.bits().is_multiple_of(8) {
        let mask = (1 << (number.bits() % 8)) - 1;
        let last = bytes.iter_mut().skip(number.bytes() - 1);
        last.step_by(number.bytes()).for_each(|byte| *byte &= mask);
    }
}

/// The bytes of a string token `"0x…"`.
pub(super) fn hex_string(slice: &[u8]) -> Option<Vec<u8>> {
    let digits = slice.strip_prefix(b"\"0x")?.strip_suffix(b"\"")?;
    if digits.len() % 2 != 0 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut all = 0;
    for pair in digits.chunks_exact(2) {
        let (high, low) = (nibble(pair[0]), nibble(pair[1]));
        all |= high | low;
        bytes.push(high << 4 | low);
    }
    // Only a byte that is not a digit has a bit above four.
    (all < 16).then_some(bytes)
}
