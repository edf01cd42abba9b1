//! Both graphs as texts, one word per node in canonical order.

use super::graph::AlignmentCosts;
use super::pairs::Pairs;
use super::side::Side;
use crate::structural::diff::myers::Myers;

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
pub(super) fn align(sides: &[Side<'_>; 2], pairs: &mut Pairs, costs: &mut AlignmentCosts) {
    let orders = [0, 1].map(|side| sides[side].canonical_order());
    let [left, right] = texts(sides, &orders, pairs);
    let words = |text: &[(u32, u32)]| text.iter().map(|(_, word)| *word).collect::<Vec<u32>>();
    let (left_words, right_words) = (words(&left), words(&right));
    let allowed = ALLOWED + ALLOWED_PER_NODE * (orders[0].len() + orders[1].len()) as u64;
    let mut myers = Myers::new(allowed, MANY);
    myers.align(&left_words, &right_words, |l, r| {
        let (l, r) = (left[l].0, right[r].0);
        if pairs.is_free(l, r) && sides[0].op(l) == sides[1].op(r) {
            pairs.join(l, r);
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
