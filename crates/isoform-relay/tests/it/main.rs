//! The Relay dialect: nodes, operators, type inference, passes, values of programs.
#![allow(missing_docs, reason = "tests")]

mod nodes;
mod operators;
mod passes;
mod simplify;
mod support;
mod text;
mod values;
