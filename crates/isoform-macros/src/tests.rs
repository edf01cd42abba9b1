//! Tests of the macros on token streams: their expansion, and their errors about misuse.

mod dialect;
mod expansion;
mod export;
mod misuse;
mod node_trait;
