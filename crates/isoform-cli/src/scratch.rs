//! Temporary folders.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A temporary folder that is removed even if a signal ends this process.
pub(crate) struct Folder {
    folder: TempDir,
    /// A process that outlives this process, and removes the folder.
    heir: Option<Child>,
}

impl Folder {
    pub(crate) fn new() -> io::Result<Folder> {
        let folder = TempDir::with_prefix("isoform-")?;
        let heir = heir(folder.path());
        Ok(Folder { folder, heir })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(heir) = &mut self.heir {
            // Without one, the folder removes itself.
            drop(heir.stdin.take());
            let _ = heir.wait();
        }
    }
}

/// Starts a shell that waits for the end of its input, held open only by this process,
/// and removes the folder. A signal handler would not be enough: the process may belong
/// to a host with handlers, and may end without a signal.
#[cfg(unix)]
fn heir(folder: &Path) -> Option<Child> {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new("sh");
    command.args(["-c", "read -r _; rm -rf -- \"$1\"", "sh"]);
    command.arg(folder).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // Signals of a terminal go to a whole group of processes.
    command.process_group(0).spawn().ok()
}

#[cfg(not(unix))]
fn heir(_folder: &Path) -> Option<Child> {
    None
}
