//! The view of a value passed to callbacks of walks and rewrites.

use std::fmt;

use super::cursor::{Cursor, Part, path_of};
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::view::PartRef;
use crate::kernel::path::AccessPath;
use crate::kernel::path::places::Step;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// A value with its place, passed to a callback.
#[derive(Clone, Copy)]
pub struct Visit<'a> {
    pub(super) part: Part<'a>,
    pub(super) ancestors: &'a [Cursor<'a>],
    /// The number of ancestors that are not steps of the path.
    pub(super) stepless: usize,
}

impl Visit<'_> {
    /// The value. For an object, the call adds an owner: prefer
    /// [`object`](Self::object) and [`downcast`](Self::downcast) where they suffice.
    #[inline]
    pub fn value(&self) -> Value {
        self.part.met.to_value()
    }

    /// The object: of a declared type, a container, or any other value stored on the
    /// heap.
    #[inline]
    pub fn object(&self) -> Option<&Ref<Obj>> {
        match &self.part.met {
            PartRef::Object(object) => Some(object.as_ref()),
            PartRef::Plain(_) => None,
        }
    }

    /// The object as a `T`, or None for another type. O(1).
    #[inline]
    pub fn downcast<T: Node>(&self) -> Option<&Ref<T>> {
        self.object()?.downcast_ref()
    }

    /// The region: tells whether variables are bound or used here. With
    /// [`Sharing::Once`](crate::traverse::Sharing::Once), the region belongs to the
    /// first visited place of the object, and other places are not reported.
    #[inline]
    pub fn region(&self) -> RegionKind {
        self.part.region
    }

    /// True for the key of a map or dict. A key has the path of its value.
    #[inline]
    pub fn is_key(&self) -> bool {
        self.part.is_key
    }

    /// The number of steps from the root to this value. O(1).
    #[inline]
    pub fn depth(&self) -> usize {
        self.ancestors.len() - self.stepless
    }

    /// The steps from the root to this value. O(depth).
    pub fn path(&self) -> AccessPath {
        path_of(self.ancestors)
    }

    /// The steps from this value up to the root. O(1) each.
    #[doc(hidden)]
    pub fn steps_upwards(&self) -> impl Iterator<Item = Step> {
        self.ancestors.iter().rev().filter_map(Cursor::step)
    }
}

impl fmt::Debug for Visit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("path", &self.path())
            .field("value", &self.value())
            .field("region", &self.region())
            .finish_non_exhaustive()
    }
}
