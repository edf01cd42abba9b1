//! Import of models, and which models are the same program.

mod build;
mod differ;
mod divergence;
mod eval;
mod export;
mod extract;
mod facts;
mod files;
mod functions;
mod hostile;
mod levels;
mod optimize;
mod parts;
mod passes;
mod property;
mod random;
mod report;
mod report_apart;
mod rules_page;
mod same;
mod structure;
mod summary;
mod texts_apart;
mod verify;
