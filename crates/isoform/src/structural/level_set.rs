//! A set of scope levels from which only the highest level is ever removed.
//!
//! While a shared node is visited, the levels used by the node are collected. When a
//! scope ends, its level leaves the set, and from then on the node depends on the next
//! lower level. The set must therefore contain more than the highest level.
//!
//! A node may be below millions of scopes, as in a long chain of lets. The set is
//! therefore a window: the 64 levels from the highest one down are exact, and lower
//! levels only have an upper bound. All levels up to the bound count as used, which is
//! safe: a result is then forgotten earlier than necessary.

/// A set of scope levels, exact for the 64 levels below the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LevelSet {
    /// Bit `i` represents the level `i` below the highest; bit 0 is set unless
    /// the set is empty.
    window: u64,
    /// One above the highest level; 0 if the set is empty.
    end: u32,
    /// Levels below this count as members.
    rest: u32,
}

impl LevelSet {
    pub(crate) const EMPTY: LevelSet = LevelSet {
        window: 0,
        end: 0,
        rest: 0,
    };

    /// The highest level; None if the set is empty.
    #[inline(always)]
    pub(crate) fn highest(self) -> Option<u32> {
        self.end.checked_sub(1)
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, level: u32) {
        // The level is nearly always in the window. If the level is not lower than
        // `end`, the difference is a huge number, as levels are below 2^30: a region
        // stores a level beside two other bits.
        let below = self.end.wrapping_sub(level + 1);
        if below < u64::BITS {
            self.window |= 1 << below;
        } else {
            self.insert_far(level);
        }
    }

    /// Inserts the first level, a new highest level, or a level below the window.
    fn insert_far(&mut self, level: u32) {
        self.unite(LevelSet {
            window: 1,
            end: level + 1,
            rest: 0,
        });
    }

    /// Adds the members of another set.
    #[inline]
    pub(crate) fn unite(&mut self, other: LevelSet) {
        if other.end == self.end {
            self.window |= other.window;
            self.rest = self.rest.max(other.rest);
        } else if self.end == 0 {
            *self = other;
        } else if other.end != 0 {
            self.unite_apart(other);
        }
    }

    /// Adds the members of a set with another highest level; neither is empty.
    fn unite_apart(&mut self, other: LevelSet) {
        let end = self.end.max(other.end);
        let (own, others) = (self.seen_from(end), other.seen_from(end));
        *self = LevelSet {
            window: own.0 | others.0,
            end,
            rest: own.1.max(others.1),
        };
    }

    /// Window and rest of a set that is not empty, for a window below `end`. This `end`
    /// is not below the set's own `end`.
    fn seen_from(self, end: u32) -> (u64, u32) {
        let distance = end - self.end;
        if distance == 0 {
            return (self.window, self.rest);
        }
        if distance >= u64::BITS {
            return (0, self.rest.max(self.end));
        }
        // The highest level among the members that leave the window.
        let leaving = self.window >> (u64::BITS - distance);
        let rest = match leaving {
            0 => 0,
            _ => self.end - (u64::BITS - distance) - leaving.trailing_zeros(),
        };
        (self.window << distance, self.rest.max(rest))
    }

    /// Removes a level without members above.
    #[inline]
    pub(crate) fn remove_highest(&mut self, level: u32) {
        if self.end != level + 1 {
            return;
        }
        let window = self.window >> 1;
        let steps = window.trailing_zeros();
        let end = match window {
            0 => 0,
            _ => level - steps,
        };
        let rest = self.rest.min(level);
        *self = if rest > end {
            // The window only covers levels that count as used anyway.
            LevelSet {
                window: 1,
                end: rest,
                rest: rest - 1,
            }
        } else {
            let window = window.checked_shr(steps).unwrap_or(0);
            LevelSet { window, end, rest }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::LevelSet;

    /// The members, from the highest down.
    fn drained(mut set: LevelSet) -> Vec<u32> {
        let mut members = Vec::new();
        while let Some(level) = set.highest() {
            members.push(level);
            set.remove_highest(level);
        }
        members
    }

    fn set_of(levels: &[u32]) -> LevelSet {
        let mut set = LevelSet::EMPTY;
        levels.iter().for_each(|&level| set.insert(level));
        set
    }

    #[track_caller]
    fn check(levels: &[u32], expected: &[u32]) {
        assert_eq!(drained(set_of(levels)), expected, "of {levels:?}");
    }

    #[test]
    fn a_window_of_levels_is_exact() {
        check(&[], &[]);
        check(&[0], &[0]);
        check(&[2, 1, 2], &[2, 1]);
        check(&[0, 63, 7], &[63, 7, 0]);
        check(&[1063, 1000, 1007], &[1063, 1007, 1000]);
    }

    #[test]
    fn below_the_window_an_upper_bound_is_known() {
        check(&[100, 3], &[100, 3, 2, 1, 0]);
        check(&[3, 100], &[100, 3, 2, 1, 0]);
        check(&[100, 0], &[100, 0]);
        check(&[64, 0], &[64, 0]);
        check(&[3, 66, 67], &[67, 66, 3, 2, 1, 0]);
        check(&[1, 2, 66], &[66, 2, 1, 0]);
        check(&[(1 << 30) - 1, 0], &[(1 << 30) - 1, 0]);
    }

    #[test]
    fn levels_other_than_the_highest_stay() {
        let mut set = set_of(&[5, 2]);
        set.remove_highest(6);
        assert_eq!(drained(set), [5, 2]);
        let mut set = LevelSet::EMPTY;
        set.remove_highest(0);
        assert_eq!(set, LevelSet::EMPTY);
    }

    /// Compares random sets with sets of the standard library: no member is lost, the
    /// highest level is right, and close levels are exact.
    #[test]
    fn random_sets_contain_what_was_put_in() {
        let mut state = 1u64;
        let mut below = |limit: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(9);
            (state >> 33) as u32 % limit
        };
        for round in 0..20_000 {
            let reach = [10, 63, 64, 65, 100, 300][round % 6];
            let mut sets = [LevelSet::EMPTY; 3];
            let mut models = [const { BTreeSet::new() }; 3];
            for _ in 0..below(30) {
                let (first, second) = (below(3) as usize, below(3) as usize);
                match below(8) {
                    0 => {
                        let other = sets[second];
                        sets[first].unite(other);
                        let more = models[second].clone();
                        models[first].extend(more);
                    }
                    1 => {
                        // As at the end of a scope: no set has a higher level.
                        let Some(top) = sets.iter().filter_map(|set| set.highest()).max() else {
                            continue;
                        };
                        sets.iter_mut().for_each(|set| set.remove_highest(top));
                        for model in &mut models {
                            model.remove(&top);
                        }
                    }
                    _ => {
                        let level = below(reach);
                        sets[first].insert(level);
                        models[first].insert(level);
                    }
                }
            }
            for (set, model) in sets.into_iter().zip(&models) {
                let members = drained(set);
                assert!(model.iter().all(|level| members.contains(level)));
                if reach <= 64 {
                    assert!(members.iter().rev().eq(model), "{members:?}, {model:?}");
                }
            }
        }
    }
}
