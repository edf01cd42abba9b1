//! Options for writing models, and the report on the written files.

use isoform::__setters as setters;
use std::path::PathBuf;

/// Options for writing a model. Options that also exist in `onnx.save_model` have the
/// same names and defaults.
///
/// ```no_run
/// # use isoform_onnx::{SaveOptions, load};
/// let model = load("model.onnx")?;
/// SaveOptions::default()
///     .save_as_external_data(true)
///     .location("weights.bin")
///     .save(model.program(), "large.onnx")?;
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveOptions {
    /// True if large constants are written to other files beside the model. Models of
    /// more than 2 GB, the limit of the format, are always written like this.
    pub save_as_external_data: bool,
    /// True (the default) to write all external constants to one file. Otherwise, every
    /// constant gets a file, named after the model and the constant.
    pub all_tensors_to_one_file: bool,
    /// Name of the single file, relative to the folder of the model. The default is the
    /// name of the model with `.data` appended.
    pub location: Option<String>,
    /// The smallest number of bytes of an external constant; 1024 by default.
    pub size_threshold: u64,
    /// True if constants in attributes are written to external files, too; false by
    /// default.
    pub convert_attribute: bool,
    /// True, the default, if the imported operator set must allow every node, except
    /// for nodes read unchanged from a file.
    pub check: bool,
}

impl Default for SaveOptions {
    fn default() -> Self {
        Self {
            save_as_external_data: false,
            all_tensors_to_one_file: true,
            location: None,
            size_threshold: 1024,
            convert_attribute: false,
            check: true,
        }
    }
}

/// Describes the written files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The version of the file format.
    pub ir_version: i64,
    /// The version requested by the program, if too old for its contents.
    pub raised_from: Option<i64>,
    /// The number of bytes of the model's file.
    pub bytes: u64,
    /// The files of external data.
    pub external_files: Vec<PathBuf>,
    /// The number of bytes in these files.
    pub external_bytes: u64,
}

impl SaveOptions {
    setters! {
        /// Sets [`SaveOptions::save_as_external_data`].
        save_as_external_data: bool,
        /// Sets [`SaveOptions::all_tensors_to_one_file`].
        all_tensors_to_one_file: bool,
        /// Sets [`SaveOptions::size_threshold`].
        size_threshold: u64,
        /// Sets [`SaveOptions::convert_attribute`].
        convert_attribute: bool,
        /// Sets [`SaveOptions::check`].
        check: bool,
    }

    /// Sets [`SaveOptions::location`].
    #[must_use]
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }
}
