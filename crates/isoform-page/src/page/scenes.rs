//! Laid out pictures in the compact form that the script decodes.
//!
//! A picture is a list of scenes `[parent, label, width, height, nodes, edges, frames]`. The
//! parent of the first scene is -1. A node is `[x, y, width, height, label, lines, tooltip, mark,
//! shape, anchor, opens]`, where `opens` is the number of a scene or 0; an edge is `[mark, label,
//! x, y, path]`, and a frame `[x, y, width, height, label]`. All texts but paths are places in a
//! table of texts.

use serde_json::Value as Json;

use super::embed::json;
use super::encode::Texts;
use crate::Picture;

/// The picture as JSON that can stand inside a `script` element. Takes as long as the layout.
pub(super) fn picture(picture: &Picture) -> String {
    let mut texts = Texts::new();
    let whole = picture.scenes_json();
    let scenes = items(&whole["scenes"]).iter();
    let scenes: Vec<Json> = scenes.map(|scene| scene_code(&mut texts, scene)).collect();
    format!(
        "{{\"texts\":{},\"scenes\":{}}}",
        json(texts.list()),
        json(&scenes)
    )
}

fn scene_code(texts: &mut Texts, scene: &Json) -> Json {
    let nodes = items(&scene["nodes"])
        .iter()
        .map(|node| node_code(texts, node));
    let nodes = Json::Array(nodes.collect());
    let edges = items(&scene["edges"]).iter().map(|edge| {
        Json::Array(vec![
            mark(&edge["mark"]),
            place(texts, &edge["label"]),
            short(&edge["x"]),
            short(&edge["y"]),
            edge["path"].clone(),
        ])
    });
    let edges = Json::Array(edges.collect());
    let frames = items(&scene["frames"]).iter().map(|frame| {
        let mut code = area(frame);
        code.push(place(texts, &frame["label"]));
        Json::Array(code)
    });
    let frames = Json::Array(frames.collect());
    Json::Array(vec![
        scene["parent"].as_i64().unwrap_or(-1).into(),
        place(texts, &scene["label"]),
        short(&scene["width"]),
        short(&scene["height"]),
        nodes,
        edges,
        frames,
    ])
}

fn node_code(texts: &mut Texts, node: &Json) -> Json {
    let mut code = area(node);
    let lines = items(&node["lines"]).iter().map(|line| place(texts, line));
    let lines = Json::Array(lines.collect());
    code.extend([
        place(texts, &node["label"]),
        lines,
        place(texts, &node["tooltip"]),
        mark(&node["mark"]),
        position(
            &["operator", "port", "constant", "group", "ellipsis"],
            &node["shape"],
        ),
        place(texts, &node["anchor"]),
        node["opens"].as_u64().unwrap_or(0).into(),
    ]);
    Json::Array(code)
}

fn area(part: &Json) -> Vec<Json> {
    ["x", "y", "w", "h"].map(|side| short(&part[side])).to_vec()
}

/// A number without a decimal if it needs none.
fn short(number: &Json) -> Json {
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e9 => (value as i64).into(),
        _ => number.clone(),
    }
}

fn mark(name: &Json) -> Json {
    position(&["same", "changed", "deleted", "inserted"], name)
}

fn position(names: &[&str], name: &Json) -> Json {
    names
        .iter()
        .position(|known| name == known)
        .unwrap_or(0)
        .into()
}

fn place(texts: &mut Texts, text: &Json) -> Json {
    texts
        .place(text.as_str().unwrap_or_default().to_owned())
        .into()
}

fn items(list: &Json) -> &[Json] {
    list.as_array().map_or(&[], Vec::as_slice)
}
