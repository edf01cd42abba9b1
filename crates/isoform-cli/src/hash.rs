//! `isoform hash`: a digest for each model.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use isoform::{Digest, structural_digest_with};
use serde_json::json;

use crate::args::{Common, HashArgs};
use crate::models::{load, message};
use crate::output::{Output, printable};
use crate::parallel::in_order;

pub(crate) fn run(args: &HashArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    let outcome = in_order(
        &args.files,
        |file| digest(file, common),
        |file, result| match write(file, result, output) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        },
    );
    match outcome {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The digest of the model in a file; a failure is a message without the file's name.
pub(crate) fn digest(file: &Path, common: &Common) -> Result<Digest, String> {
    let model = load(file, common)?;
    structural_digest_with(model.to_value(), common.compare_options())
        .map_err(|error| message(file, &error))
}

fn write(
    file: &Path,
    result: Result<Digest, String>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    match result {
        Ok(digest) if output.json => {
            let digest = digest.to_string();
            output.json_line(&json!({"file": file.to_string_lossy(), "digest": digest}))?;
        }
        Ok(digest) => {
            let file = file.display().to_string();
            output.line(format_args!("{digest}  {}", printable(&file)))?;
        }
        Err(message) => output.failed_file(file, &message)?,
    }
    // The next model may take a while, and this line is complete.
    output.flush()
}
