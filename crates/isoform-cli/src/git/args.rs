//! The command line of `isoform git`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Let git show models and IR files as text.
///
/// After `isoform git install`, `git diff`, `git log -p` and `git show` print the lines of a
/// model that changed, and `git difftool --tool isoform` compares two versions as programs.
#[derive(Args, Debug)]
#[command(after_help = GIT_HELP)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    pub(crate) command: GitCommand,
}

/// The command of `isoform git` to run.
#[derive(Subcommand, Debug)]
pub(crate) enum GitCommand {
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Textconv(TextconvArgs),
}

/// Configure git for .onnx, .iso and .isob files, in the current repository or everywhere.
///
/// Sets diff.isoform.textconv and difftool.isoform.cmd in the configuration, and adds
/// lines to the file .gitattributes at the top of the repository, or with --global to
/// the file of the user. The rest of these files stays unchanged, and a second run
/// changes nothing.
#[derive(Args, Debug)]
#[command(after_help = GIT_HELP)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// Undo `isoform git install`.
#[derive(Args, Debug)]
#[command(after_help = GIT_HELP)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// The configuration to change.
#[derive(Args, Debug)]
pub(crate) struct TargetArgs {
    /// Change the configuration of the user instead of the current repository.
    #[arg(long)]
    pub(crate) global: bool,
    /// Print the changes without making them.
    #[arg(long)]
    pub(crate) print: bool,
}

/// Print a file for `git diff`.
///
/// As `isoform show --skip-external-data`, because git writes old versions to a temporary
/// folder without their external data. The problem and the digest of a file that cannot be read
/// are printed, too, because an error would end `git diff`.
#[derive(Args, Debug)]
#[command(after_help = GIT_HELP)]
pub(crate) struct TextconvArgs {
    /// The file to print.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

const GIT_HELP: &str = "\
Exit status:
  0  done, or there was nothing to change
  2  error: git is missing, this is not a repository, or a file could not be written

JSON (--json), one object:
  {\"changes\": [TEXT...], \"done\": BOOL}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform git install
  isoform git install --global
  isoform git install --print
  git difftool --tool isoform HEAD~1 -- model.onnx
  isoform git uninstall";
