//! The operations that correspond, following the changes of lists of operations.

use hashbrown::{HashMap, HashSet};
use isoform::Ref;
use isoform::compare::{ChangeKind, Difference};
use rapidhash::fast::RandomState;

use super::sites::{ChangeSite, Part};
use crate::nodes::{Operation, Program, Region};

type ByIdentity<T> = HashMap<u64, T, RandomState>;

/// For each operation of a side, the one on the other side.
pub(crate) struct OperationPairs {
    /// The partners on the right, and those on the left.
    partners: [ByIdentity<Ref<Operation>>; 2],
    /// The operation around the list in which an operation is, by side.
    parents: [ByIdentity<Ref<Operation>>; 2],
}

impl OperationPairs {
    /// Pairs the operations of two programs: in each list, the operations that were neither
    /// added, removed nor moved are partners in their order. Linear.
    pub(crate) fn new(difference: &Difference, programs: [&Ref<Program>; 2]) -> OperationPairs {
        let mut alone: [HashSet<u64, RandomState>; 2] = Default::default();
        for change in difference.changes() {
            if !matches!(
                change.kind(),
                ChangeKind::Inserted | ChangeKind::Deleted | ChangeKind::Moved
            ) {
                continue;
            }
            for (left, right) in change.places() {
                for (side, place) in [left, right].into_iter().enumerate() {
                    let other = [ChangeKind::Inserted, ChangeKind::Deleted][side];
                    if change.kind() == other {
                        continue;
                    }
                    let site = ChangeSite::of(&place);
                    if site.part == Part::Operation
                        && let Some(operation) = site.operation
                    {
                        alone[side].insert(operation.identity());
                    }
                }
            }
        }
        let mut pairs = OperationPairs {
            partners: Default::default(),
            parents: Default::default(),
        };
        for (side, program) in programs.into_iter().enumerate() {
            pairs.add_parents(side, &program.module);
        }
        let mut open = vec![programs.map(|program| program.module.clone())];
        while let Some([left, right]) = open.pop() {
            for (l, r) in left.regions.iter().zip(&right.regions) {
                let lists = [(0, l), (1, r)].map(|(side, region): (usize, &Ref<Region>)| {
                    region
                        .operations()
                        .filter(|operation| !alone[side].contains(&operation.identity()))
                        .collect::<Vec<_>>()
                });
                if lists[0].len() == lists[1].len() {
                    let [l, r] = lists;
                    open.extend(l.into_iter().zip(r).map(|(l, r)| [l.clone(), r.clone()]));
                }
            }
            let [left_partners, right_partners] = &mut pairs.partners;
            left_partners.insert(left.identity(), right.clone());
            right_partners.insert(right.identity(), left);
        }
        pairs
    }

    fn add_parents(&mut self, side: usize, module: &Ref<Operation>) {
        let mut open = vec![module];
        while let Some(parent) = open.pop() {
            for operation in parent.inner() {
                self.parents[side].insert(operation.identity(), parent.clone());
                open.push(operation);
            }
        }
    }

    /// The operation on the left that corresponds to one on the right.
    pub(crate) fn on_left(&self, right: &Ref<Operation>) -> Option<&Ref<Operation>> {
        self.partners[1].get(&right.identity())
    }

    /// Adds the partner of an operation that is known on one side alone.
    pub(super) fn complete(&self, sides: &mut [Option<Ref<Operation>>; 2]) {
        for side in 0..2 {
            if sides[1 - side].is_none()
                && let Some(operation) = &sides[side]
            {
                sides[1 - side] = self.partners[side].get(&operation.identity()).cloned();
            }
        }
    }

    /// The operations around an operation, the innermost first.
    pub(super) fn around(
        &self,
        side: usize,
        operation: &Ref<Operation>,
    ) -> impl Iterator<Item = &Ref<Operation>> {
        let parent = move |inner: &Ref<Operation>| self.parents[side].get(&inner.identity());
        std::iter::successors(parent(operation), move |inner| parent(inner))
    }
}
