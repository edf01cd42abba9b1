//! Objects by data: construction, reading and copying through the type table,
//! for types declared at run time and in Rust alike.

use super::field::Storage;
use super::header::{Header, TypeIndex, allocate};
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::table::{self, Slot, TypeInfo};
use crate::error::{Error, ErrorKind, Result};
use std::ptr::NonNull;

/// An object of a type from one value per field, in declaration order,
/// parents' fields first.
///
/// # Errors
///
/// `TypeError` when the number of values differs or a value does not fit its
/// field; it names type, field, what was expected and what came.
pub fn construct(index: TypeIndex, values: Vec<Value>) -> Result<Ref<Obj>> {
    let info = table::info(index);
    if info.is_builtin() {
        return Err(Error::type_error(format!(
            "{}: built-in types are not constructed from fields",
            info.key()
        )));
    }
    if values.len() != info.fields().len() {
        return Err(Error::type_error(format!(
            "{}: expected {} field values, got {}",
            info.key(),
            info.fields().len(),
            values.len()
        )));
    }
    let converted: Vec<Value> = values
        .into_iter()
        .enumerate()
        .map(|(field, value)| convert(info, field, value))
        .collect::<Result<_>>()?;
    Ok(build(info, converted))
}

/// An object of a type from named values; fields left out take their default.
///
/// # Errors
///
/// `TypeError` for an unknown, repeated or missing field, or a value that does
/// not fit.
pub fn construct_named(index: TypeIndex, named: Vec<(&str, Value)>) -> Result<Ref<Obj>> {
    let info = table::info(index);
    let mut given: Vec<Option<Value>> = info.fields().iter().map(|_| None).collect();
    for (name, value) in named {
        let Some(field) = info.field_index(name) else {
            return Err(Error::type_error(format!(
                "{}: unknown field '{name}'",
                info.key()
            )));
        };
        if given[field].replace(value).is_some() {
            return Err(Error::type_error(format!(
                "{}: field '{name}' given twice",
                info.key()
            )));
        }
    }
    let fill = |(value, field): (Option<Value>, &crate::registry::FieldDef)| {
        value.or_else(|| field.make_default()).ok_or_else(|| {
            Error::type_error(format!("{}: missing field '{}'", info.key(), field.name()))
        })
    };
    construct(
        index,
        given
            .into_iter()
            .zip(info.fields())
            .map(fill)
            .collect::<Result<_>>()?,
    )
}

fn convert(info: &'static TypeInfo, field: usize, value: Value) -> Result<Value> {
    let definition = &info.fields()[field];
    definition.schema().convert(value).map_err(|error| {
        Error::type_error(format!(
            "{}.{}: {}",
            info.key(),
            definition.name(),
            error.message()
        ))
    })
}

/// Builds from values that already fit their fields.
fn build(info: &'static TypeInfo, values: Vec<Value>) -> Ref<Obj> {
    debug_assert_eq!(info.slots.len(), values.len());
    // SAFETY: the layout is the type's own and every field is written below,
    // before anything else can see the object.
    unsafe {
        let object = allocate(info.layout, info.index);
        for (slot, value) in info.slots.iter().zip(values) {
            store(object, slot, value);
        }
        Ref::from_raw(object)
    }
}

/// # Safety
///
/// The slot must belong to the object's type, its field must hold nothing
/// that needs dropping, and the value must satisfy the field's schema.
pub(super) unsafe fn store(object: NonNull<Header>, slot: &Slot, value: Value) {
    // SAFETY: promised by the caller; a pointer field takes over the
    // reference that the value owned.
    unsafe {
        let field = object.byte_add(slot.offset as usize);
        match slot.storage {
            Storage::Value | Storage::Str => field.cast::<Value>().write(value),
            Storage::Int => field.cast::<i64>().write(value.bits() as i64),
            Storage::Float => field.cast::<f64>().write(f64::from_bits(value.bits())),
            Storage::Bool => field.cast::<bool>().write(value.bits() != 0),
            Storage::DType => {
                field
                    .cast::<crate::value::DType>()
                    .write(crate::value::DType::from_bits(value.bits() as u32));
            }
            Storage::Object | Storage::NullableObject => {
                let pointer = match value.into_object() {
                    Ok(reference) => reference.into_raw().as_ptr(),
                    Err(_none) => std::ptr::null_mut(),
                };
                field.cast::<*mut Header>().write(pointer);
            }
        }
    }
}

/// The value of a field by name.
///
/// # Errors
///
/// `AttributeError` when the type has no such field.
pub fn get_field(object: &Ref<Obj>, name: &str) -> Result<Value> {
    let info = object.type_info();
    let field = info.field_index(name);
    field
        .and_then(|field| get_field_at(object, field))
        .ok_or_else(|| no_field(info, name))
}

fn no_field(info: &TypeInfo, name: &str) -> Error {
    Error::new(
        ErrorKind::Attribute,
        format!("type {} has no field '{name}'", info.key()),
    )
}

/// The value of a field by position in declaration order, parents' first.
pub fn get_field_at(object: &Ref<Obj>, field: usize) -> Option<Value> {
    object
        .borrowed()
        .all_fields()
        .get(field)
        .map(|(_, loaded)| loaded.to_value())
}

/// A copy of the object with one field replaced; children are shared.
///
/// # Errors
///
/// `AttributeError` when the type has no such field, `TypeError` when the
/// value does not fit or the type is built in.
pub fn with_field(object: &Ref<Obj>, name: &str, value: Value) -> Result<Ref<Obj>> {
    let info = object.type_info();
    let changed = info.field_index(name).ok_or_else(|| no_field(info, name))?;
    let value = convert(info, changed, value)?;
    let fields = object.borrowed().all_fields();
    let mut values: Vec<Value> = (0..fields.len())
        .filter_map(|field| fields.get(field))
        .map(|(_, loaded)| loaded.to_value())
        .collect();
    values[changed] = value;
    Ok(build(info, values))
}
