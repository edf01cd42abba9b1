//! The one error type of the library.
//!
//! An error has a stable kind named after a Python exception, an optional access path,
//! and a message naming the type or field, the expected and the given value. An error
//! records its origin and the functions of the core it passed through (`trace.rs`). An
//! exception of a host language travels as the source of an error, and the host writes
//! its part of the traceback.
//!
//! A panic is a bug, with one documented exception: using a Rust node type whose key
//! belongs to another definition. `register` reports this conflict as an error.

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

/// The kind of an error, and thus the exception raised by a host language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value is of a type unsupported by the operation.
    Type,
    /// A value has the right type but invalid content.
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
    /// User code failed with its own error.
    Runtime,
}

impl ErrorKind {
    /// The name of the kind in Python's spelling of exceptions.
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

/// An error: a stable kind, a message, and the place of the error.
///
/// `{}` shows the error in one line. With `{:#}`, and as `Debug` (used for an error
/// returned by `main`), the [traceback](Self::traceback) precedes this line if it
/// contains more than the origin of the error.
///
/// ```
/// use isoform::Error;
/// use isoform::errors::ErrorKind;
/// let error = Error::value_error("expected a positive number, got -1");
/// assert_eq!(error.kind(), ErrorKind::Value);
/// assert_eq!(error.to_string(), "ValueError: expected a positive number, got -1");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The name of a custom kind.
    kind_name: Option<Box<str>>,
    message: String,
    path: Option<AccessPath>,
    /// True if the message contains the path.
    says_path: bool,
    /// The work interrupted by the error, innermost first.
    notes: Vec<Box<str>>,
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
            notes: Vec::new(),
            source: None,
            trace: Trace::new(Location::caller()),
        }))
    }

    /// Makes an error of a custom kind, which counts as [`ErrorKind::Runtime`] for code
    /// unaware of the name. A host language raises the exception registered under the
    /// name.
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

    /// An [`ErrorKind::Runtime`] error carrying user code's own error.
    #[track_caller]
    pub fn from_source(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let source = source.into();
        let mut error = Error::new(ErrorKind::Runtime, source.to_string());
        error.0.source = Some(source);
        error
    }

    /// The same error, with its place inside the compared or traversed value.
    #[must_use]
    pub fn at(mut self, path: AccessPath) -> Self {
        self.0.path = Some(path);
        self
    }

    /// As [`at`](Self::at), for an error whose message shows the place.
    #[must_use]
    pub(crate) fn at_shown(mut self, path: AccessPath) -> Self {
        self.0.says_path = true;
        self.at(path)
    }

    /// The same error, with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error with a note about the interrupted work, such as
    /// `in pass 'FoldConstant'`. Notes follow the message, innermost first; an
    /// exception of a host language stays the same exception and gets the notes as its
    /// own.
    ///
    /// ```
    /// use isoform::Error;
    /// let error = Error::value_error("expected int").noted("in pass 'Fold'");
    /// assert_eq!(error.to_string(), "ValueError: expected int (in pass 'Fold')");
    /// assert_eq!(error.notes().collect::<Vec<_>>(), ["in pass 'Fold'"]);
    /// ```
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into().into());
        self
    }

    /// The notes about the interrupted work, innermost first.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.0.notes.iter().map(|note| &**note)
    }

    /// The same error as an exception of a host language: the class name there, and the
    /// function writing the traceback. For bindings.
    #[must_use]
    pub fn from_host(mut self, class_name: &str, traceback: HostTraceback) -> Self {
        if class_name != self.0.kind.name() {
            self.0.kind_name = Some(class_name.into());
        }
        self.0.trace.host = Some(traceback);
        self
    }

    /// The same error with a prefix to the message, naming its subject.
    #[must_use]
    #[doc(hidden)]
    pub fn in_context(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// True if the error is about a value, and nothing but its message tells more.
    pub(crate) fn is_about_data(&self) -> bool {
        matches!(self.kind(), ErrorKind::Type | ErrorKind::Value)
            && StdError::source(self).is_none()
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the kind, in Python's spelling: the name of [`kind`](Self::kind),
    /// except for an error with a [custom kind](Self::of_kind) and for an exception
    /// from a host language.
    pub fn kind_name(&self) -> &str {
        self.0.kind_name.as_deref().unwrap_or(self.0.kind.name())
    }

    /// The message, without kind and path.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The message followed by the path, unless it shows the place itself, and by the
    /// notes.
    ///
    /// ```
    /// use isoform::Error;
    /// use isoform::paths::AccessPath;
    /// let error = Error::value_error("expected int").at(AccessPath::root().attr("n"));
    /// assert_eq!(error.message_with_path(), "expected int (at <root>.n)");
    /// ```
    pub fn message_with_path(&self) -> Cow<'_, str> {
        let message = &self.0.message;
        let path = self.0.path.as_ref().filter(|_| !self.0.says_path);
        if path.is_none() && self.0.notes.is_empty() {
            return message.into();
        }
        // After a picture of several lines, these go on their own lines.
        let gap = if message.contains('\n') { '\n' } else { ' ' };
        let place = path.map(|path| format!("{gap}(at {path})"));
        let notes = self.0.notes.iter().map(|note| format!("{gap}({note})"));
        let parts: String = place.into_iter().chain(notes).collect();
        format!("{message}{parts}").into()
    }

    /// The place of the error in the value, if known.
    pub fn path(&self) -> Option<&AccessPath> {
        self.0.path.as_ref()
    }

    /// The error of user code inside, for a downcast to its own type.
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
