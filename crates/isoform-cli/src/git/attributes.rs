//! The file of attributes, for which git has no command.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isoform_onnx::WholeFile;

use super::quoted;
use crate::output::Failure;

/// The lines that tell git which files to show as text and to merge as programs.
///
/// Files of weights have no lines: git would read gigabytes for each `git log -p`, and
/// they cannot be merged, because isoform does not write them. Neither has `*.json`, which
/// mostly belongs to other programs.
const ATTRIBUTES: [&str; 6] = [
    "*.onnx diff=isoform",
    "*.iso diff=isoform",
    "*.isob diff=isoform",
    "*.onnx merge=isoform",
    "*.iso merge=isoform",
    "*.isob merge=isoform",
];

/// A change of a file of attributes. Other lines are kept byte for byte.
pub(super) struct AttributesEdit {
    file: PathBuf,
    /// None if there is no such file.
    pub(super) old: Option<Vec<u8>>,
    /// None if the file goes.
    new: Option<Vec<u8>>,
    /// The lines added or removed.
    lines: Vec<&'static str>,
    installs: bool,
}

impl AttributesEdit {
    /// Adds our lines to a file, or removes them. A file that we made goes with its last line.
    ///
    /// # Errors
    ///
    /// A message if the file cannot be read.
    pub(super) fn new(file: &Path, installs: bool, made: bool) -> Result<Self, Failure> {
        let old = match std::fs::read(file) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(file, &error)),
        };
        let (new, lines) = edited(old.as_deref().unwrap_or_default(), installs);
        let goes = !installs && made && new.is_empty();
        Ok(AttributesEdit {
            file: file.to_owned(),
            old,
            new: (!goes).then_some(new),
            lines,
            installs,
        })
    }

    /// The change as commands of a shell.
    pub(super) fn commands(&self) -> Vec<String> {
        let name = quoted(&self.file.to_string_lossy());
        let old = self.old.as_deref().unwrap_or_default();
        let mut commands = Vec::new();
        if self.lines.is_empty() {
            return commands;
        }
        let Some(_) = &self.new else {
            return vec![format!("rm {name}")];
        };
        if !self.installs {
            let lines = self.lines.iter();
            return lines
                .map(|line| format!("sed -i {} {name}", quoted(&deletion(line))))
                .collect();
        }
        let folder = self.file.parent().filter(|folder| !folder.exists());
        commands
            .extend(folder.map(|folder| format!("mkdir -p {}", quoted(&folder.to_string_lossy()))));
        let echo = |line: &str| match line_end(old) {
            b"\n" if line.is_empty() => format!("echo >> {name}"),
            b"\n" => format!("echo {} >> {name}", quoted(line)),
            _ => format!("printf '%s\\r\\n' {} >> {name}", quoted(line)),
        };
        if lacks_end(old) {
            commands.push(echo(""));
        }
        commands.extend(self.lines.iter().map(|line| echo(line)));
        commands
    }

    /// Changes the file.
    ///
    /// # Errors
    ///
    /// A message if the file cannot be written.
    pub(super) fn apply(&self) -> Result<(), Failure> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let file = &self.file;
        let write = || -> io::Result<()> {
            let Some(new) = &self.new else {
                return std::fs::remove_file(file);
            };
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut whole = WholeFile::create(file)?;
            whole.write_all(new)?;
            whole.keep()
        };
        write().map_err(|error| failed(file, &error))
    }
}

fn failed(file: &Path, error: &io::Error) -> Failure {
    format!("{}: {error}", file.display()).into()
}

/// The expression of sed that deletes a line.
fn deletion(line: &str) -> String {
    let line = line.replace('*', "[*]").replace('.', "[.]");
    format!("\\|^[[:space:]]*{line}[[:space:]]*$|d")
}

fn line_end(text: &[u8]) -> &'static [u8] {
    if text.windows(2).any(|end| end == b"\r\n") {
        b"\r\n"
    } else {
        b"\n"
    }
}

/// True if the last line of a text has no end.
fn lacks_end(text: &[u8]) -> bool {
    !text.is_empty() && !text.ends_with(b"\n")
}

/// Adds our lines to the contents of an attributes file, or removes our lines. Returns the
/// new contents and the changed lines.
fn edited(old: &[u8], installs: bool) -> (Vec<u8>, Vec<&'static str>) {
    let same = |line: &[u8], ours: &str| line.trim_ascii() == ours.as_bytes();
    let lines = || old.split_inclusive(|&byte| byte == b'\n');
    let is_there = |ours: &&&str| lines().any(|line| same(line, ours));
    if installs {
        let missing: Vec<&str> = ATTRIBUTES
            .iter()
            .filter(|ours| !is_there(ours))
            .copied()
            .collect();
        let mut new = old.to_vec();
        let end = line_end(old);
        if !missing.is_empty() && lacks_end(old) {
            new.extend(end);
        }
        for line in &missing {
            new.extend(line.as_bytes());
            new.extend(end);
        }
        return (new, missing);
    }
    let present = ATTRIBUTES.iter().filter(is_there).copied().collect();
    let kept = lines().filter(|line| !ATTRIBUTES.iter().any(|ours| same(line, ours)));
    (kept.flatten().copied().collect(), present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, installed: &str, removed: &str) {
        let (new, _) = edited(old.as_bytes(), true);
        assert_eq!(String::from_utf8(new.clone()).unwrap(), installed);
        assert_eq!(edited(&new, true), (new.clone(), vec![]));
        let (back, _) = edited(&new, false);
        assert_eq!(String::from_utf8(back.clone()).unwrap(), removed);
        assert_eq!(edited(&back, false), (back.clone(), vec![]));
    }

    #[test]
    fn lines_of_others_are_kept() {
        let ours = "*.onnx diff=isoform\n*.iso diff=isoform\n*.isob diff=isoform\n\
                    *.onnx merge=isoform\n*.iso merge=isoform\n*.isob merge=isoform\n";
        check("", ours, "");
        check(
            "*.txt text\n",
            &format!("*.txt text\n{ours}"),
            "*.txt text\n",
        );
        // The last line gets its end.
        check("*.txt text", &format!("*.txt text\n{ours}"), "*.txt text\n");
        check(
            "  *.iso diff=isoform \n*.iso text\n",
            "  *.iso diff=isoform \n*.iso text\n*.onnx diff=isoform\n*.isob diff=isoform\n\
             *.onnx merge=isoform\n*.iso merge=isoform\n*.isob merge=isoform\n",
            "*.iso text\n",
        );
        let windows = ours.replace('\n', "\r\n");
        check("a b\r\n", &format!("a b\r\n{windows}"), "a b\r\n");
    }
}
