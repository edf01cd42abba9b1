//! `isoform dedup`: finds models of a collection that are the same program.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use isoform::compare::Digest;
use isoform_corpus::Index;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::{Common, DedupArgs};
use crate::corpus;
use crate::find::find_models;
use crate::hash::digest;
use crate::input::{load, message};
use crate::output::{Failure, Output, counted, printable};
use crate::parallel::in_order;
use crate::progress;

/// Models that are the same program, in the order of discovery.
struct Group {
    digest: Digest,
    files: Vec<PathBuf>,
}

/// Files and their failures.
type Failures = Vec<(PathBuf, Failure)>;

pub(crate) fn run(
    args: &DedupArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if let [path] = &args.paths[..]
        && Index::is_index(path)
    {
        return corpus::dedup(path, common, output);
    }
    let list = find_models(&args.paths);
    let mut failures = list.failures;
    let candidates = group_by_digest(&list.files, common, &mut failures, output);

    // Equal models have equal digests; the reverse is not left to chance.
    let confirmed: Vec<(Vec<Group>, Failures)> = candidates
        .into_par_iter()
        .map(|group| confirm(group, common))
        .collect();
    let mut groups = Vec::new();
    for (confirmed, failed) in confirmed {
        groups.extend(confirmed);
        failures.extend(failed);
    }
    // The files are still in order, which decides between groups of the same size.
    groups.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    write(&groups, &failures, output)
}

/// Groups the files by the digests of their programs.
fn group_by_digest(
    files: &[PathBuf],
    common: &Common,
    failures: &mut Failures,
    output: &Output<'_, '_>,
) -> Vec<Group> {
    let bar = progress::bar(files.len(), output.shows_progress());
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of_digest: HashMap<[u8; 32], usize> = HashMap::new();
    let flow = in_order(
        files,
        |file| {
            let result = digest(file, common, false);
            bar.inc(1);
            result
        },
        |file, result| {
            match result {
                Ok(digest) => {
                    let next = groups.len();
                    let group = *group_of_digest.entry(*digest.as_bytes()).or_insert(next);
                    if group == next {
                        let files = Vec::new();
                        groups.push(Group { digest, files });
                    }
                    groups[group].files.push(file.clone());
                }
                Err(failure) => failures.push((file.clone(), failure)),
            }
            ControlFlow::<()>::Continue(())
        },
    );
    debug_assert_eq!(flow, ControlFlow::Continue(()));
    bar.finish_and_clear();
    groups
}

/// Compares the models of a group, and splits the group if they differ.
fn confirm(group: Group, common: &Common) -> (Vec<Group>, Failures) {
    if group.files.len() < 2 {
        return (vec![group], Vec::new());
    }
    let (mut parts, mut failures): (Vec<Group>, Failures) = Default::default();
    for file in group.files {
        match find_equal(&parts, &file, common) {
            Ok(Some(part)) => parts[part].files.push(file),
            Ok(None) => parts.push(Group {
                digest: group.digest,
                files: vec![file],
            }),
            // The file was readable a moment ago, and may be changing.
            Err(failure) => failures.push((file, failure)),
        }
    }
    (parts, failures)
}

/// The part whose first model equals the model in `file`.
fn find_equal(parts: &[Group], file: &Path, common: &Common) -> Result<Option<usize>, Failure> {
    let model = load(file, common)?;
    for (position, part) in parts.iter().enumerate() {
        let Some(first) = part.files.first() else {
            continue;
        };
        let first = load(first, common)?;
        let options = common.compare_options();
        let equal = options
            .equal(first.to_value(), model.to_value())
            .map_err(|error| message(file, &error))?;
        if equal {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

fn write(groups: &[Group], failures: &Failures, output: &mut Output<'_, '_>) -> io::Result<()> {
    for (file, failure) in failures {
        output.failure(file, failure);
    }
    let repeated: Vec<&Group> = groups
        .iter()
        .filter(|group| group.files.len() > 1)
        .collect();
    let models: usize = groups.iter().map(|group| group.files.len()).sum();
    if output.json {
        let name = |file: &PathBuf| json!(file.to_string_lossy());
        let listed = repeated.iter().map(|group| {
            let files: Vec<Value> = group.files.iter().map(name).collect();
            json!({"digest": group.digest.to_string(), "files": files})
        });
        let failed = failures.iter().map(|(file, failure)| failure.json(file));
        return output.json_line(&json!({
            "groups": listed.collect::<Vec<Value>>(),
            "models": models,
            "distinct": groups.len(),
            "failed": failed.collect::<Vec<Value>>(),
        }));
    }
    let strong = output.style.strong;
    for group in &repeated {
        let count = group.files.len();
        output.line(format_args!(
            "{strong}{count} equal models{strong:#}  {}",
            group.digest
        ))?;
        for file in &group.files {
            let file = file.display().to_string();
            output.line(format_args!("  {}", printable(&file)))?;
        }
    }
    if output.quiet {
        return Ok(());
    }
    let summary = format!(
        "{}, {} distinct, {} of equal models, {} failed",
        counted(models, "model"),
        groups.len(),
        counted(repeated.len(), "group"),
        failures.len()
    );
    output.line(summary)
}
