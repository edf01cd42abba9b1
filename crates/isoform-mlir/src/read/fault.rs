//! Mistakes in a text, with the place.

use std::ops::Range;

use isoform::Error;
use isoform::errors::ErrorKind;
use isoform::plumbing::text_error;

/// The result of reading a part of the text.
pub(super) type Read<T> = Result<T, Fault>;

/// A mistake: a range of bytes, and the reason.
#[derive(Debug)]
pub(super) struct Fault(Box<(Range<usize>, String)>);

impl Fault {
    /// A mistake at a token or a range of bytes.
    pub(super) fn new(place: impl Into<Range<usize>>, message: impl Into<String>) -> Fault {
        Fault(Box::new((place.into(), message.into())))
    }

    /// The error with line, column and the line itself. `name` names the text.
    pub(super) fn into_error(self, name: &str, text: &[u8]) -> Error {
        let (range, message) = *self.0;
        if let Ok(text) = std::str::from_utf8(text) {
            return text_error(name, text, ErrorKind::Value, range, message);
        }
        let shown = |end: usize| String::from_utf8_lossy(&text[..end.min(text.len())]).len();
        let range = shown(range.start)..shown(range.end);
        let lossy = String::from_utf8_lossy(text);
        text_error(name, &lossy, ErrorKind::Value, range, message)
    }
}

/// The failure to read what is at a token or a range of bytes.
pub(super) fn refuse<T>(place: impl Into<Range<usize>>, message: impl Into<String>) -> Read<T> {
    Err(Fault::new(place, message))
}
