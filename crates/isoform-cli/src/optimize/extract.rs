//! `isoform extract`: the part of a model between values.

use std::io;

use isoform::Str;
use serde_json::json;

use super::args::ExtractArgs;
use super::load_model;
use super::written::{self, write_model};
use crate::args::Common;
use crate::input::message;
use crate::output::{Output, counted, printable};
use crate::target::check_target;

pub(crate) fn extract(
    args: &ExtractArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if let Err(failure) = written::check(&args.output, false, args.force, output) {
        return output.failed_file(&args.output, &failure);
    }
    let part = load_model(&args.input, common).and_then(|model| {
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
