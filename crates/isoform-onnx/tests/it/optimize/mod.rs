//! Rewriting of programs: each rule where it applies and where it must not, and what every
//! optimised program has to fulfil.

mod check;
mod coverage;
mod mistakes;
mod properties;
mod rules;
mod scale;
mod text;
mod user;
