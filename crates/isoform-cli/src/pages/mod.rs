//! The contents of pages, from comparisons: what [`isoform_page`] lays out and draws.
//!
//! | file | job |
//! |---|---|
//! | `model_diff.rs`, `model_sentence.rs` | the page of two models, and its first sentence |
//! | `model_rows.rs`, `model_listing.rs` | one model as lines, and both beside each other |
//! | `value_diff.rs` | the page of two values of any type |
//! | `text_listing.rs` | two printed values line by line |
//! | `tensors.rs` | statistics and histograms of changed tensors |
//! | `words.rs` | lines in pieces, and the words in which two lines differ |
//!
//! Absent: HTML, style and layout, which are the job of `isoform-page`.

mod model_diff;
mod model_listing;
mod model_rows;
mod model_sentence;
mod tensors;
mod text_listing;
mod value_diff;
mod words;

pub use model_diff::page_of_models;
pub use value_diff::page_of_values;
