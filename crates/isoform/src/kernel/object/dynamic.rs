//! Objects handled as data: construction, reading, writing and copying through the type
//! table, for types declared at run time and in Rust alike.

use super::access;
use super::build::{copy_while_writing, with_fields};
use super::collect::{self, may_lead_on};
use super::deferred_drop;
use super::header::TypeIndex;
use super::moment;
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::slot::{accept, build, fits};
use super::table::{self, TypeInfo};
use crate::kernel::container;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::types::{FieldDef, field_hint};

/// Makes an object of a type from one value per field, in declaration order, parents'
/// fields first.
///
/// # Errors
///
/// `TypeError` if the number of values differs or a value does not fit its field,
/// naming type and field, expected and given value.
pub fn construct(index: TypeIndex, values: Vec<Value>) -> Result<Ref<Obj>> {
    construct_from(table::info(index), &mut { values })
}

/// [`construct`], moving the values out of a slice.
///
/// # Errors
///
/// The errors of [`construct`]; on an error, the values are moved or converted.
#[inline]
pub fn construct_from(info: &'static TypeInfo, values: &mut [Value]) -> Result<Ref<Obj>> {
    if info.is_builtin() || values.len() != info.slots.len() {
        return Err(wrong_count(info, values.len()));
    }
    for (field, value) in values.iter_mut().enumerate() {
        if !fits(info, field, value) {
            *value = accept(info, field, std::mem::take(value))?;
        }
    }
    // SAFETY: every slot has a fitting value.
    Ok(unsafe { build(info, None, values.iter_mut().map(std::mem::take)) })
}

#[cold]
fn wrong_count(info: &TypeInfo, given: usize) -> Error {
    let key = info.key();
    Error::type_error(if info.is_builtin() {
        format!("{key}: built-in types are not constructed from fields")
    } else {
        format!(
            "{key}: expected {} field values, got {given}",
            info.slots.len()
        )
    })
}

/// Makes an object of a type from named values; omitted fields take their default.
///
/// # Errors
///
/// `TypeError` for an unknown, repeated or missing field, or a value that does
/// not fit.
pub fn construct_named(index: TypeIndex, named: Vec<(&str, Value)>) -> Result<Ref<Obj>> {
    let info = table::info(index);
    let mut values: Vec<Option<Value>> = info.fields().iter().map(|_| None).collect();
    for (name, value) in named {
        let Some(field) = info.field_index(name) else {
            return Err(Error::type_error(format!(
                "{}: unknown field '{name}'{}",
                info.key(),
                field_hint(info, name)
            )));
        };
        if values[field].replace(value).is_some() {
            return Err(Error::type_error(format!(
                "{}: field '{name}' given twice",
                info.key()
            )));
        }
    }
    let fill = |(value, field): (Option<Value>, &FieldDef)| {
        value.or_else(|| field.make_default()).ok_or_else(|| {
            Error::type_error(format!("{}: missing field '{}'", info.key(), field.name()))
        })
    };
    construct(
        index,
        values
            .into_iter()
            .zip(info.fields())
            .map(fill)
            .collect::<Result<_>>()?,
    )
}

/// The value of a field by name.
///
/// # Errors
///
/// `AttributeError` for an unknown field.
pub fn field_value(object: &Ref<Obj>, name: &str) -> Result<Value> {
    let info = object.type_info();
    let field = info.field_index(name);
    field
        .and_then(|field| field_value_at(object, field))
        .ok_or_else(|| no_field(info, name))
}

fn no_field(info: &TypeInfo, name: &str) -> Error {
    Error::new(
        ErrorKind::Attribute,
        format!(
            "type {} has no field '{name}'{}",
            info.key(),
            field_hint(info, name)
        ),
    )
}

/// The value of a field by position in declaration order, parents' first.
pub fn field_value_at(object: &Ref<Obj>, field: usize) -> Option<Value> {
    let value = access::reading(|section| {
        let fields = object.borrowed().all_fields();
        fields
            .get(section, field)
            .map(|(_, loaded)| loaded.to_value())
    })?;
    note_reading(object.type_info(), field, &value);
    Some(value)
}

/// Called when a list, kept typed by the compiler in a field of a Rust struct, becomes
/// accessible to untyped code through a read of the field.
pub(super) fn note_reading(info: &'static TypeInfo, field: usize, value: &Value) {
    if value.as_object().is_some() && container::binds(info.fields()[field].schema()) {
        // If Rust code made the contents unfit through an untyped handle, this is not
        // an error of the reader.
        let _fits = container::claim(container::Field::new(info, field), value);
    }
}

/// Changes a mutable field by name, in an object with any number of owners. Code
/// running at the same time, in other threads or around a calling hook or callback,
/// sees the field either before or after the change. O(1), except for the conversion to
/// the type of the field; waits until running comparisons, hashes and walks of other
/// threads reach a hook, a callback or their end.
///
/// # Errors
///
/// `AttributeError` if the type has no such field or the field is frozen, `TypeError`
/// if the value does not fit. On an error, the field is unchanged.
///
/// ```
/// use isoform::objects::{construct, field_value, set_field};
/// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
/// let cell = TypeDef::new("doc.Cell")
///     .field(FieldDef::new("value", Schema::Float).mutable(true))
///     .field(FieldDef::new("name", Schema::Str));
/// let cell = construct(register_type(cell)?, vec![1.0.into(), "c".into()])?;
/// set_field(&cell, "value", 2.into())?;
/// assert_eq!(field_value(&cell, "value")?, 2.0.into());
/// let error = set_field(&cell, "name", "d".into()).expect_err("not declared mutable");
/// assert_eq!(error.to_string(), "AttributeError: doc.Cell.name: the field is frozen");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn set_field(object: &Ref<Obj>, name: &str, value: Value) -> Result<()> {
    let info = object.type_info();
    let field = info.field_index(name).ok_or_else(|| no_field(info, name))?;
    set_field_at(object, field, value)
}

/// [`set_field`] by position in declaration order, parents' first.
///
/// # Errors
///
/// As [`set_field`].
pub fn set_field_at(object: &Ref<Obj>, field: usize, value: Value) -> Result<()> {
    let info = object.type_info();
    let definition = definition_at(info, field)?;
    if !definition.is_mutable() {
        return Err(frozen(info, definition, "the field is frozen"));
    }
    replace_field(object, info, field, value)
}

/// [`set_field_at`], also for frozen fields: for host languages with a way around a
/// declaration.
///
/// From the first write to a frozen field on, all objects of the object's type count as
/// mutable. Earlier guarantees of "frozen" become void: a
/// [`StructuralKey`](crate::compare::StructuralKey) made before from an object of this
/// type sees the change, and comparing the key is an error; remembered hashes become
/// outdated, too. Do not overwrite fields of `const-tree` objects that other code may
/// have compared by pointer.
///
/// # Errors
///
/// `AttributeError` if the type has no field at the position or a Rust struct declares
/// the field, `TypeError` if the value does not fit.
///
/// ```
/// use isoform::objects::{construct, field_value, overwrite_field_at};
/// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
/// let point = TypeDef::new("doc.Point").field(FieldDef::new("x", Schema::Int));
/// let point = construct(register_type(point)?, vec![1.into()])?;
/// overwrite_field_at(&point, 0, 2.into())?;
/// assert_eq!(field_value(&point, "x")?, 2.into());
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn overwrite_field_at(object: &Ref<Obj>, field: usize, value: Value) -> Result<()> {
    let info = object.type_info();
    let definition = definition_at(info, field)?;
    if !definition.is_mutable() && !info.claim_overwrite(field) {
        let why = "the field of a Rust struct cannot be overwritten";
        return Err(frozen(info, definition, why));
    }
    replace_field(object, info, field, value)
}

fn definition_at(info: &'static TypeInfo, field: usize) -> Result<&'static FieldDef> {
    let count = info.fields().len();
    info.fields().get(field).ok_or_else(|| {
        Error::new(
            ErrorKind::Attribute,
            format!("type {} has {count} fields, none at {field}", info.key()),
        )
    })
}

fn frozen(info: &TypeInfo, field: &FieldDef, why: &str) -> Error {
    let text = format!("{}.{}: {why}", info.key(), field.name());
    Error::new(ErrorKind::Attribute, text)
}

/// Changes a field out of reach of plain Rust references.
fn replace_field(
    object: &Ref<Obj>,
    info: &'static TypeInfo,
    field: usize,
    value: Value,
) -> Result<()> {
    let value = accept(info, field, value)?;
    let links = value.as_object().is_some_and(may_lead_on);
    if links {
        access::note_link();
    }
    let slot = &info.slots[field];
    let mut value = Some(value);
    let old = access::writing(|idle| {
        let value = value.take().unwrap_or_default();
        moment::before_write(object.identity(), || copy_while_writing(object));
        // SAFETY: the slot belongs to the object's own type, the value was converted to
        // the slot's schema, and nobody else reads or writes fields meanwhile. No
        // reference into the field is in use: sections keep none across `outside`, and
        // a Rust struct with a field here does not exist.
        let old = unsafe { slot.replace(object.raw(), value) };
        (old, idle)
    });
    let (old, idle) = old?;
    if links {
        collect::track(object);
    }
    // A running traversal may have borrowed the old value.
    if !idle && old.as_object().is_some() {
        deferred_drop::keep(old);
    }
    collect::collect_if_due();
    Ok(())
}

/// Returns a copy of the object with one field replaced, sharing the children.
///
/// # Errors
///
/// `AttributeError` if the type has no such field, `TypeError` if the
/// value does not fit or the type is built in.
pub fn with_field(object: &Ref<Obj>, name: &str, value: Value) -> Result<Ref<Obj>> {
    let info = object.type_info();
    let changed = info.field_index(name).ok_or_else(|| no_field(info, name))?;
    with_fields(object, [(changed, value)])
}
