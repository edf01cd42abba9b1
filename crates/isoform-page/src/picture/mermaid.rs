//! Pictures as text for mermaid, which code hosts draw.

use super::Picture;
use super::dot::Nested;
use super::drawn::{heading, signed};
use super::text::neutral;
use super::{NodeShape, PictureNode};
use crate::Mark;

/// The edges and the characters of a chart that code hosts draw.
const MOST_EDGES: usize = 500;
const MOST_CHARACTERS: usize = 50_000;

/// The start of the first line of a chart, and of the comment in the second one.
const HEAD: &str = "flowchart TB\n";
const COMMENT: &str = "  %% ";

/// The classes of marks.
const CLASSES: &str = "  classDef changed stroke:#9a6700,stroke-width:2px
  classDef deleted stroke:#b3261e,stroke-width:2px,stroke-dasharray:6 4
  classDef inserted stroke:#116329,stroke-width:3px
";

/// The comment of a chart of [`Picture::mermaid`] that is too large for code hosts; None for
/// other charts. O(1).
///
/// ```
/// use isoform_page::picture::{Picture, PictureNode, mermaid_warning};
/// let picture = Picture { nodes: vec![PictureNode::default(); 9_000], ..Picture::default() };
/// let chart = picture.mermaid();
/// assert!(mermaid_warning(&chart).is_some_and(|text| text.contains("at most 500 edges")));
/// ```
#[must_use]
pub fn mermaid_warning(chart: &str) -> Option<&str> {
    let comment = chart.strip_prefix(HEAD)?.strip_prefix(COMMENT)?;
    comment.lines().next()
}

impl Picture {
    /// The picture as a flowchart of mermaid, with blocks as subgraphs. Collapsed blocks are
    /// single nodes. A chart that is too large for code hosts says so in a comment, which
    /// [`mermaid_warning`] returns. O(size of the picture).
    ///
    /// ```
    /// use isoform_page::picture::{Picture, PictureNode};
    /// let node = PictureNode { label: "a \"b\"".to_owned(), ..PictureNode::default() };
    /// let picture = Picture { nodes: vec![node], ..Picture::default() };
    /// assert!(picture.mermaid().contains("n0[\"a #34;b#34;\"]"));
    /// ```
    #[must_use]
    pub fn mermaid(&self) -> String {
        let picture = self.collapsed();
        let mut chart = String::from(HEAD);
        if !self.title.is_empty() {
            chart.push_str(&format!(
                "  accTitle: {}\n",
                coded(&neutral(&self.title, false))
            ));
        }
        picture.in_blocks(&mut |event, indent| {
            let text = match event {
                Nested::Node(number) => mermaid_node(number, &picture.nodes[number]),
                Nested::Open(block) => {
                    let block_text = &picture.blocks[block];
                    let label = coded(&heading(&block_text.label, block_text.count));
                    format!("subgraph b{block}[\"{label}\"]")
                }
                Nested::Close => "end".to_owned(),
            };
            chart.push_str(&format!("{}{text}\n", "  ".repeat(indent + 1)));
        });
        picture.add_mermaid_edges(&mut chart);
        if picture.nodes.iter().any(|node| node.mark != Mark::Same) {
            chart.push_str(CLASSES);
        }
        let (edges, characters) = (picture.edges.len(), chart.chars().count());
        if edges > MOST_EDGES || characters > MOST_CHARACTERS {
            let comment = format!(
                "{COMMENT}the chart has {edges} edges and {characters} characters; code hosts \
                 draw at most {MOST_EDGES} edges and {MOST_CHARACTERS} characters\n"
            );
            chart.insert_str(HEAD.len(), &comment);
        }
        chart
    }

    fn add_mermaid_edges(&self, chart: &mut String) {
        let count = self.nodes.len();
        let mut styles: [Vec<String>; 4] = Default::default();
        let edges = self.edges.iter();
        let edges = edges.filter(|edge| edge.from < count && edge.to < count);
        for (number, edge) in edges.enumerate() {
            let arrow = match edge.mark {
                Mark::Same | Mark::Changed => "-->",
                Mark::Deleted => "-.->",
                Mark::Inserted => "==>",
            };
            let label = match edge.label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", coded(&heading(label, 1))),
            };
            chart.push_str(&format!("  n{} {arrow}{label} n{}\n", edge.from, edge.to));
            styles[edge.mark as usize].push(number.to_string());
        }
        for (mark, color) in [
            (Mark::Changed, "#9a6700"),
            (Mark::Deleted, "#b3261e"),
            (Mark::Inserted, "#116329"),
        ] {
            let numbers = styles[mark as usize].join(",");
            if !numbers.is_empty() {
                chart.push_str(&format!("  linkStyle {numbers} stroke:{color}\n"));
            }
        }
    }
}

fn mermaid_node(number: usize, node: &PictureNode) -> String {
    let mut label = coded(&heading(&signed(node), 1));
    for line in node.lines.iter().filter(|line| !line.is_empty()) {
        label.push_str("<br/>");
        label.push_str(&coded(&heading(line, 1)));
    }
    let (open, close) = match node.shape {
        NodeShape::Operator | NodeShape::Ellipsis => ("[", "]"),
        NodeShape::Port => ("([", "])"),
        NodeShape::Constant => (">", "]"),
        NodeShape::Group => ("[[", "]]"),
    };
    let class = match node.mark {
        Mark::Same => String::new(),
        mark => format!(":::{}", mark.name()),
    };
    format!("n{number}{open}\"{label}\"{close}{class}")
}

/// A text without characters that mean something to mermaid, Markdown or HTML: those become
/// codes such as `#34;`.
fn coded(text: &str) -> String {
    let mut coded = String::with_capacity(text.len());
    for c in text.chars() {
        let is_number = coded.chars().all(|c| c.is_ascii_digit());
        match c {
            '/' | ':' | ',' | '=' | ' ' => coded.push(c),
            '.' if !is_number => coded.push(c),
            _ if c.is_ascii_punctuation() => coded.push_str(&format!("#{};", u32::from(c))),
            _ => coded.push(c),
        }
    }
    coded
}
