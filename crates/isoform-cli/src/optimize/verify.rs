//! `--verify`: the original and the result on the same inputs.

use std::io;
use std::path::Path;

use isoform::Ref;
use isoform_onnx::ir::Program;
use isoform_onnx::verify::{
    Evaluator, LOOSE, Outcome, Runner, Subject, Verification, VerifyOptions,
};
use serde_json::{Value as Json, json};

use super::args::OptimizeArgs;
use crate::imports::RunOptions;
use crate::output::{Failure, Output};

pub(super) fn verify(
    args: &OptimizeArgs,
    original: Subject<'_>,
    optimized: &Ref<Program>,
    host: &RunOptions<'_>,
) -> isoform::Result<Verification> {
    let runtime = host.runner();
    let mut runners: Vec<&dyn Runner> = Vec::new();
    runners.extend(runtime.as_deref());
    runners.push(&Evaluator);
    let mut options = VerifyOptions::default().seed(args.seed);
    if !args.rules.is_exact() {
        options = options.tolerance(LOOSE);
    }
    options.verify(original, optimized.into(), &runners)
}

/// The failure if no inputs could be judged.
pub(super) fn nothing(verified: &Verification) -> Failure {
    let mut failure = Failure::from(
        "nothing could be verified, so nothing was written; leave out --verify, or see which \
         runtime can run the model (pip install 'isoform[verify]' for onnxruntime)",
    );
    failure.excerpt = verified.to_string().lines().map(indented).collect();
    failure
}

fn indented(line: &str) -> String {
    format!("  {line}")
}

/// Prints what was run; differences go to standard error.
pub(super) fn print(
    target: &Path,
    verified: &Verification,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if !verified.is_same() {
        let status = output.status;
        let mut failure = Failure::from("not written: the results differ from those of the input");
        failure.excerpt = verified.to_string().lines().map(indented).collect();
        output.failure(target, &failure);
        output.status = status;
        return Ok(());
    }
    if output.quiet {
        return Ok(());
    }
    for line in verified.to_string().lines() {
        let head = match line.contains("): could not run: ") {
            true => "tried",
            false => "verified by",
        };
        super::written::tell(target, &format!("{head} {line}"), output)?;
    }
    Ok(())
}

pub(super) fn as_json(verified: &Verification) -> Json {
    let cases = verified.cases.iter().map(|case| {
        let (outcome, max_abs, reason, differences) = match &case.outcome {
            Outcome::Same => ("same", None, None, Vec::new()),
            Outcome::Close { max_abs } => ("close", Some(*max_abs), None, Vec::new()),
            Outcome::NotRun { reason } => ("not run", None, Some(reason.clone()), Vec::new()),
            Outcome::Different(found) => {
                let found = found.iter().map(|it| {
                    json!({
                        "output": it.output,
                        "node": it.node,
                        "reason": it.reason,
                        "max_abs": it.max_abs,
                    })
                });
                ("different", None, None, found.collect())
            }
            _ => ("unknown", None, None, Vec::new()),
        };
        json!({
            "inputs": case.inputs,
            "runner": case.runner,
            "outcome": outcome,
            "max_abs": max_abs,
            "reason": reason,
            "differences": differences,
        })
    });
    json!({"same": verified.is_same(), "cases": cases.collect::<Vec<_>>()})
}
