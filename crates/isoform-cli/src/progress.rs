//! The progress bar: drawn on a terminal, silent elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for `total` models, invisible unless `visible` is set.
///
/// The bar is drawn on standard error, which the caller has checked to be a terminal,
/// and leaves no trace when cleared or dropped.
pub(crate) fn bar(total: usize, visible: bool) -> ProgressBar {
    bar_of(total, visible, "models")
}

/// As [`bar`], for other things than models.
pub(crate) fn bar_of(total: usize, visible: bool, what: &str) -> ProgressBar {
    let target = if visible {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    // The template is a constant; if it were wrong, the default style would do.
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what}  {{eta}} {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.with_finish(indicatif::ProgressFinish::AndClear)
}

/// A line of text that changes, invisible unless `visible` is set.
pub(crate) fn line(visible: bool) -> ProgressBar {
    let bar = bar_of(0, visible, "");
    // The template is a constant; if it were wrong, the default style would do.
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    bar
}
