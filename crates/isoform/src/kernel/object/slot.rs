//! The location of a field in an object: reads, writes and replacements of the field,
//! the values accepted unchanged, and the one way to fill the fields of a new object.

use std::ptr::NonNull;

use super::build::take_field;
use super::field::{Accept, Storage};
use super::header::Header;
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::shell::UninitObject;
use super::table::{self, TypeInfo};
use super::view::{FieldValue, Loaded, ObjRef};
use crate::kernel::container;
use crate::kernel::error::Result;
use crate::kernel::types::{FieldFlag, Schema, in_place};
use crate::kernel::value::DType;

/// The location of a field and its role in a visit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// From the start of the header.
    pub(crate) offset: u32,
    pub(crate) storage: Storage,
    pub(crate) flag: FieldFlag,
    pub(super) accept: Accept,
    /// Position in [`TypeInfo::fields`].
    pub(crate) field: u32,
}

impl Slot {
    /// A pointer to the field in an object.
    ///
    /// # Safety
    ///
    /// The slot must belong to the object's type.
    #[inline(always)]
    pub(super) unsafe fn of(&self, object: NonNull<Header>) -> NonNull<u8> {
        // SAFETY: the offset is inside the object.
        unsafe { object.cast::<u8>().byte_add(self.offset as usize) }
    }

    /// Reads a field.
    ///
    /// # Safety
    ///
    /// The slot must belong to the object's type, nobody may write the field for `'l`,
    /// and an object in the field must live for `'a`.
    #[inline(always)]
    pub(super) unsafe fn load<'a, 'l>(&self, object: NonNull<Header>) -> Loaded<'a, 'l> {
        // SAFETY: the field is initialised and stored in the form described by the
        // slot; the caller guarantees the rest.
        unsafe {
            let field = self.of(object);
            match self.storage {
                Storage::Object => {
                    Loaded::Object(ObjRef::new(field.cast::<NonNull<Header>>().read()))
                }
                Storage::Value | Storage::Str => {
                    Loaded::Value(FieldValue::new(field.cast::<Value>().as_ref()))
                }
                Storage::NullableObject => match NonNull::new(field.cast::<*mut Header>().read()) {
                    Some(pointer) => Loaded::Object(ObjRef::new(pointer)),
                    None => Loaded::None,
                },
                Storage::Int => Loaded::Int(field.cast::<i64>().read()),
                Storage::Float => Loaded::Float(field.cast::<f64>().read()),
                Storage::Bool => Loaded::Bool(field.cast::<bool>().read()),
                Storage::DType => Loaded::DType(field.cast::<DType>().read()),
            }
        }
    }

    /// Writes a field.
    ///
    /// # Safety
    ///
    /// The slot must belong to the object's type, the field must hold nothing that
    /// needs dropping, the value must satisfy the field's schema, and nobody else may
    /// read or write the field meanwhile.
    #[inline(always)]
    pub(super) unsafe fn store(&self, object: NonNull<Header>, value: Value) {
        // SAFETY: promised by the caller; a pointer field takes over the
        // reference that the value owned.
        unsafe {
            let field = self.of(object);
            match self.storage {
                Storage::Value | Storage::Str => field.cast::<Value>().write(value),
                Storage::Int => field.cast::<i64>().write(value.bits() as i64),
                Storage::Float => field.cast::<f64>().write(f64::from_bits(value.bits())),
                Storage::Bool => field.cast::<bool>().write(value.bits() != 0),
                Storage::DType => {
                    let dtype = DType::from_bits(value.bits() as u32);
                    field.cast::<DType>().write(dtype);
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

    /// Writes a field, and returns the references owned by the field before; dropping
    /// them may run user code.
    ///
    /// # Safety
    ///
    /// The contract of [`store`](Self::store), except that the field may hold a value.
    pub(super) unsafe fn replace(&self, object: NonNull<Header>, value: Value) -> Value {
        // SAFETY: promised by the caller; the old value moves out before the new value
        // overwrites it.
        unsafe {
            let owning = self.storage.drop_slot(self.offset);
            let old = owning.map_or(Value::NONE, |slot| take_field(object, slot));
            self.store(object, value);
            old
        }
    }
}

/// True if the value certainly fits the field, by a check of a few
/// instructions.
#[inline(always)]
pub(super) fn fits(info: &'static TypeInfo, field: usize, value: &Value) -> bool {
    match info.slots[field].accept {
        Accept::Anything => true,
        Accept::Plain(tag) => value.tag() == tag,
        Accept::Object => match (info.fields()[field].schema(), value.object_ref()) {
            (Schema::Object(ty), Some(object)) => ty
                .index()
                .is_some_and(|index| table::is_a(object.type_index(), index)),
            _ => false,
        },
        Accept::Other => false,
    }
}

/// Converts the value for the field.
///
/// # Errors
///
/// `TypeError` for an unfitting value, naming type and field.
#[inline(always)]
pub(super) fn accept(info: &'static TypeInfo, field: usize, value: Value) -> Result<Value> {
    if fits(info, field, &value) {
        Ok(value)
    } else {
        convert(info, field, value)
    }
}

#[inline(never)]
fn convert(info: &'static TypeInfo, field: usize, value: Value) -> Result<Value> {
    let definition = &info.fields()[field];
    let converted = definition.schema().convert(value).map_err(|error| {
        let place = format_args!("{}.{}", info.key(), definition.name());
        in_place(place, error)
    })?;
    if container::binds(definition.schema()) {
        container::claim(container::Field::new(info, field), &converted)?;
    }
    Ok(converted)
}

/// Makes an object of a declared type from one fitting value per field, in a
/// preallocated or new block.
///
/// # Safety
///
/// The number of values must be the number of slots, and each value must satisfy the
/// schema of its field.
#[inline(always)]
pub(super) unsafe fn build(
    info: &'static TypeInfo,
    shell: Option<UninitObject>,
    values: impl ExactSizeIterator<Item = Value>,
) -> Ref<Obj> {
    debug_assert_eq!(info.slots.len(), values.len());
    let object = match shell {
        Some(shell) if shell.is_for(info) => shell.into_raw(),
        _ => UninitObject::object(info).into_raw(),
    };
    // SAFETY: the block is for this type, and every field is written before any other
    // code can see the object; nothing in between can fail.
    unsafe {
        for (slot, value) in info.slots.iter().zip(values) {
            slot.store(object, value);
        }
        Ref::from_raw(object)
    }
}
