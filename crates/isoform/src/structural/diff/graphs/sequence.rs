//! The rest as two texts, one word per node in canonical order, between the anchors.

use super::AlignmentCosts;
use super::anchors::surroundings;
use super::myers::Myers;
use super::pairs::Pairs;
use super::side::Side;

/// Comparisons that are always allowed, and additional ones per node.
const ALLOWED: u64 = 1 << 20;
const ALLOWED_PER_NODE: u64 = 128;

/// A node without partner, by its position in the order of its side.
type Word = (usize, u64);

/// Pairs nodes that occur in the same order on both sides, by themselves and their
/// neighbours first, and then by their own operators: the first text is less ambiguous, and
/// the second one has fewer differences.
///
/// O((n + m) × d) for d differences, and O(n + m) once these are many.
pub(super) fn align(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let orders = [0, 1].map(|side| sides[side].canonical_order());
    let allowed = ALLOWED + ALLOWED_PER_NODE * (orders[0].len() + orders[1].len()) as u64;
    let around = [0, 1].map(|side| surroundings(&sides[side], costs));
    let operators = [0, 1].map(|side| {
        let side = &sides[side];
        (0..=side.sink()).map(|node| side.op(node)).collect()
    });
    for words in [around, operators] {
        let mut myers = Myers::new(allowed);
        align_words(sides, &orders, &words, pairs, &mut myers);
        costs.compared += allowed - myers.budget();
    }
}

fn align_words(
    sides: &[Side<'_>; 2],
    orders: &[Vec<u32>; 2],
    words: &[Vec<u64>; 2],
    pairs: &mut Pairs,
    myers: &mut Myers,
) {
    let anchors = anchors_in_order(orders, pairs);
    let free = [0, 1].map(|side| {
        let places = orders[side].iter().enumerate();
        let free = places.filter(|(_, node)| !pairs.has(side, **node));
        free.map(|(place, node)| (place, words[side][*node as usize]))
            .collect::<Vec<Word>>()
    });
    let mut starts = [0, 0];
    let last = (orders[0].len(), orders[1].len());
    for anchor in anchors.into_iter().chain([last]) {
        let [left, right] = [(0, anchor.0), (1, anchor.1)].map(|(side, end)| {
            let rest = &free[side][starts[side]..];
            let gap = &rest[..rest.partition_point(|(place, _)| *place < end)];
            starts[side] += gap.len();
            gap
        });
        let [left_text, right_text] = texts(left, right);
        let text = |side: &[(usize, u32)]| side.iter().map(|(_, word)| *word).collect::<Vec<u32>>();
        myers.align(&text(&left_text), &text(&right_text), |l, r| {
            let l = orders[0][left_text[l].0];
            let r = orders[1][right_text[r].0];
            if sides[0].op(l) == sides[1].op(r) {
                pairs.join(l, r);
            }
        });
    }
}

/// The words of a gap that occur on both sides, with their places, numbered. Others can have
/// no partner here, and would make the search long.
fn texts(left: &[Word], right: &[Word]) -> [Vec<(usize, u32)>; 2] {
    if left.is_empty() || right.is_empty() {
        return [Vec::new(), Vec::new()];
    }
    let sorted = |words: &[Word]| {
        let mut sorted: Vec<u64> = words.iter().map(|(_, word)| *word).collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted
    };
    let mut common = sorted(left);
    let others = sorted(right);
    common.retain(|word| others.binary_search(word).is_ok());
    [left, right].map(|words| {
        let numbered = words.iter().filter_map(|(place, word)| {
            let number = common.binary_search(word).ok()?;
            Some((*place, number as u32))
        });
        numbered.collect()
    })
}

/// The most pairs that are in the same order on both sides, as places in these orders.
/// O(n log n).
fn anchors_in_order(orders: &[Vec<u32>; 2], pairs: &Pairs) -> Vec<(usize, usize)> {
    let mut places = vec![0; orders[1].len()];
    for (place, node) in orders[1].iter().enumerate() {
        places[*node as usize] = place;
    }
    let nodes = orders[0].iter().enumerate();
    let all: Vec<(usize, usize)> = nodes
        .filter_map(|(place, node)| Some((place, places[pairs.of_left(*node)? as usize])))
        .collect();
    // The anchor that ends the best run of each length so far, and the one before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(all.len());
    for (number, anchor) in all.iter().enumerate() {
        let length = ends.partition_point(|end| all[*end].1 < anchor.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(number) = next {
        run.push(all[number]);
        next = before[number];
    }
    run.reverse();
    run
}
