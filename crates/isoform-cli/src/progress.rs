//! The progress bar: drawn on a terminal, silent elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for `total` models, invisible unless `visible` is set.
///
/// It is drawn on standard error, which the caller has checked to be a terminal, and
/// leaves no trace when it is cleared or dropped.
pub(crate) fn bar(total: usize, visible: bool) -> ProgressBar {
    let target = if visible {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    // The template is a constant; if it were wrong, the default style would do.
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} models  {eta} {wide_msg}")
    {
        bar.set_style(style);
    }
    bar.with_finish(indicatif::ProgressFinish::AndClear)
}
