//! Changes of a model: the changed nodes with the nodes around them, both sides in one picture.

use std::collections::{BTreeSet, HashMap};

use isoform::compare::Place;
use isoform::paths::AccessStep;
use isoform_onnx::report::{ChangeGroup, Report};
use isoform_page::Mark;
use isoform_page::picture::{NodeShape, Picture, PictureBlock, PictureEdge, PictureNode};

use super::both::Both;
use super::parts::{constant_node, is_constant};
use crate::pages::words::arrows;

/// Changed nodes that are drawn of one change, and of all changes.
const OF_CHANGE: usize = 36;
const OF_ALL: usize = 600;

/// Nodes that are drawn on one side of a changed node, unless they changed, too.
const NEIGHBOURS: usize = 5;

/// The changes of a model as pictures.
pub(crate) struct ChangePictures<'a> {
    report: &'a Report,
    both: Option<Both>,
}

/// All changes of two models in one picture. O(nodes × depth of bodies + operands) of both
/// models, and at most 600 changed nodes are drawn.
#[must_use]
pub fn model_changes_picture(report: &Report) -> Picture {
    ChangePictures::new(report).all()
}

impl<'a> ChangePictures<'a> {
    /// O(nodes × depth of bodies + operands) of both models.
    pub(crate) fn new(report: &'a Report) -> Self {
        let both = Both::of(report);
        ChangePictures { report, both }
    }

    /// The first occurrence of a change: its nodes, one ring of nodes around them, and the edges
    /// between all of these. A rewired operand is a deleted and an inserted edge. None if the
    /// change concerns no nodes, such as a changed version of an operator set everywhere.
    pub(crate) fn picture(&self, change: &ChangeGroup) -> Option<Picture> {
        let both = self.both.as_ref()?;
        let mut drawing = Drawing::new(both);
        let parts = change.parts.first()?;
        drawing.add_core(parts, OF_CHANGE, None);
        if drawing.core.is_empty() {
            return None;
        }
        drawing.slots = self.changed_slots(change);
        let mut title = arrows(&change.text);
        if change.parts.len() > 1 {
            title = format!("The first of {} places: {title}", change.parts.len());
        }
        Some(drawing.finish(title))
    }

    /// All changes in one picture. Nodes lead to the anchors `change-1`, `change-2` and so on of
    /// the groups of the report.
    pub(crate) fn all(&self) -> Picture {
        let Some(both) = &self.both else {
            return Picture::default();
        };
        let mut drawing = Drawing::new(both);
        for (number, group) in self.report.groups.iter().enumerate() {
            let anchor = format!("change-{}", number + 1);
            for parts in &group.parts {
                drawing.add_core(parts, OF_ALL, Some(&anchor));
            }
            drawing.slots.extend(self.changed_slots(group));
        }
        let title = match self.report.groups.len() {
            0 => "The models are equal".to_owned(),
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        };
        let mut picture = drawing.finish(title);
        if picture.nodes.is_empty() {
            // A change of versions or of declared types has no nodes.
            let texts = self.report.groups.iter().map(|group| arrows(&group.text));
            picture.nodes.push(PictureNode {
                label: if self.report.is_equal() {
                    picture.title.clone()
                } else {
                    "All nodes are the same".to_owned()
                },
                lines: texts.collect(),
                ..PictureNode::default()
            });
        }
        picture
    }

    /// The operands of right nodes that are changed constants, by part and position.
    fn changed_slots(&self, change: &ChangeGroup) -> BTreeSet<(usize, usize)> {
        let Some(both) = self.both.as_ref().filter(|_| change.kind == "tensor") else {
            return BTreeSet::new();
        };
        let changes = self.report.difference.changes();
        let changes = change
            .changes
            .iter()
            .filter_map(|&number| changes.get(number));
        let places = changes.flat_map(|change| change.places().take(OF_CHANGE));
        let slot = |place: Place| {
            let mut around = place.around();
            let (_, AccessStep::ArrayItem(slot)) = around.next()? else {
                return None;
            };
            let (call, _) = around.next()?;
            Some((both.sides[1].number(&call)?, slot))
        };
        places.filter_map(|(_, right)| slot(right)).collect()
    }
}

/// A picture of some nodes, and of one ring around them.
struct Drawing<'a> {
    both: &'a Both,
    /// The changed nodes, with the anchors of their changes.
    core: HashMap<usize, Option<String>>,
    /// The changed nodes in the order of the report.
    order: Vec<usize>,
    /// Changed nodes that are left out.
    omitted: usize,
    slots: BTreeSet<(usize, usize)>,
    picture: Picture,
    /// The nodes of the picture.
    numbers: HashMap<usize, usize>,
    /// The blocks of the picture, by side and body.
    blocks: HashMap<(usize, usize), usize>,
}

impl<'a> Drawing<'a> {
    fn new(both: &'a Both) -> Self {
        Drawing {
            both,
            core: HashMap::new(),
            order: Vec::new(),
            omitted: 0,
            slots: BTreeSet::new(),
            picture: Picture::default(),
            numbers: HashMap::new(),
            blocks: HashMap::new(),
        }
    }

    fn add_core(&mut self, parts: &[Vec<isoform::Value>; 2], most: usize, anchor: Option<&str>) {
        for (side, values) in parts.iter().enumerate() {
            let numbers = values
                .iter()
                .filter_map(|value| self.both.sides[side].number(value));
            for part in numbers.collect::<Vec<_>>() {
                let node = self.both.node(side, part);
                if self.core.contains_key(&node) {
                    continue;
                }
                if self.order.len() == most {
                    self.omitted += 1;
                    continue;
                }
                self.core.insert(node, anchor.map(str::to_owned));
                self.order.push(node);
            }
        }
    }

    /// Draws the changed nodes, the ring, and what is between them.
    fn finish(mut self, title: String) -> Picture {
        self.picture.title = title;
        let mut shown: BTreeSet<usize> = self.order.iter().copied().collect();
        let mut more: Vec<(usize, bool, usize)> = Vec::new();
        for &node in &self.order {
            for is_above in [true, false] {
                let ring = self.ring(node, is_above);
                shown.extend(ring.iter().take(NEIGHBOURS));
                if ring.len() > NEIGHBOURS {
                    more.push((node, is_above, ring.len() - NEIGHBOURS));
                }
            }
        }
        let place = |&node: &usize| {
            let [left, right] = self.both.parts(node);
            (right.or(left), node)
        };
        let mut nodes: Vec<usize> = shown.into_iter().collect();
        // The order of computation; deleted nodes stand where they stood.
        nodes.sort_by_key(place);
        for &node in &nodes {
            self.add_node(node);
        }
        for &node in &nodes {
            self.add_edges(node);
        }
        for node in self.order.clone() {
            self.add_constants(node);
        }
        for (node, is_above, count) in more {
            let rest = self.add_rest(&format!("… {count} more"));
            let node = self.numbers[&node];
            let [from, to] = if is_above { [rest, node] } else { [node, rest] };
            self.add_edge(from, to, Mark::Same, String::new());
        }
        if self.omitted > 0 {
            let text = format!("… {} more changed nodes", self.omitted);
            self.add_rest(&text);
        }
        self.picture
    }

    /// The nodes that a changed node uses, or that use it, without changed ones. Nodes of one
    /// side come first.
    fn ring(&self, node: usize, is_above: bool) -> Vec<usize> {
        let edges = self.both.edges_of[node]
            .iter()
            .map(|&edge| &self.both.edges[edge]);
        let mut ring: Vec<(bool, usize)> = edges
            .filter_map(|edge| {
                let (end, other) = if is_above {
                    (edge.to, edge.from)
                } else {
                    (edge.from, edge.to)
                };
                let is_context = end == node && !self.core.contains_key(&other);
                is_context.then_some((edge.mark == Mark::Same, other))
            })
            .collect();
        ring.sort_unstable();
        ring.dedup_by_key(|(_, node)| *node);
        ring.into_iter().map(|(_, node)| node).collect()
    }

    fn add_node(&mut self, node: usize) {
        let parts = self.both.parts(node);
        let side = usize::from(parts[1].is_some());
        let Some(part) = parts[side] else {
            return;
        };
        let part = &self.both.sides[side].list[part];
        let mut drawn = part.picture_node();
        let core = self.core.get(&node);
        drawn.mark = match (parts, core) {
            ([Some(_), Some(_)], Some(_)) => Mark::Changed,
            ([Some(_), Some(_)], None) => Mark::Same,
            ([_, Some(_)], _) => Mark::Inserted,
            _ => Mark::Deleted,
        };
        drawn.anchor = core.cloned().flatten();
        if let [Some(left), Some(_)] = parts {
            let left = self.both.sides[0].list[left].picture_node();
            if left.label != drawn.label {
                drawn.label = format!("{} → {}", left.label, drawn.label);
            }
            if left.tooltip != drawn.tooltip {
                drawn.tooltip = format!("{}\n→ {}", left.tooltip, drawn.tooltip);
            }
        }
        drawn.block = self.block(side, part.body);
        self.numbers.insert(node, self.picture.nodes.len());
        self.picture.nodes.push(drawn);
    }

    /// The block of a body; None for main graphs. O(new blocks).
    fn block(&mut self, side: usize, body: usize) -> Option<usize> {
        let mut chain = Vec::new();
        let mut next = Some((side, body));
        let mut block = None;
        while let Some((side, body)) = next {
            // A left body is the right body that corresponds.
            let (side, body) = match self.both.bodies.get(body) {
                Some(&Some(right)) if side == 0 => (1, right),
                _ => (side, body),
            };
            if self.both.sides[side].bodies[body].is_main {
                break;
            }
            if let Some(&number) = self.blocks.get(&(side, body)) {
                block = Some(number);
                break;
            }
            chain.push((side, body));
            next = self.both.sides[side].bodies[body]
                .parent
                .map(|parent| (side, parent));
        }
        for (side, body) in chain.into_iter().rev() {
            let number = self.picture.blocks.len();
            self.picture.blocks.push(PictureBlock {
                label: self.both.sides[side].bodies[body].label.clone(),
                count: 1,
                parent: block,
                is_collapsed: false,
            });
            self.blocks.insert((side, body), number);
            block = Some(number);
        }
        block
    }

    /// The edges into a node, from nodes that are drawn.
    fn add_edges(&mut self, node: usize) {
        let both = self.both;
        for &number in &both.edges_of[node] {
            let edge = &both.edges[number];
            let Some(&from) = self.numbers.get(&edge.from).filter(|_| edge.to == node) else {
                continue;
            };
            let is_rewired =
                edge.mark != Mark::Same && self.both.parts(edge.to).iter().all(Option::is_some);
            let label = if is_rewired {
                format!("input {}", edge.slot)
            } else {
                String::new()
            };
            self.add_edge(from, self.numbers[&node], edge.mark, label);
        }
    }

    fn add_edge(&mut self, from: usize, to: usize, mark: Mark, label: String) {
        self.picture.edges.push(PictureEdge {
            from,
            to,
            label,
            mark,
        });
    }

    /// The constants of a changed node that changed, or that only one side has.
    fn add_constants(&mut self, node: usize) {
        let [Some(left), Some(right)] = self.both.parts(node) else {
            return;
        };
        let both = self.both;
        let parts = [(0, left), (1, right)].map(|(side, part)| &both.sides[side].list[part]);
        let calls = parts.map(|part| part.call());
        let count = calls.iter().flatten().map(|call| call.inputs.len()).max();
        let is_constant = |side: usize, slot: usize| {
            let values = calls[side].map(|call| call.inputs.values());
            values
                .and_then(|values| values.get(slot))
                .is_some_and(is_constant)
        };
        let mut constants = Vec::new();
        for slot in 0..count.unwrap_or(0) {
            let side_and_mark = match [is_constant(0, slot), is_constant(1, slot)] {
                [true, true] if self.slots.contains(&(right, slot)) => (1, Mark::Changed),
                [true, false] => (0, Mark::Deleted),
                [false, true] => (1, Mark::Inserted),
                _ => continue,
            };
            constants.push((slot, side_and_mark));
        }
        for (slot, (side, mark)) in constants {
            let Some(drawn) = calls[side].and_then(|call| constant_node(call, slot)) else {
                continue;
            };
            let number = self.picture.nodes.len();
            let block = self.picture.nodes[self.numbers[&node]].block;
            self.picture.nodes.push(PictureNode {
                mark,
                block,
                ..drawn
            });
            let label = format!("input {slot}");
            let mark = if mark == Mark::Changed {
                Mark::Same
            } else {
                mark
            };
            self.add_edge(number, self.numbers[&node], mark, label);
        }
    }

    /// A node for nodes that are left out.
    fn add_rest(&mut self, label: &str) -> usize {
        self.picture.nodes.push(PictureNode {
            label: label.to_owned(),
            shape: NodeShape::Ellipsis,
            ..PictureNode::default()
        });
        self.picture.nodes.len() - 1
    }
}
