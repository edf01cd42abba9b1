//! Where the check is: paths that share their beginnings.

use crate::container::Str;
use crate::path::{AccessPath, AccessStep};

/// A place, as a number.
pub(super) type Place = u32;

/// One step to a place.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Field(&'static str),
    Item(usize),
    Key(Str),
}

struct Node {
    above: Place,
    depth: u32,
    step: Step,
}

/// All places that were met, each with the one above it.
#[derive(Default)]
pub(super) struct Places(Vec<Node>);

impl Places {
    /// The verified value itself.
    pub(super) const ROOT: Place = 0;

    /// A place one step below another one.
    pub(super) fn below(&mut self, above: Place, step: Step) -> Place {
        let depth = self.depth(above) + 1;
        self.0.push(Node { above, depth, step });
        self.0.len() as Place
    }

    /// A place in a field.
    pub(super) fn field(&mut self, above: Place, name: &'static str) -> Place {
        self.below(above, Step::Field(name))
    }

    /// A place in an array.
    pub(super) fn item(&mut self, above: Place, position: usize) -> Place {
        self.below(above, Step::Item(position))
    }

    fn node(&self, place: Place) -> Option<&Node> {
        self.0.get(place.checked_sub(1)? as usize)
    }

    fn depth(&self, place: Place) -> u32 {
        self.node(place).map_or(0, |node| node.depth)
    }

    fn above(&self, place: Place) -> Place {
        self.node(place).map_or(Places::ROOT, |node| node.above)
    }

    /// The steps from the verified value. O(depth).
    pub(super) fn path(&self, place: Place) -> AccessPath {
        let mut steps = Vec::new();
        let mut at = place;
        while let Some(node) = self.node(at) {
            steps.push(match &node.step {
                Step::Field(name) => AccessStep::Attr((*name).to_owned()),
                Step::Item(position) => AccessStep::ArrayItem(*position),
                Step::Key(key) => AccessStep::MapItem(key.clone().into()),
            });
            at = node.above;
        }
        steps.reverse();
        AccessPath::from_steps(steps)
    }

    /// Whether two places are in different branches of one `if`, so that no
    /// path through the program comes to both. O(the way to where they part).
    pub(super) fn exclude_each_other(&self, one: Place, other: Place) -> bool {
        let (mut one, mut other) = (one, other);
        let mut last = (one, other);
        while one != other {
            last = (one, other);
            let (depth, other_depth) = (self.depth(one), self.depth(other));
            if depth >= other_depth {
                one = self.above(one);
            }
            if other_depth >= depth {
                other = self.above(other);
            }
        }
        let name = |place| match self.node(place).map(|node| &node.step) {
            Some(Step::Field(name)) => *name,
            _ => "",
        };
        matches!(
            (name(last.0), name(last.1)),
            ("then_body", "else_body") | ("else_body", "then_body")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn branches_exclude_each_other_and_nothing_else() {
        let mut places = Places::default();
        let branch = places.item(Places::ROOT, 0);
        let (yes, no) = (
            places.field(branch, "then_body"),
            places.field(branch, "else_body"),
        );
        let deep = places.item(yes, 4);
        let next = places.item(Places::ROOT, 1);
        assert!(places.exclude_each_other(yes, no));
        assert!(places.exclude_each_other(no, deep));
        assert!(!places.exclude_each_other(deep, next));
        assert!(!places.exclude_each_other(deep, yes));
        assert!(!places.exclude_each_other(deep, deep));
        assert_eq!(places.path(deep).to_string(), "<root>[0].then_body[4]");
    }
}
