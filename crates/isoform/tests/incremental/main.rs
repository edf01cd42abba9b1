//! Hashing and comparing what changed: the same results as visiting everything, in work
//! that is proportional to the edit.

mod attack;
mod compared;
mod counts;
mod judged;
mod support;
