//! `isoform diff --html` and `--format`: the difference as a page, as Markdown, or as a picture.

use std::io;
use std::path::Path;

use isoform_page::Page;
use isoform_page::page::Section;

use super::args::{DiffArgs, DiffFormat};
use crate::input::is_dash;
use crate::output::{Failure, Output};
use crate::pages::file::check_page;
use crate::pages::pictures::PictureFormat;
use crate::target::write_whole;

/// Checks the options that choose the form of the output, before anything is read; the
/// failure concerns the file.
pub(super) fn check<'a>(
    args: &'a DiffArgs,
    output: &mut Output<'_, '_>,
) -> Result<(), (&'a Path, Failure)> {
    let format = args.format.unwrap_or_default();
    let told = args.left.as_path();
    if output.json && args.format.is_some_and(|format| format != DiffFormat::Json) {
        let name = format.name();
        let reason = format!("--json and --format {name} exclude each other");
        return Err((told, reason.into()));
    }
    output.json |= format == DiffFormat::Json;
    if args.first && format == DiffFormat::Markdown {
        let reason = "--first has no Markdown; --format markdown shows all changes";
        return Err((told, reason.into()));
    }
    if format.picture().is_some() {
        check_picture(args, format).map_err(|failure| (told, failure))?;
    }
    let Some(page) = &args.html else {
        return Ok(());
    };
    if is_dash(page) && args.format.is_some_and(|format| format != DiffFormat::Text) {
        let name = format.name();
        let reason = format!("standard output gets --format {name}; give the page a file");
        return Err((page, reason.into()));
    }
    if is_dash(page) && output.json {
        let reason = "standard output gets JSON; give the page a file";
        return Err((page, reason.into()));
    }
    if args.left.is_dir() && args.right.is_dir() {
        let reason = "--html is one page for one pair of files; compare two files of these \
                      folders, or use --format markdown";
        return Err((told, reason.into()));
    }
    let inputs = [args.left.as_path(), args.right.as_path()];
    check_page(page, args.force, &inputs).map_err(|failure| (page.as_path(), failure))
}

fn check_picture(args: &DiffArgs, format: DiffFormat) -> Result<(), Failure> {
    let name = format.name();
    if args.first || args.stat {
        let option = if args.first { "--first" } else { "--stat" };
        return Err(
            format!("--format {name} draws all changes, so {option} has no picture").into(),
        );
    }
    if args.left.is_dir() && args.right.is_dir() {
        let reason = format!(
            "--format {name} is one picture for one pair of files; compare two files of these folders"
        );
        return Err(reason.into());
    }
    Ok(())
}

/// True if a comparison needs a page.
pub(super) fn is_wanted(args: &DiffArgs, output: &Output<'_, '_>) -> bool {
    args.html.is_some() || (args.is_markdown() && !output.quiet)
}

/// Writes the page to its file, and to standard output if it replaces the text there.
/// Returns true if nothing else is to be printed.
pub(super) fn write(
    args: &DiffArgs,
    mut page: Page,
    output: &mut Output<'_, '_>,
) -> io::Result<bool> {
    if let Some(file) = &args.html {
        let html = page.html();
        if is_dash(file) {
            output.bytes(html.as_bytes())?;
            return Ok(true);
        }
        if let Err(failure) = write_whole(file, args.force, html.as_bytes()) {
            output.failed_file(file, &failure)?;
            return Ok(true);
        }
    }
    if !args.is_markdown() || output.quiet {
        return Ok(false);
    }
    if args.stat {
        page.sections
            .retain(|section| matches!(section, Section::Table(_)));
    }
    output.bytes(page.markdown(None).as_bytes())?;
    Ok(true)
}

impl DiffArgs {
    /// The format of the picture to print instead of text.
    pub(super) fn picture(&self) -> Option<PictureFormat> {
        self.format.and_then(DiffFormat::picture)
    }

    /// True if the difference is printed as Markdown.
    pub(super) fn is_markdown(&self) -> bool {
        self.format == Some(DiffFormat::Markdown)
    }

    /// The names of both files for people.
    pub(super) fn names(&self) -> [String; 2] {
        [&self.left, &self.right].map(|file| {
            if is_dash(file) {
                "standard input".to_owned()
            } else {
                file.to_string_lossy().into_owned()
            }
        })
    }
}
