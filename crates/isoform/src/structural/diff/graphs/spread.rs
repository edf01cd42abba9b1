//! Pairs that their neighbours suggest, and those that these correct.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::AlignmentCosts;
use super::pairs::{Pairs, Support};
use super::side::Side;

/// The number of candidates among the users of a pair up to which all are tried.
const FEW: usize = 16;

/// How well two nodes fit: by edges, then by labels, then by names.
type Score = (i64, bool, bool);

fn score(sides: &[Side<'_>; 2], (l, r): (u32, u32), support: Support) -> Score {
    let [left, right] = sides;
    let edges = 2 * i64::from(support.agreeing) - i64::from(support.contradicting);
    let is_named = left.name(l) != 0 && left.name(l) == right.name(r);
    (edges, left.label(l) == right.label(r), is_named)
}

/// Removes pairs that their neighbours do not confirm: no edge agrees, or if `strictly`,
/// more edges contradict. Returns how many. O(n).
pub(super) fn prune(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    margin: Option<u32>,
    costs: &mut AlignmentCosts,
) -> Vec<(u32, u32)> {
    let mut doubtful = Vec::new();
    for (l, r) in pairs.all() {
        let has_edges = !sides[0].users(l).is_empty() || !sides[0].operands(l).is_empty();
        let support = pairs.support(sides, (l, r), costs);
        let is_confirmed = support.agreeing > 0
            && margin.is_none_or(|margin| support.agreeing >= support.contradicting + margin);
        if has_edges && !is_confirmed && !pairs.is_fixed(l) {
            doubtful.push((l, r));
        }
    }
    for &(left, _) in &doubtful {
        pairs.part(left);
    }
    doubtful
}

/// Pairs the operands and users of pairs at the same position, those that fit best first.
/// O(n log n).
///
/// If `boldly`, this includes operands of pairs that other pairs contradict, at the end.
pub(super) fn spread(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    boldly: bool,
    costs: &mut AlignmentCosts,
) {
    let mut open = BinaryHeap::new();
    let mut found = Vec::new();
    let push = |pairs: &Pairs,
                costs: &mut AlignmentCosts,
                open: &mut BinaryHeap<((i64, bool, bool, bool), Reverse<(u32, u32)>, bool)>,
                found: &mut Vec<(u32, u32, bool)>| {
        for (l, r, is_place) in found.drain(..) {
            let support = pairs.support(sides, (l, r), costs);
            if (boldly && is_place) || support.agreeing >= support.contradicting {
                let (e, f, g) = score(sides, (l, r), support);
                open.push(((e, is_place, f, g), Reverse((l, r)), is_place));
            }
        }
    };
    for pair in pairs.all() {
        candidates_around(sides, pairs, pair, &mut found, costs);
        push(pairs, costs, &mut open, &mut found);
    }
    while let Some((_, Reverse((l, r)), is_place)) = open.pop() {
        if !pairs.is_free(l, r) {
            continue;
        }
        let support = pairs.support(sides, (l, r), costs);
        if !(boldly && is_place) && support.agreeing < support.contradicting {
            continue;
        }
        pairs.join(l, r);
        candidates_around(sides, pairs, (l, r), &mut found, costs);
        push(pairs, costs, &mut open, &mut found);
    }
}

/// Neighbours of a pair at the same position, with the same operator and without partners.
fn candidates_around(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    (l, r): (u32, u32),
    found: &mut Vec<(u32, u32, bool)>,
    costs: &mut AlignmentCosts,
) {
    let [left, right] = sides;
    let operands = left.operands(l).iter().zip(right.operands(r));
    for (&x, &y) in operands {
        costs.judged += 1;
        if pairs.is_free(x, y) && left.op(x) == right.op(y) {
            found.push((x, y, true));
        }
    }
    let [left_users, right_users] = [(0, l), (1, r)].map(|(number, node)| {
        let side: &Side<'_> = &sides[number];
        let users = side.users(node);
        costs.judged += users.len() as u64;
        let free = users.iter().filter(|(user, _)| !pairs.has(number, *user));
        let mut keyed: Vec<([u64; 4], u32)> = free
            .map(|&(user, slot)| {
                let key = [u64::from(slot), side.op(user), side.label(user), side.name(user)];
                (key, user)
            })
            .collect();
        keyed.sort_unstable();
        keyed
    });
    if left_users.is_empty() || right_users.is_empty() {
        return;
    }
    // Slot and operator must be the same; among many users, also the label, and the name.
    let mut open = vec![(2, left_users.as_slice(), right_users.as_slice())];
    while let Some((words, left, right)) = open.pop() {
        let mut right = right
            .chunk_by(|one, two| one.0[..words] == two.0[..words])
            .peekable();
        for group in left.chunk_by(|one, two| one.0[..words] == two.0[..words]) {
            let key = &group[0].0[..words];
            while right.next_if(|other| &other[0].0[..words] < key).is_some() {}
            let Some(others) = right.next_if(|other| &other[0].0[..words] == key) else {
                continue;
            };
            if group.len() * others.len() <= FEW {
                for (_, x) in group {
                    found.extend(others.iter().map(|(_, y)| (*x, *y, false)));
                }
            } else if words < 4 {
                open.push((words + 1, group, others));
            }
        }
    }
}

/// Gives nodes without partners those of others that they fit better. O(n log n): every
/// exchange improves a pair, and their number is bounded.
pub(super) fn correct(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let mut exchanges = sides[0].len() + sides[1].len();
    let mut open: Vec<(usize, u32)> = Vec::new();
    for side in [1, 0] {
        let free = (0..sides[side].sink()).filter(|node| !pairs.has(side, *node));
        open.extend(free.map(|node| (side, node)));
    }
    let mut found = Vec::new();
    while let Some((side, node)) = open.pop() {
        if pairs.has(side, node) {
            continue;
        }
        counterparts(sides, pairs, side, node, &mut found, costs);
        let best = found
            .drain(..)
            .filter_map(|other| {
                let pair = if side == 0 { (node, other) } else { (other, node) };
                let held = match side {
                    0 => (pairs.of_right(other)?, other),
                    _ => (other, pairs.of_left(other)?),
                };
                if pairs.is_fixed(held.0) {
                    return None;
                }
                let new = score(sides, pair, pairs.support(sides, pair, costs));
                let old = score(sides, held, pairs.support(sides, held, costs));
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
        pairs.join(pair.0, pair.1);
        open.push(if side == 0 { (0, held.0) } else { (1, held.1) });
    }
}

/// The nodes of the other side with the same operator whose neighbour at the same position
/// is the partner of a neighbour of the node; of the first few neighbours.
fn counterparts(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    side: usize,
    node: u32,
    found: &mut Vec<u32>,
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
        for &(user, at) in that.users(operand).iter().take(FEW) {
            costs.judged += 1;
            if at == slot && that.op(user) == this.op(node) {
                found.push(user);
            }
        }
    }
    for &(user, slot) in this.users(node).iter().take(FEW) {
        costs.judged += 1;
        let other = partner(user).and_then(|user| that.operands(user).get(slot as usize));
        if let Some(&other) = other
            && that.op(other) == this.op(node)
        {
            found.push(other);
        }
    }
    found.sort_unstable();
    found.dedup();
}

/// Nodes without partners that differ in operator only: their operands are pairs at the same
/// positions, and so are their users. O(n log n).
///
/// An operand that nothing else uses, such as a weight, finds its partner here.
pub(super) fn replaced(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    costs: &mut AlignmentCosts,
) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for l in (0..sides[0].sink()).filter(|node| !pairs.has(0, *node)) {
        costs.judged += (sides[0].users(l).len() + sides[0].operands(l).len()) as u64;
        found.extend(replacement(sides, pairs, l).map(|r| (l, r)));
    }
    // For the search they are pairs, so that their operands become some.
    for &(l, r) in &found {
        pairs.join(l, r);
    }
    spread(sides, pairs, false, costs);
    for &(l, _) in &found {
        pairs.part(l);
    }
    found.retain(|&(l, r)| {
        let operands = sides[0].operands(l).iter().zip(sides[1].operands(r));
        operands.into_iter().all(|(x, y)| pairs.of_left(*x) == Some(*y))
    });
    found
}

/// The node at the place of a left one, if its operands may be partners of those of the left
/// one, and its users are.
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
