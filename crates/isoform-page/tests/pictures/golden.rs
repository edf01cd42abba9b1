//! Small pictures, compared with files.

use insta::assert_snapshot;
use isoform_page::picture::{Picture, STYLE};

use super::{block, change, edge, layers, node};

/// The SVG without its style sheet, one element to a line.
fn svg(picture: &Picture) -> String {
    picture.svg().replace(STYLE, "").replace("><", ">\n<")
}

#[test]
fn a_change_shows_both_sides() {
    assert_snapshot!(svg(&change()));
}

#[test]
fn a_repeated_block_has_a_frame_and_a_collapsed_copy() {
    assert_snapshot!(svg(&layers()));
}

#[test]
fn cycles_and_loops_are_drawn() {
    let picture = Picture {
        title: String::new(),
        nodes: vec![node("a"), node("b"), node("c")],
        edges: vec![edge(0, 1), edge(1, 2), edge(2, 0), edge(1, 1), edge(0, 1)],
        blocks: Vec::new(),
    };
    assert_snapshot!(svg(&picture));
}

#[test]
fn blocks_nest() {
    let mut nodes = vec![node("a"), node("b"), node("c"), node("d")];
    nodes[1].block = Some(0);
    nodes[2].block = Some(1);
    let picture = Picture {
        title: "Nested".to_owned(),
        nodes,
        edges: vec![edge(0, 1), edge(1, 2), edge(0, 2), edge(2, 3)],
        blocks: vec![block("outer", 1, None, false), block("inner", 3, Some(0), false)],
    };
    assert_snapshot!(svg(&picture));
}

#[test]
fn nothing_is_a_picture() {
    assert_snapshot!(svg(&Picture::default()));
}

#[test]
fn text_formats() {
    assert_snapshot!("change.dot", change().dot());
    assert_snapshot!("change.mermaid", change().mermaid());
    assert_snapshot!("layers.dot", layers().dot());
    assert_snapshot!("layers.mermaid", layers().mermaid());
}

#[test]
fn scenes() {
    let scenes = serde_json::to_string_pretty(&layers().scenes_json()).expect("is JSON");
    assert_snapshot!(scenes);
}
