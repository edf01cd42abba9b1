//! Writing models, and telling about it.

use std::io;
use std::path::{Path, PathBuf};

use isoform::Ref;
use isoform_onnx::ir::Program;

use crate::input::{is_dash, message};
use crate::model_args::ModelArgs;
use crate::output::{Failure, Output};

/// How much was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// Bytes of the model.
    pub(crate) bytes: u64,
    /// Bytes of the files beside it.
    pub(crate) external_bytes: u64,
    pub(crate) external_files: Vec<PathBuf>,
}

/// Fails if a report would go where the model goes.
pub(super) fn check(target: &Path, explains: bool, output: &Output<'_, '_>) -> Result<(), Failure> {
    match is_dash(target) && (explains || output.json) {
        true => Err("--json and --explain write to standard output, which is also OUT".into()),
        false => Ok(()),
    }
}

/// Writes a model to a file, or to standard output.
pub(crate) fn write_model(
    program: &Ref<Program>,
    target: &Path,
    args: &ModelArgs,
    output: &mut Output<'_, '_>,
) -> Result<Written, Failure> {
    let failed = |error: isoform::Error| message(target, &error);
    let options = args.options();
    if is_dash(target) {
        let bytes = options.to_bytes(program).map_err(failed)?;
        output.bytes(&bytes).map_err(|error| error.to_string())?;
        return Ok(Written {
            bytes: bytes.len() as u64,
            external_bytes: 0,
            external_files: Vec::new(),
        });
    }
    let saved = options.save(program, target).map_err(failed)?;
    if let (Some(version), false) = (saved.raised_from, output.quiet) {
        output.aside(&format!(
            "isoform: {}: IR version {version} became {}, which the program needs\n",
            target.display(),
            saved.ir_version
        ));
    }
    Ok(Written {
        bytes: saved.bytes,
        external_bytes: saved.external_bytes,
        external_files: saved.external_files,
    })
}

/// Prints a line about what was written, beside a model that goes to standard output.
pub(super) fn tell(target: &Path, line: &str, output: &mut Output<'_, '_>) -> io::Result<()> {
    if is_dash(target) {
        output.aside(&format!("{line}\n"));
        return Ok(());
    }
    output.line(line)
}

/// A number of bytes for people.
pub(super) fn bytes_text(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("KB", 10)];
    let unit = units.iter().find(|(_, shift)| bytes >> shift > 0);
    match unit {
        None => format!("{bytes} B"),
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << shift)),
    }
}
