//! The command line of `isoform cache`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::store::args::PlaceArgs;

/// Run a compiler only for programs that it has not compiled before.
///
/// The results lie in a store, which processes and machines may share; see `isoform
/// store`.
#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

/// The command of `isoform cache` to run.
#[derive(Subcommand, Debug)]
pub(crate) enum CacheCommand {
    Run(CacheRunArgs),
    Why(CacheWhyArgs),
}

/// Run a command, or replay its results if it has run with the same inputs.
///
/// A hit writes the output files with their permissions, and replays standard output,
/// standard error and the exit status. The inputs are the key files, the command line, the
/// bytes of the command's executable and of files among its arguments, also after `=` or
/// `@`, and the named variables. A key file that is an IR file or an ONNX model counts as a program: a file
/// with other names of variables, nodes or tensors hits, but the names of a model's inputs
/// and outputs and the metadata of the model count; the metadata of its nodes do not. The paths of key files and outputs do not count, nor does the folder.
///
/// Runs with the same inputs at the same time run the command once, and the others wait for
/// its results, up to ten minutes. On a server, each machine may run the command once.
///
/// Name every file that the command reads: a file that is neither a key file nor an
/// argument may change without a miss. The command gets no standard input. A store that
/// cannot be used is a warning, and the command runs. Nothing is stored if the command
/// fails, is interrupted, does not write an output, or if a key file changes during the run.
///
/// The store keeps the command line, the values of the named variables and the key
/// programs of up to 64 MB in readable form, for `isoform cache why`.
#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct CacheRunArgs {
    /// A file that the command reads; may be given several times.
    #[arg(long = "key", required = true, value_name = "FILE", num_args = 1..)]
    pub(crate) keys: Vec<PathBuf>,
    /// A file that the command writes; may be given several times.
    #[arg(long = "out", value_name = "FILE", num_args = 1..)]
    pub(crate) outs: Vec<PathBuf>,
    /// A variable of the environment on which the results depend; may be given several
    /// times.
    #[arg(long = "env", value_name = "NAME", num_args = 1..)]
    pub(crate) variables: Vec<String>,
    /// Compare key files byte by byte, not as programs.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Store failing runs, too.
    #[arg(long)]
    pub(crate) failures: bool,
    /// The command and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Tell why the last `isoform cache run` in this folder was a miss.
///
/// Finds the stored run with the most similar inputs, and prints the inputs that differ:
/// arguments, variables, the command's executable, and for programs the changes as in
/// `isoform diff`.
#[derive(Args, Debug)]
#[command(after_help = WHY_HELP)]
pub(crate) struct CacheWhyArgs {
    /// The key files of the run, as in `isoform cache run`; by default the last miss.
    #[arg(value_name = "KEYFILE")]
    pub(crate) keys: Vec<PathBuf>,
    /// Print at most this many changes of each program; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max: usize,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

const RUN_HELP: &str = "\
Exit status:
  that of the command, or 128 and the number of the signal that ended the command
  2  error: a key file cannot be read, or the command succeeded and did not write an output
  127  the command cannot be started

One line on standard error tells whether the run was a hit or a miss; --quiet silences it.

Examples:
  isoform cache run --key k.json --out k.o -- mycc -O2 k.json -o k.o
  isoform cache run --key model.onnx --out model.plan --env CUDA_VERSION \\
    --store s3:bucket/plans -- ./build.sh model.onnx model.plan
  isoform cache why";

const WHY_HELP: &str = "\
Exit status:
  0  the reasons were printed, or there is no stored run to compare with
  2  error: no miss is recorded in this folder, or the store cannot be used

JSON (--json), one object:
  {\"missed\": {PART: VALUE}, \"nearest\": {PART: VALUE} or null,
   \"changes\": [{\"part\": NAME, \"nearest\": VALUE or null, \"missed\": VALUE or null}...]}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform cache why
  isoform cache why k.json";
