//! Classes of equal subterms of a value, found in one walk instead of a comparison of
//! every pair.
//!
//! | file | job |
//! |---|---|
//! | `walk.rs`, `summary.rs` | summarizes every subterm, parts before wholes |
//! | `var_maps.rs`, `positions.rs`, `mentions.rs` | the variables of subterms, and where they occur |
//! | `tries.rs` | maps that have most of their nodes in common |
//! | `ground.rs` | custom comparisons that depend on no context |
//! | `decide.rs`, `ask.rs` | the classes that only comparison can find |
//! | `table.rs`, `options.rs` | the result, for users |
//! | `duplicates.rs`, `dominators.rs` | repeated subterms of several values, by the nodes saved |
//! | `intern.rs` | the same value with equal subterms as one object |
//!
//! A class found by a summary alone never justifies a rewrite: `intern` and `duplicates`
//! confirm the class by equality.

mod ask;
mod decide;
mod dominators;
mod duplicates;
mod ground;
mod intern;
mod mentions;
mod options;
mod positions;
mod summary;
mod table;
mod tries;
mod var_maps;
mod walk;

pub use duplicates::{Duplicate, duplicates};
pub use intern::intern;
pub use options::{ClassCosts, ClassOptions};
pub use table::{Class, SubtermClasses, subterm_classes};
