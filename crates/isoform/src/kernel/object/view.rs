//! Borrowed objects: the engines' access to fields without touching a count.
//!
//! `ObjRef` and `Fields` let safe code read fields without touching a reference count. A
//! `Fields` can be made only from the table entry of the object's own type, and read only
//! with the token of a section.
//!
//! The lifetime of an `ObjRef` is the lifetime of the root's borrow, not of the token:
//! the frames of an engine hold `ObjRef`s while user code runs.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use super::access::{self, Section};
use super::header::{HEADER_SIZE, Header, TypeIndex};
use super::raw_value::{PlainValue, Value};
use super::reference::{Node, Obj, Ref};
use super::slot::Slot;
use super::table::{self, TypeInfo};
use crate::kernel::types::Kind;
use crate::kernel::value::DType;

/// A borrowed object of any type: one pointer, free to copy.
///
/// Reading fields takes the token of a section. A child lives as long as
/// the borrow of the root: an owner keeps the child alive, and a value removed from the
/// owner by a write stays alive until the traversal ends.
#[derive(Clone, Copy)]
pub struct ObjRef<'a> {
    pointer: NonNull<Header>,
    borrow: PhantomData<&'a Header>,
}

/// A value inside an object alive for `'a`, lent for `'l`: the time without writes to
/// the field.
#[derive(Clone, Copy)]
pub(crate) struct FieldValue<'a, 'l> {
    value: &'l Value,
    owner: PhantomData<&'a Header>,
}

/// The contents of a field of an object that lives for `'a`, lent for `'l`.
#[derive(Clone, Copy)]
pub(crate) enum Loaded<'a, 'l> {
    /// A reference into the object.
    Value(FieldValue<'a, 'l>),
    Object(ObjRef<'a>),
    None,
    Int(i64),
    Float(f64),
    Bool(bool),
    DType(DType),
}

impl<'a> ObjRef<'a> {
    /// # Safety
    ///
    /// The object must stay alive for `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(pointer: NonNull<Header>) -> Self {
        ObjRef {
            pointer,
            borrow: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn raw(self) -> NonNull<Header> {
        self.pointer
    }

    #[inline(always)]
    pub(super) fn address(self) -> *const u8 {
        self.pointer.as_ptr().cast::<u8>()
    }

    #[inline(always)]
    pub(crate) fn header(self) -> &'a Header {
        // SAFETY: alive for 'a.
        unsafe { self.pointer.as_ref() }
    }

    /// The type of the object.
    #[inline(always)]
    pub fn type_index(self) -> TypeIndex {
        self.header().type_index
    }

    /// The row of the type in the table.
    #[inline(always)]
    pub fn info(self) -> &'static TypeInfo {
        table::info(self.type_index())
    }

    /// The identity number of the object.
    #[inline(always)]
    pub fn ident(self) -> u64 {
        self.header().ident()
    }

    /// True for an object with several owners: a traversal may visit it again.
    #[inline(always)]
    pub fn is_shared(self) -> bool {
        self.header().count() > 1
    }

    #[inline(always)]
    pub(crate) fn same_as(self, other: ObjRef<'_>) -> bool {
        self.pointer == other.pointer
    }

    /// An owned reference to the same object.
    pub(crate) fn to_ref(self) -> Ref<Obj> {
        self.as_ref().clone()
    }

    /// The borrowed object as a `&Ref`, for calling user code.
    #[allow(
        clippy::should_implement_trait,
        reason = "`AsRef` would be in no import"
    )]
    pub fn as_ref(&self) -> &Ref<Obj> {
        // SAFETY: `Ref<Obj>` is repr(transparent) over the same pointer and is only
        // borrowed: its destructor does not run.
        unsafe { &*(&raw const self.pointer).cast::<Ref<Obj>>() }
    }

    /// The fields as a `T`, if the object is a `T`.
    #[inline]
    pub(crate) fn downcast<T: Node>(self) -> Option<&'a T> {
        if !table::is_a(self.type_index(), T::type_index()) {
            return None;
        }
        // SAFETY: the object is alive for 'a and starts its fields with a `T`.
        Some(unsafe { self.pointer.byte_add(HEADER_SIZE).cast::<T>().as_ref() })
    }

    /// The location of a field of this object's own type.
    ///
    /// # Safety
    ///
    /// `slot` must come from the `TypeInfo` of this object's type.
    #[inline(always)]
    pub(super) unsafe fn field(self, slot: &Slot) -> NonNull<u8> {
        // SAFETY: promised by the caller.
        unsafe { slot.of(self.pointer) }
    }

    /// Reads a field of this object's own type.
    ///
    /// # Safety
    ///
    /// `slot` must come from the `TypeInfo` of this object's type.
    #[inline(always)]
    unsafe fn load<'l>(self, _: &'l Section, slot: &Slot) -> Loaded<'a, 'l> {
        access::assert_inside();
        // SAFETY: the slot describes an initialised field of this object, and nobody
        // writes the field for `'l`, during which this thread is in a section.
        unsafe { slot.load(self.pointer) }
    }

    /// The compared fields (without `ignore`), in the order of visit.
    #[inline(always)]
    pub(crate) fn visited(self) -> Fields<'a> {
        Fields {
            object: self,
            slots: &self.info().visited,
        }
    }

    /// [`visited`](Self::visited) with the type already looked up.
    ///
    /// Falls back to a lookup if `info` is not this object's type.
    #[inline(always)]
    pub(crate) fn visited_with(self, info: &'static TypeInfo) -> Fields<'a> {
        if info.index == self.type_index() {
            Fields {
                object: self,
                slots: &info.visited,
            }
        } else {
            self.visited()
        }
    }

    /// The compared and the ignored fields, in the order of visit.
    #[inline]
    pub(crate) fn visited_and_ignored(self) -> Fields<'a> {
        Fields {
            object: self,
            slots: &self.info().visited_and_ignored,
        }
    }

    /// All fields, parents' first, in declaration order.
    #[inline]
    pub(crate) fn all_fields(self) -> Fields<'a> {
        Fields {
            object: self,
            slots: &self.info().slots,
        }
    }

    /// The fields that may hold an object or string, parents' first, in declaration
    /// order.
    #[inline]
    pub(crate) fn references(self) -> Fields<'a> {
        Fields {
            object: self,
            slots: &self.info().references,
        }
    }
}

/// Some of an object's fields, by position.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: ObjRef<'a>,
    // Always taken from the table entry of the object's own type.
    slots: &'static [Slot],
}

impl<'a> Fields<'a> {
    /// The object that has the fields.
    #[inline(always)]
    pub(crate) fn object(&self) -> ObjRef<'a> {
        self.object
    }

    /// None of the object's fields.
    #[inline(always)]
    pub(crate) fn none(object: ObjRef<'a>) -> Self {
        Fields { object, slots: &[] }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    pub(crate) fn slot(&self, position: usize) -> Option<&'static Slot> {
        self.slots.get(position)
    }

    #[inline(always)]
    pub(crate) fn get<'l>(
        &self,
        section: &'l Section,
        position: usize,
    ) -> Option<(&'static Slot, Loaded<'a, 'l>)> {
        let slot = self.slots.get(position)?;
        // SAFETY: the slots belong to the object's own type.
        Some((slot, unsafe { self.object.load(section, slot) }))
    }
}

impl<'a, 'l> FieldValue<'a, 'l> {
    /// # Safety
    ///
    /// An object in the value must stay alive for `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(value: &'l Value) -> Self {
        FieldValue {
            value,
            owner: PhantomData,
        }
    }

    /// The object in the field, for longer than the loan.
    #[inline(always)]
    pub(crate) fn object_ref(self) -> Option<ObjRef<'a>> {
        // SAFETY: alive for 'a, by the object that has the field or by the guarantee of
        // the access rule for borrowed objects.
        NonNull::new(self.value.object_pointer()).map(|pointer| unsafe { ObjRef::new(pointer) })
    }
}

impl Deref for FieldValue<'_, '_> {
    type Target = Value;

    #[inline(always)]
    fn deref(&self) -> &Value {
        self.value
    }
}

/// A part of an object that is kept while the section is left: the same for typed and
/// dynamic fields.
#[derive(Clone, Copy)]
pub enum PartRef<'a> {
    /// An object.
    Object(ObjRef<'a>),
    /// A value without an object of its own.
    Plain(PlainValue),
}

impl<'a> PartRef<'a> {
    /// The type of the object; None for an inline value.
    #[inline(always)]
    pub(crate) fn type_index(self) -> Option<TypeIndex> {
        match self {
            PartRef::Object(object) => Some(object.type_index()),
            PartRef::Plain(_) => None,
        }
    }

    /// The object, if the value is an object.
    #[inline(always)]
    pub fn object(self) -> Option<ObjRef<'a>> {
        match self {
            PartRef::Object(object) => Some(object),
            PartRef::Plain(_) => None,
        }
    }

    /// The identity number of a variable.
    #[inline]
    pub(crate) fn variable(self) -> Option<u64> {
        let object = self.object()?;
        let info = object.info();
        (info.kind == Kind::Var && !info.is_builtin()).then(|| object.ident())
    }

    /// True if this is the value: the same object, or an equal plain value.
    #[inline(always)]
    pub(crate) fn is(self, value: &Value) -> bool {
        match (self, value.object_ref()) {
            (PartRef::Object(object), Some(other)) if object.same_as(other) => true,
            // Long strings are compared by content.
            (PartRef::Object(object), _) if object.info().class().has_parts() => false,
            _ => self.to_value() == *value,
        }
    }

    /// True if both are the same object, or neither is an object.
    pub(crate) fn is_same(self, other: PartRef<'_>) -> bool {
        match (self, other) {
            (PartRef::Object(one), PartRef::Object(other)) => one.same_as(other),
            (PartRef::Plain(_), PartRef::Plain(_)) => true,
            _ => false,
        }
    }

    /// An owned copy.
    #[inline]
    pub fn to_value(self) -> Value {
        match self {
            PartRef::Object(object) => Value::from_object(object.to_ref()),
            PartRef::Plain(plain) => plain.to_value(),
        }
    }

    /// A value outside of fields, or with an object alive for `'a` regardless of
    /// fields.
    #[inline(always)]
    pub(crate) fn of(value: &'a Value) -> Self {
        value
            .object_ref()
            .map_or_else(|| PartRef::plain(value), PartRef::Object)
    }

    #[inline(always)]
    fn plain(value: &Value) -> Self {
        PartRef::Plain(PlainValue::of(value).unwrap_or(PlainValue::NONE))
    }
}

impl<'a> Loaded<'a, '_> {
    /// The part, without a reference into the field.
    #[inline(always)]
    pub(crate) fn met(self) -> PartRef<'a> {
        match self {
            Loaded::Object(object) => PartRef::Object(object),
            Loaded::Value(value) => value
                .object_ref()
                .map_or_else(|| PartRef::plain(&value), PartRef::Object),
            // None of these is an object.
            number => PartRef::plain(&number.to_value()),
        }
    }

    /// The object that the field holds.
    #[inline]
    pub(crate) fn object(self) -> Option<ObjRef<'a>> {
        match self {
            Loaded::Object(object) => Some(object),
            Loaded::Value(value) => value.object_ref(),
            _ => None,
        }
    }

    /// An owned copy.
    pub(crate) fn to_value(self) -> Value {
        match self {
            Loaded::Value(value) => Value::clone(&value),
            Loaded::Object(object) => Value::from_object(object.to_ref()),
            Loaded::None => Value::NONE,
            Loaded::Int(value) => Value::from_int(value),
            Loaded::Float(value) => Value::from_float(value),
            Loaded::Bool(value) => Value::from_bool(value),
            Loaded::DType(value) => Value::from_dtype(value),
        }
    }
}
