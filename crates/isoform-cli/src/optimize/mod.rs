//! `isoform optimize` and `isoform extract`: smaller models.
//!
//! `explain.rs` and `rules.rs` are the reports, and `written.rs` writes models. The
//! program that embeds the command supplies the runtime for `--verify` and the import
//! of modules (`RunOptions`).

pub(crate) mod args;
mod explain;
mod extract;
mod hints;
mod rules;
mod simplified;
mod verify;
mod written;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::ProgressBar;
use isoform::Ref;
use isoform_onnx::Model;
use isoform_onnx::ir::Program;
use isoform_onnx::optimize::{Fold, OptimizeOptions, Optimized};
use isoform_onnx::verify::{Subject, Verification};
use isoform_page::Page;
use serde_json::{Value as Json, json};

use crate::args::Common;
use crate::imports::RunOptions;
use crate::input::{Input, is_dash, load_complete, message};
use crate::output::{DIFFERENT, Failure, Output, printable};
use crate::pages::commands::{OptimizePage, page_of_optimization};
use crate::progress::bar_of;
use crate::target::check_target;

use args::{FoldArg, OptimizeArgs, RuleArgs};
pub(crate) use explain::{node_name, signed_bytes};
pub(crate) use written::bytes_text;

pub(crate) use extract::extract;
pub(crate) use simplified::simplified;
pub(crate) use verify::samples;
pub(crate) use written::{OutputSize, keeping_layout, write_model};

impl RuleArgs {
    fn options(&self) -> OptimizeOptions {
        let options = OptimizeOptions::default()
            .fold(match self.fold {
                FoldArg::None => Fold::None,
                FoldArg::Exact => Fold::Exact,
                FoldArg::All => Fold::All,
            })
            .fuse(self.fuse)
            .without(self.without.iter());
        let options = match self.max_constant {
            Some(bytes) => options.max_constant(bytes),
            None => options,
        };
        if self.only.is_empty() {
            options
        } else {
            options.only(self.only.iter())
        }
    }

    /// True if results keep every bit.
    fn is_exact(&self) -> bool {
        self.fold != FoldArg::All && !self.fuse
    }
}

/// The results of a run.
struct RunResult {
    original: Ref<Program>,
    optimized: Optimized,
    saved: Option<OutputSize>,
    verified: Option<Verification>,
    /// Bytes of the input's file, and of the files beside it.
    bytes_before: (u64, u64),
    /// Files beside the input that an output in the same place does not use.
    unused: Vec<PathBuf>,
    seconds: f64,
}

pub(crate) fn optimize(
    args: &OptimizeArgs,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let (Some(input), Some(target)) = (&args.input, &args.output) else {
        return rules::list(output);
    };
    if let Err(failure) = written::check(target, args.explain, args.force, output) {
        return output.failed_file(target, &failure);
    }
    let page = match args.page.check(args.force, &[input, target], output) {
        Ok(_) if args.page.is_output() && is_dash(target) => {
            let failure = "standard output is also OUT; give the page a file".into();
            return output.failed_file(target, &failure);
        }
        Ok(page) => page,
        Err((file, failure)) => return output.failed_file(file, &failure),
    };
    let bar = bar_of(4, output.shows_progress(), "steps");
    let done = run(args, input, target, common, host, output, &bar);
    bar.finish_and_clear();
    match done {
        Err((file, failure)) => output.failed_file(file, &failure),
        Ok(done) => {
            report(args, input, target, &done, output)?;
            let Some(page) = page else {
                return Ok(());
            };
            match page_of(input, target, &done) {
                Ok(shown) => page.write(&shown, output),
                Err(error) => {
                    output.failure(input, &message(input, &error));
                    Ok(())
                }
            }
        }
    }
}

fn page_of(input: &Path, target: &Path, done: &RunResult) -> isoform::Result<Page> {
    let name = |file: &Path, stream: &str| {
        if is_dash(file) {
            stream.to_owned()
        } else {
            file.to_string_lossy().into_owned()
        }
    };
    let names = [
        name(input, "standard input"),
        name(target, "standard output"),
    ];
    let (bytes, external) = done.bytes_before;
    page_of_optimization(&OptimizePage {
        names: [&names[0], &names[1]],
        programs: [&done.original, &done.optimized.program],
        report: &done.optimized.report,
        verified: done.verified.as_ref(),
        bytes: done
            .saved
            .as_ref()
            .map(|saved| [bytes_text(bytes + external), saved.text()]),
    })
}

type Failed<'a> = (&'a Path, Failure);

fn run<'a>(
    args: &'a OptimizeArgs,
    input: &'a Path,
    target: &'a Path,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
    bar: &ProgressBar,
) -> Result<RunResult, Failed<'a>> {
    let start = Instant::now();
    let in_input = |error: isoform::Error| (input, message(input, &error));
    bar.set_message("reading");
    let model = load_model(input, common).map_err(|failure| (input, failure))?;
    let external = model.external_files().iter().map(|(_, bytes)| bytes).sum();
    let bytes_before = std::fs::metadata(input).map_or(0, |metadata| metadata.len());
    bar.inc(1);
    bar.set_message("simplifying");
    let fixed = args
        .fix
        .apply(input, Input::Model(model.clone()))
        .and_then(as_model)
        .map_err(|failure| (input, failure))?;
    let optimized = args
        .rules
        .options()
        .optimize(fixed.program())
        .map_err(in_input)?;
    bar.inc(1);
    let mut done = RunResult {
        original: model.program().clone(),
        optimized,
        saved: None,
        verified: None,
        bytes_before: (bytes_before, external),
        unused: Vec::new(),
        seconds: 0.0,
    };
    if args.verify {
        bar.set_message("verifying");
        let original = Subject {
            program: model.program(),
            file: Some(input),
        };
        let inputs = verify::given(args, common)?;
        let verified = verify::verify(args, inputs, original, &done.optimized.program, host)
            .map_err(in_input)?;
        let (judged, is_same) = (verified.judged(), verified.is_same());
        if judged == 0 {
            return Err((input, verify::nothing(&verified, model.program())));
        }
        done.verified = Some(verified);
        if !is_same {
            return Ok(done);
        }
    }
    bar.inc(1);
    bar.set_message("writing");
    let layout = written::keeping_layout(&model, target, args.inline, &args.model);
    let saved = check_target(target, args.force)
        .and_then(|()| write_model(&done.optimized.program, target, &layout, output))
        .map_err(|failure| (target, failure))?;
    done.unused = written::unused(&model, target, &saved);
    done.saved = Some(saved);
    done.seconds = start.elapsed().as_secs_f64();
    Ok(done)
}

/// Loads a file that has to be a model.
pub(crate) fn load_model(file: &Path, common: &Common) -> Result<Model, Failure> {
    as_model(load_complete(file, common)?)
}

pub(crate) fn as_model(input: Input) -> Result<Model, Failure> {
    match input {
        Input::Model(model) => Ok(model),
        Input::Value(found) => Err(format!(
            "expected an ONNX model, got a value as {}",
            found.form_name()
        )
        .into()),
    }
}

fn report(
    args: &OptimizeArgs,
    input: &Path,
    target: &Path,
    done: &RunResult,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let differs = done.saved.is_none();
    if differs {
        // The result is known, even if nobody reads the explanation.
        output.status = DIFFERENT;
    }
    written::tell_unused(&done.unused, target, output);
    if args.page.is_output() {
        // Differences of results still go to standard error.
        output.quiet = true;
    }
    if output.json {
        return output.json_line(&as_json(args, input, target, done));
    }
    if args.explain && !args.page.is_output() {
        explain::explain(&done.optimized.report, output)?;
    }
    if let Some(verified) = &done.verified {
        verify::print(target, verified, output)?;
    }
    if let (Some(saved), false) = (&done.saved, output.quiet) {
        let line = summary(target, done, saved);
        written::tell(target, &line, output)?;
        hints::print(&args.rules, &done.optimized, target, output)?;
    }
    Ok(())
}

/// `smaller.onnx: 960 -> 512 nodes, 75.3 MB -> 75.1 MB, 0.21 s`.
fn summary(target: &Path, done: &RunResult, saved: &OutputSize) -> String {
    let report = &done.optimized.report;
    let (bytes, external) = done.bytes_before;
    format!(
        "{}: {} → {} nodes, {} → {}, {:.2} s",
        printable(&target.display().to_string()),
        report.nodes_before,
        report.nodes_after,
        bytes_text(bytes + external),
        saved.text(),
        done.seconds
    )
}

fn as_json(args: &OptimizeArgs, input: &Path, target: &Path, done: &RunResult) -> Json {
    let report = &done.optimized.report;
    let pair = |before: u64, after: u64| json!({"before": before, "after": after});
    let saved = done.saved.as_ref();
    let (bytes, external) = done.bytes_before;
    let mut result = json!({
        "file": input.to_string_lossy(),
        "to": target.to_string_lossy(),
        "nodes": pair(report.nodes_before as u64, report.nodes_after as u64),
        "bytes": {
            "before": bytes + external,
            "after": saved.map(|saved| saved.bytes + saved.external_bytes),
        },
        "copies": report.copies,
        "constants": pair(report.bytes_before, report.bytes_after),
        "external_bytes": {
            "before": external,
            "after": saved.map(|saved| saved.external_bytes),
        },
        "rounds": report.rounds,
        "seconds": done.seconds,
        "written": saved.is_some(),
        "rules": report.totals(),
        "verified": done.verified.as_ref().map(verify::as_json),
    });
    if args.explain {
        result["applications"] = json!(report.fired);
    }
    result
}
