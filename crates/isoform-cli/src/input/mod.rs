//! Reading files, and the effect of the common options on that.
//!
//! `form.rs` detects the format of a file from its first bytes, never from its name;
//! all commands work on the resulting values. `packed.rs` unpacks files up to a limit,
//! `tensors/` reads files of named tensors as maps, and `foreign.rs` lists the refused
//! formats, with advice.

pub(crate) mod alone;
mod foreign;
mod form;
mod graph;
mod packed;
mod tensors;
pub(crate) mod types;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use isoform::compare::CompareOptions;
use isoform::files::JsonReadOptions;
use isoform::text::TextFault;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::types::{find_singleton, register_singleton};
use isoform::{Error, Ref, Value};
use isoform_corpus::{Selection, SourceFile};
use isoform_ir::ir::Op;
use isoform_onnx::facts::fix_dims;
use isoform_onnx::{ExternalData, ExternalResolver, ImportOptions, Model, decode_model};

use crate::args::Common;
use crate::find::{ir_form_of_name, is_model_name};
use crate::model_args::FixArgs;
use crate::optimize::simplified;
use crate::output::{Failure, Output};

use alone::{Reservations, UnknownFile};
use tensors::{Neighbours, is_index};
use types::TypeSources;

pub(crate) use form::{Content, Form, SAMPLE, TargetForm, is_ours, is_special_json, recognize};
pub(crate) use tensors::{TensorForm, gguf};

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
    /// The default format for writing the value.
    pub(crate) form: Form,
    /// The format of the file, if it holds tensors.
    pub(crate) tensors: Option<TensorForm>,
    /// The metadata of a JSON graph.
    pub(crate) metadata: Option<Value>,
    /// The names of the other files on which the value depends, all in the file's folder.
    pub(crate) files: Vec<String>,
    /// The gaps in the knowledge of the value, if types of it are unknown.
    pub(crate) alone: Option<Arc<Reservations>>,
}

impl IrFile {
    /// The name of the file's format for people.
    pub(crate) fn form_name(&self) -> &'static str {
        self.tensors.map_or(self.form.name(), TensorForm::name)
    }

    /// The name of the type of elements of each tensor, and their number, if the file holds
    /// tensors: of a quantised one, the name in its format.
    pub(crate) fn elements(&self) -> Vec<(String, u64)> {
        self.tensors
            .map_or_else(Vec::new, |form| form.elements(&self.value))
    }

    /// The name of the file's format for programs.
    pub(crate) fn form_key(&self) -> &'static str {
        self.tensors.map_or(self.form.key(), TensorForm::key)
    }
}

impl Input {
    /// Returns the value to compare, hash or print.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Input::Model(model) => model.to_value(),
            Input::Value(file) => file.value.clone(),
        }
    }

    /// The gaps in the knowledge of a value that was read by the file alone.
    pub(crate) fn reservations(&self) -> Option<&Reservations> {
        match self {
            Input::Model(_) => None,
            Input::Value(file) => file.alone.as_deref(),
        }
    }

    /// Returns the model, if the input is a model.
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

    fn import_options(&self, external_data: ExternalData) -> ImportOptions {
        ImportOptions::default()
            .io_names(self.io_names)
            .follow_links(self.follow_links)
            .external_data(external_data)
    }
}

/// True if the name denotes standard input or output.
pub(crate) fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads a file, or standard input for `-`. A failure does not repeat the file's name.
///
/// With --architecture, external data is not read, because comparison of values ignores
/// the contents; use [`load_complete`] for all other purposes.
pub(crate) fn load(file: &Path, common: &Common) -> Result<Input, Failure> {
    leveled(file, load_as_written(file, common)?, common)
}

/// [`load`] for a key: compilers of MLIR may read the attributes that name arguments and results.
pub(crate) fn load_for_key(file: &Path, common: &Common) -> Result<Input, Failure> {
    let careful = Common {
        io_names: true,
        ..common.clone()
    };
    leveled(file, load_as_written(file, common)?, &careful)
}

fn load_as_written(file: &Path, common: &Common) -> Result<Input, Failure> {
    let external_data = if common.architecture {
        ExternalData::Skipped
    } else {
        ExternalData::Required
    };
    load_with(file, common, external_data)
}

/// A program of MLIR in the normal form of the wanted level; other inputs as they are.
pub(crate) fn leveled(file: &Path, mut input: Input, common: &Common) -> Result<Input, Failure> {
    if let Input::Value(found) = &mut input
        && let Some(program) = found.value.peek::<Ref<isoform_mlir::Program>>()
    {
        let level = common.mlir.level(common.io_names, !common.architecture)?;
        let program = level
            .apply(program)
            .map_err(|error| message(file, &error))?;
        found.value = program.into();
    }
    Ok(input)
}

/// [`load`], with the contents of all constants.
pub(crate) fn load_complete(file: &Path, common: &Common) -> Result<Input, Failure> {
    load_with(file, common, ExternalData::Required)
}

/// [`load`], reading this external data.
pub(crate) fn load_with(
    file: &Path,
    common: &Common,
    external_data: ExternalData,
) -> Result<Input, Failure> {
    let options = common.import_options(external_data);
    if is_dash(file) {
        return in_memory(
            standard_input()?.into(),
            file,
            &Beside::Unknown,
            common,
            options,
        );
    }
    let metadata = std::fs::metadata(file).map_err(|error| foreign::not_opened(file, &error))?;
    if metadata.is_dir() {
        return Err(folder_refusal(file).into());
    }
    let mut opened = File::open(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        // Only the bytes themselves are known of a pipe, and they come only once.
        let mut bytes = Vec::new();
        let read = opened.read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        return in_memory(bytes.into(), file, &Beside::Unknown, common, options);
    }
    let start = start_of(&mut opened).map_err(|error| error.to_string())?;
    match recognize(&start) {
        Content::Model => match options.load(file) {
            Ok(model) => Ok(Input::Model(model)),
            Err(error) => Err(explained(message(file, &error), &start, options)),
        },
        content => {
            // Values are copied while they are read, and tensors are not.
            let mapped = !matches!(content, Content::Value(_) | Content::Packed(_));
            let bytes = options.files().mmap(mapped).read(file);
            let bytes = bytes.map_err(|error| message(file, &error.into()))?;
            let folder = file.parent().unwrap_or(Path::new("."));
            in_memory(bytes, file, &Beside::Folder(folder), common, options)
        }
    }
}

/// [`load_complete`] for a file of a collection, which may be in an archive or on a server.
/// Returns None for a file that does not belong to a collection of models.
pub(crate) fn load_source(file: &SourceFile, common: &Common) -> Result<Option<Input>, Failure> {
    let path = Path::new(&file.path);
    let (start, bytes) = match file.local_path() {
        Some(local) => {
            let start = File::open(local).and_then(|mut opened| start_of(&mut opened));
            (start.map_err(|error| error.to_string())?.into(), None)
        }
        None => {
            let bytes = file.read().map_err(|error| message(path, &error))?;
            (bytes.slice(..bytes.len().min(SAMPLE)), Some(bytes))
        }
    };
    if let Some(form) = ir_form_of_name(path)
        && !is_model_name(path)
        && file.selection == Selection::Name
        && !is_ours(&start, form)
    {
        return Ok(None);
    }
    let input = match (file.local_path(), bytes) {
        (Some(local), _) => load_complete(local, common),
        (None, bytes) => {
            let options = common.import_options(ExternalData::Required);
            in_memory(
                bytes.unwrap_or_default(),
                path,
                &Beside::Source(file),
                common,
                options,
            )
        }
    };
    match input {
        Err(_) if file.selection == Selection::Content => Ok(None),
        input => input.map(Some),
    }
}

/// Where the external data of a model and the shards of weights are.
enum Beside<'a> {
    /// Unknown, since the file came through a pipe: external data is looked up in the
    /// current folder, and shards are refused.
    Unknown,
    /// In a folder of this machine.
    Folder(&'a Path),
    /// Where a file of a collection is.
    Source(&'a SourceFile),
}

/// A folder, and the current one in place of an empty path.
fn set(folder: &Path) -> &Path {
    Some(folder)
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

impl Beside<'_> {
    /// The shards of an index of weights; None if they are refused.
    fn neighbours(&self, options: ImportOptions) -> Option<Neighbours<'_>> {
        Some(Neighbours {
            folder: match self {
                Beside::Unknown => return None,
                Beside::Folder(folder) => Some(set(folder)),
                Beside::Source(_) => None,
            },
            resolver: self.resolver(options),
        })
    }

    fn resolver(&self, options: ImportOptions) -> ExternalResolver {
        match self {
            Beside::Unknown => ExternalResolver::in_folder(".", options.files()),
            Beside::Folder(folder) => ExternalResolver::in_folder(set(folder), options.files()),
            Beside::Source(file) => {
                let file = SourceFile::clone(file);
                let read = move |name: &str| file.read_beside(name).map_err(io::Error::other);
                ExternalResolver::with_lookup(read, options.files())
            }
        }
    }
}

/// The number of times that a file may be compressed.
const MAX_PACKED: usize = 2;

/// Decodes the contents of a file; external data of a model is looked up beside it.
fn in_memory(
    mut bytes: Bytes,
    file: &Path,
    beside: &Beside<'_>,
    common: &Common,
    options: ImportOptions,
) -> Result<Input, Failure> {
    let mut packed = 0;
    loop {
        match content(&bytes) {
            Content::Empty if is_dash(file) => {
                return Err("standard input is empty (a file of this name is ./-)".into());
            }
            Content::Empty => {
                return Err("the file is empty, expected an ONNX model or an IR file".into());
            }
            Content::Foreign(refusal) => return Err(refusal.into()),
            Content::Packed(_) if packed == MAX_PACKED => {
                return Err(format!(
                    "this is compressed more than {MAX_PACKED} times; unpack it first"
                )
                .into());
            }
            Content::Packed(packing) => {
                packed += 1;
                bytes = packing.unpack(&bytes, packed::LIMIT)?.into();
            }
            Content::Tensors(form) => {
                let neighbours = match packed {
                    0 => beside.neighbours(options),
                    _ => None,
                };
                let read = form.read(&bytes, neighbours.as_ref())?;
                return Ok(Input::Value(IrFile {
                    value: read.value,
                    form: Form::Binary,
                    tensors: Some(form),
                    metadata: None,
                    files: read.files,
                    alone: None,
                }));
            }
            Content::Value(form) => return decode(form, bytes, file, &common.types),
            Content::Model => {
                let resolver = beside.resolver(options);
                let start = bytes.slice(..bytes.len().min(SAMPLE));
                let model = decode_model(bytes).map_err(Error::from);
                let model = model.and_then(|model| options.import(&model, &resolver));
                return match model {
                    Ok(model) => Ok(Input::Model(model)),
                    Err(error) => Err(explained(message(file, &error), &start, options)),
                };
            }
        }
    }
}

/// The contents of a complete file. A long text may show only after its start that it is
/// the index of tensors.
fn content(bytes: &[u8]) -> Content {
    match recognize(&bytes[..bytes.len().min(SAMPLE)]) {
        Content::Value(Form::Json | Form::Text) if bytes.len() > SAMPLE && is_long_index(bytes) => {
            Content::Tensors(TensorForm::Shards)
        }
        content => content,
    }
}

fn is_long_index(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| is_index(without_mark(text).trim_start()))
}

/// A failure to read a model that starts with these bytes, with advice: on external
/// data that some commands do not need, and on formats that look like models.
fn explained(mut failure: Failure, start: &[u8], options: ImportOptions) -> Failure {
    let is_other = failure.message.starts_with("not an ONNX model");
    if is_other && let Some(refusal) = foreign::other_protobuf(start) {
        return refusal.into();
    }
    let is_external = failure.message.contains("external data file '");
    let is_missing = is_external && failure.message.contains("cannot find '");
    if is_missing && options.external_data == ExternalData::Required {
        failure.message.push_str(
            "; 'isoform show', and 'hash', 'diff' and 'dedup' with --architecture, work without it",
        );
    }
    failure
}

fn folder_refusal(folder: &Path) -> &'static str {
    if folder.join("saved_model.pb").exists() {
        return "this is the folder of a TensorFlow SavedModel, which isoform does not read; convert it with 'python -m tf2onnx.convert --saved-model FOLDER --output model.onnx'";
    }
    if folder.join("Manifest.json").exists() && folder.join("Data").is_dir() {
        return "this is the folder of a Core ML model, which isoform does not read; give the model from which it was converted, as ONNX";
    }
    "this is a folder, expected a file; 'isoform dedup' and 'isoform index' search folders, and 'isoform diff' compares two"
}

impl FixArgs {
    /// Fixes the dimensions of a model at the user's request. Without a request, any
    /// input stays unchanged; with a request, an input other than a model is an error.
    pub(crate) fn apply(&self, file: &Path, input: Input) -> Result<Input, Failure> {
        if self.dims.is_empty() && self.inputs.is_empty() {
            return Ok(input);
        }
        let Input::Model(model) = input else {
            return Err(
                "--dim and --input-shape are for ONNX models, and this is another file".into(),
            );
        };
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| (input.name.clone(), input.extents.clone()))
            .collect();
        let model = model.complete().map_err(|error| message(file, &error))?;
        let fixed = fix_dims(model.program(), &self.dims, &inputs)
            .map_err(|error| message(file, &error))?;
        Ok(Input::Model(model.with_program(fixed)))
    }
}

/// With `simplify`, the input has to be a model, which is simplified; otherwise the
/// input stays unchanged.
pub(crate) fn simplified_input(
    file: &Path,
    input: Input,
    simplify: bool,
) -> Result<Input, Failure> {
    match input {
        Input::Model(model) if simplify => {
            let model = model.complete().map_err(|error| message(file, &error))?;
            let program = simplified(model.program()).map_err(|error| message(file, &error))?;
            Ok(Input::Model(model.with_program(program)))
        }
        Input::Value(found) if simplify => Err(format!(
            "--simplify is for ONNX models, and this is a value as {}",
            found.form_name()
        )
        .into()),
        input => Ok(input),
    }
}

/// True if a file is compressed; false if it cannot be read.
pub(crate) fn is_packed(file: &Path) -> bool {
    let start = File::open(file).and_then(|mut opened| start_of(&mut opened));
    start.is_ok_and(|start| matches!(recognize(&start), Content::Packed(_)))
}

/// Reads the start of a file, enough to detect its format.
pub(crate) fn start_of(file: &mut File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(SAMPLE as u64).read_to_end(&mut start)?;
    Ok(start)
}

pub(crate) fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input: {error}"))?;
    Ok(bytes)
}

/// Decodes the value from the bytes of a file. Unknown types are searched for.
pub(crate) fn decode(
    form: Form,
    bytes: Bytes,
    file: &Path,
    types: &TypeSources,
) -> Result<Input, Failure> {
    let failed = |error: Error| message(file, &error);
    register_types().map_err(failed)?;
    let mut decoded = decoded(form, &bytes)?;
    let mut unknown = Vec::new();
    if let Err(error) = &decoded
        && error.message().contains("unknown type")
    {
        // A file that is wrong in other ways may have no list of types.
        unknown = alone::unknown_keys(form, &bytes).unwrap_or_default();
        if !unknown.is_empty() && types.declare(&unknown)? {
            decoded = self::decoded(form, &bytes)?;
            unknown = alone::unknown_keys(form, &bytes).unwrap_or_default();
        }
    }
    let (value, metadata) = decoded.map_err(|error| {
        let mut failure = failed(error);
        if failure.message.contains("unknown type") {
            // The message itself has advice on a dialect whose module is there.
            if !failure.message.contains("if it was renamed") {
                failure.excerpt.push(types.hint(&unknown).to_owned());
            }
            failure.unknown = (!unknown.is_empty()).then(|| {
                Arc::new(UnknownFile {
                    file: file.to_owned(),
                    form,
                    bytes,
                    keys: unknown,
                })
            });
        }
        failure
    })?;
    Ok(Input::Value(IrFile {
        value,
        form,
        tensors: None,
        metadata,
        files: Vec::new(),
        alone: None,
    }))
}

/// Reads the value and the metadata; the outer error is about the bytes as a whole.
fn decoded(form: Form, bytes: &[u8]) -> Result<isoform::Result<Decoded>, Failure> {
    Ok(match form {
        Form::Binary => read_settled(|| Ok((isoform::files::from_bytes(bytes)?, None))),
        Form::Mlir => isoform_mlir::read(bytes).map(|program| (program.into(), None)),
        Form::Text => {
            let text = text_in(bytes, form)?;
            let read = read_settled(|| Ok((isoform::text::from_text(text)?, None)));
            if read.is_err() && is_json(text) {
                return Err(OTHER_JSON.into());
            }
            read
        }
        Form::Json => {
            let text = text_in(bytes, form)?;
            let options = JsonReadOptions::default();
            read_settled(|| options.read_with_metadata(text))
        }
    })
}

const OTHER_JSON: &str = "this is JSON, but not a JSON graph, whose first key is \"root_index\", \"nodes\" or \"metadata\"; give a file that isoform.serialization.to_json_graph_str or 'isoform convert --to json' has written";

/// True for an object or list of JSON.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn text_in(bytes: &[u8], form: Form) -> Result<&str, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        format!("{}: not UTF-8 from byte {at} on", form.name())
    })?;
    Ok(without_mark(text))
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(form::BYTE_ORDER_MARK).unwrap_or(text)
}

/// A value, and the metadata of a JSON graph.
type Decoded = (Value, Option<Value>);

/// Returns the result of `read`, using the operators from previously read files.
///
/// Every operator name has a single object. Reading does not register operators, so the
/// operators of the first file are registered here. A file read in the meantime is read
/// again, and then finds the registered operators.
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

/// Registers all types that files may hold, and the passes over these types. Only the
/// first success takes time, because a small file is read faster than types register.
pub(crate) fn register_types() -> isoform::Result<()> {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if IS_DONE.load(Ordering::Acquire) {
        return Ok(());
    }
    isoform_ir::ir::register()?;
    isoform_ir::transform::register()?;
    isoform_ir::tir::register()?;
    isoform_relay::register()?;
    isoform_pto::register()?;
    isoform_mlir::register()?;
    isoform_onnx::ir::register()?;
    isoform_onnx::optimize::register()?;
    IS_DONE.store(true, Ordering::Release);
    Ok(())
}

/// The message of an error, without the kind, which is for programs, and without the
/// file's name, which precedes every message.
pub(crate) fn message(file: &Path, error: &Error) -> Failure {
    let mut text = error.message();
    for place in ["model", "file", "cannot open", "cannot read"] {
        let place = format!("{place} '{}'", file.display());
        if let Some(rest) = text.strip_prefix(&place)
            && let Some(rest) = [" > ", ": "].iter().find_map(|gap| rest.strip_prefix(gap))
        {
            text = rest;
        }
    }
    // The offending line is shown on separate lines.
    let fault =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<TextFault>());
    let head = fault.map(|fault| format!("text: {fault}"));
    let (text, excerpt) = match head.as_deref().and_then(|head| text.strip_prefix(head)) {
        Some(rest) => (
            &text[..text.len() - rest.len()],
            rest.trim_start_matches('\n'),
        ),
        None => text.split_once('\n').unwrap_or((text, "")),
    };
    Failure {
        message: match error.path() {
            Some(path) => format!("{text} (at {path})"),
            None => text.to_owned(),
        },
        excerpt: excerpt.lines().map(str::to_owned).collect(),
        unknown: None,
    }
}

impl Output<'_, '_> {
    /// Reports a file that failed on standard error, and under `--json` also in the result.
    pub(crate) fn failed_file(&mut self, file: &Path, failure: &Failure) -> io::Result<()> {
        self.failure(file, failure);
        if !self.json {
            return Ok(());
        }
        self.json_line(&failure.json(file))
    }
}
