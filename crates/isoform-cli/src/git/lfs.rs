//! Files that Git LFS keeps elsewhere, and to which pointers lead.
//!
//! Git hands a merge driver the pointers, as they are in its database.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::output::Failure;

const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// A version of a file: itself, or the file to which it points.
pub(super) struct Version {
    path: PathBuf,
    /// The folder of the file to which a pointer leads.
    folder: Option<TempDir>,
}

impl Version {
    /// Fetches the file to which a pointer leads, or keeps another file.
    ///
    /// # Errors
    ///
    /// A message if the file cannot be read, or if Git LFS has no such file.
    pub(super) fn of(path: &Path, name: &Path) -> Result<Self, Failure> {
        if !is_pointer(path)? {
            return Ok(Version {
                path: path.to_owned(),
                folder: None,
            });
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("version");
        filter("smudge", name, path, &file)?;
        // Without access to the server, `git lfs smudge` passes the pointer on.
        if is_pointer(&file)? {
            return Err("Git LFS does not have the file of this pointer; run 'git lfs fetch --all', and merge again".into());
        }
        Ok(Version {
            path: file,
            folder: Some(folder),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if the version is a pointer.
    pub(super) fn is_pointer(&self) -> bool {
        self.folder.is_some()
    }
}

/// Stores a file in Git LFS, and writes its pointer to another file.
pub(super) fn store(file: &Path, name: &Path, pointer: &Path) -> Result<(), Failure> {
    filter("clean", name, file, pointer)
}

fn is_pointer(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.map_err(|error| error.to_string())?;
    Ok(start.starts_with(POINTER))
}

/// Runs a filter of Git LFS from one file to another.
fn filter(filter: &str, name: &Path, from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| error.to_string();
    let ran = Command::new("git")
        .args(["lfs", filter, "--"])
        .arg(name)
        .stdin(File::open(from).map_err(failed)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("git does not start: {error}"))?;
    if !ran.status.success() {
        let reason = String::from_utf8_lossy(&ran.stderr);
        let reason = reason.lines().next().unwrap_or("no reason given");
        return Err(format!(
            "this is a pointer of Git LFS, and 'git lfs {filter}' failed: {reason}"
        )
        .into());
    }
    let mut target = File::create(to).map_err(failed)?;
    target.write_all(&ran.stdout).map_err(failed)?;
    Ok(())
}
