//! The command line of `isoform git`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Let git show models and IR files as text, and merge them as programs.
///
/// After `isoform git install`, `git diff`, `git log -p` and `git show` print the lines of a
/// model that changed, `git difftool --tool isoform` compares two versions as programs, and
/// `git merge`, `git rebase` and `git stash pop` merge models node by node.
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
    MergeDriver(DriverArgs),
}

/// Configure git for .onnx, .iso and .isob files, in the current repository or everywhere.
///
/// Sets diff.isoform.textconv, difftool.isoform.cmd and merge.isoform.driver in the
/// configuration, and adds lines to the file .gitattributes at the top of the repository, or
/// with --global to the file of the user. The rest of these files stays unchanged, and a
/// second run changes nothing.
#[derive(Args, Debug)]
#[command(after_help = GIT_HELP)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Let git show names by structure: `isoform git textconv --canonical`.
    ///
    /// A renamed or renumbered model then has no changed lines, and the text no longer has
    /// the names of the file. A run without this option changes it back.
    #[arg(long)]
    pub(crate) canonical: bool,
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
    /// Name the values of a model or IR file by structure, as `isoform show --canonical`.
    #[arg(long)]
    pub(crate) canonical: bool,
}

/// Merge a file for git.
///
/// Git runs this command for files with the attribute merge=isoform. A clean merge replaces
/// the current version, as `isoform merge` would write it. After a conflict, the current
/// version stays as it is, the conflicts are described on standard error, and git marks the
/// file as conflicting: resolve it with `isoform merge --resolve`, or take a side with
/// `git checkout --ours` or `--theirs`, and `git add` it. Pointers of Git LFS are replaced by
/// the files to which they point, and the result by its pointer. Models with external data are
/// not merged, because git merges one file at a time.
#[derive(Args, Debug)]
#[command(after_help = DRIVER_HELP)]
pub(crate) struct DriverArgs {
    /// The version of the common ancestor, %O.
    #[arg(value_name = "ANCESTOR")]
    pub(crate) ancestor: PathBuf,
    /// The current version, %A, which the merged file replaces.
    #[arg(value_name = "CURRENT")]
    pub(crate) current: PathBuf,
    /// The version of the other branch, %B.
    #[arg(value_name = "OTHER")]
    pub(crate) other: PathBuf,
    /// The size of conflict markers, %L, which is not used.
    #[arg(value_name = "MARKER")]
    pub(crate) marker: Option<String>,
    /// The name of the file in the repository, %P, for messages.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<PathBuf>,
}

const DRIVER_HELP: &str = "\
Exit status:
  0  CURRENT is the merged file
  1  there are conflicts, and CURRENT is unchanged
  2  error: a version could not be read or the result not be written; CURRENT is unchanged

JSON (--json): as `isoform merge`; on error, {\"failed\": [{\"file\": NAME, \"error\": MESSAGE}...]}

Examples:
  git config merge.isoform.driver 'isoform git merge-driver -- %O %A %B %L %P'
  echo '*.onnx merge=isoform' >> .gitattributes
  isoform git install                     does both";

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
  isoform git install --canonical
  isoform git install --print
  git difftool --tool isoform HEAD~1 -- model.onnx
  isoform git uninstall";
