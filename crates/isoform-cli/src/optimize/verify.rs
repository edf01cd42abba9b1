//! `--verify`: the original and the result on the same inputs.

use std::io;
use std::path::Path;

use isoform::values::Tensor;
use isoform::{Map, Ref, Str, Value};
use isoform_onnx::ir::{Program, TensorType};
use isoform_onnx::verify::{Evaluator, LOOSE, Runner, Subject, Verification, VerifyOptions};
use serde_json::{Value as Json, json};

use super::args::OptimizeArgs;
use crate::args::Common;
use crate::imports::RunOptions;
use crate::input::{Input, load_complete};
use crate::output::{Failure, Output, printable};

/// The inputs that a user gives, by name.
pub(super) fn given<'a>(
    args: &'a OptimizeArgs,
    common: &Common,
) -> Result<Vec<(String, Value)>, (&'a Path, Failure)> {
    match &args.samples {
        None => Ok(Vec::new()),
        Some(file) => samples(file, common).map_err(|failure| (file.as_path(), failure)),
    }
}

/// The tensors of a file by name, as inputs of a model.
pub(crate) fn samples(file: &Path, common: &Common) -> Result<Vec<(String, Value)>, Failure> {
    let input = load_complete(file, common)?;
    let tensors = match &input {
        Input::Value(file) => file.value.extract::<Map<Str, Value>>().ok(),
        Input::Model(_) => None,
    };
    let tensors = tensors.filter(|map| {
        map.iter()
            .all(|(_, value)| value.peek::<Tensor>().is_some())
    });
    let Some(tensors) = tensors else {
        let text = "expected inputs by name, as numpy.savez('inputs.npz', input=...) writes them";
        return Err(text.into());
    };
    let tensors = tensors.iter();
    Ok(tensors
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect())
}

pub(super) fn verify(
    args: &OptimizeArgs,
    given: Vec<(String, Value)>,
    original: Subject<'_>,
    optimized: &Ref<Program>,
    host: &RunOptions<'_>,
) -> isoform::Result<Verification> {
    let runtime = host.runner();
    let mut runners: Vec<&dyn Runner> = Vec::new();
    runners.extend(runtime.as_deref());
    runners.push(&Evaluator);
    let mut options = VerifyOptions::default()
        .seed(args.seed)
        .shapes(args.verify_shape.iter().cloned())
        .inputs(given);
    if !args.rules.is_exact() {
        options = options.tolerance(LOOSE);
    }
    options.verify(original, optimized.into(), &runners)
}

/// The failure if no inputs could be judged.
pub(super) fn nothing(verified: &Verification, program: &Program) -> Failure {
    let sizes = match example(program) {
        Some(shape) => format!("say which sizes inputs have with --verify-shape {shape}, "),
        None => String::new(),
    };
    let mut failure = Failure::from(format!(
        "nothing could be verified, so nothing was written; {sizes}give inputs that the model \
         runs on with --inputs sample.npz, or leave out --verify (pip install 'isoform[verify]' \
         for onnxruntime, which knows more operators than isoform's evaluator)",
    ));
    failure.excerpt = verified.to_string().lines().map(indented).collect();
    failure
}

/// Sizes for the first input that does not declare all sizes, as an example:
/// `input:1,64`.
fn example(program: &Program) -> Option<String> {
    let shapes = program.graph.params.iter().filter_map(|param| {
        let ty = param.ty.as_object()?.downcast_ref::<TensorType>()?;
        Some((&param.name, ty.shape.as_ref()?.values()))
    });
    let known = |dim: &Value| dim.as_int().filter(|size| *size >= 0);
    let mut open = shapes.filter(|(_, shape)| shape.iter().any(|dim| known(dim).is_none()));
    let (name, shape) = open.next()?;
    let guess = |at: usize| if at == 0 { 1 } else { 64 };
    let sizes: Vec<String> = shape
        .iter()
        .enumerate()
        .map(|(at, dim)| known(dim).unwrap_or_else(|| guess(at)).to_string())
        .collect();
    Some(format!("{}:{}", printable(name), sizes.join(",")))
}

fn indented(line: &str) -> String {
    format!("  {line}")
}

/// Prints the sets of inputs that were run; differences go to standard error.
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
        let head = if line.contains("): could not run: ") {
            "tried"
        } else {
            "verified by"
        };
        super::written::tell(target, &format!("{head} {line}"), output)?;
    }
    Ok(())
}

pub(super) fn as_json(verified: &Verification) -> Json {
    json!({"same": verified.is_same(), "cases": verified.cases})
}
