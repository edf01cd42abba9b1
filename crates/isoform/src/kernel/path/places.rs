//! Many places in one value, as paths with shared beginnings.
//!
//! An [`AccessPath`] owns all its steps: one path for each object of a deep value takes
//! quadratic memory. A place here costs one step more than its parent, and is converted
//! to a path on demand.

use super::{AccessPath, AccessStep};
use crate::kernel::value::Value;

/// A place, as a number.
pub type Place = u32;

/// One step to an existing place.
#[derive(Clone, Debug)]
pub enum Step {
    /// A field.
    Field(&'static str),
    /// An element.
    Item(usize),
    /// The entry of a key.
    Key(Value),
}

impl From<Step> for AccessStep {
    fn from(step: Step) -> Self {
        match step {
            Step::Field(name) => AccessStep::Attr(name.to_owned()),
            Step::Item(position) => AccessStep::ArrayItem(position),
            Step::Key(key) => AccessStep::MapItem(key),
        }
    }
}

struct Node {
    above: Place,
    depth: u32,
    step: Step,
}

/// All recorded places, with their parents.
#[derive(Default)]
pub struct Places(Vec<Node>);

impl Places {
    /// The root itself.
    pub const ROOT: Place = 0;

    /// Adds a place one step below another place.
    pub fn below(&mut self, above: Place, step: Step) -> Place {
        let depth = self.depth(above) + 1;
        self.0.push(Node { above, depth, step });
        self.0.len() as Place
    }

    fn node(&self, place: Place) -> Option<&Node> {
        self.0.get(place.checked_sub(1)? as usize)
    }

    /// The number of steps from the root to a place. O(1).
    pub fn depth(&self, place: Place) -> u32 {
        self.node(place).map_or(0, |node| node.depth)
    }

    /// The steps from the root. O(depth).
    pub fn path(&self, place: Place) -> AccessPath {
        let mut steps = Vec::with_capacity(self.depth(place) as usize);
        let mut at = place;
        while let Some(node) = self.node(at) {
            steps.push(AccessStep::from(node.step.clone()));
            at = node.above;
        }
        steps.reverse();
        AccessPath::from_steps(steps)
    }
}

impl Places {
    /// A place in a field.
    pub fn field(&mut self, above: Place, name: &'static str) -> Place {
        self.below(above, Step::Field(name))
    }

    /// A place in an array.
    pub fn item(&mut self, above: Place, position: usize) -> Place {
        self.below(above, Step::Item(position))
    }

    /// The last step to a place; None for the root. O(1).
    pub fn step(&self, place: Place) -> Option<&Step> {
        self.node(place).map(|node| &node.step)
    }

    /// The place around a place; the root is around itself. O(1).
    pub fn above(&self, place: Place) -> Place {
        self.node(place).map_or(Places::ROOT, |node| node.above)
    }
}
