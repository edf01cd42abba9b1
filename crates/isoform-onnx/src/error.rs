//! Errors while reading a model, and where they happened.

use std::{error::Error, fmt};

/// The result of reading something from a model.
pub type Result<T, E = OnnxError> = std::result::Result<T, E>;

/// The kind of an [`OnnxError`], stable enough to match on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnnxErrorKind {
    /// A file could not be opened, read or mapped.
    Io,
    /// The content is malformed: not protobuf, not ONNX, or contradicting itself.
    Value,
    /// The content refers to a missing item.
    Key,
    /// The content is valid but uses something this crate does not read.
    Unsupported,
}

impl OnnxErrorKind {
    /// The lower-case name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Value => "value",
            Self::Key => "key",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for OnnxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error with its kind, the place in the model and a message.
///
/// An error displays as
/// `graph 'main' > node 'conv' (Conv) > attribute 'pads': message`.
#[derive(Debug)]
pub struct OnnxError {
    kind: OnnxErrorKind,
    /// Innermost place first, because callers add theirs on the way out.
    context: Vec<String>,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl OnnxError {
    /// Makes an error without a place.
    pub fn new(kind: OnnxErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            context: Vec::new(),
            message: message.into(),
            source: None,
        }
    }

    /// Makes an error of kind [`OnnxErrorKind::Value`].
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(OnnxErrorKind::Value, message)
    }

    /// Makes an error of kind [`OnnxErrorKind::Key`].
    pub fn key(message: impl Into<String>) -> Self {
        Self::new(OnnxErrorKind::Key, message)
    }

    /// Makes an error of kind [`OnnxErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(OnnxErrorKind::Unsupported, message)
    }

    /// Makes an error of kind [`OnnxErrorKind::Io`] from one of the operating system.
    pub fn io(message: impl fmt::Display, source: std::io::Error) -> Self {
        let message = format!("{message}: {source}");
        Self::new(OnnxErrorKind::Io, message).with_source(source)
    }

    /// Keeps the error that caused this one, whose text the message already contains.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds a place around the recorded places.
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.context.push(place.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> OnnxErrorKind {
        self.kind
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The places, outermost first.
    pub fn context(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.context.iter().rev().map(String::as_str)
    }
}

impl fmt::Display for OnnxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.context().enumerate() {
            let separator = if index == 0 { "" } else { " > " };
            write!(f, "{separator}{place}")?;
        }
        if !self.context.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for OnnxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

/// Converts to the library's error type, with the place in the message and the original
/// error as its source.
impl From<OnnxError> for isoform::Error {
    fn from(error: OnnxError) -> Self {
        let kind = match error.kind {
            OnnxErrorKind::Io => isoform::errors::ErrorKind::Io,
            OnnxErrorKind::Value => isoform::errors::ErrorKind::Value,
            OnnxErrorKind::Key => isoform::errors::ErrorKind::Key,
            OnnxErrorKind::Unsupported => isoform::errors::ErrorKind::Type,
        };
        isoform::Error::new(kind, error.to_string()).caused_by(error)
    }
}

/// Adds a place to the error of a result. The place is computed only on an error.
pub trait ResultExt<T> {
    /// Adds a place around the recorded places.
    ///
    /// # Errors
    ///
    /// Passes on the error of `self`.
    fn within<S: Into<String>>(self, place: impl FnOnce() -> S) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn within<S: Into<String>>(self, place: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| error.within(place()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_places_from_the_outside_in() {
        let result: Result<()> = Err(OnnxError::value("expected 4 ints, got 3"));
        let error = result
            .within(|| "attribute 'pads'")
            .within(|| format!("node '{}' ({})", "conv", "Conv"))
            .within(|| "graph 'main'")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "graph 'main' > node 'conv' (Conv) > attribute 'pads': expected 4 ints, got 3"
        );
        assert_eq!(error.context().next(), Some("graph 'main'"));
        assert_eq!(error.kind(), OnnxErrorKind::Value);
    }

    #[test]
    fn displays_without_a_place_and_keeps_the_source() {
        let error = OnnxError::io(
            "cannot open 'x'",
            std::io::Error::from(std::io::ErrorKind::NotFound),
        );
        assert!(error.to_string().starts_with("cannot open 'x': "));
        assert!(error.source().is_some());
        assert_eq!(error.kind().to_string(), "io");
    }
}
