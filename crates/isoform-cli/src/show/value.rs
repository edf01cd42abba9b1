//! A value of the library as text.

use std::io;

use isoform::Value;
use isoform::text::{TensorText, TextOptions};
use serde_json::json;

use crate::args::{ShowArgs, TextArgs};
use crate::input::{IrFile, is_graph, message};
use crate::output::{Failure, Output, printable};

pub(super) fn run(args: &ShowArgs, file: &IrFile, output: &mut Output<'_, '_>) -> io::Result<()> {
    if args.depth.is_some() || args.limit.is_some() || args.names {
        let reason = "--depth, --limit and --names are only for ONNX models";
        return output.failed_file(&args.file, &reason.into());
    }
    let tensors = match args.text.full_tensors {
        true => TensorText::Inline,
        false => TensorText::Abbreviated,
    };
    let color = output.style.is_color && !output.json;
    let options = args
        .text
        .options()
        .tensors(tensors)
        .placeholders(true)
        .color(color);
    let text = match text_of(&file.value, &options) {
        Ok(text) => text,
        Err(error) => {
            let failure: Failure = message(&args.file, &error);
            return output.failed_file(&args.file, &failure);
        }
    };
    let root = root_type(&file.value);
    if output.json {
        return output.json_line(&json!({
            "file": args.file.to_string_lossy(),
            "form": file.form.key(),
            "type": root,
            "text": text,
        }));
    }
    if !output.quiet {
        let name = args.file.display().to_string();
        let (name, root) = (printable(&name), printable(root));
        output.faint(&format!("// {name}: {}, {root}", file.form.name()))?;
    }
    output.bytes(text.as_bytes())
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
    match is_graph(&text) {
        // The text of a map with such keys looks like a JSON graph.
        true => Ok(format!("// text\n{text}")),
        false => Ok(text),
    }
}

/// The type of a value, as printed in its text.
fn root_type(value: &Value) -> &str {
    match value.as_object() {
        Some(object) => object.type_info().key(),
        None => value.type_name(),
    }
}
