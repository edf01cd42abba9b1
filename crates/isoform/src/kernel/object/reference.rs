//! `Ref<T>`, the owning pointer, and `Node`, the trait of declared types.

use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;

use super::header::{HEADER_SIZE, Header, TypeIndex, allocate};
use super::release::release;
use super::table::{self, TypeInfo};
use super::view::ObjRef;
use crate::kernel::error::{Error, Result};
use crate::kernel::types::TypeDef;

/// A node type declared in Rust; implemented by `#[derive(Node)]`.
///
/// # Safety
///
/// `Self` must be `repr(C)`, must not implement `Drop`, and must consist of its parent
/// (as first field, when `Parent` is not [`Obj`]) and fields whose types implement
/// [`FieldType`](super::field::FieldType), at the offsets and with the types listed by
/// [`definition`](Node::definition). `type_index` must return the index of the
/// registration of this definition. The derive macro upholds all of this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an Isoform node type",
    note = "add `#[derive(Node)]`, `#[node(key = \"...\")]` and `#[repr(C)]` to its declaration"
)]
pub unsafe trait Node: Sized + Send + Sync + 'static {
    /// The parent type, whose fields come first.
    type Parent: Node;
    /// The name of the type, unique in the process, such as `"ir.Add"`.
    const TYPE_KEY: &'static str;
    /// The type's index; registers the type (and its parents) on first use.
    ///
    /// When another definition already owns the type key.
    ///
    /// Call [`register`](crate::types::register) first to get an error instead.
    fn type_index() -> TypeIndex;
    /// The declaration as data.
    fn definition() -> TypeDef;
    /// A copy, field by field, sharing all children.
    #[doc(hidden)]
    fn clone_fields(&self) -> Self;
}

/// The root of all types: an object of unknown type.
#[derive(Debug)]
#[repr(C)]
pub struct Obj {}

// SAFETY: no fields, no destructor; registered by the table itself.
unsafe impl Node for Obj {
    type Parent = Obj;
    const TYPE_KEY: &'static str = "isoform.Object";
    fn type_index() -> TypeIndex {
        table::OBJECT
    }
    fn definition() -> TypeDef {
        TypeDef::root()
    }
    fn clone_fields(&self) -> Self {
        Obj {}
    }
}

/// An object on the heap.
#[repr(C)]
pub(super) struct Block<T> {
    header: Header,
    fields: T,
}

/// A thin, owning, thread-safe pointer to an object.
///
/// The fields of a Rust struct are immutable while the object is shared; see
/// [`set_field`](crate::objects::set_field) for mutable fields.
///
/// Cloning adds an owner. `==` on `Ref`s is identity; use
/// [`structural_equal`](crate::structural_equal) for equality of content. Fields are
/// accessed through `Deref`.
#[repr(transparent)]
pub struct Ref<T: Node> {
    pointer: NonNull<Header>,
    kind: PhantomData<T>,
}

// SAFETY: `Node` requires Send + Sync of the fields, the count is atomic, and mutation
// needs unique ownership or follows the access rule.
unsafe impl<T: Node> Send for Ref<T> {}
// SAFETY: as above.
unsafe impl<T: Node> Sync for Ref<T> {}

impl<T: Node> Ref<T> {
    /// Allocates an object with these fields.
    #[inline]
    pub fn new(fields: T) -> Ref<T> {
        let layout = const { Layout::new::<Block<T>>() };
        const {
            assert!(
                align_of::<T>() <= 8,
                "fields are aligned to at most eight bytes"
            )
        };
        let index = T::type_index();
        // SAFETY: a block holds a header and the fields, written right here; `index`
        // describes `T` by the contract of `Node`.
        unsafe {
            let pointer = allocate(layout, index);
            pointer.byte_add(HEADER_SIZE).cast::<T>().write(fields);
            Ref::from_raw(pointer)
        }
    }

    /// # Safety
    ///
    /// The caller passes one owned reference to an object of type `T`.
    #[inline]
    pub(super) unsafe fn from_raw(pointer: NonNull<Header>) -> Ref<T> {
        Ref {
            pointer,
            kind: PhantomData,
        }
    }

    /// The pointer, with the reference it owns.
    #[inline]
    pub(super) fn into_raw(self) -> NonNull<Header> {
        ManuallyDrop::new(self).pointer
    }

    #[inline(always)]
    pub(super) fn raw(&self) -> NonNull<Header> {
        self.pointer
    }

    #[inline(always)]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: this reference keeps the object alive.
        unsafe { self.pointer.as_ref() }
    }

    /// The object, borrowed and without its static type.
    #[inline(always)]
    pub(crate) fn borrowed(&self) -> ObjRef<'_> {
        // SAFETY: alive while `self` is borrowed.
        unsafe { ObjRef::new(self.pointer) }
    }

    /// The type of the object itself, `T` or an extending type.
    #[inline]
    pub fn type_info(&self) -> &'static TypeInfo {
        table::info(self.header().type_index)
    }

    /// The index of [`type_info`](Self::type_info), without reading the table.
    #[inline(always)]
    pub fn type_index(&self) -> TypeIndex {
        self.header().type_index
    }

    /// True if both point to the same object. O(1).
    #[inline]
    pub fn same_as<U: Node>(&self, other: &Ref<U>) -> bool {
        self.pointer == other.pointer
    }

    /// The object's identity number: unique in the process, never reused, and
    /// the same in every run of a single-threaded program.
    #[inline]
    pub fn identity(&self) -> u64 {
        self.header().ident()
    }

    /// The current number of owners of the object.
    pub fn owners(&self) -> u32 {
        self.header().count()
    }

    /// True if the object's type is `U` or extends `U`. O(1).
    #[inline]
    pub fn isa<U: Node>(&self) -> bool {
        table::is_a(self.header().type_index, U::type_index())
    }

    /// Converts to the parent type. Free.
    #[inline]
    pub fn upcast(self) -> Ref<T::Parent> {
        // SAFETY: the parent's fields are a prefix of the type's fields.
        unsafe { Ref::from_raw(self.into_raw()) }
    }

    /// Converts to an object of unknown type. Free.
    #[inline]
    pub fn into_object(self) -> Ref<Obj> {
        // SAFETY: every object is an `Obj`.
        unsafe { Ref::from_raw(self.into_raw()) }
    }

    /// Borrows as an object of unknown type. Free.
    #[inline]
    pub fn as_object(&self) -> &Ref<Obj> {
        // SAFETY: both are repr(transparent) over the pointer, and every
        // object is an `Obj`.
        unsafe { &*(&raw const *self).cast::<Ref<Obj>>() }
    }

    /// Converts to a `U`, if the object is a `U`; otherwise returns a `TypeError`
    /// naming both types. O(1).
    pub fn cast<U: Node>(self) -> Result<Ref<U>> {
        if self.isa::<U>() {
            // SAFETY: just checked.
            return Ok(unsafe { Ref::from_raw(self.into_raw()) });
        }
        Err(Error::type_error(format!(
            "expected {}, got {}",
            U::TYPE_KEY,
            self.type_info().key()
        )))
    }

    /// Borrows as a `&Ref<U>`, if the object is a `U`. O(1).
    #[inline]
    pub fn downcast_ref<U: Node>(&self) -> Option<&Ref<U>> {
        if !self.isa::<U>() {
            return None;
        }
        // SAFETY: just checked; both are repr(transparent) over the pointer.
        Some(unsafe { &*(&raw const *self).cast::<Ref<U>>() })
    }

    /// The fields for writing, if this is the only owner.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if !self.header().is_unique() {
            return None;
        }
        self.header().renew_ident();
        // SAFETY: `&mut self` is the only reference, so nobody else can read or clone
        // the object while the returned borrow lives.
        Some(unsafe { self.pointer.byte_add(HEADER_SIZE).cast::<T>().as_mut() })
    }
}

impl<T: Node> Deref for Ref<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object is alive and starts its fields with a `T`.
        unsafe { self.pointer.byte_add(HEADER_SIZE).cast::<T>().as_ref() }
    }
}

impl<T: Node> Clone for Ref<T> {
    #[inline]
    fn clone(&self) -> Self {
        self.header().retain();
        Ref {
            pointer: self.pointer,
            kind: PhantomData,
        }
    }
}

impl<T: Node> Drop for Ref<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this value owns one reference and is being dropped.
        unsafe { release(self.pointer) };
    }
}

impl<T: Node> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.same_as(other)
    }
}

impl<T: Node> Eq for Ref<T> {}

impl<T: Node> std::hash::Hash for Ref<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.identity());
    }
}

impl<T: Node> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::kernel::display::debug_object(self.borrowed()))
    }
}

/// The destructor of a native payload, for the type table.
///
/// # Safety
///
/// The object must be a live `Block<T>`, without later uses of its payload.
pub(super) unsafe fn drop_payload<T>(object: NonNull<Header>) {
    // SAFETY: promised by the caller.
    unsafe { object.byte_add(HEADER_SIZE).cast::<T>().drop_in_place() };
}

/// The layout of an object with a `T` as its fields.
pub(super) const fn block_layout<T>() -> Layout {
    Layout::new::<Block<T>>()
}

#[cfg(test)]
mod tests {
    use super::{Obj, Ref};

    /// From this count on, an object is never freed.
    const SATURATED: u32 = 1 << 31;

    #[test]
    fn a_saturated_count_stays_and_never_wraps() {
        let mut object = Ref::new(Obj {});
        object.header().set_count_for_test(SATURATED - 1);
        let at_the_limit = object.clone();
        assert_eq!(object.owners(), SATURATED);
        drop(at_the_limit);
        assert_eq!(object.owners(), SATURATED);

        let beyond = object.clone();
        let pinned = object.owners();
        assert!(pinned > SATURATED);
        for _ in 0..100 {
            drop(object.clone());
        }
        drop(beyond);
        assert!(object.owners() >= pinned);

        object.header().set_count_for_test(u32::MAX);
        let last = object.clone();
        assert!(object.owners() >= SATURATED);
        assert!(object.get_mut().is_none());
        drop(last);
        assert!(object.owners() >= SATURATED);
        // The test itself leaks nothing.
        object.header().set_count_for_test(1);
    }

    #[test]
    fn the_last_decrement_is_the_one_from_one() {
        let object = Ref::new(Obj {});
        object.header().set_count_for_test(3);
        drop(object.clone());
        assert_eq!(object.owners(), 3);
        object.header().set_count_for_test(1);
        assert!(object.header().release());
    }
}
