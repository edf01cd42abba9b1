//! `isoform convert`: converts a file to another format.

use std::io;

use isoform::files::{JsonOptions, to_bytes};
use isoform::text::TensorText;
use isoform::{Map, Str, Value};
use serde_json::json;

use crate::args::{Common, ConvertArgs};
use crate::input::{Form, Input, is_dash, load, message};
use crate::output::{Failure, Output};
use crate::show::text_of;
use crate::target::{check_target, write};

pub(crate) fn run(
    args: &ConvertArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    // Fail early, before anything large is read.
    let form = match form_of_target(args, common).and_then(|form| {
        check_target(args)?;
        Ok(form)
    }) {
        Ok(form) => form,
        Err(failure) => return output.failed_file(&args.target, &failure),
    };
    let input = match load(&args.source, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.source, &failure),
    };
    let bytes = match encode(args, &input, form) {
        Ok(bytes) => bytes,
        Err(error) => {
            let failure = message(&args.source, &error);
            return output.failed_file(&args.source, &failure);
        }
    };
    if is_dash(&args.target) {
        return output.bytes(&bytes);
    }
    if let Err(failure) = write(args, &bytes) {
        return output.failed_file(&args.target, &failure);
    }
    if !output.json {
        return Ok(());
    }
    output.json_line(&json!({
        "file": args.source.to_string_lossy(),
        "to": args.target.to_string_lossy(),
        "form": form.key(),
        "bytes": bytes.len(),
    }))
}

/// The format of the target.
pub(crate) fn form_of_target(args: &ConvertArgs, common: &Common) -> Result<Form, Failure> {
    if common.json && is_dash(&args.target) {
        return Err("--json writes its report to standard output, which is also the target; for a JSON graph, use --to json".into());
    }
    match args.to.or_else(|| Form::of_name(&args.target)) {
        Some(form) => Ok(form),
        None => Err(
            "the name does not determine the format (.json, .iso or .isob); use --to json, text or binary"
                .into(),
        ),
    }
}

/// The bytes of a file.
pub(crate) fn encode(args: &ConvertArgs, input: &Input, form: Form) -> isoform::Result<Vec<u8>> {
    let value = input.to_value();
    match form {
        Form::Binary => to_bytes(&value),
        Form::Text => {
            let tensors = match args.text.full_tensors {
                true => TensorText::Inline,
                false => TensorText::Section,
            };
            let options = args.text.options().tensors(tensors);
            Ok(text_of(&value, &options)?.into_bytes())
        }
        Form::Json => {
            let kept = match input {
                Input::Value(file) => file.metadata.clone(),
                Input::Model(_) => None,
            };
            let metadata = kept.unwrap_or_else(|| {
                let version = ("isoform_version".into(), env!("CARGO_PKG_VERSION").into());
                Value::from(Map::<Str, Str>::from_iter([version]))
            });
            Ok(JsonOptions::default()
                .metadata(metadata)
                .to_json_graph(&value)?
                .into_bytes())
        }
    }
}
