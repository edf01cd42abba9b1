//! Pairs suggested by their neighbours.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{AlignmentCosts, Side};
use super::pairs::{Pairs, Support};
use super::reason::PairReason;

/// The number of candidates among the users of a pair up to which all are tried.
const FEW: usize = 16;

/// How well two nodes fit: by edges, then by labels, then by names.
pub(super) type Fit = (i64, bool, bool);

/// Compares two nodes with this relation between their neighbours.
pub(super) fn fit(sides: &[Side<'_>; 2], pair: (u32, u32), support: Support) -> Fit {
    let (l, r) = pair;
    let [left, right] = sides;
    let edges = 2 * i64::from(support.agreeing) - i64::from(support.contradicting);
    let is_named = left.name(l) != 0 && left.name(l) == right.name(r);
    (edges, left.label(l) == right.label(r), is_named)
}

/// Two nodes without partners at the same position of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Candidate {
    pair: (u32, u32),
    /// True for operands of a pair, whose position is unambiguous, unlike the position
    /// of users.
    is_operand: bool,
}

impl Candidate {
    fn reason(self) -> PairReason {
        if self.is_operand {
            PairReason::OperandOfPair
        } else {
            PairReason::UserOfPair
        }
    }
}

/// A candidate in the queue, best candidate last.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    edges: i64,
    is_operand: bool,
    same_label: bool,
    same_name: bool,
    pair: Reverse<(u32, u32)>,
}

/// Pairs the operands and users of pairs at the same position, best fits first. O(n log
/// n).
///
/// If `boldly`, operands of pairs become pairs even if more neighbours contradict than
/// agree: they may be right, and the neighbours wrong.
pub(super) fn spread(
    sides: &[Side<'_>; 2],
    pairs: &mut Pairs,
    boldly: bool,
    costs: &mut AlignmentCosts,
) {
    let mut open = BinaryHeap::new();
    let mut candidates = Vec::new();
    for pair in pairs.all() {
        candidates_around(sides, pairs, pair, &mut candidates, costs);
        for candidate in candidates.drain(..) {
            open.extend(queued(sides, pairs, candidate, boldly, costs));
        }
    }
    while let Some(next) = open.pop() {
        let Reverse(pair) = next.pair;
        let candidate = Candidate {
            pair,
            is_operand: next.is_operand,
        };
        // Pairs made since then may contradict.
        if !pairs.is_free(pair.0, pair.1)
            || queued(sides, pairs, candidate, boldly, costs).is_none()
        {
            continue;
        }
        pairs.join(pair.0, pair.1, candidate.reason());
        candidates_around(sides, pairs, pair, &mut candidates, costs);
        for candidate in candidates.drain(..) {
            open.extend(queued(sides, pairs, candidate, boldly, costs));
        }
    }
}

fn queued(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    Candidate { pair, is_operand }: Candidate,
    boldly: bool,
    costs: &mut AlignmentCosts,
) -> Option<Queued> {
    let support = pairs.support(sides, pair, costs);
    let (edges, same_label, same_name) = fit(sides, pair, support);
    let is_credible = support.agreeing >= support.contradicting || (boldly && is_operand);
    is_credible.then_some(Queued {
        edges,
        is_operand,
        same_label,
        same_name,
        pair: Reverse(pair),
    })
}

/// Neighbours of a pair at the same position, with the same operator and without partners.
fn candidates_around(
    sides: &[Side<'_>; 2],
    pairs: &Pairs,
    pair: (u32, u32),
    candidates: &mut Vec<Candidate>,
    costs: &mut AlignmentCosts,
) {
    let (l, r) = pair;
    let [left, right] = sides;
    let operands = left.operands(l).iter().zip(right.operands(r));
    for (&x, &y) in operands {
        costs.judged += 1;
        if pairs.is_free(x, y) && left.op(x) == right.op(y) {
            candidates.push(Candidate {
                pair: (x, y),
                is_operand: true,
            });
        }
    }
    let [left_users, right_users] = [(0, l), (1, r)].map(|(number, node)| {
        let side: &Side<'_> = &sides[number];
        let users = side.users(node);
        costs.judged += users.len() as u64;
        let free = users.iter().filter(|(user, _)| !pairs.has(number, *user));
        let mut keyed: Vec<([u64; 4], u32)> = free
            .map(|&(user, slot)| {
                let key = [
                    u64::from(slot),
                    side.op(user),
                    side.label(user),
                    side.name(user),
                ];
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
            .chunk_by(|a, b| a.0[..words] == b.0[..words])
            .peekable();
        for group in left.chunk_by(|a, b| a.0[..words] == b.0[..words]) {
            let key = &group[0].0[..words];
            while right.next_if(|other| &other[0].0[..words] < key).is_some() {}
            let Some(others) = right.next_if(|other| &other[0].0[..words] == key) else {
                continue;
            };
            if group.len() * others.len() <= FEW {
                for (_, x) in group {
                    candidates.extend(others.iter().map(|(_, y)| Candidate {
                        pair: (*x, *y),
                        is_operand: false,
                    }));
                }
            } else if words < 4 {
                open.push((words + 1, group, others));
            }
        }
    }
}
