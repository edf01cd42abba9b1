//! The origin of an error, and the functions the error passed through.

use std::error::Error as StdError;
use std::fmt::Write;
use std::panic::Location;

use super::Error;

/// One line of a traceback: a place in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorFrame {
    /// The source file, as passed to the compiler.
    pub file: &'static str,
    /// The line in the file, from 1.
    pub line: u32,
    /// The name of the running function of the core.
    pub function: String,
}

/// Writes the traceback of a host language's exception, which is the
/// [source](Error::into_source) of the error, followed by these frames.
pub type HostTraceback = fn(&(dyn StdError + 'static), &[ErrorFrame]) -> String;

/// The places that an error remembers.
pub(super) struct Trace {
    made_at: &'static Location<'static>,
    /// True if the place in `made_at` is of no use: the place is in this library, and
    /// the error is about the arguments of a call.
    made_by_caller: bool,
    /// The functions passed by the error, innermost first.
    passed: Vec<(Option<Box<str>>, &'static Location<'static>)>,
    pub(super) host: Option<HostTraceback>,
}

impl Trace {
    pub(super) fn new(made_at: &'static Location<'static>) -> Self {
        Trace {
            made_at,
            made_by_caller: false,
            passed: Vec::new(),
            host: None,
        }
    }
}

/// The maximal number of functions in a traceback, which omits functions further out.
const MAX_PASSED: usize = 1000;

impl Error {
    /// The places passed by the error, outermost first: functions of the core written
    /// in Rust, by their definitions, and finally the origin of the error. For an
    /// exception of a host language, only the frames outside of the exception.
    ///
    /// ```
    /// use isoform::Error;
    /// use isoform::functions::Function;
    /// let fails = Function::typed(|x: i64| -> Result<i64, Error> {
    ///     Err(Error::value_error(format!("{x} is too large")))
    /// });
    /// let error = fails.named("demo.fails").call(&[3.into()]).expect_err("it fails");
    /// let frames = error.frames();
    /// assert_eq!(frames.len(), 1);
    /// assert_eq!(frames[0].function, "demo.fails");
    /// ```
    pub fn frames(&self) -> Vec<ErrorFrame> {
        let trace = &self.0.trace;
        let name = |name: &Option<Box<str>>| name.as_deref().unwrap_or("<function>").to_owned();
        let mut frames: Vec<ErrorFrame> = trace
            .passed
            .iter()
            .rev()
            .map(|(function, location)| ErrorFrame {
                file: location.file(),
                line: location.line(),
                function: name(function),
            })
            .collect();
        if trace.host.is_some() || trace.made_by_caller {
            return frames;
        }
        let made_at = ErrorFrame {
            file: trace.made_at.file(),
            line: trace.made_at.line(),
            function: "<rust>".to_owned(),
        };
        match frames.last_mut() {
            // The place inside the function is more useful than the function's
            // beginning.
            Some(last) if last.file == made_at.file => last.line = made_at.line,
            _ => frames.push(made_at),
        }
        frames
    }

    /// True if the error came out of a function of the core, or out of a host language.
    pub fn has_traceback(&self) -> bool {
        let trace = &self.0.trace;
        trace.host.is_some() || !trace.passed.is_empty()
    }

    /// True for an exception of a host language, stored as the
    /// [source](std::error::Error::source) of the error: users of that language want to
    /// see its [`traceback`](Self::traceback).
    pub fn is_from_host(&self) -> bool {
        self.0.trace.host.is_some() && std::error::Error::source(self).is_some()
    }

    /// The error with all known places, in Python's format and without a line break at
    /// the end.
    ///
    /// An exception of Python passing through Rust code includes the lines of both.
    ///
    /// ```
    /// use isoform::Error;
    /// use isoform::functions::Function;
    /// let fails = Function::new(|_| Err(Error::value_error("too large"))).named("demo.fails");
    /// let error = fails.call(&[]).expect_err("it fails");
    /// let text = error.traceback();
    /// assert!(text.starts_with("Traceback (most recent call last):\n  File \""));
    /// assert!(text.ends_with(", in demo.fails\nValueError: too large"));
    /// assert_eq!(format!("{error:#}"), text);
    /// ```
    pub fn traceback(&self) -> String {
        let frames = self.frames();
        if let (Some(write), Some(source)) = (self.0.trace.host, self.source()) {
            return write(source, &frames).trim_end().to_owned();
        }
        let mut text = String::from("Traceback (most recent call last):\n");
        for ErrorFrame {
            file,
            line,
            function,
        } in frames
        {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  File \"{file}\", line {line}, in {function}");
        }
        text + &self.to_string()
    }

    /// Records that the error leaves a function made at `location`.
    pub(crate) fn passing(
        mut self,
        name: Option<&str>,
        location: &'static Location<'static>,
    ) -> Self {
        let passed = &mut self.0.trace.passed;
        if passed.len() < MAX_PASSED {
            passed.push((name.map(Box::from), location));
        }
        self
    }

    /// Discards the origin of the error if the origin is in a file of the library that
    /// only passes errors on.
    pub(crate) fn unless_made_in(self, file: &str) -> Self {
        if self.0.trace.made_at.file() == file {
            self.made_by_caller()
        } else {
            self
        }
    }

    /// Marks the error as an error about a call, with a useless origin.
    pub(crate) fn made_by_caller(mut self) -> Self {
        self.0.trace.made_by_caller = true;
        self
    }
}
