//! A value of the library as text.

use std::io;

use isoform::Value;
use isoform::text::{TensorText, TextOptions};
use serde_json::json;

use super::tensors::tensor_lines;
use crate::args::{ShowArgs, TextArgs};
use crate::input::{IrFile, is_special_json, message};
use crate::output::{Failure, Output, printable};

/// Prints the value; returns the reason if nothing was printed.
pub(super) fn print(
    args: &ShowArgs,
    file: &IrFile,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    let has_names = args.names || args.numbers || args.canonical;
    let is_for_models = args.depth.is_some() || args.limit.is_some() || has_names;
    if is_for_models && !args.any_file {
        let reason =
            "--depth, --limit, --names, --numbers and --canonical are only for ONNX models";
        return Ok(Some(reason.into()));
    }
    let text = match file.tensors {
        Some(form) if !args.text.full_tensors => tensor_lines(form, &file.value),
        _ => match value_text(args, file, output) {
            Ok(text) => text,
            Err(error) => return Ok(Some(message(&args.file, &error))),
        },
    };
    let root = root_type(&file.value);
    if output.json {
        let mut object = json!({
            "file": args.file.to_string_lossy(),
            "form": file.form_key(),
            "type": root,
            "text": text,
        });
        if !file.files.is_empty() {
            object["files"] = json!(file.files);
        }
        return output.json_line(&object).map(|()| None);
    }
    if !output.quiet {
        let root = printable(root);
        output.faint(&format!("// {}, {root}", file.form_name()))?;
    }
    output.bytes(text.as_bytes()).map(|()| None)
}

fn value_text(args: &ShowArgs, file: &IrFile, output: &Output<'_, '_>) -> isoform::Result<String> {
    if args.script
        && let Some(object) = file.value.as_object()
    {
        return isoform_ir::transform::script(object);
    }
    let tensors = if args.text.full_tensors {
        TensorText::Inline
    } else {
        TensorText::Abbreviated
    };
    let color = output.style.is_color && !output.json;
    let options = args
        .text
        .options()
        .tensors(tensors)
        .placeholders(true)
        .color(color);
    text_of(&file.value, &options)
}

impl TextArgs {
    /// Translates the options of the command line for the printer.
    pub(crate) fn options(&self) -> TextOptions {
        TextOptions::default()
            .width(self.width)
            .spans(self.spans || !self.no_spans)
            .types(self.types)
    }
}

/// The text of a value, in a form that cannot be mistaken for another format.
pub(crate) fn text_of(value: &Value, options: &TextOptions) -> isoform::Result<String> {
    let text = options.to_text(value)?;
    if is_special_json(&text) {
        // The text of a map with such keys looks like JSON.
        Ok(format!("// text\n{text}"))
    } else {
        Ok(text)
    }
}

/// The type of a value, in the notation of its text.
fn root_type(value: &Value) -> &str {
    match value.as_object() {
        Some(object) => object.type_info().key(),
        None => value.type_name(),
    }
}
