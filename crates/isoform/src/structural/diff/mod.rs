//! Differences between two values.
//!
//! | folder | job |
//! |---|---|
//! | `graphs/` | which nodes of two dataflow graphs correspond |

// Nothing outside of the tests calls it yet.
#[allow(dead_code, unused_imports)]
mod graphs;
