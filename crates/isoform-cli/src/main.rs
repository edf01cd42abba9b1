//! The `isoform` command.

fn main() {}
