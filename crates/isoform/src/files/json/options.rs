//! How JSON graphs are written and read.

use crate::kernel::value::Value;

/// How to write a JSON graph.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JsonOptions {
    /// What is written beside the nodes: None, bools, numbers, strings, and
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

/// How to read a JSON graph.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct JsonReadOptions {
    /// Whether fields that a type does not have are skipped.
    pub ignore_unknown_fields: bool,
}

impl JsonReadOptions {
    /// Sets whether fields that a type does not have are skipped.
    #[must_use]
    pub fn ignore_unknown_fields(mut self, ignore: bool) -> Self {
        self.ignore_unknown_fields = ignore;
        self
    }
}
