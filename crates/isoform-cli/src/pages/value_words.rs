//! Places and values of any type in a few words, for headings.

use isoform::compare::Place;
use isoform::objects::field_value;
use isoform::paths::AccessStep;
use isoform::text::{TensorText, TextOptions};
use isoform::values::ValueRef;
use isoform::{Obj, Ref, Str, Value};
use isoform_onnx::elements::{abbreviated_pair, texts_that_differ};

use crate::diff::{text_of, value_text};

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

/// A path whose keys with a name are the type and the name, as in `functions[GlobalVar 'main']`,
/// instead of all fields. Linear.
pub(super) fn short_path(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(start) = rest.find('[') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = end_of_key(rest);
        let (key, after) = rest.split_at(end);
        match named_key(key) {
            Some(short) => text.push_str(&short),
            None => text.push_str(key),
        }
        rest = after;
    }
    text + rest
}

/// The byte after a key in brackets, which may have brackets in its strings and parts.
fn end_of_key(text: &str) -> usize {
    let (mut depth, mut is_quoted, mut is_escaped) = (0, false, false);
    for (place, sign) in text.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '[' | '(' | '{' if !is_quoted => depth += 1,
            ']' | ')' | '}' if !is_quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + sign.len_utf8();
        }
    }
    text.len()
}

/// A key that is an object with a name, in brackets.
fn named_key(key: &str) -> Option<String> {
    let (ty, fields) = key.strip_prefix('[')?.split_once('(')?;
    let is_type = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.');
    let name = NAME_FIELDS.iter().find_map(|field| {
        let (before, name) = fields.split_once(&format!("{field}=\""))?;
        let is_field = before.is_empty() || before.ends_with(", ");
        name.split('"')
            .next()
            .filter(|name| is_field && !name.is_empty())
    })?;
    let ty = ty.rsplit('.').next().filter(|_| ty.chars().all(is_type))?;
    Some(format!("[{ty} '{name}']"))
}

/// Both sides of a change in a few words: the type and the name of an object with a name, the
/// type alone if the text needs lines of its own for parts, and otherwise the text. O(1), but for the length of single texts.
pub(super) fn short_values(sides: [Option<&Value>; 2]) -> [Option<String>; 2] {
    both(
        sides,
        |value| {
            let object = value.as_object()?;
            let ty = short_type(object);
            match name_of(object) {
                Some(name) => Some(format!("{ty} '{name}'")),
                None => {
                    let text = beginning(value, SHORT.0)?;
                    text.trim_end().contains('\n').then(|| format!("{ty}(…)"))
                }
            }
        },
        SHORT,
    )
}

/// Both sides of a change as the beginning of their texts, or as the first parts that differ if
/// the beginnings are alike. O(1), but for the length of single texts, and for the comparison of
/// texts that are alike, which is linear.
pub(super) fn lines_of(sides: [Option<&Value>; 2]) -> [Option<String>; 2] {
    let lines = both(sides, |_| None, LONG);
    match (sides, &lines) {
        ([Some(left), Some(right)], [Some(line), Some(other)]) if line == other => {
            let line = |value: &Value| both([Some(value), None], |_| None, LONG)[0].clone();
            let text = |value: &Value| line(value).unwrap_or_default();
            texts_that_differ([left, right], LONG.1, text).map(Some)
        }
        _ => lines,
    }
}

/// The words of both sides, and otherwise their texts: of two long strings the parts that
/// differ.
fn both(
    sides: [Option<&Value>; 2],
    words: impl Fn(&Value) -> Option<String>,
    (parts, characters): (usize, usize),
) -> [Option<String>; 2] {
    let whole = |value: &Value| match value.view() {
        ValueRef::Object(_)
        | ValueRef::Array(_)
        | ValueRef::List(_)
        | ValueRef::Map(_)
        | ValueRef::Dict(_) => beginning(value, parts).unwrap_or_else(|| value_text(value)),
        _ => text_of(value).unwrap_or_else(|| value_text(value)),
    };
    let text = |value: &Value| words(value).unwrap_or_else(|| whole(value));
    let texts = sides.map(|side| side.map(text));
    let is_text = |value: &Value| matches!(value.view(), ValueRef::Str(_));
    let is_pair = sides.iter().all(|side| side.is_some_and(is_text));
    let cut = |left: &str, right: &str| abbreviated_pair([left, right], characters);
    match &texts {
        [Some(left), Some(right)] if is_pair => cut(left, right).map(Some),
        _ => texts.map(|text| text.map(|text| cut(&text, "")[0].clone())),
    }
}

/// The text; None for values without text, such as those with cycles.
fn beginning(value: &Value, parts: usize) -> Option<String> {
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        .ignored_fields(false)
        .parts(parts);
    Some(options.to_text(value).ok()?.trim_end().to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_paths_are_short() {
        let check = |path, expected| assert_eq!(short_path(path), expected);
        check(
            "<root>.functions[ir.GlobalVar(span=None, name_hint=\"ma[in\")].params[0]",
            "<root>.functions[GlobalVar 'ma[in'].params[0]",
        );
        check(
            "<1>[\"a(name=\\\"b\\\")\"][2]",
            "<1>[\"a(name=\\\"b\\\")\"][2]",
        );
        check(
            "[ir.Var(file_name=\"x\", name=\"\")].a",
            "[ir.Var(file_name=\"x\", name=\"\")].a",
        );
        check("a[ir.T(", "a[ir.T(");
    }
}
