//! The dag nodes and variables below an object, found without a visit of any.
//!
//! This graph has a node for every dag node, every variable that is not plain, and
//! every remembered object with such nodes below or with too many variables for a list.
//! Nodes are numbered after all nodes below. An edge leads to the nearest nodes below,
//! or to a variable without a node. The lowest number below a node bounds the search:
//! if the interval from this number to the node contains no target, the search does not
//! go below the node. (Interval labels of a depth-first search: Yildirim, Chaoji, Zaki,
//! "GRAIL", 2010.)

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

/// A node, or a variable without a node, as the end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place(u32);

/// Set in the number of a variable.
const VAR: u32 = 1 << 31;

impl Place {
    fn is_var(self) -> bool {
        self.0 & VAR != 0
    }
}

struct Node {
    /// The end of the node's edges, which begin at the end of the previous node's
    /// edges.
    end: u32,
    /// The lowest number among the node and the nodes below.
    low: u32,
    /// One bit for each variable below, by the variable's number.
    vars: u64,
}

/// The nodes met so far.
#[derive(Default)]
pub(crate) struct Reach {
    nodes: Vec<Node>,
    edges: Vec<Place>,
    /// By identity number.
    places: HashMap<u64, Place, RandomState>,
    /// Further places of objects that were met in a definition field, or have changed.
    further: HashMap<u64, Vec<Place>, RandomState>,
    vars: u32,
}

impl Reach {
    /// The number of stored edges and nodes, as a measure of memory.
    pub(super) fn len(&self) -> usize {
        self.edges.len() + self.nodes.len()
    }

    /// The place of a variable: its node, or a new number for a variable without a node.
    pub(super) fn var(&mut self, ident: u64) -> Place {
        let vars = &mut self.vars;
        *self.places.entry(ident).or_insert_with(|| {
            *vars += 1;
            Place(VAR | (*vars - 1))
        })
    }

    /// Adds an object, given the places below.
    pub(super) fn add(&mut self, ident: u64, below: &[Place]) -> Place {
        let number = self.nodes.len() as u32;
        let (mut low, mut vars) = (number, 0);
        for &place in below {
            if place.is_var() {
                vars |= bit(place);
            } else {
                let node = &self.nodes[place.0 as usize];
                low = low.min(node.low);
                vars |= node.vars;
            }
        }
        self.edges.extend_from_slice(below);
        self.nodes.push(Node {
            end: self.edges.len() as u32,
            low,
            vars,
        });
        if let Some(earlier) = self.places.insert(ident, Place(number)) {
            self.further.entry(ident).or_default().push(earlier);
        }
        Place(number)
    }

    fn below(&self, number: u32) -> &[Place] {
        let start = match number.checked_sub(1) {
            Some(before) => self.nodes[before as usize].end,
            None => 0,
        };
        &self.edges[start as usize..self.nodes[number as usize].end as usize]
    }

    /// True if any of the objects is among `roots` or below a root.
    ///
    /// Linear in the number of objects and roots, and in the edges below the roots in the
    /// worst case; most of these are not searched.
    pub(crate) fn reaches(&self, roots: &[Place], idents: impl Iterator<Item = u64>) -> bool {
        let (mut nodes, mut vars, mut bits) = (Vec::new(), HashSet::<_, RandomState>::default(), 0);
        let places = |ident: u64| {
            let further = self.further.get(&ident).into_iter().flatten();
            self.places.get(&ident).into_iter().chain(further).copied()
        };
        for place in idents.flat_map(places) {
            if place.is_var() {
                bits |= bit(place);
                vars.insert(place);
            } else {
                nodes.push(place.0);
            }
        }
        if nodes.is_empty() && vars.is_empty() {
            return false;
        }
        nodes.sort_unstable();
        // The greatest target up to a number is in the interval below that number, if
        // any target is.
        let leads = |number: u32| {
            let node = &self.nodes[number as usize];
            let end = nodes.partition_point(|&target| target <= number);
            node.vars & bits != 0 || end > 0 && nodes[end - 1] >= node.low
        };
        let mut seen = HashSet::<u32, RandomState>::default();
        let mut open: Vec<Place> = roots.to_vec();
        while let Some(place) = open.pop() {
            if place.is_var() {
                if vars.contains(&place) {
                    return true;
                }
            } else if leads(place.0) && seen.insert(place.0) {
                if nodes.binary_search(&place.0).is_ok() {
                    return true;
                }
                open.extend_from_slice(self.below(place.0));
            }
        }
        false
    }
}

fn bit(place: Place) -> u64 {
    1 << (place.0 % u64::BITS)
}

#[cfg(test)]
mod tests {
    use super::{Place, Reach};

    /// A changed object has another place, and objects above the first place are still
    /// asked about that place.
    #[test]
    fn all_places_of_an_object_count() {
        let mut reach = Reach::default();
        let first = reach.add(1, &[]);
        let above = reach.add(2, &[first]);
        let second = reach.add(1, &[]);
        let other = reach.add(3, &[second]);
        for root in [above, other] {
            assert!(reach.reaches(&[root], [1].into_iter()));
        }
        assert!(!reach.reaches(&[other], [2].into_iter()));
    }

    /// Compares every pair of nodes with a search along all edges.
    #[test]
    fn intervals_bound_the_search_and_hide_nothing() {
        let mut state = 7u64;
        let mut next = move |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % bound
        };
        for _ in 0..50 {
            let mut reach = Reach::default();
            let mut below: Vec<Vec<u64>> = Vec::new();
            for ident in 0..40u64 {
                let parts: Vec<u64> = (0..next(4))
                    .filter(|_| ident > 0)
                    .map(|_| next(ident))
                    .collect();
                let vars: Vec<u64> = (0..next(2)).map(|_| 100 + next(70)).collect();
                let mut places: Vec<Place> = parts.iter().map(|part| reach.places[part]).collect();
                places.extend(vars.iter().map(|&var| reach.var(var)));
                reach.add(ident, &places);
                let mut all = vec![ident];
                all.extend(vars);
                for part in parts {
                    all.extend(below[part as usize].clone());
                }
                below.push(all);
            }
            for root in 0..40u64 {
                for target in (0..40).chain(100..170) {
                    let result = reach.reaches(&[reach.places[&root]], [target].into_iter());
                    assert_eq!(
                        result,
                        below[root as usize].contains(&target),
                        "{root} {target}"
                    );
                }
            }
            // Several at once, in any order.
            for root in 0..40u64 {
                let targets: Vec<u64> = (0..4).map(|_| next(170)).collect();
                let result = reach.reaches(&[reach.places[&root]], targets.iter().copied());
                let below = &below[root as usize];
                let wanted = targets.iter().any(|target| below.contains(target));
                assert_eq!(result, wanted, "{root} {targets:?}");
            }
        }
    }
}
