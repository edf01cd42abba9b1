//! Alignment of two sequences of tokens: pairs of equal elements, in order.
//!
//! The work is bounded by the lengths, never by time, and results do not depend on the
//! machine. Sequences without long common ends are aligned minimally if the cost
//! allows, and otherwise between elements that occur once per side (B. Cohen's patience
//! diff).

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::myers::Myers;

/// Up to this product of lengths, a minimal alignment is computed.
const MINIMAL: usize = 1 << 20;
/// Up to this product of lengths, elements are weighed.
const WEIGHED: usize = 1 << 12;
/// The comparisons for a minimal alignment; with more, the search would take longer
/// than a table of all pairs of elements.
const ALLOWED: u64 = MINIMAL as u64;

/// Pairs of positions with equal tokens, ascending on both sides.
///
/// O(n + m) outside of stretches whose lengths have a product of at most 2^20, which
/// take 2^20 comparisons at worst, and O((n + m) × d) for d differences inside.
pub fn align(left: &[u64], right: &[u64]) -> Vec<(u32, u32)> {
    align_weighed(left, right, None::<fn(usize) -> u64>)
}

/// [`align`] with weights: among conflicting pairs, the largest sum of weights is
/// taken, if few elements compete. Elements with the same token have the same weight,
/// the weight of a position on the left.
pub(super) fn align_heaviest(
    left: &[u64],
    right: &[u64],
    weight: impl Fn(usize) -> u64,
) -> Vec<(u32, u32)> {
    align_weighed(left, right, Some(weight))
}

fn align_weighed(
    left: &[u64],
    right: &[u64],
    weight: Option<impl Fn(usize) -> u64>,
) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut stack = vec![((0, left.len()), (0, right.len()))];
    while let Some((l, r)) = stack.pop() {
        let (mut l, mut r) = (l, r);
        while l.0 < l.1 && r.0 < r.1 && left[l.0] == right[r.0] {
            pairs.push((l.0 as u32, r.0 as u32));
            (l.0, r.0) = (l.0 + 1, r.0 + 1);
        }
        while l.0 < l.1 && r.0 < r.1 && left[l.1 - 1] == right[r.1 - 1] {
            (l.1, r.1) = (l.1 - 1, r.1 - 1);
            pairs.push((l.1 as u32, r.1 as u32));
        }
        if l.0 == l.1 || r.0 == r.1 {
            continue;
        }
        // Elements missing on the other side only cost time.
        let kept = |side: &[u64], (from, to): (usize, usize), other: &[u64]| {
            let tokens: hashbrown::HashSet<u64, RandomState> = other.iter().copied().collect();
            let kept = (from..to).filter(|&place| tokens.contains(&side[place]));
            kept.collect::<Vec<usize>>()
        };
        let kept_left = kept(left, l, &right[r.0..r.1]);
        let kept_right = kept(right, r, &left[l.0..l.1]);
        if kept_left.is_empty() {
            continue;
        }
        let product = kept_left.len().saturating_mul(kept_right.len());
        if let Some(weight) = weight.as_ref().filter(|_| product <= WEIGHED) {
            heaviest(left, &kept_left, right, &kept_right, weight, &mut pairs);
            continue;
        }
        if product <= MINIMAL {
            if !minimal(left, right, &kept_left, &kept_right, &mut pairs) {
                in_order(left, right, &kept_left, &kept_right, &mut pairs);
            }
            continue;
        }
        let anchors = unique_anchors(left, right, &kept_left, &kept_right);
        let mut start = (l.0, r.0);
        for &(at_left, at_right) in &anchors {
            pairs.push((at_left as u32, at_right as u32));
            stack.push(((start.0, at_left), (start.1, at_right)));
            start = (at_left + 1, at_right + 1);
        }
        if anchors.is_empty() {
            in_order(left, right, &kept_left, &kept_right, &mut pairs);
        } else {
            stack.push(((start.0, l.1), (start.1, r.1)));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Pairs elements with the largest sum of weights. O(n m).
fn heaviest(
    left: &[u64],
    kept_left: &[usize],
    right: &[u64],
    kept_right: &[usize],
    weight: impl Fn(usize) -> u64,
    pairs: &mut Vec<(u32, u32)>,
) {
    let (rows, columns) = (kept_left.len(), kept_right.len());
    let index = |row: usize, column: usize| row * (columns + 1) + column;
    // The best sums for the rests of both sides.
    let mut best = vec![0u64; (rows + 1) * (columns + 1)];
    let gain = |row: usize, column: usize, best: &[u64]| {
        let (l, r) = (kept_left[row], kept_right[column]);
        let below = best[index(row + 1, column + 1)];
        (left[l] == right[r]).then(|| below.saturating_add(weight(l)))
    };
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let skip = best[index(row + 1, column)].max(best[index(row, column + 1)]);
            let gain = gain(row, column, &best).unwrap_or(0);
            best[index(row, column)] = skip.max(gain);
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let sum = best[index(row, column)];
        if gain(row, column, &best) == Some(sum) {
            pairs.push((kept_left[row] as u32, kept_right[column] as u32));
            (row, column) = (row + 1, column + 1);
        } else if sum == best[index(row + 1, column)] {
            row += 1;
        } else {
            column += 1;
        }
    }
}

/// Pairs as many elements as possible. Returns false, without any pairs, if the search
/// takes too long.
fn minimal(
    left: &[u64],
    right: &[u64],
    kept_left: &[usize],
    kept_right: &[usize],
    pairs: &mut Vec<(u32, u32)>,
) -> bool {
    let tokens = |side: &[u64], kept: &[usize]| -> Vec<u64> {
        kept.iter().map(|&place| side[place]).collect()
    };
    let (l, r) = (tokens(left, kept_left), tokens(right, kept_right));
    let old_length = pairs.len();
    let mut myers = Myers::new(ALLOWED, usize::MAX);
    myers.align(&l, &r, |at_left, at_right| {
        pairs.push((kept_left[at_left] as u32, kept_right[at_right] as u32));
    });
    let is_done = myers.budget() > 0;
    if !is_done {
        pairs.truncate(old_length);
    }
    is_done
}

/// The longest ascending run of pairs of elements that occur once per side.
fn unique_anchors(
    left: &[u64],
    right: &[u64],
    kept_left: &[usize],
    kept_right: &[usize],
) -> Vec<(usize, usize)> {
    // For each token, a place and the number of occurrences on the left, then on the
    // right.
    let mut places: HashMap<u64, (usize, u32, usize, u32), RandomState> = HashMap::default();
    for &place in kept_left {
        let entry = places.entry(left[place]).or_default();
        (entry.0, entry.1) = (place, entry.1 + 1);
    }
    for &place in kept_right {
        let entry = places.entry(right[place]).or_default();
        (entry.2, entry.3) = (place, entry.3 + 1);
    }
    let candidates = kept_left.iter().filter_map(|&place| {
        let &(at_left, in_left, at_right, in_right) = places.get(&left[place])?;
        (in_left == 1 && in_right == 1).then_some((at_left, at_right))
    });
    longest_ascending(candidates)
}

/// The longest run that ascends on the right, of pairs that ascend on the left. O(n log
/// n) by patience sorting.
fn longest_ascending(pairs: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut all: Vec<((usize, usize), Option<usize>)> = Vec::new();
    // The last pair of the best run, by length.
    let mut tops: Vec<usize> = Vec::new();
    for pair in pairs {
        let length = tops.partition_point(|&top| all[top].0.1 < pair.1);
        let before = length.checked_sub(1).map(|shorter| tops[shorter]);
        all.push((pair, before));
        match tops.get_mut(length) {
            Some(top) => *top = all.len() - 1,
            None => tops.push(all.len() - 1),
        }
    }
    let mut run = Vec::new();
    let mut next = tops.last().copied();
    while let Some(place) = next {
        run.push(all[place].0);
        next = all[place].1;
    }
    run.reverse();
    run
}

/// Pairs equal elements greedily in order, with the next element on the right.
fn in_order(
    left: &[u64],
    right: &[u64],
    kept_left: &[usize],
    kept_right: &[usize],
    pairs: &mut Vec<(u32, u32)>,
) {
    let mut queues: HashMap<u64, (usize, Vec<usize>), RandomState> = HashMap::default();
    for &place in kept_right {
        queues.entry(right[place]).or_default().1.push(place);
    }
    let mut after = 0;
    for &place in kept_left {
        let Some((next, places)) = queues.get_mut(&left[place]) else {
            continue;
        };
        while places.get(*next).is_some_and(|&position| position < after) {
            *next += 1;
        }
        if let Some(&position) = places.get(*next) {
            pairs.push((place as u32, position as u32));
            after = position + 1;
        }
    }
}
