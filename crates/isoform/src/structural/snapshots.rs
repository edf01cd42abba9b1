//! Lists, dicts and objects with mutable fields: what they hold now, and what
//! they held when a key was made.

use crate::kernel::object::access::Section;
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build::copy_of_node;
use crate::kernel::object::moment::{Moment, Watched};
use crate::kernel::object::view::ObjRef;

/// How a walk looks at objects as they were at an earlier moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshots<'m> {
    moment: &'m Moment,
    /// Reads the fields of an object at once, so that a write during the walk
    /// is not seen.
    copies: bool,
    /// Watches what it reads.
    watches: bool,
}

impl<'m> Snapshots<'m> {
    /// For a walk during which nobody writes, as will be found after it; None
    /// where nothing has changed since the moment.
    pub(super) fn of(moment: &'m Moment) -> Option<Self> {
        (!moment.is_present()).then(|| Snapshots {
            copies: false,
            ..Snapshots::exact(moment)
        })
    }

    /// For a walk while others write.
    pub(super) fn exact(moment: &'m Moment) -> Self {
        Snapshots {
            moment,
            copies: true,
            watches: false,
        }
    }

    /// As [`exact`](Self::exact), for the moment's first walk.
    pub(super) fn watching(moment: &'m Moment) -> Self {
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

/// The object whose fields stand for this one's: as they were when the key was
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

/// What a list or dict holds, or held when its key was made.
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

/// Watches what a walk meets that can change, from the first such object on.
#[derive(Default)]
pub(super) struct Watch {
    moment: Option<Moment>,
    idents: Vec<u64>,
}

impl Watch {
    /// To be called in the section in which the object is read.
    #[inline]
    pub(super) fn meet(&mut self, object: ObjRef<'_>) {
        self.begin();
        self.idents.push(object.ident());
    }

    /// Something was met that can change, and is watched already.
    #[inline]
    pub(super) fn begin(&mut self) {
        if self.moment.is_none() {
            self.moment = Some(Moment::begin());
        }
    }

    /// What was met so far and will be watched; None if none of it can change.
    pub(super) fn watched(&self) -> Option<Watched> {
        self.moment.as_ref().map(Moment::watched)
    }

    /// The moment at which everything was as the walk met it, if that can
    /// change; unless somebody wrote meanwhile. To be called in the section of
    /// the walk.
    pub(super) fn finish(&mut self) -> Option<Moment> {
        let moment = self.moment.take()?;
        moment.watch(&self.idents);
        self.idents.clear();
        Some(moment)
    }
}
