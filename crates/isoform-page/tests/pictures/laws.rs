//! Laws of every picture, checked for random ones: any edges, any blocks, any text.

use isoform_page::Mark;
use isoform_page::picture::{NodeShape, Picture, PictureBlock, PictureEdge, PictureNode};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::formats::{check_dot, check_mermaid, check_xml};

fn marks() -> impl Strategy<Value = Mark> {
    prop::sample::select(vec![
        Mark::Same,
        Mark::Changed,
        Mark::Deleted,
        Mark::Inserted,
    ])
}

fn shapes() -> impl Strategy<Value = NodeShape> {
    use NodeShape::{Constant, Ellipsis, Group, Operator, Port};
    prop::sample::select(vec![Operator, Port, Constant, Group, Ellipsis])
}

fn texts() -> impl Strategy<Value = String> {
    let hostile = [
        "</script><b>",
        "\"]; n9 -> n9",
        "\\",
        "\\n\\l\"",
        "]]>",
        "&amp;",
        "\u{202e}abc",
        "a\nb",
        "\u{0}\u{7}",
        "😀👩‍👩‍👧",
        "العربية",
        "1. x",
        "`x`",
        "-->",
        "end",
        "%%",
        "",
    ];
    prop_oneof![
        prop::sample::select(hostile.map(str::to_owned).to_vec()),
        "\\PC{0,60}",
        "[A-Z][a-z]{2,8}",
    ]
}

prop_compose! {
    fn nodes()(
        label in texts(),
        lines in prop::collection::vec(texts(), 0..3),
        tooltip in texts(),
        mark in marks(),
        shape in shapes(),
        block in prop::option::of(0usize..8),
        anchor in prop::option::of(texts()),
    ) -> PictureNode {
        PictureNode { label, lines, tooltip, mark, shape, block, anchor }
    }
}

prop_compose! {
    /// Edges to nodes beyond the last one, loops and cycles; blocks inside of themselves.
    fn pictures()(
        title in texts(),
        nodes in prop::collection::vec(nodes(), 0..30),
        edges in prop::collection::vec((0usize..34, 0usize..34, texts(), marks()), 0..70),
        blocks in prop::collection::vec(
            (texts(), 0usize..4, prop::option::of(0usize..8), any::<bool>()), 0..6),
    ) -> Picture {
        Picture {
            title,
            nodes,
            edges: edges.into_iter().map(|(from, to, label, mark)| {
                PictureEdge { from, to, label, mark }
            }).collect(),
            blocks: blocks.into_iter().map(|(label, count, parent, is_collapsed)| {
                PictureBlock { label, count, parent, is_collapsed }
            }).collect(),
        }
    }
}

/// Left, top, right and bottom of a node or frame.
fn area(part: &Json) -> [f64; 4] {
    let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| part[key].as_f64().expect("is a number"));
    [x, y, x + w, y + h]
}

fn list<'a>(scene: &'a Json, key: &str) -> &'a [Json] {
    scene[key].as_array().expect("is a list")
}

fn contains(outer: [f64; 4], inner: [f64; 4]) -> bool {
    outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

fn overlap(left: [f64; 4], right: [f64; 4]) -> bool {
    left[0] < right[2] && right[0] < left[2] && left[1] < right[3] && right[1] < left[3]
}

/// No two nodes overlap, a frame contains nodes and frames as a whole or not at all, and
/// everything is inside of the scene.
#[track_caller]
fn check_scene(scene: &Json) {
    let whole = ["width", "height"].map(|key| scene[key].as_f64().expect("is a number"));
    let whole = [0.0, 0.0, whole[0] + 0.1, whole[1] + 0.1];
    let nodes: Vec<[f64; 4]> = list(scene, "nodes").iter().map(area).collect();
    let frames: Vec<[f64; 4]> = list(scene, "frames").iter().map(area).collect();
    for (number, &node) in nodes.iter().enumerate() {
        assert!(contains(whole, node), "{node:?} is outside of {whole:?}");
        for &other in &nodes[..number] {
            assert!(!overlap(node, other), "{node:?} and {other:?} overlap");
        }
        for &frame in &frames {
            assert!(
                contains(frame, node) || !overlap(frame, node),
                "{frame:?} cuts {node:?}"
            );
        }
    }
    for (number, &frame) in frames.iter().enumerate() {
        assert!(contains(whole, frame));
        for &outer in &frames[..number] {
            let nest = contains(outer, frame) || contains(frame, outer);
            assert!(nest || !overlap(outer, frame), "{outer:?} cuts {frame:?}");
        }
    }
    for edge in list(scene, "edges") {
        check_line(edge, &nodes);
    }
}

/// A line starts at the bottom of its first node and ends at the top of its last one.
#[track_caller]
fn check_line(edge: &Json, nodes: &[[f64; 4]]) {
    let path = edge["path"].as_str().expect("is text");
    let [from, to] =
        ["from", "to"].map(|key| nodes[edge[key].as_u64().expect("is a number") as usize]);
    let numbers: Vec<f64> = path
        .split(|c: char| c.is_ascii_alphabetic() || c == ' ')
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().expect("is a number"))
        .collect();
    let near = |left: f64, right: f64| (left - right).abs() < 0.3;
    assert!(near(numbers[1], from[3]), "{path} starts at {from:?}");
    assert!(
        from[0] <= numbers[0] && numbers[0] <= from[2],
        "{path} starts at {from:?}"
    );
    assert!(
        near(numbers[numbers.len() - 1], to[1]),
        "{path} ends at {to:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_picture_is_drawn(picture in pictures()) {
        let scenes = picture.scenes_json();
        list(&scenes, "scenes").iter().for_each(check_scene);
        prop_assert_eq!(&scenes, &picture.clone().scenes_json());
        let svg = picture.svg();
        check_xml(&svg);
        prop_assert_eq!(&svg, &picture.clone().svg());
        check_xml(&picture.svg_in_page("p\"<1"));
        check_dot(&picture.dot());
        check_mermaid(&picture.mermaid());
    }

    #[test]
    fn every_node_is_in_one_scene(picture in pictures()) {
        let scenes = picture.scenes_json();
        let mut shown = 0;
        for (number, scene) in list(&scenes, "scenes").iter().enumerate() {
            let opens = list(scene, "nodes").iter().filter(|node| !node["opens"].is_null());
            shown += list(scene, "nodes").len() - opens.count();
            let parent = scene["parent"].as_u64();
            prop_assert_eq!(parent.is_none(), number == 0);
            prop_assert!(parent.is_none_or(|parent| (parent as usize) < number));
            for node in list(scene, "nodes").iter().filter(|node| !node["opens"].is_null()) {
                let opened = node["opens"].as_u64().expect("is a number") as usize;
                prop_assert_eq!(scenes["scenes"][opened]["parent"].as_u64(), Some(number as u64));
            }
        }
        // Nodes outside of a scene may be shown there, too.
        prop_assert!(shown >= picture.nodes.len());
        prop_assert!(picture.collapsed().blocks.iter().all(|block| !block.is_collapsed));
    }
}
