//! `isoform convert`: converts a file to another format.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isoform::files::{JsonOptions, to_bytes};
use isoform::text::TensorText;
use isoform::{Map, Str, Value};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::args::{Common, ConvertArgs};
use crate::input::{Form, Input, is_dash, load, message};
use crate::output::{Failure, Output};
use crate::show::text_of;

pub(crate) fn run(
    args: &ConvertArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    // Fail early, before anything large is read.
    let form = match form_of_target(args, common).and_then(|form| {
        check_target(args)?;
        Ok(form)
    }) {
        Ok(form) => form,
        Err(failure) => return output.failed_file(&args.target, &failure),
    };
    let input = match load(&args.source, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.source, &failure),
    };
    let bytes = match encode(args, &input, form) {
        Ok(bytes) => bytes,
        Err(error) => {
            let failure = message(&args.source, &error);
            return output.failed_file(&args.source, &failure);
        }
    };
    if is_dash(&args.target) {
        return output.bytes(&bytes);
    }
    if let Err(failure) = write(args, &bytes) {
        return output.failed_file(&args.target, &failure);
    }
    if !output.json {
        return Ok(());
    }
    output.json_line(&json!({
        "file": args.source.to_string_lossy(),
        "to": args.target.to_string_lossy(),
        "form": form.key(),
        "bytes": bytes.len(),
    }))
}

/// The format of the target.
pub(crate) fn form_of_target(args: &ConvertArgs, common: &Common) -> Result<Form, Failure> {
    if common.json && is_dash(&args.target) {
        return Err("--json writes its report to standard output, which is also the target; for a JSON graph, use --to json".into());
    }
    match args.to.or_else(|| Form::of_name(&args.target)) {
        Some(form) => Ok(form),
        None => Err(
            "the name does not determine the format (.json, .iso or .isob); use --to json, text or binary"
                .into(),
        ),
    }
}

/// Checks that the target may be written, and returns the metadata of an existing one.
pub(crate) fn check_target(args: &ConvertArgs) -> Result<Option<Metadata>, Failure> {
    if is_dash(&args.target) {
        return Ok(None);
    }
    let found = match fs::metadata(&args.target) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string().into()),
    };
    if found.is_dir() {
        return Err("this is a folder, expected the name of a file".into());
    }
    if !found.is_file() {
        // Replacing a device would take it away from everyone.
        return Err("this is not a regular file; standard output is '-'".into());
    }
    match args.force {
        true => Ok(Some(found)),
        false => Err(EXISTS.into()),
    }
}

const EXISTS: &str = "the file exists; --force replaces it";

/// The bytes of a file.
pub(crate) fn encode(args: &ConvertArgs, input: &Input, form: Form) -> isoform::Result<Vec<u8>> {
    let value = input.to_value();
    match form {
        Form::Binary => to_bytes(&value),
        Form::Text => {
            let tensors = match args.text.full_tensors {
                true => TensorText::Inline,
                false => TensorText::Section,
            };
            let options = args.text.options().tensors(tensors);
            Ok(text_of(&value, &options)?.into_bytes())
        }
        Form::Json => {
            let kept = match input {
                Input::Value(file) => file.metadata.clone(),
                Input::Model(_) => None,
            };
            let metadata = kept.unwrap_or_else(|| {
                let version = ("isoform_version".into(), env!("CARGO_PKG_VERSION").into());
                Value::from(Map::<Str, Str>::from_iter([version]))
            });
            Ok(JsonOptions::default()
                .metadata(metadata)
                .to_json_graph(&value)?
                .into_bytes())
        }
    }
}

/// Writes the target completely or not at all.
pub(crate) fn write(args: &ConvertArgs, bytes: &[u8]) -> Result<(), Failure> {
    // Somebody may have written it in the meantime.
    let found = check_target(args)?;
    let target = real_target(&args.target).map_err(|error| error.to_string())?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = new_file(folder, found.as_ref()).map_err(|error| error.to_string())?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.as_file().sync_all());
    written.map_err(|error| error.to_string())?;
    let kept = match args.force {
        true => file.persist(&target),
        false => file.persist_noclobber(&target),
    };
    match kept {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(EXISTS.into()),
        Err(failed) => Err(failed.error.to_string().into()),
    }
}

/// The target of a link, so that the link itself is kept.
fn real_target(target: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(target.to_owned()),
        found => found,
    }
}

/// A file without its final name, with the permissions of the file that it replaces.
fn new_file(folder: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".isoform-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file; the user's mask is subtracted.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Some(replaced) = replaced {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(file)
}
