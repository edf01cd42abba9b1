//! The one error type of the library.

mod trace;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

pub use self::trace::ErrorFrame;
pub use self::trace::HostTraceback;
use self::trace::Trace;
use crate::kernel::path::AccessPath;

/// The result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault an error is, and which exception a host language raises for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value is of a type that the operation does not support.
    Type,
    /// A value has the right type and a wrong content.
    Value,
    /// A key is not in a map.
    Key,
    /// A type has no such field.
    Attribute,
    /// A position is outside a sequence.
    Index,
    /// User code nested too deeply.
    Recursion,
    /// A file could not be read or written.
    Io,
    /// User code failed with an error of its own.
    Runtime,
}

impl ErrorKind {
    /// The name of the kind, as Python spells its exceptions.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Type => "TypeError",
            ErrorKind::Value => "ValueError",
            ErrorKind::Key => "KeyError",
            ErrorKind::Attribute => "AttributeError",
            ErrorKind::Index => "IndexError",
            ErrorKind::Recursion => "RecursionError",
            ErrorKind::Io => "OSError",
            ErrorKind::Runtime => "RuntimeError",
        }
    }
}

/// An error: a stable kind, a message, and where it happened.
///
/// Shown with `{}` it is one line. With `{:#}`, and as `Debug`, which is what
/// Rust prints for an error that `main` returns, the [traceback](Self::traceback)
/// goes before that line if there is more to it than where the error was made.
///
/// ```
/// use isoform::{Error, ErrorKind};
/// let error = Error::value_error("expected a positive number, got -1");
/// assert_eq!(error.kind(), ErrorKind::Value);
/// assert_eq!(error.to_string(), "ValueError: expected a positive number, got -1");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The name of a kind that is none of the stable ones.
    kind_name: Option<Box<str>>,
    message: String,
    path: Option<AccessPath>,
    /// Whether the message says the path.
    says_path: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
    trace: Trace,
}

impl Error {
    /// An error of any kind.
    #[track_caller]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            kind_name: None,
            message: message.into(),
            path: None,
            says_path: false,
            source: None,
            trace: Trace::new(Location::caller()),
        }))
    }

    /// An error of a kind of one's own, an [`ErrorKind::Runtime`] to those who
    /// do not know it. A host language raises the exception that is registered
    /// there under the name.
    ///
    /// ```
    /// let error = isoform::Error::of_kind("ShapeError", "3 is not 4");
    /// assert_eq!(error.kind_name(), "ShapeError");
    /// assert_eq!(error.to_string(), "ShapeError: 3 is not 4");
    /// ```
    #[track_caller]
    pub fn of_kind(name: &str, message: impl Into<String>) -> Self {
        let mut error = Error::new(ErrorKind::Runtime, message);
        error.0.kind_name = Some(name.into());
        error
    }

    /// An [`ErrorKind::Type`] error.
    #[track_caller]
    pub fn type_error(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Type, message)
    }

    /// An [`ErrorKind::Value`] error.
    #[track_caller]
    pub fn value_error(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Value, message)
    }

    /// An [`ErrorKind::Runtime`] error that carries user code's own error.
    #[track_caller]
    pub fn from_source(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let source = source.into();
        let mut error = Error::new(ErrorKind::Runtime, source.to_string());
        error.0.source = Some(source);
        error
    }

    /// The same error, with the place inside the compared or walked value.
    #[must_use]
    pub fn at(mut self, path: AccessPath) -> Self {
        self.0.path = Some(path);
        self
    }

    /// As [`at`](Self::at), of an error whose message shows the place.
    #[must_use]
    pub(crate) fn at_shown(mut self, path: AccessPath) -> Self {
        self.0.says_path = true;
        self.at(path)
    }

    /// The same error, with the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error as an exception of a host language: what it is called
    /// there, and how its traceback is written. For bindings.
    #[must_use]
    pub fn from_host(mut self, class_name: &str, traceback: HostTraceback) -> Self {
        if class_name != self.0.kind.name() {
            self.0.kind_name = Some(class_name.into());
        }
        self.0.trace.host = Some(traceback);
        self
    }

    /// The same error, whose message says first what it is about.
    #[must_use]
    pub(crate) fn in_context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the kind, as Python spells it: that of [`kind`](Self::kind)
    /// unless the error is [of a kind](Self::of_kind) of its own, or an
    /// exception that came from a host language.
    pub fn kind_name(&self) -> &str {
        self.0.kind_name.as_deref().unwrap_or(self.0.kind.name())
    }

    /// The message, without kind and path.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The message with the path behind it, unless it shows the place itself.
    ///
    /// ```
    /// use isoform::{AccessPath, Error};
    /// let error = Error::value_error("expected int").at(AccessPath::root().attr("n"));
    /// assert_eq!(error.message_with_path(), "expected int (at <root>.n)");
    /// ```
    pub fn message_with_path(&self) -> Cow<'_, str> {
        let message = &self.0.message;
        match &self.0.path {
            Some(path) if !self.0.says_path => {
                // Behind a picture of several lines, it would stand in the picture.
                let gap = if message.contains('\n') { '\n' } else { ' ' };
                format!("{message}{gap}(at {path})").into()
            }
            _ => message.into(),
        }
    }

    /// Where in the value it happened, if known.
    pub fn path(&self) -> Option<&AccessPath> {
        self.0.path.as_ref()
    }

    /// The error of user code inside, to be downcast to its own type.
    pub fn into_source(self) -> Option<Box<dyn StdError + Send + Sync>> {
        self.0.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() && self.has_traceback() {
            return f.write_str(&self.traceback());
        }
        write!(f, "{}: {}", self.kind_name(), self.message_with_path())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<std::io::Error> for Error {
    #[track_caller]
    fn from(error: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, error.to_string()).caused_by(error)
    }
}
