//! Options for program text.

/// Options of [`python_print`](super::python_print).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// The name under which the language is imported; empty to omit it.
    pub prefix: String,
    /// True to add comments with the source locations of statements and functions.
    pub spans: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            prefix: "pl".to_owned(),
            spans: false,
        }
    }
}

impl PrintOptions {
    /// Sets the name under which the language is imported.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets whether to add comments with the source locations of statements and functions.
    #[must_use]
    pub fn spans(mut self, spans: bool) -> Self {
        self.spans = spans;
        self
    }
}
