//! The integration tests: one binary, one module per feature.

mod object_model;
mod support;
mod walk;
