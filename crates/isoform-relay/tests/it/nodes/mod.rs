//! The Relay dialect: nodes, analyses, rewrites, and modules that hold its functions.

mod analysis;
mod deep;
mod functors;
mod kinds;
mod modules;
mod properties;
mod rewrites;
