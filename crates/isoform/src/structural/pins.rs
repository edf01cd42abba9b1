//! Snapshots of the mutable containers below a value.

use hashbrown::HashMap;

use crate::container::{DictObj, ListObj};
use crate::object::arena::Arena;
use crate::object::reference::{Obj, Ref};
use crate::object::view::ObjRef;

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

    pub(crate) fn insert(&mut self, ident: u64, content: Ref<Obj>) {
        self.contents.insert(ident, content);
    }
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
    if let Some(list) = object.downcast::<ListObj>() {
        return arena.keep(list.snapshot().reference().clone().into_object());
    }
    if let Some(dict) = object.downcast::<DictObj>() {
        return arena.keep(dict.snapshot().reference().clone().into_object());
    }
    object
}
