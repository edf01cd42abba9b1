//! The variables of subterms, and their positions.
//!
//! An open subterm has a map from its variables to their positions. Positions are
//! hashes that do not mention other variables: two subterms agree on a variable if
//! their positions agree.
//!
//! The occurrences of a variable are met in an order, and a definition changes the
//! meaning of all later occurrences. Therefore the positions of a variable come in
//! three groups. The first group ends at the first definition. The second group begins
//! at the first definition by a region that surrounds an open scope, the third at the
//! first definition in the current scope. The end of a scope binds the last group,
//! independent of earlier occurrences.
//!
//! When the maps of several children become the map of their parent, the entries of the
//! largest child stay untouched, which means "in that child". The entries of the other
//! children are marked with the height of the parent and the number of the child. An
//! entry thus moves into a map at least twice as large every time, and n nodes take at
//! most n log2 n updates.
//!
//! A variable brings along the variables mentioned by its fields, wherever the variable
//! occurs. But since comparison visits the fields once, one occurrence of the variable
//! determines the positions of its fields, and is enough to tell the variables
//! mentioned. A merge therefore leaves out an entry that occurs in fields only
//! ([`DIRECT`] is missing), if the larger map covers the entry. The larger map must
//! have every variable through whose fields the entry occurs, with the same meaning
//! ([`Positions::covers`]). Both maps have an entry for the variable anyway, with the
//! same groups, and only the hash of the entry depends on the omission. The rule does
//! not distinguish equal subterms: a variable with two meanings, which may correspond
//! to two variables elsewhere, makes a subterm irregular ([`Positions::is_irregular`]).
//! Once a scope has bound a variable, the variables mentioned by its fields occur
//! outside of fields.
//!
//! A map of several subterms shares its nodes with the maps derived by changes, and the
//! maps of n subterms take O(n + u log n) memory for u updates.
//!
//! Source: Maziarz, Ellis, Lawrence, Fitzgibbon and Peyton Jones, "Hashing modulo
//! alpha-equivalence", PLDI 2021; the groups, and sums without names for values whose
//! free variables may be renamed, are additions.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::tries::{EMPTY, TrieRoot, Tries};
use super::variables::{DIRECT, FIXED, Group, INDIRECT, Mentions, OUTER, OWN, Positions, joined};
use crate::kernel::mixing::Mixing;

/// The number of a map in its [`VarMaps`].
pub(super) type MapId = u32;

/// The map of a subterm without variables.
pub(super) const NO_MAP: MapId = u32::MAX;

/// Up to this many entries are kept in a sorted list.
const FEW: usize = 8;

const JOIN: u64 = 0xbb67_ae85_84ca_a73b;
const NAMED: u64 = 0x3c6e_f372_fe94_f82b;
const RENAMED: u64 = 0xa54f_f53a_5f1d_36f1;
const BOUND: u64 = 0x510e_527f_ade6_82d1;

#[derive(Default)]
struct VarMap {
    /// The number of subterms with this map. Only a map with a single owner is changed in
    /// place.
    owners: u32,
    /// Sorted by identity number; empty if `many` is used.
    few: Vec<(u64, Positions)>,
    many: TrieRoot,
    /// The number of entries.
    len: u32,
    /// The number of variables with positions in [`Group::Own`].
    own: u32,
    /// The number of variables with positions in [`Group::Outer`].
    outer: u32,
    /// The number of variables with positions in [`Group::Free`], and the number of
    /// these variables that match by identity even if free variables are renamed.
    free: [u32; 2],
    /// The number of variables that occur only in fields of other variables.
    hidden: u32,
    /// The number of groups with positions. Unlike the number of entries, this number
    /// is the same whether a scope binds a variable used before the scope, or another
    /// variable.
    weight: u32,
    /// The sum over all entries, independent of their order.
    sum: u64,
}

impl VarMap {
    fn get(&self, tries: &Tries, var: u64) -> Option<Positions> {
        if self.many != EMPTY {
            return tries.get(self.many, var);
        }
        let found = self.few.binary_search_by_key(&var, |entry| entry.0);
        found.ok().map(|place| self.few[place].1)
    }

    fn set(&mut self, tries: &mut Tries, var: u64, positions: Positions) {
        if self.many != EMPTY {
            self.many = tries.set(self.many, var, positions);
            return;
        }
        match self.few.binary_search_by_key(&var, |entry| entry.0) {
            Ok(place) => self.few[place].1 = positions,
            Err(place) if self.few.len() < FEW => self.few.insert(place, (var, positions)),
            Err(_) => {
                self.many = tries.set(EMPTY, var, positions);
                for (var, positions) in self.few.drain(..) {
                    self.many = tries.set(self.many, var, positions);
                }
            }
        }
    }
}

/// The result of ending a scope.
pub(super) struct Closed {
    pub(super) map: MapId,
    /// The sum over the variables that the scope bound.
    pub(super) bound: u64,
    /// True if the scope bound any variable.
    pub(super) binds: bool,
    /// True if a variable outlives another variable mentioned by its fields.
    pub(super) irregular: bool,
}

/// The maps of all subterms of a walk.
pub(super) struct VarMaps {
    maps: Vec<VarMap>,
    unused: Vec<MapId>,
    mixing: Mixing,
    /// Free variables match by renaming.
    renames: bool,
    tries: Tries,
    mentions: Mentions,
    /// The entries replaced by [`VarMaps::change`]: variable, before, after.
    changes: Vec<(u64, Positions, Positions)>,
    /// The entries of the map being merged into another map.
    merged: Vec<(u64, Positions)>,
    /// The number of merges with left-out entries, and for each variable the last of
    /// these merges that reached the variable.
    merges: u64,
    reached: HashMap<u64, u64, RandomState>,
    /// The entries made or changed, except for copies.
    pub(super) updates: u64,
    copied_entries: u64,
}

impl VarMaps {
    pub(super) fn new(mixing: Mixing, renames: bool) -> Self {
        VarMaps {
            maps: Vec::new(),
            unused: Vec::new(),
            mixing,
            renames,
            tries: Tries::default(),
            mentions: Mentions::default(),
            changes: Vec::new(),
            merged: Vec::new(),
            merges: 0,
            reached: HashMap::default(),
            updates: 0,
            copied_entries: 0,
        }
    }

    /// The entries and nodes copied because several subterms have them.
    pub(super) fn copies(&self) -> u64 {
        self.copied_entries + self.tries.copies
    }

    /// The measure for choosing the largest child.
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

    /// True if a definition in the subterm is in force after the subterm.
    pub(super) fn has_definitions(&self, map: MapId) -> bool {
        map != NO_MAP && {
            let map = &self.maps[map as usize];
            map.own > 0 || map.outer > 0
        }
    }

    /// Adds a subterm to the users of the map.
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
            let many = freed.many;
            *freed = VarMap {
                few: std::mem::take(&mut freed.few),
                ..VarMap::default()
            };
            self.tries.release(many);
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

    /// A map that belongs to one subterm only, with the entries of `map`. Takes over
    /// one use of `map`.
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
        let mut few = std::mem::take(&mut copy.few);
        few.extend_from_slice(&from.few);
        self.copied_entries += few.len() as u64;
        *copy = VarMap {
            owners: 1,
            few,
            many: self.tries.share(from.many),
            ..*from
        };
        made
    }

    /// Adds an occurrence after all other occurrences. Returns the map, and true if the
    /// entry is irregular.
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

    /// Adds the entries of a child to the map of its parent, after or before the
    /// entries already in the map. Returns true if an entry is irregular.
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
            && big.flags == small.flags
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
        if self.maps[child as usize].hidden > 0 && self.may_leave_out(into, child, later) {
            return self.merge_direct(into, child, later, height, place);
        }
        let mut irregular = false;
        for number in 0..self.maps[child as usize].few.len() {
            let (var, positions) = self.maps[child as usize].few[number];
            irregular |= self.join(into, var, positions, later, height, place);
        }
        if self.maps[child as usize].many == EMPTY {
            return irregular;
        }
        let mut merged = std::mem::take(&mut self.merged);
        self.tries.list(self.maps[child as usize].many, &mut merged);
        for (var, positions) in merged.drain(..) {
            irregular |= self.join(into, var, positions, later, height, place);
        }
        self.merged = merged;
        irregular
    }

    /// True if the order of the occurrences of a variable makes no difference for the
    /// matching of free variables.
    fn may_leave_out(&self, into: MapId, child: MapId, later: bool) -> bool {
        let [big, small] = [into, child].map(|map| self.maps[map as usize].free);
        let (free, fixed) = (big[0] + small[0], big[1] + small[1]);
        later || !self.renames || fixed == 0 || fixed == free
    }

    /// As [`merge`](Self::merge), without entries that the map does not need again.
    fn merge_direct(
        &mut self,
        into: MapId,
        child: MapId,
        later: bool,
        height: u32,
        place: u32,
    ) -> bool {
        let mut irregular = false;
        let mut next = std::mem::take(&mut self.merged);
        let small = &self.maps[child as usize];
        let is_direct = |(_, positions): &&(u64, Positions)| positions.flags & DIRECT != 0;
        next.extend(small.few.iter().filter(is_direct));
        self.tries.list_marked(small.many, DIRECT, &mut next);
        self.merges += 1;
        while let Some((var, positions)) = next.pop() {
            let is_reached = positions.flags & DIRECT == 0
                && self.reached.insert(var, self.merges) == Some(self.merges);
            if is_reached {
                continue;
            }
            let old = self.maps[into as usize].get(&self.tries, var);
            irregular |= self.join(into, var, positions, later, height, place);
            if Positions::covers(old, positions) {
                continue;
            }
            let small = &self.maps[child as usize];
            for &part in self.mentions.in_fields_of(var) {
                if let Some(positions) = small.get(&self.tries, part)
                    && positions.flags & DIRECT == 0
                {
                    next.push((part, positions));
                }
            }
        }
        self.merged = next;
        irregular
    }

    /// Prepares the map of the largest child to become the parent's map.
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
        let old = self.maps[map as usize].get(&self.tries, var);
        let big = old.unwrap_or_default();
        let mark = self.mark(height, place);
        let new = joined(self.mixing, mark, big, small, later);
        self.set(map, var, old, new);
        new.is_irregular()
    }

    /// The mark of positions in this part of a subterm of this height.
    fn mark(&self, height: u32, place: u32) -> u64 {
        let word = u64::from(height) << 32 ^ u64::from(place);
        self.mixing.fold(word ^ JOIN)
    }

    /// Adds or replaces an entry.
    fn set(&mut self, map: MapId, var: u64, old: Option<Positions>, new: Positions) {
        self.account(map, var, old, new);
        self.maps[map as usize].set(&mut self.tries, var, new);
    }

    /// Replaces every entry with one of these [marks](Positions::marks); entries left
    /// without positions are removed.
    fn change(
        &mut self,
        map: MapId,
        marks: u8,
        mut change: impl FnMut(u64, Positions) -> Positions,
    ) {
        let mut changes = std::mem::take(&mut self.changes);
        let mut changed = |var, old| {
            let new = change(var, old);
            changes.push((var, old, new));
            new
        };
        let entries = &mut self.maps[map as usize];
        entries.many = self.tries.change(entries.many, marks, &mut changed);
        entries.few.retain_mut(|(var, positions)| {
            if positions.marks() & marks != 0 {
                *positions = changed(*var, *positions);
            }
            !positions.is_empty()
        });
        for (var, old, new) in changes.drain(..) {
            self.account(map, var, Some(old), new);
        }
        self.changes = changes;
    }

    /// Counts the change of an entry into another entry.
    fn account(&mut self, map: MapId, var: u64, old: Option<Positions>, new: Positions) {
        let is_left = !new.is_empty();
        let added = if is_left { self.term(var, new) } else { 0 };
        let removed = old.map_or(0, |old| self.term(var, old));
        self.updates += u64::from(is_left);
        let before = old.unwrap_or_default();
        let map = &mut self.maps[map as usize];
        map.sum = map.sum.wrapping_sub(removed).wrapping_add(added);
        let count = |count: &mut u32, before: u32, after: u32| *count = *count + after - before;
        let has = |positions: Positions, group| u32::from(positions.has(group));
        let (own, outer) = (Group::Own, Group::Outer);
        count(&mut map.len, old.is_some().into(), is_left.into());
        count(&mut map.own, has(before, own), has(new, own));
        count(&mut map.outer, has(before, outer), has(new, outer));
        count(&mut map.weight, before.weight(), new.weight());
        let fixed = |positions: Positions| {
            u32::from(positions.has(Group::Free) && positions.flags & FIXED != 0)
        };
        count(
            &mut map.free[0],
            has(before, Group::Free),
            has(new, Group::Free),
        );
        count(&mut map.free[1], fixed(before), fixed(new));
        let hidden = |positions: Positions, is_there: bool| {
            u32::from(is_there && positions.flags & DIRECT == 0)
        };
        count(
            &mut map.hidden,
            hidden(before, old.is_some()),
            hidden(new, is_left),
        );
    }

    /// The contribution of an entry to the sum. Sums of entries are as good as sets of
    /// entries, since both names and positions are distinct.
    fn term(&self, var: u64, positions: Positions) -> u64 {
        let [free, outer, own] = positions.groups;
        let by_identity = free != 0 && (!self.renames || positions.flags & FIXED != 0);
        let name = if by_identity {
            self.mixing.fold(var ^ NAMED)
        } else {
            RENAMED
        };
        let mut term = self.mixing.fold(name ^ free);
        if outer != 0 || own != 0 {
            term = self.mixing.fold(term.rotate_left(5) ^ outer);
            term = self.mixing.fold(term.rotate_left(5) ^ own);
        }
        self.mixing
            .fold(term.rotate_left(5) ^ u64::from(outer != 0) << 1 ^ u64::from(own != 0))
    }

    /// Turns the map of the fields of a variable into a map inside of the variable.
    pub(super) fn note_fields(&mut self, map: MapId, of: u64) -> MapId {
        if map == NO_MAP {
            return NO_MAP;
        }
        let map = self.owned(map);
        let mut mentions = std::mem::take(&mut self.mentions);
        self.change(map, DIRECT, |var, positions| {
            mentions.note(var, of);
            let flags = positions.flags & !DIRECT | INDIRECT;
            Positions { flags, ..positions }
        });
        self.mentions = mentions;
        map
    }

    /// Ends a scope around a subterm and takes over the subterm's map. With `converts`,
    /// the region that binds in `Group::Outer` belongs to the scope around this scope.
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
        let mixing = self.mixing;
        let mut ended = Vec::new();
        self.change(map, OWN, |var, old| {
            let [free, outer, own] = old.groups;
            closed.bound = closed.bound.wrapping_add(mixing.fold(own ^ BOUND));
            let groups = [free, outer, 0];
            ended.push(var);
            Positions { groups, ..old }
        });
        closed.binds = !ended.is_empty();
        closed.irregular = self.is_mentioned_outside(map, &ended);
        self.make_direct(map, &ended);
        if converts {
            self.change(map, OUTER, |_, old| {
                let [free, outer, own] = old.groups;
                debug_assert_eq!(own, 0);
                let groups = [free, 0, outer];
                Positions { groups, ..old }
            });
        }
        if self.maps[map as usize].weight == 0 {
            self.release(map);
            closed.map = NO_MAP;
        }
        closed
    }

    /// Makes the variables mentioned by the fields of bound variables occur directly,
    /// as no other entry in the map leads to them after the scope.
    fn make_direct(&mut self, map: MapId, ended: &[u64]) {
        if self.maps[map as usize].hidden == 0 {
            return;
        }
        let mentions = std::mem::take(&mut self.mentions);
        for &part in ended.iter().flat_map(|&var| mentions.in_fields_of(var)) {
            if let Some(old) = self.maps[map as usize].get(&self.tries, part)
                && old.flags & DIRECT == 0
            {
                let flags = old.flags | DIRECT;
                self.set(map, part, Some(old), Positions { flags, ..old });
            }
        }
        self.mentions = mentions;
    }

    /// True if a variable outlives the scope although its fields mention a variable
    /// bound by the scope: comparison visits the fields once, and remembers their
    /// meaning in the scope.
    fn is_mentioned_outside(&self, map: MapId, ended: &[u64]) -> bool {
        let left = &self.maps[map as usize];
        if left.weight == 0 {
            return false;
        }
        let mut rest = Vec::new();
        ended.iter().any(|&var| {
            let wholes = self.mentions.of(var);
            if wholes.len() <= left.len as usize {
                let is_left = |&whole: &u64| left.get(&self.tries, whole).is_some();
                return wholes.iter().any(is_left);
            }
            if rest.is_empty() {
                rest.extend_from_slice(&left.few);
                self.tries.list(left.many, &mut rest);
            }
            let mentions = |(whole, _): &(u64, Positions)| self.mentions.contains(var, *whole);
            rest.iter().any(mentions)
        })
    }
}

/// Two different maps.
fn two(maps: &mut [VarMap], one: usize, other: usize) -> (&mut VarMap, &mut VarMap) {
    let (low, high) = maps.split_at_mut(one.max(other));
    if one < other {
        (&mut low[one], &mut high[0])
    } else {
        (&mut high[0], &mut low[other])
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
        assert_eq!(maps.copies(), 1);
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
