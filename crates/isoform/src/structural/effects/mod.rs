//! The effects of comparing an object with itself, known without a visit.
//!
//! An edited program shares most of its objects with the original program. Such an
//! object X is met as the pair (X, X). This page says when skipping the pair is the
//! same as visiting it, for any earlier comparisons and for any place of X.
//!
//! **The invariant.** The remembered facts about X follow from X alone: the
//! *occurrences* of variables in X, in the order of the visit, except for the variables
//! bound by scopes inside of X. An occurrence uses the variable or defines it. The
//! visit of (X, X) has the effects of these occurrences on the bindings, one after the
//! other, and no other effects. All other parts of X are equal to themselves under any
//! bindings. [`Skip::Repeat`]: the comparison repeats the occurrences. This page needs
//! X to be *simple*:
//!
//! * Leaves, nodes of kind `tree` and containers are equal to themselves if their parts are.
//! * Variables in X are *plain*: no variable and no dag node is in their fields, or
//!   below. A variable that is bound around X is equal to itself iff it is bound to
//!   itself; an unbound variable is bound to itself by the visit. A variable bound by a
//!   scope inside of X is bound to itself when that scope begins, and unbound when the
//!   scope ends.
//! * The occurrences are few, and repeating them costs less than a visit.
//!
//! **Graphs.** Another object X may contain dag nodes, variables that are not plain,
//! and many variables. [`Skip::Whole`] takes X for equal to itself, which is right iff
//! no dag node and no variable below X is ever paired with another object in this
//! comparison. [`Reach`] knows all dag nodes and variables below X, even in fields of
//! variables, and is asked at the end. If any of them was paired otherwise, the
//! comparison starts again without skips.
//!
//! The visit of a graph also pairs its dag nodes and its free variables with themselves
//! for the rest of the comparison, and the skip does not. A later visit of a plain
//! variable then does the same. A later visit of a dag node or of a variable that is
//! not plain differs: the visit enters the fields, where other scopes are open than in
//! X. The comparison therefore notes the identity number of the node or variable, and
//! asks [`Reach`] about this number as well. Variables bound by a definition field in
//! an inner scope are not noted. Such a field binds the variable once more and enters
//! its fields in any case, independent of earlier bindings at the outermost level.
//!
//! A definition in X that outlives X binds at the level of X, which may end before the
//! comparison does. After a skip, a later use would bind the variable for longer, which
//! is why such a graph is visited ([`Skip::Defines`]). The scope around the definition
//! ends the binding, and the graph around the scope may be skipped again.
//!
//! **All cases not covered by this page are visited** ([`Skip::Never`], also for all
//! objects around): objects whose comparison calls user code or fails; maps with
//! variables or dag nodes as keys, whose bindings decide the matching keys; variables
//! with definitions in their fields, and dag nodes with definitions that outlive them,
//! since only the first visit of such an object enters its fields; cycles.
//!
//! Effects are found at the first meeting and kept by identity number, since objects
//! have no room for them: in each thread about 60 bytes for one of sixteen objects.
//! Effects of mutable objects are valid until the next write.
//!
//! The table of a thread also grows by the edges between dag nodes (`reach.rs`).

mod reach;
#[cfg(test)]
mod tests;
mod walk;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

pub(crate) use reach::{Place, Reach};
pub(super) use walk::find_effects;

use crate::kernel::object::header::note_remembered;
use crate::kernel::object::moment;

/// Up to this size, no effects are forgotten.
const LIMIT: usize = 1 << 19;
/// A larger table is forgotten at this many times the size of the largest program met
/// since: the remaining effects are about programs that nobody compares any more.
const SURPLUS: usize = 4;
/// The largest size: positions have 32 bits.
const MOST: usize = 1 << 30;

/// Up to this many effects are listed.
pub(crate) const FEW: usize = 32;

/// An occurrence of a plain variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Effect(u64);

impl Effect {
    fn new(ident: u64, defines: bool) -> Self {
        Effect(ident << 1 | u64::from(defines))
    }

    /// The variable's identity number.
    pub(crate) fn ident(self) -> u64 {
        self.0 >> 1
    }

    /// True if the variable is in a definition field at the level of the object.
    pub(crate) fn defines(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The way to skip an object. For a variable, [`Skip::Repeat`] if the variable is
/// plain, and [`Skip::Whole`] if not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skip {
    /// By the complete list of occurrences.
    Repeat,
    /// With all objects below.
    Whole(Place),
    /// Not at all, because of definitions inside; an object around may be skipped.
    Defines(Place),
    /// Not at all, like every object around.
    Never,
}

/// The effects of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effects {
    pub(crate) skip: Skip,
    first: u32,
    count: u32,
    /// The time of the last write before the effects were found, if they can change.
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
    /// The size when the current comparison began.
    before: usize,
    /// The most that one comparison has added.
    largest: usize,
}

impl EffectTable {
    /// Begins a comparison. Forgets all effects after a change of types, or in a table
    /// that is too large.
    pub(super) fn begin(&mut self) {
        let types = moment::changed_types();
        let size = self.size();
        self.largest = self.largest.max(size - self.before);
        if types != self.types || size > LIMIT.max(SURPLUS * self.largest) {
            *self = EffectTable {
                types,
                ..EffectTable::default()
            };
        }
        self.before = self.size();
    }

    /// The number of objects, occurrences, nodes and edges, as a measure of memory.
    fn size(&self) -> usize {
        self.known.len() + self.listed.len() + self.reach.len()
    }

    fn is_full(&self) -> bool {
        self.size() >= MOST
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
