//! Tests of the macros on token streams: their expansion, and their errors about misuse.

mod expansion;
mod export;
mod misuse;
mod node_trait;
