//! `isoform git`: configures git to show models and IR files as text, and to merge them.
//!
//! Git itself changes the configuration. Only the file of attributes, for which git has
//! no command, is edited, by `attributes.rs`. `driver.rs` is the merge driver, `lfs.rs` the
//! files that Git LFS keeps elsewhere.

pub(crate) mod args;
mod attributes;
mod driver;
mod lfs;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use isoform::Value;
use isoform::compare::CompareOptions;
use serde_json::json;

use crate::args::{Common, ShowArgs, TextArgs};
use crate::imports::RunOptions;
use crate::output::{Failure, Output, SUCCESS, printable};
use crate::show;
use args::{GitArgs, GitCommand, InstallArgs, TargetArgs, TextconvArgs};
use attributes::AttributesEdit;

/// The largest file whose tensors are printed in full.
const FULL_TENSORS: u64 = 1 << 20;

pub(crate) fn run(
    args: &GitArgs,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let (target, installed) = match &args.command {
        GitCommand::Textconv(args) => return textconv(args, common, output),
        GitCommand::MergeDriver(args) => return driver::run(args, common, output),
        GitCommand::Install(args) => (&args.target, Some(settings(args, host))),
        GitCommand::Uninstall(args) => (&args.target, None),
    };
    match changes(target, installed.as_ref()) {
        Ok(changes) => report(target, &changes, output),
        Err(failure) => output.failed_file(Path::new("git"), &failure),
    }
}

fn report(target: &TargetArgs, changes: &[String], output: &mut Output<'_, '_>) -> io::Result<()> {
    if output.json {
        return output.json_line(&json!({"changes": changes, "done": !target.print}));
    }
    if output.quiet && !target.print {
        return Ok(());
    }
    if changes.is_empty() {
        return output.faint("# nothing to change");
    }
    for change in changes {
        output.line(printable(change))?;
    }
    Ok(())
}

/// The keys of the configuration.
const KEYS: [&str; 5] = [
    "diff.isoform.textconv",
    "difftool.isoform.cmd",
    "merge.isoform.name",
    "merge.isoform.driver",
    "merge.isoform.recursive",
];

/// Words in the values that some version of isoform set for each key.
const OURS: [&str; KEYS.len()] = [
    " git textconv",
    " diff ",
    "models and IR files as programs",
    " git merge-driver ",
    "binary",
];

/// The key that tells that the file of attributes did not exist before.
const MADE: &str = "isoform.madeattributes";

/// The wanted value of each key.
fn settings(args: &InstallArgs, host: &RunOptions<'_>) -> [String; KEYS.len()] {
    let program = host.command_line();
    let canonical = if args.canonical { " --canonical" } else { "" };
    [
        format!("{program} git textconv{canonical} --"),
        format!("{program} diff -- \"$LOCAL\" \"$REMOTE\""),
        "models and IR files as programs".to_owned(),
        format!("{program} git merge-driver -- %O %A %B %L %P"),
        // The merged ancestors of a criss-cross merge: with a conflict, one of their sides
        // would count as the base, and its change on the other side as no change.
        "binary".to_owned(),
    ]
}

/// Applies the changes, unless `--print` asks for a dry run. Returns the changes as shell
/// commands, with comments on settings of others. Without settings, the changes are undone.
fn changes(
    target: &TargetArgs,
    settings: Option<&[String; KEYS.len()]>,
) -> Result<Vec<String>, Failure> {
    let scope = if target.global { "--global" } else { "--local" };
    let file = if target.global {
        global_attributes()?
    } else {
        top_of_repository()?.join(".gitattributes")
    };
    let mut changes = Vec::new();
    let config = |arguments: &[&str]| -> Result<String, Failure> {
        let arguments = [&["config", scope], arguments].concat();
        if !target.print {
            git(&arguments)?;
        }
        let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        Ok(format!("git {}", words.join(" ")))
    };
    for (number, key) in KEYS.into_iter().enumerate() {
        let wanted = settings.map(|settings| &settings[number]);
        let Some(setting) = ask(&["config", scope, "--get-all", key])? else {
            if let Some(wanted) = wanted {
                changes.push(config(&["--replace-all", key, wanted])?);
            }
            continue;
        };
        let is_ours = setting.contains(OURS[number]);
        match wanted {
            Some(wanted) if setting == *wanted => {}
            Some(wanted) => {
                if !is_ours {
                    changes.push(format!("# replaces {key}: {}", quoted(&setting)));
                }
                changes.push(config(&["--replace-all", key, wanted])?);
            }
            None if is_ours => changes.push(config(&["--unset-all", key])?),
            None => changes.push(format!("# keeps {key}: {}", quoted(&setting))),
        }
    }
    let made = ask(&["config", scope, "--get", MADE])?.is_some();
    let edit = AttributesEdit::new(&file, settings.is_some(), made)?;
    if settings.is_some() && edit.old.is_none() && !made {
        changes.push(config(&["--replace-all", MADE, "true"])?);
    } else if settings.is_none() && made {
        changes.push(config(&["--unset-all", MADE])?);
    }
    changes.extend(edit.commands());
    if !target.print {
        edit.apply()?;
    }
    Ok(changes)
}

/// The folder of the current repository.
fn top_of_repository() -> Result<PathBuf, Failure> {
    match ask(&["rev-parse", "--show-toplevel"])? {
        Some(top) if !top.is_empty() => Ok(PathBuf::from(top)),
        _ => Err("the current folder is not in a repository with a working tree; go to one, or configure the user with --global".into()),
    }
}

/// The file of attributes of the user.
fn global_attributes() -> Result<PathBuf, Failure> {
    let key = "core.attributesFile";
    if let Some(file) = ask(&["config", "--global", "--type=path", "--get", key])? {
        return Ok(PathBuf::from(file));
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = match set("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let home = set("HOME")
                .or_else(|| set("USERPROFILE"))
                .ok_or("the environment has no HOME; set core.attributesFile")?;
            PathBuf::from(home).join(".config")
        }
    };
    Ok(folder.join("git/attributes"))
}

/// Runs git and returns the printed text, or None if git fails.
fn ask(arguments: &[&str]) -> Result<Option<String>, Failure> {
    let ran = Command::new("git")
        .args(arguments)
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "git is not found; install it, or add it to PATH".to_owned(),
            _ => format!("git does not start: {error}"),
        })?;
    if !ran.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Runs git for its effect.
fn git(arguments: &[&str]) -> Result<(), Failure> {
    match ask(arguments)? {
        Some(_) => Ok(()),
        None => Err(format!(
            "'git {}' failed; run it by hand to see why",
            arguments.join(" ")
        )
        .into()),
    }
}

impl RunOptions<'_> {
    /// The words that start this program in a shell.
    fn command_line(&self) -> String {
        let words: Vec<String> = match self.program_words() {
            [] => {
                let path = std::env::current_exe().unwrap_or_else(|_| "isoform".into());
                vec![path.to_string_lossy().into_owned()]
            }
            words => words
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
        };
        let words = words.iter().map(|word| quoted(word));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@+,%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn textconv(args: &TextconvArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    let bytes = std::fs::metadata(&args.file).map_or(0, |found| found.len());
    let show_args = ShowArgs {
        file: args.file.clone(),
        skip_external_data: true,
        canonical: args.canonical,
        any_file: true,
        text: TextArgs {
            full_tensors: bytes <= FULL_TENSORS,
            ..TextArgs::default()
        },
        ..ShowArgs::default()
    };
    if let Some(failure) = show::print(&show_args, common, output)? {
        output.line(format_args!("# isoform: {}", printable(&failure.message)))?;
        output.line(format_args!("# {bytes} bytes{}", digest_of(&args.file)))?;
    }
    // A failure here would end `git diff` for all files.
    output.status = SUCCESS;
    Ok(())
}

/// The digest of the bytes of a file, to distinguish versions of the file.
fn digest_of(file: &Path) -> String {
    let bytes = std::fs::read(file).ok();
    let digest = bytes.and_then(|bytes| {
        let value = Value::from(bytes.as_slice());
        CompareOptions::default().digest(value).ok()
    });
    digest.map_or(String::new(), |digest| format!(", digest {digest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("/usr/bin/isoform"), "/usr/bin/isoform");
        assert_eq!(quoted("/my files/it's"), "'/my files/it'\\''s'");
        assert_eq!(quoted(""), "''");
        let words = ["/my env/python", "-m", "isoform"];
        let host = RunOptions::default().program(words);
        assert_eq!(host.command_line(), "'/my env/python' -m isoform");
    }
}
