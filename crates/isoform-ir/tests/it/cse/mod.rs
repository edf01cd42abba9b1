//! Common subexpression elimination by what types declare.

mod dataflow;
mod language;
mod random;
mod statements;
