//! Listings as plain text with marks, for readers without script, notebooks and reviews.

use maud::{Markup, html};

use super::cards::pieces;
use super::text::counted;
use super::{Line, Listing, Row};
use crate::Mark;

/// The number of lines of a listing without script.
const TEXT_LINES: usize = 200;

/// The number of unchanged rows that are shown around changed ones.
const CONTEXT: usize = 3;

/// The first lines: deleted and inserted ones with a few unchanged ones around them, or all
/// lines where none is changed. Takes linear time.
pub(super) fn text(listing: &Listing) -> Markup {
    let steps = folded(&listing.rows);
    html! {
        pre.text {
            @for step in steps.iter().take(TEXT_LINES) {
                @match step {
                    Step::Row(row) => (row_text(row)),
                    Step::Fold(count) => span.gap { "… " (counted(*count, "line")) " the same\n" }
                }
            }
        }
        @if steps.len() > TEXT_LINES {
            p { (counted(steps.len() - TEXT_LINES, "more line")) }
        }
    }
}

/// The lines and gaps that a reader sees, from top to bottom.
enum Step<'l> {
    Row(&'l Row),
    Fold(usize),
}

fn folded(rows: &[Row]) -> Vec<Step<'_>> {
    let changed: Vec<usize> = (0..rows.len())
        .filter(|place| rows[*place].mark != Mark::Same)
        .collect();
    if changed.is_empty() {
        return rows.iter().map(Step::Row).collect();
    }
    let mut steps = Vec::new();
    let mut next = 0;
    for place in changed {
        let start = place.saturating_sub(CONTEXT).max(next);
        push_fold(&mut steps, rows, next, start);
        let end = (place + CONTEXT + 1).min(rows.len());
        steps.extend(rows[start..end].iter().map(Step::Row));
        next = end;
    }
    push_fold(&mut steps, rows, next, rows.len());
    steps
}

/// The rows between two places as a fold, or a single row as itself.
fn push_fold<'l>(steps: &mut Vec<Step<'l>>, rows: &'l [Row], start: usize, end: usize) {
    match end.saturating_sub(start) {
        0 => {}
        1 => steps.push(Step::Row(&rows[start])),
        count => steps.push(Step::Fold(count)),
    }
}

fn row_text(row: &Row) -> Markup {
    let is_pair = row.mark == Mark::Changed && row.left.is_some() && row.right.is_some();
    html! {
        @if is_pair {
            (line_text(Mark::Deleted, row.left.as_ref()))
            (line_text(Mark::Inserted, row.right.as_ref()))
        } @else {
            (line_text(row.mark, row.left.as_ref().or(row.right.as_ref())))
        }
    }
}

fn line_text(mark: Mark, line: Option<&Line>) -> Markup {
    html! {
        @if let Some(line) = line {
            span class=(mark.name()) {
                (mark.sign()) " " (" ".repeat(2 * line.depth.min(40)))
                (pieces(&line.pieces, mark == Mark::Deleted))
                "\n"
            }
        }
    }
}
