//! Import of models, and which models are the same program.

mod build;
mod differ;
mod files;
mod functions;
mod hostile;
mod levels;
#[cfg(feature = "transform")]
mod passes;
mod property;
#[cfg(feature = "eval")]
mod report;
mod same;
mod structure;
#[cfg(feature = "eval")]
mod summary;
