//! Pages as files that commands write beside their usual output.

use std::path::{Path, PathBuf};

use clap::Args;
use isoform_page::Page;

use crate::input::is_dash;
use crate::output::{Failure, Output};
use crate::target::{check_target, write_whole};

/// The page of a command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PageArgs {
    /// Also write a page for browsers: one file of HTML, which needs no other file and no
    /// network; - is standard output, and replaces the usual output. An existing file is
    /// replaced only with --force.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// A page to be written, which may replace an existing file only with `force`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFile<'a> {
    pub(crate) file: &'a Path,
    force: bool,
}

impl PageArgs {
    /// Checks that the page may be written, before anything large is read, and that it replaces
    /// no file that the command reads or writes. None without a page.
    ///
    /// # Errors
    ///
    /// The file, and the reason.
    pub(crate) fn check(
        &self,
        force: bool,
        others: &[&Path],
        output: &Output<'_, '_>,
    ) -> Result<Option<PageFile<'_>>, (&Path, Failure)> {
        let Some(file) = self.html.as_deref() else {
            return Ok(None);
        };
        let checked = if is_dash(file) && output.json {
            Err("standard output gets JSON; give the page a file".into())
        } else {
            check_page(file, force, others)
        };
        checked.map_err(|failure| (file, failure))?;
        Ok(Some(PageFile { file, force }))
    }

    /// True if the page takes the place of the usual output.
    pub(crate) fn is_output(&self) -> bool {
        self.html.as_deref().is_some_and(is_dash)
    }
}

impl PageFile<'_> {
    /// Writes the page completely or not at all; a failure is reported.
    pub(crate) fn write(self, page: &Page, output: &mut Output<'_, '_>) -> std::io::Result<()> {
        let html = page.html();
        if is_dash(self.file) {
            return output.bytes(html.as_bytes());
        }
        if let Err(failure) = write_whole(self.file, self.force, html.as_bytes()) {
            output.failure(self.file, &failure);
        }
        Ok(())
    }
}

/// Checks that a page may be written, and replaces no file that the command reads or writes.
pub(crate) fn check_page(file: &Path, force: bool, others: &[&Path]) -> Result<(), Failure> {
    if is_dash(file) {
        return Ok(());
    }
    if let Some(other) = others.iter().find(|other| is_same_file(file, other)) {
        let other = other.display();
        return Err(format!("the page would take the place of '{other}'").into());
    }
    if let Some(folder) = missing_folder(file) {
        return Err(format!("the folder '{}' does not exist", folder.display()).into());
    }
    check_target(file, force)
}

/// True if two names lead to one file, or to one file that does not exist yet.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let whole = |file: &Path| {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        file.canonicalize()
            .ok()
            .or(Some(folder.join(file.file_name()?)))
    };
    !is_dash(other) && whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// The folder of a file, if there is no such folder: a result would be written without its page.
fn missing_folder(file: &Path) -> Option<&Path> {
    let folder = file.parent()?;
    let is_missing = !folder.as_os_str().is_empty() && !folder.is_dir();
    is_missing.then_some(folder)
}

/// The name of a file for people, without its folders.
pub(crate) fn title_of(file: &Path) -> String {
    if is_dash(file) {
        return "standard input".to_owned();
    }
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}
