//! Requirements on values below a hole's part: paths checked against the fields of types,
//! and wanted values in the forms in which fields hold them.

use super::hole::parse;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::dynamic;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, OBJECT, TypeInfo, is_a};
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::{Parts, Schema, name_hint};
use crate::kernel::value::{DType, Value, ValueRef};
use crate::structural::CompareOptions;
use crate::traverse::roles::is_constant;

/// The field of a literal with its number, string or bool.
const LITERAL: &str = "value";

/// A value that must be at a place below a part.
pub(super) struct FieldTest {
    path: AccessPath,
    /// The wanted value as written, then as the fields hold the value.
    wanted: Vec<Value>,
}

impl FieldTest {
    /// Checks a path and the value wanted there. O(types).
    ///
    /// # Errors
    ///
    /// Errors of [`path_below`]; `TypeError` for a value that no field at the place takes.
    pub(super) fn new(class: Option<TypeIndex>, text: &str, value: &Value) -> Result<FieldTest> {
        let (path, schemas) = path_below(class, text)?;
        let mut wanted = vec![value.clone()];
        let Some(schemas) = schemas else {
            return Ok(FieldTest { path, wanted });
        };
        let mut refusal = None;
        let mut fits = false;
        for schema in &schemas {
            match schema.convert(value.clone()) {
                Ok(converted) => {
                    fits = true;
                    if !wanted.contains(&converted) {
                        wanted.push(converted);
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::Type | ErrorKind::Value) => {
                    // A literal of a type without conversions is still comparable.
                    fits |= is_plain(value) && has_objects(schema);
                    refusal = refusal.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        match refusal {
            Some(error) if !fits => Err(error.in_context(format_args!("Hole.field '{text}'"))),
            _ => Ok(FieldTest { path, wanted }),
        }
    }

    /// True if a part has the value at the place.
    pub(super) fn holds(&self, part: &Value) -> Result<bool> {
        let Ok(found) = self.path.get(part) else {
            return Ok(false);
        };
        for wanted in &self.wanted {
            if CompareOptions::default().equal(wanted, &found)? {
                return Ok(true);
            }
        }
        let [written, ..] = &self.wanted[..] else {
            return Ok(false);
        };
        Ok(match (written.view(), found.view()) {
            (ValueRef::Str(text), ValueRef::DType(dtype)) => {
                text.parse::<DType>().ok() == Some(dtype)
            }
            (_, ValueRef::Object(_)) if is_plain(written) => is_literal_of(&found, written),
            _ => false,
        })
    }
}

fn is_plain(value: &Value) -> bool {
    matches!(
        value.view(),
        ValueRef::Bool(_) | ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Str(_)
    )
}

/// True for a literal of the IR with this number, string or bool. The data type of a
/// number is ignored; a bool equals only literals of type bool.
fn is_literal_of(literal: &Value, wanted: &Value) -> bool {
    let Some(object) = literal.as_object().filter(|_| is_constant(literal)) else {
        return false;
    };
    let Ok(held) = dynamic::field_value(object, LITERAL) else {
        return false;
    };
    match (wanted.view(), held.view()) {
        (ValueRef::Bool(wanted), ValueRef::Int(held)) => {
            let dtype = dynamic::field_value(object, "dtype");
            let is_bool = dtype.is_ok_and(|dtype| dtype == Value::from(DType::BOOL));
            is_bool && wanted == (held != 0)
        }
        (ValueRef::Int(wanted), ValueRef::Float(held)) => wanted as f64 == held,
        _ => *wanted == held,
    }
}

/// True if a field with this schema may hold an object of a declared type.
fn has_objects(schema: &Schema) -> bool {
    match schema {
        Schema::Any | Schema::Object(_) => true,
        Schema::Optional(inner) => has_objects(inner),
        Schema::Union(options) => options.iter().any(has_objects),
        _ => false,
    }
}

/// The path below the parts of a hole, and the schemas of the fields at its end; None if
/// anything may be there.
///
/// # Errors
///
/// `ValueError` for a text that is not a path, and for a step that no known type allows.
pub(super) fn path_below(
    class: Option<TypeIndex>,
    text: &str,
) -> Result<(AccessPath, Option<Vec<Schema>>)> {
    let path = parse(text)?;
    let mut places = class.map(|class| vec![Schema::named(table::info(class).key())]);
    for (depth, step) in path.steps().iter().enumerate() {
        places = below(places, step).map_err(|problem| {
            let here = AccessPath::from_steps(path.steps()[..depth].to_vec());
            Error::value_error(format!("Hole.field '{text}': at {here}, {problem}"))
        })?;
    }
    Ok((path, places))
}

/// The schemas of the places one step below places; None if anything may be there.
fn below(
    places: Option<Vec<Schema>>,
    step: &AccessStep,
) -> std::result::Result<Option<Vec<Schema>>, String> {
    let mut open = places.clone().unwrap_or_else(|| vec![Schema::Any]);
    let mut found: Vec<Schema> = Vec::new();
    let mut classes: Vec<TypeIndex> = Vec::new();
    let mut is_unknown = false;
    while let Some(schema) = open.pop() {
        match (&schema, step) {
            (Schema::Optional(inner), _) => open.push((**inner).clone()),
            (Schema::Union(options), _) => open.extend(options.iter().cloned()),
            (Schema::Any, AccessStep::Attr(_)) => classes.push(OBJECT),
            (Schema::Object(ty), AccessStep::Attr(_)) => classes.extend(ty.index()),
            (Schema::Any, _) => is_unknown = true,
            (Schema::Tuple(items), AccessStep::ArrayItem(index)) => {
                found.extend(items.get(*index).cloned());
            }
            (Schema::Shape, AccessStep::ArrayItem(_)) => found.push(Schema::Int),
            // Containers without declared parts, and types unknown so far.
            (Schema::Object(ty), _) => {
                is_unknown |= ty.index().is_none_or(|ty| table::info(ty).is_builtin());
            }
            (schema, step) => match (schema.parts(), step) {
                (Some((_, Parts::Items(inner))), AccessStep::ArrayItem(_)) => {
                    found.push(inner.clone());
                }
                (
                    Some((_, Parts::Entries((_, inner)))),
                    AccessStep::ArrayItem(_) | AccessStep::MapItem(_),
                ) => found.push(inner.clone()),
                _ => {}
            },
        }
    }
    if let AccessStep::Attr(name) = step
        && !classes.is_empty()
    {
        let all = table::all().into_iter();
        let is_possible = |info: &&TypeInfo| {
            !info.is_builtin() && classes.iter().any(|class| is_a(info.index(), *class))
        };
        let types: Vec<&TypeInfo> = all.filter(is_possible).collect();
        for info in &types {
            let field = info.field_index(name);
            let schema = field.map(|field| info.fields()[field].schema());
            found.extend(schema.filter(|schema| !found.contains(schema)).cloned());
        }
        if found.is_empty() {
            let names = types.iter().flat_map(|info| info.fields());
            let hint = name_hint(name, names.map(|field| field.name()));
            let owner = match &classes[..] {
                [class] if *class != OBJECT => {
                    format!(
                        "{} and the types that extend it have",
                        table::info(*class).key()
                    )
                }
                [_] => "the registered types have".to_owned(),
                _ => "the possible types have".to_owned(),
            };
            return Err(format!("{owner} no field '{name}'{hint}"));
        }
    }
    if is_unknown || found.iter().any(|schema| matches!(schema, Schema::Any)) {
        return Ok(None);
    }
    if found.is_empty() {
        let held: Vec<String> = places.iter().flatten().map(Schema::to_string).collect();
        let expected = match step {
            AccessStep::Attr(name) => format!("an object with a field '{name}'"),
            AccessStep::ArrayItem(index) => format!("a sequence for step [{index}]"),
            AccessStep::MapItem(key) => format!("a map for step [{key:?}]"),
            _ => "a place that exists".to_owned(),
        };
        return Err(format!("expected {expected}, got {}", held.join(" | ")));
    }
    Ok(Some(found))
}
