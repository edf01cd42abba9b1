//! The texts in nodes, with the sizes of nodes that follow, and the layout.

use std::collections::HashMap;

use super::layout::{Layout, Point, Route, Step, layout};
use super::text::{cut, neutral, width};
use super::{NodeShape, Picture, PictureNode};
use crate::Mark;

/// The longest texts in nodes and frames, in characters.
const LABEL: usize = 32;
const LINE: usize = 38;

/// Lines of a node that are drawn; the others are in the tooltip.
const LINES: usize = 4;

/// Sizes of the fonts, and heights of lines.
pub(super) const LABEL_SIZE: f64 = 13.0;
pub(super) const LINE_SIZE: f64 = 11.0;
pub(super) const LABEL_HEIGHT: f64 = 17.0;
pub(super) const LINE_HEIGHT: f64 = 14.0;

/// Space between the border of a node and its text.
pub(super) const PADDING: [f64; 2] = [10.0, 7.0];

/// A picture with its layout, and the texts that are drawn: short and neutral.
pub(super) struct Drawn<'a> {
    pub(super) picture: &'a Picture,
    pub(super) texts: Vec<NodeText>,
    /// The headings of blocks.
    pub(super) headings: Vec<String>,
    pub(super) layout: Layout,
    /// The middles of the labels of edges.
    pub(super) label_places: Vec<Point>,
}

/// The texts of a node.
pub(super) struct NodeText {
    pub(super) label: String,
    pub(super) lines: Vec<String>,
    /// The full text, for readers who ask.
    pub(super) tooltip: String,
}

impl<'a> Drawn<'a> {
    pub(super) fn new(picture: &'a Picture) -> Self {
        let texts: Vec<NodeText> = picture.nodes.iter().map(NodeText::of).collect();
        let sizes: Vec<[f64; 2]> = (texts.iter().zip(&picture.nodes))
            .map(|(text, node)| text.size(node.shape))
            .collect();
        let headings: Vec<String> = (picture.blocks.iter())
            .map(|block| heading(&block.label, block.count))
            .collect();
        let widths = headings
            .iter()
            .map(|text| width(text) * LINE_SIZE + PADDING[0]);
        let layout = layout(picture, &sizes, &widths.collect::<Vec<_>>());
        Drawn {
            label_places: label_places(picture, &layout),
            picture,
            texts,
            headings,
            layout,
        }
    }

    /// The sentence about the contents, for readers who do not see the picture.
    pub(super) fn description(&self) -> String {
        let picture = self.picture;
        let count = |mark: Mark| {
            let nodes = picture
                .nodes
                .iter()
                .filter(|node| node.mark == mark)
                .count();
            let edges = picture
                .edges
                .iter()
                .filter(|edge| edge.mark == mark)
                .count();
            (nodes, edges)
        };
        let number = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        let (nodes, edges) = (picture.nodes.len(), picture.edges.len());
        let mut text = format!("{}, {}", number(nodes, "node"), number(edges, "edge"));
        for mark in [Mark::Changed, Mark::Deleted, Mark::Inserted] {
            let (nodes, edges) = count(mark);
            let parts = [(nodes, "node"), (edges, "edge")];
            let parts = parts.iter().filter(|(count, _)| *count > 0);
            let parts: Vec<String> = parts.map(|&(count, one)| number(count, one)).collect();
            if !parts.is_empty() {
                text.push_str(&format!("; {}: {}", mark.name(), parts.join(", ")));
            }
        }
        text
    }
}

/// Places for the labels of edges: on their lines, beside other labels where one of three places
/// is free. O(edges) with few labels in a row.
fn label_places(picture: &Picture, layout: &Layout) -> Vec<Point> {
    // The labels in each row, by their left and right ends.
    let mut rows: HashMap<i64, Vec<[f64; 2]>> = HashMap::new();
    let row = |place: &Point| (place.y / LINE_HEIGHT).round() as i64;
    let mut places = Vec::with_capacity(picture.edges.len());
    for (edge, route) in picture.edges.iter().zip(&layout.edges) {
        let candidates = route.as_ref().map(Route::label_places);
        let candidates = candidates.unwrap_or_default();
        if edge.label.is_empty() {
            places.push(candidates[0]);
            continue;
        }
        let half = width(&heading(&edge.label, 1)) * LINE_SIZE / 2.0;
        let ends = |place: &Point| [place.x - half, place.x + half];
        let is_free = |place: &&Point| {
            let [left, right] = ends(place);
            let near = (row(place) - 1..=row(place) + 1).filter_map(|row| rows.get(&row));
            let overlaps = |other: &[f64; 2]| left < other[1] && other[0] < right;
            !near.flatten().any(overlaps)
        };
        let place = *candidates.iter().find(is_free).unwrap_or(&candidates[0]);
        rows.entry(row(&place)).or_default().push(ends(&place));
        places.push(place);
    }
    places
}

/// The heading of a block, with the number of its copies.
pub(super) fn heading(label: &str, count: usize) -> String {
    let label = cut(&neutral(label, false), LINE, true);
    match count {
        0 | 1 => label,
        _ => format!("{label} × {count}"),
    }
}

/// A label of a node that is never empty, with the sign of its mark.
pub(super) fn signed(node: &PictureNode) -> String {
    let label = match (node.label.as_str(), node.shape) {
        ("", NodeShape::Ellipsis) => "…".to_owned(),
        ("", _) => "?".to_owned(),
        (label, _) => neutral(label, false),
    };
    match node.mark {
        Mark::Same => label,
        Mark::Changed => format!("~ {label}"),
        Mark::Deleted => format!("− {label}"),
        Mark::Inserted => format!("+ {label}"),
    }
}

impl NodeText {
    fn of(node: &PictureNode) -> Self {
        let lines = node.lines.iter().filter(|line| !line.is_empty());
        let lines = lines
            .take(LINES)
            .map(|line| cut(&neutral(line, false), LINE, true));
        let mut tooltip = match node.tooltip.as_str() {
            "" => {
                let lines = std::iter::once(&node.label).chain(&node.lines);
                neutral(&lines.cloned().collect::<Vec<_>>().join("\n"), true)
            }
            text => neutral(text, true),
        };
        if node.mark != Mark::Same {
            tooltip = format!("{}: {tooltip}", node.mark.name());
        }
        NodeText {
            label: cut(&signed(node), LABEL, false),
            lines: lines.collect(),
            tooltip,
        }
    }

    fn size(&self, shape: NodeShape) -> [f64; 2] {
        let lines = self.lines.iter().map(|line| width(line) * LINE_SIZE);
        let text = lines.fold(width(&self.label) * LABEL_SIZE, f64::max);
        let more = match shape {
            NodeShape::Port | NodeShape::Constant => 10.0,
            NodeShape::Group => 6.0,
            NodeShape::Operator | NodeShape::Ellipsis => 0.0,
        };
        let height = LABEL_HEIGHT + self.lines.len() as f64 * LINE_HEIGHT;
        [
            (text + 2.0 * PADDING[0] + more).max(44.0).ceil(),
            height + 2.0 * PADDING[1],
        ]
    }
}

impl Route {
    /// The line in the language of SVG.
    pub(super) fn path(&self) -> String {
        let mut path = format!("M{}", pair(self.start));
        let mut last = self.start;
        let mut steps = self.steps.iter().peekable();
        while let Some(&step) = steps.next() {
            match step {
                Step::Line(end) if rounded(end.x) == rounded(last.x) => {
                    // Straight lines down that follow each other are one line.
                    let continues = |next: &&Step| match next {
                        Step::Line(next) => rounded(next.x) == rounded(end.x),
                        Step::Curve(..) => false,
                    };
                    if !steps.peek().is_some_and(continues) {
                        path.push_str(&format!("V{}", rounded(end.y)));
                    }
                }
                Step::Line(end) => path.push_str(&format!("L{}", pair(end))),
                Step::Curve(first, second, end) => {
                    let [first, second, end] = [first, second, end].map(pair);
                    path.push_str(&format!("C{first} {second} {end}"));
                }
            }
            last = step.end();
        }
        path
    }

    /// Points on the line for a label, best first: the middle of the longest part, and near its
    /// end and its start.
    fn label_places(&self) -> [Point; 3] {
        let mut longest = (-1.0, [self.start; 2]);
        let mut last = self.start;
        for step in &self.steps {
            let end = step.end();
            let length = (end.x - last.x).abs() + (end.y - last.y).abs();
            if length > longest.0 {
                longest = (length, [last, end]);
            }
            last = end;
        }
        let [start, end] = longest.1;
        // Where the curves of lines are after a half, three quarters and a quarter.
        [(0.5, 0.5), (0.84, 0.7), (0.16, 0.3)].map(|(across, down)| Point {
            x: start.x + across * (end.x - start.x),
            y: start.y + down * (end.y - start.y),
        })
    }
}

/// A number with at most one decimal.
pub(super) fn rounded(number: f64) -> String {
    let tenths = (number * 10.0).round() / 10.0;
    // No minus sign before zero.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

fn pair(point: Point) -> String {
    format!("{} {}", rounded(point.x), rounded(point.y))
}
