//! The bindings of variables and dag nodes, by scope.
//!
//! Equality binds pairs of a left and a right object; hashing binds single objects. The
//! number of sides is the only difference.
//!
//! The states of the bindings are numbered. If an alternative of a custom comparison
//! finds a pair different, the pair is remembered with the number of the current state.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::ident_map::IdentMap;
use super::levels::Levels;
use crate::kernel::pages::empty;

/// One binding: an object of each side, by identity number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding<const SIDES: usize> {
    pub(crate) idents: [u64; SIDES],
    /// The level of the scope that ends the binding; 0 for never.
    pub(crate) level: u32,
    /// The previous binding of each side, or [`NOTHING`].
    shadowed: [u32; SIDES],
}

/// Means no binding, where an `Option` of eight bytes would cost time.
const NOTHING: u32 = u32::MAX;

/// The state to roll back to.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    trail: usize,
    level: u32,
    state: u32,
}

/// The current bindings, the shadowed bindings, and the data needed to undo both.
pub(crate) struct Bindings<const SIDES: usize> {
    maps: [IdentMap; SIDES],
    all: Vec<Binding<SIDES>>,
    /// Bindings of open scopes, innermost last.
    scoped: Vec<u32>,
    /// Start of each open scope's bindings in `scoped`.
    starts: Vec<usize>,
    /// Per open scope, the state at the start and the number of bindings made before.
    opened: Vec<(u32, usize)>,
    /// The bindings made since the outermost mark; empty without marks.
    trail: Vec<u32>,
    marks: u32,
    /// Objects that matched as map keys by identity while unbound.
    free_keys: HashSet<u64, RandomState>,
    /// The number of the current state. While the number stays the same, the same
    /// bindings are in force.
    state: u32,
    states: u32,
    /// The successors of states, by the objects and the level of a new binding.
    /// Alternatives with the same beginning thereby reach the same states.
    successors: HashMap<(u32, [u64; SIDES], u32), u32, RandomState>,
}

impl<const SIDES: usize> Default for Bindings<SIDES> {
    fn default() -> Self {
        Bindings {
            maps: std::array::from_fn(|_| IdentMap::default()),
            all: Vec::new(),
            scoped: Vec::new(),
            starts: Vec::new(),
            opened: Vec::new(),
            trail: Vec::new(),
            marks: 0,
            free_keys: HashSet::default(),
            state: 0,
            states: 0,
            successors: HashMap::default(),
        }
    }
}

impl<const SIDES: usize> Bindings<SIDES> {
    pub(crate) fn clear(&mut self) {
        self.maps.iter_mut().for_each(IdentMap::clear);
        empty(&mut self.all);
        self.scoped.clear();
        self.starts.clear();
        self.opened.clear();
        self.trail.clear();
        self.marks = 0;
        self.free_keys.clear();
        (self.state, self.states) = (0, 0);
        self.successors.clear();
    }

    /// The number of the current state; None after too many states.
    pub(crate) fn state(&self) -> Option<u32> {
        (self.states < u32::MAX).then_some(self.state)
    }

    /// The state after one more binding.
    fn state_after(&mut self, state: u32, binding: Binding<SIDES>) -> u32 {
        if self.marks == 0 {
            return self.new_state();
        }
        let step = (state, binding.idents, binding.level);
        if let Some(&known) = self.successors.get(&step) {
            return known;
        }
        let new = self.new_state();
        self.successors.insert(step, new);
        new
    }

    /// A state that has never been used.
    fn new_state(&mut self) -> u32 {
        self.states = self.states.saturating_add(1);
        self.states
    }

    /// True if a binding is in force; an undone binding never comes back.
    pub(crate) fn is_in_force(&mut self, binding: u32) -> bool {
        let idents = self.all[binding as usize].idents;
        self.maps[0].get(idents[0]) == Some(binding)
    }

    /// The current binding of an object of one side.
    #[inline(always)]
    pub(crate) fn of(&mut self, side: usize, ident: u64) -> Option<u32> {
        self.maps[side].get(ident)
    }

    #[inline(always)]
    pub(crate) fn get(&self, binding: u32) -> Binding<SIDES> {
        self.all[binding as usize]
    }

    /// Binds until the scope of `level` ends. `repeats` is true if a second visit would
    /// use the binding like the first visit.
    pub(crate) fn bind(
        &mut self,
        idents: [u64; SIDES],
        level: u32,
        repeats: bool,
        levels: &mut Levels,
    ) -> u32 {
        let shadowed: [u32; SIDES] =
            std::array::from_fn(|side| self.maps[side].get(idents[side]).unwrap_or(NOTHING));
        for &shadowed in shadowed.iter().filter(|&&shadowed| shadowed != NOTHING) {
            levels.shadow(self.all[shadowed as usize].level);
        }
        let was_key =
            !self.free_keys.is_empty() && idents.iter().any(|ident| self.free_keys.contains(ident));
        if was_key {
            levels.void_all();
        }
        // Objects met before, under another binding or as an unbound key, would be met
        // under this binding the second time.
        if !repeats || was_key || shadowed != [NOTHING; SIDES] {
            levels.create(level);
        }
        let index = self.all.len() as u32;
        self.all.push(Binding {
            idents,
            level,
            shadowed,
        });
        for (map, ident) in self.maps.iter_mut().zip(idents) {
            map.set(ident, Some(index));
        }
        if level > 0 {
            self.add_scoped(index, level);
        }
        if self.marks > 0 {
            self.trail.push(index);
        }
        self.state = self.state_after(self.state, self.all[index as usize]);
        index
    }

    /// Keeps `scoped` grouped by level; nearly always the innermost level.
    fn add_scoped(&mut self, index: u32, level: u32) {
        let level = level as usize;
        let position = self.starts.get(level).copied().unwrap_or(self.scoped.len());
        self.scoped.insert(position, index);
        for start in self.starts.iter_mut().skip(level) {
            *start += 1;
        }
    }

    /// The number of bindings of open scopes above a level.
    pub(crate) fn count_above(&self, level: u32) -> usize {
        let start = self.starts.get(level as usize);
        start.map_or(0, |start| self.scoped.len() - start)
    }

    pub(crate) fn open_scope(&mut self, levels: &mut Levels) {
        levels.open_scope();
        self.starts.push(self.scoped.len());
        self.opened.push((self.state, self.all.len()));
    }

    pub(crate) fn close_scope(&mut self, levels: &mut Levels) {
        levels.close_scope();
        let start = self.starts.pop().unwrap_or(0);
        let (state, made) = self.opened.pop().unwrap_or_default();
        while self.scoped.len() > start {
            let Some(index) = self.scoped.pop() else {
                break;
            };
            self.unlink(index);
        }
        self.state = self.state_outside(state, made);
    }

    /// The state at the end of a scope, after its own bindings have ended.
    fn state_outside(&mut self, state: u32, made: usize) -> u32 {
        // A scope without bindings leaves the state unchanged. A scope with many
        // bindings is rarely an alternative of a custom comparison.
        const MANY: usize = 64;
        let level = self.starts.len() as u32;
        if self.all.len() == made {
            return state;
        }
        if self.marks == 0 || self.all.len() - made > MANY {
            return self.new_state();
        }
        (made..self.all.len()).fold(state, |state, index| {
            let binding = self.all[index];
            if binding.level <= level && self.is_in_force(index as u32) {
                self.state_after(state, binding)
            } else {
                state
            }
        })
    }

    fn unlink(&mut self, index: u32) {
        let binding = self.all[index as usize];
        for side in 0..SIDES {
            let before = binding.shadowed[side];
            self.maps[side].set(binding.idents[side], (before != NOTHING).then_some(before));
        }
    }

    /// Remembers the state; every mark is followed by `commit` or `roll_back`.
    pub(crate) fn mark(&mut self, levels: &Levels) -> Mark {
        self.marks += 1;
        Mark {
            trail: self.trail.len(),
            level: levels.current(),
            state: self.state,
        }
    }

    pub(crate) fn commit(&mut self, _mark: Mark) {
        self.marks -= 1;
        if self.marks == 0 {
            self.trail.clear();
        }
    }

    /// Undoes everything since the mark.
    pub(crate) fn roll_back(&mut self, mark: Mark, levels: &mut Levels) {
        // All bindings that have ended since the mark were also made since: their scope
        // began after the mark.
        while self.trail.len() > mark.trail {
            let Some(index) = self.trail.pop() else {
                break;
            };
            self.unlink(index);
            if let Some(position) = self.scoped.iter().rposition(|&other| other == index) {
                self.scoped.remove(position);
                let level = self.all[index as usize].level as usize;
                for start in self.starts.iter_mut().skip(level) {
                    *start = start.saturating_sub(1);
                }
            }
        }
        levels.truncate(mark.level);
        self.starts.truncate(mark.level as usize);
        self.opened.truncate(mark.level as usize);
        // Results found since the mark may depend on the undone bindings.
        levels.void_all();
        self.state = mark.state;
        self.marks -= 1;
    }

    /// The objects that were bound to others so far, of both sides.
    pub(crate) fn bound_apart(&self) -> impl Iterator<Item = u64> {
        let apart = self
            .all
            .iter()
            .map(|binding| binding.idents)
            .filter(|idents| idents.iter().any(|ident| *ident != idents[0]));
        apart.flatten()
    }

    /// Records that an unbound object matched itself as a map key.
    pub(crate) fn note_free_key(&mut self, ident: u64) {
        self.free_keys.insert(ident);
    }
}

#[cfg(test)]
mod tests {
    use super::{Bindings, Levels};

    /// A walk that ends early leaves scopes, bindings and marks open.
    #[test]
    fn nothing_is_left_of_an_earlier_walk() {
        let (mut bindings, mut levels) = (Bindings::<2>::default(), Levels::new());
        bindings.open_scope(&mut levels);
        bindings.mark(&levels);
        bindings.note_free_key(3);
        bindings.bind([1, 2], 1, true, &mut levels);
        bindings.clear();
        assert_eq!((bindings.of(0, 1), bindings.of(1, 2)), (None, None));
        assert!(bindings.all.is_empty() && bindings.scoped.is_empty());
        assert!(bindings.starts.is_empty() && bindings.opened.is_empty());
        assert!(bindings.trail.is_empty() && bindings.free_keys.is_empty());
        assert!(bindings.successors.is_empty());
        assert_eq!((bindings.marks, bindings.state, bindings.states), (0, 0, 0));
    }
}
