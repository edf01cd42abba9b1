//! Writing models, and telling about it.

use std::io;
use std::path::{Path, PathBuf};

use isoform::Ref;
use isoform_onnx::Model;
use isoform_onnx::ir::Program;

use crate::input::{is_dash, message};
use crate::model_args::ModelArgs;
use crate::output::{Failure, Output, counted, printable};
use crate::target::check_target;

/// How much was written.
#[derive(Clone, Debug)]
pub(crate) struct OutputSize {
    /// Bytes of the model.
    pub(crate) bytes: u64,
    /// Bytes of the files beside it.
    pub(crate) external_bytes: u64,
    pub(crate) external_files: Vec<PathBuf>,
}

impl OutputSize {
    /// All bytes, for people: `75.3 MB (75.1 MB of it in model.onnx.data)`.
    pub(super) fn text(&self) -> String {
        let all = bytes_text(self.bytes + self.external_bytes);
        let files = match self.external_files.as_slice() {
            [] => return all,
            [file] => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                printable(&name.to_string_lossy()).to_string()
            }
            files => counted(files.len(), "file"),
        };
        format!(
            "{all} ({} of it in {files})",
            bytes_text(self.external_bytes)
        )
    }
}

/// Fails if a report would go where the model goes, and if the model may not be replaced.
pub(super) fn check(
    target: &Path,
    explains: bool,
    force: bool,
    output: &Output<'_, '_>,
) -> Result<(), Failure> {
    if is_dash(target) && (explains || output.json) {
        Err("--json and --explain write to standard output, which is also OUT".into())
    } else {
        output.check_binary(target)?;
        check_target(target, force)
    }
}

/// The options that keep the layout of the source's constants: inside the model, in one
/// file beside the model, or in one file for each constant. A replaced model keeps the
/// name of a single data file.
pub(crate) fn keeping_layout(
    source: &Model,
    target: &Path,
    inline: bool,
    args: &ModelArgs,
) -> ModelArgs {
    let mut kept = args.clone();
    let files = source.external_files();
    if inline || args.external_data || files.is_empty() || is_dash(target) {
        return kept;
    }
    kept.external_data = true;
    kept.file_per_tensor = files.len() > 1;
    if let ([(file, _)], Some(model)) = (files, replaced(source, target)) {
        let folder = model.parent();
        let location = folder.and_then(|folder| file.strip_prefix(folder).ok());
        kept.location = location.and_then(|it| it.to_str()).map(str::to_owned);
    }
    kept
}

/// The model's own file, if that is the target.
fn replaced(source: &Model, target: &Path) -> Option<PathBuf> {
    let file = source.path()?.canonicalize().ok()?;
    (target.canonicalize().ok()? == file).then_some(file)
}

/// Lists the external files that a replaced model no longer uses. The files stay on
/// disk, because other models may use them.
pub(super) fn tell_unused(unused: &[PathBuf], target: &Path, output: &mut Output<'_, '_>) {
    if unused.is_empty() || output.quiet {
        return;
    }
    let names: Vec<String> = unused
        .iter()
        .map(|file| file.to_string_lossy())
        .map(|it| printable(&it).to_string())
        .collect();
    output.aside(&format!(
        "isoform: {}: no longer uses {}\n",
        printable(&target.display().to_string()),
        names.join(", ")
    ));
}

/// The external files of a replaced model that the new model does not use.
pub(super) fn unused(source: &Model, target: &Path, saved: &OutputSize) -> Vec<PathBuf> {
    if replaced(source, target).is_none() {
        return Vec::new();
    }
    let used: Vec<PathBuf> = saved
        .external_files
        .iter()
        .filter_map(|file| file.canonicalize().ok())
        .collect();
    let files = source.external_files().iter().map(|(file, _)| file);
    files.filter(|file| !used.contains(file)).cloned().collect()
}

/// Writes a model to a file, or to standard output.
pub(crate) fn write_model(
    program: &Ref<Program>,
    target: &Path,
    args: &ModelArgs,
    output: &mut Output<'_, '_>,
) -> Result<OutputSize, Failure> {
    let failed = |error: isoform::Error| message(target, &error);
    let options = args.options();
    if is_dash(target) {
        let bytes = options.to_bytes(program).map_err(failed)?;
        output.bytes(&bytes).map_err(|error| error.to_string())?;
        return Ok(OutputSize {
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
    Ok(OutputSize {
        bytes: saved.bytes,
        external_bytes: saved.external_bytes,
        external_files: saved.external_files,
    })
}

/// Prints a line about the written file. If the model goes to standard output, the line
/// goes elsewhere.
pub(super) fn tell(target: &Path, line: &str, output: &mut Output<'_, '_>) -> io::Result<()> {
    if is_dash(target) {
        output.aside(&format!("{line}\n"));
        return Ok(());
    }
    output.line(line)
}

/// A number of bytes for people.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("KB", 10)];
    let unit = units.iter().find(|(_, shift)| bytes >> shift > 0);
    match unit {
        None => format!("{bytes} B"),
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << shift)),
    }
}
