//! Loading models, and what the common options mean for that.

use std::io;
use std::path::Path;

use isoform::{CompareOptions, Error};
use isoform_onnx::{ImportOptions, Model};
use serde_json::json;

use crate::args::Common;
use crate::output::Output;

impl Common {
    /// What is compared of two models.
    pub(crate) fn compare_options(&self) -> CompareOptions {
        CompareOptions {
            skip_tensor_content: self.architecture,
            ..CompareOptions::default()
        }
    }

    fn import_options(&self) -> ImportOptions {
        ImportOptions::new().with_io_names(self.io_names)
    }
}

/// Loads a model; a failure is a message that does not repeat the file's name.
pub(crate) fn load(file: &Path, common: &Common) -> Result<Model, String> {
    if file.as_os_str() == "-" {
        let reason = "standard input cannot be read, because models are mapped into memory; give a file (one of this name is ./-)";
        return Err(reason.to_owned());
    }
    match std::fs::metadata(file) {
        Ok(found) if found.is_dir() => {
            let reason =
                "this is a folder, and a model is wanted; only 'isoform dedup' walks folders";
            return Err(reason.to_owned());
        }
        Ok(_) => {}
        Err(error) => return Err(error.to_string()),
    }
    isoform_onnx::load(file, &common.import_options()).map_err(|error| message(file, &error))
}

/// What went wrong, without the kind, which is for programs, and without the file's
/// name, which stands before every message.
pub(crate) fn message(file: &Path, error: &Error) -> String {
    let mut text = error.message();
    for place in ["model", "file", "cannot open"] {
        let place = format!("{place} '{}'", file.display());
        if let Some(rest) = text.strip_prefix(&place)
            && let Some(rest) = [" > ", ": "].iter().find_map(|gap| rest.strip_prefix(gap))
        {
            text = rest;
        }
    }
    match error.path() {
        Some(path) => format!("{text} (at {path})"),
        None => text.to_owned(),
    }
}

impl Output<'_, '_> {
    /// Reports a file that failed on standard error, and under `--json` in the result too.
    pub(crate) fn failed_file(&mut self, file: &Path, message: &str) -> io::Result<()> {
        self.failure(file, message);
        if !self.json {
            return Ok(());
        }
        self.json_line(&json!({"file": file.to_string_lossy(), "error": message}))
    }
}
