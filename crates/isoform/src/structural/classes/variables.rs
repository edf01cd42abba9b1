//! The variables of a subterm: the positions of one variable, how positions in parts
//! become positions in the whole, and the mentions in fields of other variables.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::kernel::mixing::Mixing;

/// The positions of one variable; zero for an empty group.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Positions {
    /// The groups: before any definition, from an outer definition on, from a
    /// definition in the current scope on.
    pub(super) groups: [u64; 3],
    pub(super) flags: u8,
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
/// The variable occurs outside of the fields of other variables.
pub(super) const DIRECT: u8 = 4;

/// The variable occurs in the fields of another variable.
pub(super) const INDIRECT: u8 = 32;
/// The fields of the variable mention other variables, which are in the map, too.
pub(super) const FIELDS: u8 = 64;
/// The definition of the variable also binds the variables mentioned by its fields.
pub(super) const RECURSIVE: u8 = 128;
/// The properties that all occurrences together have.
const COLLECTED: u8 = KEY | DIRECT | INDIRECT | FIELDS;
/// A mark, as [`DIRECT`]: the current scope binds the variable.
pub(super) const OWN: u8 = 8;
/// A mark: a scope around binds the variable.
pub(super) const OUTER: u8 = 16;

impl Positions {
    /// One occurrence, at the root of a subterm of this height.
    pub(super) fn here(mixing: Mixing, group: Group, height: u32, flags: u8) -> Self {
        let mut groups = [0; 3];
        groups[group as usize] = mixing.fold(u64::from(height) ^ HERE).max(1);
        Positions {
            groups,
            flags: flags | DIRECT,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups == [0; 3]
    }

    /// The number of groups with positions.
    pub(super) fn weight(&self) -> u32 {
        self.groups.iter().map(|hash| u32::from(*hash != 0)).sum()
    }

    pub(super) fn is_free(&self) -> bool {
        self.groups[1] | self.groups[2] == 0
    }

    pub(super) fn has(&self, group: Group) -> bool {
        self.groups[group as usize] != 0
    }

    /// The properties wanted by searches in a map: [`DIRECT`], [`OWN`] and [`OUTER`].
    pub(super) fn marks(&self) -> u8 {
        let own = u8::from(self.has(Group::Own)) * OWN;
        let outer = u8::from(self.has(Group::Outer)) * OUTER;
        self.flags & DIRECT | own | outer
    }

    /// True if comparison itself must decide. Either the variable is a key, hashed by
    /// identity, and bound. Or the meaning of the variable has changed, and with it the
    /// meaning of fields, which comparison visits only once.
    pub(super) fn is_irregular(&self) -> bool {
        let is_bound_key = self.flags & KEY != 0 && !self.is_free();
        is_bound_key || self.flags & (FIELDS | INDIRECT) != 0 && self.weight() > 1
    }

    /// True if a map with this entry, if any, already has all variables mentioned by
    /// the fields of the variable, with the same meaning.
    pub(super) fn covers(old: Option<Positions>, new: Positions) -> bool {
        let Some(old) = old.filter(|old| old.flags & FIELDS != 0) else {
            return new.flags & FIELDS == 0;
        };
        let are_defined_alike = || {
            let groups = |positions: Positions| positions.groups.map(|hash| hash != 0);
            !old.has(Group::Free)
                && groups(old) == groups(new)
                && old.flags & new.flags & RECURSIVE != 0
        };
        new.is_free() || are_defined_alike()
    }
}

const HERE: u64 = 0x6a09_e667_f3bc_c908;

/// The positions of a variable in a parent, from its positions in the largest child and
/// in another child, or in all earlier children and another child.
pub(super) fn joined(
    mixing: Mixing,
    mark: u64,
    big: Positions,
    small: Positions,
    later: bool,
) -> Positions {
    if big.is_free() && small.is_free() {
        // Most variables are only used.
        let (first, second) = if later { (big, small) } else { (small, big) };
        let mixed = mixing.fold(mark.rotate_left(5) ^ first.groups[0]);
        let mixed = [second.groups[0], 0, 0]
            .into_iter()
            .fold(mixed, |mixed, hash| {
                mixing.fold(mixed.rotate_left(5) ^ hash)
            });
        let flags = (first.flags | second.flags) & COLLECTED;
        let fixed = match first.groups[0] {
            0 => second.flags,
            _ => first.flags,
        };
        return Positions {
            groups: [mixed.max(1), 0, 0],
            flags: flags | fixed & FIXED,
        };
    }
    let (first, second) = if later { (big, small) } else { (small, big) };
    // The groups to which the occurrences of the second child belong.
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
        let of_second = |source: usize| {
            if routes[source] == target {
                second.groups[source]
            } else {
                0
            }
        };
        let moved = [of_second(0), of_second(1), of_second(2)];
        let kept = first.groups[target];
        if kept == 0 && moved == [0; 3] {
            continue;
        }
        let is_untouched = if later {
            moved == [0; 3]
        } else {
            kept == 0 && moved[target] == second.groups[target] && {
                let others = (0..3).filter(|source| *source != target);
                others.map(|source| moved[source]).all(|hash| hash == 0)
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
    let first_free = if first.has(Group::Free) {
        first.flags
    } else if routes[free] == free {
        second.flags
    } else {
        0
    };
    let definition = if first.is_free() { second } else { first };
    let flags = (first.flags | second.flags) & COLLECTED
        | first_free & FIXED
        | definition.flags & RECURSIVE;
    Positions { groups, flags }
}

/// For each variable, the variables whose fields mention the variable directly: outside
/// of the fields of a third variable.
///
/// Direct mentions suffice to find all variables that depend on a variable. A map with
/// a variable also contains all variables mentioned in its fields, and thereby every
/// link of a chain of mentions.
#[derive(Default)]
pub(super) struct Mentions {
    pairs: HashSet<(u64, u64), RandomState>,
    by_part: HashMap<u64, Vec<u64>, RandomState>,
    by_whole: HashMap<u64, Vec<u64>, RandomState>,
}

impl Mentions {
    /// Records that the fields of `whole` mention `part`.
    pub(super) fn note(&mut self, part: u64, whole: u64) {
        if self.pairs.insert((part, whole)) {
            self.by_part.entry(part).or_default().push(whole);
            self.by_whole.entry(whole).or_default().push(part);
        }
    }

    /// The variables whose fields mention this variable.
    pub(super) fn of(&self, part: u64) -> &[u64] {
        self.by_part.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The variables mentioned by the fields of this variable.
    pub(super) fn in_fields_of(&self, whole: u64) -> &[u64] {
        self.by_whole.get(&whole).map_or(&[], Vec::as_slice)
    }

    /// True if the fields of `whole` mention `part`.
    pub(super) fn contains(&self, part: u64, whole: u64) -> bool {
        self.pairs.contains(&(part, whole))
    }
}
