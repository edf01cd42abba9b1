//! The pages of single commands, made from their results.
//!
//! | file | job |
//! |---|---|
//! | `show_model.rs`, `show_value.rs` | `isoform show`: a model, or a value of any type |
//! | `excerpt.rs` | the beginning of a value, for notebooks |
//! | `tensor_table.rs` | tables of tensors with statistics and histograms |
//! | `passes.rs` | `isoform run` and `isoform bisect` |
//! | `hunks.rs` | unified diffs as rows with both sides |
//! | `clones.rs` | `isoform clones` |
//! | `optimize.rs` | `isoform optimize` |
//! | `divergence.rs` | `isoform diff --run` |

mod clones;
mod divergence;
mod excerpt;
mod hunks;
mod optimize;
mod passes;
mod show_model;
mod show_value;
mod tensor_table;

use isoform_page::page::Row;

pub(crate) use clones::{RepeatCounts, RepeatedPart, page_of_clones};
pub use divergence::page_of_divergence;
pub use excerpt::excerpt_of_value;
pub use optimize::{OptimizePage, page_of_optimization};
pub(crate) use passes::{page_of_bisection, page_of_run};
pub use show_model::{ModelPage, page_of_model, page_of_program};
pub(crate) use show_value::page_of_file;
pub use show_value::page_of_value;

use super::tables::{fact, row, table};

/// The rows of a unified diff that is shown alone.
pub(super) fn rows_beside(diff: &str) -> Vec<Row> {
    hunks::rows_of_diff(diff, "line", &mut hunks::RowBudget::default())
}
