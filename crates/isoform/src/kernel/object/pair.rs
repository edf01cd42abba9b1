//! Two objects of one type, read side by side: equality's access to fields.

use std::ptr::NonNull;

use super::access::{self, Section};
use super::field::Storage;
use super::header::Header;
use super::raw_value::Value;
use super::slot::Slot;
use super::table::TypeInfo;
use super::view::{FieldValue, ObjRef};
use crate::kernel::value::DType;

/// Two borrowed objects of the same type.
///
/// The type is looked up once for both, and each field's storage is matched once for
/// both.
#[derive(Clone, Copy)]
pub(crate) struct ObjPair<'a> {
    left: ObjRef<'a>,
    right: ObjRef<'a>,
    // Always the entry of the type of both.
    info: &'static TypeInfo,
}

/// The contents of a field of two objects that live for `'a`, lent for `'l`.
#[derive(Clone, Copy)]
pub(crate) enum FieldPair<'a, 'l> {
    Objects(ObjRef<'a>, ObjRef<'a>),
    Values(FieldValue<'a, 'l>, FieldValue<'a, 'l>),
    Floats(f64, f64),
    /// A pair whose equality is already decided.
    Same(bool),
}

impl<'a> ObjPair<'a> {
    /// Returns None if the types differ.
    #[inline(always)]
    pub(crate) fn new(left: ObjRef<'a>, right: ObjRef<'a>) -> Option<Self> {
        (left.type_index() == right.type_index()).then(|| ObjPair {
            left,
            right,
            info: left.info(),
        })
    }

    #[inline(always)]
    pub(crate) fn left(self) -> ObjRef<'a> {
        self.left
    }

    #[inline(always)]
    pub(crate) fn right(self) -> ObjRef<'a> {
        self.right
    }

    #[inline(always)]
    pub(crate) fn info(self) -> &'static TypeInfo {
        self.info
    }

    /// True if either object has more than one owner.
    #[inline(always)]
    pub(crate) fn is_shared(self) -> bool {
        self.left.is_shared() || self.right.is_shared()
    }

    /// A compared field, by its position in the order of visit.
    #[inline(always)]
    pub(crate) fn visited<'l>(
        self,
        section: &'l Section,
        position: usize,
    ) -> Option<(&'static Slot, FieldPair<'a, 'l>)> {
        let slot = self.info.visited.get(position)?;
        // SAFETY: the slot belongs to the type of both.
        Some((slot, unsafe { self.load(section, slot) }))
    }

    /// # Safety
    ///
    /// `slot` must come from [`Self::info`].
    #[inline(always)]
    unsafe fn load<'l>(self, _: &'l Section, slot: &Slot) -> FieldPair<'a, 'l> {
        access::assert_inside();
        // SAFETY: the slot describes an initialised field of both objects, and nobody
        // writes the fields for `'l`, during which this thread is in a section.
        unsafe {
            let left = self.left.field(slot);
            let right = self.right.field(slot);
            // A separate branch is predicted better than a jump table.
            if slot.storage == Storage::Object {
                return FieldPair::Objects(
                    ObjRef::new(left.cast::<NonNull<Header>>().read()),
                    ObjRef::new(right.cast::<NonNull<Header>>().read()),
                );
            }
            std::hint::cold_path();
            match slot.storage {
                Storage::Int => FieldPair::Same(left.cast::<i64>().read() == right.cast().read()),
                Storage::Value | Storage::Str => {
                    let left = FieldValue::new(left.cast::<Value>().as_ref());
                    FieldPair::Values(left, FieldValue::new(right.cast().as_ref()))
                }
                Storage::Object | Storage::NullableObject => {
                    let left = NonNull::new(left.cast::<*mut Header>().read());
                    let right = NonNull::new(right.cast::<*mut Header>().read());
                    match (left, right) {
                        (Some(left), Some(right)) => {
                            FieldPair::Objects(ObjRef::new(left), ObjRef::new(right))
                        }
                        (left, right) => FieldPair::Same(left == right),
                    }
                }
                Storage::Float => FieldPair::Floats(left.cast().read(), right.cast().read()),
                Storage::Bool => FieldPair::Same(left.cast::<bool>().read() == right.cast().read()),
                Storage::DType => {
                    FieldPair::Same(left.cast::<DType>().read() == right.cast().read())
                }
            }
        }
    }
}
