//! Files of unknown types, read from what the files say about them.
//!
//! A known type may refuse the unknown ones in its fields; then no type of the file is taken
//! from its declaration.
//!
//! Stand-ins have the fields of the file and the keys of the types after `unknown.`. Nothing is
//! known of bindings, ignored fields and sharing, so stand-ins for comparison are of kind
//! `dag`: everything counts, names and sharing included, and two equal files are equal under
//! any declaration. The digest of a stand-in would be another than that of the type, so no
//! digest is made.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::{construct, field_value};
use isoform::plumbing::sketches::{TypeSketch, is_known, of_binary, of_text, with_stand_ins};
use isoform::types::{
    FieldDef, Kind, Schema, TEXT_NAME, TypeDef, TypeIndex, find_type, register_type,
};
use isoform::{Result, Value, structural_equal};

use super::graph::{Graph, graph_types};
use super::types::TypeSources;
use super::{Form, Input, IrFile, decoded, message, without_mark};
use crate::output::{Failure, Output, counted};

/// A file that can be read but for its unknown types.
#[derive(Debug)]
pub(crate) struct UnknownFile {
    pub(super) file: PathBuf,
    pub(super) form: Form,
    pub(super) bytes: Bytes,
    /// The keys of the unknown types.
    pub(super) keys: Vec<String>,
}

/// The gaps in the knowledge of a value that was read by the file alone.
#[derive(Debug)]
pub(crate) struct Reservations {
    /// The keys of the unknown types.
    pub(crate) keys: Vec<String>,
    /// The fields that hold integers, or the numbers of nodes.
    pub(crate) unsure: Vec<String>,
    /// The file as data, if it is a JSON graph.
    graph: Option<Value>,
}

/// The purpose of reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Purpose {
    /// Text for people.
    Show,
    /// A comparison in which everything counts.
    Compare,
}

/// The keys of unknown types in a file, in a text up to its first fault; None if another file
/// has faults of its form.
pub(super) fn unknown_keys(form: Form, bytes: &[u8]) -> Option<Vec<String>> {
    let keys: Vec<String> = match form {
        Form::Json => Graph::read(text(bytes)?)?.keys(),
        Form::Binary => keys_of(of_binary(bytes).ok()?),
        Form::Text => keys_of(of_text(text(bytes)?).0),
        // Dialects of MLIR need no types.
        Form::Mlir => Vec::new(),
    };
    Some(keys.into_iter().filter(|key| !is_known(key)).collect())
}

fn keys_of(types: Vec<TypeSketch>) -> Vec<String> {
    types.into_iter().map(|ty| ty.key).collect()
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(without_mark)
}

/// Reads files of unknown types, which several files declare alike.
///
/// # Errors
///
/// The position of a file, and why it cannot be read without the types.
pub(crate) fn read(
    files: &[&UnknownFile],
    purpose: Purpose,
) -> std::result::Result<Vec<Input>, (usize, Failure)> {
    read_apart(files, purpose, &|key| !is_known(key))
        .or_else(|_| read_apart(files, purpose, &|_| true))
}

/// Reads files with stand-ins for the types of which `is_apart` is true.
fn read_apart(
    files: &[&UnknownFile],
    purpose: Purpose,
    is_apart: &dyn Fn(&str) -> bool,
) -> std::result::Result<Vec<Input>, (usize, Failure)> {
    let sketched = sketches(files, is_apart)?;
    let mut types = HashMap::new();
    for sketch in &sketched.types {
        match stand_in(sketch, purpose) {
            Ok(index) => drop(types.insert(sketch.key.clone(), index)),
            Err(error) => return Err((0, message(&files[0].file, &error))),
        }
    }
    let mut read = Vec::new();
    for (position, file) in files.iter().enumerate() {
        let value = with_stand_ins(types.clone(), || decoded(file.form, &file.bytes));
        let (value, metadata) = value
            .and_then(|value| value.map_err(|error| message(&file.file, &error)))
            .map_err(|failure| (position, failure))?;
        let reservations = Reservations {
            keys: file.keys.clone(),
            unsure: sketched.unsure.clone(),
            graph: match file.form {
                Form::Json => text(&file.bytes)
                    .and_then(Graph::read)
                    .map(|graph| graph.data),
                _ => None,
            },
        };
        read.push(Input::Value(IrFile {
            value,
            form: file.form,
            tensors: None,
            metadata,
            files: Vec::new(),
            alone: Some(Arc::new(reservations)),
        }));
    }
    Ok(read)
}

/// The unknown types of files, and the unsure fields.
struct Sketched {
    types: Vec<TypeSketch>,
    unsure: Vec<String>,
}

fn sketches(
    files: &[&UnknownFile],
    is_apart: &dyn Fn(&str) -> bool,
) -> std::result::Result<Sketched, (usize, Failure)> {
    let untold = |at: usize| {
        let reason = "the file does not tell the fields of its unknown types";
        move || (at, Failure::from(reason))
    };
    let (mut graphs, mut binary, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (at, file) in files.iter().enumerate() {
        match file.form {
            Form::Binary => binary.extend(of_binary(&file.bytes).map_err(|_| untold(at)())?),
            Form::Json => {
                let graph = text(&file.bytes).and_then(Graph::read);
                graphs.push(graph.ok_or_else(untold(at))?);
            }
            Form::Text => {
                let (types, fault) = of_text(text(&file.bytes).ok_or_else(untold(at))?);
                if let Some(fault) = fault {
                    return Err((at, message(&file.file, &fault)));
                }
                texts.extend(types);
            }
            Form::Mlir => {}
        }
    }
    let of_graphs = graph_types(&graphs, &binary, is_apart).ok_or_else(untold(0))?;
    let mut types = of_graphs.types;
    for sketch in binary.into_iter().chain(texts) {
        match types.iter_mut().find(|ty| ty.key == sketch.key) {
            Some(ty) => {
                ty.is_hooked |= sketch.is_hooked;
                ty.is_named |= sketch.is_named;
                for field in sketch.fields {
                    ty.add(&field.name, field.schema);
                }
            }
            None => types.push(sketch),
        }
    }
    types.retain(|ty| is_apart(&ty.key));
    Ok(Sketched {
        types,
        unsure: of_graphs.unsure,
    })
}

/// The stand-ins of this process, whose types are never unregistered.
type StandIns = Vec<(String, TypeIndex)>;

static STAND_INS: Mutex<StandIns> = Mutex::new(Vec::new());

/// The registered type in place of a type with this sketch.
fn stand_in(sketch: &TypeSketch, purpose: Purpose) -> Result<TypeIndex> {
    let about = format!("{purpose:?} {sketch:?}");
    let mut stand_ins = STAND_INS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, index)) = stand_ins.iter().find(|(other, _)| *other == about) {
        return Ok(*index);
    }
    // The same key may have had other fields in another file.
    let mut key = format!("unknown.{}", sketch.key);
    let mut number = 2;
    while find_type(&key).is_some() {
        key = format!("unknown_{number}.{}", sketch.key);
        number += 1;
    }
    let definition = TypeDef::new(&key).kind(match purpose {
        Purpose::Show => Kind::Tree,
        Purpose::Compare => Kind::Dag,
    });
    let index = register_type(if sketch.is_hooked {
        with_data(definition, key)
    } else {
        with_fields(definition, sketch)?
    })?;
    stand_ins.push((about, index));
    Ok(index)
}

/// The definition of a type whose objects are data.
fn with_data(definition: TypeDef, key: String) -> TypeDef {
    let read = DynFromJson::new(move |data| {
        let ty = find_type(&key);
        let ty = ty.ok_or_else(|| isoform::Error::type_error(format!("unknown type {key:?}")))?;
        construct(ty.index(), vec![data.clone()])
    });
    definition
        .field(FieldDef::new("data", Schema::Any))
        .hook(DynToJson::new(|object| field_value(object, "data")))
        .hook(read)
}

fn with_fields(mut definition: TypeDef, sketch: &TypeSketch) -> Result<TypeDef> {
    let missing = match find_type(MISSING) {
        Some(known) => known.index(),
        None => register_type(TypeDef::new(MISSING))?,
    };
    let mut name = ["name_hint", "name"].into_iter().find(|name| {
        let mut fields = sketch.fields.iter();
        fields.any(|field| field.name == **name && matches!(field.schema, Schema::Any))
    });
    let mut fields = sketch.fields.clone();
    if sketch.is_named && name.is_none() {
        let has_name = fields.iter().any(|field| field.name == "name");
        let added = if has_name { "the name" } else { "name" };
        let mut with_name = TypeSketch::new(&sketch.key);
        with_name.add(added, Schema::Any);
        fields.extend(with_name.fields);
        name = Some(added);
    }
    for field in fields {
        let mut field_def = FieldDef::new(&field.name, field.schema.clone());
        if matches!(field.schema, Schema::Any) {
            // A text leaves out fields with their defaults, which only the declaration has.
            field_def = field_def.default_fn(move || {
                construct(missing, Vec::new()).map_or(Value::NONE, Value::from)
            });
        }
        definition = definition.field(field_def);
    }
    Ok(match name {
        Some(name) => definition.attr(TEXT_NAME, name),
        None => definition,
    })
}

/// The type of what stands for the default of a field.
const MISSING: &str = "unknown.default";

/// The inputs of a command, where files of unknown types are read by the files alone; a
/// command with failures of other kinds keeps all of its failures.
pub(crate) fn settled<const N: usize>(
    inputs: [std::result::Result<Input, Failure>; N],
    purpose: Purpose,
) -> [std::result::Result<Input, Failure>; N] {
    let is_settled = |input: &std::result::Result<Input, Failure>| match input {
        Ok(_) => true,
        Err(failure) => failure.unknown.is_some(),
    };
    if !inputs.iter().all(is_settled) {
        return inputs;
    }
    let unknown: Vec<Arc<UnknownFile>> = inputs
        .iter()
        .filter_map(|input| input.as_ref().err()?.unknown.clone())
        .collect();
    if unknown.is_empty() {
        return inputs;
    }
    let files: Vec<&UnknownFile> = unknown.iter().map(|file| &**file).collect();
    match read(&files, purpose) {
        Ok(read) => {
            let mut read = read.into_iter();
            inputs.map(|input| match input {
                Ok(input) => Ok(input),
                Err(failure) => read.next().ok_or(failure),
            })
        }
        Err((at, why)) => {
            let mut position = 0;
            inputs.map(|input| {
                input.map_err(|mut failure| {
                    if position == at {
                        let why = format!("by the file alone: {}", why.message);
                        failure.excerpt.push(why);
                    }
                    position += 1;
                    failure
                })
            })
        }
    }
}

impl Reservations {
    /// True if this file and another are equal, whatever its unsure fields hold.
    pub(crate) fn is_surely_equal(&self, other: &Reservations) -> bool {
        if self.unsure.is_empty() && other.unsure.is_empty() {
            return true;
        }
        match (&self.graph, &other.graph) {
            (Some(left), Some(right)) => structural_equal(left, right).unwrap_or(false),
            _ => false,
        }
    }
}

/// The first few of a list of names.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Tells on standard error that files were read by the files alone.
pub(crate) fn tell(
    inputs: &[&Input],
    purpose: Purpose,
    types: &TypeSources,
    output: &mut Output<'_, '_>,
) {
    let mut keys: Vec<String> = Vec::new();
    let mut unsure: Vec<String> = Vec::new();
    for input in inputs {
        if let Input::Value(IrFile {
            alone: Some(alone), ..
        }) = input
        {
            keys.extend(alone.keys.iter().cloned());
            unsure.extend(alone.unsure.iter().cloned());
        }
    }
    if keys.is_empty() || output.quiet {
        return;
    }
    for names in [&mut keys, &mut unsure] {
        names.sort_unstable();
        names.dedup();
    }
    let number = counted(keys.len(), "type");
    let is = if keys.len() == 1 { "is" } else { "are" };
    let how = match purpose {
        Purpose::Show => "shown by the file alone",
        Purpose::Compare => {
            "compared by the files alone, so that everything counts: names, sharing, and fields that the type may ignore"
        }
    };
    output.note(&format!(
        "{number} {is} unknown here, {}: {how}",
        listed(&keys)
    ));
    if !unsure.is_empty() {
        let fields = listed(&unsure);
        output.note(&format!(
            "a JSON graph does not tell integers from references, so these fields may hold either: {fields}"
        ));
    }
    output.note(types.hint(&keys));
}
