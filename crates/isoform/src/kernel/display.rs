//! Short text of values, for messages and `Debug`.
//!
//! The printer keeps its own stack and stops at a budget of characters, so the cost
//! does not depend on the size or depth of the value.

use std::fmt;

use crate::kernel::container::{Array, Contents, Map};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::spell::{Style, spell};
use crate::kernel::value::{Value, ValueRef};

/// The maximal number of characters of a value in `Debug` output.
pub(crate) const DEBUG_BUDGET: usize = 400;
/// The maximal number of characters of a map key in a path.
pub(crate) const KEY_BUDGET: usize = 60;
/// The maximal number of characters of a value in an explained mismatch.
pub(crate) const EXPLAIN_BUDGET: usize = 120;

/// A part still to be printed.
enum Todo {
    Text(&'static str),
    Value(Value),
    Object(Ref<Obj>),
    /// The rest of an object's fields.
    Fields(Ref<Obj>, usize),
    Items(Array, usize),
    Entries(Map, usize),
}

/// The short text of a value.
pub(crate) fn short(value: &Value, budget: usize) -> String {
    print(Todo::Value(value.clone()), budget)
}

/// The short text of a borrowed object.
pub(crate) fn short_object(object: ObjRef<'_>, budget: usize) -> String {
    print(Todo::Object(object.to_ref()), budget)
}

pub(crate) fn write_short(
    f: &mut fmt::Formatter<'_>,
    object: ObjRef<'_>,
    budget: usize,
) -> fmt::Result {
    f.write_str(&short_object(object, budget))
}

fn print(first: Todo, budget: usize) -> String {
    access::reading(|section| print_in_section(section, first, budget))
}

fn print_in_section(section: &Section, first: Todo, budget: usize) -> String {
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
        step(section, todo, &mut out, &mut stack, budget);
    }
    out
}

fn step(section: &Section, todo: Todo, out: &mut String, stack: &mut Vec<Todo>, budget: usize) {
    match todo {
        Todo::Text(text) => out.push_str(text),
        Todo::Value(value) => value_text(&value, out, stack, budget),
        Todo::Object(object) => {
            let is_open = |todo: &Todo| matches!(todo, Todo::Fields(open, _) if open == &object);
            if object.type_info().is_builtin() {
                value_text(&Value::from(object), out, stack, budget);
            } else if stack.iter().any(is_open) {
                // The budget bounds the stack, hence the search is short.
                out.push_str("...");
            } else {
                out.push_str(object.type_info().key());
                out.push('(');
                stack.push(Todo::Text(")"));
                stack.push(Todo::Fields(object, 0));
            }
        }
        Todo::Fields(object, position) => {
            let fields = object.type_info().fields();
            let Some((_, loaded)) = object.borrowed().all_fields().get(section, position) else {
                return;
            };
            if position > 0 {
                out.push_str(", ");
            }
            out.push_str(fields[position].name());
            out.push('=');
            let value = match loaded {
                Loaded::Object(child) => Todo::Object(child.to_ref()),
                other => Todo::Value(other.to_value()),
            };
            stack.push(Todo::Fields(object.clone(), position + 1));
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
