//! The pass infrastructure.
//!
//! Names of tests contain the covered entries of the acceptance list.

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
