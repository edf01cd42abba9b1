//! The reader and the writer: verdicts, round trips, messages, depth, hostile texts.
#![allow(missing_docs, reason = "tests")]

mod affine;
mod aliases;
mod bodies;
mod deep;
mod dense;
mod engines;
mod errors;
mod levels;
mod levels_order;
mod levels_table;
mod locations;
mod mutants;
mod numbers;
mod operations;
mod pretty;
mod reduce;
mod resources;
mod scopes;
mod support;
mod symbols;
mod types;
mod writer;
