//! Pairs of nodes: their numbers, the circumstances of visiting them, and the partners of
//! nodes.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::places::{Link, ROOT};
use super::tables::{HAS_VARS, NONE};
use super::walk::Walk;
use crate::kernel::types::region::RegionKind;

/// The pair around the roots, which occurs once.
pub(super) const TOP: u32 = 0;

/// The number of partners that a node may have for free. Further pairs take steps off a
/// budget, which limits the cost of heavily shared graphs to their size.
const FREE_PARTNERS: u8 = 8;

/// How a pair came about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Mode {
    /// The nodes correspond.
    Partners,
    /// One node is a copy of the other node, which has a different partner.
    Copy,
    /// The right node replaced the left node, so differences between the nodes themselves
    /// do not count.
    Replaced,
}

/// The circumstances of visiting a pair, on which the findings depend.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Visit {
    pub(super) mode: Mode,
    /// True if the visit binds variables.
    pub(super) binds: bool,
    /// True inside of a pair visited separately: the scopes around the pair are not
    /// open.
    pub(super) is_apart: bool,
}

const PARTNERS: Visit = Visit {
    mode: Mode::Partners,
    binds: false,
    is_apart: false,
};

/// The numbers of the pairs opened by a walk. Most nodes are in one pair, which is
/// found without a hash.
pub(super) struct Pairs {
    /// By left node: the right node and the number of the first pair of partners, or
    /// [`TOP`] for a left node without such a pair.
    first: Vec<(u32, u32)>,
    others: HashMap<(u32, u32, Visit), u32, RandomState>,
    /// The epochs of the bindings in which pairs were opened, by number of the pair.
    /// Pairs of the first epoch are missing.
    epochs: HashMap<u32, u32, RandomState>,
}

impl Pairs {
    /// An empty table for this many left nodes.
    pub(super) fn new(count: usize) -> Self {
        Pairs {
            first: vec![(0, TOP); count],
            others: HashMap::default(),
            epochs: HashMap::default(),
        }
    }

    /// The number of a known pair.
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32, visit: Visit) -> Option<u32> {
        if visit == PARTNERS {
            match self.first[left as usize] {
                (_, TOP) => return None,
                (known, number) if known == right => return Some(number),
                _ => {}
            }
        }
        self.others.get(&(left, right, visit)).copied()
    }

    /// The epoch of the bindings in which a pair was opened.
    #[inline]
    pub(super) fn epoch(&self, number: u32) -> u32 {
        if self.epochs.is_empty() {
            0
        } else {
            self.epochs.get(&number).copied().unwrap_or(0)
        }
    }

    /// Adds a pair, which may replace the same pair of an earlier epoch.
    #[inline]
    pub(super) fn insert(&mut self, left: u32, right: u32, visit: Visit, number: u32, epoch: u32) {
        let first = &mut self.first[left as usize];
        if visit == PARTNERS && (first.1 == TOP || first.0 == right) {
            *first = (right, number);
        } else {
            self.others.insert((left, right, visit), number);
        }
        if epoch > 0 {
            self.epochs.insert(number, epoch);
        }
    }
}

impl Walk<'_> {
    pub(super) fn new_pair(&mut self) -> u32 {
        self.pair_count += 1;
        self.pair_count - 1
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pair_count as usize
    }

    /// The pair around two nodes that the walk has not met at their place, and their
    /// place. The pair has the given number of occurrences, or one unless the walk
    /// meets the nodes elsewhere later.
    pub(super) fn open_apart(&mut self, left: u32, right: u32, times: Option<u64>) -> (u32, u32) {
        let top = self.new_pair();
        self.times_apart.push((top, times));
        let place = self.places.add(ROOT, Link::Node(left), Link::Node(right));
        (top, place)
    }

    /// The circumstances of visiting a pair with this left node in a region.
    #[inline]
    pub(super) fn visit(&self, left: u32, region: RegionKind) -> Visit {
        Visit {
            mode: self.mode,
            binds: region != RegionKind::Use && self.left.node(left).has(HAS_VARS),
            is_apart: self.is_apart,
        }
    }

    /// True if variables have got other partners since the visit of a pair, and the
    /// budget suffices for a second visit.
    #[inline]
    pub(super) fn is_due_again(&mut self, left: u32, right: u32, known: u32) -> bool {
        let has_vars = self.left.node(left).has(HAS_VARS);
        if !has_vars || self.pairs.epoch(known) == self.bindings.epoch {
            return false;
        }
        let steps = self.steps(left, right);
        take_steps(&mut self.again_budget, steps)
    }

    /// The maximum number of steps for aligning the parts of two nodes.
    fn steps(&self, left: u32, right: u32) -> u64 {
        let lengths = (self.left.node(left).count, self.right.node(right).count);
        1 + u64::from(lengths.0) * u64::from(lengths.1)
    }

    /// The number of a new pair inside of another pair, for a visit.
    pub(super) fn open_pair(&mut self, left: u32, right: u32, visit: Visit, around: u32) -> u32 {
        let number = self.new_pair();
        self.is_met[right as usize] |=
            visit.mode != Mode::Copy && self.partners[1][right as usize] == left;
        let epoch = self.bindings.epoch;
        self.pairs.insert(left, right, visit, number, epoch);
        self.edges.push((around, number));
        if self.left.node(left).is_dag() && self.right.node(right).is_dag() {
            self.dag_pairs.push(number);
        }
        number
    }

    /// True unless both nodes have many partners, and the budget for further partners
    /// is spent.
    pub(super) fn may_pair(&mut self, left: u32, right: u32) -> bool {
        let [of_left, of_right] = &mut self.partner_counts;
        let counts = (&mut of_left[left as usize], &mut of_right[right as usize]);
        *counts.0 = counts.0.saturating_add(1);
        *counts.1 = counts.1.saturating_add(1);
        if *counts.0 <= FREE_PARTNERS || *counts.1 <= FREE_PARTNERS {
            return true;
        }
        let steps = self.steps(left, right);
        take_steps(&mut self.further_budget, steps)
    }

    pub(super) fn pair_up(&mut self, left: u32, right: u32) {
        let partners = (
            self.partners[0][left as usize],
            self.partners[1][right as usize],
        );
        if partners == (NONE, NONE) {
            self.partners[0][left as usize] = right;
            self.partners[1][right as usize] = left;
        }
    }
}

/// Takes steps off a budget; false if the budget is too small.
pub(super) fn take_steps(budget: &mut u64, steps: u64) -> bool {
    let rest = budget.checked_sub(steps);
    *budget = rest.unwrap_or(*budget);
    rest.is_some()
}
