//! Classes of equal subterms of a value, found in one walk instead of a comparison of
//! every pair.
//!
//! | file | job |
//! |---|---|
//! | `walk.rs`, `summary.rs` | summarizes every subterm, parts before wholes |
//! | `variables.rs`, `var_maps.rs` | the variables of subterms, and where they occur |
//! | `tries.rs` | maps that have most of their nodes in common |
//! | `comparison.rs` | the classes that only comparison can find |
//! | `table.rs` | the result, for users, and the options |
//! | `duplicates.rs`, `dominators.rs` | repeated subterms of several values, by the nodes saved |
//! | `intern.rs` | the same value with equal subterms as one object |
//!
//! A class found by a summary alone never justifies a rewrite: `intern` and `duplicates`
//! confirm the class by equality.

mod comparison;
mod dominators;
mod duplicates;
mod intern;
mod summary;
mod table;
mod tries;
mod var_maps;
mod variables;
mod walk;

pub use duplicates::{Duplicate, duplicates};
pub use intern::intern;
pub use table::{Class, ClassCosts, ClassOptions, SubtermClasses, subterm_classes};
