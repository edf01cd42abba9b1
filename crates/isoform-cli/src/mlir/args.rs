//! The command line of `isoform mlir`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use isoform_mlir::{Dialects, Level};

use crate::output::Failure;

/// Answer questions about programs of MLIR that other commands do not answer.
///
/// Every other command reads files of MLIR, too: `isoform diff a.mlir b.mlir`.
#[derive(Args, Debug)]
#[command(after_help = MLIR_HELP)]
pub(crate) struct MlirArgs {
    #[command(subcommand)]
    pub(crate) command: MlirCommand,
}

/// The command of `isoform mlir` to run.
#[derive(Subcommand, Debug)]
pub(crate) enum MlirCommand {
    Passes(DumpArgs),
    Bisect(BisectArgs),
}

/// Find the pass after which a check fails, from the dumps between the passes.
///
/// COMMAND is run with the name of a file that holds the program of a dump. It ends with status
/// 0 for a good program, and with 1 to 125 for a bad one. It has to accept the first dump and
/// to reject the last one.
#[derive(Args, Debug)]
#[command(after_help = BISECT_HELP)]
pub(crate) struct BisectArgs {
    /// The dumps, as for `isoform mlir passes`.
    #[arg(value_name = "DUMP")]
    pub(crate) file: PathBuf,
    /// The command and its arguments; the name of a file is added.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
    /// Print at most this many changes of the pass; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max: usize,
}

const BISECT_HELP: &str = "\
Exit status:
  0  the pass was found
  2  error: there is nothing to find, or the file could not be read

JSON (--json), one object:
  {\"pass\": NAME, \"argument\": NAME, \"line\": NUMBER in DUMP, \"checks\": COUNT, \"changes\": TEXT}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform mlir bisect dump -- ./still_correct.sh";

/// How programs of MLIR are compared.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Comparison of MLIR")]
pub(crate) struct MlirLevelArgs {
    /// Compare by what is known of dialects: the operands of commutative operations have no
    /// order, and an attribute with its default value equals an omitted one.
    #[arg(long, global = true)]
    pub(crate) semantic: bool,
    /// Ignore the order of private functions and other private symbols.
    #[arg(long, global = true)]
    pub(crate) unordered_symbols: bool,
    /// Add the commutative operations, defaults, names and constants of this file to what is
    /// known of dialects; docs/mlir.md describes the format. May be given several times.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) dialects: Vec<PathBuf>,
}

impl MlirLevelArgs {
    /// The level of a comparison.
    pub(crate) fn level(&self, io_names: bool, contents: bool) -> Result<Level, Failure> {
        let mut level = Level::strict()
            .io_names(io_names)
            .contents(contents)
            .symbol_order(!self.unordered_symbols)
            .semantics(self.semantic);
        if !self.dialects.is_empty() {
            let mut dialects = Dialects::clone(Dialects::builtin());
            for file in &self.dialects {
                let name = file.display().to_string();
                let text = std::fs::read_to_string(file)
                    .map_err(|error| format!("--dialects {name}: {error}"))?;
                let more = Dialects::parse(&name, &text).map_err(|error| {
                    Failure::of_text(format!("--dialects: {}", error.message()))
                })?;
                dialects = dialects.with(&more);
            }
            level = level.dialects(Arc::new(dialects));
        }
        Ok(level)
    }
}

/// Tell what each pass of a pipeline really changed, from the dumps between the passes.
///
/// DUMP is what `mlir-opt -mlir-print-ir-after-all -mlir-print-op-generic` and other tools of
/// MLIR print on standard error. The line of a pass says how many operations differ from the
/// latest dump of the same function; renumbered values, locations and aliases do not count.
#[derive(Args, Debug)]
#[command(after_help = MLIR_HELP)]
pub(crate) struct DumpArgs {
    /// The dumps; - is standard input.
    #[arg(value_name = "DUMP")]
    pub(crate) file: PathBuf,
    /// Also print the operations that each pass changed.
    #[arg(long, conflicts_with = "origin")]
    pub(crate) changes: bool,
    /// Print at most this many changes of a function in each pass; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "changes")]
    pub(crate) max: usize,
    /// Tell where the operations of this name in the last dump come from: the pass that made
    /// each one, and the passes that changed it later.
    #[arg(long, value_name = "OPERATION")]
    pub(crate) origin: Option<String>,
}

const MLIR_HELP: &str = "\
Exit status:
  0  the passes were listed
  2  the file could not be read, or is no dump of passes

JSON (--json), one object per line and dump:
  {\"pass\": NAME, \"argument\": NAME, \"moment\": \"before\", \"after\", \"failed\" or \"text\",
   \"line\": NUMBER in DUMP, \"first\": BOOL, \"summary\": TEXT, \"changes\": [CHANGE...]}
  CHANGE is {\"symbol\": NAME, \"kind\": \"added\", \"removed\" or \"changed\", \"operations\": [TEXT...]};
    the symbol of the module itself is empty
with --origin, one object per line and operation:
  {\"symbol\": NAME, \"text\": LINE, \"origin\": STEP, \"changed\": [STEP...]}
  STEP is {\"pass\": NAME, \"argument\": NAME, \"line\": NUMBER}
On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  mlir-opt a.mlir -cse -canonicalize -mlir-print-ir-after-all -mlir-print-op-generic 2> dump
  isoform mlir passes dump
  isoform mlir passes --changes dump | less
  isoform mlir passes --origin memref.alloc dump";
