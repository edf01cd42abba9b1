//! Rewriting of programs: where rules apply and where they must not, and the
//! requirements on every optimised program.
#![cfg(feature = "optimize")]

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
