//! `isoform diff` of folders: pairs of the files in them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::args::DiffArgs;
use super::{files, json, page, trouble};
use crate::args::Common;
use crate::find::{FileList, find_models};
use crate::imports::RunOptions;
use crate::input::is_dash;
use crate::output::{DIFFERENT, Output, printable};

/// Paired files of two folders, or a file without a partner.
#[derive(Debug, PartialEq)]
struct Pair {
    left: Option<PathBuf>,
    right: Option<PathBuf>,
}

/// Compares two files, the files of two folders in pairs, or a file with the file of
/// the same name in a folder.
pub(crate) fn run(
    args: &DiffArgs,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let (left, right) = (&args.left, &args.right);
    if let Err((file, failure)) = page::check(args, output) {
        return trouble(&[(file, &failure)], output);
    }
    if is_dash(left) && is_dash(right) {
        let failure = "standard input can be read only once".into();
        return trouble(&[(left, &failure)], output);
    }
    if !left.is_dir() && !right.is_dir() {
        return files(args, common, host, output);
    }
    if !left.is_dir() {
        let with = named_as(left, right);
        return files(&args.of(left, &with), common, host, output);
    }
    if !right.is_dir() {
        let with = named_as(right, left);
        return files(&args.of(&with, right), common, host, output);
    }
    if let Some(folder) = &args.model_explorer {
        let failure = "--model-explorer is for two files, not for folders".into();
        return trouble(&[(folder, &failure)], output);
    }
    let lists = [left, right].map(|folder| find_models(std::slice::from_ref(folder)));
    for (file, failure) in lists.iter().flat_map(|list| &list.failures) {
        trouble(&[(file, failure)], output)?;
    }
    for (folder, list) in [left, right].into_iter().zip(&lists) {
        if list.files.is_empty() && list.failures.is_empty() {
            let failure = "this folder has no models or IR files".into();
            return trouble(&[(folder, &failure)], output);
        }
    }
    let [left_list, right_list] = &lists;
    for pair in pairs(left, left_list, right, right_list) {
        // The worst of all counts.
        let status = output.status;
        let written = match (&pair.left, &pair.right) {
            (Some(left), Some(right)) => {
                if !output.json && !output.quiet && !args.is_markdown() {
                    let strong = output.style.strong;
                    let names = [left, right].map(|file| file.display().to_string());
                    let heading = names.join("  ");
                    output.line(format_args!("{strong}{}{strong:#}", printable(&heading)))?;
                }
                output.status = 0;
                files(&args.of(left, right), common, host, output)
            }
            (Some(file), None) => alone(args, file, "left", output),
            (_, file) => {
                let file = file.as_deref().unwrap_or(right);
                alone(args, file, "right", output)
            }
        };
        output.status = output.status.max(status);
        written?;
    }
    Ok(())
}

/// The file in a folder that has the name of another file.
fn named_as(file: &Path, folder: &Path) -> PathBuf {
    folder.join(file.file_name().unwrap_or_default())
}

/// Tells that a file has no partner.
fn alone(args: &DiffArgs, file: &Path, side: &str, output: &mut Output<'_, '_>) -> io::Result<()> {
    output.status = DIFFERENT;
    if output.quiet {
        return Ok(());
    }
    if output.json {
        let name = json!({"file": file.to_string_lossy()});
        let (left, right) = match side {
            "left" => (name, json!(null)),
            _ => (json!(null), name),
        };
        return output.json_line(&json!({
            "format": json::FORMAT,
            "version": json::VERSION,
            "equal": false,
            "left": left,
            "right": right,
        }));
    }
    let file = file.display().to_string();
    if args.is_markdown() {
        let file = printable(&file).replace('`', "'");
        return output.line(format_args!("Only on the {side}: `{file}`\n"));
    }
    let style = match side {
        "left" => output.style.left,
        _ => output.style.right,
    };
    output.line(format_args!(
        "{style}only on the {side}{style:#}: {}",
        printable(&file)
    ))
}

/// Pairs files by their paths inside of the folders, then unpaired files by unique
/// names, and then a single unpaired file on each side.
fn pairs(left: &Path, lefts: &FileList, right: &Path, rights: &FileList) -> Vec<Pair> {
    let inside = |folder: &Path, file: &Path| file.strip_prefix(folder).unwrap_or(file).to_owned();
    let mut open: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for file in &rights.files {
        open.insert(inside(right, file), file.clone());
    }
    let mut pairs: Vec<Pair> = lefts
        .files
        .iter()
        .map(|file| Pair {
            left: Some(file.clone()),
            right: open.remove(&inside(left, file)),
        })
        .collect();
    let name = |file: &PathBuf| file.file_name().map(ToOwned::to_owned);
    let is_open = |pair: &&mut Pair| pair.right.is_none();
    let names: Vec<_> = pairs
        .iter_mut()
        .filter(is_open)
        .filter_map(|pair| name(pair.left.as_ref()?))
        .collect();
    for pair in pairs.iter_mut().filter(is_open) {
        let Some(wanted) = pair.left.as_ref().and_then(name) else {
            continue;
        };
        let candidates: Vec<PathBuf> = (open.iter())
            .filter(|(_, file)| name(file).as_ref() == Some(&wanted))
            .map(|(key, _)| key.clone())
            .collect();
        let is_one = names.iter().filter(|other| **other == wanted).count() == 1;
        if let ([key], true) = (&candidates[..], is_one) {
            pair.right = open.remove(key);
        }
    }
    let mut rest: Vec<&mut Pair> = pairs.iter_mut().filter(is_open).collect();
    if let ([pair], 1) = (&mut rest[..], open.len()) {
        pair.right = open.pop_first().map(|(_, file)| file);
    }
    pairs.extend(open.into_values().map(|file| Pair {
        left: None,
        right: Some(file),
    }));
    pairs
}

impl DiffArgs {
    /// The same for other files.
    fn of(&self, left: &Path, right: &Path) -> DiffArgs {
        DiffArgs {
            left: left.to_owned(),
            right: right.to_owned(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &[&str], right: &[&str], expected: &[(&str, &str)]) {
        let lists = [("l", left), ("r", right)].map(|(folder, files)| FileList {
            files: files
                .iter()
                .map(|file| Path::new(folder).join(file))
                .collect(),
            failures: Vec::new(),
        });
        let pairs = pairs(Path::new("l"), &lists[0], Path::new("r"), &lists[1]);
        let text = |file: &Option<PathBuf>| {
            file.as_ref().map_or_else(String::new, |file| {
                file.display().to_string().replace('\\', "/")
            })
        };
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|pair| (text(&pair.left), text(&pair.right)))
            .collect();
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(left, right)| ((*left).to_owned(), (*right).to_owned()))
            .collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn files_are_paired_by_path_and_name() {
        check(
            &["a/model.onnx", "b/model.onnx", "c.onnx"],
            &["b/model.onnx", "d.onnx", "x/c.onnx"],
            &[
                ("l/a/model.onnx", "r/d.onnx"),
                ("l/b/model.onnx", "r/b/model.onnx"),
                ("l/c.onnx", "r/x/c.onnx"),
            ],
        );
        check(
            &["a/m.onnx", "b/m.onnx"],
            &["c/m.onnx", "d/m.onnx"],
            &[
                ("l/a/m.onnx", ""),
                ("l/b/m.onnx", ""),
                ("", "r/c/m.onnx"),
                ("", "r/d/m.onnx"),
            ],
        );
        check(
            &["one.onnx"],
            &["other.onnx"],
            &[("l/one.onnx", "r/other.onnx")],
        );
    }
}
