//! The page of `isoform show` for a value of any type, and for a file of tensors.

use std::collections::{BTreeMap, HashMap};

use isoform::text::{TensorText, TextOptions, TextPieces};
use isoform::values::{Tensor, ValueRef};
use isoform::{Map, Value};
use isoform_page::Mark;
use isoform_page::page::{Fact, Line, Listing, Page, PieceRole, Row, Section, Table, Verdict};

use super::tensor_table::{NamedTensor, tensor_table};
use super::{fact, row, table};
use crate::input::{IrFile, TensorForm, gguf};
use crate::optimize::bytes_text;
use crate::output::counted;
use crate::pages::text_listing::TextSide;
use crate::show::{metadata_text, root_type};
use crate::summary::object_types;

/// The spaces of a level of indentation.
const INDENT: usize = 2;

/// The page of a file, given its name, and its text in the dialect's format if that is wanted.
/// Linear in the objects, in the text, and in the elements of tensors within a budget.
///
/// # Errors
///
/// As [`TextOptions::to_pieces`].
pub(crate) fn page_of_file(
    file: &IrFile,
    title: String,
    options: &TextOptions,
    script: Option<&str>,
) -> isoform::Result<Page> {
    match file.tensors {
        Some(form) => Ok(page_of_tensors(file, form, title)),
        None => {
            let mut page = text_page(&file.value, title, options, script)?;
            page.facts
                .push(fact("format", file.form_name(), Mark::Same));
            Ok(page)
        }
    }
}

/// The page of a value in memory, given its name. The text is that of its dialect, if the
/// dialect has a format. Linear in the objects and in the text.
///
/// # Errors
///
/// As [`TextOptions::to_pieces`], and those of the dialect's format.
///
/// ```
/// let value = isoform::Array::from(vec![1, 2]).into();
/// let page = isoform_cli::pages::page_of_value(&value, "a pair".to_owned())?;
/// assert!(page.html().contains("a pair"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn page_of_value(value: &Value, title: String) -> isoform::Result<Page> {
    let script = match value.as_object() {
        Some(object) => isoform_ir::transform::own_script(object)?,
        None => None,
    };
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true);
    text_page(value, title, &options, script.as_deref())
}

fn text_page(
    value: &Value,
    title: String,
    options: &TextOptions,
    script: Option<&str>,
) -> isoform::Result<Page> {
    let types = object_types(value.clone())?;
    let objects: u64 = types.values().sum();
    let root = root_type(value);
    let rows = match script {
        Some(text) => script_rows(text),
        None => {
            let text = options.to_pieces(value)?;
            text_rows(&text)
        }
    };
    let mut types: Vec<(String, u64)> = types.into_iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let facts = vec![
        fact("type", root, Mark::Same),
        fact("objects", objects, Mark::Same),
        fact("types of objects", types.len(), Mark::Same),
        fact("lines of text", rows.len(), Mark::Same),
    ];
    let sentence = format!(
        "{root}: {} of {}",
        counted(objects as usize, "object"),
        counted(types.len(), "type")
    );
    let type_rows = types.into_iter();
    let type_rows = type_rows.map(|(key, count)| row(vec![key, count.to_string()]));
    Ok(Page {
        title,
        verdict: Verdict::Shown,
        sentence,
        facts,
        sections: vec![
            Section::Listing(Listing {
                title: "Text".to_owned(),
                sides: vec!["text".to_owned()],
                rows,
                ..Listing::default()
            }),
            Section::Table(table("Types", &["type", "objects"], type_rows)),
        ],
    })
}

/// A printed value as rows.
pub(super) fn text_rows(text: &TextPieces) -> Vec<Row> {
    let lines = TextSide::new(text, INDENT).into_lines();
    lines.map(one_sided).collect()
}

/// A text in the format of a dialect as rows. Equal names count as one binding, which is
/// where the name occurs first.
pub(super) fn script_rows(text: &str) -> Vec<Row> {
    let mut bindings: HashMap<String, u32> = HashMap::new();
    let mut lines: Vec<Line> = text.lines().map(super::hunks::code_line).collect();
    let pieces = lines.iter_mut().flat_map(|line| &mut line.pieces);
    for piece in pieces.filter(|piece| piece.role == PieceRole::Name) {
        let next = bindings.len() as u32;
        let number = *bindings.entry(piece.text.clone()).or_insert(next);
        piece.binding = Some(number);
        piece.is_definition = number == next;
    }
    lines.into_iter().map(one_sided).collect()
}

fn one_sided(line: Line) -> Row {
    Row {
        left: Some(line),
        ..Row::default()
    }
}

fn page_of_tensors(file: &IrFile, form: TensorForm, title: String) -> Page {
    let (metadata, tensors) = parts(form, &file.value);
    let bytes = tensors.iter().map(|named| named.tensor.data().len() as u64);
    let bytes: u64 = bytes.sum();
    let mut elements: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (name, count) in file.elements() {
        let sums = elements.entry(name).or_default();
        *sums = (sums.0 + 1, sums.1.saturating_add(count));
    }
    let mut facts: Vec<Fact> = vec![
        fact("tensors", tensors.len(), Mark::Same),
        fact("size", bytes_text(bytes), Mark::Same),
    ];
    for (name, (count, elements)) in &elements {
        let elements = counted(*elements as usize, "element");
        facts.push(fact(name, format!("{count} with {elements}"), Mark::Same));
    }
    facts.push(fact("format", form.name(), Mark::Same));
    if !file.files.is_empty() {
        facts.push(fact("shards", file.files.len(), Mark::Same));
    }
    let types: Vec<&str> = elements.keys().map(String::as_str).collect();
    let sentence = format!(
        "{} of {}, {} in all",
        counted(tensors.len(), "tensor"),
        match &*types {
            [only] => (*only).to_owned(),
            types => counted(types.len(), "type"),
        },
        bytes_text(bytes)
    );
    let mut sections = vec![Section::Table(tensor_table("Tensors", tensors))];
    sections.extend(metadata.map(Section::Table));
    Page {
        title,
        verdict: Verdict::Shown,
        sentence,
        facts,
        sections,
    }
}

/// The metadata and the tensors of a file.
fn parts(form: TensorForm, value: &Value) -> (Option<Table>, Vec<NamedTensor>) {
    let ValueRef::Map(map) = value.view() else {
        let tensor = named(String::new(), value);
        return (None, tensor.into_iter().collect());
    };
    if form != TensorForm::Gguf {
        return (None, tensors_of(map));
    }
    let part = |key: &str| map.get(key).map(Value::view);
    let metadata = match part(gguf::METADATA) {
        Some(ValueRef::Map(entries)) => {
            let mut rows: Vec<[String; 2]> = entries
                .iter()
                .map(|(key, value)| [key_text(key), metadata_text(value)])
                .collect();
            rows.sort();
            let rows = rows.into_iter().map(|cells| row(cells.to_vec()));
            Some(table("Metadata", &["key", "value"], rows))
        }
        _ => None,
    };
    let tensors = match part(gguf::TENSORS) {
        Some(ValueRef::Map(entries)) => tensors_of(entries),
        _ => Vec::new(),
    };
    (metadata, tensors)
}

fn tensors_of(map: &Map) -> Vec<NamedTensor> {
    let mut tensors: Vec<NamedTensor> = map
        .iter()
        .filter_map(|(name, value)| named(key_text(name), value))
        .collect();
    tensors.sort_by(|left, right| left.name.cmp(&right.name));
    tensors
}

fn key_text(key: &Value) -> String {
    match key.view() {
        ValueRef::Str(text) => text.to_owned(),
        _ => format!("{key:?}"),
    }
}

/// A tensor, or the blocks of a quantised one with its type and shape.
fn named(name: String, value: &Value) -> Option<NamedTensor> {
    let (stored, tensor) = match value.view() {
        ValueRef::Tensor(tensor) => (None, tensor.clone()),
        ValueRef::Map(quantized) => {
            let part = |key: &str| quantized.get(key).map(Value::view);
            let ty = match part(gguf::TYPE) {
                Some(ValueRef::Str(name)) => name.to_owned(),
                _ => "?".to_owned(),
            };
            let shape = match part(gguf::SHAPE) {
                Some(ValueRef::Array(shape)) => format!("{:?}", shape.values()),
                _ => String::new(),
            };
            let Some(ValueRef::Tensor(blocks)) = part(gguf::BLOCKS) else {
                return None;
            };
            (Some(format!("{ty}{shape}")), Tensor::clone(blocks))
        }
        _ => return None,
    };
    Some(NamedTensor {
        name,
        stored,
        tensor,
        has_numbers: true,
    })
}
