//! `isoform git merge-driver`: merges one file for git.

use std::io;
use std::path::Path;

use isoform_onnx::ExternalData;
use serde_json::json;

use super::args::DriverArgs;
use super::lfs::{self, Version};
use crate::args::{Common, TextArgs};
use crate::input::{Input, message};
use crate::merge::args::MergeArgs;
use crate::merge::engine::{Merged, Versions, check_form, read};
use crate::merge::{describe, save, values_json};
use crate::model_args::ModelArgs;
use crate::output::{DIFFERENT, Failure, Output, printable};

/// A failure of one of the three versions.
type Failed = (&'static str, Failure);

pub(super) fn run(
    args: &DriverArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let name = args.name.as_deref().unwrap_or(&args.current);
    match merge(args, name, common, output) {
        Ok((versions, merged)) => report(args, name, &versions, &merged, output),
        Err(failures) => {
            let mut failed = Vec::new();
            for (version, failure) in failures {
                let file = name.display();
                let label = format!("{file} ({version})");
                output.failure(Path::new(&label), &failure);
                failed.push(failure.json(Path::new(&label)));
            }
            output.aside("isoform: the file is not merged; the current version is unchanged\n");
            if output.json {
                output.json_line(&json!({"failed": failed}))
            } else {
                Ok(())
            }
        }
    }
}

/// Merges the three versions, and replaces the current one if the merge is clean.
fn merge(
    args: &DriverArgs,
    name: &Path,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> Result<(Versions, Merged), Vec<Failed>> {
    let files = [&*args.ancestor, &*args.current, &*args.other];
    if std::fs::metadata(&args.ancestor).is_ok_and(|ancestor| ancestor.len() == 0) {
        let reason = "both branches added the file, so there is no common version";
        return Err(vec![("ancestor", reason.into())]);
    }
    let mut fetched = Vec::new();
    for (file, version) in files.into_iter().zip(VERSIONS) {
        fetched.push(Version::of(file, name).map_err(|failure| vec![(version, failure)])?);
    }
    let files = [fetched[0].path(), fetched[1].path(), fetched[2].path()];
    // The data of models lies beside the file in the repository, in one version at most.
    let versions = read(files, common, ExternalData::Skipped).map_err(|failures| {
        let version = |file: &Path| files.iter().position(|other| *other == file).unwrap_or(0);
        failures
            .into_iter()
            .map(|(file, failure)| (VERSIONS[version(file)], failure))
            .collect::<Vec<_>>()
    })?;
    if let Some(refusal) = refusal(&versions, files[1], name) {
        return Err(vec![("current", refusal)]);
    }
    let merged = versions
        .merge(None, true)
        .map_err(|error| vec![("current", message(name, &error))])?;
    if let Some(value) = &merged.value {
        let target = &fetched[1];
        let saved = write(args, name, target, &versions.left, value, output);
        saved.map_err(|failure| vec![("current", failure)])?;
    }
    Ok((versions, merged))
}

/// The names of the versions in messages.
const VERSIONS: [&str; 3] = ["ancestor", "current", "other"];

/// The reason why the versions are not merged, if any.
fn refusal(versions: &Versions, current: &Path, name: &Path) -> Option<Failure> {
    let refusal = versions.refusal().map(Failure::from);
    refusal
        .or_else(|| external_refusal(versions, name))
        .or_else(|| check_form(current, &versions.left).err())
}

/// Refuses models with external data: git merges one file at a time, and the data of the
/// three versions are not at hand.
fn external_refusal(versions: &Versions, name: &Path) -> Option<Failure> {
    let inputs = [&versions.base, &versions.left, &versions.right];
    let mut models = inputs.into_iter().filter_map(Input::model);
    models.any(|model| !model.is_complete()).then(|| {
        let name = name.display();
        format!("constants of the model are in other files, and git merges one file at a time; check out the three versions with their data into three folders, and use 'isoform merge BASE LEFT RIGHT --output {name}'").into()
    })
}

/// Replaces the current version, or the file in Git LFS to which it points.
fn write(
    args: &DriverArgs,
    name: &Path,
    target: &Version,
    left: &Input,
    value: &isoform::Value,
    output: &mut Output<'_, '_>,
) -> Result<(), Failure> {
    let options = MergeArgs {
        base: args.ancestor.clone(),
        left: args.current.clone(),
        right: args.other.clone(),
        output: None,
        force: true,
        resolve: None,
        text: TextArgs::default(),
        model: ModelArgs::default(),
    };
    save(&options, target.path(), left, value.clone(), output)?;
    if target.is_pointer() {
        lfs::store(target.path(), name, &args.current)?;
    }
    Ok(())
}

fn report(
    args: &DriverArgs,
    name: &Path,
    versions: &Versions,
    merged: &Merged,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if merged.value.is_none() {
        output.status = DIFFERENT;
    }
    let conflicts = describe(&versions.base, merged);
    if output.json {
        let files = [&*args.ancestor, &*args.current, &*args.other];
        return output.json_line(&values_json(files, merged, &conflicts));
    }
    let palette = output.style_aside();
    for (number, line) in merged
        .lines(&conflicts, false, palette, output.quiet)
        .into_iter()
        .enumerate()
    {
        let head = match number {
            0 => format!("isoform: {}: ", printable(&name.to_string_lossy())),
            _ => String::new(),
        };
        output.aside(&format!("{head}{line}\n"));
    }
    Ok(())
}
