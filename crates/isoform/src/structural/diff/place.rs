//! One side of one place of a change, whose path is made on request.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use rapidhash::fast::RandomState;

use super::places::{Location, Origin, Places};
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
        if !self.places.iter().any(|known| Arc::ptr_eq(known, places)) {
            self.places.push(places.clone());
        }
        let address = Arc::as_ptr(places).addr();
        let key = |at| (address, *side, at);
        let start = key(Location::Place(*number));
        self.tree.add(&mut self.known, start, |&(_, _, at)| {
            match places.above(*side, at) {
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
