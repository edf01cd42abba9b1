//! `isoform diff --run`: both models on the same inputs, and where their results part.

use std::io;
use std::path::Path;

use isoform::{Ref, Value};
use isoform_onnx::divergence::{Divergence, DivergenceOptions};
use isoform_onnx::ir::Program;
use isoform_onnx::report::Tolerance;
use isoform_onnx::verify::{Evaluator, LOOSE, Runner};
use serde_json::{Value as Json, json};

use super::args::DiffArgs;
use super::{page, print, trouble};
use crate::args::Common;
use crate::imports::RunOptions;
use crate::input::{Input, message};
use crate::optimize::samples;
use crate::output::{DIFFERENT, Failure, Output};
use crate::pages::page_of_divergence;
use crate::progress::bar_of;

/// Runs two models, and prints how far their values are apart.
pub(super) fn run(
    args: &DiffArgs,
    common: &Common,
    host: &RunOptions<'_>,
    inputs: [&Input; 2],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let result = match divergence(args, common, host, inputs, output) {
        Ok(result) => result,
        Err((file, failure)) => return trouble(&[(file, &failure)], output),
    };
    if !result.is_same() {
        output.status = DIFFERENT;
    }
    if page::is_wanted(args, output) {
        let names = args.names();
        let shown = page_of_divergence(&result, names.each_ref().map(String::as_str));
        if page::write(args, shown, output)? {
            return Ok(());
        }
    }
    if output.quiet {
        return Ok(());
    }
    if output.json {
        return output.json_line(&as_json(args, &result));
    }
    print(result.lines(args.most()), result.is_same(), output)
}

/// The result, or the file to blame and the reason.
fn divergence<'a>(
    args: &'a DiffArgs,
    common: &Common,
    host: &RunOptions<'_>,
    inputs: [&Input; 2],
    output: &Output<'_, '_>,
) -> Result<Divergence, (&'a Path, Failure)> {
    let files = [args.left.as_path(), args.right.as_path()];
    if common.architecture {
        let text = "--run needs the contents of weights, which --architecture leaves out";
        return Err((files[0], text.into()));
    }
    let mut programs = Vec::new();
    for (input, file) in inputs.into_iter().zip(files) {
        programs.push(program(input).map_err(|failure| (file, failure))?);
    }
    let user_inputs = match &args.run.samples {
        None => Vec::new(),
        Some(file) => samples(file, common).map_err(|failure| (file.as_path(), failure))?,
    };
    let runtime = host.runner();
    let mut runners: Vec<&dyn Runner> = Vec::new();
    runners.extend(runtime.as_deref());
    runners.push(&Evaluator);
    let bar = bar_of(0, output.shows_progress(), "pairs");
    // The first run takes as long as any other, and has no pairs to count.
    bar.set_message("running both models");
    bar.tick();
    let mut progress = |done: usize, all: usize| {
        bar.set_message("");
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let result =
        options(args, user_inputs).compare(&programs[0], &programs[1], &runners, &mut progress);
    bar.finish_and_clear();
    result.map_err(|error| (files[0], message(files[0], &error)))
}

fn options(args: &DiffArgs, user_inputs: Vec<(String, Value)>) -> DivergenceOptions {
    DivergenceOptions::default()
        .tolerance(Tolerance {
            rtol: args.levels.rtol.unwrap_or(LOOSE.rtol),
            atol: args.levels.atol.unwrap_or(LOOSE.atol),
        })
        .seed(args.run.seed)
        .sets(usize::from(args.run.sets))
        .shapes(args.run.run_shape.iter().cloned())
        .thresholds(args.run.thresholds.iter().copied())
        .inputs(user_inputs)
}

/// The program of a model, with all weights.
fn program(input: &Input) -> Result<Ref<Program>, Failure> {
    match input {
        Input::Model(model) => Ok(model.program().clone()),
        Input::Value(file) => {
            let program = file.value.peek::<Ref<Program>>().cloned();
            program.ok_or_else(|| {
                let form = file.form_name();
                format!("--run is for ONNX models, and this is a value as {form}").into()
            })
        }
    }
}

fn as_json(args: &DiffArgs, result: &Divergence) -> Json {
    let side = |file: &Path| json!({"file": file.to_string_lossy()});
    let mut object = json!(result);
    object["format"] = json!("isoform.divergence");
    object["version"] = json!(1);
    object["same"] = json!(result.is_same());
    object["left"] = side(&args.left);
    object["right"] = side(&args.right);
    object
}
