//! The vocabulary that IRs share, on top of the object model of [`isoform`]: a program
//! that needs modules, types, scalar expressions or passes starts here instead of
//! declaring its own.
//!
//! | module | job |
//! |---|---|
//! | [`ir`] | types, expressions, functions, modules, operators, diagnostics |
//! | [`tir`] | scalar expressions |
//! | [`transform`] | passes, pipelines, instruments, caches of results |
//! | [`DialectRoles`] | the roles of a dialect's types in rewrites by rules |
//! | [`kernels`] | constant tensors: conversions to and from `isoform-kernels` |

mod dialect_roles;
pub mod ir;
pub mod kernels;
#[doc(hidden)]
pub mod plumbing;
pub mod tir;
pub mod transform;

pub use dialect_roles::{DialectRoles, declare_attribute};

// The examples of the page about passes run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/passes.md")]
struct PassesPage;
