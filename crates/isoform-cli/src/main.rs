//! The `isoform` command.

use std::process::ExitCode;

use isoform_cli::{Streams, run};

fn main() -> ExitCode {
    Streams::with_standard(|streams| ExitCode::from(run(std::env::args_os(), streams)))
}
