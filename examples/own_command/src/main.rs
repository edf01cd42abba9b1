//! The command of your own compiler: every command of `isoform` for other node types.
//!
//! `ir.rs` declares the types of a small language and a pass; the five lines of `main` make
//! them a command. It is used like `isoform`, under its own name:
//!
//! ```text
//! $ mycc show function.iso
//! $ mycc diff before.iso after.iso
//! $ mycc hash function.iso function.json function.isob
//! $ mycc run mycc.fold function.iso -o smaller.iso
//! $ mycc --help
//! ```
//!
//! Copy this package to start a command for your IR. It builds everything that `isoform` can
//! do, ONNX models and stores included, so that a program that only needs the types of
//! `ir.rs` should depend on a library with them, not on this crate.

mod ir;

use std::process::ExitCode;

fn main() -> ExitCode {
    isoform_cli::Command::new("mycc")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compare, print and transform the programs of mycc.")
        .register(ir::register)
        .run()
}
