//! Hashes of shared nodes: their validity, and their keys.

use smallvec::SmallVec;

use super::super::environments::VarDependency;
use super::super::levels::{Deps, FEW, Levels};
use super::super::scope::Region;
use super::super::var_numbering::{VarKey, VarNumbering};
use super::{CachedHash, HashTables};

impl<Out: Copy, Lasting> HashTables<Out, Lasting> {
    /// The key of a hash, besides names: a dag node has another name inside a hook's
    /// question.
    fn subject(&self, ident: u64) -> [u64; 2] {
        [ident, u64::from(self.numbering.nesting())]
    }

    /// The hash of an object whose variables have the same names as in an earlier
    /// visit.
    #[cold]
    pub(super) fn recall_alike(&mut self, ident: u64, region: Region) -> Option<Out> {
        let subject = self.subject(ident);
        let (numbering, levels) = (&mut self.numbering, &mut self.levels);
        let (out, newest_dag) = self.environments.find(subject, |read, key| {
            name(numbering, levels, read, region)
                .map(|name| key.extend(name))
                .is_some()
        })?;
        if let Some(dag) = newest_dag.checked_sub(1) {
            levels.use_dag(dag);
        }
        for &read in self.environments.reads(subject) {
            if let Some(binding) = numbering.bindings.of(0, read.ident) {
                let level = numbering.bindings.get(binding).level;
                levels.use_again(binding, level, read.defined || region.is_field());
                if let Some((_, context)) = numbering.known_name(binding, levels) {
                    numbering.use_context(context);
                }
            }
        }
        Some(out)
    }

    /// Remembers the hash of an object, if a second visit would return the
    /// same.
    pub(super) fn remember(&mut self, ident: u64, out: Out, region: Region, was_void: bool) {
        let nothing = (Deps::NOTHING, 0, 0);
        let (before, context_before, changes) = self.touched.pop().unwrap_or(nothing);
        let context = self.numbering.end_use(context_before);
        let Some(needs) = self.levels.end(before) else {
            return;
        };
        if was_void && needs.is_exact() {
            let subject = self.subject(ident);
            let (numbering, levels) = (&mut self.numbering, &self.levels);
            let reads: SmallVec<[VarDependency; FEW]> = levels
                .kept(needs)
                .iter()
                .map(|entry| VarDependency {
                    ident: numbering.bindings.get(entry.binding).idents[0],
                    defined: entry.defined,
                })
                .collect();
            let name = |read, key: &mut Vec<u64>| {
                name(numbering, levels, read, region)
                    .map(|name| key.extend(name))
                    .is_some()
            };
            self.environments
                .keep(subject, reads.into_iter(), name, (out, needs.newest_dag));
        }
        let entry = CachedHash {
            out,
            needs,
            date: self.levels.now(),
            level: self.levels.current(),
            nesting: self.numbering.nesting(),
            context,
            can_change: self.changes != changes,
        };
        match self.known.get(ident) {
            Some(index) => self.results[index as usize] = entry,
            None => {
                self.known.set(ident, Some(self.results.len() as u32));
                self.results.push(entry);
            }
        }
    }
}

/// The name of a variable in the hash, if a visit in this region would use the
/// variable's binding and make no other binding.
fn name<Out: Copy>(
    numbering: &mut VarNumbering<Out>,
    levels: &Levels,
    read: VarDependency,
    region: Region,
) -> Option<[u64; 2]> {
    let index = numbering.bindings.of(0, read.ident)?;
    let level = numbering.bindings.get(index).level;
    let is_used = region.def_level().is_none_or(|def| level >= def)
        && (!read.defined || level >= levels.current());
    if !is_used {
        return None;
    }
    match numbering.known_name(index, levels)?.0 {
        VarKey::Identity => Some([u64::MAX; 2]),
        VarKey::Fields => Some([u64::MAX, 0]),
        VarKey::Number {
            distance,
            context,
            number,
            ..
        } => Some([
            u64::from(distance),
            u64::from(context) << 32 | u64::from(number),
        ]),
    }
}
