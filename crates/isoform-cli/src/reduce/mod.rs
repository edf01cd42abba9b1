//! `isoform reduce`: a small program for which a command still fails.
//!
//! | file | subject |
//! |---|---|
//! | `search.rs` | the search, for programs of any kind, with a function as the check |
//! | `model.rs`, `mlir.rs` | ONNX models and programs of MLIR, of which parts can go |
//! | `check.rs` | the command of the user as the check |
//! | `process.rs` | one run of the command, with an end by time or Ctrl-C |

pub(crate) mod args;
mod check;
mod mlir;
mod model;
mod process;
mod search;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::time::Instant;

use isoform::{Ref, Result};
use serde_json::json;

use self::args::ReduceArgs;
use self::check::{Check, Expected};
use self::model::Nodes;
use self::search::{Halt, Reducible, Search, Step};
use crate::args::Common;
use crate::input::{Input, is_dash, load_complete, message};
use crate::output::{Failure, Output, printable};
use crate::progress::line;
use crate::target::check_target;

/// A program that can be a file, for the command and as the result.
///
/// A further kind of program implements this trait and [`Reducible`], and gets an arm in
/// [`reduce`].
trait Writable: Reducible {
    /// The name of a part for people.
    const NOUN: &'static str;
    /// The name of the file for a program from standard input.
    const FILE: &'static str;
    /// Writes a file that needs no other, completely or not at all.
    fn save(&self, target: &Path) -> Result<()>;
    /// The bytes of such a file.
    fn to_bytes(&self) -> Result<Vec<u8>>;
}

/// The outcome of a search.
struct Reduction {
    nodes: [usize; 2],
    checks: usize,
    /// The status of the failure; None for a timeout.
    status: Option<u8>,
    is_complete: bool,
    steps: Vec<Step>,
}

pub(crate) fn reduce(
    args: &ReduceArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let target = &args.output;
    let checked = if is_dash(target) && output.json {
        Err("--json writes to standard output, which is also OUT".into())
    } else {
        output
            .check_binary(target)
            .and_then(|()| check_target(target, args.force))
    };
    if let Err(failure) = checked {
        return output.failed_file(target, &failure);
    }
    let input = match load_complete(&args.input, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.input, &failure),
    };
    match input {
        Input::Model(model) => reduced(Nodes::new(model.program()), args, output),
        Input::Value(found) => match found.value.peek::<Ref<isoform_mlir::Program>>() {
            Some(program) => reduced(mlir::Operations::new(program), args, output),
            None => {
                let form = found.form_name();
                let failure = format!("expected an ONNX model or MLIR, got a value as {form}");
                output.failed_file(&args.input, &failure.into())
            }
        },
    }
}

/// Searches in a program, and reports the result.
fn reduced<P: Writable>(
    whole: Result<P>,
    args: &ReduceArgs,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let start = Instant::now();
    let whole = match whole {
        Ok(whole) => whole,
        Err(error) => return output.failed_file(&args.input, &message(&args.input, &error)),
    };
    match search(whole, args, output) {
        Ok(Some(found)) => report(args, &found, P::NOUN, start, output),
        Ok(None) => Ok(()),
        Err((file, failure)) => output.failed_file(&file, &failure),
    }
}

type Failed = (std::path::PathBuf, Failure);

/// Searches, and writes the smallest program that fails. None if Ctrl-C came before any
/// result.
fn search<P: Writable>(
    whole: P,
    args: &ReduceArgs,
    output: &mut Output<'_, '_>,
) -> std::result::Result<Option<Reduction>, Failed> {
    let in_input = |error: isoform::Error| (args.input.clone(), message(&args.input, &error));
    let mut check = Check::new::<P>(args).map_err(in_input)?;
    let before = whole.size();
    let Some(expected) = check.expected(&whole).map_err(in_input)? else {
        output.status = check.signal_status();
        return Ok(None);
    };
    let limit = args.max_checks.unwrap_or(usize::MAX);
    let first_runs = check.runs();
    let bar = line(output.shows_progress());
    let mut judge = |candidate: &P, progress: search::Progress| {
        bar.set_message(format!(
            "{}, {}",
            counted(progress.nodes, P::NOUN),
            counted(first_runs + progress.checks, "check")
        ));
        check.judge(candidate, expected)
    };
    let mut search = Search::new(whole, limit.saturating_sub(first_runs), &mut judge);
    let ended = search.run();
    bar.finish_and_clear();
    let Search { best, steps, .. } = search;
    let is_complete = match ended {
        Ok(()) => true,
        Err(Halt::Stopped) => false,
        Err(Halt::Error(error)) => return Err(in_input(error)),
    };
    let target = &args.output;
    write(&*best, args, output).map_err(|failure| (target.clone(), failure))?;
    output.status = check.signal_status();
    Ok(Some(Reduction {
        nodes: [before, best.size()],
        checks: check.runs(),
        status: match expected {
            Expected::Status(status) => Some(status),
            Expected::Timeout => None,
        },
        is_complete,
        steps,
    }))
}

fn write<P: Writable>(
    best: &P,
    args: &ReduceArgs,
    output: &mut Output<'_, '_>,
) -> std::result::Result<(), Failure> {
    let target = &args.output;
    if is_dash(target) {
        let bytes = best.to_bytes().map_err(|error| message(target, &error))?;
        return output
            .bytes(&bytes)
            .map_err(|error| error.to_string().into());
    }
    // Somebody may have written it in the meantime.
    check_target(target, args.force)?;
    best.save(target).map_err(|error| message(target, &error))
}

fn report(
    args: &ReduceArgs,
    found: &Reduction,
    noun: &str,
    start: Instant,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let seconds = start.elapsed().as_secs_f64();
    if output.json {
        return output.json_line(&json!({
            "file": args.input.to_string_lossy(),
            "output": args.output.to_string_lossy(),
            "nodes": found.nodes,
            "checks": found.checks,
            "status": found.status,
            "complete": found.is_complete,
            "steps": found.steps,
            "seconds": seconds,
        }));
    }
    if output.quiet {
        return Ok(());
    }
    let [before, after] = found.nodes.map(|nodes| counted(nodes, noun));
    let line = format!(
        "{}: {before} -> {after}, {}, {seconds:.1} s",
        printable(&args.output.display().to_string()),
        counted(found.checks, "check"),
    );
    if is_dash(&args.output) {
        output.aside(&format!("{line}\n"));
        return Ok(());
    }
    output.line(line)
}

/// A count with its noun, and commas between thousands.
fn counted(count: usize, noun: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let plural = if count == 1 { "" } else { "s" };
    format!("{text} {noun}{plural}")
}
