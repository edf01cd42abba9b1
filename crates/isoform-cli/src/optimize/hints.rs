//! Hints below the summary: how much constants have grown, and how many nodes another option
//! would remove.

use std::io;
use std::path::Path;

use isoform_onnx::optimize::{Optimized, Report};

use super::args::RuleArgs;
use super::written::{bytes_text, tell};
use crate::output::Output;

/// A smaller growth of all constants, in bytes, is not worth a line.
const WORTH_TELLING: u64 = 1 << 10;

/// Fusion makes weights again; with more bytes of constants than this, that takes longer than
/// anybody would wait for a hint.
const MAX_BYTES: u64 = 64 << 20;

/// Prints the hints below the summary, one per line.
pub(super) fn print(
    rules: &RuleArgs,
    done: &Optimized,
    target: &Path,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let hints = [growth(&done.report), fusible(rules, done)];
    hints
        .into_iter()
        .flatten()
        .try_for_each(|hint| tell(target, &hint, output))
}

/// `+12.3 KB of folded constants; --max-constant 0 makes none`.
fn growth(report: &Report) -> Option<String> {
    let grown = report.bytes_after.saturating_sub(report.bytes_before);
    (grown >= WORTH_TELLING).then(|| {
        format!(
            "+{} of folded constants; --max-constant 0 leaves them out",
            bytes_text(grown)
        )
    })
}

/// `--fuse would remove 47 more nodes`; None if fusing would remove no nodes, or was
/// requested.
fn fusible(rules: &RuleArgs, done: &Optimized) -> Option<String> {
    let is_choice = rules.fuse || !rules.only.is_empty();
    if is_choice || done.report.bytes_after > MAX_BYTES {
        return None;
    }
    let fused = rules.options().fuse(true).optimize(&done.program).ok()?;
    let (before, after) = (fused.report.nodes_before, fused.report.nodes_after);
    match before.saturating_sub(after) {
        0 => None,
        1 => Some("--fuse would remove 1 more node".to_owned()),
        more => Some(format!("--fuse would remove {more} more nodes")),
    }
}
