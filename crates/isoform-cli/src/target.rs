//! Files that commands write: completely or not at all.
//!
//! On Linux, a file has no name until it is complete.

use std::io::{self, Write};
use std::path::Path;

use isoform_onnx::{WholeFile, replaceable};

use crate::args::ConvertArgs;
use crate::input::is_dash;
use crate::output::Failure;

/// Checks that a target may be written: an existing file only if replacing is allowed.
pub(crate) fn check_target(target: &Path, force: bool) -> Result<(), Failure> {
    if is_dash(target) {
        return Ok(());
    }
    let found = replaceable(target).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => format!("{error}; standard output is '-'"),
        _ => error.to_string(),
    })?;
    if found.is_some() && !force {
        Err(EXISTS.into())
    } else {
        Ok(())
    }
}

const EXISTS: &str = "the file exists; --force replaces it";

/// Writes the target completely or not at all, also if the process is killed meanwhile.
pub(crate) fn write(args: &ConvertArgs, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(&args.target, args.force, bytes)
}

/// Writes a file as [`write`].
pub(crate) fn write_whole(target: &Path, force: bool, bytes: &[u8]) -> Result<(), Failure> {
    // Somebody may have written it in the meantime.
    check_target(target, force)?;
    let written = WholeFile::create(target).and_then(|mut file| {
        file.write_all(bytes)?;
        if force { file.keep() } else { file.keep_new() }
    });
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => EXISTS.into(),
        _ => error.to_string().into(),
    })
}
