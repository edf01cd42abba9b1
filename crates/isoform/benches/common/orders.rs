//! The orders in which the tree of the workload W is built.
//!
//! They decide where its nodes lie in memory, and this how fast a tree that
//! does not fit the cache is walked.

use super::Numbers;

#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// Children before their parent, the left one first: how most builders
    /// work.
    ChildrenFirst,
    /// Children before their parent, the right one first: a walk goes steadily
    /// down.
    RightFirst,
    /// All leaves, then all their parents, and so on, each from left to right.
    ByLevel,
    /// By level, and each level in a random order.
    Shuffled,
}

impl Order {
    pub(crate) const ALL: [(&'static str, Order); 4] = [
        ("children first", Order::ChildrenFirst),
        ("right first", Order::RightFirst),
        ("by level", Order::ByLevel),
        ("shuffled", Order::Shuffled),
    ];

    /// A balanced tree whose leaves are numbered from one, from left to right.
    pub(crate) fn tree<T: Clone>(
        self,
        depth: u32,
        leaf: &mut impl FnMut(i64) -> T,
        inner: &mut impl FnMut(T, T) -> T,
    ) -> T {
        match self {
            Order::ChildrenFirst | Order::RightFirst => self.below(depth, 1, leaf, inner),
            Order::ByLevel => levels(depth, leaf, inner, &mut |_| {}),
            Order::Shuffled => {
                let mut numbers = Numbers::new(1);
                levels(depth, leaf, inner, &mut |order| numbers.shuffle(order))
            }
        }
    }

    /// The subtree whose leaves are numbered from `first` on.
    fn below<T>(
        self,
        depth: u32,
        first: i64,
        leaf: &mut impl FnMut(i64) -> T,
        inner: &mut impl FnMut(T, T) -> T,
    ) -> T {
        if depth == 0 {
            return leaf(first);
        }
        let middle = first + (1 << (depth - 1));
        if let Order::RightFirst = self {
            let rhs = self.below(depth - 1, middle, leaf, inner);
            let lhs = self.below(depth - 1, first, leaf, inner);
            return inner(lhs, rhs);
        }
        let lhs = self.below(depth - 1, first, leaf, inner);
        let rhs = self.below(depth - 1, middle, leaf, inner);
        inner(lhs, rhs)
    }
}

fn levels<T: Clone>(
    depth: u32,
    leaf: &mut impl FnMut(i64) -> T,
    inner: &mut impl FnMut(T, T) -> T,
    arrange: &mut dyn FnMut(&mut [usize]),
) -> T {
    let mut level = |count: usize, make: &mut dyn FnMut(usize) -> T| {
        let mut order: Vec<usize> = (0..count).collect();
        arrange(&mut order);
        let mut nodes: Vec<(usize, T)> = order.iter().map(|&at| (at, make(at))).collect();
        nodes.sort_unstable_by_key(|(at, _)| *at);
        nodes.into_iter().map(|(_, node)| node).collect::<Vec<T>>()
    };
    let mut nodes = level(1 << depth, &mut |at| leaf(at as i64 + 1));
    while nodes.len() > 1 {
        nodes = level(nodes.len() / 2, &mut |at| {
            inner(nodes[2 * at].clone(), nodes[2 * at + 1].clone())
        });
    }
    nodes.swap_remove(0)
}
