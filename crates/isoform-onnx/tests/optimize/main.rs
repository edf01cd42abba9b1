//! Rewriting of programs: each rule where it applies and where it must not, and what every
//! optimised program has to fulfil.

#[allow(dead_code, unreachable_pub)]
#[path = "../it/build.rs"]
mod build;
mod check;
mod coverage;
mod mistakes;
mod properties;
mod rules;
mod scale;
mod text;
mod user;
