//! Where changes are: pairs of places, from which paths are made when somebody asks.

use std::sync::{Arc, OnceLock};

use super::tables::{NONE, Tables};
use crate::kernel::path::{AccessPath, AccessStep};

/// How the place on one side follows from the place around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// It is the same place.
    Same,
    /// The part of a node at a position.
    Part(u32, u32),
    /// Where a node is first met.
    Node(u32),
    /// The same as another place.
    Place(u32),
    /// There is no such place.
    Nowhere,
}

/// A place on both sides.
#[derive(Clone, Copy)]
struct Place {
    around: u32,
    left: Link,
    right: Link,
}

/// The first node and position that a node is part of.
pub(super) type Parents = Vec<(u32, u32)>;

/// The places of a difference. The first one is that of both roots.
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

    /// True if the place is that of the value under a key of a map.
    pub(super) fn is_under_key(&self, place: u32) -> bool {
        let place = self.places.get(place as usize);
        let link = place.map_or(Link::Same, |place| place.right);
        matches!(link, Link::Part(node, _) if self.sides[1].node(node).is_mapping())
    }

    /// The path of a place on one side; None if it is not there. O(depth), and once O(n)
    /// if it leads through a node that moved.
    pub(super) fn path(&self, place: u32, side: usize) -> Option<AccessPath> {
        let mut steps = Vec::new();
        let mut next = place;
        while let Some(place) = self.places.get(next as usize) {
            match [place.left, place.right][side] {
                Link::Same => {}
                Link::Part(node, position) => steps.push(self.step(side, node, position)),
                Link::Node(node) => {
                    self.steps_to(side, node, &mut steps);
                    break;
                }
                Link::Place(other) => {
                    next = other;
                    continue;
                }
                Link::Nowhere => return None,
            }
            next = place.around;
        }
        steps.reverse();
        Some(AccessPath::from_steps(steps))
    }

    /// Adds the steps from a node up to the root.
    fn steps_to(&self, side: usize, node: u32, steps: &mut Vec<AccessStep>) {
        let parents = self.parents[side].get_or_init(|| parents(&self.sides[side]));
        let mut node = node;
        loop {
            let (parent, position) = parents[node as usize];
            if parent == NONE {
                return;
            }
            steps.push(self.step(side, parent, position));
            node = parent;
        }
    }

    fn step(&self, side: usize, node: u32, position: u32) -> AccessStep {
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
        // The value of an entry stands after its key.
        let key = tables.cell(node, position & !1);
        return AccessStep::MapItem(tables.value_of(key));
    }
    let info = found.info();
    let slot = info.visited.get(position as usize);
    let name = slot.map_or("", |slot| info.fields()[slot.field as usize].name());
    AccessStep::Attr(name.to_owned())
}

/// Parts have smaller numbers than what contains them, so one pass from the root finds for
/// each node the parent that is nearest to the root in the numbering.
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
