//! Laid out pictures as JSON, for scripts that draw them.

use std::collections::VecDeque;

use serde_json::{Value as Json, json};

use super::Picture;
use super::blocks::Blocks;
use super::drawn::{Drawn, heading};
use super::text::neutral;
use super::views::View;

impl Picture {
    /// The laid out picture for a script that draws it with zoom, pan and a minimap, and that
    /// opens collapsed blocks. The script needs no layout of its own: the picture is a list of
    /// *scenes*, the whole with collapsed blocks as single nodes first, and then the inside of
    /// each collapsed block, together with the nodes outside that the block uses and that use
    /// it.
    ///
    /// ```json
    /// {"title": TEXT, "scenes": [SCENE...]}
    /// ```
    ///
    /// SCENE is an object with
    ///
    /// | field | contents |
    /// |---|---|
    /// | `parent` | the number of the scene around it; null for the first scene |
    /// | `label`, `count` | the name of the block, and how many copies of it there are |
    /// | `width`, `height` | the size of the scene, with a margin |
    /// | `nodes` | `x`, `y` (the top left corner), `w`, `h`, `label` (with the sign of the mark), `lines`, `tooltip`, `mark`, `shape`, `anchor` (or null), `opens` (the scene inside of the node, or null) |
    /// | `edges` | `from` and `to` (places in `nodes`), `mark`, `label`, `path` (the `d` of a path of SVG), `x`, `y` (the place of the label) |
    /// | `frames` | `x`, `y`, `w`, `h`, `label` (with the number of copies), outer frames first |
    ///
    /// Coordinates have one decimal. Texts are short and neutral, as in [`svg`](Self::svg), and
    /// not escaped. An empty block of a picture has no scene. Each node is in the inside of one
    /// scene, so time and size are linear in the picture up to logarithms, and to nodes outside.
    #[must_use]
    pub fn scenes_json(&self) -> Json {
        let tree = Blocks::of(self).drawn();
        let mut scenes: Vec<Json> = Vec::new();
        // The parts to draw, with the scenes around them.
        let mut pending = VecDeque::from([(self.whole(), None)]);
        while let Some((extent, parent)) = pending.pop_front() {
            let view = self.view(&tree, &extent);
            let number = scenes.len();
            let first = number + pending.len() + 1;
            scenes.push(self.scene(extent.root, parent, &view, first));
            let inner = view.stands_for.into_iter().flatten();
            pending.extend(inner.map(|inner| (inner, Some(number))));
        }
        json!({"title": neutral(&self.title, false), "scenes": scenes})
    }

    /// A scene whose first collapsed block becomes the scene with the number `first`.
    fn scene(
        &self,
        block: Option<usize>,
        parent: Option<usize>,
        view: &View,
        first: usize,
    ) -> Json {
        let drawn = Drawn::new(&view.picture);
        let block = block.map(|block| &self.blocks[block]);
        let label = block.map_or(&self.title, |block| &block.label);
        let mut opened = first;
        let nodes = (0..drawn.texts.len()).map(|number| {
            let opens = view.stands_for[number].as_ref().map(|_| {
                opened += 1;
                opened - 1
            });
            drawn.json_node(number, opens)
        });
        let nodes: Vec<Json> = nodes.collect();
        let edges = view.picture.edges.iter().zip(&drawn.layout.edges);
        let edges = edges.zip(&drawn.label_places);
        let edges = edges.filter_map(|((edge, route), place)| {
            let route = route.as_ref()?;
            Some(json!({
                "from": edge.from,
                "to": edge.to,
                "mark": edge.mark,
                "label": heading(&edge.label, 1),
                "path": route.path(),
                "x": tenths(place.x),
                "y": tenths(place.y),
            }))
        });
        let edges: Vec<Json> = edges.collect();
        json!({
            "parent": parent,
            "label": neutral(label, false),
            "count": block.map_or(1, |block| block.count),
            "width": tenths(drawn.layout.width),
            "height": tenths(drawn.layout.height),
            "nodes": nodes,
            "edges": edges,
            "frames": drawn.json_frames(),
        })
    }
}

impl Drawn<'_> {
    fn json_node(&self, number: usize, opens: Option<usize>) -> Json {
        let node = &self.picture.nodes[number];
        let text = &self.texts[number];
        let area = self.layout.nodes[number];
        json!({
            "x": tenths(area.x),
            "y": tenths(area.y),
            "w": tenths(area.width),
            "h": tenths(area.height),
            "label": text.label,
            "lines": text.lines,
            "tooltip": text.tooltip,
            "mark": node.mark,
            "shape": node.shape,
            "anchor": node.anchor.as_ref().map(|anchor| neutral(anchor, false)),
            "opens": opens,
        })
    }

    fn json_frames(&self) -> Vec<Json> {
        let frames = self.layout.blocks.iter().zip(&self.headings);
        let mut frames: Vec<_> = frames
            .filter_map(|(area, label)| Some(((*area)?, label)))
            .collect();
        frames.sort_by(|(left, _), (right, _)| right.width.total_cmp(&left.width));
        let frame = |(area, label): &(super::layout::Area, &String)| {
            json!({
                "x": tenths(area.x),
                "y": tenths(area.y),
                "w": tenths(area.width),
                "h": tenths(area.height),
                "label": label,
            })
        };
        frames.iter().map(frame).collect()
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
