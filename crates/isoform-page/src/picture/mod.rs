//! Graphs of nodes and edges, which are drawn in layers from top to bottom.
//!
//! ```
//! use isoform_page::picture::{Picture, PictureEdge, PictureNode};
//! let node = |label: &str| PictureNode {
//!     label: label.to_owned(),
//!     ..PictureNode::default()
//! };
//! let picture = Picture {
//!     title: "Two nodes".to_owned(),
//!     nodes: vec![node("MatMul"), node("Relu")],
//!     edges: vec![PictureEdge { from: 0, to: 1, ..PictureEdge::default() }],
//!     blocks: Vec::new(),
//! };
//! assert!(picture.svg().starts_with("<svg"));
//! assert!(picture.mermaid().contains("n0 --> n1"));
//! ```
//!
//! | file | job |
//! |---|---|
//! | `blocks.rs` | the tree of blocks, made safe |
//! | `views.rs` | a picture with its collapsed blocks as single nodes, and the inside of a block |
//! | `layout/` | the places of nodes, frames and lines |
//! | `drawn.rs` | the texts that are drawn, the sizes of nodes, and the layout |
//! | `text.rs` | text that is neutral, short, escaped and measured |
//! | `svg.rs`, `dot.rs`, `mermaid.rs`, `scenes.rs` | the formats |
//!
//! Edges to nodes that do not exist are not drawn, and a node in a block that does not exist is
//! drawn outside of all blocks.

mod blocks;
mod dot;
mod drawn;
mod layout;
mod mermaid;
mod scenes;
mod svg;
mod text;
mod views;

use serde::Serialize;

pub use mermaid::mermaid_warning;
pub use svg::STYLE;

use crate::Mark;

/// A graph to draw. Nodes are numbered by their place in `nodes`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Picture {
    /// The sentence for readers who do not see the picture.
    pub title: String,
    /// The nodes, in an order of computation where there is one.
    pub nodes: Vec<PictureNode>,
    /// The edges, from a value's producer to its user.
    pub edges: Vec<PictureEdge>,
    /// The parts that are drawn in one frame, such as layers and functions.
    pub blocks: Vec<PictureBlock>,
}

/// A node of a picture.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PictureNode {
    /// The first line, such as the operator.
    pub label: String,
    /// Further lines in small type, such as the name of the node.
    pub lines: Vec<String>,
    /// The text that is shown on request.
    pub tooltip: String,
    /// The side that the node belongs to.
    pub mark: Mark,
    /// The shape, which tells kinds of nodes apart without colour.
    pub shape: NodeShape,
    /// The innermost block that contains the node: a place in [`Picture::blocks`].
    pub block: Option<usize>,
    /// The anchor on the page that the node leads to, without `#`.
    pub anchor: Option<String>,
}

/// The shape of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeShape {
    /// A box: an operator, or an object.
    #[default]
    Operator,
    /// A box with round ends: an input or an output of the program.
    Port,
    /// A box with a cut corner: a weight or another constant.
    Constant,
    /// A double box: a block or a function that is collapsed into one node.
    Group,
    /// Three dots: nodes that are left out.
    Ellipsis,
}

/// An edge of a picture.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PictureEdge {
    /// The place of the producer in [`Picture::nodes`].
    pub from: usize,
    /// The place of the user in [`Picture::nodes`].
    pub to: usize,
    /// The text beside the edge, such as the name of the operand; may be empty.
    pub label: String,
    /// The side that the edge belongs to. A rewired operand is a deleted and an inserted edge.
    pub mark: Mark,
}

/// A part of a picture that is drawn in a frame, and that a page can collapse.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PictureBlock {
    /// The name of the part.
    pub label: String,
    /// How many copies of the part the program has; drawn as `× 24` from two copies on.
    pub count: usize,
    /// The block around this block.
    pub parent: Option<usize>,
    /// True if the block is drawn as one node at first.
    pub is_collapsed: bool,
}
