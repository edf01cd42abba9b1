//! Pictures: golden files, laws of random graphs, and the syntax of the formats.

mod formats;
mod golden;
mod laws;
mod time;

use isoform_page::Mark;
use isoform_page::picture::{NodeShape, Picture, PictureBlock, PictureEdge, PictureNode};

/// A node with a label.
fn node(label: &str) -> PictureNode {
    PictureNode {
        label: label.to_owned(),
        ..PictureNode::default()
    }
}

fn edge(from: usize, to: usize) -> PictureEdge {
    PictureEdge {
        from,
        to,
        ..PictureEdge::default()
    }
}

fn block(label: &str, count: usize, parent: Option<usize>, is_collapsed: bool) -> PictureBlock {
    PictureBlock {
        label: label.to_owned(),
        count,
        parent,
        is_collapsed,
    }
}

/// A replaced activation, with a rewired operand.
fn change() -> Picture {
    let mut nodes = vec![node("x"), node("MatMul"), node("Relu"), node("Gelu"), node("Add")];
    nodes[0].shape = NodeShape::Port;
    nodes[1].lines = vec!["/encoder/layer.0/attention/self/query/MatMul".to_owned()];
    nodes[2].mark = Mark::Deleted;
    nodes[3].mark = Mark::Inserted;
    nodes[4].mark = Mark::Changed;
    nodes[4].anchor = Some("change-1".to_owned());
    nodes.push(node(""));
    nodes[5].shape = NodeShape::Ellipsis;
    let mut edges = vec![edge(0, 1), edge(1, 2), edge(1, 3), edge(2, 4), edge(3, 4), edge(0, 4)];
    edges.push(edge(4, 5));
    for number in [1, 3] {
        edges[number].mark = Mark::Deleted;
    }
    for number in [2, 4] {
        edges[number].mark = Mark::Inserted;
        edges[number].label = "input 0".to_owned();
    }
    Picture {
        title: "Relu became Gelu".to_owned(),
        nodes,
        edges,
        blocks: Vec::new(),
    }
}

/// A model with a repeated block that is drawn, a collapsed copy, and a constant.
fn layers() -> Picture {
    let labels = ["ids", "Gather", "MatMul", "Add", "MatMul", "Add", "logits", "weight"];
    let mut nodes: Vec<PictureNode> = labels.iter().map(|label| node(label)).collect();
    nodes[0].shape = NodeShape::Port;
    nodes[6].shape = NodeShape::Port;
    nodes[7].shape = NodeShape::Constant;
    for (number, block) in [(2, 0), (3, 0), (4, 1), (5, 1)] {
        nodes[number].block = Some(block);
    }
    let pairs = [(0, 1), (1, 2), (2, 3), (1, 3), (3, 4), (4, 5), (3, 5), (5, 6), (7, 2), (7, 4)];
    Picture {
        title: "Two layers".to_owned(),
        nodes,
        edges: pairs.iter().map(|&(from, to)| edge(from, to)).collect(),
        blocks: vec![
            block("layer.0", 2, None, false),
            block("layer.1", 1, None, true),
        ],
    }
}
