//! The effects of comparing an object with itself, so that it need not be visited.
//!
//! An edited program shares most of its objects with the program it was made from. Such
//! an object X is met as the pair (X, X). This page says when skipping the pair is the
//! same as visiting it, whatever was compared before and wherever X is met.
//!
//! **The invariant.** What is remembered of X follows from X alone: the *occurrences* of
//! variables in X, in the order of the visit, except for the variables that scopes inside
//! of X bind. An occurrence uses the variable or defines it. The visit of (X, X) does to the
//! bindings what its occurrences do one after the other, and nothing else, because
//! everything else in X is equal to itself under any bindings. [`Skip::Repeat`]: the
//! comparison does what the occurrences do. This page needs X to be *simple*:
//!
//! * Leaves, nodes of kind `tree` and containers are equal to themselves if their parts are.
//! * Variables in X are *plain*: no variable and no dag node is in their fields, or below.
//!   A variable that is bound where X is met is equal to itself iff it is bound to itself;
//!   if it is unbound, the visit binds it to itself. A variable that a scope inside of X
//!   binds is bound to itself when that scope begins, and unbound when it ends.
//! * The occurrences are few, so that repeating them costs less than a visit.
//!
//! **Graphs.** Another object may contain dag nodes, variables that are not plain, and many
//! variables. [`Skip::Whole`] takes it for equal to itself, which is right iff no dag node
//! and no variable below X is ever paired with another one in this comparison. [`Reach`]
//! knows all that are below X, in fields of variables too, and is asked at the end; if one
//! was paired otherwise, the comparison starts again without skips.
//!
//! The visit of a graph also pairs its dag nodes and its free variables with themselves for
//! the rest of the comparison, and the skip does not. A later visit of a plain variable
//! then does the same. A later visit of a dag node or of a variable that is not plain
//! differs: the visit enters the fields, where other scopes are open than in X. The
//! comparison therefore notes the identity number of the node or variable, and asks
//! [`Reach`] about this number as well. It does not note a variable that a definition field
//! binds in an inner scope: such a field binds the variable once more and enters its fields
//! in any case, whatever an earlier visit has bound at the outermost level.
//!
//! A definition in X that outlives X binds at the level of X, which may end before the
//! comparison does. After a skip, a later use would bind the variable for longer, so such a
//! graph is visited ([`Skip::Defines`]). The scope around the definition ends it, so the
//! graph around the scope may be skipped again.
//!
//! **What this page does not cover is visited** ([`Skip::Never`], also for everything
//! around it): objects whose comparison calls user code or fails; maps with variables or
//! dag nodes as keys, whose bindings decide what they match; variables with definitions in
//! their fields, and dag nodes with definitions that outlive them, since only the first
//! visit of these enters them; cycles.
//!
//! Effects are found at the first meeting and kept by identity number, since objects
//! have no room for them: in each thread about 60 bytes for one of sixteen objects. Effects
//! of what can change are valid until the next write.
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

/// Up to this size, nothing is forgotten.
const LIMIT: usize = 1 << 19;
/// A larger table is forgotten when it is so many times as large as the largest program met
/// since: the rest of it is about programs that nobody compares any more.
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

/// How an object can be skipped. Of a variable, it is [`Skip::Repeat`] if the variable is
/// plain, and [`Skip::Whole`] if not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skip {
    /// By the listed occurrences, which are all.
    Repeat,
    /// With everything below.
    Whole(Place),
    /// Not at all, for the definitions in it; what is around it may be.
    Defines(Place),
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
    /// The size when the current comparison began.
    before: usize,
    /// The most that one comparison has added.
    largest: usize,
}

impl EffectTable {
    /// Begins a comparison. Forgets everything, if types have changed or it is too much.
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
