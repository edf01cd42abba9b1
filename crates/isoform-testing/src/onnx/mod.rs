//! Random ONNX programs, to check that optimisation keeps their values.
//!
//! They are valid: sizes fit under two assignments of the symbolic dimensions, indices
//! are within bounds, integers are divided by numbers other than 0, and loops end.
//! Sizes of 0 and 1 occur, and so do special floats and the extremes of integers.
//!
//! | file | job |
//! |---|---|
//! | `programs.rs` | draws programs from the tables of constructs |
//! | `generator.rs` | the state of drawing, and types and sizes |
//! | `operands.rs`, `calls.rs` | draw operands, and make calls on them |
//! | `values.rs` | sizes and elements of what is drawn |
//! | `elementwise.rs`, `moves.rs`, `compute.rs` | draw calls of operators |
//! | `layers.rs` | draws attention, quantised convolutions and labels |
//! | `reshapes.rs`, `pieces.rs` | draw the calls of `moves.rs` that other files also use |
//! | `shapes.rs` | draws arithmetic on shapes, and what takes its results |
//! | `patterns.rs` | draws what rewriting has rules for |
//! | `recurrent.rs` | draws recurrent networks and their initial states |
//! | `control.rs` | draws branches, loops, scans and local functions |
//! | `build.rs` | makes the nodes |
//! | `rebuild.rs` | the same program with other names, made in another order |
//! | `defaults.rs` | the same program with other spellings of defaults |
//! | `running.rs` | runs programs and compares results |
//! | `facts.rs` | judges what is inferred about values by their values |
//! | `shrink.rs` | makes a program that breaks a promise small |
//! | `properties.rs` | what evaluation and optimisation promise |

mod build;
mod calls;
mod compute;
mod control;
mod defaults;
mod elementwise;
mod facts;
mod generator;
mod layers;
mod moves;
mod operands;
mod patterns;
mod pieces;
mod programs;
mod properties;
mod rebuild;
mod recurrent;
mod reshapes;
mod running;
mod shapes;
mod shrink;
mod values;

pub use programs::{OPSETS, RandomProgram, drawn_constructs, drawn_program, random_onnx_program};
pub use properties::ONNX_PROPERTIES;
pub use rebuild::{rebuilt, replace_values};
