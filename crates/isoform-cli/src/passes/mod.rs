//! `isoform passes`, `run` and `bisect`: the passes of the library on files.

mod bisect;
mod changes;
mod list;
mod run;

use std::collections::HashSet;
use std::fs;

use isoform::{Error, Obj, Ref, Value};
use isoform_ir::transform::instruments::Verifying;
use isoform_ir::transform::{ContextOptions, Sequential, parse_pipeline, parse_value};

use crate::args::PipelineArgs;
use crate::input::{Input, register_types};
use crate::output::{Failure, Output};

pub(crate) use bisect::{Check, bisect};
pub(crate) use changes::{PassRun, time};
pub(crate) use list::list;
pub(crate) use run::run;

/// The passes of a text, or of the file named by the text.
fn pipeline_of(text: &str) -> Result<Ref<Sequential>, Failure> {
    register_types().map_err(|error| failure_of(&error))?;
    let read;
    let text = match text.strip_prefix('@') {
        None => text,
        Some(file) => {
            read = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            &read
        }
    };
    parse_pipeline(text).map_err(|error| failure_of(&error))
}

/// The error of a pipeline or a pass: the first line, and the others with a caret, or where
/// an exception of another language was raised.
fn failure_of(error: &Error) -> Failure {
    let text = error.message_with_path();
    if !error.is_from_host() {
        return Failure::of_text(text);
    }
    let (name, trace) = (error.kind_name(), error.traceback());
    Failure::of_text(format!("{name}: {text}\n{trace}"))
}

/// The program of a file, as an object.
fn program_of(input: &Input) -> Result<Ref<Obj>, Failure> {
    let value: Value = input.to_value();
    let node = value
        .as_object()
        .filter(|object| !object.type_info().is_builtin());
    node.cloned().ok_or_else(|| {
        let got = value.type_name();
        format!("expected a program, got {got}").into()
    })
}

/// The conditions under which the passes run.
fn options_of(args: &PipelineArgs) -> Result<ContextOptions, Error> {
    let mut options = ContextOptions::default()
        .opt_level(args.opt_level)
        .disabled(args.disable.iter());
    for setting in &args.config {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Error::value_error(format!(
                "--config: expected KEY=VALUE, got '{setting}'"
            )));
        };
        let value =
            parse_value(value).map_err(|error| error.noted(format!("in '--config {setting}'")))?;
        options = options.config(key, value);
    }
    Ok(if args.verify {
        options
            .instrument(&Verifying::instrument())
            .config("testing.immutable_module", true)
    } else {
        options
    })
}

/// Tells which passes are skipped because of their level.
fn note_skipped(pipeline: &Ref<Sequential>, args: &PipelineArgs, output: &mut Output<'_, '_>) {
    if output.quiet {
        return;
    }
    let mut told = HashSet::new();
    let mut stack = vec![pipeline.clone().upcast()];
    while let Some(pass) = stack.pop() {
        let (name, level) = (&*pass.info.name, pass.info.opt_level);
        if args.disable.iter().any(|disabled| disabled == name) {
            continue;
        }
        if level > args.opt_level {
            if told.insert(name.to_owned()) {
                output.aside(&format!(
                    "isoform: pass '{name}' is skipped: its level {level} is above --opt-level {}\n",
                    args.opt_level
                ));
            }
        } else if let Some(sequence) = pass.downcast_ref::<Sequential>() {
            stack.extend(sequence.passes.iter().rev().cloned());
        }
    }
}
