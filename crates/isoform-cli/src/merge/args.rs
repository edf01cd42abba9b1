//! The command line of `isoform merge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use isoform::compare::Resolution;

use crate::args::TextArgs;
use crate::model_args::ModelArgs;

/// Merge the changes of two versions of a model or IR file since their common base.
///
/// A change of one side alone is taken over, the same change of both sides once. Names,
/// order and numbering are no changes, so one side may rename or renumber everything while
/// the other side edits; of models, the result has the names that each side gave. A
/// place that both sides changed in different ways is a conflict, and is shown with the
/// node concerned and its three versions.
///
/// The result is written only if nothing conflicts, or if --resolve says which version
/// counts. Before, the merge is checked: without the changes of one side, exactly the
/// changes of the other side remain. A merged model is also written in memory and read
/// again, and the result has to be the same program.
///
/// The name of the output determines the format, as in `isoform convert`; without a known
/// extension, it is that of LEFT. Large constants of a model stay in a file beside it if
/// those of LEFT do. Nodes that no output of a model needs are no part of its program,
/// and are not in the result.
#[derive(Args, Clone, Debug)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// The version from which both sides were made.
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// One side.
    #[arg(value_name = "LEFT")]
    pub(crate) left: PathBuf,
    /// The other side.
    #[arg(value_name = "RIGHT")]
    pub(crate) right: PathBuf,
    /// Write the merged file; - is standard output. By default, only conflicts are shown.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it exists.
    #[arg(short, long, requires = "output")]
    pub(crate) force: bool,
    /// Resolve each conflict by this version.
    #[arg(long, value_name = "VERSION", value_enum)]
    pub(crate) resolve: Option<Favored>,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// The version that wins where both sides changed a place.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Favored {
    /// The common base: neither change counts.
    Base,
    /// The left side.
    Left,
    /// The right side.
    Right,
}

impl Favored {
    pub(crate) fn resolution(self) -> Resolution {
        match self {
            Favored::Base => Resolution::Base,
            Favored::Left => Resolution::Left,
            Favored::Right => Resolution::Right,
        }
    }
}

const MERGE_HELP: &str = "\
Exit status:
  0  the merge is clean, or its conflicts were resolved by --resolve
  1  there are conflicts; nothing was written
  2  error: a file could not be read, or the output not be written; it is unchanged

JSON (--json), one object:
  {\"clean\": BOOL, \"base\": {\"file\": NAME}, \"left\": SIDE, \"right\": SIDE,
   \"conflicts\": [CONFLICT...], \"invalid\": TEXT or null, \"notes\": [TEXT...],
   \"to\": NAME or null, \"form\": \"json\", \"text\", \"binary\", \"onnx\" or null}
  SIDE is {\"file\": NAME, \"changes\": COUNT of different changes}
  CONFLICT is {\"path\": TEXT, \"place\": TEXT, \"origin\": ORIGIN or null, \"reason\": TEXT or null,
    \"base\": [TEXT...], \"left\": [TEXT...], \"right\": [TEXT...]}, the parts of each version at
    the place: none where a part was deleted or is not yet inserted. ORIGIN is the part of
    the base as in `isoform diff --json`. With \"reason\", no single place conflicts, and
    the parts are omitted
  \"invalid\" is the reason why the merged model would be wrong although no place conflicts:
    it could not be written and read again, an output would compute what no version asks for,
    or both sides changed one list of an attribute; nothing is written
  \"to\" is null if nothing was written
  On error: {\"failed\": [{\"file\": NAME, \"error\": MESSAGE}...]}

Examples:
  isoform merge base.onnx ours.onnx theirs.onnx
  isoform merge base.onnx ours.onnx theirs.onnx -o merged.onnx
  isoform merge base.iso ours.iso theirs.iso -o ours.iso --force
  isoform merge --resolve left base.onnx ours.onnx theirs.onnx -o merged.onnx
  isoform merge --json base.onnx ours.onnx theirs.onnx | jq -r '.conflicts[].place'
  isoform git install                     merges of git then use the same merge";
