//! Finds parts that were deleted in one place and inserted in another.
//!
//! Moves are counted in places, not in objects: a shared part is loose as often as
//! unshared copies would be, and sharing changes no count.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::change::ChangeKind;
use super::findings::{Finding, occurrences};
use super::move_candidates::{MoveCandidates, Places, Side, part_of_one_side};
use super::pairs::Mode;
use super::tables::NONE;
use super::walk::Walk;
use crate::kernel::error::Result;

type Map<K, V> = HashMap<K, V, RandomState>;

/// A part with fewer nodes than this moves only if it is loose in one place per side:
/// small parts are alike by chance.
const LARGE: u64 = 4;

/// The kinds of places that move, left and right, in order.
const KINDS: [[usize; 2]; 4] = [[0, 0], [0, 1], [1, 0], [1, 1]];

/// A part that moved.
struct Move {
    /// The loose nodes.
    both: [usize; 2],
    times: u64,
}

/// The moves found, and the places left for other moves.
struct Moves<'t> {
    sides: [Side<'t>; 2],
    /// For each side and finding, the number of places that moved away.
    gone: [Vec<u64>; 2],
    /// By finding, the first finding of the same kind with equal values.
    ranks: Vec<usize>,
    moves: Vec<Move>,
}

impl Moves<'_> {
    /// Moves as many places of a class as both sides have, places with equal tokens
    /// first. `in_all` contains the number of places in both values.
    fn of_class(&mut self, nodes: [Vec<usize>; 2], tokens: [&[u64]; 2], in_all: [u64; 2]) {
        let size = self.sides[0].node(nodes[0][0]).size;
        let [mut lefts, mut rights] = [0, 1]
            .map(|side: usize| self.sides[side].alike(&nodes[side], tokens[side], &self.ranks));
        let count = |alike: &[MoveCandidates]| {
            let counts = alike.iter().map(MoveCandidates::places);
            counts.fold(0, u64::saturating_add)
        };
        if size < LARGE && (count(&lefts), count(&rights)) != (1, 1) {
            return;
        }
        let stays = |side: usize| {
            let all = nodes[side]
                .iter()
                .map(|&loose| self.sides[side].loose[loose].all);
            in_all[side] > all.fold(0, u64::saturating_add)
        };
        // A part that also stays elsewhere is inside of other parts by chance.
        let kinds = if stays(0) || stays(1) {
            &KINDS[..3]
        } else {
            &KINDS
        };
        let by_token: Map<u64, usize> = (lefts.iter().enumerate())
            .map(|(index, alike)| (alike.token, index))
            .collect();
        for right in &mut rights {
            if let Some(&left) = by_token.get(&right.token) {
                for &kinds in kinds {
                    self.pair(&mut lefts[left], right, kinds);
                }
            }
        }
        for &kinds in kinds {
            let mut next = (0, 0);
            while let (Some(left), Some(right)) = (lefts.get_mut(next.0), rights.get_mut(next.1)) {
                self.pair(left, right, kinds);
                next.0 += usize::from(left.has_moved(kinds[0]));
                next.1 += usize::from(right.has_moved(kinds[1]));
            }
        }
    }

    /// Moves places of a left token to places of a right token, as many as both sides
    /// have.
    fn pair(&mut self, left: &mut MoveCandidates, right: &mut MoveCandidates, kinds: [usize; 2]) {
        while let (Some(from), Some(to)) = (
            left.places[kinds[0]].get_mut(left.next[kinds[0]]),
            right.places[kinds[1]].get_mut(right.next[kinds[1]]),
        ) {
            let times = from.count.min(to.count);
            for (side, places) in [&mut *from, &mut *to].into_iter().enumerate() {
                self.take(side, places, times);
            }
            let both = [from.loose, to.loose];
            match self.moves.last_mut().filter(|last| last.both == both) {
                Some(last) => last.times = last.times.saturating_add(times),
                None => self.moves.push(Move { both, times }),
            }
            left.next[kinds[0]] += usize::from(from.count == 0);
            right.next[kinds[1]] += usize::from(to.count == 0);
        }
    }

    /// Takes moved places away from a node, and from the findings about the node.
    fn take(&mut self, side: usize, places: &mut Places, times: u64) {
        places.count -= times;
        let size = self.sides[side].node(places.loose).size;
        let all = &mut self.sides[side].loose;
        let loose = &mut all[places.loose];
        match places.whole {
            Some(whole) => {
                let (finding, rest) = &mut loose.wholes[whole];
                *rest -= times;
                let gone = &mut self.gone[side][*finding];
                *gone = gone.saturating_add(times);
            }
            None => {
                loose.inner -= times;
                let top = loose.top;
                if top != places.loose {
                    let lost = &mut all[top].lost;
                    *lost = lost.saturating_add(u128::from(times) * u128::from(size));
                }
            }
        }
    }
}

fn own_size(finding: &mut Finding, side: usize) -> &mut u64 {
    match side {
        0 => &mut finding.sizes.0,
        _ => &mut finding.sizes.1,
    }
}

impl<'t> Walk<'t> {
    /// Turns deletions and insertions of the same part into moves. O(n) for n nodes of
    /// both sides and O(m log m) for m nodes in such parts; O(1) per change if one side
    /// has no such part.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons.
    pub(super) fn find_moves(&mut self) -> Result<()> {
        let is_on = |side: usize| {
            let mut parts = self
                .findings
                .iter()
                .filter_map(|finding| part_of_one_side(finding, side));
            parts.any(|node| node != NONE && self.tables(side).node(node).size > 1)
        };
        if !is_on(0) || !is_on(1) {
            return Ok(());
        }
        let times = occurrences(self);
        let moves = self.moves(&times);
        for (number, finding) in self.findings.iter_mut().enumerate() {
            let times = times[finding.pair as usize].max(1);
            let [left, right] = [0, 1].map(|side: usize| moves.gone[side][number]);
            // A replaced part is gone where both of its sides moved.
            finding.moved = match finding.kind {
                ChangeKind::Replaced => left.min(right),
                _ => left.max(right),
            };
            for (side, gone) in [left, right].into_iter().enumerate() {
                let size = own_size(finding, side);
                *size = if gone < times { *size } else { (*size).min(1) };
            }
        }
        // Nodes that moved out of or into a part do not count for the part.
        for (side, candidates) in moves.sides.iter().enumerate() {
            for loose in candidates.loose.iter().filter(|loose| loose.lost > 0) {
                let places = u128::from(loose.whole_places().max(1));
                let lost = u64::try_from(loose.lost / places).unwrap_or(u64::MAX);
                for &(finding, _) in loose.wholes.iter().filter(|(_, rest)| *rest > 0) {
                    let size = own_size(&mut self.findings[finding], side);
                    *size = size.saturating_sub(lost).max(1);
                }
            }
        }
        for Move { both, times } in moves.moves {
            let [left, right] = [0, 1].map(|side| moves.sides[side].loose[both[side]].node);
            let size = self.right.node(right).size;
            let (top, place) = self.open_apart(left, right, Some(times));
            let spots = [self.spot_of(0, left), self.spot_of(1, right)];
            let [left_spot, right_spot] = spots.map(Some);
            self.mode = Mode::Partners;
            self.note(
                ChangeKind::Moved,
                place,
                top,
                left_spot,
                right_spot,
                (size, size),
            );
            self.apart(left, right, top, place)?;
        }
        Ok(())
    }

    /// The moves, largest parts first: the contents of a part move with the part.
    fn moves(&self, times: &[u64]) -> Moves<'t> {
        let tokens = [0, 1].map(|side: usize| self.tokens()[side].as_slice());
        let sides = [0, 1].map(|side| Side::of(self, side, times));
        let in_all = sides.each_ref().map(Side::places_by_class);
        let mut groups = Map::default();
        let ranks = self.findings.iter().enumerate().map(|(number, finding)| {
            let token = |side: usize| match part_of_one_side(finding, side) {
                None => None,
                Some(NONE) => [&finding.left, &finding.right][side]
                    .as_ref()
                    .map(|spot| spot.class),
                Some(node) => Some(tokens[side][node as usize]),
            };
            *groups
                .entry((finding.kind, token(0), token(1)))
                .or_insert(number)
        });
        let mut result = Moves {
            ranks: ranks.collect(),
            gone: [0, 1].map(|_| vec![0; self.findings.len()]),
            moves: Vec::new(),
            sides,
        };
        while let (Some(left), Some(right)) =
            (result.sides[0].next_size(), result.sides[1].next_size())
        {
            let levels = [0, 1].map(|side: usize| result.sides[side].level(left.max(right)));
            let mut classes: Map<u64, usize> = Map::default();
            let mut both: Vec<(u64, [Vec<usize>; 2])> = Vec::new();
            for side in [1, 0] {
                for &loose in &levels[side] {
                    let class = result.sides[side].node(loose).skeleton;
                    let index = *classes.entry(class).or_insert_with(|| {
                        both.push((class, Default::default()));
                        both.len() - 1
                    });
                    both[index].1[side].push(loose);
                }
            }
            both.retain(|(_, nodes)| nodes.iter().all(|nodes| !nodes.is_empty()));
            for (class, nodes) in both {
                let in_all = [0, 1].map(|side: usize| in_all[side].get(&class).map_or(0, |&n| n));
                result.of_class(nodes, tokens, in_all);
            }
            for (side, level) in levels.into_iter().enumerate() {
                for loose in level {
                    result.sides[side].pass_on(loose);
                }
            }
        }
        result
    }
}
