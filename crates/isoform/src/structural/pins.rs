//! Snapshots of the mutable containers below a value.

use hashbrown::HashMap;

use crate::container::{DictObj, ListObj};
use crate::error::Result;
use crate::object::arena::Arena;
use crate::object::reference::{Obj, Ref};
use crate::object::view::ObjRef;
use crate::value::Value;
use crate::visit::{WalkOptions, WalkOrder, WalkResult, structural_walk};

/// What each list and dict below a value held at one moment, by identity.
#[derive(Default)]
pub(crate) struct Pins {
    contents: HashMap<u64, Ref<Obj>, rapidhash::fast::RandomState>,
}

impl Pins {
    /// The content that the container with this identity had.
    pub(crate) fn get(&self, ident: u64) -> Option<&Ref<Obj>> {
        self.contents.get(&ident)
    }

    /// The contents of all lists and dicts below a value.
    ///
    /// # Errors
    ///
    /// `ValueError` for a list or dict that contains itself.
    pub(crate) fn of(value: &Value) -> Result<Pins> {
        let mut pins = Pins::default();
        let mut waiting = vec![value.clone()];
        let order = WalkOptions::default().order(WalkOrder::Pre);
        while let Some(value) = waiting.pop() {
            structural_walk(&value, order, |visit| {
                let Some(object) = visit.object() else {
                    return Ok(WalkResult::<()>::Advance);
                };
                let Some(content) = content(object.borrowed()) else {
                    return Ok(WalkResult::Advance);
                };
                // The snapshot is walked, not what the container holds by
                // then, so that nothing in it is left unpinned.
                if pins
                    .contents
                    .insert(object.identity(), content.clone())
                    .is_none()
                {
                    waiting.push(content.into());
                }
                Ok(WalkResult::Skip)
            })?;
        }
        Ok(pins)
    }
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
