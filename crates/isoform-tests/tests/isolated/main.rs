//! Tests that count visits, and tests of depth: a write by any other test would void
//! remembered hashes, and a collection of cycles in another test would visit the chains.

mod chains;
#[path = "../it/exports.rs"]
mod exports;
mod incremental;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../it/support.rs"]
mod support;
