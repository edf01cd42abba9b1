//! The command line of `isoform reduce`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Make a failing ONNX model, or a program of MLIR, small: delete nodes while a command still fails.
///
/// COMMAND is run with the name of a file that holds a candidate, a model with fewer nodes,
/// and fails for a candidate as for MODEL: it ends with the same status, which is not 0, or
/// by the same signal. `{}` in an argument stands for the file; without one, the file is the
/// last argument. The files are written to a temporary folder under the name of MODEL. The
/// command runs without input, and its output is not shown.
///
/// Candidates compute other outputs, or get values in the middle of MODEL as inputs, or lack
/// single nodes, whose values others of the same type and shape replace, or new inputs. The
/// nodes of bodies are candidates, too, and the body in place of an If, Loop or Scan. Weights
/// that no node needs go. Each candidate is a valid model, and no program is checked twice.
///
/// Of a program of MLIR, operations and functions go. An operand of the same type replaces a
/// result, or an `unrealized_conversion_cast` without operands does, which MLIR accepts for
/// every type; no dialect verifies candidates.
///
/// OUT is written completely or not at all; an existing file is replaced only with --force.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct ReduceArgs {
    /// The model, or the program of MLIR, that fails.
    #[arg(value_name = "MODEL")]
    pub(crate) input: PathBuf,
    /// The small model to write; - is standard output.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The command and its arguments; `{}` stands for the name of a file.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Count only this exit status as the failure; 128 and the number for a signal. 0 is for
    /// commands that succeed if they find the failure.
    #[arg(long, value_name = "N")]
    pub(crate) status: Option<u8>,
    /// Count only runs as the failure that also print this text, on standard output or error.
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// End the command after this time. A candidate fails by this only if MODEL does.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// End the search after this many runs of the command.
    #[arg(long, value_name = "N")]
    pub(crate) max_checks: Option<usize>,
    /// Replace OUT if it exists.
    #[arg(short, long)]
    pub(crate) force: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    // A thousand years are longer than any check, and fit into a time.
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 3e10);
    seconds.ok_or_else(|| "expected a number of seconds, such as 30 or 0.5".to_owned())
}

const HELP: &str = "\
Exit status:
  0    OUT was written
  2    error: the command does not fail for MODEL, or does not start, or a file could not be
       read or written; OUT is unchanged
  130  Ctrl-C ended the search; OUT is the smallest failing model so far

JSON (--json), one object:
  {\"file\": NAME, \"output\": NAME, \"nodes\": [COUNT before, COUNT after], \"checks\": COUNT,
   \"status\": COUNT, or null after a timeout, \"complete\": BOOL,
   \"steps\": [{\"step\": \"end\", \"start\", \"beside\", \"parts\" or \"variants\", \"nodes\": COUNT,
     \"checks\": COUNT}...], \"seconds\": NUMBER}
  `checks` are the runs of the command, and `status` is the one of the failure. `complete` is
  false after Ctrl-C, and if --max-checks ended the search. A step has the number of nodes and
  of checks after it.
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform reduce model.onnx -o small.onnx -- trtexec --onnx={}
  isoform reduce model.onnx -o small.onnx --message 'shape mismatch' -- python run.py
  isoform reduce model.onnx -o small.onnx --status 139 --timeout 60 -- ./compile {} -o /dev/null
  isoform reduce model.onnx -o small.onnx --status 0 -- ./is_interesting.sh
  isoform reduce module.mlir -o small.mlir --message 'failed to legalize' -- mlir-opt --my-pass";
