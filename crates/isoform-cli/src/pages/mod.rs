//! The contents of pages, from comparisons: what [`isoform_page`] lays out and draws.
//!
//! | file | job |
//! |---|---|
//! | `model_diff.rs`, `model_sentence.rs` | the page of two models, and its first sentence |
//! | `model_rows.rs`, `model_pairs.rs`, `model_listing.rs` | one model as lines, the lines of both that are one row, and both beside each other |
//! | `value_diff.rs`, `value_words.rs` | the page of two values of any type, and its headings |
//! | `mlir_diff.rs`, `mlir_text.rs` | the page of two programs of MLIR, and their text in pieces |
//! | `mismatch.rs` | the page of the first difference of two values |
//! | `text_listing.rs` | two printed values line by line |
//! | `tables.rs` | facts and tables |
//! | `tensors.rs` | statistics and histograms of changed tensors |
//! | `pictures/` | programs and changes as graphs |
//! | `commands/` | the pages of other commands, and of one value for notebooks |
//! | `file.rs` | pages as files that commands write |
//! | `words.rs` | lines in pieces, and the words in which two lines differ |
//!
//! Absent: HTML, style and layout, which are the job of `isoform-page`.

pub(crate) mod commands;
pub(crate) mod file;
mod mismatch;
mod mlir_diff;
pub(crate) mod mlir_text;
mod model_diff;
mod model_listing;
mod model_pairs;
mod model_rows;
mod model_sentence;
pub mod pictures;
mod tables;
mod tensors;
mod text_listing;
mod value_diff;
mod value_words;
mod words;

pub use crate::show::labels::Naming;
pub use commands::{
    ModelPage, OptimizePage, excerpt_of_value, page_of_divergence, page_of_model,
    page_of_optimization, page_of_program, page_of_value,
};
pub use mismatch::page_of_mismatch;
pub use mlir_diff::page_of_mlir;
pub use model_diff::page_of_models;
pub use value_diff::page_of_values;
