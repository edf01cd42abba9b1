//! Lists, dicts and objects with mutable fields: what they hold now, and what
//! they held when a key was made.

use crate::container::{DictObj, ListObj};
use crate::object::access;
use crate::object::arena::Arena;
use crate::object::dynamic::shallow_copy;
use crate::object::moment::{self, Moment};
use crate::object::shelf::{content_now, watch_content};
use crate::object::view::ObjRef;

/// How a walk looks at objects as they were at an earlier moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pins {
    at: u64,
    /// Reads the fields of an object at once, so that a write during the walk
    /// is not seen.
    copies: bool,
    /// Watches what it reads.
    watches: bool,
}

impl Pins {
    /// For a walk during which nobody writes, as will be found after it; None
    /// where nothing has changed since the moment.
    pub(super) fn of(moment: &Moment) -> Option<Pins> {
        (!moment.is_present()).then(|| Pins {
            copies: false,
            ..Pins::exact(moment)
        })
    }

    /// For a walk while others write.
    pub(super) fn exact(moment: &Moment) -> Pins {
        Pins {
            at: moment.at(),
            copies: true,
            watches: false,
        }
    }

    /// As [`exact`](Self::exact), for the moment's first walk.
    pub(super) fn watching(moment: &Moment) -> Pins {
        Pins {
            watches: true,
            ..Pins::exact(moment)
        }
    }

    #[cold]
    #[inline(never)]
    fn content<'a>(self, arena: &'a Arena, object: ObjRef<'a>) -> ObjRef<'a> {
        if !object.info().may_change() {
            return object;
        }
        if self.watches {
            moment::watch(object.ident(), self.at);
        }
        match moment::saved(object.ident(), self.at) {
            Some(saved) => arena.keep(saved),
            None if self.copies => arena.keep(shallow_copy(object.as_ref())),
            None => object,
        }
    }
}

/// The object whose fields stand for this one's: as they were when the key was
/// made, or the object itself.
#[inline(always)]
pub(super) fn content_of<'a>(
    arena: &'a Arena,
    pins: Option<Pins>,
    object: ObjRef<'a>,
) -> ObjRef<'a> {
    match pins {
        None => object,
        Some(pins) => pins.content(arena, object),
    }
}

/// What a list or dict holds, or held when its key was made.
pub(super) fn snapshot<'a>(arena: &'a Arena, pins: Option<Pins>, object: ObjRef<'a>) -> ObjRef<'a> {
    let Some(pins) = pins else {
        return content_now(object, arena);
    };
    if pins.watches {
        watch_content(object, pins.at);
    }
    // In this order: a change saves first, so either it is not seen in what
    // the object holds, or it is found.
    let content = content_now(object, arena);
    moment::saved(object.ident(), pins.at).map_or(content, |saved| arena.keep(saved))
}

/// Whether a cycle may go through an edge that was put into this list or dict.
/// One whose elements all existed when it was made closes none, so it need not
/// be watched for being met inside itself: another object of the cycle is.
#[inline]
pub(super) fn may_close_cycle(object: ObjRef<'_>) -> bool {
    access::may_have_cycles()
        || match object.downcast::<ListObj>() {
            Some(list) => list.may_close_cycle(),
            None => object
                .downcast::<DictObj>()
                .is_some_and(DictObj::may_close_cycle),
        }
}

/// Watches what a walk meets that can change, from the first such object on.
#[derive(Default)]
pub(super) struct Watch {
    moment: Option<Moment>,
    idents: Vec<u64>,
}

impl Watch {
    /// To be called before anything in the object is read.
    pub(super) fn meet(&mut self, object: ObjRef<'_>) {
        let moment = self.moment.get_or_insert_with(Moment::begin);
        if !watch_content(object, moment.at()) {
            self.idents.push(object.ident());
        }
    }

    /// The moment at which everything was as the walk met it, if that can
    /// change, and whether that is certain. To be called in the walk's section.
    pub(super) fn finish(self) -> Option<(Moment, bool)> {
        let moment = self.moment?;
        let undisturbed = moment.watch(&self.idents);
        Some((moment, undisturbed))
    }
}
