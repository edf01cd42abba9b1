//! Equality, order, hash, text and checks of values by all their fields, in the manner
//! of derived implementations.
//!
//! These algorithms ignore variables and regions, and types may customise each
//! algorithm.

pub(crate) mod recursive;
pub(crate) mod repr;
pub(crate) mod verify;
