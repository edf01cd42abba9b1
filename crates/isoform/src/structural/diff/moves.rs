//! Finds what was deleted in one place and inserted in another.
//!
//! Moves are counted in places, not in objects: a shared part is loose as often as its copies
//! would be, so sharing changes no count.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::change::ChangeKind;
use super::difference::occurrences;
use super::pairs::Mode;
use super::tables::{Cell, IS_HOOKED, IS_IGNORED, NONE, Node, Tables};
use super::walk::{Finding, Walk};
use crate::kernel::error::Result;

type Map<K, V> = HashMap<K, V, RandomState>;

/// A part with fewer nodes than this moves only if it is loose in one place of each side: small
/// parts are alike by chance.
const LARGE: u64 = 4;

/// True for parts that can move: leaves and containers are everywhere, and dag nodes and
/// variables are used, not placed.
fn can_move(node: &Node) -> bool {
    node.size > 1 && node.counts() && !node.is_dag() && is_open(node)
}

/// True if the places of a node are places of its parts, too: what a variable says about itself
/// goes with the variable, and a type with its own comparison is compared as a whole.
fn is_open(node: &Node) -> bool {
    !node.is_var() && !node.has(IS_HOOKED | IS_IGNORED)
}

/// The node on one side of a finding, if it is there as a whole; [`NONE`] for a value without
/// parts.
fn part_of_one_side(finding: &Finding, side: usize) -> Option<u32> {
    let kind = [ChangeKind::Deleted, ChangeKind::Inserted][side];
    // Where only the node itself was replaced, what is below is paired.
    let is_whole = finding.kind == kind
        || (finding.kind == ChangeKind::Replaced && finding.sizes.0.max(finding.sizes.1) > 1);
    let spot = [&finding.left, &finding.right][side].as_ref();
    spot.filter(|_| is_whole).map(|spot| spot.node)
}

fn own_size(finding: &mut Finding, side: usize) -> &mut u64 {
    match side {
        0 => &mut finding.sizes.0,
        _ => &mut finding.sizes.1,
    }
}

/// A node inside of parts that are on one side only, and its places there which have not moved.
struct Loose {
    node: u32,
    /// The position of the first whole part around it.
    top: usize,
    /// The findings about the node itself, each with its places.
    wholes: Vec<(usize, u64)>,
    /// The places inside of larger parts.
    inner: u64,
    /// All places, also those that have moved.
    all: u64,
    /// How many nodes moved out of it.
    lost: u128,
}

impl Loose {
    fn whole_places(&self) -> u64 {
        let wholes = self.wholes.iter().map(|&(_, places)| places);
        wholes.fold(0, u64::saturating_add)
    }

    fn places(&self) -> u64 {
        self.whole_places().saturating_add(self.inner)
    }
}

/// Some places of one node: those of a finding about it, or all inner ones.
struct Places {
    /// The position of the node among the loose ones.
    loose: usize,
    /// The position of the finding.
    whole: Option<usize>,
    count: u64,
}

/// Places with equal tokens, in the order in which they move: the wholes, and the inner ones.
struct Alike {
    token: u64,
    places: [Vec<Places>; 2],
    /// The first ones that have not moved.
    next: [usize; 2],
}

/// Which places of both sides move, and in which order.
const KINDS: [[usize; 2]; 4] = [[0, 0], [0, 1], [1, 0], [1, 1]];

impl Alike {
    fn has_moved(&self, kind: usize) -> bool {
        self.next[kind] == self.places[kind].len()
    }

    fn places(&self) -> u64 {
        let counts = self.places.iter().flatten().map(|places| places.count);
        counts.fold(0, u64::saturating_add)
    }
}

/// A part that moved.
struct Move {
    /// The loose nodes.
    both: [usize; 2],
    times: u64,
}

/// The loose nodes of one side.
struct Side<'t> {
    tables: &'t Tables,
    /// In the order in which a visit meets them.
    loose: Vec<Loose>,
    by_node: Map<u32, usize>,
    /// The largest ones first, and wholes before their parts.
    order: Vec<usize>,
    next: usize,
}

impl<'t> Side<'t> {
    /// `times` says how often each pair occurs.
    fn of(walk: &Walk<'t>, side: usize, times: &[u64]) -> Self {
        let mut made = Side {
            tables: walk.tables(side),
            loose: Vec::new(),
            by_node: Map::default(),
            order: Vec::new(),
            next: 0,
        };
        let tables = made.tables;
        let tops: Vec<(usize, u32)> = (walk.findings.iter().enumerate())
            .filter_map(|(number, finding)| Some((number, part_of_one_side(finding, side)?)))
            .filter(|&(_, top)| top != NONE)
            .collect();
        let is_dag = |node: u32| tables.node(node).is_dag();
        // Those that are told themselves.
        let dags: HashSet<u32, RandomState> = (tops.iter().map(|&(_, top)| top))
            .filter(|&top| is_dag(top))
            .collect();
        // Only a use of it is gone, or its parts were compared with those of another one.
        let is_paired = |node: u32| is_dag(node) && walk.partners[side][node as usize] != NONE;
        let mut stack = Vec::new();
        for (number, top) in tops {
            if is_paired(top) {
                continue;
            }
            let at = made.by_node.get(&top).copied().unwrap_or(made.loose.len());
            stack.push(top);
            while let Some(node) = stack.pop() {
                if made.by_node.contains_key(&node) {
                    continue;
                }
                made.add(node, at);
                if is_open(tables.node(node)) {
                    let parts = tables.cells(node).iter().rev();
                    let parts = parts.filter_map(Cell::node_number);
                    stack.extend(parts.filter(|&part| !is_paired(part) && !dags.contains(&part)));
                }
            }
            let times = times[walk.findings[number].pair as usize].max(1);
            let top = &mut made.loose[at];
            top.wholes.push((number, times));
            top.all = top.all.saturating_add(times);
        }
        made.order = (0..made.loose.len()).collect();
        made.order.sort_unstable_by_key(|&number| {
            let number = made.loose[number].node;
            let node = tables.node(number);
            // A container is as large as its only part, and numbers of parts are smaller.
            (Reverse(node.size), can_move(node), Reverse(number))
        });
        made
    }

    fn add(&mut self, node: u32, top: usize) {
        self.by_node.insert(node, self.loose.len());
        self.loose.push(Loose {
            node,
            top,
            wholes: Vec::new(),
            inner: 0,
            all: 0,
            lost: 0,
        });
    }

    fn node(&self, loose: usize) -> &'t Node {
        self.tables.node(self.loose[loose].node)
    }

    /// The size of the largest nodes to come.
    fn next_size(&self) -> Option<u64> {
        let next = self.order.get(self.next);
        next.map(|&loose| self.node(loose).size)
    }

    /// The next nodes of a size that can move, in the order in which a visit meets them; all
    /// larger ones and those around them pass on their places first.
    fn level(&mut self, size: u64) -> Vec<usize> {
        let mut level = Vec::new();
        while let Some(&loose) = self.order.get(self.next) {
            let node = self.node(loose);
            if node.size < size {
                break;
            }
            match can_move(node) {
                true => level.push(loose),
                false => self.pass_on(loose),
            }
            self.next += 1;
        }
        level.sort_unstable();
        level
    }

    /// Adds the places of a node to those of its parts.
    fn pass_on(&mut self, loose: usize) {
        let node = self.node(loose);
        if !is_open(node) {
            return;
        }
        let limit = if node.is_dag() { 1 } else { u64::MAX };
        let places = self.loose[loose].places().min(limit);
        let all = self.loose[loose].all.min(limit);
        let parts = self.tables.cells(self.loose[loose].node).iter();
        for part in parts.filter_map(Cell::node_number) {
            if let Some(&part) = self.by_node.get(&part) {
                let part = &mut self.loose[part];
                part.inner = part.inner.saturating_add(places);
                part.all = part.all.saturating_add(all);
            }
        }
    }

    /// How many places the nodes of each class that can move have in the whole value.
    fn places_by_class(&self) -> Map<u64, u64> {
        let mut places = vec![0u64; self.tables.nodes.len()];
        if let Some(root) = self.tables.root.node_number() {
            places[root as usize] = 1;
        }
        let mut classes: Map<u64, u64> = Map::default();
        for &loose in &self.order {
            if can_move(self.node(loose)) {
                classes.insert(self.node(loose).skeleton, 0);
            }
        }
        for number in (0..places.len()).rev() {
            let node = &self.tables.nodes[number];
            let own = match node.is_dag() {
                true => places[number].min(1),
                false => places[number],
            };
            if let Some(class) = classes.get_mut(&node.skeleton) {
                *class = class.saturating_add(own);
            }
            if is_open(node) {
                let parts = self.tables.cells(number as u32).iter();
                for part in parts.filter_map(Cell::node_number) {
                    let part = &mut places[part as usize];
                    *part = part.saturating_add(own);
                }
            }
        }
        classes
    }

    /// The places of some nodes of a class by token, in the order in which a visit meets these.
    fn alike(&self, nodes: &[usize], (tokens, ranks): (&[u64], &[usize])) -> Vec<Alike> {
        let mut known: Map<u64, usize> = Map::default();
        let mut found: Vec<Alike> = Vec::new();
        for &loose in nodes {
            let Loose {
                node,
                wholes,
                inner,
                ..
            } = &self.loose[loose];
            let token = tokens[*node as usize];
            let at = *known.entry(token).or_insert_with(|| {
                found.push(Alike {
                    token,
                    places: Default::default(),
                    next: [0, 0],
                });
                found.len() - 1
            });
            let wholes = wholes.iter().enumerate();
            found[at].places[0].extend(wholes.map(|(position, &(_, count))| Places {
                loose,
                whole: Some(position),
                count,
            }));
            found[at].places[1].push(Places {
                loose,
                whole: None,
                count: *inner,
            });
        }
        for alike in &mut found {
            for places in &mut alike.places {
                places.retain(|places| places.count > 0);
            }
            // Which of equal findings is met first depends on what is shared.
            alike.places[0].sort_by_key(|places| {
                let wholes = &self.loose[places.loose].wholes;
                places.whole.map(|whole| ranks[wholes[whole].0])
            });
        }
        found
    }
}

/// What is known about moves while they are found.
struct Moves<'t> {
    sides: [Side<'t>; 2],
    /// For each side and finding, how many of its places moved away.
    gone: [Vec<u64>; 2],
    /// By finding, the first one of those of the same kind with equal values.
    ranks: Vec<usize>,
    moves: Vec<Move>,
}

impl Moves<'_> {
    /// Moves as many places of a class as both sides have, those of equal tokens first.
    /// `in_all` says how many places there are in both values.
    fn of_class(&mut self, nodes: [Vec<usize>; 2], tokens: [&[u64]; 2], in_all: [u64; 2]) {
        let size = self.sides[0].node(nodes[0][0]).size;
        let [mut lefts, mut rights] = [0, 1]
            .map(|side: usize| self.sides[side].alike(&nodes[side], (tokens[side], &self.ranks)));
        let count = |alike: &[Alike]| {
            let counts = alike.iter().map(Alike::places);
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
        // What also stays somewhere is in other parts by chance.
        let kinds = if stays(0) || stays(1) {
            &KINDS[..3]
        } else {
            &KINDS
        };
        let by_token: Map<u64, usize> = (lefts.iter().enumerate())
            .map(|(at, alike)| (alike.token, at))
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

    /// Moves places of one token to those of another one.
    fn pair(&mut self, left: &mut Alike, right: &mut Alike, kinds: [usize; 2]) {
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

    /// Takes places that moved away from a node, and from what is said about them.
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

impl<'t> Walk<'t> {
    /// Turns deletions and insertions of the same part into moves. O(n) for n nodes of both
    /// sides and O(m log m) for m in such parts; nothing if there are none on one side.
    ///
    /// # Errors
    ///
    /// Those of custom comparisons.
    pub(super) fn find_moves(&mut self) -> Result<()> {
        let is_on = |side: usize| {
            let parts = self.findings.iter();
            let mut parts = parts.filter_map(|finding| part_of_one_side(finding, side));
            parts.any(|node| node != NONE && self.tables(side).node(node).size > 1)
        };
        if !is_on(0) || !is_on(1) {
            return Ok(());
        }
        let times = occurrences(self);
        let found = self.moves(&times);
        for (number, finding) in self.findings.iter_mut().enumerate() {
            let times = times[finding.pair as usize].max(1);
            let [left, right] = [0, 1].map(|side: usize| found.gone[side][number]);
            // A part that was replaced is gone where both of its sides moved.
            finding.moved = match finding.kind {
                ChangeKind::Replaced => left.min(right),
                _ => left.max(right),
            };
            for (side, gone) in [left, right].into_iter().enumerate() {
                let size = own_size(finding, side);
                *size = if gone < times { *size } else { (*size).min(1) };
            }
        }
        // What moved out of or into something else does not count there.
        for (side, found) in found.sides.iter().enumerate() {
            for loose in found.loose.iter().filter(|loose| loose.lost > 0) {
                let places = u128::from(loose.whole_places().max(1));
                let lost = u64::try_from(loose.lost / places).unwrap_or(u64::MAX);
                for &(finding, _) in loose.wholes.iter().filter(|(_, rest)| *rest > 0) {
                    let size = own_size(&mut self.findings[finding], side);
                    *size = size.saturating_sub(lost).max(1);
                }
            }
        }
        for Move { both, times } in found.moves {
            let [left, right] = [0, 1].map(|side| found.sides[side].loose[both[side]].node);
            let size = self.right.node(right).size;
            let at = self.open_apart((left, right), Some(times));
            let spots = (self.spot_of(0, left), self.spot_of(1, right));
            self.mode = Mode::Partners;
            let spots = (Some(spots.0), Some(spots.1));
            self.note(ChangeKind::Moved, at.1, at.0, spots, (size, size));
            self.apart((left, right), at)?;
        }
        Ok(())
    }

    /// The moves, those of the largest parts first: what is in them moves with them.
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
        let mut found = Moves {
            ranks: ranks.collect(),
            gone: [0, 1].map(|_| vec![0; self.findings.len()]),
            moves: Vec::new(),
            sides,
        };
        while let (Some(left), Some(right)) =
            (found.sides[0].next_size(), found.sides[1].next_size())
        {
            let levels = [0, 1].map(|side: usize| found.sides[side].level(left.max(right)));
            let mut classes: Map<u64, usize> = Map::default();
            let mut both: Vec<(u64, [Vec<usize>; 2])> = Vec::new();
            for side in [1, 0] {
                for &loose in &levels[side] {
                    let class = found.sides[side].node(loose).skeleton;
                    let at = *classes.entry(class).or_insert_with(|| {
                        both.push((class, Default::default()));
                        both.len() - 1
                    });
                    both[at].1[side].push(loose);
                }
            }
            both.retain(|(_, nodes)| nodes.iter().all(|nodes| !nodes.is_empty()));
            for (class, nodes) in both {
                let in_all = [0, 1].map(|side: usize| in_all[side].get(&class).map_or(0, |&n| n));
                found.of_class(nodes, tokens, in_all);
            }
            for (side, level) in levels.into_iter().enumerate() {
                for loose in level {
                    found.sides[side].pass_on(loose);
                }
            }
        }
        found
    }
}
