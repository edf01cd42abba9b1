//! Views of a picture: collapsed blocks as single nodes, and the inside of one block.

use std::collections::HashMap;

use super::blocks::Blocks;
use super::{NodeShape, Picture, PictureBlock, PictureEdge, PictureNode};
use crate::Mark;

/// A part of a picture, with collapsed blocks as single nodes.
pub(super) struct View {
    /// The picture; no block of it is collapsed.
    pub(super) picture: Picture,
    /// The collapsed block for which each node stands.
    pub(super) stands_for: Vec<Option<usize>>,
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
        self.view(None).picture
    }

    /// The picture, or the inside of the block `root` with the nodes outside that its nodes
    /// use or that use them.
    pub(super) fn view(&self, root: Option<usize>) -> View {
        let tree = Blocks::of(self).drawn();
        let is_collapsed = |block: usize| self.blocks[block].is_collapsed;
        let inside: Vec<Option<Source>> = (tree.of_nodes.iter().enumerate())
            .map(|(node, &block)| {
                let group = tree.outermost(block, root, is_collapsed)?;
                Some(group.map_or(Source::Node(node), Source::Block))
            })
            .collect();
        let mut maker = ViewMaker::new(self, &tree, root);
        let sources = inside.iter().enumerate();
        sources.for_each(|(node, source)| maker.add_node(node, *source));
        for edge in &self.edges {
            let ends = [edge.from, edge.to].map(|node| (node, inside.get(node).copied()));
            if let [(from, Some(left)), (to, Some(right))] = ends
                && (left.is_some() || right.is_some())
            {
                let [from, to] = [(from, left), (to, right)]
                    .map(|(node, source)| source.unwrap_or(Source::Outside(node)));
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
    /// The nodes that each group contains.
    sizes: HashMap<usize, usize>,
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
            sizes: HashMap::new(),
            edges: HashMap::new(),
            blocks: HashMap::new(),
            root,
        }
    }

    fn add_node(&mut self, node: usize, source: Option<Source>) {
        let Some(source) = source else {
            return;
        };
        let original = &self.full.nodes[node];
        let number = self.node(source);
        let shown = &mut self.view.picture.nodes[number];
        if let Source::Block(block) = source {
            let size = self.sizes.entry(block).or_default();
            *size += 1;
            shown.mark = match (*size, shown.mark == original.mark) {
                (1, _) | (_, true) => original.mark,
                _ => Mark::Changed,
            };
            if original.mark != Mark::Same && shown.anchor.is_none() {
                shown.anchor.clone_from(&original.anchor);
            }
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
                (shown, Some(block))
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

    fn add_edge(&mut self, edge: &PictureEdge, from: Source, to: Source) {
        let is_of_group = [from, to].iter().any(|end| matches!(end, Source::Block(_)));
        if is_of_group && from == to {
            return;
        }
        let (from, to) = (self.node(from), self.node(to));
        let number = self.view.picture.edges.len();
        if is_of_group {
            let first = *self.edges.entry((from, to, edge.mark)).or_insert(number);
            if first < number {
                let drawn = &mut self.view.picture.edges[first];
                if drawn.label != edge.label {
                    drawn.label.clear();
                }
                return;
            }
        }
        let edge = edge.clone();
        self.view
            .picture
            .edges
            .push(PictureEdge { from, to, ..edge });
    }

    /// Writes what each group contains.
    fn finish(mut self) -> View {
        let groups = self.view.stands_for.iter().enumerate();
        for (number, block) in groups.filter_map(|(number, block)| Some((number, (*block)?))) {
            let count = self.full.blocks[block].count;
            let size = match self.sizes.get(&block) {
                Some(1) => "1 node".to_owned(),
                size => format!("{} nodes", size.unwrap_or(&0)),
            };
            let shown = &mut self.view.picture.nodes[number];
            if count > 1 {
                shown.lines.push(format!("× {count}"));
            }
            shown.lines.push(size);
        }
        self.view
    }
}
