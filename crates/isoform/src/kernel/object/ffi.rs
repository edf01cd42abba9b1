//! The interface for the binding of a host language: raw pointers that own a reference,
//! the header's spare word, and reads without a copy.
//!
//! # The spare word
//!
//! A binding keeps the host's wrapper of an object in the spare word, to give one
//! object one wrapper. Only the low bit has a meaning here, and is changed without any
//! lock; other bits belong to the binding. With [`PRESERVED`] set, the
//! wrapper stays alive without a reference from the host (the wrapper carries state,
//! such as attributes added by a user), and is itself an owner of the object. The
//! object and the wrapper then form a cycle of owners. When the last *other* owner of
//! the object goes, the core calls the function of [`set_preserved_hook`] to separate
//! wrapper and object.

use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::access;
use super::field::Storage;
use super::header::{Header, TypeIndex};
use super::raw_value::Value;
use super::reference::{Node, Obj, Ref};
use super::slot::Slot;
use super::table::{self, TypeInfo};
use super::view::Loaded;
use crate::kernel::value::DType;

/// The bit of the spare word marking a wrapper that outlives its host references; see
/// the module documentation.
pub const PRESERVED: usize = 1;

static PRESERVED_HOOK: OnceLock<fn(usize)> = OnceLock::new();

/// Sets, once, the function called when an object with a preserved wrapper is about to
/// lose its last other owner.
///
/// The function receives the spare word without the bit [`PRESERVED`], cleared before
/// the call: the host reference keeping the wrapper alive then belongs to the function,
/// to be released when possible (under the host's lock). The function runs in any
/// thread, and must neither panic nor use the object.
pub fn set_preserved_hook(hook: fn(usize)) {
    PRESERVED_HOOK.get_or_init(|| hook);
}

/// Calls the host's function when a preserved wrapper is about to become the only
/// owner.
#[cold]
#[inline(never)]
pub(super) fn about_to_lose_last_other_owner(header: &Header) {
    let Some(hook) = PRESERVED_HOOK.get() else {
        return;
    };
    // Clearing the bit hands over the wrapper, so only one thread may clear the bit. The
    // binding may change its own bits meanwhile.
    let word = header.host.fetch_and(!PRESERVED, Ordering::AcqRel);
    if word & PRESERVED != 0 {
        hook(word & !PRESERVED);
    }
}

impl<T: Node> Ref<T> {
    /// The object's address, with the reference owned by this `Ref`.
    #[inline]
    pub fn into_raw_pointer(self) -> NonNull<()> {
        self.into_raw().cast()
    }

    /// The object's address.
    #[inline]
    pub fn as_raw_pointer(&self) -> NonNull<()> {
        self.raw().cast()
    }
}

/// Takes ownership of a reference from [`Ref::into_raw_pointer`].
///
/// # Safety
///
/// The pointer must come from `into_raw_pointer` and own one reference, moved to the
/// result.
#[inline]
pub unsafe fn from_raw_pointer(pointer: NonNull<()>) -> Ref<Obj> {
    // SAFETY: promised by the caller; every object is an `Obj`.
    unsafe { Ref::from_raw(pointer.cast()) }
}

/// The object at an address, borrowed.
///
/// # Safety
///
/// The pointer must be the address of an object that stays alive while `pointer` is
/// borrowed.
#[inline(always)]
pub unsafe fn borrow_raw(pointer: &NonNull<()>) -> &Ref<Obj> {
    // SAFETY: `Ref<Obj>` is repr(transparent) over the same pointer, and the
    // object lives as promised by the caller.
    unsafe { &*(&raw const *pointer).cast::<Ref<Obj>>() }
}

/// The object's spare word, for the binding of the host language.
#[inline(always)]
pub fn host_word(object: &Ref<Obj>) -> &AtomicUsize {
    &object.header().host
}

/// The index of the object's own type. O(1).
#[inline(always)]
pub fn type_index_of(object: &Ref<Obj>) -> TypeIndex {
    object.header().type_index
}

/// The table entry of a type. O(1).
#[inline]
pub fn type_info(index: TypeIndex) -> &'static TypeInfo {
    table::info(index)
}

/// True if the type equals or extends the ancestor. O(1).
#[inline]
pub fn extends(index: TypeIndex, ancestor: TypeIndex) -> bool {
    table::is_a(index, ancestor)
}

/// The offset and storage of a field, for [`read_field`].
#[derive(Clone, Copy, Debug)]
pub struct FieldPlace {
    owner: TypeIndex,
    slot: Slot,
}

impl FieldPlace {
    /// The place of a field, by its position among all fields of the type.
    pub fn of(info: &'static TypeInfo, field: usize) -> Option<FieldPlace> {
        Some(FieldPlace {
            owner: info.index,
            slot: *info.slots.get(field)?,
        })
    }

    /// The type declaring the field; objects of derived types have the field, too.
    #[inline(always)]
    pub fn owner(&self) -> TypeIndex {
        self.owner
    }

    /// The position of the field among all fields of the type.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.slot.field as usize
    }

    /// From the start of the object, in bytes.
    pub fn offset(&self) -> usize {
        self.slot.offset as usize
    }

    /// How the field is stored.
    #[inline(always)]
    pub fn storage(&self) -> Storage {
        self.slot.storage
    }
}

/// The contents of a field, borrowed from its object.
#[derive(Clone, Copy)]
pub enum FieldRef<'a> {
    /// A dynamic value, or a string.
    Value(&'a Value),
    /// An object.
    Object(&'a Ref<Obj>),
    /// A nullable object that is absent.
    None,
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A data type.
    DType(DType),
}

/// Reads a field without touching a reference count; None if the object's type does not
/// have the field. O(1).
///
/// # Safety
///
/// The field must not be written while the result is in use: the caller holds an
/// exclusive lock of the host, runs in [`while_nobody_writes`], or the type is declared
/// in Rust.
#[inline(always)]
pub unsafe fn read_field<'a>(object: &'a Ref<Obj>, place: &FieldPlace) -> Option<FieldRef<'a>> {
    let index = object.header().type_index;
    if index != place.owner && !table::is_a(index, place.owner) {
        return None;
    }
    // SAFETY: the object's type has the field, at this offset and with this storage,
    // because every extending type keeps a parent's field at the same place; nobody
    // writes the field meanwhile.
    unsafe {
        let field = place.slot.of(object.raw());
        Some(match place.slot.load(object.raw()) {
            Loaded::Object(_) => FieldRef::Object(field.cast::<Ref<Obj>>().as_ref()),
            Loaded::Value(_) => FieldRef::Value(field.cast::<Value>().as_ref()),
            Loaded::None => FieldRef::None,
            Loaded::Int(value) => FieldRef::Int(value),
            Loaded::Float(value) => FieldRef::Float(value),
            Loaded::Bool(value) => FieldRef::Bool(value),
            Loaded::DType(value) => FieldRef::DType(value),
        })
    }
}

/// Runs `body`, which must neither call the host nor wait for a lock, while no field,
/// list or dict is written and no cycles are collected.
#[inline]
pub fn while_nobody_writes<R>(body: impl FnOnce() -> R) -> R {
    access::reading(|_section| body())
}

/// All fields of an object as owned values, in declaration order, parents'
/// fields first.
pub fn field_values(object: &Ref<Obj>) -> Vec<Value> {
    access::reading(|section| {
        let fields = object.borrowed().all_fields();
        (0..fields.len())
            .filter_map(|field| fields.get(section, field))
            .map(|(_, loaded): (_, Loaded<'_, '_>)| loaded.to_value())
            .collect()
    })
}

/// Must be called when a value read by [`read_field`] becomes accessible to users: from
/// then on, the value's lists and dicts satisfy the field's type. O(1) for lists and
/// dicts under these demands already.
pub fn note_reading(info: &'static TypeInfo, field: usize, value: &Value) {
    super::dynamic::note_reading(info, field, value);
}

/// True if values of the field contain lists or dicts with typed elements.
pub fn holds_typed_containers(field: &crate::kernel::types::FieldDef) -> bool {
    crate::kernel::container::binds(field.schema())
}
