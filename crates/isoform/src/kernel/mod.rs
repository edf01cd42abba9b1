//! The foundation of all other layers: objects, values, containers, types, functions,
//! hooks, paths and errors.
//!
//! These parts depend on each other (a container is an object, a schema names types, an
//! error carries a path).

pub(crate) mod ancestors;
pub(crate) mod container;
pub(crate) mod convert;
pub(crate) mod display;
pub(crate) mod dtype;
pub(crate) mod error;
pub(crate) mod function;
pub(crate) mod hooks;
pub(crate) mod mixing;
pub(crate) mod object;
pub(crate) mod pages;
pub(crate) mod path;
pub(crate) mod rows;
pub(crate) mod setters;
pub(crate) mod spell;
pub(crate) mod types;
pub(crate) mod union_find;
pub(crate) mod value;
