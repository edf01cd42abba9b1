//! Text of values for people: the text that a type gives its objects, and short text for
//! messages and `Debug`.
//!
//! The printer of short text keeps its own stack and stops at a budget of characters, so
//! the cost does not depend on the size or depth of the value. Types are asked for the text
//! of small values only.

use crate::kernel::container::{Array, Contents, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::host_lock;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::spell::{Style, spell};
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::names::{TEXT_SCRIPT, name_field};
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::{Value, ValueRef};

/// The maximal number of characters of a value in `Debug` output.
const DEBUG_BUDGET: usize = 400;
/// The maximal number of characters of a map key in a path.
pub(crate) const KEY_BUDGET: usize = 60;
/// The maximal number of characters of a value in an explained mismatch.
pub(crate) const EXPLAIN_BUDGET: usize = 120;

/// The maximal number of parts of a value that is shown in the text of its type.
pub(crate) const OWN_TEXT_PARTS: usize = 400;

/// The text that the type of an object gives it, by the attribute `transform.script`; None
/// if the type gives none. All texts for people ask here.
///
/// # Errors
///
/// Errors of the function of the type; `TypeError` if the function returns no text.
pub fn own_text(object: &Ref<Obj>) -> Result<Option<Str>> {
    let attribute = attributes::get(object.type_index(), TEXT_SCRIPT, Lookup::Nearest);
    match attribute.map(Value::view) {
        Some(ValueRef::Function(function)) => {
            let text = function.call(&[object.into()])?;
            text.extract().map(Some).map_err(|error| {
                let key = object.type_info().key();
                Error::type_error(format!("the text (Script) of {key}: {}", error.message()))
            })
        }
        _ => Ok(None),
    }
}

/// [`own_text`] of a value with at most this number of parts; None for larger values,
/// values without such a text, and where the function of the type fails. The host hears of the
/// error, which no caller receives.
pub(crate) fn own_text_within(value: &Value, parts: usize) -> Option<Str> {
    let object = value
        .as_object()
        .filter(|object| !object.type_info().is_builtin())?;
    attributes::get(object.type_index(), TEXT_SCRIPT, Lookup::Nearest)?;
    if is_larger(value, parts) {
        return None;
    }
    own_text(object).unwrap_or_else(|error| {
        host_lock::lose_error(error);
        None
    })
}

/// The text of a value for people in one line: [`own_line`], otherwise [`brief`].
pub(crate) fn line(value: &Value, budget: usize) -> String {
    own_line(value, budget).unwrap_or_else(|| brief(value, budget))
}

/// The text that the type of a value gives it, with lines joined by semicolons; None for
/// longer texts, whose beginnings tell less than the fields.
pub(crate) fn own_line(value: &Value, budget: usize) -> Option<String> {
    let text = own_text_within(value, OWN_TEXT_PARTS)?;
    let lines = text.lines().map(|line| line.trim().trim_end_matches(';'));
    let lines = lines.filter(|line| !line.is_empty()).map(printable);
    let line = lines.collect::<Vec<_>>().join("; ");
    (line.len() <= budget && !line.is_empty()).then_some(line)
}

/// The lines of two values that differ, so that the lines differ, too: texts that begin alike
/// are shown from where they part, and objects whose fields that count look alike with all
/// their fields. `line` gives the line of a value.
pub(crate) fn lines_that_differ(
    values: [&Value; 2],
    budget: usize,
    line: impl Fn(&Value, usize) -> String,
) -> [String; 2] {
    let lines = values.map(|value| line(value, budget));
    if lines[0] != lines[1] {
        return lines;
    }
    if let [Some(left), Some(right)] = values.map(Value::as_str) {
        return from_the_difference([left, right], budget);
    }
    let whole = values.map(|value| short(value, budget));
    if whole[0] != whole[1] {
        return whole;
    }
    match values.map(Value::view) {
        [ValueRef::Bytes(left), ValueRef::Bytes(right)] => {
            bytes_from_the_difference([left, right], budget)
        }
        [ValueRef::BigInt(left), ValueRef::BigInt(right)] => {
            let digits = [left, right].map(|number| format!("{number:#x}"));
            from_the_difference(digits.each_ref().map(String::as_str), budget)
        }
        [ValueRef::Tensor(left), ValueRef::Tensor(right)] => {
            let Some(place) = first_difference(left.data(), right.data()) else {
                return lines;
            };
            let bits = usize::from(left.dtype().bits()) * usize::from(left.dtype().lanes());
            // Elements of less than a byte share it.
            let width = (bits / 8).max(1);
            let number = place / width;
            let what = if bits < 8 { "byte" } else { "element" };
            [0, 1].map(|side| {
                let data = [left, right][side].data();
                let end = data.len().min((number + 1) * width);
                let bytes = data[number * width..end].iter().rev();
                let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
                format!("{} with 0x{digits} as {what} {number}", whole[side])
            })
        }
        _ => lines,
    }
}

/// The place of the first byte that differs, which is the end of the shorter side if there is
/// none; None for equal bytes.
fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    let same = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    (same < left.len().max(right.len())).then_some(same)
}

/// Two byte strings from a few bytes before the first difference.
fn bytes_from_the_difference(sides: [&[u8]; 2], budget: usize) -> [String; 2] {
    let same = first_difference(sides[0], sides[1]).unwrap_or_default();
    let skipped = same.saturating_sub(budget / 4);
    sides.map(|side| {
        let end = side.len().min(skipped + budget);
        let dots = if skipped > 0 { "..." } else { "" };
        format!("{dots}b\"{}\"", side[skipped..end].escape_ascii())
    })
}

/// Two texts from a few characters before the first difference, as quoted pieces.
fn from_the_difference(texts: [&str; 2], budget: usize) -> [String; 2] {
    let pairs = texts[0].chars().zip(texts[1].chars());
    let same = pairs.take_while(|(left, right)| left == right).count();
    let skipped = same.saturating_sub(budget / 4);
    let start = |text: &str| {
        let place = text.char_indices().nth(skipped);
        place.map_or(text.len(), |(start, _)| start)
    };
    texts.map(|text| {
        let rest = Value::from(&text[start(text)..]);
        let dots = if skipped > 0 { "..." } else { "" };
        format!("{dots}{}", short(&rest, budget))
    })
}

/// A line with escapes for characters that control a terminal, except tabs.
pub(crate) fn printable(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if c != '\t' && controls_terminal(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// True for characters that would move the cursor, colour the terminal or reverse the direction
/// of writing.
pub fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True if a value has more than this number of parts, including parts of parts.
pub(crate) fn is_larger(value: &Value, limit: usize) -> bool {
    let mut stack = vec![value.clone()];
    let mut count = 0;
    while let Some(value) = stack.pop() {
        count += 1 + text_parts(&value);
        if count + stack.len() > limit {
            return true;
        }
        push_parts(&value, limit, &mut stack);
    }
    false
}

/// The number of parts taking as much space as the text of a value without parts.
fn text_parts(value: &Value) -> usize {
    match value.view() {
        ValueRef::Str(text) => text.len() / PART,
        ValueRef::Bytes(bytes) => bytes.len() / PART,
        ValueRef::BigInt(number) => number.bits() as usize / (3 * PART),
        ValueRef::Shape(dims) => dims.len(),
        _ => 0,
    }
}

/// The number of characters counted as one part.
const PART: usize = 32;

fn push_parts(value: &Value, limit: usize, stack: &mut Vec<Value>) {
    if let Some(contents) = value.contents() {
        stack.extend(contents.parts().take(limit + 1).cloned());
    } else if let ValueRef::Object(object) = value.view() {
        let fields = 0..object.type_info().fields().len();
        stack.extend(fields.filter_map(|field| field_value_at(object, field)));
    }
}

/// A part still to be printed.
enum Todo {
    Text(&'static str),
    Value(Value),
    Object(Ref<Obj>),
    /// The rest of an object's fields; true before the first printed field.
    Fields(Ref<Obj>, usize, bool),
    Items(Array, usize),
    Entries(Map, usize),
}

/// The short text of a value, with all fields.
pub(crate) fn short(value: &Value, budget: usize) -> String {
    let printer = Printer {
        budget,
        fields: Fields::All,
    };
    printer.print(Todo::Value(value.clone()))
}

/// The short text of a part of a program, close to the part's text in files: variables and
/// singletons by name, objects without fields that comparison ignores, and without fields
/// that have their default value.
pub(crate) fn brief(value: &Value, budget: usize) -> String {
    let printer = Printer {
        budget,
        fields: Fields::Brief,
    };
    printer.print(Todo::Value(value.clone()))
}

/// The short text of a value in `{:?}`.
pub(crate) fn debug(value: &Value) -> String {
    DEBUG.print(Todo::Value(value.clone()))
}

/// The short text of a borrowed object in `{:?}`.
pub(crate) fn debug_object(object: ObjRef<'_>) -> String {
    DEBUG.print(Todo::Object(object.to_ref()))
}

/// How `{:?}` prints.
const DEBUG: Printer = Printer {
    budget: DEBUG_BUDGET,
    fields: Fields::Shown,
};

/// How to print.
#[derive(Clone, Copy)]
struct Printer {
    budget: usize,
    fields: Fields,
}

/// The fields of objects to print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    All,
    /// Without those that `repr` leaves out.
    Shown,
    /// Without those that comparison ignores or that hold their default; variables and singletons
    /// by name.
    Brief,
}

impl Printer {
    fn print(self, first: Todo) -> String {
        access::reading(|section| print_in_section(section, first, self))
    }
}

fn print_in_section(section: &Section, first: Todo, printer: Printer) -> String {
    let budget = printer.budget;
    let mut out = String::new();
    let mut stack = vec![first];
    while let Some(todo) = stack.pop() {
        if out.len() >= budget {
            let mut end = budget;
            while !out.is_char_boundary(end) {
                end -= 1;
            }
            out.truncate(end);
            out.push_str("...");
            break;
        }
        step(section, todo, &mut out, &mut stack, printer);
    }
    out
}

fn step(section: &Section, todo: Todo, out: &mut String, stack: &mut Vec<Todo>, printer: Printer) {
    let budget = printer.budget;
    match todo {
        Todo::Text(text) => out.push_str(text),
        Todo::Value(value) => value_text(&value, out, stack, budget),
        Todo::Object(object) => {
            let is_open = |todo: &Todo| matches!(todo, Todo::Fields(open, ..) if open == &object);
            if object.type_info().is_builtin() {
                value_text(&Value::from(object), out, stack, budget);
            } else if stack.iter().any(is_open) {
                // The budget bounds the stack, hence the search is short.
                out.push_str("...");
            } else if let Some(name) = name_in_brief(section, &object, printer) {
                out.push_str(&name);
            } else {
                out.push_str(object.type_info().key());
                out.push('(');
                stack.push(Todo::Text(")"));
                stack.push(Todo::Fields(object, 0, true));
            }
        }
        Todo::Fields(object, position, is_first) => {
            let fields = object.type_info().fields();
            let Some((_, loaded)) = object.borrowed().all_fields().get(section, position) else {
                return;
            };
            let field = &fields[position];
            let is_left_out = match printer.fields {
                Fields::All => false,
                Fields::Shown => !field.is_shown(),
                Fields::Brief => {
                    field.field_flag() == FieldFlag::Ignore
                        || field.has_default() && is_none(&loaded)
                }
            };
            if is_left_out {
                stack.push(Todo::Fields(object, position + 1, is_first));
                return;
            }
            if !is_first {
                out.push_str(", ");
            }
            out.push_str(field.name());
            out.push('=');
            let value = match loaded {
                Loaded::Object(child) => Todo::Object(child.to_ref()),
                other => Todo::Value(other.to_value()),
            };
            stack.push(Todo::Fields(object.clone(), position + 1, false));
            stack.push(value);
        }
        Todo::Items(array, position) => {
            let Some(item) = array.get(position).cloned() else {
                return;
            };
            if position > 0 {
                out.push_str(", ");
            }
            stack.push(Todo::Items(array, position + 1));
            stack.push(Todo::Value(item));
        }
        Todo::Entries(map, position) => {
            let Some((key, value)) = map.reference().entry(position) else {
                return;
            };
            let (key, value) = (key.clone(), value.clone());
            if position > 0 {
                out.push_str(", ");
            }
            stack.push(Todo::Entries(map, position + 1));
            stack.push(Todo::Value(value));
            stack.push(Todo::Text(": "));
            stack.push(Todo::Value(key));
        }
    }
}

fn is_none(loaded: &Loaded<'_, '_>) -> bool {
    match loaded {
        Loaded::None => true,
        Loaded::Value(value) => value.is_none(),
        _ => false,
    }
}

/// The name that replaces a variable or singleton in brief text.
fn name_in_brief(section: &Section, object: &Ref<Obj>, printer: Printer) -> Option<String> {
    let info = object.type_info();
    let sigil = match info.kind() {
        Kind::Var if printer.fields == Fields::Brief => '%',
        Kind::Singleton if printer.fields == Fields::Brief => '@',
        _ => return None,
    };
    let (_, loaded) = object
        .borrowed()
        .all_fields()
        .get(section, name_field(info)?)?;
    let name = loaded.to_value();
    let name = name.as_str()?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let is_short = !name.is_empty() && name.len() <= printer.budget;
    (is_short && name.chars().all(is_word)).then(|| format!("{sigil}{name}"))
}

fn value_text(value: &Value, out: &mut String, stack: &mut Vec<Todo>, budget: usize) {
    let (Some(container), Some(contents)) = (value.container(), value.contents()) else {
        return match value.view() {
            plain if spell(plain, Style::Message(budget), out) => {}
            ValueRef::Object(object) if !object.type_info().is_builtin() => {
                stack.push(Todo::Object(object.clone()));
            }
            _ => out.push_str("Object()"),
        };
    };
    let [open, close] = container.text;
    out.push_str(open);
    stack.push(Todo::Text(close));
    stack.push(match contents {
        Contents::Items(items) => Todo::Items(items, 0),
        Contents::Entries(entries) => Todo::Entries(entries, 0),
    });
}
