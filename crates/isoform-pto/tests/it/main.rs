//! The statement dialect: nodes, visits, checks, text, passes.

mod nodes;
mod passes;
mod print;
mod properties;
mod semantics;
mod substitute;
mod verify;
mod visit;
