//! The integration tests: one binary, one module per feature.

mod containers;
mod digest;
mod keys;
mod known_defects;
mod known_defects_limits;
mod known_prelude;
mod object_model;
mod paths;
mod registry;
mod support;
mod threads;
mod values;
mod walk;
