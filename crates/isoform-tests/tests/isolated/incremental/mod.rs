//! Hashing and comparing edited programs: the same results as visiting everything, with
//! work in proportion to the edit.

mod compared;
mod contexts;
mod counts;
mod judged;
pub(crate) mod support;
