//! Pairs refuted by their neighbours, and nodes that were replaced in place.

use std::cmp::Reverse;

use super::graph::{AlignmentCosts, Side};
use super::pairs::Pairs;
use super::reason::PairReason;
use super::spread::{fit, spread};

/// The number of neighbours of a node that lead to candidates.
const FEW: usize = 16;

/// The number of times that doubtful pairs are removed and found again: a mistake gets
/// shorter by at least one node per round.
const ROUNDS: usize = 8;

/// The number of rounds in which an even count of edges for and against is doubtful,
/// too.
const STRICT_ROUNDS: usize = 3;

/// Removes pairs without any edge that agrees: only their operators are the same. A pair that is
/// equal with everything below needs no edge, because its operands may be no nodes, unless a free
/// node takes the place of one of the two. O(n).
pub(super) fn prune(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    part_unless(sides, pairs, costs, |agreeing, _| agreeing > 0);
}

/// Finds pairs from pairs, and looks for better pairs where neighbours contradict,
/// until all agree or a fixed number of rounds is over. O(n log n).
pub(super) fn settle(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let mut parted = Vec::new();
    for round in 0..ROUNDS {
        spread(sides, pairs, true, costs);
        correct(sides, pairs, costs);
        let margin = u32::from(round < STRICT_ROUNDS);
        let doubtful = part_unless(sides, pairs, costs, |agreeing, contradicting| {
            agreeing > 0 && agreeing >= contradicting + margin
        });
        if doubtful.is_empty() {
            break;
        }
        parted.extend(doubtful);
    }
    spread(sides, pairs, false, costs);
    correct(sides, pairs, costs);
    // A doubtful pair is better than none if a neighbour still confirms the pair: a
    // node between two changes, or with another operand.
    for (l, r) in parted.into_iter().rev() {
        if pairs.is_free(l, r) {
            pairs.join(l, r, PairReason::Kept);
        }
    }
    prune(sides, pairs, costs);
    spread(sides, pairs, false, costs);
    moved_operands(sides, pairs, costs);
    spread(sides, pairs, false, costs);
}

/// Pairs free nodes that are alike and are operands of nodes that correspond, at other positions:
/// operands that were swapped. Nodes without operands may also be used through one free node, as a
/// weight is after a node was put there. O(n log n): each pair looks at a bounded number of
/// operands.
fn moved_operands(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let all: Vec<(u32, u32)> = pairs.all().collect();
    let mut alike: [Vec<(u64, u64, u32)>; 2] = Default::default();
    for (l, r) in all {
        for (number, node) in [(0, l), (1, r)] {
            let side: &Side<'_> = &sides[number];
            let free = |node: u32| {
                let operands = side.operands(node).iter().take(FEW).copied();
                operands.filter(|operand| !pairs.has(number, *operand))
            };
            let is_leaf = |node: &u32| side.operands(*node).is_empty();
            let near =
                free(node).flat_map(|operand| free(operand).filter(is_leaf).chain([operand]));
            alike[number].clear();
            for operand in near.take(FEW) {
                costs.judged += 1;
                let keyed = (side.op(operand), side.label(operand), operand);
                if !alike[number].contains(&keyed) {
                    alike[number].push(keyed);
                }
            }
            // Equal nodes stay in the order of the positions.
            alike[number].sort_by_key(|&(op, label, _)| (op, label));
        }
        let mut others = alike[1].iter().peekable();
        for &(op, label, x) in &alike[0] {
            while others
                .next_if(|other| (other.0, other.1) < (op, label))
                .is_some()
            {}
            if let Some(&(_, _, y)) = others.next_if(|other| (other.0, other.1) == (op, label))
                && pairs.is_free(x, y)
            {
                pairs.join(x, y, PairReason::MovedOperand);
            }
        }
    }
}

/// True if nothing refutes that two nodes are a pair, which are equal with everything below.
/// A free node of the same operator in the place of either is more likely the partner of the
/// other. O(1).
fn is_certain(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    (l, r): (u32, u32),
    costs: &mut AlignmentCosts,
) -> bool {
    if pairs.reason(l) != PairReason::EqualBelow {
        return false;
    }
    let is_replaced = |side: usize, node: u32, costs: &mut AlignmentCosts| {
        let that: &Side<'_> = &sides[1 - side];
        sides[side]
            .users(node)
            .iter()
            .take(FEW)
            .any(|&(user, slot)| {
                costs.judged += 1;
                let user = match side {
                    0 => pairs.of_left(user),
                    _ => pairs.of_right(user),
                };
                let other = user.and_then(|user| that.operands(user).get(slot as usize));
                other.is_some_and(|&other| {
                    !pairs.has(1 - side, other) && that.op(other) == sides[side].op(node)
                })
            })
    };
    !is_replaced(0, l, costs) && !is_replaced(1, r, costs)
}

/// Removes the pairs that are not confirmed by their numbers of agreeing and
/// contradicting edges, and returns them.
fn part_unless(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    costs: &mut AlignmentCosts,
    is_confirmed: impl Fn(u32, u32) -> bool,
) -> Vec<(u32, u32)> {
    let mut doubtful = Vec::new();
    for (l, r) in pairs.all() {
        let has_edges = !sides[0].users(l).is_empty() || !sides[0].operands(l).is_empty();
        let support = pairs.support(sides, (l, r), costs);
        if has_edges
            && !is_confirmed(support.agreeing, support.contradicting)
            && !pairs.is_fixed(l)
            && !is_certain(sides, pairs, (l, r), costs)
        {
            doubtful.push((l, r));
        }
    }
    for &(left, _) in &doubtful {
        pairs.part(left);
    }
    doubtful
}

/// Lets nodes without partners take over partners of other nodes where the new pair
/// fits better. O(n log n): every exchange improves a pair, and the number of exchanges
/// is bounded.
fn correct(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let mut exchanges = sides[0].len() + sides[1].len();
    let mut open: Vec<(usize, u32)> = Vec::new();
    for side in [1, 0] {
        let free = (0..sides[side].sink()).filter(|node| !pairs.has(side, *node));
        open.extend(free.map(|node| (side, node)));
    }
    let mut candidates = Vec::new();
    while let Some((side, node)) = open.pop() {
        if pairs.has(side, node) {
            continue;
        }
        counterparts(sides, pairs, side, node, &mut candidates, costs);
        let best = candidates
            .drain(..)
            .filter_map(|other| {
                let pair = if side == 0 {
                    (node, other)
                } else {
                    (other, node)
                };
                let held = match side {
                    0 => (pairs.of_right(other)?, other),
                    _ => (other, pairs.of_left(other)?),
                };
                if pairs.is_fixed(held.0) {
                    return None;
                }
                let new = fit(sides, pair, pairs.support(sides, pair, costs));
                let old = fit(sides, held, pairs.support(sides, held, costs));
                (new > old).then_some((new, Reverse(pair), held))
            })
            .max();
        let Some((_, Reverse(pair), held)) = best else {
            continue;
        };
        let Some(rest) = exchanges.checked_sub(1) else {
            return;
        };
        exchanges = rest;
        pairs.part(held.0);
        pairs.join(pair.0, pair.1, PairReason::BetterFit);
        open.push(if side == 0 { (0, held.0) } else { (1, held.1) });
    }
}

/// Candidates for the partner of a node, by the first few neighbours: nodes of the
/// other side with the same operator. The candidate has the partner of a neighbour at
/// the position where the node has the neighbour.
fn counterparts(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    side: usize,
    node: u32,
    candidates: &mut Vec<u32>,
    costs: &mut AlignmentCosts,
) {
    let (this, that) = (&sides[side], &sides[1 - side]);
    let partner = |node| match side {
        0 => pairs.of_left(node),
        _ => pairs.of_right(node),
    };
    for (slot, &operand) in (0..).zip(this.operands(node)).take(FEW) {
        let Some(operand) = partner(operand) else {
            continue;
        };
        for &(user, position) in that.users(operand).iter().take(FEW) {
            costs.judged += 1;
            if position == slot && that.op(user) == this.op(node) {
                candidates.push(user);
            }
        }
    }
    for &(user, slot) in this.users(node).iter().take(FEW) {
        costs.judged += 1;
        let other = partner(user).and_then(|user| that.operands(user).get(slot as usize));
        if let Some(&other) = other
            && that.op(other) == this.op(node)
        {
            candidates.push(other);
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
}

/// Nodes without partners that differ in operator only: their operands are pairs at the
/// same positions, and their users are, too. O(n log n).
///
/// This search also finds the partner of an operand with a single user, such as a
/// weight.
pub(super) fn replaced(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    costs: &mut AlignmentCosts,
) -> Vec<(u32, u32)> {
    let mut replacements = Vec::new();
    for l in (0..sides[0].sink()).filter(|node| !pairs.has(0, *node)) {
        costs.judged += (sides[0].users(l).len() + sides[0].operands(l).len()) as u64;
        replacements.extend(replacement(sides, pairs, l).map(|r| (l, r)));
    }
    // During the search, the nodes found count as pairs, which makes the search pair
    // their operands.
    for &(l, r) in &replacements {
        pairs.join(l, r, PairReason::Replaced);
    }
    spread(sides, pairs, false, costs);
    for &(l, _) in &replacements {
        pairs.part(l);
    }
    replacements.retain(|&(l, r)| {
        let operands = sides[0].operands(l).iter().zip(sides[1].operands(r));
        operands
            .into_iter()
            .all(|(x, y)| pairs.of_left(*x) == Some(*y))
    });
    replacements
}

/// The node at the place of a left node, if their operands may be partners, and their
/// users are.
fn replacement(sides: &[Side<'_>; 2], pairs: &Pairs, l: u32) -> Option<u32> {
    let [left, right] = sides;
    let at = |&(user, slot): &(u32, u32)| {
        let operands = right.operands(pairs.of_left(user)?);
        operands.get(slot as usize).copied()
    };
    let users = left.users(l);
    let r = at(users.first()?)?;
    let (xs, ys) = (left.operands(l), right.operands(r));
    let may_be_pair = |(&x, &y): (&u32, &u32)| match pairs.of_left(x) {
        Some(partner) => partner == y,
        None => !pairs.has(1, y) && left.op(x) == right.op(y),
    };
    let fits = !pairs.has(1, r)
        && left.op(l) != right.op(r)
        && xs.len() == ys.len()
        && users.len() == right.users(r).len()
        && users.iter().all(|place| at(place) == Some(r))
        && xs.iter().zip(ys).all(may_be_pair);
    fits.then_some(r)
}
