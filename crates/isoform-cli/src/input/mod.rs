//! Reading files, and the effect of the common options on that.

mod form;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use isoform::compare::CompareOptions;
use isoform::files::JsonReadOptions;
use isoform::ir::Op;
use isoform::text::TextFault;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::types::{find_singleton, register_singleton};
use isoform::{Error, Value};
use isoform_onnx::facts::fix_dims;
use isoform_onnx::{ImportOptions, Model};
use serde_json::json;

use crate::args::Common;
use crate::model_args::FixArgs;
use crate::optimize::simplified;
use crate::output::{Failure, Output};

pub(crate) use form::{Content, Form, SAMPLE, TargetForm, is_graph, is_ours, recognize};

/// The contents of a file.
pub(crate) enum Input {
    /// An ONNX model.
    Model(Model),
    /// A file of the library.
    Value(IrFile),
}

/// A value, and its format in the file.
pub(crate) struct IrFile {
    pub(crate) value: Value,
    pub(crate) form: Form,
    /// The metadata of a JSON graph.
    pub(crate) metadata: Option<Value>,
}

impl Input {
    /// Returns the value to compare, hash or print.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Input::Model(model) => model.to_value(),
            Input::Value(file) => file.value.clone(),
        }
    }

    /// Returns the model, if it is one.
    pub(crate) fn model(&self) -> Option<&Model> {
        match self {
            Input::Model(model) => Some(model),
            Input::Value(_) => None,
        }
    }
}

impl Common {
    /// Returns the options for comparing two files.
    pub(crate) fn compare_options(&self) -> CompareOptions {
        CompareOptions {
            // Variables of two files are never the same object, whether bound or free.
            map_free_vars: true,
            skip_tensor_content: self.architecture,
        }
    }

    fn import_options(&self) -> ImportOptions {
        ImportOptions::default().io_names(self.io_names)
    }
}

/// True if the name denotes standard input or output.
pub(crate) fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads a file, or standard input for `-`. A failure does not repeat the file's name.
pub(crate) fn load(file: &Path, common: &Common) -> Result<Input, Failure> {
    if is_dash(file) {
        return from_standard_input(file);
    }
    let found = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if found.is_dir() {
        return Err(
            "this is a folder, expected a file; only 'isoform dedup' searches folders".into(),
        );
    }
    let mut opened = File::open(file).map_err(|error| error.to_string())?;
    let mut bytes = start_of(&mut opened).map_err(|error| error.to_string())?;
    match recognize(&bytes, file) {
        Content::Value(form) => {
            opened
                .read_to_end(&mut bytes)
                .map_err(|error| error.to_string())?;
            decode(form, bytes, file)
        }
        Content::Model if !found.is_file() => Err(NOT_MAPPED.into()),
        Content::Model => match common.import_options().load(file) {
            Ok(model) => Ok(Input::Model(model)),
            Err(error) => Err(message(file, &error)),
        },
    }
}

impl FixArgs {
    /// Fixes the dimensions of a model as the user wants; what is not a model stays as it is
    /// unless options are given that only models have.
    pub(crate) fn apply(&self, file: &Path, input: Input) -> Result<Input, Failure> {
        if self.dims.is_empty() && self.inputs.is_empty() {
            return Ok(input);
        }
        let Input::Model(model) = input else {
            return Err(
                "--dim and --input-shape are for ONNX models, and this is another file".into(),
            );
        };
        let inputs = self.inputs.iter();
        let inputs: Vec<_> = inputs
            .map(|input| (input.name.clone(), input.extents.clone()))
            .collect();
        let fixed = fix_dims(model.program(), &self.dims, &inputs);
        let fixed = fixed.map_err(|error| message(file, &error))?;
        Ok(Input::Model(model.with_program(fixed)))
    }
}

/// With `simplify`, the input has to be a model, which is simplified; otherwise it stays as
/// it is.
pub(crate) fn simplified_input(
    file: &Path,
    input: Input,
    simplify: bool,
) -> Result<Input, Failure> {
    match input {
        Input::Model(model) if simplify => {
            let program = simplified(model.program()).map_err(|error| message(file, &error))?;
            Ok(Input::Model(model.with_program(program)))
        }
        Input::Value(found) if simplify => Err(format!(
            "--simplify is for ONNX models, and this is a value as {}",
            found.form.name()
        )
        .into()),
        input => Ok(input),
    }
}

/// Reads the start of a file, enough to detect its format.
pub(crate) fn start_of(file: &mut File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(SAMPLE as u64).read_to_end(&mut start)?;
    Ok(start)
}

const NOT_MAPPED: &str = "an ONNX model cannot be read from a pipe or a device, because models are mapped into memory; give a file";

fn from_standard_input(file: &Path) -> Result<Input, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input: {error}"))?;
    if bytes.is_empty() {
        return Err("standard input is empty (a file of this name is ./-)".into());
    }
    match recognize(&bytes[..bytes.len().min(SAMPLE)], file) {
        Content::Value(form) => decode(form, bytes, file),
        Content::Model => {
            let reason = "standard input is neither text nor a JSON graph nor the binary form, and ONNX models cannot be read from it, because they are mapped into memory; give a file";
            Err(reason.into())
        }
    }
}

/// Decodes the value from the bytes of a file.
fn decode(form: Form, bytes: Vec<u8>, file: &Path) -> Result<Input, Failure> {
    let failed = |error: Error| message(file, &error);
    register_types().map_err(failed)?;
    let decoded = match form {
        Form::Binary => read_settled(|| Ok((isoform::files::from_bytes(&bytes)?, None))),
        Form::Text => {
            let text = text_in(bytes, form)?;
            let text = without_mark(&text);
            read_settled(|| Ok((isoform::text::from_text(text)?, None)))
        }
        Form::Json => {
            let text = text_in(bytes, form)?;
            let options = JsonReadOptions::default();
            let text = without_mark(&text);
            read_settled(|| options.read_with_metadata(text))
        }
    };
    let (value, metadata) = decoded.map_err(failed)?;
    Ok(Input::Value(IrFile {
        value,
        form,
        metadata,
    }))
}

fn text_in(bytes: Vec<u8>, form: Form) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{}: not UTF-8 from byte {at} on", form.name()).into()
    })
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(form::BYTE_ORDER_MARK).unwrap_or(text)
}

/// A value, and the metadata of a JSON graph.
type Decoded = (Value, Option<Value>);

/// Returns the result of `read`, using the operators that other files were read with.
///
/// There is only one object per operator name. Reading registers none of them, so the
/// operators of the first file are registered here; a file that was read in the meantime
/// is read again, and then finds them.
fn read_settled(read: impl Fn() -> isoform::Result<Decoded>) -> isoform::Result<Decoded> {
    let decoded = read()?;
    let mut is_settled = true;
    walk_objects(&decoded.0, |object, _| {
        if let Some(op) = object.downcast_ref::<Op>() {
            is_settled &= match find_singleton(op) {
                Some(known) => known.same_as(object),
                // Another thread may be faster, and a file may contain a name twice.
                None => register_singleton(op).is_ok(),
            };
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    if is_settled { Ok(decoded) } else { read() }
}

/// Registers all types that files may hold, and the passes over them.
pub(crate) fn register_types() -> isoform::Result<()> {
    isoform::ir::register()?;
    isoform::transform::register()?;
    isoform::tir::register()?;
    isoform::dialect::relay::register()?;
    isoform::dialect::pto::register()?;
    isoform_onnx::ir::register()?;
    isoform_onnx::optimize::register()
}

/// The message of an error, without the kind, which is for programs, and without the
/// file's name, which precedes every message.
pub(crate) fn message(file: &Path, error: &Error) -> Failure {
    let mut text = error.message();
    for place in ["model", "file", "cannot open"] {
        let place = format!("{place} '{}'", file.display());
        if let Some(rest) = text.strip_prefix(&place)
            && let Some(rest) = [" > ", ": "].iter().find_map(|gap| rest.strip_prefix(gap))
        {
            text = rest;
        }
    }
    // The offending line is shown on lines of its own.
    let fault =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<TextFault>());
    let head = fault.map(|fault| format!("text: {fault}"));
    let (text, excerpt) = match head.as_deref().and_then(|head| text.strip_prefix(head)) {
        Some(rest) => (
            &text[..text.len() - rest.len()],
            rest.trim_start_matches('\n'),
        ),
        None => (text, ""),
    };
    Failure {
        message: match error.path() {
            Some(path) => format!("{text} (at {path})"),
            None => text.to_owned(),
        },
        excerpt: excerpt.lines().map(str::to_owned).collect(),
    }
}

impl Output<'_, '_> {
    /// Reports a file that failed on standard error, and under `--json` also in the result.
    pub(crate) fn failed_file(&mut self, file: &Path, failure: &Failure) -> io::Result<()> {
        self.failure(file, failure);
        if !self.json {
            return Ok(());
        }
        self.json_line(&json!({"file": file.to_string_lossy(), "error": failure.message}))
    }
}
