//! Places and values of any type in a few words, for headings.

use isoform::compare::Place;
use isoform::objects::field_value;
use isoform::paths::AccessStep;
use isoform::text::{TensorText, TextOptions};
use isoform::values::ValueRef;
use isoform::{Obj, Ref, Str, Value};

use crate::diff::value_text;

/// The number of steps outwards in which a named part is looked for.
const MOST_STEPS: usize = 64;

/// The number of parts of a value in a heading, and of characters of its text.
const SHORT: (usize, usize) = (12, 60);

/// The same for a value that stands alone.
const LONG: (usize, usize) = (60, 400);

/// The fields that hold names in most IRs.
const NAME_FIELDS: [&str; 2] = ["name", "name_hint"];

/// The field, the type of its object, and the nearest part around with a name, as in
/// `args[1] of Call in 'main'`; None if no object is around the place. O(1).
pub(super) fn short_place(place: &Place) -> Option<String> {
    let mut steps = place.around().take(MOST_STEPS);
    let mut field = String::new();
    let owner = loop {
        let (value, step) = steps.next()?;
        field.insert_str(0, &step.to_string());
        if let ValueRef::Object(object) = value.view() {
            break object.clone();
        }
    };
    let field = field.trim_start_matches('.');
    let ty = short_type(&owner);
    if let Some(name) = name_of(&owner) {
        return Some(format!("{field} of {ty} '{name}'"));
    }
    let around = steps.find_map(|(value, step)| match value.view() {
        ValueRef::Object(object) => name_of(object),
        _ => key_name(&step),
    });
    Some(match around {
        Some(name) => format!("{field} of {ty} in '{name}'"),
        None => format!("{field} of {ty}"),
    })
}

/// A value in a few words: the type and the name of an object with a name, and otherwise the
/// beginning of the text. O(1), but for the length of single texts.
pub(super) fn short_value(value: &Value) -> String {
    let text = match value.view() {
        ValueRef::Object(object) => name_of(object),
        _ => None,
    };
    match (text, value.as_object()) {
        (Some(name), Some(object)) => format!("{} '{name}'", short_type(object)),
        _ => line(value, SHORT),
    }
}

/// The beginning of the text of a value, in one line. O(1), but for the length of single
/// texts.
pub(super) fn line_of(value: &Value) -> String {
    line(value, LONG)
}

fn line(value: &Value, (parts, characters): (usize, usize)) -> String {
    let text = match value.view() {
        ValueRef::Object(_)
        | ValueRef::Array(_)
        | ValueRef::List(_)
        | ValueRef::Map(_)
        | ValueRef::Dict(_) => beginning(value, parts),
        _ => None,
    };
    let text = text.unwrap_or_else(|| value_text(value));
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The text in one line; None for values without text, such as those with cycles.
fn beginning(value: &Value, parts: usize) -> Option<String> {
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        .ignored_fields(false)
        .parts(parts);
    let text = options.to_text(value).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" "))
}

/// The type key without its dialect.
fn short_type(object: &Ref<Obj>) -> &str {
    let key = object.type_info().key();
    key.rsplit('.').next().unwrap_or(key)
}

fn name_of(object: &Ref<Obj>) -> Option<Str> {
    let names = NAME_FIELDS.iter();
    let mut names = names.filter_map(|field| {
        object.type_info().field_index(field)?;
        field_value(object, field).ok()?.peek::<Str>().cloned()
    });
    names.find(|name| !name.is_empty())
}

/// The name in the key of a map.
fn key_name(step: &AccessStep) -> Option<Str> {
    let AccessStep::MapItem(key) = step else {
        return None;
    };
    match key.view() {
        ValueRef::Object(object) => name_of(object),
        _ => key.peek::<Str>().cloned(),
    }
}
