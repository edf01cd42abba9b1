//! The layered layout of a picture, in time and memory that grow with the picture.
//!
//! | file | job |
//! |---|---|
//! | `mod.rs` | blocks inside of each other: each block is laid out alone, and is one item of the level around it |
//! | `level.rs` | one level: its unconnected parts, and its lines |
//! | `layers.rs` | cycles, and the layer of each item |
//! | `order.rs` | the order inside of layers: medians and exchanges, with bounded work |
//! | `coordinates.rs` | places across, by isotonic regression |
//! | `graph.rs` | the data that these files share |
//!
//! An edge into or out of a block passes through a *port*, a point on the border of the block.
//! Ports are items in the first or last layer of the block, so lines inside of a block avoid
//! its nodes, too.
//!
//! The crate `rust-sugiyama` 0.4 does not serve: it returns no bends of long edges, visits the
//! spanning tree by native recursion, and draws no frames. `docs/pictures.md` has measurements.

mod coordinates;
mod graph;
mod layers;
mod level;
mod order;

use std::collections::HashMap;

use self::graph::{Graph, Link, Pin, Placed};
pub(super) use self::graph::{Point, Route, Step};
use super::Picture;
use super::blocks::Blocks;
use crate::Mark;

/// Space between the frame of a block and its contents, and the height of its heading.
const PADDING: f64 = 12.0;
const HEADING: f64 = 18.0;

/// Space around the whole picture.
const MARGIN: f64 = 20.0;

/// The place of a node or a frame: the top left corner, and the size.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The places of all parts of a picture.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Area>,
    /// The frames; None for blocks that are not drawn.
    pub(super) blocks: Vec<Option<Area>>,
    /// The lines; None for edges between nodes that do not exist.
    pub(super) edges: Vec<Option<Route>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// An end of a line on a level: an item, and the port on the border of that item.
type End = (usize, Option<usize>);

/// A level under construction: the contents of a block, or the picture.
#[derive(Default)]
struct Level {
    graph: Graph,
    /// The ends of each link.
    ends: Vec<[End; 2]>,
    /// The links by what they connect.
    links: HashMap<(End, End, u64), usize>,
    /// The ports by the node outside or inside, first those at the top.
    ports: [HashMap<usize, usize>; 2],
}

/// Lays out a picture whose nodes have these sizes. Time and memory are linear up to
/// logarithms in nodes, edges and blocks; equal pictures have equal layouts.
pub(super) fn layout(picture: &Picture, sizes: &[[f64; 2]], headings: &[f64]) -> Layout {
    let tree = Blocks::of(picture).drawn();
    let mut nest = Nest::new(picture, &tree, sizes);
    let lines: Vec<Vec<(usize, usize)>> = (0..picture.edges.len())
        .map(|edge| nest.add_edge(edge))
        .collect();
    // Inner levels first, because their sizes are the sizes of items outside.
    let mut order: Vec<usize> = (0..nest.levels.len()).collect();
    order.sort_by_key(|&level| std::cmp::Reverse(nest.depth(level)));
    let mut placed: Vec<Placed> = vec![Placed::default(); order.len()];
    for level in order {
        placed[level] = nest.place(level, &placed, headings);
    }
    nest.collect(&placed, &lines)
}

/// The levels of a picture: level 0 is the picture, level `n + 1` the block `n`.
struct Nest<'a> {
    picture: &'a Picture,
    tree: &'a Blocks,
    levels: Vec<Level>,
    /// The item of each node in its level.
    node_items: Vec<usize>,
    /// The item of each drawn block in the level around it.
    block_items: Vec<Option<usize>>,
    /// The drawn blocks of each level, with their items.
    inner: Vec<Vec<(usize, usize)>>,
    /// Numbers for what lines look like: mark and label.
    kinds: HashMap<(Mark, &'a str), u64>,
}

impl<'a> Nest<'a> {
    fn new(picture: &'a Picture, tree: &'a Blocks, sizes: &[[f64; 2]]) -> Self {
        let blocks = picture.blocks.len();
        let mut nest = Nest {
            picture,
            tree,
            levels: (0..=blocks).map(|_| Level::default()).collect(),
            node_items: Vec::with_capacity(sizes.len()),
            block_items: vec![None; blocks],
            inner: vec![Vec::new(); blocks + 1],
            kinds: HashMap::new(),
        };
        for (node, &size) in sizes.iter().enumerate() {
            let mut next = tree.of_nodes[node];
            let item = nest.levels[level_of(next)].item(size, Pin::Free);
            nest.node_items.push(item);
            while let Some(block) = next.filter(|&block| nest.block_items[block].is_none()) {
                next = tree.parents[block];
                let item = nest.levels[level_of(next)].item([0.0; 2], Pin::Free);
                nest.block_items[block] = Some(item);
                nest.inner[level_of(next)].push((block, item));
            }
        }
        nest
    }

    fn depth(&self, level: usize) -> usize {
        level
            .checked_sub(1)
            .map_or(0, |block| self.tree.depths[block] + 1)
    }

    /// Adds the links of an edge on all levels that it passes, and returns their levels and
    /// numbers, from the start of the edge to its end.
    fn add_edge(&mut self, edge: usize) -> Vec<(usize, usize)> {
        let edge = &self.picture.edges[edge];
        let count = self.picture.nodes.len();
        if edge.from >= count || edge.to >= count {
            return Vec::new();
        }
        let nodes = [edge.from, edge.to];
        // Edges that look alike and have the same ends are one line.
        let next_kind = self.kinds.len() as u64;
        let look = (edge.mark, edge.label.as_str());
        let kind = *self.kinds.entry(look).or_insert(next_kind);
        let mut blocks = nodes.map(|node| self.tree.of_nodes[node]);
        let mut ends: [End; 2] = nodes.map(|node| (self.node_items[node], None));
        let mut ways: [Vec<(usize, usize)>; 2] = Default::default();
        while blocks[0] != blocks[1] {
            let depths = blocks.map(|block| self.depth(level_of(block)));
            let side = usize::from(depths[1] > depths[0]);
            let Some(block) = blocks[side] else {
                break;
            };
            let level = &mut self.levels[block + 1];
            // The node outside shares a port at the top, the node inside one at the bottom.
            let port = level.port(1 - side, edge.from);
            let pair = if side == 0 {
                [ends[0], (port, None)]
            } else {
                [(port, None), ends[1]]
            };
            let link = level.link(pair, kind);
            ways[side].push((block + 1, link));
            ends[side] = (self.block_items[block].unwrap_or(0), Some(port));
            blocks[side] = self.tree.parents[block];
        }
        let level = level_of(blocks[0]);
        let link = self.levels[level].link(ends, kind);
        let [mut way, down] = ways;
        way.push((level, link));
        way.extend(down.into_iter().rev());
        way
    }

    /// Lays out a level, after the levels inside of it.
    fn place(&mut self, level: usize, placed: &[Placed], headings: &[f64]) -> Placed {
        let inner = &self.inner[level];
        let graph = &mut self.levels[level];
        for &(block, item) in inner {
            let inside = &placed[block + 1];
            graph.graph.sizes[item] = [
                inside.width.max(headings[block]) + 2.0 * PADDING,
                inside.height + 2.0 * PADDING + HEADING,
            ];
        }
        let blocks: HashMap<usize, usize> =
            inner.iter().map(|&(block, item)| (item, block)).collect();
        for (link, ends) in graph.ends.iter().enumerate() {
            for (side, &(item, port)) in ends.iter().enumerate() {
                if let (Some(port), Some(block)) = (port, blocks.get(&item)) {
                    let inside = &placed[block + 1];
                    let left = PADDING - graph.graph.sizes[item][0] / 2.0;
                    let offset = left + inside.middles[port].x;
                    graph.graph.links[link].offsets[side] = Some(offset);
                }
            }
        }
        level::placed(&graph.graph)
    }

    /// The places of all parts in the picture.
    fn collect(&self, placed: &[Placed], lines: &[Vec<(usize, usize)>]) -> Layout {
        let mut corners = vec![Point::default(); self.levels.len()];
        corners[0] = Point {
            x: MARGIN,
            y: MARGIN,
        };
        let area = |corner: Point, level: usize, item: usize| {
            let [width, height] = self.levels[level].graph.sizes[item];
            let middle = placed[level].middles[item].moved(corner);
            Area {
                x: middle.x - width / 2.0,
                y: middle.y - height / 2.0,
                width,
                height,
            }
        };
        let mut blocks = vec![None; self.block_items.len()];
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&block| self.tree.depths[block]);
        for block in order {
            let Some(item) = self.block_items[block] else {
                continue;
            };
            let around = level_of(self.tree.parents[block]);
            let frame = area(corners[around], around, item);
            corners[block + 1] = Point {
                x: frame.x + PADDING,
                y: frame.y + PADDING + HEADING,
            };
            blocks[block] = Some(frame);
        }
        let nodes = self.node_items.iter().enumerate().map(|(node, &item)| {
            let level = level_of(self.tree.of_nodes[node]);
            area(corners[level], level, item)
        });
        let line = |way: &Vec<(usize, usize)>| {
            let (level, link) = *way.first()?;
            let mut route = Route {
                start: placed[level].routes[link].start.moved(corners[level]),
                steps: Vec::new(),
            };
            for &(level, link) in way {
                route.append(&placed[level].routes[link], corners[level]);
            }
            Some(route)
        };
        Layout {
            nodes: nodes.collect(),
            blocks,
            edges: lines.iter().map(line).collect(),
            width: placed[0].width + 2.0 * MARGIN,
            height: placed[0].height + 2.0 * MARGIN,
        }
    }
}

fn level_of(block: Option<usize>) -> usize {
    block.map_or(0, |block| block + 1)
}

impl Level {
    fn item(&mut self, size: [f64; 2], pin: Pin) -> usize {
        self.graph.sizes.push(size);
        self.graph.pins.push(pin);
        self.graph.sizes.len() - 1
    }

    /// The port of a node at the top (0) or bottom (1).
    fn port(&mut self, side: usize, node: usize) -> usize {
        if let Some(&port) = self.ports[side].get(&node) {
            return port;
        }
        let port = self.item([2.0, 0.0], [Pin::Top, Pin::Bottom][side]);
        self.ports[side].insert(node, port);
        port
    }

    fn link(&mut self, ends: [End; 2], kind: u64) -> usize {
        let next = self.graph.links.len();
        let link = *self.links.entry((ends[0], ends[1], kind)).or_insert(next);
        if link == next {
            self.ends.push(ends);
            self.graph.links.push(Link {
                from: ends[0].0,
                to: ends[1].0,
                offsets: [None; 2],
            });
        }
        link
    }
}
