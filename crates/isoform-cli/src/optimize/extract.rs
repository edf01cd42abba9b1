//! `isoform extract`: the part of a model between values.

use std::io;

use isoform::{Ref, Str};
use serde_json::json;

use super::args::ExtractArgs;
use super::as_model;
use super::written::{self, write_model};
use crate::args::Common;
use crate::input::{Input, is_dash, load_complete, message};
use crate::output::{Output, counted, printable};
use crate::target::{check_target, write_whole};

pub(crate) fn extract(
    args: &ExtractArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if let Err(failure) = written::check(&args.output, false, args.force, output) {
        return output.failed_file(&args.output, &failure);
    }
    let input = match load_complete(&args.input, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.input, &failure),
    };
    if let Input::Value(file) = &input
        && let Some(program) = file.value.peek::<Ref<isoform_mlir::Program>>()
    {
        return extract_symbols(args, program, output);
    }
    let part = as_model(input).and_then(|model| {
        let part = isoform_onnx::extract(model.program(), &args.from, &args.to);
        Ok((part.map_err(|error| message(&args.input, &error))?, model))
    });
    let (part, model) = match part {
        Ok(part) => part,
        Err(failure) => return output.failed_file(&args.input, &failure),
    };
    let layout = written::keeping_layout(&model, &args.output, args.inline, &args.model);
    let saved = check_target(&args.output, args.force)
        .and_then(|()| write_model(&part, &args.output, &layout, output));
    let saved = match saved {
        Ok(saved) => saved,
        Err(failure) => return output.failed_file(&args.output, &failure),
    };
    let unused = written::unused(&model, &args.output, &saved);
    written::tell_unused(&unused, &args.output, output);
    let graph = &part.graph;
    if output.json {
        let inputs: Vec<&str> = graph
            .params
            .iter()
            .map(|param| param.name.as_str())
            .collect();
        let outputs: Vec<&str> = graph.result_names.iter().map(Str::as_str).collect();
        return output.json_line(&json!({
            "file": args.input.to_string_lossy(),
            "to": args.output.to_string_lossy(),
            "inputs": inputs,
            "outputs": outputs,
            "bytes": saved.bytes,
            "external_bytes": saved.external_bytes,
        }));
    }
    if output.quiet {
        return Ok(());
    }
    let line = format!(
        "{}: {}, {}, {}",
        printable(&args.output.display().to_string()),
        counted(graph.params.len(), "input"),
        counted(graph.results.len(), "output"),
        saved.text()
    );
    written::tell(&args.output, &line, output)
}

/// Writes the operations of symbols, and everything that they refer to, as MLIR.
fn extract_symbols(
    args: &ExtractArgs,
    program: &Ref<isoform_mlir::Program>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if !args.from.is_empty() {
        let failure = "--from is for models; --to names the symbols of a program of MLIR";
        return output.failed_file(&args.input, &failure.into());
    }
    let text = isoform_mlir::extract(program, &args.to)
        .and_then(|part| Ok((isoform_mlir::write(&part)?, part)));
    let (text, part) = match text {
        Ok(found) => found,
        Err(error) => return output.failed_file(&args.input, &message(&args.input, &error)),
    };
    if is_dash(&args.output) {
        return output.bytes(text.as_bytes());
    }
    if let Err(failure) = write_whole(&args.output, args.force, text.as_bytes()) {
        return output.failed_file(&args.output, &failure);
    }
    let count = |program: &isoform_mlir::Program| {
        let blocks = program
            .module
            .regions
            .iter()
            .flat_map(|region| region.blocks.iter());
        blocks.map(|block| block.operations.len()).sum::<usize>()
    };
    let (before, after) = (count(program), count(&part));
    if output.json {
        return output.json_line(&json!({
            "file": args.input.to_string_lossy(),
            "to": args.output.to_string_lossy(),
            "symbols": [before, after],
            "bytes": text.len(),
        }));
    }
    if output.quiet {
        return Ok(());
    }
    let name = args.output.display().to_string();
    let line = format!(
        "{}: {after} of {}",
        printable(&name),
        counted(before, "operation")
    );
    written::tell(&args.output, &line, output)
}
