//! The integration tests: one binary, one module per feature.

mod containers;
mod digest;
mod keys;
mod object_model;
mod paths;
mod registry;
mod support;
mod threads;
mod values;
mod walk;
