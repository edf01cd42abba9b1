//! Hashing and comparing what changed: the same results as visiting everything, in work
//! that is proportional to the edit.

mod compared;
mod contexts;
mod counts;
mod judged;
pub(crate) mod support;
