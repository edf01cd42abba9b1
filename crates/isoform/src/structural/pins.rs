//! Snapshots of the mutable containers below a value.

use hashbrown::HashMap;

use crate::object::reference::{Obj, Ref};

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
