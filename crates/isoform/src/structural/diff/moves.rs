//! Finds what was deleted in one place and inserted in another.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::change::ChangeKind;
use super::difference::occurrences;
use super::places::{Link, ROOT};
use super::tables::{Cell, IS_HOOKED, NONE, Node, Tables};
use super::walk::{Finding, Spot, Walk};
use crate::kernel::error::Result;

/// A part with fewer nodes than this moves only if it occurs once on each side, where a
/// shared one occurs at each of its places: small parts are alike by chance.
const LARGE: u64 = 4;

/// True for parts that can move: leaves and containers are everywhere, and dag nodes and
/// variables are used, not placed.
fn can_move(node: &Node) -> bool {
    node.size > 1 && node.counts() && !node.is_dag() && !node.is_var()
}

/// A node inside of a part that is on one side only.
struct Loose {
    node: u32,
    /// The finding about the part.
    finding: usize,
    /// True if it has more than one place.
    is_repeated: bool,
}

/// The value on one side of a finding, if it is there as a whole.
fn part_of_one_side(finding: &Finding, side: usize) -> Option<&Spot> {
    let kind = [ChangeKind::Deleted, ChangeKind::Inserted][side];
    // Where only the node itself was replaced, what is below is paired.
    let is_whole = finding.kind == kind
        || (finding.kind == ChangeKind::Replaced && finding.sizes.0.max(finding.sizes.1) > 1);
    let spot = [&finding.left, &finding.right][side].as_ref();
    spot.filter(|_| is_whole)
}

/// The nodes of all parts that are on one side only, the largest ones first within each part.
fn loose_nodes(walk: &Walk<'_>, side: usize, occurrences: &[u64]) -> Vec<Loose> {
    let tables = [walk.left, walk.right][side];
    let mut found = Vec::new();
    let mut tops = Vec::new();
    let mut seen: HashSet<u32, RandomState> = HashSet::default();
    for (number, finding) in walk.findings.iter().enumerate() {
        let Some(spot) = part_of_one_side(finding, side) else {
            continue;
        };
        let mut stack = Vec::new();
        if spot.node != NONE {
            stack.push(spot.node);
            tops.push((spot.node, occurrences[finding.pair as usize] > 1));
        }
        while let Some(node) = stack.pop() {
            let is_paired = walk.partners[side][node as usize] != NONE && node != spot.node;
            if is_paired || !seen.insert(node) {
                continue;
            }
            if tables.node(node).has(IS_HOOKED) {
                // Equal or replaced, as a whole.
                continue;
            }
            if can_move(tables.node(node)) {
                found.push(Loose {
                    node,
                    finding: number,
                    is_repeated: false,
                });
            }
            let parts = tables.cells(node).iter().rev();
            stack.extend(parts.filter_map(Cell::node_number));
        }
    }
    let repeated = repeated(tables, &tops, &seen);
    for loose in &mut found {
        loose.is_repeated = repeated.contains(&loose.node);
    }
    found
}

/// Those of some nodes that have several places among them, or are below one of these.
/// `tops` are the parts around them, each true if it has several places.
fn repeated(
    tables: &Tables,
    tops: &[(u32, bool)],
    among: &HashSet<u32, RandomState>,
) -> HashSet<u32, RandomState> {
    let mut placed: HashSet<u32, RandomState> = HashSet::default();
    let mut repeated: HashSet<u32, RandomState> = HashSet::default();
    for &(top, is_repeated) in tops {
        if !placed.insert(top) || is_repeated {
            repeated.insert(top);
        }
    }
    // Wholes have larger numbers than their parts.
    let mut order: Vec<u32> = among.iter().copied().collect();
    order.sort_unstable_by_key(|&node| std::cmp::Reverse(node));
    for node in order {
        let is_repeated = repeated.contains(&node);
        for part in tables.cells(node).iter().filter_map(Cell::node_number) {
            if among.contains(&part) && (!placed.insert(part) || is_repeated) {
                repeated.insert(part);
            }
        }
    }
    repeated
}

impl Walk<'_> {
    /// Turns deletions and insertions of the same part into moves. O(n log n) for n nodes
    /// in these parts.
    ///
    /// # Errors
    ///
    /// Those of custom comparisons.
    pub(super) fn find_moves(&mut self) -> Result<()> {
        let is_on = |side: usize| {
            let mut findings = self.findings.iter();
            findings.any(|finding| part_of_one_side(finding, side).is_some())
        };
        if !is_on(0) || !is_on(1) {
            return Ok(());
        }
        let times = occurrences(self);
        let (lefts, mut rights) = (loose_nodes(self, 0, &times), loose_nodes(self, 1, &times));
        if lefts.is_empty() || rights.is_empty() {
            return Ok(());
        }
        let mut by_class: HashMap<u64, (Vec<usize>, u32), RandomState> = HashMap::default();
        for (number, left) in lefts.iter().enumerate().rev() {
            let class = self.left.node(left.node).skeleton;
            by_class.entry(class).or_default().0.push(number);
        }
        for right in &rights {
            if let Some(entry) = by_class.get_mut(&self.right.node(right.node).skeleton) {
                entry.1 += 1;
            }
        }
        // The largest ones first; the sort keeps the order of equals.
        rights.sort_by_key(|right| std::cmp::Reverse(self.right.node(right.node).size));
        let mut used: [HashSet<u32, RandomState>; 2] = Default::default();
        let mut moves = Vec::new();
        for right in &rights {
            let node = self.right.node(right.node);
            if used[1].contains(&right.node) {
                continue;
            }
            let Some((candidates, wanted)) = by_class.get_mut(&node.skeleton) else {
                continue;
            };
            let is_unique = match candidates.as_slice() {
                &[left] => *wanted == 1 && !lefts[left].is_repeated && !right.is_repeated,
                _ => false,
            };
            if node.size < LARGE && !is_unique {
                continue;
            }
            while let Some(&last) = candidates.last()
                && used[0].contains(&lefts[last].node)
            {
                candidates.pop();
            }
            let Some(left) = candidates.pop() else {
                continue;
            };
            mark(self.left, lefts[left].node, &mut used[0]);
            mark(self.right, right.node, &mut used[1]);
            moves.push((&lefts[left], right));
        }
        // A part that was replaced is gone when both of its sides moved.
        let mut is_gone = vec![0; self.findings.len()];
        for (left, right) in &moves {
            self.settle(left, 0, &mut is_gone);
            self.settle(right, 1, &mut is_gone);
        }
        let mut number = 0;
        let mut pairs = Vec::new();
        for (_, right) in &moves {
            pairs.push(self.findings[right.finding].pair);
        }
        self.findings.retain(|_| {
            number += 1;
            is_gone[number - 1] < 2
        });
        for ((left, right), pair) in moves.into_iter().zip(pairs) {
            self.note_move(left.node, right.node, pair)?;
        }
        Ok(())
    }

    /// A part that moved as a whole is neither deleted nor inserted, and one that moved out of
    /// or into something else is not counted there.
    fn settle(&mut self, moved: &Loose, side: usize, is_gone: &mut [u8]) {
        let size = [self.left, self.right][side].node(moved.node).size;
        let finding = &mut self.findings[moved.finding];
        let spot = [&finding.left, &finding.right][side].as_ref();
        let is_whole = spot.is_some_and(|spot| spot.node == moved.node);
        if is_whole {
            let is_replaced = finding.kind == ChangeKind::Replaced;
            is_gone[moved.finding] += if is_replaced { 1 } else { 2 };
        }
        let own = match side {
            0 => &mut finding.sizes.0,
            _ => &mut finding.sizes.1,
        };
        *own = own.saturating_sub(size).max(1);
    }

    fn note_move(&mut self, left: u32, right: u32, pair: u32) -> Result<()> {
        let size = self.right.node(right).size;
        let place = self.places.add(ROOT, Link::Node(left), Link::Node(right));
        let spots = (self.spot_of(0, left), self.spot_of(1, right));
        self.findings.push(Finding {
            kind: ChangeKind::Moved,
            place,
            pair,
            left: Some(spots.0),
            right: Some(spots.1),
            sizes: (size, size),
        });
        self.apart(left, right)?;
        Ok(())
    }
}

fn mark(tables: &Tables, node: u32, used: &mut HashSet<u32, RandomState>) {
    let mut stack = vec![node];
    while let Some(open) = stack.pop() {
        if used.insert(open) {
            stack.extend(tables.cells(open).iter().filter_map(Cell::node_number));
        }
    }
}
