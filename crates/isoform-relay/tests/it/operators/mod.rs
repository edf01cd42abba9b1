//! The operators of the dialect relay: their table, attributes, relations and constructor
//! functions; and type inference.

mod attrs;
mod chains;
mod infer;
mod nn;
mod problems;
mod shapes;
mod table;
