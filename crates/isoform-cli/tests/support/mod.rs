//! Running the command.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

/// The results of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the command writes UTF-8");
        Ran {
            status: output.status.code().expect("the command was not killed"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// The command, without colour settings of the environment.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoform"));
    for name in [
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs the command in a folder.
pub(crate) fn run_in<A: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = A>) -> Ran {
    let output = command().current_dir(folder).args(args).output();
    output.expect("the command starts").into()
}
