//! Pictures as SVG.

use super::drawn::{Drawn, LABEL_HEIGHT, LABEL_SIZE, LINE_HEIGHT, PADDING, rounded};
use super::layout::{Area, Point, Route};
use super::text::{escaped, neutral};
use super::{NodeShape, Picture, PictureEdge};

/// The style sheet of pictures. [`Picture::svg`] contains it; a page with pictures of
/// [`Picture::svg_in_page`] has it once. All rules begin with `.isoform-picture`, and the colours
/// are custom properties such as `--ip-deleted`.
pub const STYLE: &str = include_str!("style.css");

/// Length and half of the width of the heads of arrows.
const HEAD: [f64; 2] = [7.0, 4.0];

/// The corner that constants lack.
const CORNER: f64 = 8.0;

impl Picture {
    /// The picture as an SVG file: with its style sheet for light and dark schemes, and without
    /// anything that it would load. Collapsed blocks are single nodes.
    ///
    /// Marks have a colour, a sign and a line style of their own. Texts are escaped and short;
    /// tooltips have them in full, and control and bidi characters are visible as their numbers.
    /// Time and memory are linear in the size of the picture, up to logarithms.
    ///
    /// ```
    /// use isoform_page::{Mark, picture::{Picture, PictureNode}};
    /// let node = PictureNode {
    ///     label: "Relu".to_owned(),
    ///     mark: Mark::Deleted,
    ///     ..PictureNode::default()
    /// };
    /// let picture = Picture { nodes: vec![node], ..Picture::default() };
    /// assert!(picture.svg().contains("− Relu"));
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        self.collapsed().draw("", true)
    }

    /// The picture as an `<svg>` element inside of a page that contains [`STYLE`]. Ids begin with
    /// `prefix`, which differs for each picture of a page.
    #[must_use]
    pub fn svg_in_page(&self, prefix: &str) -> String {
        self.collapsed().draw(prefix, false)
    }

    fn draw(&self, prefix: &str, is_file: bool) -> String {
        let drawn = Drawn::new(self);
        let layout = &drawn.layout;
        let mut prefix = escaped(&neutral(prefix, false));
        if !prefix.is_empty() {
            prefix.push('-');
        }
        let [width, height] = [layout.width, layout.height].map(rounded);
        // Links inside of an image are out of reach for readers who do not see it.
        let has_links = self.nodes.iter().any(|node| node.anchor.is_some());
        let role = if has_links { "group" } else { "img" };
        // Parsers of HTML know the namespace of the element.
        let namespace = if is_file {
            " xmlns=\"http://www.w3.org/2000/svg\""
        } else {
            ""
        };
        let mut svg = format!(
            "<svg{namespace} class=\"isoform-picture\" role=\"{role}\" \
             aria-labelledby=\"{prefix}title {prefix}desc\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title id=\"{prefix}title\">{}</title>\
             <desc id=\"{prefix}desc\">{}</desc>",
            escaped(&neutral(&self.title, false)),
            drawn.description(),
        );
        if is_file {
            svg.push_str(&format!("<style>{STYLE}</style>"));
        }
        drawn.frames(&mut svg);
        let edges = self.edges.iter().zip(&layout.edges);
        for ((edge, route), place) in edges.zip(&drawn.label_places) {
            if let Some(route) = route {
                draw_edge(edge, route, *place, &mut svg);
            }
        }
        for node in 0..self.nodes.len() {
            drawn.node(node, &prefix, &mut svg);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

impl Drawn<'_> {
    fn frames(&self, svg: &mut String) {
        let frames = self.layout.blocks.iter().enumerate();
        let mut frames: Vec<(usize, &Area)> = frames
            .filter_map(|(block, area)| Some((block, area.as_ref()?)))
            .collect();
        // Outer frames first: they are larger.
        frames.sort_by(|(_, left), (_, right)| right.width.total_cmp(&left.width));
        for (block, area) in frames {
            let label = neutral(&self.picture.blocks[block].label, false);
            svg.push_str(&format!(
                "<g class=\"block\"><title>{}</title>{}<text x=\"{}\" y=\"{}\">{}</text></g>",
                escaped(&label),
                rect(area, 6.0, ""),
                rounded(area.x + 8.0),
                rounded(area.y + 16.0),
                escaped(&self.headings[block]),
            ));
        }
    }

    fn node(&self, number: usize, prefix: &str, svg: &mut String) {
        let node = &self.picture.nodes[number];
        let text = &self.texts[number];
        let area = &self.layout.nodes[number];
        let anchor = node
            .anchor
            .as_ref()
            .map(|anchor| escaped(&neutral(anchor, false)));
        svg.push_str(&format!(
            "<g class=\"node mark-{} shape-{}\" id=\"{prefix}n{number}\"><title>{}</title>",
            node.mark.name(),
            name_of(node.shape),
            escaped(&text.tooltip),
        ));
        if let Some(anchor) = &anchor {
            svg.push_str(&format!("<a href=\"#{anchor}\">"));
        }
        svg.push_str(&outline(node.shape, area));
        let x = rounded(area.x + area.width / 2.0);
        let mut y = area.y + PADDING[1] + LABEL_SIZE;
        let label = escaped(&text.label);
        svg.push_str(&format!(
            "<text class=\"label\" x=\"{x}\" y=\"{}\">{label}</text>",
            rounded(y)
        ));
        y += LABEL_HEIGHT - 3.0;
        for line in &text.lines {
            let line = escaped(line);
            svg.push_str(&format!(
                "<text class=\"line\" x=\"{x}\" y=\"{}\">{line}</text>",
                rounded(y)
            ));
            y += LINE_HEIGHT;
        }
        svg.push_str(if anchor.is_some() { "</a></g>" } else { "</g>" });
    }
}

/// The name of a shape in classes.
fn name_of(shape: NodeShape) -> &'static str {
    match shape {
        NodeShape::Operator => "operator",
        NodeShape::Port => "port",
        NodeShape::Constant => "constant",
        NodeShape::Group => "group",
        NodeShape::Ellipsis => "ellipsis",
    }
}

fn outline(shape: NodeShape, area: &Area) -> String {
    let class = " class=\"shape\"";
    match shape {
        NodeShape::Operator | NodeShape::Ellipsis => rect(area, 4.0, class),
        NodeShape::Port => rect(area, area.height / 2.0, class),
        NodeShape::Constant => format!(
            "<path{class} d=\"M{} {}h{}l{CORNER} {CORNER}v{}h-{}z\"/>",
            rounded(area.x),
            rounded(area.y),
            rounded(area.width - CORNER),
            rounded(area.height - CORNER),
            rounded(area.width),
        ),
        NodeShape::Group => {
            let inner = Area {
                x: area.x + 3.0,
                y: area.y + 3.0,
                width: area.width - 6.0,
                height: area.height - 6.0,
            };
            rect(area, 6.0, class) + &rect(&inner, 4.0, class)
        }
    }
}

fn rect(area: &Area, radius: f64, class: &str) -> String {
    format!(
        "<rect{class} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        rounded(area.x),
        rounded(area.y),
        rounded(area.width),
        rounded(area.height),
        rounded(radius),
    )
}

fn draw_edge(edge: &PictureEdge, route: &Route, place: Point, svg: &mut String) {
    let Point { x, y } = route.end();
    let [length, half] = HEAD;
    svg.push_str(&format!(
        "<g class=\"edge mark-{}\"><path class=\"wire\" d=\"{}\"/>\
         <path class=\"head\" d=\"M{} {}h{}l-{half} {length}z\"/>",
        edge.mark.name(),
        route.path(),
        rounded(x - half),
        rounded(y - length),
        2.0 * half,
    ));
    if !edge.label.is_empty() {
        svg.push_str(&format!(
            "<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>",
            rounded(place.x),
            rounded(place.y + 4.0),
            escaped(&super::drawn::heading(&edge.label, 1)),
        ));
    }
    svg.push_str("</g>");
}
