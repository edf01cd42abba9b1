//! The places of changes: pairs of places, linked to the places around them. One side of
//! a place is a [`Place`], whose path is made on request.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rapidhash::fast::RandomState;

use super::tables::{NONE, Tables};
use crate::kernel::path::tree::{Above, PathTree};
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::value::Value;

/// A place of a [`Change`](super::Change) on one side.
///
/// A place refers to the place around it: many places take no more room in a deep value
/// than in a flat value. [`around`](Self::around) leads outwards step by step, and
/// [`path`](Self::path) leads from the root to the place.
#[derive(Clone)]
pub struct Place {
    places: Arc<Places>,
    number: u32,
    side: usize,
}

/// The places of differences with paths that share their beginnings.
///
/// ```
/// use isoform::compare::{PlacePaths, diff};
///
/// let found = diff([1, 2], [1, 3])?;
/// let mut paths = PlacePaths::default();
/// let (left, _) = &found.changes()[0].places().next().expect("a place");
/// assert_eq!(paths.text(left), "<root>[1]");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Default)]
pub struct PlacePaths {
    tree: PathTree,
    /// The numbers in the tree of the added places, by the address of their [`Places`],
    /// the side and the place.
    known: HashMap<(usize, usize, Location), u32, RandomState>,
    /// Keeps the addresses.
    places: Vec<Arc<Places>>,
}

impl Place {
    pub(super) fn new(places: Arc<Places>, number: u32, side: usize) -> Self {
        Place {
            places,
            number,
            side,
        }
    }

    /// The path from the root; the root itself for a place that is missing on this
    /// side. O(depth), and once O(n) for a path through a moved part.
    pub fn path(&self) -> AccessPath {
        let mut steps = Vec::new();
        let mut at = Location::Place(self.number);
        loop {
            match self.places.above(self.side, at) {
                Origin::Root => break,
                Origin::Same(same) => at = same,
                Origin::Part(around, node, position) => {
                    steps.push(self.places.step(self.side, node, position));
                    at = around;
                }
                Origin::Nowhere => return AccessPath::root(),
            }
        }
        steps.reverse();
        AccessPath::from_steps(steps)
    }

    /// The value at the place; None for a place that is missing on this side. O(1), and
    /// once O(n) as [`path`](Self::path).
    pub fn value(&self) -> Option<Value> {
        let tables = &self.places.sides[self.side];
        let mut at = Location::Place(self.number);
        loop {
            match self.places.above(self.side, at) {
                Origin::Root => return Some(tables.value_of(&tables.root)),
                Origin::Same(same) => at = same,
                Origin::Part(_, node, position) => {
                    return Some(tables.value_of(tables.cell(node, position)));
                }
                Origin::Nowhere => return None,
            }
        }
    }

    /// The objects and containers around the place, the innermost first, with the steps
    /// that lead towards the place. O(1) per object, and once O(n) as
    /// [`path`](Self::path).
    pub fn around(&self) -> impl Iterator<Item = (Value, AccessStep)> + '_ {
        let mut next = Some(Location::Place(self.number));
        std::iter::from_fn(move || {
            loop {
                match self.places.above(self.side, next?) {
                    Origin::Root | Origin::Nowhere => next = None,
                    Origin::Same(same) => next = Some(same),
                    Origin::Part(around, node, position) => {
                        next = Some(around);
                        let object = &self.places.sides[self.side].node(node).object;
                        let step = self.places.step(self.side, node, position);
                        return Some((Value::from(object), step));
                    }
                }
            }
        })
    }
}

impl PlacePaths {
    /// Adds a place and all missing places around it. O(1) per added place.
    pub fn add(&mut self, place: &Place) -> u32 {
        let Place {
            places,
            number,
            side,
        } = place;
        if !self.places.iter().any(|other| Arc::ptr_eq(other, places)) {
            self.places.push(places.clone());
        }
        let address = Arc::as_ptr(places).addr();
        let key = |location| (address, *side, location);
        let start = key(Location::Place(*number));
        self.tree.add(&mut self.known, start, |&(_, _, location)| {
            match places.above(*side, location) {
                Origin::Root | Origin::Nowhere => Above::Root,
                Origin::Same(same) => Above::Same(key(same)),
                Origin::Part(around, node, position) => {
                    Above::Step(key(around), places.step(*side, node, position))
                }
            }
        })
    }

    /// The text of a place, as by [`PathTree::text`]. O(1) per added place.
    pub fn text(&mut self, place: &Place) -> String {
        let place = self.add(place);
        self.tree.text(place)
    }

    /// All added places.
    pub fn tree(&self) -> &PathTree {
        &self.tree
    }

    pub(crate) fn into_tree(self) -> PathTree {
        self.tree
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Place {}>", self.path())
    }
}

impl fmt::Debug for PlacePaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacePaths").finish_non_exhaustive()
    }
}

/// The relation of a place on one side to the place around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// The place is the same.
    Same,
    /// The part of a node at a position.
    Part(u32, u32),
    /// The place where a node is first met.
    Node(u32),
    /// The same as another place.
    Place(u32),
    /// The place does not exist on this side.
    Nowhere,
}

/// A place on both sides.
#[derive(Clone, Copy)]
struct PlacePair {
    around: u32,
    left: Link,
    right: Link,
}

/// A place, or the place where a node is first met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Location {
    Place(u32),
    Node(u32),
}

/// The relation of a place to another place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// The place is the root.
    Root,
    /// The place is the same.
    Same(Location),
    /// The place of the part, at a position, of the node at another place.
    Part(Location, u32, u32),
    /// The place does not exist on this side.
    Nowhere,
}

/// The first node that contains a node, and the position, by node.
pub(super) type Parents = Vec<(u32, u32)>;

/// The places of a difference. The first place is the place of both roots.
pub(super) struct Places {
    places: Vec<PlacePair>,
    pub(super) sides: [Arc<Tables>; 2],
    parents: [OnceLock<Parents>; 2],
}

/// The number of the place of both roots.
pub(super) const ROOT: u32 = 0;

impl Places {
    pub(super) fn new(sides: [Arc<Tables>; 2]) -> Self {
        let root = PlacePair {
            around: NONE,
            left: Link::Same,
            right: Link::Same,
        };
        Places {
            places: vec![root],
            sides,
            parents: [OnceLock::new(), OnceLock::new()],
        }
    }

    pub(super) fn add(&mut self, around: u32, left: Link, right: Link) -> u32 {
        self.places.push(PlacePair {
            around,
            left,
            right,
        });
        (self.places.len() - 1) as u32
    }

    /// True for the place of the value under a key of a map.
    pub(super) fn is_under_key(&self, place: u32) -> bool {
        let place = self.places.get(place as usize);
        let link = place.map_or(Link::Same, |place| place.right);
        matches!(link, Link::Part(node, _) if self.sides[1].node(node).is_mapping())
    }

    /// The relation of a place on one side to its surroundings. O(1), and once O(n) for
    /// the place of a moved node.
    pub(super) fn above(&self, side: usize, at: Location) -> Origin {
        match at {
            Location::Node(node) => match self.parents(side)[node as usize] {
                (NONE, _) => Origin::Root,
                (parent, position) => Origin::Part(Location::Node(parent), parent, position),
            },
            Location::Place(place) => match self.places.get(place as usize) {
                None => Origin::Root,
                Some(place) => match [place.left, place.right][side] {
                    Link::Same => Origin::Same(Location::Place(place.around)),
                    Link::Part(node, position) => {
                        Origin::Part(Location::Place(place.around), node, position)
                    }
                    Link::Node(node) => Origin::Same(Location::Node(node)),
                    Link::Place(other) => Origin::Same(Location::Place(other)),
                    Link::Nowhere => Origin::Nowhere,
                },
            },
        }
    }

    fn parents(&self, side: usize) -> &Parents {
        self.parents[side].get_or_init(|| parents(&self.sides[side]))
    }

    /// The step from a node to one of its parts.
    pub(super) fn step(&self, side: usize, node: u32, position: u32) -> AccessStep {
        step_at(&self.sides[side], node, position)
    }
}

/// The step from a node to its part at a position.
pub(super) fn step_at(tables: &Tables, node: u32, position: u32) -> AccessStep {
    let found = tables.node(node);
    if found.is_sequence() {
        return AccessStep::ArrayItem(position as usize);
    }
    if found.is_mapping() {
        // The value of an entry follows its key.
        let key = tables.cell(node, position & !1);
        return AccessStep::MapItem(tables.value_of(key));
    }
    let info = found.info();
    let slot = info.visited.get(position as usize);
    let name = slot.map_or("", |slot| info.fields()[slot.field as usize].name());
    AccessStep::Attr(name.to_owned())
}

/// Parts have smaller numbers than the nodes around them. One pass from the root
/// therefore finds the parents of all nodes, as near to the root in the numbering as
/// possible.
pub(super) fn parents(tables: &Tables) -> Parents {
    let mut parents = vec![(NONE, 0); tables.nodes.len()];
    for number in (0..tables.nodes.len() as u32).rev() {
        for (position, cell) in tables.cells(number).iter().enumerate() {
            if let Some(part) = cell.node_number()
                && parents[part as usize].0 == NONE
            {
                parents[part as usize] = (number, position as u32);
            }
        }
    }
    parents
}
