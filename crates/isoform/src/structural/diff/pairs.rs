//! The numbers of pairs of nodes.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

/// The pair around the roots, which occurs once.
pub(super) const TOP: u32 = 0;

/// The numbers of the pairs that a walk has opened. Most nodes are in one pair, which is
/// found without a hash.
pub(super) struct Pairs {
    /// By left node: the right node and the number of its first pair, [`TOP`] if it has none.
    first: Vec<(u32, u32)>,
    others: HashMap<(u32, u32), u32, RandomState>,
}

impl Pairs {
    /// No pairs of so many left nodes.
    pub(super) fn new(count: usize) -> Self {
        Pairs {
            first: vec![(0, TOP); count],
            others: HashMap::default(),
        }
    }

    /// The number of a pair, if it is known.
    #[inline]
    pub(super) fn get(&self, left: u32, right: u32) -> Option<u32> {
        match self.first[left as usize] {
            (_, TOP) => None,
            (known, number) if known == right => Some(number),
            _ => self.others.get(&(left, right)).copied(),
        }
    }

    /// Adds a pair that is not known.
    #[inline]
    pub(super) fn insert(&mut self, left: u32, right: u32, number: u32) {
        let first = &mut self.first[left as usize];
        match first.1 {
            TOP => *first = (right, number),
            _ => {
                self.others.insert((left, right), number);
            }
        }
    }
}
