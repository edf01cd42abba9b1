//! The files of the repository, or of an example in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths relative to the root, with `/` between their parts, and the texts. A file
/// that is not UTF-8 text is included with an empty text.
pub(crate) struct Repo {
    pub(crate) files: BTreeMap<String, String>,
}

impl Repo {
    /// The files that git tracks, or would track after `git add`; without git, every
    /// file except build output.
    pub(crate) fn load() -> Self {
        let root = root();
        let paths = git_files(&root).unwrap_or_else(|| walk(&root));
        let files = paths
            .into_iter()
            .filter(|path| root.join(path).is_file())
            .map(|path| {
                let bytes = fs::read(root.join(&path)).expect("a listed file can be read");
                (path, String::from_utf8(bytes).unwrap_or_default())
            })
            .collect();
        Repo { files }
    }

    pub(crate) fn example<const N: usize>(files: [(&str, &str); N]) -> Self {
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        Repo {
            files: files.into(),
        }
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// True if a file, or a folder with files, has this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.starts_with(&folder))
    }

    /// The files whose name ends so.
    pub(crate) fn ending(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self
            .files
            .iter()
            .filter(move |(path, _)| path.ends_with(suffix));
        all.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources compiled into the crates, without tests.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ending(".rs").filter(|(path, _)| {
            path.starts_with("fuzz/src/")
                || path
                    .strip_prefix("crates/")
                    .and_then(|rest| rest.split_once('/'))
                    .is_some_and(|(_, rest)| rest.starts_with("src/"))
        })
    }
}

pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .ancestors()
        .nth(2)
        .expect("the crate lies two folders below the root")
        .to_owned()
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let list = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = list
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    (!paths.is_empty()).then_some(paths)
}

fn walk(root: &Path) -> Vec<String> {
    const OUTPUT: [&str; 6] = [
        "target",
        ".git",
        ".venv",
        ".cache",
        ".pytest_cache",
        ".ruff_cache",
    ];
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder can be read") {
            let entry = entry.expect("a folder can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if entry.path().is_file() {
                paths.push(path.to_string_lossy().replace('\\', "/"));
            } else if entry.path().is_dir()
                && !entry.path().is_symlink()
                && !OUTPUT.contains(&name.as_str())
            {
                folders.push(path);
            }
        }
    }
    paths
}

/// Joins a relative path to a folder and resolves `.` and `..`; `None` outside of the
/// repository.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a file, empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[test]
fn paths_are_joined() {
    assert_eq!(
        join("docs", "../crates/./a.rs").as_deref(),
        Some("crates/a.rs")
    );
    assert_eq!(join("docs", "../../a.rs"), None);
    assert_eq!(folder("a/b.rs"), "a");
    assert_eq!(folder("b.rs"), "");
}

#[test]
fn both_ways_to_list_see_this_file() {
    let here = "crates/isoform-tests/tests/tidy/repo.rs";
    assert!(walk(&root()).iter().any(|path| path == here));
    assert!(Repo::load().has(here));
}
