//! Changes of IR values: the changed parts, and the objects around them.

use std::collections::HashMap;

use isoform::Value;
use isoform::compare::{Change, ChangeKind, Difference, Place};
use isoform::paths::AccessStep;
use isoform_page::Mark;
use isoform_page::picture::{NodeShape, Picture, PictureEdge, PictureNode};

use super::value::{is_node, object_node};

/// Changes that are drawn.
const MOST: usize = 60;

/// Objects around a change that are drawn.
const AROUND: usize = 2;

/// All changes of two values in one picture: what only the left value has, what only the right
/// value has, and the objects around. O(changes that are drawn, and their depth).
#[must_use]
pub fn value_changes_picture(difference: &Difference) -> Picture {
    let changes = difference.changes();
    let mut drawing = Drawing {
        picture: Picture {
            title: match changes.len() {
                0 => "The values are equal".to_owned(),
                1 => "1 change".to_owned(),
                count => format!("{count} changes"),
            },
            ..Picture::default()
        },
        numbers: HashMap::new(),
    };
    changes
        .iter()
        .take(MOST)
        .for_each(|change| drawing.add(change));
    if changes.is_empty() {
        let label = drawing.picture.title.clone();
        drawing.picture.nodes.push(PictureNode {
            label,
            ..PictureNode::default()
        });
    }
    if changes.len() > MOST {
        drawing.picture.nodes.push(PictureNode {
            label: format!("… {} more changes", changes.len() - MOST),
            shape: NodeShape::Ellipsis,
            ..PictureNode::default()
        });
    }
    drawing.picture
}

struct Drawing {
    picture: Picture,
    /// The nodes of objects of both sides, by identity.
    numbers: HashMap<u64, usize>,
}

impl Drawing {
    fn add(&mut self, change: &Change) {
        let Some((left, right)) = change.places().next() else {
            return;
        };
        let ways = [&left, &right].map(owners);
        let mut inner = None;
        for level in 0..ways[0].len().max(ways[1].len()) {
            let sides = [0, 1].map(|side| ways[side].get(level));
            let owner = self.owner(sides.map(|owner| owner.map(|(value, _)| value)));
            match (level, inner) {
                (0, _) => {
                    let paths = sides.map(|owner| owner.map_or("", |(_, path)| path));
                    self.add_sides(change, owner, paths);
                }
                (_, Some(user)) => {
                    let path = sides[1].or(sides[0]).map_or("", |(_, path)| path);
                    self.add_edge(owner, user, path, Mark::Same);
                }
                (_, None) => {}
            }
            inner = Some(owner);
        }
        if inner.is_none() {
            let root = self.push(PictureNode {
                label: "value".to_owned(),
                mark: Mark::Changed,
                ..PictureNode::default()
            });
            self.add_sides(change, root, [""; 2]);
        }
    }

    /// The node of an object that both sides have at one place.
    fn owner(&mut self, sides: [Option<&Value>; 2]) -> usize {
        let identities = sides.map(|side| Some(side?.as_object()?.identity()));
        let drawn = identities
            .iter()
            .flatten()
            .find_map(|key| self.numbers.get(key).copied());
        let number = match (drawn, sides[1].or(sides[0])) {
            (Some(number), _) => number,
            (None, Some(value)) => self.push(object_node(value)),
            (None, None) => self.push(PictureNode::default()),
        };
        for identity in identities.into_iter().flatten() {
            self.numbers.entry(identity).or_insert(number);
        }
        number
    }

    /// The changed part on both sides.
    fn add_sides(&mut self, change: &Change, owner: usize, paths: [&str; 2]) {
        self.picture.nodes[owner].mark = Mark::Changed;
        let sides = [
            (change.left(), Mark::Deleted, paths[0]),
            (change.right(), Mark::Inserted, paths[1]),
        ];
        for (value, mark, path) in sides {
            let Some(value) = value else {
                continue;
            };
            let mut drawn = object_node(value);
            if change.kind() == ChangeKind::Rewired || change.kind() == ChangeKind::Moved {
                drawn.tooltip = format!("{}\n{}", change.kind(), drawn.tooltip);
            }
            drawn.mark = mark;
            let part = self.push(drawn);
            self.add_edge(owner, part, path, mark);
        }
    }

    fn push(&mut self, node: PictureNode) -> usize {
        self.picture.nodes.push(node);
        self.picture.nodes.len() - 1
    }

    fn add_edge(&mut self, from: usize, to: usize, path: &str, mark: Mark) {
        let label = path.trim_start_matches('.').to_owned();
        let edge = PictureEdge {
            from,
            to,
            label,
            mark,
        };
        if !self.picture.edges.contains(&edge) {
            self.picture.edges.push(edge);
        }
    }
}

/// The objects around a place, the innermost first, with the paths that lead inwards from them.
fn owners(place: &Place) -> Vec<(Value, String)> {
    let mut owners = Vec::new();
    let mut steps: Vec<AccessStep> = Vec::new();
    for (value, step) in place.around() {
        steps.push(step);
        if is_node(&value) {
            let path = steps.iter().rev().map(ToString::to_string).collect();
            owners.push((value, path));
            steps.clear();
        }
        if owners.len() == AROUND {
            break;
        }
    }
    owners
}
