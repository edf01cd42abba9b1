//! The places of changes: pairs of places, linked to the places around them.

use std::sync::{Arc, OnceLock};

use super::tables::{NONE, Tables};
use crate::kernel::path::AccessStep;

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
struct Place {
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
    places: Vec<Place>,
    pub(super) sides: [Arc<Tables>; 2],
    parents: [OnceLock<Parents>; 2],
}

/// The number of the place of both roots.
pub(super) const ROOT: u32 = 0;

impl Places {
    pub(super) fn new(sides: [Arc<Tables>; 2]) -> Self {
        let root = Place {
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
        self.places.push(Place {
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
