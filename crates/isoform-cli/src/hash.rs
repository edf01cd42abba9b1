//! `isoform hash`: prints a digest for each file.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use isoform::compare::Digest;
use serde_json::json;

use crate::args::{Common, HashArgs};
use crate::input::{is_dash, load, message, simplified_input};
use crate::output::{Failure, Output, printable};
use crate::parallel::in_order;

pub(crate) fn run(args: &HashArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    let dashes = args.files.iter().filter(|file| is_dash(file)).count();
    let outcome = in_order(
        &args.files,
        |file: &PathBuf| {
            if is_dash(file) && dashes > 1 {
                Err("standard input can be read only once".into())
            } else {
                digest(file, common, args.simplify)
            }
        },
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

/// Returns the digest of the file's value; a failure does not repeat the file's name.
pub(crate) fn digest(file: &Path, common: &Common, simplify: bool) -> Result<Digest, Failure> {
    let input = load(file, common).map_err(|mut failure| {
        if failure.unknown.is_some() {
            failure.excerpt.push(NO_DIGEST.to_owned());
        }
        failure
    })?;
    let input = simplified_input(file, input, simplify)?;
    common
        .compare_options()
        .digest(input.to_value())
        .map_err(|error| message(file, &error))
}

const NO_DIGEST: &str = "there is no digest without the type: it depends on the declaration, such as which fields are ignored";

fn write(
    file: &Path,
    result: Result<Digest, Failure>,
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
        Err(failure) => output.failed_file(file, &failure)?,
    }
    // The next file may take a while, and this line is complete.
    output.flush()
}
