//! Scope levels, and the dependencies of subtrees.
//!
//! Both engines remember results for shared nodes. A result remains valid as long as
//! the bindings used are in force. During the visit of a node, this module therefore
//! collects the levels of the bindings used. A few bindings are also collected
//! individually: the same node met again with the same bindings of its variables has
//! the same result ([`Environments`]).
//!
//! [`Environments`]: super::environments::Environments
//!
//! Every binding has the level of the scope that ends the binding; level 0 never ends.
//! A result is remembered with the levels used. The result is valid as long as the
//! scope of the highest level is open and none of the variables is shadowed. A result
//! that used no level is valid for the whole comparison. When the scope of the highest
//! level ends, results around this result depend on the next lower level, which is why
//! recording only the highest level would not suffice. A visit is not remembered at all
//! if the visit made a binding under which a second visit would go a different way.
//!
//! Once a result of a node has become invalid, `environments.rs` also keeps the node's
//! later results, by the names of the variables that the node reads. Up to sixteen of
//! these variables are tracked individually, which saves extra visits when scopes
//! alternately bind the same variables.

use smallvec::SmallVec;

use super::level_set::LevelSet;
use super::scope::Region;
use crate::kernel::pages::empty;

/// One variable binding that was used during a part of the visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    /// The number of the binding.
    pub(crate) binding: u32,
    /// The level at whose end the binding ends.
    level: u32,
    /// True if the variable was met in a definition field, which would have bound the
    /// variable if it had been unbound.
    pub(crate) defined: bool,
}

impl Use {
    /// True if this use implies the other one.
    #[inline(always)]
    fn covers(self, other: Use) -> bool {
        self.binding == other.binding && self.defined >= other.defined
    }
}

/// Up to this many uses are stored individually; beyond that, only levels are stored
/// for the highest uses.
pub(crate) const FEW: usize = 16;

/// The bindings used during a part of the visit, except for bindings of scopes that
/// have ended since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deps {
    /// The levels of bindings used.
    used: LevelSet,
    /// The lowest level of a variable binding used.
    lowest_var: u32,
    /// The lowest level of a variable binding used in the region of a definition field.
    lowest_def: u32,
    /// The lowest level of a new binding that would change a second visit.
    created: u32,
    /// The start of this part's uses in [`Levels::uses`].
    first_use: u32,
    /// Uses of this level and above are incomplete.
    lost: u32,
    /// One more than the newest dag pair used.
    newest_dag: u32,
    /// True if an abandoned alternative used bindings.
    given_up: bool,
}

impl Deps {
    pub(crate) const NOTHING: Deps = Deps {
        used: LevelSet::EMPTY,
        lowest_var: u32::MAX,
        lowest_def: u32::MAX,
        created: u32::MAX,
        first_use: 0,
        lost: u32::MAX,
        newest_dag: 0,
        given_up: false,
    };

    #[inline]
    fn add(&mut self, other: Deps) {
        self.used.unite(other.used);
        self.lowest_var = self.lowest_var.min(other.lowest_var);
        self.lowest_def = self.lowest_def.min(other.lowest_def);
        self.created = self.created.min(other.created);
        self.newest_dag = self.newest_dag.max(other.newest_dag);
        self.given_up |= other.given_up;
    }

    /// Drops the records of the highest level when this level ends.
    fn end_level(&mut self, level: u32) {
        self.used.remove_highest(level);
        for lowest in [
            &mut self.lowest_var,
            &mut self.lowest_def,
            &mut self.created,
            &mut self.lost,
        ] {
            if *lowest >= level {
                *lowest = u32::MAX;
            }
        }
    }

    /// True if the part made and used no bindings, except for bindings of scopes
    /// inside.
    pub(crate) fn is_nothing(&self) -> bool {
        self.used.highest().is_none() && self.created == u32::MAX && !self.given_up
    }
}

/// The conditions for the validity of a remembered result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValidUntil {
    /// The levels of bindings used. The result is valid while the highest level is
    /// open, since the scopes of the other levels are around that scope. Whoever uses
    /// the result uses all of these levels, and may outlive some.
    pub(crate) used: LevelSet,
    /// The lowest level of a variable used: a definition region of a higher
    /// level would rebind it.
    lowest_var: u32,
    /// The lowest level of a variable used in a definition field: in a scope of a
    /// higher level, the field would rebind the variable.
    lowest_def: u32,
    /// The variables used, as a range of [`Levels::kept`].
    kept: (u32, u32),
    /// As in [`Deps`].
    lost: u32,
    pub(crate) newest_dag: u32,
}

impl ValidUntil {
    /// True if all variables used are known. The result can then be found again
    /// wherever the variables have the same bindings.
    pub(crate) fn is_exact(&self) -> bool {
        self.used.highest().is_some() && self.lost == u32::MAX
    }
}

/// The open scopes and the clock that dates remembered results.
pub(crate) struct Levels {
    /// Per level, outermost first: the date before which results with this highest
    /// level are void.
    open: Vec<u64>,
    clock: u64,
    /// The date before which results that use any binding are void.
    since: u64,
    touched: Deps,
    /// The uses being collected, innermost last. Within each node's range, a
    /// binding occurs once.
    uses: Vec<Use>,
    /// The uses of remembered results.
    kept: Vec<Use>,
    /// The number of times uses were dropped.
    given_up: u64,
}

/// The dependencies collected when an alternative began.
#[derive(Clone, Copy)]
pub(crate) struct Collected {
    touched: Deps,
    uses: usize,
    given_up: u64,
}

/// Adds a use to the uses from `first` on; an error if the uses are too many.
#[inline]
fn join(uses: &mut Vec<Use>, first: u32, new: Use) -> Result<(), ()> {
    let stretch = &mut uses[first as usize..];
    let count = stretch.len();
    match stretch
        .iter_mut()
        .find(|known| known.binding == new.binding)
    {
        Some(known) => known.defined |= new.defined,
        None if count < FEW => uses.push(new),
        None => return Err(()),
    }
    Ok(())
}

/// Shadowing a binding this many levels down voids all results, instead of
/// updating every level between.
const NEAR: usize = 32;

impl Levels {
    pub(crate) fn new() -> Self {
        Levels {
            open: vec![0],
            clock: 0,
            since: 0,
            touched: Deps::NOTHING,
            uses: Vec::new(),
            kept: Vec::new(),
            given_up: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.open.truncate(1);
        self.open.shrink_to(1 << 12);
        self.open[0] = 0;
        (self.clock, self.since, self.touched) = (0, 0, Deps::NOTHING);
        self.uses.clear();
        empty(&mut self.kept);
    }

    /// The number of open scopes.
    #[inline(always)]
    pub(crate) fn current(&self) -> u32 {
        (self.open.len() - 1) as u32
    }

    pub(crate) fn open_scope(&mut self) {
        self.clock += 1;
        self.open.push(self.clock);
    }

    pub(crate) fn close_scope(&mut self) {
        let closing = self.current();
        self.open.pop();
        self.end_level(closing);
    }

    /// Drops everything used at a level that ends.
    fn end_level(&mut self, level: u32) {
        self.touched.end_level(level);
        self.drop_uses(level);
    }

    /// Drops the uses of a level and above.
    fn drop_uses(&mut self, level: u32) {
        let mut next = self.touched.first_use as usize;
        while let Some(known) = self.uses.get(next) {
            if known.level >= level {
                self.uses.swap_remove(next);
            } else {
                next += 1;
            }
        }
    }

    /// Forgets scopes left open by a failed alternative. The caller restores the
    /// dependencies collected in these scopes.
    pub(crate) fn truncate(&mut self, current: u32) {
        self.open.truncate(current as usize + 1);
    }

    /// Records that a variable binding of this level was used or made in a
    /// region.
    #[inline(always)]
    pub(crate) fn use_var(&mut self, binding: u32, level: u32, region: Region) {
        let new = Use {
            binding,
            level,
            defined: region.is_field(),
        };
        // Often the same variable is used several times in a row.
        let is_own = self.uses.len() > self.touched.first_use as usize;
        if !is_own || !self.uses.last().is_some_and(|last| last.covers(new)) {
            self.use_binding(new);
        }
    }

    fn use_binding(&mut self, new: Use) {
        self.touched.used.insert(new.level);
        self.touched.lowest_var = self.touched.lowest_var.min(new.level);
        if new.defined {
            self.touched.lowest_def = self.touched.lowest_def.min(new.level);
        }
        self.note(new);
    }

    #[inline]
    fn note(&mut self, new: Use) {
        if new.level >= self.touched.lost {
            return;
        }
        if join(&mut self.uses, self.touched.first_use, new).is_err() {
            self.give_up(new);
        }
    }

    /// Makes room for a use by dropping the uses of the highest level, which end first.
    #[cold]
    fn give_up(&mut self, new: Use) {
        let first = self.touched.first_use as usize;
        let top = self.uses[first..]
            .iter()
            .fold(new.level, |top, known| top.max(known.level));
        self.lose_from(top);
        if new.level < top {
            self.uses.push(new);
        }
    }

    /// Records the use of a dag pair; dag pairs never end and never rebind.
    #[inline]
    pub(crate) fn use_dag(&mut self, binding: u32) {
        self.touched.used.insert(0);
        self.touched.newest_dag = self.touched.newest_dag.max(binding + 1);
    }

    /// Records a use of this level that is not a single binding, or the absence of a
    /// binding.
    #[inline]
    pub(crate) fn use_level(&mut self, level: u32) {
        self.touched.used.insert(level);
        self.touched.lowest_var = self.touched.lowest_var.min(level);
        self.lose_from(0);
    }

    /// Records a use of a dag node that is numbered at this level.
    pub(crate) fn use_numbered(&mut self, level: u32) {
        self.touched.used.insert(level);
        self.lose_from(0);
    }

    /// Records a lookup that found an object unbound.
    pub(crate) fn use_absence(&mut self) {
        self.touched.used.insert(0);
        self.lose_from(0);
    }

    /// Records a new binding of this level that would change a second visit.
    #[inline]
    pub(crate) fn create(&mut self, level: u32) {
        self.touched.created = self.touched.created.min(level);
    }

    /// Records the use of a remembered result in a region.
    #[inline]
    pub(crate) fn use_result(&mut self, needs: ValidUntil, region: Region) {
        if needs.used.highest().is_none() {
            return;
        }
        self.touched.used.unite(needs.used);
        self.touched.lowest_var = self.touched.lowest_var.min(needs.lowest_var);
        self.touched.newest_dag = self.touched.newest_dag.max(needs.newest_dag);
        let in_field = if region.is_field() {
            needs.lowest_var
        } else {
            u32::MAX
        };
        let lowest_def = self.touched.lowest_def.min(needs.lowest_def);
        self.touched.lowest_def = lowest_def.min(in_field);
        for position in needs.kept.0..needs.kept.1 {
            let mut known = self.kept[position as usize];
            known.defined |= region.is_field();
            self.note(known);
        }
        self.lose_from(needs.lost);
    }

    /// Records that uses of this level and above are incomplete, or that more than the
    /// names of these bindings decides the result.
    pub(crate) fn lose_from(&mut self, level: u32) {
        if level < self.touched.lost {
            self.given_up += 1;
            self.touched.lost = level;
            self.drop_uses(level);
        }
    }

    /// Records the use of a result found elsewhere under the same bindings.
    pub(crate) fn use_again(&mut self, binding: u32, level: u32, defined: bool) {
        self.use_binding(Use {
            binding,
            level,
            defined,
        });
    }

    /// Starts collecting for one node; pass the result to [`end`](Self::end).
    #[inline]
    pub(crate) fn begin(&mut self) -> Deps {
        let inner = Deps {
            first_use: self.uses.len() as u32,
            ..Deps::NOTHING
        };
        std::mem::replace(&mut self.touched, inner)
    }

    /// Ends collecting and returns the conditions for remembering the node; None if a
    /// new binding that outlives the node would change a second visit.
    #[inline]
    pub(crate) fn end(&mut self, before: Deps) -> Option<ValidUntil> {
        let inner = self.touched;
        let needs = (inner.created > self.current()).then(|| {
            let stretch = &self.uses[inner.first_use as usize..];
            // A node usually uses the same bindings as its last child.
            if !self.kept.ends_with(stretch) {
                self.kept.extend_from_slice(stretch);
            }
            let start = (self.kept.len() - stretch.len()) as u32;
            ValidUntil {
                used: inner.used,
                lowest_var: inner.lowest_var,
                lowest_def: inner.lowest_def,
                kept: (start, self.kept.len() as u32),
                lost: inner.lost,
                newest_dag: inner.newest_dag,
            }
        });
        self.touched = before;
        self.touched.add(inner);
        self.join_uses(inner);
        needs
    }

    /// Merges the uses of a finished node into the uses of the enclosing node.
    #[inline]
    fn join_uses(&mut self, inner: Deps) {
        let from = inner.first_use as usize;
        let is_first = from == self.touched.first_use as usize;
        if self.touched.lost < u32::MAX {
            self.join_others(from);
        } else if !is_first
            && let Some((last, [])) = self.uses[from..].split_first()
            && self.uses[from - 1].covers(*last)
        {
            // Neighbours usually use one and the same variable.
            self.uses.truncate(from);
        } else if !is_first && self.uses.len() > from {
            self.join_others(from);
        }
        // Otherwise the uses are already in the right place.
        if inner.lost < u32::MAX {
            self.lose_from(inner.lost);
        }
    }

    /// Merges the uses from a position on into the earlier uses.
    fn join_others(&mut self, from: usize) {
        let (own, ended) = self.uses[self.touched.first_use as usize..]
            .split_at(from - self.touched.first_use as usize);
        let is_known = |new: &Use| own.iter().any(|known| known.covers(*new));
        if self.touched.lost == u32::MAX && ended.iter().all(is_known) {
            self.uses.truncate(from);
            return;
        }
        let ended: SmallVec<[Use; FEW]> = self.uses.drain(from..).collect();
        for known in ended {
            self.note(known);
        }
    }

    /// The current collection, to be restored after a failed alternative.
    pub(crate) fn collected(&self) -> Collected {
        Collected {
            touched: self.touched,
            uses: self.uses.len(),
            given_up: self.given_up,
        }
    }

    pub(crate) fn put_back(&mut self, collected: Collected) {
        // A later success does not depend on the alternative; a later failure may
        // depend on bindings that the alternative met.
        let given_up = !self.touched.is_nothing();
        self.touched = collected.touched;
        self.touched.given_up |= given_up;
        self.uses.truncate(collected.uses);
        // A use dropped since then may belong to the restored collection.
        if self.given_up != collected.given_up {
            self.lose_from(0);
        }
    }

    /// The dependencies of the innermost node so far.
    pub(crate) fn touched(&self) -> Deps {
        self.touched
    }

    /// Ends a node of a failed alternative.
    pub(crate) fn abandon(&mut self, before: Deps) {
        let inner = self.touched;
        self.touched = before;
        self.touched.add(inner);
    }

    /// Ends a scope of a failed alternative.
    pub(crate) fn abandon_scope(&mut self) {
        let closing = self.current();
        self.open.pop();
        self.touched.end_level(closing);
    }

    /// The variables that a remembered result used.
    pub(crate) fn kept(&self, needs: ValidUntil) -> &[Use] {
        &self.kept[needs.kept.0 as usize..needs.kept.1 as usize]
    }

    /// The combined conditions of two results.
    pub(crate) fn both(&mut self, first: ValidUntil, second: ValidUntil) -> ValidUntil {
        let mut both = first;
        both.used.unite(second.used);
        both.lowest_var = first.lowest_var.min(second.lowest_var);
        both.lowest_def = first.lowest_def.min(second.lowest_def);
        both.newest_dag = first.newest_dag.max(second.newest_dag);
        both.lost = first.lost.min(second.lost);
        if self.covers(first, second) {
            return both;
        }
        if self.covers(second, first) {
            both.kept = second.kept;
            return both;
        }
        let start = self.kept.len() as u32;
        for position in (first.kept.0..first.kept.1).chain(second.kept.0..second.kept.1) {
            let new = self.kept[position as usize];
            if join(&mut self.kept, start, new).is_err() {
                both.lost = 0;
            }
        }
        both.kept = (start, self.kept.len() as u32);
        both
    }

    /// True if the variables used in `one` include all variables used in `other`.
    fn covers(&self, one: ValidUntil, other: ValidUntil) -> bool {
        one.kept == other.kept || {
            let known = self.kept(one);
            self.kept(other).iter().all(|wanted| known.contains(wanted))
        }
    }

    /// True if two results have the same conditions.
    pub(crate) fn same_needs(&self, one: ValidUntil, other: ValidUntil) -> bool {
        one.used == other.used
            && (one.lowest_var, one.lowest_def) == (other.lowest_var, other.lowest_def)
            && (one.lost, one.newest_dag) == (other.lost, other.newest_dag)
            && self.covers(one, other)
            && self.covers(other, one)
    }

    /// The date of a result found now.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.clock
    }

    /// True if a result of that date may be used in this region.
    #[inline]
    pub(crate) fn holds(&self, needs: ValidUntil, date: u64, region: Region) -> bool {
        let Some(level) = needs.used.highest() else {
            return true;
        };
        date >= self.since
            && needs.lowest_def >= self.current()
            && self
                .open
                .get(level as usize)
                .is_some_and(|since| date >= *since)
            && region.def_level().is_none_or(|def| needs.lowest_var >= def)
    }

    /// A new binding shadows a binding of this level: results that may have used the
    /// shadowed binding are not valid inside the shadow.
    pub(crate) fn shadow(&mut self, level: u32) {
        self.clock += 1;
        let levels = &mut self.open[level as usize..];
        if levels.len() > NEAR {
            self.since = self.clock;
            return;
        }
        levels.fill(self.clock);
    }

    /// Voids every remembered result that used a binding.
    pub(crate) fn void_all(&mut self) {
        self.clock += 1;
        self.since = self.clock;
    }
}

#[cfg(test)]
mod tests {
    use super::{Levels, Region};

    #[test]
    fn nothing_is_left_of_an_earlier_walk() {
        let mut levels = Levels::new();
        levels.open_scope();
        let before = levels.begin();
        levels.use_var(7, 1, Region::USE);
        let needs = levels.end(before).expect("it made no binding");
        assert_eq!(levels.kept(needs).len(), 1);
        levels.shadow(1);
        levels.void_all();
        levels.reset();
        assert_eq!(levels.current(), 0);
        assert_eq!((levels.clock, levels.since), (0, 0));
        assert!(levels.touched.is_nothing());
        assert!(levels.uses.is_empty() && levels.kept.is_empty());
    }
}
