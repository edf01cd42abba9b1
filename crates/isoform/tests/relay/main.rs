//! The Relay dialect: nodes, analyses, rewrites, and modules of Relay functions.
#![allow(missing_docs, reason = "tests")]

mod analysis;
mod deep;
mod functors;
mod modules;
mod nodes;
mod properties;
mod rewrites;
mod support;
