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
    /// Checks that the page may be written, before anything large is read, and that it is not
    /// the result of the command. None without a page.
    ///
    /// # Errors
    ///
    /// The file, and the reason.
    pub(crate) fn check(
        &self,
        force: bool,
        result: Option<&Path>,
        output: &Output<'_, '_>,
    ) -> Result<Option<PageFile<'_>>, (&Path, Failure)> {
        let Some(file) = self.html.as_deref() else {
            return Ok(None);
        };
        let checked = if is_dash(file) && output.json {
            Err("standard output gets JSON; give the page a file".into())
        } else if result == Some(file) && !is_dash(file) {
            Err("the page and the result would be the same file".into())
        } else if let Some(folder) = missing_folder(file) {
            Err(format!("the folder '{}' does not exist", folder.display()).into())
        } else {
            check_target(file, force)
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

/// The folder of a file, if there is no such folder: a result would be written without its page.
fn missing_folder(file: &Path) -> Option<&Path> {
    let folder = file.parent()?;
    let is_missing = !folder.as_os_str().is_empty() && !folder.is_dir();
    is_missing.then_some(folder)
}

/// The name of a file for people.
pub(crate) fn title_of(file: &Path) -> String {
    if is_dash(file) {
        "standard input".to_owned()
    } else {
        file.to_string_lossy().into_owned()
    }
}
