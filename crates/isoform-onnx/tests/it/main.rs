//! Import of models, and which models are the same program.

mod build;
mod differ;
mod files;
mod functions;
mod hostile;
mod levels;
mod passes;
mod property;
mod report;
mod same;
mod structure;
mod summary;
