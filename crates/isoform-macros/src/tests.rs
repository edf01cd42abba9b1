//! Tests of the macros on token streams: what they write, and what they say about misuse.

mod dialect;
mod expansion;
mod export;
mod misuse;
mod node_trait;
