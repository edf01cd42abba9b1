//! Options for program text.

/// Options of [`python_print`](super::python_print).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// The name under which the language is imported; empty to omit it.
    pub prefix: String,
    /// True to add comments with the source locations of statements and functions.
    pub spans: bool,
    /// True to omit the types of variables other than parameters.
    pub concise: bool,
    /// True to write the layouts of tensors and tiles also where they are the usual ones.
    pub explicit_layout: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            prefix: "pl".to_owned(),
            spans: false,
            concise: false,
            explicit_layout: false,
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

    /// Sets whether to omit the types of variables other than parameters.
    #[must_use]
    pub fn concise(mut self, concise: bool) -> Self {
        self.concise = concise;
        self
    }

    /// Sets whether to write layouts also where they are the usual ones.
    #[must_use]
    pub fn explicit_layout(mut self, explicit_layout: bool) -> Self {
        self.explicit_layout = explicit_layout;
        self
    }
}
