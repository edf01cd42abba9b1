//! Common subexpression elimination by what types declare.

mod bindings;
mod dataflow;
mod language;
mod random;
mod statements;
