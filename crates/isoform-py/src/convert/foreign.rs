//! The schema `Value`: everything with a structure, and therefore no object of Python.

use hashbrown::HashSet;
use isoform::host::Contents;
use isoform::types::{HostSchema, Schema};
use isoform::values::{OpaqueObj, ValueRef};
use isoform::{Value, host};

/// Any value but objects and functions of Python, also inside of containers.
pub(super) const STRUCTURED: HostSchema =
    HostSchema::new(NAME, |value| first_foreign(value).is_none());

const NAME: &str = "Value";

/// True for the schema [`STRUCTURED`].
pub(super) fn is_structured(schema: &Schema) -> bool {
    matches!(schema, Schema::Host(_)) && schema.to_string() == NAME
}

/// The message about the first object of Python in a value, with its place.
pub(super) fn foreign_part(value: &Value) -> Option<String> {
    let (places, name) = first_foreign(value)?;
    Some(format!(
        "{places}expected a value with a structure, got {name}"
    ))
}

/// A container that is looked into.
struct Visit {
    contents: Vec<(String, Value)>,
    next: usize,
}

/// The places from the outermost container inwards, and the name of what is there. Linear
/// in the elements of containers; objects have fields with types of their own, and are
/// not looked into.
fn first_foreign(value: &Value) -> Option<(String, &'static str)> {
    if let Some(name) = foreign_name(value) {
        return Some((String::new(), name));
    }
    let mut met = HashSet::new();
    let mut stack = Vec::from_iter(visit(value, &mut met));
    while let Some(top) = stack.last_mut() {
        let Some((_, part)) = top.contents.get(top.next) else {
            stack.pop();
            continue;
        };
        top.next += 1;
        if let Some(name) = foreign_name(part) {
            let places = stack.iter().map(|each| &*each.contents[each.next - 1].0);
            return Some((places.collect(), name));
        }
        let inner = visit(part, &mut met);
        stack.extend(inner);
    }
    None
}

/// The contents of a container that was not met before.
fn visit(value: &Value, met: &mut HashSet<usize>) -> Option<Visit> {
    let contents = match value.contents()? {
        Contents::Items(items) => items
            .values()
            .iter()
            .enumerate()
            .map(|(position, item)| (format!("element [{position}]: "), item.clone()))
            .collect(),
        Contents::Entries(entries) => entries
            .iter()
            .flat_map(|(key, value)| {
                let place = format!("value for key {key:?}: ");
                [
                    (format!("key {key:?}: "), key.clone()),
                    (place, value.clone()),
                ]
            })
            .collect(),
    };
    let address = value
        .as_object()
        .map(|object| std::ptr::from_ref(host::host_word(object)).addr());
    met.insert(address?).then_some(Visit { contents, next: 0 })
}

/// The name of an object or function of Python; None for other values.
fn foreign_name(value: &Value) -> Option<&'static str> {
    let is_opaque = |value: &Value| {
        let object = value.as_object()?;
        object.downcast_ref::<OpaqueObj>().map(|_| ())
    };
    let is_foreign = matches!(value.view(), ValueRef::Function(_)) || is_opaque(value).is_some();
    is_foreign.then(|| value.type_name())
}
