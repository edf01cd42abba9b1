//! `isoform man`: writes manual pages, one for each command.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;

use crate::output::{Failure, Output, counted};
use crate::target::{check_target, write_whole};

/// Write manual pages, one for each command, into a folder.
#[derive(Args, Debug)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// The folder, which is made if it does not exist.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Replace pages that exist.
    #[arg(long)]
    pub(crate) force: bool,
}

const MAN_HELP: &str = "\
Exit status:
  0  the pages were written
  2  a page exists or could not be written

Examples:
  isoform man ~/.local/share/man/man1
  isoform man --force ~/.local/share/man/man1; man isoform-diff";

pub(crate) fn run(
    args: &ManArgs,
    command: clap::Command,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    if let Err(error) = std::fs::create_dir_all(&args.folder) {
        return output.failed_file(&args.folder, &error.to_string().into());
    }
    let files: Vec<_> = pages
        .iter()
        .map(|(name, page)| (args.folder.join(name), page))
        .collect();
    // All or none, as far as it is known before.
    let checked = files
        .iter()
        .map(|(file, _)| (file, check_target(file, args.force)));
    let failed = |file: &Path, failure: &Failure, output: &mut Output<'_, '_>| {
        output.failed_file(file, failure)
    };
    for (file, checked) in checked.collect::<Vec<_>>() {
        if let Err(failure) = checked {
            return failed(file, &failure, output);
        }
    }
    for (file, page) in &files {
        if let Err(failure) = write_whole(file, args.force, page) {
            return failed(file, &failure, output);
        }
    }
    if output.quiet {
        return Ok(());
    }
    let folder = args.folder.display();
    output.line(format_args!("{folder}: {}", counted(files.len(), "page")))
}

/// The pages of a command and of the commands inside of it, by the names of their files.
fn collect(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for inner in command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
    {
        collect(inner, pages)?;
    }
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    Ok(())
}
