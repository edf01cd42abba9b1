//! The pass infrastructure.
//!
//! Names of tests contain the entries of the acceptance list that they cover.

mod analyses;
mod bisections;
mod contexts;
mod costs;
mod instruments;
mod memo_hits;
mod memos;
mod passes;
mod pipelines;
mod program;
mod reports;
