//! For tests: the slow oracle, random IRs, law checks and the properties.
//!
//! Users of the library need three things from here: [`nodes`] for random objects of their
//! types, [`check_laws`] for types with hooks, and [`check_types`] for the promise of const-tree
//! types. The rest tests the library itself. The modules without a link below test it on programs
//! of the dialects, too: they are the feature `dialects`, without which no dialect is compiled.
//!
//! | module | contents |
//! |---|---|
//! | [`nodes`] | random objects of any type, from the declaration of its fields |
//! | [`oracle`] | structural comparison written for readability, to judge the engine |
//! | [`family`] | one set of node types, declared in Rust and declared at run time |
//! | [`source`] | choices drawn from bytes, so that failing cases shrink |
//! | [`generate`] | random values over a family |
//! | [`tangle`] | pairs of values that share parts and rebind variables in every way |
//! | [`holders`](mod@holders) | pairs of values in which variables hold values |
//! | [`transform`] | changes that keep a value equal, and one that may not |
//! | `classes` | judges the classes of subterms by comparing every pair |
//! | `differences` | the laws of differences |
//! | `history` | related values, all compared in one thread |
//! | `merges` | the laws of merges of two values that were made from a third one |
//! | `edits` | programs that are edited step by step |
//! | `sessions` | values with heavy sharing over few types, edited step by step |
//! | `remembered` | judges results that use what is remembered of earlier values |
//! | [`properties`] | properties of all values, as functions of bytes |
//! | `ir` | random modules over all classes of the IR, and their properties |
//! | `pto` | random programs of the statement dialect, and their properties |
//! | `onnx` | random ONNX programs, and what optimisation promises about them; a feature |
//! | `relay` | random expressions of Relay, and the properties of its analyses and rewrites |

#[cfg(feature = "dialects")]
mod changes;
#[cfg(feature = "dialects")]
pub mod classes;
pub mod coverage;
#[cfg(feature = "dialects")]
pub mod differences;
#[cfg(feature = "dialects")]
pub mod edits;
pub mod family;
pub mod generate;
#[cfg(feature = "dialects")]
pub mod history;
pub mod holders;
#[cfg(feature = "dialects")]
pub mod ir;
mod keys;
mod laws;
#[cfg(feature = "dialects")]
pub mod merges;
pub mod nodes;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod oracle;
mod pair;
#[cfg(feature = "dialects")]
mod program;
pub mod properties;
#[cfg(feature = "dialects")]
pub mod pto;
#[cfg(feature = "dialects")]
pub mod relay;
#[cfg(feature = "dialects")]
pub mod remembered;
mod serial;
#[cfg(feature = "dialects")]
pub mod sessions;
pub mod source;
pub mod tangle;
pub mod transform;

pub use laws::{LawViolation, PromiseViolation, check_laws, check_types};

// The Rust examples of the page run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing-your-ir.md")]
struct TestingPage;
