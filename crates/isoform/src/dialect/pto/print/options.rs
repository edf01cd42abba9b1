//! How a text is written.

/// How [`python_print`](super::python_print) writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// What the language is imported as; empty if its names stand alone.
    pub prefix: String,
    /// Whether comments say where statements and functions were written.
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
    /// Sets what the language is imported as.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets whether comments say where statements and functions were written.
    #[must_use]
    pub fn spans(mut self, spans: bool) -> Self {
        self.spans = spans;
        self
    }
}
