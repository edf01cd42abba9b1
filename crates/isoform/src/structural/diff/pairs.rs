//! The numbers of pairs of nodes.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

/// The pair around the roots, which occurs once.
pub(super) const TOP: u32 = 0;

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
