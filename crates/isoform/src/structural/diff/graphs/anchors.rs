//! The first pairs: anchors, which resemble only one node of the other side by a hash of
//! their surroundings, and nodes that occur in the same order on both sides, if both
//! graphs are read as texts with one word per node in canonical order.

use super::graph::{AlignmentCosts, Side};
use super::pairs::Pairs;
use super::reason::PairReason;
use crate::kernel::mixing::Mixing;
use crate::structural::diff::myers::Myers;

/// The label at the start of a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Labels {
    /// All local properties of a node.
    Strong,
    /// Operator and arity, which remain the same when all weights change.
    Weak,
}

impl Labels {
    fn of(self, side: &Side<'_>, node: u32) -> u64 {
        match self {
            Labels::Strong => side.label(node),
            Labels::Weak => side.op(node),
        }
    }
}

/// Separates nodes below a node from nodes above.
const ABOVE: u64 = 0x2f4b_93c1_66d0_a7e9;
/// Distinguishes pairs from labels.
const PAIR: u64 = 0xc83d_5b17_f20e_946b;

fn mix(state: u64, word: u64) -> u64 {
    Mixing::FIXED.fold(state.rotate_left(5) ^ word)
}

/// The contribution of a user to the hash of its operand. Users have no order, and
/// their contributions are added.
fn use_of(hash: u64, slot: u32) -> u64 {
    mix(hash ^ ABOVE, u64::from(slot) + 1)
}

/// Pairs nodes with equal nodes below, then nodes with equal nodes above, if the node
/// is unique per side. These are the parts of the graph before the first change and
/// after the last. O(n log n).
pub(super) fn cones(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    for below in [true, false] {
        let hashes = [0, 1].map(|number| {
            let side = &sides[number];
            costs.hashed += (side.len() + side.graph.operands.len()) as u64;
            let start = starting_hashes(side, number, pairs, Labels::Strong);
            if below {
                hashes_below(side, start)
            } else {
                hashes_above(side, start)
            }
        });
        let reason = if below {
            PairReason::EqualBelow
        } else {
            PairReason::EqualAbove
        };
        join_unique(sides, pairs, &hashes, reason);
    }
}

/// The label of a node, or of its pair, by node.
fn starting_hashes(side: &Side<'_>, number: usize, pairs: &Pairs, labels: Labels) -> Vec<u64> {
    let hash = |node| {
        let pair = match number {
            0 => pairs.of_left(node).map(|_| node),
            _ => pairs.of_right(node),
        };
        match pair {
            Some(left) => mix(PAIR, u64::from(left)),
            None => mix(0, labels.of(side, node)),
        }
    };
    (0..=side.sink()).map(hash).collect()
}

fn hashes_below(side: &Side<'_>, mut hashes: Vec<u64>) -> Vec<u64> {
    for node in 0..side.sink() {
        let mut hash = hashes[node as usize];
        for &operand in side.operands(node) {
            hash = mix(hash, hashes[operand as usize]);
        }
        hashes[node as usize] = hash;
    }
    hashes
}

fn hashes_above(side: &Side<'_>, mut hashes: Vec<u64>) -> Vec<u64> {
    for node in (0..side.sink()).rev() {
        let mut above = 0u64;
        for &(user, slot) in side.users(node) {
            above = above.wrapping_add(use_of(hashes[user as usize], slot));
        }
        hashes[node as usize] = mix(hashes[node as usize], above);
    }
    hashes
}

/// Pairs nodes whose neighbourhoods are equal and occur once per side, for the radii in
/// descending order, with strong labels before weak ones. O(n log n) per radius up to
/// the largest.
///
/// Every round hashes all nodes with their neighbours, as in the test of Weisfeiler and
/// Leman (1968). The hash of a neighbour with a partner identifies the pair.
pub(super) fn neighbourhoods(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    radii: &[usize],
    costs: &mut AlignmentCosts,
) {
    let hashes = [Labels::Strong, Labels::Weak]
        .map(|labels| [0, 1].map(|side| by_radius(sides, side, pairs, labels, radii, costs)));
    for (place, &radius) in radii.iter().enumerate() {
        let reasons = [
            PairReason::EqualAround(radius),
            PairReason::SameOperatorsAround(radius),
        ];
        for ([left, right], reason) in hashes.iter().zip(reasons) {
            join_unique(sides, pairs, &[&left[place], &right[place]], reason);
        }
    }
}

/// The hashes of all nodes, by radius; the radii are in descending order.
fn by_radius(
    sides: &[Side<'_>; 2],
    number: usize,
    pairs: &Pairs,
    labels: Labels,
    radii: &[usize],
    costs: &mut AlignmentCosts,
) -> Vec<Vec<u64>> {
    let side = &sides[number];
    let mut hashes = starting_hashes(side, number, pairs, labels);
    let mut hashes_by_radius = vec![Vec::new(); radii.len()];
    for radius in 1..=radii.first().copied().unwrap_or(0) {
        costs.hashed += side.len() as u64;
        let hash = |node: u32| {
            let mut hash = hashes[node as usize];
            // The hash of a paired node is already unique to the pair.
            if pairs.has(number, node) {
                return hash;
            }
            for &operand in side.operands(node) {
                costs.hashed += 1;
                hash = mix(hash, hashes[operand as usize]);
            }
            let mut above = 0u64;
            for &(user, slot) in side.users(node) {
                costs.hashed += 1;
                above = above.wrapping_add(use_of(hashes[user as usize], slot));
            }
            mix(hash ^ ABOVE, above)
        };
        hashes = (0..=side.sink()).map(hash).collect();
        if let Some(place) = radii.iter().position(|wanted| *wanted == radius) {
            hashes_by_radius[place].clone_from(&hashes);
        }
    }
    hashes_by_radius
}

/// Pairs the nodes without partners whose hash occurs once per side.
fn join_unique(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    hashes: &[impl AsRef<[u64]>; 2],
    reason: PairReason,
) {
    let [left, right] = [0, 1].map(|side| {
        let hashes = hashes[side].as_ref();
        let free = (0..sides[side].sink()).filter(|node| !pairs.has(side, *node));
        let mut sorted: Vec<(u64, u32)> = free.map(|node| (hashes[node as usize], node)).collect();
        sorted.sort_unstable();
        sorted
    });
    let mut right = right.chunk_by(|one, two| one.0 == two.0).peekable();
    for group in left.chunk_by(|one, two| one.0 == two.0) {
        let hash = group[0].0;
        while right.next_if(|other| other[0].0 < hash).is_some() {}
        if let (&[(_, l)], Some(&&[(other, r)])) = (group, right.peek())
            && hash == other
            && sides[0].op(l) == sides[1].op(r)
        {
            pairs.join(l, r, reason);
        }
    }
}

/// Comparisons that are always allowed, and additional ones per node.
const ALLOWED: u64 = 1 << 20;
const ALLOWED_PER_NODE: u64 = 128;
/// The number of differences up to which the alignment is minimal.
const MANY: usize = 256;

/// Pairs nodes without partners that occur in the same order on both sides, by operator
/// and arity.
///
/// An existing pair is a separate word. Such a word outweighs operators that would fit
/// elsewhere, and tells layers apart; a single wrong pair changes little.
///
/// O((n + m) × d) for d differences, and O(n + m) for many differences.
pub(super) fn common_order(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let orders = [0, 1].map(|side| sides[side].canonical_order());
    let [left, right] = texts(sides, &orders, pairs);
    let words = |text: &[(u32, u32)]| text.iter().map(|(_, word)| *word).collect::<Vec<u32>>();
    let (left_words, right_words) = (words(&left), words(&right));
    let allowed = ALLOWED + ALLOWED_PER_NODE * (orders[0].len() + orders[1].len()) as u64;
    let mut myers = Myers::new(allowed, MANY);
    myers.align(&left_words, &right_words, |l, r| {
        let (l, r) = (left[l].0, right[r].0);
        if pairs.is_free(l, r) && sides[0].op(l) == sides[1].op(r) {
            pairs.join(l, r, PairReason::SameOrder);
        }
    });
    costs.compared += allowed - myers.budget();
}

/// The nodes of both sides in order, with numbered words. Nodes whose word does not
/// occur on the other side are left out: they can have no partner, and would make the
/// search long.
fn texts(sides: &[Side<'_>; 2], orders: &[Vec<u32>; 2], pairs: &Pairs) -> [Vec<(u32, u32)>; 2] {
    let free_ops = [0, 1].map(|side| {
        let free = orders[side].iter().filter(|node| !pairs.has(side, **node));
        let mut ops: Vec<u64> = free.map(|node| sides[side].op(*node)).collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    });
    let [mut common, others] = free_ops;
    common.retain(|op| others.binary_search(op).is_ok());
    [0, 1].map(|side| {
        let word = |node: u32| {
            let left = match side {
                0 => pairs.of_left(node).map(|_| node),
                _ => pairs.of_right(node),
            };
            match left {
                Some(left) => Some(common.len() as u32 + left),
                None => Some(common.binary_search(&sides[side].op(node)).ok()? as u32),
            }
        };
        let nodes = orders[side].iter();
        nodes
            .filter_map(|node| Some((*node, word(*node)?)))
            .collect()
    })
}
