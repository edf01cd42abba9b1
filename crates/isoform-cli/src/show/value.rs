//! A value of the library as text.

use std::io;

use isoform::text::{TensorText, TextOptions};
use isoform::{Ref, Value};
use isoform_ir::transform;
use isoform_page::Page;
use serde_json::json;

use super::tensors::tensor_lines;
use crate::args::{ShowArgs, TextArgs};
use crate::input::{Form, IrFile, is_special_json, message};
use crate::output::{Failure, Output, printable};
use crate::pages::commands::page_of_file;
use crate::pages::mlir_text;

/// Prints the value; returns the reason if nothing was printed.
pub(super) fn print(
    args: &ShowArgs,
    file: &IrFile,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    if let Some(failure) = refused(args) {
        return Ok(Some(failure));
    }
    let text = match file.tensors {
        _ if file.form == Form::Mlir && !args.script => match mlir_text(args, file) {
            Ok(text) => text,
            Err(error) => return Ok(Some(message(&args.file, &error))),
        },
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

/// A program of MLIR in its own notation. Large constants are abbreviated unless all elements are
/// wanted.
fn mlir_text(args: &ShowArgs, file: &IrFile) -> isoform::Result<String> {
    let program = file.value.extract::<Ref<isoform_mlir::Program>>()?;
    let elements = (!args.text.full_tensors).then_some(mlir_text::ELEMENTS);
    isoform_mlir::WriteOptions::default()
        .kind_names(args.canonical)
        .max_elements(elements)
        .write(&program)
}

/// Options that a value does not have.
fn refused(args: &ShowArgs) -> Option<Failure> {
    let has_names = args.names || args.numbers;
    let is_for_models = args.depth.is_some() || args.limit.is_some() || has_names;
    let reason = "--depth, --limit, --names and --numbers are only for ONNX models";
    (is_for_models && !args.any_file).then(|| reason.into())
}

/// The page of the value.
pub(super) fn page(args: &ShowArgs, file: &IrFile, title: String) -> Result<Page, Failure> {
    if let Some(failure) = refused(args) {
        return Err(failure);
    }
    let failed = |error: isoform::Error| message(&args.file, &error);
    let script = match file.value.as_object() {
        Some(object) if args.script => Some(transform::script(object).map_err(failed)?),
        _ => None,
    };
    let options = printed(args);
    page_of_file(file, title, &options, script.as_deref()).map_err(failed)
}

fn value_text(args: &ShowArgs, file: &IrFile, output: &Output<'_, '_>) -> isoform::Result<String> {
    if args.script
        && let Some(object) = file.value.as_object()
    {
        return transform::script(object);
    }
    let color = output.style.is_color && !output.json;
    text_of(&file.value, &printed(args).color(color))
}

/// The options of the text.
fn printed(args: &ShowArgs) -> TextOptions {
    let tensors = if args.text.full_tensors {
        TensorText::Inline
    } else {
        TensorText::Abbreviated
    };
    args.text
        .options()
        .tensors(tensors)
        .placeholders(true)
        .structural_names(args.canonical)
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
pub(crate) fn root_type(value: &Value) -> &str {
    match value.as_object() {
        Some(object) => object.type_info().key(),
        None => value.type_name(),
    }
}
