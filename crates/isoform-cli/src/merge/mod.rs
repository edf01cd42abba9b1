//! `isoform merge`: the changes of two files since a base, in one file.
//!
//! | file | job |
//! |---|---|
//! | `engine.rs` | the merge of three inputs, and the check of its result |
//! | `names.rs` | names and documentation of a merged model, which the merge ignores |
//! | `dims.rs` | the names of symbolic dimensions |
//! | `picks.rs` | the choice between three versions of a name or description |
//! | `conflicts.rs` | conflicts as text and as JSON |
//! | `operators.rs` | the check of nodes with another operator |
//! | `computed.rs` | the check of outputs by their names |
//! | `ports.rs`, `keys.rs` | the inputs and outputs of models, by name |
//! | `written.rs` | the merged file |

pub(crate) mod args;
mod computed;
mod conflicts;
mod dims;
pub(crate) mod engine;
mod keys;
mod names;
mod operators;
mod picks;
mod ports;
#[cfg(test)]
mod tests;
mod written;

use std::io;
use std::path::Path;

use isoform_onnx::ExternalData;
use serde_json::{Value as Json, json};

use crate::args::Common;
use crate::input::{TargetForm, is_dash, message};
use crate::output::{DIFFERENT, Failure, Output, Palette, counted, printable};
use crate::target::check_target;
use args::MergeArgs;
use engine::{Merged, Versions, check_form, read};

pub(crate) use conflicts::{ConflictText, describe};
pub(crate) use written::save;

pub(crate) fn run(
    args: &MergeArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if let Some((file, failure)) = early_failure(args, common) {
        return failed(&[(file, failure)], output);
    }
    let files = [&*args.base, &*args.left, &*args.right];
    let versions = match read(files, common, ExternalData::Required) {
        Ok(versions) => versions,
        Err(failures) => return failed(&failures, output),
    };
    let mut refusal = versions.refusal().map(Failure::from);
    if args.output.is_some() {
        refusal = refusal.or_else(|| check_form(&args.left, &versions.left).err());
    }
    if let Some(refusal) = refusal {
        return failed(&[(&args.left, refusal)], output);
    }
    let merged = match versions.merge(args.resolve, !args.model.no_check) {
        Ok(merged) => merged,
        Err(error) => return failed(&[(&args.left, message(&args.left, &error))], output),
    };
    let mut form = None;
    if let (Some(target), Some(value)) = (&args.output, &merged.value) {
        match save(args, target, &versions.left, value.clone(), output) {
            Ok(written) => form = Some(written),
            Err(failure) => return failed(&[(target, failure)], output),
        }
    }
    if merged.value.is_none() {
        output.status = DIFFERENT;
    }
    report(args, &versions, &merged, form, output)
}

/// A failure that shows before anything large is read.
fn early_failure<'a>(args: &'a MergeArgs, common: &Common) -> Option<(&'a Path, Failure)> {
    if common.architecture {
        let reason = "--architecture ignores the contents of weights, and a merge needs them";
        return Some((&args.left, reason.into()));
    }
    let target = args.output.as_deref()?;
    if common.json && is_dash(target) {
        let reason = "--json writes its report to standard output, which is also the output";
        return Some((target, reason.into()));
    }
    let failure = check_target(target, args.force).err()?;
    Some((target, failure))
}

/// Reports files that failed on standard error, and under `--json` also in the result.
fn failed(failures: &[(&Path, Failure)], output: &mut Output<'_, '_>) -> io::Result<()> {
    for (file, failure) in failures {
        output.failure(file, failure);
    }
    if !output.json {
        return Ok(());
    }
    let failed = failures.iter().map(|(file, failure)| failure.json(file));
    output.json_line(&json!({"failed": failed.collect::<Json>()}))
}

fn report(
    args: &MergeArgs,
    versions: &Versions,
    merged: &Merged,
    form: Option<TargetForm>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let conflicts = describe(&versions.base, merged);
    if output.json {
        let files = [&*args.base, &*args.left, &*args.right];
        let mut object = values_json(files, merged, &conflicts);
        let target = args.output.as_ref().filter(|_| form.is_some());
        object["to"] = json!(target.map(|target| target.to_string_lossy()));
        object["form"] = json!(form.map(TargetForm::key));
        return output.json_line(&object);
    }
    let is_aside = args.output.as_deref().is_some_and(is_dash);
    for line in merged.lines(
        &conflicts,
        args.resolve.is_some(),
        output.style,
        output.quiet,
    ) {
        if is_aside {
            output.aside(&format!("{line}\n"));
        } else {
            output.line(line)?;
        }
    }
    Ok(())
}

/// The verdict, the conflicts and the notes as JSON.
pub(crate) fn values_json(files: [&Path; 3], merged: &Merged, conflicts: &[ConflictText]) -> Json {
    let [base, left, right] = files.map(|file| file.to_string_lossy());
    let merge = &merged.merge;
    json!({
        "clean": merge.is_clean() && merged.invalid.is_none(),
        "base": {"file": base},
        "left": {"file": left, "changes": merge.left().changes().len()},
        "right": {"file": right, "changes": merge.right().changes().len()},
        "conflicts": conflicts.iter().map(ConflictText::json).collect::<Json>(),
        "invalid": merged.invalid,
        "notes": merged.notes,
    })
}

impl Merged {
    /// The verdict, the conflicts and the notes, for people.
    pub(crate) fn lines(
        &self,
        conflicts: &[ConflictText],
        is_resolved: bool,
        palette: Palette,
        quiet: bool,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let is_done = self.value.is_some();
        if !quiet || !is_done {
            let style = if is_done { palette.good } else { palette.bad };
            let verdict = match (&self.invalid, conflicts.len()) {
                (Some(_), 0) => "1 conflict".to_owned(),
                (_, 0) => "clean".to_owned(),
                (_, count) if is_resolved => {
                    format!("{} resolved", counted(count, "conflict"))
                }
                (_, count) => counted(count, "conflict"),
            };
            let [left, right] = [self.merge.left(), self.merge.right()].map(|side| side.summary());
            lines.push(format!(
                "{style}{verdict}{style:#} (left: {left}; right: {right})"
            ));
        }
        if quiet && is_done {
            return lines;
        }
        lines.extend(
            conflicts
                .iter()
                .flat_map(|conflict| conflict.lines(palette)),
        );
        if let Some(reason) = &self.invalid {
            let reason = printable(reason);
            lines.push(format!("not merged: {reason}"));
        }
        lines.extend(
            self.notes
                .iter()
                .map(|note| format!("note: {}", printable(note))),
        );
        lines
    }
}
