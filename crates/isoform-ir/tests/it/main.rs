//! The common vocabulary: modules, scalar expressions, passes.

mod cse;
mod ir;
mod ir_properties;
mod tir;
mod transform;
