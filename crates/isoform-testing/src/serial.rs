//! Properties of files: the JSON graph, the binary form and text.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::family::Family;
use super::generate::Generator;
use super::source::Source;
use isoform::compare::CompareOptions;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::objects::field_value_at;
use isoform::text::{TensorText, TextOptions, from_text, to_text};
use isoform::types::Kind;
use isoform::values::ValueRef;
use isoform::{Error, Result, Value};

/// Of singletons with the same content, reading finds the last one written; no other
/// case may write between writing and reading.
static ROUND_TRIP: Mutex<()> = Mutex::new(());

/// Waits until no other case is between writing and reading.
pub(super) fn writing_alone() -> MutexGuard<'static, ()> {
    ROUND_TRIP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of the formats.
struct Format<T> {
    name: &'static str,
    write: fn(&Value) -> Result<T>,
    read: fn(&T) -> Result<Value>,
}

const JSON: Format<String> = Format {
    name: "JSON",
    write: |value| to_json_graph(value),
    read: |text| from_json_graph(text),
};

const BINARY: Format<Vec<u8>> = Format {
    name: "binary",
    write: |value| to_bytes(value),
    read: |bytes| from_bytes(bytes),
};

const TEXT: Format<String> = Format {
    name: "text",
    write: |value| to_text(value),
    read: |text| from_text(text),
};

/// Every value on a separate line, and all fields.
const NARROW: Format<String> = Format {
    name: "narrow text",
    write: |value| {
        let options = TextOptions::default().width(1).depth(2).defaults(true);
        options.tensors(TensorText::Inline).to_text(value)
    },
    read: |text| from_text(text),
};

pub(super) fn json_graphs_round_trip(bytes: &[u8]) -> Result<(), String> {
    round_trip(&JSON, bytes)
}

pub(super) fn binary_forms_round_trip(bytes: &[u8]) -> Result<(), String> {
    round_trip(&BINARY, bytes)
}

pub(super) fn texts_round_trip(bytes: &[u8]) -> Result<(), String> {
    round_trip(&TEXT, bytes)?;
    round_trip(&NARROW, bytes)
}

fn round_trip<T: PartialEq + fmt::Debug>(format: &Format<T>, bytes: &[u8]) -> Result<(), String> {
    let (value, everything) = draw(bytes)?;
    let written = match writable(format, &value) {
        Ok(written) => written,
        // Unwritable values occur only on request.
        Err(_)
            if everything
                && write_alone(&JSON, &value).is_err()
                && write_alone(&BINARY, &value).is_err() =>
        {
            return Ok(());
        }
        Err(account) => return Err(account),
    };
    let (again, rewritten) = written;
    let fail = |what: &str| {
        let name = format.name;
        Err(format!(
            "{name}: {what}\n  value = {value:?}\n  read = {again:?}"
        ))
    };
    if let Err(difference) = same_graph(&value, &again) {
        return fail(&difference);
    }
    if !rewritten {
        return fail("what was read is written in another way");
    }
    // A value without a digest contains a part equal only to itself: a free variable,
    // an object as a key, or an incomparable part.
    let options = CompareOptions::default();
    let Ok(digest) = options.digest(&value) else {
        return Ok(());
    };
    match options.equal(&value, &again) {
        Ok(true) => {}
        other => return fail(&format!("comparison says {other:?}")),
    }
    match options.digest(&again) {
        Ok(other) if other == digest => Ok(()),
        other => fail(&format!("the digest was {digest}, is {other:?}")),
    }
}

/// Returns the value read back, and whether a second writing gives the same output.
fn writable<T: PartialEq + fmt::Debug>(
    format: &Format<T>,
    value: &Value,
) -> Result<(Value, bool), String> {
    let _alone = writing_alone();
    let account = |what: &str, error: &Error| format!("{}: {what}: {error}", format.name);
    let written = (format.write)(value).map_err(|error| account("not written", &error))?;
    let again = (format.read)(&written)
        .map_err(|error| format!("{}\n  {written:?}", account("not read", &error)))?;
    let rewritten = (format.write)(&again).map_err(|error| account("not written again", &error))?;
    Ok((again, rewritten == written))
}

fn write_alone<T>(format: &Format<T>, value: &Value) -> Result<T> {
    let _alone = writing_alone();
    (format.write)(value)
}

/// A value, and whether it may contain functions, opaque objects and cycles.
fn draw(bytes: &[u8]) -> Result<(Value, bool), String> {
    let setup = |error: Error| format!("the case could not be drawn: {error}");
    let mut source = Source::new(bytes);
    let everything = source.chance(20);
    let family = match source.below(2) {
        0 => Family::native(),
        _ => Family::dynamic(),
    }
    .map_err(setup)?;
    let mut generator = Generator::new(&family, &mut source);
    if everything {
        generator = generator.with_incomparable();
    }
    let parts: Vec<Value> = (0..2)
        .map(|_| generator.value())
        .collect::<Result<_>>()
        .map_err(setup)?;
    Ok((parts.into(), everything))
}

/// The parts of a value, keys included.
fn parts(value: &Value) -> Vec<Value> {
    let entries = |map: &isoform::Map| -> Vec<Value> {
        map.iter()
            .flat_map(|(key, value)| [key.clone(), value.clone()])
            .collect()
    };
    match value.view() {
        ValueRef::Array(array) => array.values().to_vec(),
        ValueRef::List(list) => list.snapshot().values().to_vec(),
        ValueRef::Map(map) => entries(map),
        ValueRef::Dict(dict) => entries(&dict.snapshot()),
        ValueRef::Object(object) => (0..object.type_info().fields().len())
            .filter_map(|field| field_value_at(object, field))
            .collect(),
        _ => Vec::new(),
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(
        value.view(),
        ValueRef::None
            | ValueRef::Bool(_)
            | ValueRef::Int(_)
            | ValueRef::BigInt(_)
            | ValueRef::Float(_)
            | ValueRef::DType(_)
            | ValueRef::Device(_)
            | ValueRef::Str(_)
            | ValueRef::Bytes(_)
    )
}

/// Checks that two values are the same graph: the same plain values at the same places
/// in the same order, the same sharing, and the very same singletons.
pub(super) fn same_graph(left: &Value, right: &Value) -> Result<(), String> {
    let mut stack = vec![(left.clone(), right.clone())];
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    while let Some((left, right)) = stack.pop() {
        let differ = |what: &str| Err(format!("{what}: {left:?} and {right:?}"));
        if is_plain(&left) || is_plain(&right) {
            if left != right {
                return differ("plain values differ");
            }
            continue;
        }
        let (Some(left_object), Some(right_object)) = (left.as_object(), right.as_object()) else {
            return differ("kinds of values differ");
        };
        if left_object.type_info().index() != right_object.type_info().index() {
            return differ("types differ");
        }
        let forward = forth.insert(left_object.identity(), right_object.identity());
        let backward = back.insert(right_object.identity(), left_object.identity());
        match (forward, backward) {
            (None, None) => {}
            (Some(partner), Some(_)) if partner == right_object.identity() => continue,
            _ => return differ("sharing differs"),
        }
        let is_singleton = left_object.type_info().kind() == Kind::Singleton;
        if is_singleton && left_object != right_object {
            return differ("a singleton became another object");
        }
        let same_content = match (left.view(), right.view()) {
            (ValueRef::Shape(left), ValueRef::Shape(right)) => left[..] == right[..],
            (ValueRef::Tensor(left), ValueRef::Tensor(right)) => {
                left.dtype() == right.dtype()
                    && left.shape() == right.shape()
                    && left.data() == right.data()
            }
            _ => true,
        };
        let (parts, others) = (parts(&left), parts(&right));
        if !same_content || parts.len() != others.len() {
            return differ("contents differ");
        }
        stack.extend(parts.into_iter().zip(others));
    }
    Ok(())
}

/// Values read from text or bytes can be written and read again.
fn read_is_sound<T: PartialEq + fmt::Debug>(format: &Format<T>, input: &T) -> Result<(), String> {
    let Ok(value) = (format.read)(input) else {
        return Ok(());
    };
    let (again, rewritten) =
        writable(format, &value).map_err(|what| format!("{what}\n  {input:?}"))?;
    same_graph(&value, &again).map_err(|what| format!("{what}\n  {input:?}"))?;
    if !rewritten {
        return Err(format!("not written alike again\n  {input:?}"));
    }
    Ok(())
}

/// Pieces of JSON graphs, starting with pieces of small graphs.
const TOKENS: [&str; 48] = [
    r#"{"type":"None"},"#,
    r#"{"type":"ffi.Array","data":["#,
    "0",
    "1",
    ",",
    "]",
    "}",
    "]},",
    r#"{"type":"ffi.Map","data":["#,
    r#"{"type":"ffi.List","data":["#,
    "2",
    "3",
    "4",
    "-",
    ".",
    "e",
    r#"{"type":"int","data":"#,
    r#"{"type":"float","data":"#,
    r#"{"type":"bool","data":"#,
    "true",
    "null",
    "NaN",
    "Infinity",
    "[",
    "{",
    "\"",
    r"\",
    r"\u00e9",
    r"\ud83d\ude00",
    " ",
    r#"{"type":"ffi.String","data":""#,
    r#"{"type":"ffi.Bytes","data":""#,
    r#"{"type":"ffi.BigInt","data":"9"#,
    r#"{"type":"ffi.Shape","data":["#,
    r#"{"type":"Device","data":[1,"#,
    r#"{"type":"DataType","data":"float32"},"#,
    r#"{"type":"testing.Const","data":{"value":"#,
    r#"{"type":"testing.Op","data":{"name":"#,
    r#"{"type":"testing.Add","data":{"span":0,"lhs":"#,
    r#","rhs":"#,
    r#"}},"#,
    r#"{"data":["#,
    r#"],"type":"ffi.Dict"},"#,
    r#""data":"#,
    r#""type":"#,
    "é",
    "YQ==",
    "9",
];

pub(super) fn any_text_is_a_json_graph_or_an_error(bytes: &[u8]) -> Result<(), String> {
    Family::native().map_err(|error| error.to_string())?;
    let mut source = Source::new(bytes);
    let root = source.below(4);
    let mut text = String::new();
    while !source.is_empty() {
        text.push_str(source.pick::<&str>(&TOKENS));
    }
    // Nodes end with a comma, and one comma too many would make the text invalid.
    let nodes = text.trim_end_matches(',');
    read_is_sound(
        &JSON,
        &format!(r#"{{"root_index":{root},"nodes":[{nodes}]}}"#),
    )
}

pub(super) fn edited_json_graphs_are_graphs_or_errors(bytes: &[u8]) -> Result<(), String> {
    edited_is_sound(&JSON, &TOKENS, bytes)
}

pub(super) fn edited_texts_are_texts_or_errors(bytes: &[u8]) -> Result<(), String> {
    edited_is_sound(&TEXT, &WORDS, bytes)
}

/// Edited output is either read as a value or rejected.
fn edited_is_sound(format: &Format<String>, tokens: &[&str], bytes: &[u8]) -> Result<(), String> {
    let mut source = Source::new(bytes);
    let edits: Vec<[u8; 4]> = (0..=source.below(3))
        .map(|_| std::array::from_fn(|_| source.byte()))
        .collect();
    let (value, _) = draw(bytes.get(1..).unwrap_or_default())?;
    let Ok(mut text) = write_alone(format, &value) else {
        return Ok(());
    };
    for [high, low, what, with] in edits {
        let mut offset = (usize::from(high) << 8 | usize::from(low)) % text.len().max(1);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let token = tokens[usize::from(with) % tokens.len()];
        let next = text[offset..].chars().next().map_or(0, char::len_utf8);
        match what % 4 {
            0 => text.insert_str(offset, token),
            1 => text.replace_range(offset..offset + next, token),
            2 => text.replace_range(offset..offset + next, ""),
            _ => text.truncate(offset),
        }
    }
    read_is_sound(format, &text)
}

/// Pieces of text.
const WORDS: [&str; 56] = [
    "None",
    "[",
    "]",
    ", ",
    "%a",
    "%a: ",
    "%a = ",
    "%b",
    "%b = [%a]\n",
    "@o",
    "@o = testing.Op(name=\"o\")\n",
    "#0",
    "List[",
    "Dict{",
    "{",
    "}",
    ": ",
    "1",
    "-",
    "0x",
    "2.5",
    "e9",
    "nan",
    "-inf",
    "True",
    "float32",
    "void",
    "\"",
    "\\",
    "\\n",
    "\\u00e9",
    "b\"",
    "b64\"AA==\"",
    "Shape[1, ",
    "Tensor(int8, [1], ",
    "Tensor(int8, [1], [7])",
    "...",
    "(",
    ")",
    "device(\"cuda:1\")",
    "func(\"f\")",
    "testing.Var(",
    "name=\"x\"",
    "ty=",
    "testing.Add(",
    "lhs=",
    "rhs=",
    "testing.Lambda(body=%a, params=[%a: testing.Var()])",
    "testing.Const(value=",
    "!",
    "{\"a\": 1}",
    "// x\n",
    "/* x */",
    "\n",
    " ",
    "é",
];

pub(super) fn any_words_are_a_text_or_an_error(bytes: &[u8]) -> Result<(), String> {
    Family::native().map_err(|error| error.to_string())?;
    let mut source = Source::new(bytes);
    let mut text = String::new();
    while !source.is_empty() {
        text.push_str(source.pick::<&str>(&WORDS));
    }
    read_is_sound(&TEXT, &text)
}

pub(super) fn any_bytes_are_a_binary_form_or_an_error(bytes: &[u8]) -> Result<(), String> {
    let mut form = to_bytes(&Value::NONE).map_err(|error| error.to_string())?;
    // Before the one node and the end.
    let body = form.len() - 10;
    form.splice(body..body, bytes.iter().map(|byte| byte % 32));
    reseal(&mut form);
    read_is_sound(&BINARY, &form)?;
    // Without a valid header and end, the result is an error, and nothing more.
    read_is_sound(&BINARY, &bytes.to_vec())
}

pub(super) fn edited_binary_forms_are_forms_or_errors(bytes: &[u8]) -> Result<(), String> {
    let mut source = Source::new(bytes);
    let edits: Vec<[u8; 4]> = (0..=source.below(3))
        .map(|_| std::array::from_fn(|_| source.byte()))
        .collect();
    let (value, _) = draw(bytes.get(1..).unwrap_or_default())?;
    let Ok(mut form) = write_alone(&BINARY, &value) else {
        return Ok(());
    };
    let sound = form.clone();
    for [high, low, what, with] in edits {
        let offset = (usize::from(high) << 8 | usize::from(low)) % form.len().max(1);
        match what % 4 {
            0 => form.insert(offset, with),
            1 if offset < form.len() => form[offset] = with,
            2 if offset < form.len() => drop(form.remove(offset)),
            _ => {
                let tail = &mut form[offset..];
                tail.rotate_left(usize::from(with) % tail.len().max(1));
            }
        }
    }
    if form != sound && from_bytes(&form).is_ok() {
        return Err(format!("an edited form passes as unchanged: {form:?}"));
    }
    reseal(&mut form);
    read_is_sound(&BINARY, &form)
}

/// Gives bytes a valid checksum: the start of the hash of all earlier bytes.
fn reseal(bytes: &mut [u8]) {
    const CHECKSUM: usize = 8;
    if let Some(end) = bytes.len().checked_sub(CHECKSUM) {
        let hash = blake3::hash(&bytes[..end]);
        bytes[end..].copy_from_slice(&hash.as_bytes()[..CHECKSUM]);
    }
}
