//! The loop bodies on whose inputs facts depend, and the calls to forget when these
//! inputs change.

use std::collections::HashMap;
use std::sync::Arc;

use isoform::Ref;

use crate::ir::Call;

/// The inputs of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Scope(u32);

/// A set of scopes. Scopes nest, so the nesting depth of bodies limits the size of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Depends(u32);

/// Scopes, sets of scopes, and the calls that depend on a scope.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The members of every set except the empty set, in ascending order.
    sets: Vec<Arc<[Scope]>>,
    known: HashMap<Arc<[Scope]>, Depends>,
    unions: HashMap<(Depends, Depends), Depends>,
    journals: Vec<Journal>,
}

/// The calls whose facts depend on a scope.
#[derive(Debug, Default)]
struct Journal {
    /// Since its inputs were bound the last time, or since the round began.
    current: Vec<Ref<Call>>,
    earlier: Vec<Ref<Call>>,
}

impl Scopes {
    pub(super) fn add(&mut self) -> Scope {
        let scope = Scope(self.journals.len() as u32);
        self.journals.push(Journal::default());
        scope
    }

    /// The set with one member.
    pub(super) fn only(&mut self, scope: Scope) -> Depends {
        self.set(&[scope])
    }

    /// The members of both. O(1) for sets that were united before.
    pub(super) fn union(&mut self, left: Depends, right: Depends) -> Depends {
        if left == right || right == Depends::default() {
            return left;
        }
        if left == Depends::default() {
            return right;
        }
        if let Some(known) = self.unions.get(&(left, right)) {
            return *known;
        }
        let mut members = [&*self.members(left), &*self.members(right)].concat();
        members.sort_unstable();
        members.dedup();
        let union = self.set(&members);
        self.unions.insert((left, right), union);
        union
    }

    /// The other members.
    pub(super) fn without(&mut self, set: Depends, scope: Scope) -> Depends {
        let mut members = self.members(set).to_vec();
        members.retain(|member| *member != scope);
        self.set(&members)
    }

    /// Records a call whose facts depend on these scopes. The journals of the scopes in
    /// `noted` have the call already: with a second entry for each closed loop, their
    /// lengths would double with every level of nesting.
    pub(super) fn note(&mut self, call: &Ref<Call>, depends: Depends, noted: Depends) {
        let noted = self.members(noted);
        for scope in self.members(depends).iter() {
            if noted.binary_search(scope).is_err() {
                self.journal(*scope).current.push(call.clone());
            }
        }
    }

    /// Takes the calls of the current round out of the journal.
    pub(super) fn take_round(&mut self, scope: Scope) -> Vec<Ref<Call>> {
        std::mem::take(&mut self.journal(scope).current)
    }

    /// The calls of all rounds, which the journal then forgets.
    pub(super) fn take_all(&mut self, scope: Scope) -> Vec<Ref<Call>> {
        let mut calls = std::mem::take(&mut self.journal(scope).earlier);
        calls.append(&mut self.journal(scope).current);
        calls
    }

    /// Begins a round with new bindings. The facts of known calls hold under these
    /// bindings, too.
    pub(super) fn begin(&mut self, scope: Scope) {
        let journal = self.journal(scope);
        journal.earlier.append(&mut journal.current);
    }

    fn members(&self, set: Depends) -> Arc<[Scope]> {
        let at = (set.0 as usize).checked_sub(1);
        at.map_or_else(Arc::default, |at| self.sets[at].clone())
    }

    fn journal(&mut self, scope: Scope) -> &mut Journal {
        &mut self.journals[scope.0 as usize]
    }

    fn set(&mut self, members: &[Scope]) -> Depends {
        if members.is_empty() {
            return Depends::default();
        }
        if let Some(known) = self.known.get(members) {
            return *known;
        }
        let members: Arc<[Scope]> = members.into();
        self.sets.push(members.clone());
        let set = Depends(self.sets.len() as u32);
        self.known.insert(members, set);
        set
    }
}
