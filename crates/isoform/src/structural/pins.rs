//! Snapshots of what can change below a value.

use hashbrown::{HashMap, HashSet};

use crate::container::{DictObj, ListObj};
use crate::error::Result;
use crate::object::access::Poll;
use crate::object::arena::Arena;
use crate::object::dynamic::shallow_copy;
use crate::object::reference::{Obj, Ref};
use crate::object::view::ObjRef;
use crate::value::Value;
use crate::visit::{WalkOptions, WalkOrder, WalkResult, structural_walk};

/// What each list, dict and object with mutable fields below a value held at
/// one moment, by identity.
///
/// Such an object is pinned as a copy that nobody else has: the copy gives the
/// fields, the object itself its identity.
#[derive(Default)]
pub(crate) struct Pins {
    contents: HashMap<u64, Ref<Obj>, rapidhash::fast::RandomState>,
}

impl Pins {
    /// The content that the object with this identity had.
    pub(crate) fn get(&self, ident: u64) -> Option<&Ref<Obj>> {
        self.contents.get(&ident)
    }

    /// The contents of all that can change below a value. O(n) time and space
    /// in the number of objects below it.
    ///
    /// # Errors
    ///
    /// `ValueError` for a value that contains itself.
    pub(crate) fn of(value: &Value) -> Result<Pins> {
        let mut pins = Pins::default();
        let mut waiting = vec![value.clone()];
        // The copies, and what was met and cannot change: each is entered once,
        // though it may be met in many of the walks.
        let mut copies = HashSet::<u64, rapidhash::fast::RandomState>::default();
        let mut entered = copies.clone();
        let order = WalkOptions::default().order(WalkOrder::Pre);
        // Each walk counts its own steps, and most have few.
        let mut poll = Poll::default();
        while let Some(value) = waiting.pop() {
            poll.step_outside()?;
            structural_walk(&value, order, |visit| {
                let Some(object) = visit.object() else {
                    return Ok(WalkResult::<()>::Advance);
                };
                let ident = object.identity();
                if pins.contents.contains_key(&ident) {
                    return Ok(WalkResult::Skip);
                }
                let content = if let Some(content) = content(object.borrowed()) {
                    content
                } else if object.type_info().may_change() && !copies.contains(&ident) {
                    let copy = shallow_copy(object);
                    copies.insert(copy.identity());
                    copy
                } else if object.owners() > 1 && !entered.insert(ident) {
                    return Ok(WalkResult::Skip);
                } else {
                    return Ok(WalkResult::Advance);
                };
                // The snapshot is walked, not what the object holds by then,
                // so that nothing in it is left unpinned.
                pins.contents.insert(ident, content.clone());
                waiting.push(content.into());
                Ok(WalkResult::Skip)
            })?;
        }
        Ok(pins)
    }
}

/// The object whose fields stand for this one's: as they were when the key was
/// made, or the object itself.
#[inline(always)]
pub(super) fn content_of<'a>(pins: Option<&'a Pins>, object: ObjRef<'a>) -> ObjRef<'a> {
    match pins {
        None => object,
        Some(pins) => pinned_content(pins, object),
    }
}

#[cold]
#[inline(never)]
fn pinned_content<'a>(pins: &'a Pins, object: ObjRef<'a>) -> ObjRef<'a> {
    pins.get(object.ident()).map_or(object, Ref::borrowed)
}

/// What a list or dict holds now; None for any other object.
fn content(object: ObjRef<'_>) -> Option<Ref<Obj>> {
    if let Some(list) = object.downcast::<ListObj>() {
        return Some(list.snapshot().reference().clone().into_object());
    }
    let dict = object.downcast::<DictObj>()?;
    Some(dict.snapshot().reference().clone().into_object())
}

/// What a list or dict holds, or held when its key was made.
pub(super) fn snapshot<'a>(
    arena: &'a Arena,
    pins: Option<&'a Pins>,
    object: ObjRef<'a>,
) -> ObjRef<'a> {
    if let Some(pinned) = pins.and_then(|pins| pins.get(object.ident())) {
        return pinned.borrowed();
    }
    content(object).map_or(object, |content| arena.keep(content))
}
