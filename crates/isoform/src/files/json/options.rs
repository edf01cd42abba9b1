//! Options for writing and reading JSON graphs.

use crate::kernel::value::Value;

/// Options for writing a JSON graph.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JsonOptions {
    /// Metadata to write next to the nodes: None, bools, numbers, strings, and
    /// arrays and maps (with string keys) of these.
    pub metadata: Option<Value>,
}

impl JsonOptions {
    /// Sets the metadata.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Into<Value>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }
}

/// Options for reading a JSON graph.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct JsonReadOptions {
    /// True to skip fields missing in a type.
    pub ignore_unknown_fields: bool,
}

impl JsonReadOptions {
    /// Sets whether to skip fields missing in a type.
    #[must_use]
    pub fn ignore_unknown_fields(mut self, ignore: bool) -> Self {
        self.ignore_unknown_fields = ignore;
        self
    }
}
