//! The keys of the inputs or outputs of three models, and their order.

use std::collections::{HashMap, HashSet};

use isoform::compare::CompareOptions;
use isoform::{Map, Result, Str, Value};

use super::args::Favored;

/// The keys of the inputs or outputs of all versions, in their order there.
pub(super) struct Keys {
    pub(super) names: [Vec<Str>; 3],
    pub(super) versions: [Vec<Str>; 3],
    /// Each key once.
    pub(super) all: Vec<Str>,
}

impl Keys {
    /// The keys of parts with names and types: the name in the base, or the own name of a part
    /// that the base lacks. A part counts as renamed if it has the position and the type of a
    /// part of the base, and as many parts are new as are gone.
    pub(super) fn new(names: [Vec<Str>; 3], types: [&[Value]; 3]) -> Result<Self> {
        let [base, left, right] = names.clone().map(distinct);
        let mut versions = [base.clone(), left, right];
        for version in [1, 2] {
            let names = &versions[version];
            let [gone, new] = [(&base, names), (names, &base)].map(|(from, others)| {
                let others: HashSet<&Str> = others.iter().collect();
                let positions = 0..from.len();
                let rest = positions.filter(|&position| !others.contains(&from[position]));
                rest.collect::<Vec<usize>>()
            });
            let mut is_renamed = gone == new;
            for &position in &gone {
                is_renamed = is_renamed && are_like(types, version, position)?;
            }
            if is_renamed {
                for position in gone {
                    versions[version][position] = base[position].clone();
                }
            }
        }
        let mut seen = HashSet::new();
        let all = versions.iter().flatten();
        let all = all.filter(|key| seen.insert((*key).clone()));
        let all = all.cloned().collect();
        Ok(Keys {
            names,
            versions,
            all,
        })
    }

    /// The parts of a version by key, with None for absent parts.
    pub(super) fn map(
        &self,
        version: usize,
        parts: impl Iterator<Item = Value>,
    ) -> Map<Str, Value> {
        let keys = self.versions[version].iter();
        let parts: HashMap<&Str, Value> = keys.zip(parts).collect();
        let part = |key: &Str| parts.get(key).cloned().unwrap_or_default();
        let all = self.all.iter();
        all.map(|key| (key.clone(), part(key))).collect()
    }

    /// The old and new names of parts that a side renamed.
    pub(super) fn renamed(&self, version: usize) -> Vec<(&Str, &Str)> {
        let of = |version: usize| self.versions[version].iter().zip(&self.names[version]);
        let base: HashMap<&Str, &Str> = of(0).collect();
        of(version)
            .filter_map(|(key, name)| Some((*base.get(key)?, name)))
            .filter(|(old, new)| old != new)
            .collect()
    }

    /// The keys that a side has and the base lacks.
    pub(super) fn additions(&self, version: usize) -> HashSet<&Str> {
        let base: HashSet<&Str> = self.versions[0].iter().collect();
        let keys = self.versions[version].iter();
        keys.filter(|key| !base.contains(key)).collect()
    }

    /// True if a side has the keys of the base in another order.
    pub(super) fn has_other_order(&self, version: usize) -> bool {
        let [one, other] = [(0, version), (version, 0)].map(|(from, to)| {
            let others: HashSet<&Str> = self.versions[to].iter().collect();
            let keys = self.versions[from].iter();
            keys.filter(|key| others.contains(key)).collect::<Vec<_>>()
        });
        one != other
    }

    /// The keys that are there, in the order of the side that changed the order, with the parts
    /// of the other side after the same neighbours. None if both sides changed the order in
    /// different ways, and no version is favored. O(n).
    pub(super) fn order(
        &self,
        is_there: impl Fn(&Str) -> bool,
        favored: Option<Favored>,
    ) -> Option<Vec<Str>> {
        let there = self.versions.each_ref().map(|keys| {
            let there = keys.iter().filter(|key| is_there(key));
            there.cloned().collect::<Vec<Str>>()
        });
        let mut counts: HashMap<&Str, usize> = HashMap::new();
        for key in there.iter().flatten() {
            *counts.entry(key).or_default() += 1;
        }
        let common = there.each_ref().map(|keys| {
            let common = keys.iter().filter(|key| counts[*key] == there.len());
            common.collect::<Vec<&Str>>()
        });
        let [base, left, right] = &common;
        let main = match favored {
            _ if left == base => 2,
            _ if right == base || right == left => 1,
            None => return None,
            Some(Favored::Base) => 0,
            Some(Favored::Left) => 1,
            Some(Favored::Right) => 2,
        };
        let main = &there[main];
        let in_main: HashSet<&Str> = main.iter().collect();
        let mut placed = in_main.clone();
        let mut followers: HashMap<Option<&Str>, Vec<&Str>> = HashMap::new();
        for keys in [&there[1], &there[2], &there[0]] {
            let mut last = None;
            for key in keys {
                if placed.insert(key) {
                    followers.entry(last).or_default().push(key);
                } else if in_main.contains(key) {
                    last = Some(key);
                }
            }
        }
        let places = std::iter::once(None).chain(main.iter().map(Some));
        let keys = places.flat_map(|key| {
            let after = followers.get(&key).into_iter().flatten().copied();
            key.into_iter().chain(after)
        });
        Some(keys.cloned().collect())
    }
}

/// True if a side has a part like the base's part at a position.
fn are_like(types: [&[Value]; 3], version: usize, position: usize) -> Result<bool> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    match [0, version].map(|version| types[version].get(position)) {
        [Some(one), Some(other)] => options.equal(one, other),
        _ => Ok(false),
    }
}

/// Names with a number after a repeated one. O(n) on average.
fn distinct(names: Vec<Str>) -> Vec<Str> {
    let mut seen = HashSet::new();
    let mut numbers: HashMap<Str, usize> = HashMap::new();
    let distinct = |name: Str| {
        let mut own = name.clone();
        while !seen.insert(own.clone()) {
            let number = numbers.entry(name.clone()).or_insert(1);
            *number += 1;
            own = format!("{name} ({number})").into();
        }
        own
    };
    names.into_iter().map(distinct).collect()
}
