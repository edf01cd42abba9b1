//! The contents of containers: where their payloads are told apart.

use std::ptr::NonNull;

use super::access::Section;
use super::class::Payload;
use super::header::{HEADER_SIZE, Header};
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::table::TypeInfo;
use super::view::ObjRef;
use crate::kernel::container::{Array, ArrayObj, DictObj, Entries, ListObj, Map, Mutable};

/// A list or dict, by its contents.
#[derive(Clone, Copy)]
pub(crate) enum MutableContents<'a> {
    Items(&'a Mutable<Array>),
    Entries(&'a Mutable<Map>),
}

impl<'a> ObjRef<'a> {
    /// The items of an array; None for any other object.
    #[inline]
    #[doc(hidden)]
    pub fn items(self) -> Option<&'a [Value]> {
        self.downcast().map(ArrayObj::items)
    }

    /// The entries of a map; None for any other object.
    #[inline]
    pub(crate) fn entries(self) -> Option<&'a Entries> {
        self.downcast()
    }

    /// Calls `visit` with the items of an array, or the keys and values of a map.
    #[inline]
    pub(crate) fn each_part(self, visit: impl FnMut(&'a Value)) {
        match self.info().class() {
            Payload::Sequence => self.items().into_iter().flatten().for_each(visit),
            Payload::Mapping => {
                let entries = self.entries().into_iter();
                entries.flat_map(Entries::parts).for_each(visit);
            }
            _ => {}
        }
    }

    /// The list or dict; None for any other object.
    #[inline(always)]
    pub(crate) fn changing(self) -> Option<MutableContents<'a>> {
        match self.type_index() {
            ListObj::INDEX => self.downcast().map(MutableContents::Items),
            DictObj::INDEX => {
                let dict = self.downcast::<DictObj>()?;
                Some(MutableContents::Entries(&dict.entries))
            }
            _ => None,
        }
    }

    /// The contents of a list or dict, lent to the traversal; None for any other
    /// object.
    #[inline]
    pub(crate) fn held(self, section: &Section) -> Option<ObjRef<'a>> {
        Some(match self.changing()? {
            MutableContents::Items(list) => list.lend(section),
            MutableContents::Entries(dict) => dict.lend(section),
        })
    }

    /// True if this is a list or dict that may be part of a cycle.
    #[inline]
    pub(crate) fn may_lead_back(self) -> bool {
        match self.changing() {
            Some(MutableContents::Items(list)) => list.is_tracked(),
            Some(MutableContents::Entries(dict)) => dict.is_tracked(),
            None => false,
        }
    }

    /// The contents of a list or dict, for the collector of cycles.
    ///
    /// # Safety
    ///
    /// Nobody may write meanwhile.
    pub(super) unsafe fn peek_held(self) -> Option<NonNull<Header>> {
        use super::guarded::Content;
        // SAFETY: promised by the caller.
        Some(unsafe {
            match self.changing()? {
                MutableContents::Items(list) => list.held.peek().raw(),
                MutableContents::Entries(dict) => dict.held.peek().raw(),
            }
        })
    }

    /// Moves the contents out of a list or dict.
    ///
    /// # Safety
    ///
    /// The writer's lock must be held, and nobody else may reach the object.
    pub(super) unsafe fn take_held(self) -> Option<Value> {
        // SAFETY: promised by the caller.
        Some(unsafe {
            match self.changing()? {
                MutableContents::Items(list) => list.held.take().into(),
                MutableContents::Entries(dict) => dict.held.take().into(),
            }
        })
    }
}

/// Returns a copy of a container, sharing its parts; returns other objects of built-in
/// types unchanged.
pub(super) fn shallow_copy(object: &Ref<Obj>) -> Ref<Obj> {
    macro_rules! copy {
        ($($payload:ty),*) => {
            match object.type_index() {
                $(<$payload>::INDEX => {
                    let payload = object.downcast_ref::<$payload>();
                    payload.map(|payload| Ref::new(payload.copy_payload()).into_object())
                })*
                _ => None,
            }
        };
    }
    let copy = copy!(ArrayObj, ListObj, Entries, DictObj);
    copy.unwrap_or_else(|| object.clone())
}

/// Allocates a container of a type, to be filled by [`fill_copy`].
pub(super) fn unfilled(info: &TypeInfo) -> NonNull<Header> {
    match info.index {
        ArrayObj::INDEX => Ref::new(ArrayObj::default()).into_raw(),
        ListObj::INDEX => Ref::new(ListObj::holding(Array::new())).into_raw(),
        Entries::INDEX => Ref::new(Entries::default()).into_raw(),
        DictObj::INDEX => Ref::new(DictObj::holding(Map::new())).into_raw(),
        _ => unreachable!("the type is one of containers"),
    }
}

/// Fills a container with copies of the parts of another container.
///
/// # Safety
///
/// `copy` must have been made by [`unfilled`] for the type of `source`, and nobody may
/// have seen it yet.
pub(super) unsafe fn fill_copy(
    section: &Section,
    source: ObjRef<'_>,
    copy: NonNull<Header>,
    mut part: impl FnMut(&Value) -> Value,
) {
    // SAFETY: the payload follows the header, has the type of the source's, and is
    // reached by nobody else, as the caller promises.
    unsafe {
        let payload = copy.byte_add(HEADER_SIZE);
        if let Some(items) = source.items() {
            let items = items.iter().map(part).collect();
            *payload.cast::<ArrayObj>().as_mut() = ArrayObj::from_items(items);
        } else if let Some(entries) = source.entries() {
            *payload.cast::<Entries>().as_mut() = Entries::of_copies(entries, part);
        } else {
            match (source.changing(), ObjRef::new(copy).changing()) {
                (Some(MutableContents::Items(source)), Some(MutableContents::Items(copy))) => {
                    copy.fill_copy(source, section, |items| {
                        items.values().iter().map(part).collect()
                    });
                }
                (Some(MutableContents::Entries(source)), Some(MutableContents::Entries(copy))) => {
                    copy.fill_copy(source, section, |entries| {
                        Map::holding(Entries::of_copies(entries.reference(), &mut part))
                    });
                }
                _ => {}
            }
        }
    }
}
