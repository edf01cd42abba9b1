//! Pictures as text for graphviz.

use super::blocks::Blocks;
use super::drawn::{heading, signed};
use super::text::neutral;
use super::{NodeShape, Picture, PictureNode};
use crate::Mark;

impl Picture {
    /// The picture in the language `dot` of graphviz, with blocks as clusters. Collapsed blocks
    /// are single nodes. O(size of the picture).
    ///
    /// ```
    /// use isoform_page::picture::{Picture, PictureNode};
    /// let node = PictureNode { label: "Relu".to_owned(), ..PictureNode::default() };
    /// let picture = Picture { nodes: vec![node], ..Picture::default() };
    /// assert!(picture.dot().contains("n0 [label=\"Relu\", shape=box"));
    /// ```
    #[must_use]
    pub fn dot(&self) -> String {
        let picture = self.collapsed();
        let mut dot = String::from("digraph picture {\n");
        dot.push_str(&format!(
            "  label={};\n",
            quoted(&neutral(&self.title, false))
        ));
        dot.push_str("  labelloc=t;\n  node [fontname=\"sans-serif\", fontsize=11];\n");
        dot.push_str("  edge [fontname=\"sans-serif\", fontsize=9];\n");
        picture.in_blocks(&mut |event, indent| {
            let text = match event {
                Nested::Node(number) => dot_node(number, &picture.nodes[number]),
                Nested::Open(block) => {
                    let block_text = &picture.blocks[block];
                    let label = quoted(&heading(&block_text.label, block_text.count));
                    format!("subgraph cluster_{block} {{ label={label}; style=dashed;")
                }
                Nested::Close => "}".to_owned(),
            };
            dot.push_str(&format!("{}{text}\n", "  ".repeat(indent + 1)));
        });
        let count = picture.nodes.len();
        for edge in picture
            .edges
            .iter()
            .filter(|edge| edge.from < count && edge.to < count)
        {
            let mut looks = looks(edge.mark);
            if !edge.label.is_empty() {
                looks = format!("label={}, {looks}", quoted(&neutral(&edge.label, false)));
            }
            let looks = looks.trim_end_matches(", ");
            let ends = format!("n{} -> n{}", edge.from, edge.to);
            match looks {
                "" => dot.push_str(&format!("  {ends};\n")),
                _ => dot.push_str(&format!("  {ends} [{looks}];\n")),
            }
        }
        dot.push_str("}\n");
        dot
    }

    /// Calls `visit` for the nodes and blocks from the outside to the inside, with the number
    /// of blocks around. O(nodes + blocks).
    pub(super) fn in_blocks(&self, visit: &mut dyn FnMut(Nested, usize)) {
        let tree = Blocks::of(self).drawn();
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len() + 1];
        let mut inner: Vec<Vec<usize>> = nodes.clone();
        let mut is_used = vec![false; self.blocks.len()];
        for (node, &block) in tree.of_nodes.iter().enumerate() {
            nodes[block.map_or(0, |block| block + 1)].push(node);
            let mut next = block;
            while let Some(block) = next.filter(|&block| !is_used[block]) {
                is_used[block] = true;
                next = tree.parents[block];
            }
        }
        for block in (0..self.blocks.len()).filter(|&block| is_used[block]) {
            inner[tree.parents[block].map_or(0, |parent| parent + 1)].push(block);
        }
        // Levels still open, with the position of the next inner block.
        let mut stack = vec![(0, 0)];
        while let Some((level, position)) = stack.pop() {
            if position == 0 {
                let indent = stack.len();
                nodes[level]
                    .iter()
                    .for_each(|&node| visit(Nested::Node(node), indent));
            }
            if let Some(&block) = inner[level].get(position) {
                visit(Nested::Open(block), stack.len());
                stack.push((level, position + 1));
                stack.push((block + 1, 0));
            } else if level > 0 {
                visit(Nested::Close, stack.len() - 1);
            }
        }
    }
}

/// A step of a walk through the blocks of a picture.
pub(super) enum Nested {
    Node(usize),
    Open(usize),
    Close,
}

fn dot_node(number: usize, node: &PictureNode) -> String {
    let lines = node.lines.iter().filter(|line| !line.is_empty());
    let mut label = signed(node);
    for line in lines {
        label.push('\n');
        label.push_str(&heading(line, 1));
    }
    let shape = match node.shape {
        NodeShape::Operator => "shape=box",
        NodeShape::Port => "shape=ellipse",
        NodeShape::Constant => "shape=note",
        NodeShape::Group => "shape=box, peripheries=2",
        NodeShape::Ellipsis => "shape=plaintext",
    };
    let mut text = format!(
        "n{number} [label={}, {shape}, {}",
        quoted(&label),
        looks(node.mark)
    );
    if !node.tooltip.is_empty() {
        text.push_str(&format!(
            "tooltip={}, ",
            quoted(&neutral(&node.tooltip, true))
        ));
    }
    let text = text.trim_end_matches([',', ' ']);
    format!("{text}];")
}

/// The attributes of a mark, followed by a comma.
fn looks(mark: Mark) -> String {
    let (color, style) = match mark {
        Mark::Same => return String::new(),
        Mark::Changed => ("#9a6700", "solid"),
        Mark::Deleted => ("#b3261e", "dashed"),
        Mark::Inserted => ("#116329", "bold"),
    };
    format!("color=\"{color}\", fontcolor=\"{color}\", style={style}, ")
}

/// A string of the language. Graphviz reads entities and escape sequences in labels.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '&' => quoted.push_str("&amp;"),
            _ => quoted.push(c),
        }
    }
    quoted + "\""
}
