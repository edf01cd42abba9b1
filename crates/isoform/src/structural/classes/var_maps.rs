//! The variables of subterms, and where they occur.
//!
//! A subterm that is open has a map from each of its variables to the positions at
//! which that occurs. Positions are hashes, which do not mention other variables, so
//! two subterms agree on a variable if their positions agree.
//!
//! The occurrences of a variable are met in an order, and a definition changes the
//! meaning of everything after it. Therefore the positions of a variable come in three
//! groups: those before any definition, those from the first definition on by a region
//! that surrounds an open scope, and those from the first definition in the current
//! scope on. The end of a scope binds the last group, whatever was met before.
//!
//! When the maps of several children become that of their parent, the entries of the
//! largest one stay untouched, which means "in that child". Each entry of the others
//! is marked with the height of the parent and the number of the child. So an entry
//! moves into a map at least twice as large each time, and n nodes take at most
//! n log2 n updates.
//!
//! Source: Maziarz, Ellis, Lawrence, Fitzgibbon and Peyton Jones, "Hashing modulo
//! alpha-equivalence", PLDI 2021; the groups, and sums without names for values whose
//! free variables may be renamed, are additions.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::mixing::Mixing;

/// The number of a map in its [`VarMaps`].
pub(super) type MapId = u32;

/// The map of a subterm without variables.
pub(super) const NO_MAP: MapId = u32::MAX;

/// Up to this many entries are kept in a sorted list.
const FEW: usize = 8;

/// The positions of one variable; zero for an empty group.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Positions {
    /// The groups: before any definition, from an outer definition on, from a
    /// definition in the current scope on.
    groups: [u64; 3],
    flags: u8,
}

/// The group of an occurrence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    Free = 0,
    Outer = 1,
    Own = 2,
}

/// The first occurrence matches by identity, even if free variables are renamed.
pub(super) const FIXED: u8 = 1;
/// The variable is the key of a map, which is hashed by identity.
pub(super) const KEY: u8 = 2;
/// The variable occurs in the fields of another one.
pub(super) const IN_FIELDS: u8 = 4;

impl Positions {
    /// One occurrence, at the root of a subterm of this height.
    pub(super) fn here(mixing: Mixing, group: Group, height: u32, flags: u8) -> Self {
        let mut groups = [0; 3];
        groups[group as usize] = mixing.fold(u64::from(height) ^ HERE).max(1);
        Positions { groups, flags }
    }

    fn weight(&self) -> u32 {
        self.groups.iter().map(|hash| u32::from(*hash != 0)).sum()
    }

    fn is_free(&self) -> bool {
        self.groups[1] | self.groups[2] == 0
    }

    fn has(&self, group: Group) -> bool {
        self.groups[group as usize] != 0
    }

    /// True if comparison can no longer tell which entry of a map is which: the key
    /// was hashed by identity, and its variable is bound.
    fn is_bound_key(&self) -> bool {
        self.flags & KEY != 0 && (self.has(Group::Outer) || self.has(Group::Own))
    }
}

const HERE: u64 = 0x6a09_e667_f3bc_c908;
const JOIN: u64 = 0xbb67_ae85_84ca_a73b;
const NAMED: u64 = 0x3c6e_f372_fe94_f82b;
const RENAMED: u64 = 0xa54f_f53a_5f1d_36f1;
const BOUND: u64 = 0x510e_527f_ade6_82d1;

#[derive(Default)]
struct VarMap {
    /// Subterms whose map this is; it is changed only if there is one.
    owners: u32,
    /// Sorted by identity number; empty if `many` is used.
    few: Vec<(u64, Positions)>,
    many: Option<Box<HashMap<u64, Positions, RandomState>>>,
    /// The variables with positions in [`Group::Own`].
    defined: Vec<u64>,
    /// The number of variables with positions in [`Group::Outer`].
    outer: u32,
    /// The number of groups with positions. Unlike the number of entries, it is the same
    /// whether a scope binds a variable that was used before it, or another one.
    weight: u32,
    /// The sum over all entries, independent of their order.
    sum: u64,
}

impl VarMap {
    fn is_empty(&self) -> bool {
        self.weight == 0
    }

    fn get(&self, var: u64) -> Option<Positions> {
        match &self.many {
            Some(many) => many.get(&var).copied(),
            None => {
                let found = self.few.binary_search_by_key(&var, |entry| entry.0);
                found.ok().map(|place| self.few[place].1)
            }
        }
    }

    fn set(&mut self, var: u64, positions: Positions) {
        if let Some(many) = &mut self.many {
            many.insert(var, positions);
            return;
        }
        match self.few.binary_search_by_key(&var, |entry| entry.0) {
            Ok(place) => self.few[place].1 = positions,
            Err(place) if self.few.len() < FEW => self.few.insert(place, (var, positions)),
            Err(_) => {
                let mut many: HashMap<_, _, RandomState> = self.few.drain(..).collect();
                many.insert(var, positions);
                self.many = Some(Box::new(many));
            }
        }
    }

    fn remove(&mut self, var: u64) {
        if let Some(many) = &mut self.many {
            many.remove(&var);
        } else if let Ok(place) = self.few.binary_search_by_key(&var, |entry| entry.0) {
            self.few.remove(place);
        }
    }

    fn entries(&self) -> impl Iterator<Item = (u64, Positions)> {
        let many = self.many.iter().flat_map(|many| many.iter());
        let few = self.few.iter().copied();
        few.chain(many.map(|(&var, &positions)| (var, positions)))
    }
}

/// The result of ending a scope.
pub(super) struct Closed {
    pub(super) map: MapId,
    /// The sum over the variables that the scope bound.
    pub(super) bound: u64,
    /// True if it bound any.
    pub(super) binds: bool,
    /// True if a variable outlives one that its fields mention.
    pub(super) irregular: bool,
}

/// The maps of all subterms of a walk.
pub(super) struct VarMaps {
    maps: Vec<VarMap>,
    unused: Vec<MapId>,
    mixing: Mixing,
    /// Free variables match by renaming.
    renames: bool,
    /// For a variable, those in whose fields it occurs.
    dependents: HashMap<u64, Vec<u64>, RandomState>,
    /// The entries made or changed so far, except for copies.
    pub(super) updates: u64,
    /// The entries copied because their map is that of several subterms.
    pub(super) copies: u64,
}

impl VarMaps {
    pub(super) fn new(mixing: Mixing, renames: bool) -> Self {
        VarMaps {
            maps: Vec::new(),
            unused: Vec::new(),
            mixing,
            renames,
            dependents: HashMap::default(),
            updates: 0,
            copies: 0,
        }
    }

    /// The measure by which the largest child is chosen.
    #[inline]
    pub(super) fn weight(&self, map: MapId) -> u32 {
        match map {
            NO_MAP => 0,
            map => self.maps[map as usize].weight,
        }
    }

    /// The sum over the variables of a subterm.
    #[inline]
    pub(super) fn sum(&self, map: MapId) -> u64 {
        match map {
            NO_MAP => 0,
            map => self.maps[map as usize].sum,
        }
    }

    /// True if a definition in the subterm is in force after it.
    pub(super) fn has_definitions(&self, map: MapId) -> bool {
        map != NO_MAP && {
            let map = &self.maps[map as usize];
            !map.defined.is_empty() || map.outer > 0
        }
    }

    /// Makes the map that of one more subterm.
    #[inline]
    pub(super) fn share(&mut self, map: MapId) -> MapId {
        if map != NO_MAP {
            self.maps[map as usize].owners += 1;
        }
        map
    }

    /// Ends the use of a map by one subterm.
    #[inline]
    pub(super) fn release(&mut self, map: MapId) {
        if map == NO_MAP {
            return;
        }
        let freed = &mut self.maps[map as usize];
        freed.owners -= 1;
        if freed.owners == 0 {
            freed.few.clear();
            freed.many = None;
            freed.defined.clear();
            (freed.outer, freed.weight, freed.sum) = (0, 0, 0);
            self.unused.push(map);
        }
    }

    fn fresh(&mut self) -> MapId {
        let map = self.unused.pop().unwrap_or_else(|| {
            self.maps.push(VarMap::default());
            (self.maps.len() - 1) as MapId
        });
        self.maps[map as usize].owners = 1;
        map
    }

    /// A map that belongs to one subterm only, with the entries of `map`, of which it
    /// takes over one use.
    fn owned(&mut self, map: MapId) -> MapId {
        if map == NO_MAP {
            return self.fresh();
        }
        if self.maps[map as usize].owners == 1 {
            return map;
        }
        let made = self.fresh();
        let (copy, from) = two(&mut self.maps, made as usize, map as usize);
        from.owners -= 1;
        copy.few.extend_from_slice(&from.few);
        copy.many.clone_from(&from.many);
        copy.defined.extend_from_slice(&from.defined);
        (copy.outer, copy.weight, copy.sum) = (from.outer, from.weight, from.sum);
        self.copies += copy.many.as_ref().map_or(copy.few.len(), |many| many.len()) as u64;
        made
    }

    /// Adds an occurrence after all others. Returns the map, and true if the key of a
    /// map is bound.
    pub(super) fn add(
        &mut self,
        map: MapId,
        var: u64,
        positions: Positions,
        height: u32,
    ) -> (MapId, bool) {
        let map = self.owned(map);
        let irregular = self.join(map, var, positions, true, height, u32::MAX);
        (map, irregular)
    }

    /// Adds the entries of a child to the map of its parent: after those that are
    /// there, or before. Returns true if the key of a map is bound.
    pub(super) fn merge(
        &mut self,
        into: MapId,
        child: MapId,
        later: bool,
        height: u32,
        place: u32,
    ) -> bool {
        if let ([(var, big)], [(other, small)]) = (
            &self.maps[into as usize].few[..],
            &self.maps[child as usize].few[..],
        ) && var == other
            && big.is_free()
            && small.is_free()
        {
            // The most common case: one variable, which is only used.
            let (var, mark) = (*var, self.mark(height, place));
            let new = joined(self.mixing, mark, *big, *small, later);
            self.updates += 1;
            let sum = self.term(var, new);
            let map = &mut self.maps[into as usize];
            (map.few[0].1, map.sum) = (new, sum);
            return false;
        }
        let mut irregular = false;
        for number in 0..self.maps[child as usize].few.len() {
            let (var, positions) = self.maps[child as usize].few[number];
            irregular |= self.join(into, var, positions, later, height, place);
        }
        if self.maps[child as usize].many.is_none() {
            return irregular;
        }
        // The maps are different, since the parent's belongs to it alone.
        let from = std::mem::take(&mut self.maps[child as usize]);
        for (var, positions) in from.entries() {
            irregular |= self.join(into, var, positions, later, height, place);
        }
        self.maps[child as usize] = from;
        irregular
    }

    /// Prepares the map of the largest child to become that of its parent.
    pub(super) fn take(&mut self, map: MapId) -> MapId {
        self.owned(map)
    }

    fn join(
        &mut self,
        map: MapId,
        var: u64,
        small: Positions,
        later: bool,
        height: u32,
        place: u32,
    ) -> bool {
        let old = self.maps[map as usize].get(var);
        let big = old.unwrap_or_default();
        let mark = self.mark(height, place);
        let new = joined(self.mixing, mark, big, small, later);
        self.set(map, var, old, new);
        new.is_bound_key()
    }

    /// The mark of what is in this part of a subterm of this height.
    fn mark(&self, height: u32, place: u32) -> u64 {
        let word = u64::from(height) << 32 ^ u64::from(place);
        self.mixing.fold(word ^ JOIN)
    }

    /// Replaces an entry.
    fn set(&mut self, map: MapId, var: u64, old: Option<Positions>, new: Positions) {
        self.updates += 1;
        let added = self.term(var, new);
        let removed = old.map_or(0, |old| self.term(var, old));
        let before = old.unwrap_or_default();
        let map = &mut self.maps[map as usize];
        map.sum = map.sum.wrapping_sub(removed).wrapping_add(added);
        map.outer += u32::from(new.has(Group::Outer));
        map.outer -= u32::from(before.has(Group::Outer));
        map.weight += new.weight();
        map.weight -= before.weight();
        if new.has(Group::Own) && !before.has(Group::Own) {
            map.defined.push(var);
        }
        map.set(var, new);
    }

    /// The contribution of an entry to the sum. Sums of entries are as good as sets of
    /// them, since the names are distinct, and so are the positions.
    fn term(&self, var: u64, positions: Positions) -> u64 {
        let [free, outer, own] = positions.groups;
        let by_identity = free != 0 && (!self.renames || positions.flags & FIXED != 0);
        let name = match by_identity {
            true => self.mixing.fold(var ^ NAMED),
            false => RENAMED,
        };
        let mut term = self.mixing.fold(name ^ free);
        if outer != 0 || own != 0 {
            term = self.mixing.fold(term.rotate_left(5) ^ outer);
            term = self.mixing.fold(term.rotate_left(5) ^ own);
        }
        self.mixing
            .fold(term.rotate_left(5) ^ u64::from(outer != 0) << 1 ^ u64::from(own != 0))
    }

    /// Records that variables occur in the fields of another one.
    pub(super) fn note_fields(&mut self, map: MapId, of: u64) -> MapId {
        if map == NO_MAP {
            return NO_MAP;
        }
        let map = self.owned(map);
        let inside: Vec<_> = self.maps[map as usize].entries().collect();
        for (var, positions) in inside {
            let flags = positions.flags | IN_FIELDS;
            self.maps[map as usize].set(var, Positions { flags, ..positions });
            let dependents = self.dependents.entry(var).or_default();
            if dependents.last() != Some(&of) {
                dependents.push(of);
            }
        }
        map
    }

    /// Ends a scope around a subterm, which takes over the map. With `converts`, the
    /// region that binds in `Group::Outer` belongs to the scope around this one.
    pub(super) fn close_scope(&mut self, map: MapId, converts: bool) -> Closed {
        let mut closed = Closed {
            map,
            bound: 0,
            binds: false,
            irregular: false,
        };
        if !self.has_definitions(map) {
            return closed;
        }
        let map = self.owned(map);
        closed.map = map;
        let defined = std::mem::take(&mut self.maps[map as usize].defined);
        closed.binds = !defined.is_empty();
        for &var in &defined {
            let Some(old) = self.maps[map as usize].get(var) else {
                continue;
            };
            let own = old.groups[Group::Own as usize];
            let term = self.mixing.fold(own ^ BOUND);
            closed.bound = closed.bound.wrapping_add(term);
            let mut new = old;
            new.groups[Group::Own as usize] = 0;
            if new.groups == [0; 3] {
                let removed = self.term(var, old);
                let map = &mut self.maps[map as usize];
                map.sum = map.sum.wrapping_sub(removed);
                map.weight -= old.weight();
                map.remove(var);
            } else {
                // Its meaning changed between occurrences of variables that mention it.
                closed.irregular |= old.flags & IN_FIELDS != 0;
                self.set(map, var, Some(old), new);
            }
        }
        for var in &defined {
            let Some(dependents) = self.dependents.get(var) else {
                continue;
            };
            let map = &self.maps[map as usize];
            closed.irregular |= dependents.iter().any(|one| map.get(*one).is_some());
        }
        if converts && self.maps[map as usize].outer > 0 {
            let entries: Vec<_> = self.maps[map as usize].entries().collect();
            for (var, old) in entries {
                let [free, outer, own] = old.groups;
                if outer != 0 {
                    debug_assert_eq!(own, 0);
                    let flags = old.flags;
                    let groups = [free, 0, outer];
                    self.set(map, var, Some(old), Positions { groups, flags });
                }
            }
        }
        if self.maps[map as usize].is_empty() {
            self.release(map);
            closed.map = NO_MAP;
        }
        closed
    }
}

/// The positions of a variable in a parent, from those in its largest child and in
/// another one, or in all children so far and another one.
fn joined(mixing: Mixing, mark: u64, big: Positions, small: Positions, later: bool) -> Positions {
    if big.is_free() && small.is_free() {
        // Most variables are only used.
        let (first, second) = match later {
            true => (big, small),
            false => (small, big),
        };
        let mixed = mixing.fold(mark.rotate_left(5) ^ first.groups[0]);
        let mixed = [second.groups[0], 0, 0]
            .into_iter()
            .fold(mixed, |mixed, hash| {
                mixing.fold(mixed.rotate_left(5) ^ hash)
            });
        let flags = (first.flags | second.flags) & (KEY | IN_FIELDS);
        let fixed = match first.groups[0] {
            0 => second.flags,
            _ => first.flags,
        };
        return Positions {
            groups: [mixed.max(1), 0, 0],
            flags: flags | fixed & FIXED,
        };
    }
    let (first, second) = match later {
        true => (big, small),
        false => (small, big),
    };
    // The groups that the occurrences of the second one belong to.
    let free = Group::Free as usize;
    let (outer, own) = (Group::Outer as usize, Group::Own as usize);
    let routes = if first.has(Group::Own) {
        [own; 3]
    } else if first.has(Group::Outer) {
        [outer, outer, own]
    } else {
        [free, outer, own]
    };
    let mut groups = [0; 3];
    for (target, group) in groups.iter_mut().enumerate() {
        let of_second = |source: usize| match routes[source] == target {
            true => second.groups[source],
            false => 0,
        };
        let moved = [of_second(0), of_second(1), of_second(2)];
        let kept = first.groups[target];
        if kept == 0 && moved == [0; 3] {
            continue;
        }
        let is_untouched = match later {
            true => moved == [0; 3],
            false => {
                kept == 0 && moved[target] == second.groups[target] && {
                    let others = (0..3).filter(|source| *source != target);
                    others.map(|source| moved[source]).all(|hash| hash == 0)
                }
            }
        };
        *group = if is_untouched {
            big.groups[target]
        } else {
            let hashes = [kept].into_iter().chain(moved);
            hashes
                .fold(mark, |mixed, hash| mixing.fold(mixed.rotate_left(5) ^ hash))
                .max(1)
        };
    }
    let first_free = match first.has(Group::Free) {
        true => first.flags,
        false if routes[free] == free => second.flags,
        false => 0,
    };
    let flags = (first.flags | second.flags) & (KEY | IN_FIELDS) | first_free & FIXED;
    Positions { groups, flags }
}

/// Two different maps.
fn two(maps: &mut [VarMap], one: usize, other: usize) -> (&mut VarMap, &mut VarMap) {
    let (low, high) = maps.split_at_mut(one.max(other));
    match one < other {
        true => (&mut low[one], &mut high[0]),
        false => (&mut high[0], &mut low[other]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Mixing, NO_MAP, Positions, VarMaps};

    fn one(maps: &mut VarMaps, var: u64, group: Group) -> u32 {
        let here = Positions::here(Mixing::FIXED, group, 1, 0);
        maps.add(NO_MAP, var, here, 1).0
    }

    #[test]
    fn few_and_many_entries_sum_alike() {
        for count in [1u64, 8, 9, 100] {
            let mut sums = Vec::new();
            for reversed in [false, true] {
                let mut maps = VarMaps::new(Mixing::FIXED, false);
                let mut map = NO_MAP;
                for step in 0..count {
                    let var = if reversed { count - 1 - step } else { step };
                    let here = Positions::here(Mixing::FIXED, Group::Free, 1, 0);
                    map = maps.add(map, var, here, 2).0;
                }
                assert_eq!(u64::from(maps.weight(map)), count);
                sums.push(maps.sum(map));
            }
            assert_eq!(sums[0], sums[1]);
        }
    }

    #[test]
    fn a_shared_map_is_copied_before_it_changes() {
        let mut maps = VarMaps::new(Mixing::FIXED, false);
        let map = one(&mut maps, 1, Group::Free);
        let sum = maps.sum(map);
        let shared = maps.share(map);
        let own = maps.take(shared);
        assert_ne!(own, map);
        let other = one(&mut maps, 2, Group::Free);
        maps.merge(own, other, true, 2, 1);
        assert_eq!(
            (maps.sum(map), maps.weight(map), maps.weight(own)),
            (sum, 1, 2)
        );
        assert_eq!(maps.copies, 1);
    }

    #[test]
    fn a_scope_binds_from_the_definition_on() {
        let mut maps = VarMaps::new(Mixing::FIXED, false);
        let map = one(&mut maps, 1, Group::Free);
        let map = maps.take(map);
        let definition = one(&mut maps, 1, Group::Own);
        maps.merge(map, definition, true, 2, 1);
        let used_before = maps.sum(map);
        let closed = maps.close_scope(map, false);
        assert!(closed.binds && !closed.irregular);
        // The use before the definition is still free.
        assert_eq!(maps.weight(closed.map), 1);
        assert_ne!(maps.sum(closed.map), used_before);
        let alone = one(&mut maps, 1, Group::Own);
        assert_eq!(maps.close_scope(alone, false).map, NO_MAP);
    }
}
