//! Files of tensors as text: a line for every tensor, and for every entry of metadata.

use std::fmt::Write;

use isoform::values::ValueRef;
use isoform::{Map, Value};
use isoform_onnx::elements;

use super::names::{LIST_ITEMS, checksum, contents, quoted, quoted_bytes};
use crate::input::{TensorForm, gguf};

/// A line for every tensor, sorted by name. The line of a long tensor has a checksum,
/// which reveals changes. A file with metadata has a section for each part.
pub(super) fn tensor_lines(form: TensorForm, value: &Value) -> String {
    let ValueRef::Map(map) = value.view() else {
        return tensor_text(value) + "\n";
    };
    if form != TensorForm::Gguf {
        return lines("", map, tensor_text);
    }
    let section = |key: &str, text: fn(&Value) -> String| {
        let entries = map.get(key).map(Value::view);
        let entries = match entries {
            Some(ValueRef::Map(entries)) => lines("  ", entries, text),
            _ => String::new(),
        };
        format!("{key}:\n{entries}")
    };
    section(gguf::METADATA, metadata_text) + &section(gguf::TENSORS, tensor_text)
}

fn lines(indentation: &str, map: &Map, text: fn(&Value) -> String) -> String {
    let mut lines: Vec<String> = map
        .iter()
        .map(|(name, value)| format!("{indentation}{name:?}: {}\n", text(value)))
        .collect();
    lines.sort();
    lines.concat()
}

fn tensor_text(value: &Value) -> String {
    match value.view() {
        ValueRef::Tensor(tensor) => {
            format!("{} {}", elements::tensor_type(tensor), contents(tensor))
        }
        ValueRef::Map(quantized) => quantized_text(quantized),
        _ => format!("{value:?}"),
    }
}

/// The type and shape of a quantised tensor, and its bytes.
fn quantized_text(map: &Map) -> String {
    let part = |key: &str| map.get(key).map(Value::view);
    let mut text = match part(gguf::TYPE) {
        Some(ValueRef::Str(name)) => name.to_owned(),
        _ => "?".to_owned(),
    };
    if let Some(ValueRef::Array(shape)) = part(gguf::SHAPE) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:?}", shape.values());
    }
    if let Some(ValueRef::Tensor(blocks)) = part(gguf::BLOCKS) {
        let _ = write!(text, " blocks {}", contents(blocks));
    }
    text
}

/// A value of the metadata. Long ones are abbreviated, with a checksum: vocabularies have
/// hundreds of thousands of entries, and templates many lines.
pub(crate) fn metadata_text(value: &Value) -> String {
    let (text, is_whole) = match value.view() {
        ValueRef::Array(items) => {
            let shown = items.values().iter().take(LIST_ITEMS).map(item_text);
            let (mut texts, wholes): (Vec<String>, Vec<bool>) = shown.unzip();
            let more = items.len().saturating_sub(LIST_ITEMS);
            if more > 0 {
                texts.push(format!("... {more} more"));
            }
            let is_whole = more == 0 && wholes.into_iter().all(|is_whole| is_whole);
            (format!("[{}]", texts.join(", ")), is_whole)
        }
        _ => item_text(value),
    };
    if is_whole {
        text
    } else {
        text + &checksum(value)
    }
}

/// A value in a list, and true if nothing of it is left out; lists in lists are counted.
fn item_text(value: &Value) -> (String, bool) {
    let text = match value.view() {
        ValueRef::Str(text) => quoted(text),
        ValueRef::Bytes(bytes) => quoted_bytes(bytes),
        ValueRef::Float(number) => elements::float(number),
        ValueRef::Array(items) => return (format!("[{} items]", items.len()), items.is_empty()),
        _ => format!("{value:?}"),
    };
    // The quote of a complete string follows all of its dots.
    let is_whole = !text.ends_with("...");
    (text, is_whole)
}
