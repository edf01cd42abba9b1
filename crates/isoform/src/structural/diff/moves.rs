//! Finds what was deleted in one place and inserted in another.
//!
//! Moves are counted in places, not in objects: a shared part is loose as often as its copies
//! would be, so sharing changes no count.

use std::cmp::Reverse;

use hashbrown::HashMap;
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

/// A node inside of parts that are on one side only, and its places there which have not moved.
struct Loose {
    node: u32,
    /// The first finding around it.
    finding: usize,
    /// The findings about the node itself, each with its places.
    wholes: Vec<(usize, u64)>,
    /// The places inside of larger parts.
    inner: u64,
}

impl Loose {
    fn places(&self) -> u64 {
        let wholes = self.wholes.iter().map(|&(_, places)| places);
        wholes.fold(self.inner, u64::saturating_add)
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

/// Places with equal tokens, in the order in which they move.
struct Alike {
    token: u64,
    places: Vec<Places>,
    /// The first place that has not moved.
    next: usize,
}

impl Alike {
    fn has_moved(&self) -> bool {
        self.next == self.places.len()
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
        let partners = &walk.partners[side];
        let mut stack = Vec::new();
        for (number, finding) in walk.findings.iter().enumerate() {
            let Some(top) = part_of_one_side(finding, side).filter(|&top| top != NONE) else {
                continue;
            };
            if made.tables.node(top).is_dag() && partners[top as usize] != NONE {
                // Only a use of it is gone, or its parts were compared with those of the other.
                continue;
            }
            stack.push(top);
            while let Some(node) = stack.pop() {
                if made.by_node.contains_key(&node) {
                    continue;
                }
                made.add(node, number);
                let found = made.tables.node(node);
                if !is_open(found) {
                    continue;
                }
                let parts = made.tables.cells(node).iter().rev();
                stack.extend(parts.filter_map(Cell::node_number).filter(|&part| {
                    !made.tables.node(part).is_dag() || partners[part as usize] == NONE
                }));
            }
            let times = times[finding.pair as usize].max(1);
            let top = made.by_node[&top];
            made.loose[top].wholes.push((number, times));
        }
        let tables = made.tables;
        made.order = (0..made.loose.len()).collect();
        made.order.sort_unstable_by_key(|&number| {
            let number = made.loose[number].node;
            let node = tables.node(number);
            // A container is as large as its only part, and numbers of parts are smaller.
            (Reverse(node.size), can_move(node), Reverse(number))
        });
        made
    }

    fn add(&mut self, node: u32, finding: usize) {
        self.by_node.insert(node, self.loose.len());
        self.loose.push(Loose {
            node,
            finding,
            wholes: Vec::new(),
            inner: 0,
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
        let parts = self.tables.cells(self.loose[loose].node).iter();
        for part in parts.filter_map(Cell::node_number) {
            if let Some(&part) = self.by_node.get(&part) {
                let inner = &mut self.loose[part].inner;
                *inner = inner.saturating_add(places);
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
                    places: Vec::new(),
                    next: 0,
                });
                found.len() - 1
            });
            let places = &mut found[at].places;
            let wholes = wholes.iter().enumerate();
            places.extend(wholes.map(|(position, &(_, count))| Places {
                loose,
                whole: Some(position),
                count,
            }));
            places.push(Places {
                loose,
                whole: None,
                count: *inner,
            });
        }
        for alike in &mut found {
            alike.places.retain(|places| places.count > 0);
            // Which of equal findings is met first depends on what is shared.
            alike.places.sort_by_key(|places| match places.whole {
                Some(whole) => ranks[self.loose[places.loose].wholes[whole].0],
                None => usize::MAX,
            });
        }
        found
    }
}

/// What is known about moves while they are found.
struct Moves<'t> {
    sides: [Side<'t>; 2],
    /// For each side and finding, how many of its places moved away, and how many nodes inside
    /// of them.
    gone: [Vec<(u64, u64)>; 2],
    /// By finding, the first one of those of the same kind with equal values.
    ranks: Vec<usize>,
    moves: Vec<Move>,
}

impl Moves<'_> {
    /// Moves as many places of a class as both sides have.
    fn of_class(
        &mut self,
        [lefts, rights]: [Vec<usize>; 2],
        tokens: [&[u64]; 2],
        in_all: [u64; 2],
    ) {
        let size = self.sides[0].node(lefts[0]).size;
        let mut both = [
            self.sides[0].alike(&lefts, (tokens[0], &self.ranks)),
            self.sides[1].alike(&rights, (tokens[1], &self.ranks)),
        ];
        let count = |alike: &[Alike], is_wanted: fn(&Places) -> bool| {
            let places = alike.iter().flat_map(|alike| &alike.places);
            let counts = places.filter(|places| is_wanted(places)).map(|p| p.count);
            counts.fold(0, u64::saturating_add)
        };
        let [left, right] = both.each_ref().map(|alike| count(alike, |_| true));
        let mut rest = left.min(right);
        if size < LARGE && (left, right) != (1, 1) {
            return;
        }
        if in_all[0] > left || in_all[1] > right {
            // What also stays somewhere is there by chance where it is only a part of others.
            let wholes = both.each_ref();
            let wholes = wholes.map(|alike| count(alike, |places| places.whole.is_some()));
            rest = rest.min(wholes[0].max(wholes[1]));
        }
        let [lefts, rights] = &mut both;
        let by_token: Map<u64, usize> = (lefts.iter().enumerate())
            .map(|(at, alike)| (alike.token, at))
            .collect();
        for right in rights.iter_mut() {
            if let Some(&left) = by_token.get(&right.token) {
                self.pair(&mut lefts[left], right, &mut rest);
            }
        }
        let mut next = (0, 0);
        while let (Some(left), Some(right)) = (lefts.get_mut(next.0), rights.get_mut(next.1))
            && rest > 0
        {
            self.pair(left, right, &mut rest);
            next.0 += usize::from(left.has_moved());
            next.1 += usize::from(right.has_moved());
        }
    }

    /// Moves places of one token to those of another one, within what may still move.
    fn pair(&mut self, left: &mut Alike, right: &mut Alike, rest: &mut u64) {
        while let (Some(from), Some(to)) = (
            left.places.get_mut(left.next),
            right.places.get_mut(right.next),
        ) && *rest > 0
        {
            let times = from.count.min(to.count).min(*rest);
            for (side, places) in [&mut *from, &mut *to].into_iter().enumerate() {
                self.take(side, places, times);
            }
            let both = [from.loose, to.loose];
            match self.moves.last_mut().filter(|last| last.both == both) {
                Some(last) => last.times = last.times.saturating_add(times),
                None => self.moves.push(Move { both, times }),
            }
            *rest -= times;
            left.next += usize::from(from.count == 0);
            right.next += usize::from(to.count == 0);
        }
    }

    /// Takes places that moved away from a node, and from what is said about them.
    fn take(&mut self, side: usize, places: &mut Places, times: u64) {
        places.count -= times;
        let size = self.sides[side].node(places.loose).size;
        let loose = &mut self.sides[side].loose[places.loose];
        match places.whole {
            Some(whole) => {
                let (finding, rest) = &mut loose.wholes[whole];
                *rest -= times;
                let gone = &mut self.gone[side][*finding].0;
                *gone = gone.saturating_add(times);
            }
            None => {
                loose.inner -= times;
                let inside = &mut self.gone[side][loose.finding].1;
                *inside = inside.saturating_add(times.saturating_mul(size));
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
                ChangeKind::Replaced => left.0.min(right.0),
                _ => left.0.max(right.0),
            };
            // One that moved out of or into something else does not count there.
            let sizes = [(&mut finding.sizes.0, left), (&mut finding.sizes.1, right)];
            for (size, (own, inside)) in sizes {
                *size = match own >= times {
                    true => (*size).min(1),
                    false if inside > 0 => size.saturating_sub(inside / times).max(1),
                    false => *size,
                };
            }
        }
        for Move { both, times } in found.moves {
            let [left, right] = [0, 1].map(|side| found.sides[side].loose[both[side]].node);
            let size = self.right.node(right).size;
            let at = self.open_apart((left, right), times);
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
            gone: [0, 1].map(|_| vec![(0, 0); self.findings.len()]),
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
