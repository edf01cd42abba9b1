//! The current contents of lists, dicts and objects with mutable fields, and their
//! contents when a key was made.

use crate::kernel::object::access::Section;
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build::copy_of_node;
use crate::kernel::object::moment::{Version, Watched};
use crate::kernel::object::view::ObjRef;

/// Lets a walk see objects in their state at an earlier moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshots<'m> {
    moment: &'m Version,
    /// True to read the fields of an object at once, which hides writes during the
    /// walk.
    copies: bool,
    /// True to watch every object that is read.
    watches: bool,
}

impl<'m> Snapshots<'m> {
    /// For a walk without concurrent writes, as the caller checks after the walk; None
    /// if nothing has changed since the moment.
    pub(super) fn of(moment: &'m Version) -> Option<Self> {
        (!moment.is_present()).then(|| Snapshots {
            copies: false,
            ..Snapshots::exact(moment)
        })
    }

    /// For a walk while others write.
    pub(super) fn exact(moment: &'m Version) -> Self {
        Snapshots {
            moment,
            copies: true,
            watches: false,
        }
    }

    /// Like [`exact`](Self::exact), for the moment's first walk.
    pub(super) fn watching(moment: &'m Version) -> Self {
        Snapshots {
            watches: true,
            ..Snapshots::exact(moment)
        }
    }

    #[cold]
    #[inline(never)]
    fn content<'a>(self, arena: &'a Arena, object: ObjRef<'a>) -> ObjRef<'a> {
        if !object.info().may_change() {
            return object;
        }
        if self.watches {
            self.moment.watch(&[object.ident()]);
        }
        match self.moment.saved(object.ident()) {
            Some(saved) => arena.keep(saved),
            None if self.copies => arena.keep(copy_of_node(object.as_ref())),
            None => object,
        }
    }
}

/// The object whose fields represent this object: a copy of its state when the key was
/// made, or the object itself.
#[inline(always)]
pub(super) fn content_of<'a>(
    arena: &'a Arena,
    snapshots: Option<Snapshots<'a>>,
    object: ObjRef<'a>,
) -> ObjRef<'a> {
    match snapshots {
        None => object,
        Some(snapshots) => snapshots.content(arena, object),
    }
}

/// The current contents of a list or dict, or the contents at the time of its key.
#[inline]
pub(super) fn held_by<'a>(
    section: &Section,
    arena: &'a Arena,
    snapshots: Option<Snapshots<'a>>,
    object: ObjRef<'a>,
) -> ObjRef<'a> {
    if let Some(snapshots) = snapshots {
        if snapshots.watches {
            snapshots.moment.watch(&[object.ident()]);
        }
        if let Some(saved) = snapshots.moment.saved(object.ident()) {
            return arena.keep(saved);
        }
    }
    object.held(section).unwrap_or(object)
}

/// Watches the objects of a walk that can change, from the first such object
/// on.
#[derive(Default)]
pub(super) struct Watch {
    moment: Option<Version>,
    idents: Vec<u64>,
    /// For a walk with a short-lived result: the time of the first object that can
    /// change.
    date: Option<Watched>,
    only_dates: bool,
}

impl Watch {
    /// For a walk that only needs to find out later about writes.
    pub(super) fn of_dates() -> Self {
        Watch {
            only_dates: true,
            ..Watch::default()
        }
    }

    pub(super) fn is_of_dates(&self) -> bool {
        self.only_dates
    }

    /// Must be called in the section in which the object is read.
    #[inline]
    pub(super) fn meet(&mut self, object: ObjRef<'_>) {
        self.begin();
        if !self.only_dates {
            self.idents.push(object.ident());
        }
    }

    /// Records that the walk met an object that can change and is already
    /// watched.
    #[inline]
    pub(super) fn begin(&mut self) {
        if self.only_dates {
            self.date.get_or_insert_with(Watched::now);
        } else if self.moment.is_none() {
            self.moment = Some(Version::begin());
        }
    }

    /// The objects to watch among the objects met so far; None if no object met
    /// can change.
    pub(super) fn watched(&self) -> Option<Watched> {
        self.moment.as_ref().map(Version::watched).or(self.date)
    }

    /// The moment at which all objects had the contents that the walk read, unless a
    /// write happened in the meantime; None if no object met can change. Must be called
    /// in the section of the walk.
    pub(super) fn finish(&mut self) -> Option<Version> {
        let moment = self.moment.take()?;
        moment.watch(&self.idents);
        self.idents.clear();
        Some(moment)
    }
}
