//! Views of a picture: collapsed blocks as single nodes, and the inside of one block.

use std::collections::HashMap;

use super::blocks::Blocks;
use super::{NodeShape, Picture, PictureBlock, PictureEdge, PictureNode};
use crate::Mark;

/// A part of a picture, with collapsed blocks as single nodes.
pub(super) struct View {
    /// The picture; no block of it is collapsed.
    pub(super) picture: Picture,
    /// The inside of the collapsed block for which each node stands.
    pub(super) stands_for: Vec<Option<Extent>>,
}

/// A part of a picture that a view shows: its block, the nodes inside, and the edges with an
/// end inside, all by their places in the picture.
pub(super) struct Extent {
    pub(super) root: Option<usize>,
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// The original of a node in a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Node(usize),
    Block(usize),
    /// A node outside of the shown block.
    Outside(usize),
}

impl Picture {
    /// The picture with each outermost collapsed block as one node of the shape
    /// [`NodeShape::Group`]. Edges into and out of the block become edges of that node; equal
    /// edges become one edge, and edges inside disappear. [`svg`](Self::svg), [`dot`](Self::dot)
    /// and [`mermaid`](Self::mermaid) draw this picture.
    ///
    /// O(nodes + edges + blocks).
    #[must_use]
    pub fn collapsed(&self) -> Picture {
        self.view(&Blocks::of(self).drawn(), &self.whole()).picture
    }

    /// All of the picture.
    pub(super) fn whole(&self) -> Extent {
        Extent {
            root: None,
            nodes: (0..self.nodes.len()).collect(),
            edges: (0..self.edges.len()).collect(),
        }
    }

    /// The inside of a block, or all of the picture, with the nodes outside that its nodes use
    /// or that use them. O(nodes + edges of the extent), whatever the size of the picture.
    pub(super) fn view(&self, tree: &Blocks, extent: &Extent) -> View {
        let is_collapsed = |block: usize| self.blocks[block].is_collapsed;
        let source = |&node: &usize| {
            let group = tree.outermost(tree.of_nodes[node], extent.root, is_collapsed)?;
            Some((node, group.map_or(Source::Node(node), Source::Block)))
        };
        let inside: HashMap<usize, Source> = extent.nodes.iter().filter_map(source).collect();
        let mut maker = ViewMaker::new(self, tree, extent.root);
        for &node in &extent.nodes {
            if let Some(&source) = inside.get(&node) {
                maker.add_node(node, source);
            }
        }
        for &edge in &extent.edges {
            let ends = [self.edges[edge].from, self.edges[edge].to];
            let sources = ends.map(|node| inside.get(&node).copied());
            let exist = ends.iter().all(|&node| node < self.nodes.len());
            if exist && sources.iter().any(Option::is_some) {
                let [from, to] =
                    [0, 1].map(|end| sources[end].unwrap_or(Source::Outside(ends[end])));
                maker.add_edge(edge, from, to);
            }
        }
        maker.finish()
    }
}

struct ViewMaker<'a> {
    full: &'a Picture,
    tree: &'a Blocks,
    view: View,
    /// The nodes of the view by their originals.
    nodes: HashMap<Source, usize>,
    /// The edges of groups, which are drawn once.
    edges: HashMap<(usize, usize, Mark), usize>,
    /// The blocks of the view, by the blocks of the picture.
    blocks: HashMap<usize, usize>,
    root: Option<usize>,
}

impl<'a> ViewMaker<'a> {
    fn new(full: &'a Picture, tree: &'a Blocks, root: Option<usize>) -> Self {
        let title = match root {
            Some(block) => full.blocks[block].label.clone(),
            None => full.title.clone(),
        };
        ViewMaker {
            full,
            tree,
            view: View {
                picture: Picture {
                    title,
                    ..Picture::default()
                },
                stands_for: Vec::new(),
            },
            nodes: HashMap::new(),
            edges: HashMap::new(),
            blocks: HashMap::new(),
            root,
        }
    }

    fn add_node(&mut self, node: usize, source: Source) {
        let original = &self.full.nodes[node];
        let number = self.node(source);
        let shown = &mut self.view.picture.nodes[number];
        if let Some(inner) = &mut self.view.stands_for[number] {
            shown.mark = match (inner.nodes.is_empty(), shown.mark == original.mark) {
                (true, _) | (_, true) => original.mark,
                _ => Mark::Changed,
            };
            if original.mark != Mark::Same && shown.anchor.is_none() {
                shown.anchor.clone_from(&original.anchor);
            }
            inner.nodes.push(node);
        }
    }

    /// The number of a node of the view, which is made at the first call.
    fn node(&mut self, source: Source) -> usize {
        if let Some(&number) = self.nodes.get(&source) {
            return number;
        }
        let (shown, stands_for) = match source {
            Source::Node(node) => {
                let mut shown = self.full.nodes[node].clone();
                shown.block = self.block(self.tree.of_nodes[node]);
                (shown, None)
            }
            Source::Block(block) => {
                let shown = PictureNode {
                    label: self.full.blocks[block].label.clone(),
                    shape: NodeShape::Group,
                    block: self.block(self.tree.parents[block]),
                    ..PictureNode::default()
                };
                let inside = Extent {
                    root: Some(block),
                    nodes: Vec::new(),
                    edges: Vec::new(),
                };
                (shown, Some(inside))
            }
            Source::Outside(node) => {
                let mut shown = self.full.nodes[node].clone();
                shown.shape = NodeShape::Port;
                shown.block = None;
                (shown, None)
            }
        };
        let number = self.view.picture.nodes.len();
        self.view.picture.nodes.push(shown);
        self.view.stands_for.push(stands_for);
        self.nodes.insert(source, number);
        number
    }

    /// The number of a block of the view. O(new blocks).
    fn block(&mut self, block: Option<usize>) -> Option<usize> {
        let mut chain = Vec::new();
        let mut next = block.filter(|_| block != self.root);
        while let Some(inner) = next.filter(|inner| !self.blocks.contains_key(inner)) {
            chain.push(inner);
            next = self.tree.parents[inner].filter(|&parent| Some(parent) != self.root);
        }
        let mut parent = next.map(|outer| self.blocks[&outer]);
        for inner in chain.into_iter().rev() {
            let number = self.view.picture.blocks.len();
            self.blocks.insert(inner, number);
            let original = &self.full.blocks[inner];
            self.view.picture.blocks.push(PictureBlock {
                parent,
                is_collapsed: false,
                ..original.clone()
            });
            parent = Some(number);
        }
        parent
    }

    fn add_edge(&mut self, number: usize, from: Source, to: Source) {
        let edge = &self.full.edges[number];
        let is_inside = from == to;
        let (from, to) = (self.node(from), self.node(to));
        let ends = if is_inside { &[from][..] } else { &[from, to] };
        let mut is_of_group = false;
        for &end in ends {
            if let Some(inner) = &mut self.view.stands_for[end] {
                inner.edges.push(number);
                is_of_group = true;
            }
        }
        let drawn = &mut self.view.picture.edges;
        if is_of_group && is_inside {
            return;
        }
        if is_of_group {
            let place = drawn.len();
            let first = *self.edges.entry((from, to, edge.mark)).or_insert(place);
            if first < place {
                if drawn[first].label != edge.label {
                    drawn[first].label.clear();
                }
                return;
            }
        }
        drawn.push(PictureEdge {
            from,
            to,
            ..edge.clone()
        });
    }

    /// Writes what each group contains.
    fn finish(mut self) -> View {
        let groups = self
            .view
            .stands_for
            .iter()
            .zip(&mut self.view.picture.nodes);
        for (inside, shown) in groups {
            let Some(Extent {
                root: Some(block),
                nodes,
                ..
            }) = inside
            else {
                continue;
            };
            let count = self.full.blocks[*block].count;
            if count > 1 {
                shown.lines.push(format!("× {count}"));
            }
            shown.lines.push(match nodes.len() {
                1 => "1 node".to_owned(),
                size => format!("{size} nodes"),
            });
        }
        self.view
    }
}
