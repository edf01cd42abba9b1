//! Equality, order, hash, text and checks of values by all their fields, as a
//! derived implementation would define them.
//!
//! These algorithms ignore variables and regions, and types may customise each of them.

pub(crate) mod recursive;
pub(crate) mod repr;
pub(crate) mod verify;
