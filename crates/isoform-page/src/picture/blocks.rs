//! The tree of blocks. Blocks without a proper parent are outermost blocks.

use super::Picture;

/// Frames inside of each other that are drawn. Deeper blocks are drawn without frames, so
/// that an edge crosses a bounded number of borders.
const DEEPEST: usize = 24;

/// The blocks that are drawn, with their parents. All numbers in it are in range, and no block
/// contains itself.
pub(super) struct Blocks {
    /// The parent of each block.
    pub(super) parents: Vec<Option<usize>>,
    /// The number of blocks around each block.
    pub(super) depths: Vec<usize>,
    /// The innermost block of each node.
    pub(super) of_nodes: Vec<Option<usize>>,
}

impl Blocks {
    /// O(nodes + blocks).
    pub(super) fn of(picture: &Picture) -> Self {
        let count = picture.blocks.len();
        let mut parents: Vec<Option<usize>> = (picture.blocks.iter())
            .map(|block| block.parent.filter(|&parent| parent < count))
            .collect();
        let mut depths: Vec<Option<usize>> = vec![None; count];
        for start in 0..count {
            let mut chain = Vec::new();
            let mut next = Some(start);
            while let Some(block) = next.filter(|&block| depths[block].is_none()) {
                // A number that no depth has marks the blocks of this chain.
                depths[block] = Some(usize::MAX);
                chain.push(block);
                next = parents[block];
            }
            if let (Some(last), Some(usize::MAX)) =
                (chain.last(), next.and_then(|block| depths[block]))
            {
                parents[*last] = None;
                next = None;
            }
            let around = next.and_then(|block| depths[block]);
            let outermost = around.map_or(0, |depth| depth + 1);
            for (depth, &block) in (outermost..).zip(chain.iter().rev()) {
                depths[block] = Some(depth);
            }
        }
        let depths: Vec<usize> = depths.into_iter().map(|depth| depth.unwrap_or(0)).collect();
        let mut blocks = Blocks {
            of_nodes: Vec::new(),
            parents,
            depths,
        };
        let innermost =
            (picture.nodes.iter()).map(|node| node.block.filter(|&block| block < count));
        blocks.of_nodes = innermost.collect();
        blocks
    }

    /// The same tree, cut at the depth of frames that are drawn. O(nodes + blocks).
    pub(super) fn drawn(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.parents.len()).collect();
        order.sort_by_key(|&block| self.depths[block]);
        // The innermost drawn block around each block, or the block itself.
        let mut drawn: Vec<usize> = (0..self.parents.len()).collect();
        for block in order {
            if self.depths[block] >= DEEPEST
                && let Some(parent) = self.parents[block]
            {
                drawn[block] = drawn[parent];
            }
        }
        for block in self.of_nodes.iter_mut().flatten() {
            *block = drawn[*block];
        }
        self
    }

    /// The outermost block around `block`, itself included, that `is_wanted` and lies inside of
    /// `root`; None if `block` is not inside of `root`. O(depth).
    pub(super) fn outermost(
        &self,
        block: Option<usize>,
        root: Option<usize>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<Option<usize>> {
        let mut outermost = None;
        let mut next = block;
        while next != root {
            let inner = next?;
            if is_wanted(inner) {
                outermost = Some(inner);
            }
            next = self.parents[inner];
        }
        Some(outermost)
    }
}
