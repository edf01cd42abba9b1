//! The effects of comparing an object with itself, so that it need not be visited.
//!
//! An edited program shares most of its objects with the program it was made from. Such
//! an object is equal to itself, unless a variable in it is bound to another variable, or
//! a dag node in it is paired with another node; and the visit binds what it defines. So
//! the *effects* of an object are the variables that it uses and defines, in order, without
//! those of scopes inside. They depend on nothing around the object.
//!
//! * Where the variables are few, the comparison repeats the effects instead of the visit.
//! * Objects with dag nodes or many variables, which define none, are skipped as a whole.
//!   Everything below them then counts as paired with itself, and [`Reach`] tells at the
//!   end whether something else was assumed elsewhere.
//! * Objects whose comparison calls user code or fails, or may match keys of maps by
//!   bindings, have no known effects, nor has anything around them. The same holds for
//!   variables with dag nodes in their fields, and for dag nodes with definitions that
//!   outlive them: whether a visit enters these depends on earlier ones.
//!
//! Effects are computed at the first meeting and kept by identity number, since objects
//! have no room for them: in each thread about 60 bytes for one of four objects, up to a
//! limit. Effects of what can change are valid until the next write.

mod reach;
mod walk;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

pub(crate) use reach::{Place, Reach};
pub(super) use walk::find_effects;

use crate::kernel::object::header::note_remembered;
use crate::kernel::object::moment;

/// The maximum number of objects with known effects. With more of them, no others are
/// searched for until the next comparison, which forgets all.
const LIMIT: usize = 1 << 17;
/// The same, of edges and listed effects.
const MANY: usize = 1 << 21;

/// Up to this many effects are listed.
pub(crate) const FEW: usize = 32;

/// A variable that is used or defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effect(u64);

impl Effect {
    fn new(ident: u64, defines: bool, is_plain: bool) -> Self {
        Effect(ident << 2 | u64::from(defines) << 1 | u64::from(is_plain))
    }

    /// The variable's identity number.
    pub(crate) fn ident(self) -> u64 {
        self.0 >> 2
    }

    /// True if a definition field at the level of the object contains the variable.
    pub(crate) fn defines(self) -> bool {
        self.0 & 2 != 0
    }

    /// True if the variable's own fields have no effects.
    pub(crate) fn is_plain(self) -> bool {
        self.0 & 1 != 0
    }
}

/// How an object can be skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skip {
    /// By the listed effects, which are all.
    Repeat,
    /// With everything below; the listed effects are all.
    Whole(Place),
    /// With everything below, which has more effects than are listed.
    Wide(Place),
    /// Not at all, for the definitions in it; what is around it may be.
    Defines,
    /// Not at all, nor anything around it.
    Never,
}

/// The effects of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effects {
    pub(crate) skip: Skip,
    first: u32,
    count: u32,
    /// The time of the last write before they were found, if they can change.
    date: Option<u64>,
}

impl Effects {
    /// The number of listed effects.
    pub(super) fn len(self) -> usize {
        self.count as usize
    }

    /// True if nothing is used or defined.
    pub(super) fn is_nothing(self) -> bool {
        self.skip == Skip::Repeat && self.count == 0
    }
}

/// The known effects of one thread.
#[derive(Default)]
pub(crate) struct EffectTable {
    known: HashMap<u64, Effects, RandomState>,
    listed: Vec<Effect>,
    pub(crate) reach: Reach,
    /// See [`moment::changed_types`].
    types: u64,
}

impl EffectTable {
    /// Forgets everything, if types have changed or it is too much.
    pub(super) fn begin(&mut self) {
        let types = moment::changed_types();
        if types != self.types || self.is_full() {
            self.known = HashMap::default();
            self.listed = Vec::new();
            self.reach.clear();
            self.types = types;
        }
    }

    fn is_full(&self) -> bool {
        self.known.len() >= LIMIT || self.listed.len() + self.reach.len() >= MANY
    }

    /// The effects of an object, if they are known.
    #[inline]
    pub(super) fn find(&self, ident: u64) -> Option<Effects> {
        let effects = *self.known.get(&ident)?;
        let is_valid = effects.date.is_none_or(|date| date == moment::time())
            && self.types == moment::changed_types();
        is_valid.then_some(effects)
    }

    pub(super) fn listed(&self, effects: Effects) -> &[Effect] {
        &self.listed[effects.first as usize..(effects.first + effects.count) as usize]
    }

    fn put(&mut self, ident: u64, skip: Skip, listed: &[Effect], date: Option<u64>) {
        note_remembered(ident);
        let first = self.listed.len() as u32;
        self.listed.extend_from_slice(listed);
        let effects = Effects {
            skip,
            first,
            count: listed.len() as u32,
            date,
        };
        self.known.insert(ident, effects);
    }
}
