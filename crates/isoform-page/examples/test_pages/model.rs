//! Two versions of a model with a known number of nodes and of changes.

use isoform_page::page::{
    ChangeCard, Line, Listing, Piece, PieceRole, Row, Section, Table, TableRow, TensorChange,
    Verdict,
};
use isoform_page::picture::{NodeShape, PictureBlock, PictureEdge, PictureNode};
use isoform_page::{Mark, Page, Picture};

use crate::fact;

/// The operators of a block, in their order.
const OPERATORS: [&str; 8] = [
    "Conv",
    "BatchNormalization",
    "Relu",
    "Conv",
    "BatchNormalization",
    "Add",
    "Relu",
    "MaxPool",
];

/// The number of blocks in a stage.
const STAGE: usize = 50;

/// The kinds of changes in turn.
const KINDS: [(&str, Mark); 4] = [
    ("attribute", Mark::Changed),
    ("rewired", Mark::Changed),
    ("inserted", Mark::Inserted),
    ("deleted", Mark::Deleted),
];

/// A page about two models with `nodes` nodes, of which `changes` changed at even distances.
pub(crate) fn pair(nodes: usize, changes: usize) -> Page {
    let distance = nodes / changes;
    let places: Vec<usize> = (0..changes)
        .map(|change| change * distance + distance / 2)
        .collect();
    Page {
        title: "before.onnx · after.onnx".to_owned(),
        verdict: Verdict::Different,
        sentence: format!(
            "{changes} of {nodes} nodes differ, first the stride of {}.",
            name(places[0])
        ),
        facts: vec![
            fact("nodes the same", &(nodes - changes).to_string(), Mark::Same),
            fact("changed", &changes.div_ceil(2).to_string(), Mark::Changed),
            fact("inserted", &(changes / 4).to_string(), Mark::Inserted),
            fact("deleted", &(changes / 4).to_string(), Mark::Deleted),
        ],
        sections: vec![
            Section::Changes(places.iter().enumerate().map(card).collect()),
            Section::Table(operators_table()),
            Section::Listing(Listing {
                title: "Nodes".to_owned(),
                sides: vec!["before.onnx".to_owned(), "after.onnx".to_owned()],
                rows: (0..nodes).map(|node| row(node, &places)).collect(),
                ..Listing::default()
            }),
            Section::Picture(model_picture(nodes, &places)),
        ],
    }
}

fn card((index, place): (usize, &usize)) -> ChangeCard {
    let (kind, mark) = KINDS[index % KINDS.len()];
    let text = match kind {
        "attribute" => format!("{}: the stride is 2 instead of 1", name(*place)),
        "rewired" => format!("{} reads another value", name(*place)),
        _ => format!("{} is {kind}", name(*place)),
    };
    let is_pair = mark == Mark::Changed;
    ChangeCard {
        anchor: format!("change-{}", index + 1),
        kind: kind.to_owned(),
        mark,
        text,
        count: if index == 0 { 3 } else { 1 },
        places: vec![name(*place), format!("encoder/{}", name(*place))],
        sides: is_pair.then(|| [line(*place, 1, true).pieces, line(*place, 2, true).pieces]),
        why: if is_pair {
            "Both read the same values, and both are read by the same nodes.".to_owned()
        } else {
            String::new()
        },
        picture: Some(change_picture(*place)),
        tensor: (index == 0).then(tensor),
        changes: vec![index],
    }
}

fn tensor() -> TensorChange {
    let text =
        |[name, left, right]: [&str; 3]| [name.to_owned(), left.to_owned(), right.to_owned()];
    TensorChange {
        statistics: vec![
            text(["shape", "64×3×7×7", "64×3×7×7"]),
            text(["mean", "0.012", "0.013"]),
            text(["greatest difference", "", "0.25"]),
        ],
        borders: vec![-1.0, -0.5, 0.0, 0.5, 1.0],
        bins: [vec![4, 90, 80, 6], vec![5, 85, 84, 6]],
        difference: Some((vec![-0.25, 0.0, 0.25], vec![91, 89])),
    }
}

/// A row of a listing of both sides; the rows of changed nodes have the anchors of the changes.
fn row(node: usize, places: &[usize]) -> Row {
    let Ok(index) = places.binary_search(&node) else {
        return Row {
            left: Some(line(node, 1, false)),
            right: Some(line(node, 1, false)),
            ..Row::default()
        };
    };
    let (_, mark) = KINDS[index % KINDS.len()];
    Row {
        left: (mark != Mark::Inserted).then(|| line(node, 1, true)),
        right: (mark != Mark::Deleted).then(|| line(node, 2, true)),
        mark,
        anchors: vec![format!("change-{}", index + 1)],
        why: if mark == Mark::Changed {
            "Both read the same values.".to_owned()
        } else {
            String::new()
        },
    }
}

/// A row of a listing of one program.
pub(crate) fn shown_row(node: usize) -> Row {
    Row {
        left: Some(line(node, 1, false)),
        ..Row::default()
    }
}

/// The line `%node = Operator(%previous, stride=…)`.
fn line(node: usize, stride: usize, is_changed: bool) -> Line {
    let binding = |number: usize| u32::try_from(number).ok();
    let mut pieces = vec![
        Piece {
            binding: binding(node),
            is_definition: true,
            ..piece(format!("%{node}"), PieceRole::Name)
        },
        piece(" = ", PieceRole::Plain),
        piece(OPERATORS[node % OPERATORS.len()], PieceRole::Operator),
        piece("(", PieceRole::Plain),
    ];
    if let Some(previous) = node.checked_sub(1) {
        pieces.push(Piece {
            binding: binding(previous),
            ..piece(format!("%{previous}"), PieceRole::Name)
        });
        pieces.push(piece(", ", PieceRole::Plain));
    }
    pieces.extend([
        piece("stride", PieceRole::Field),
        piece("=", PieceRole::Plain),
        Piece {
            is_changed,
            ..piece(stride.to_string(), PieceRole::Literal)
        },
        piece(")", PieceRole::Plain),
    ]);
    Line {
        depth: usize::from(!node.is_multiple_of(OPERATORS.len())),
        pieces,
    }
}

fn piece(text: impl Into<String>, role: PieceRole) -> Piece {
    Piece {
        text: text.into(),
        role,
        ..Piece::default()
    }
}

fn name(node: usize) -> String {
    format!(
        "{}_{node}",
        OPERATORS[node % OPERATORS.len()].to_lowercase()
    )
}

/// A table that is wider than small screens; its last column has no name.
fn operators_table() -> Table {
    let row = |operator: &str, left: &str, right: &str, mark| TableRow {
        cells: [
            operator,
            left,
            right,
            "0.007812",
            "9.313e-8",
            "140.6",
            "begins here",
        ]
        .map(str::to_owned)
        .to_vec(),
        mark,
    };
    Table {
        title: "Operators".to_owned(),
        columns: [
            "operator", "before", "after", "max abs", "max rel", "SNR dB", "",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: vec![
            row("Conv", "12", "12", Mark::Same),
            row("Relu", "12", "13", Mark::Changed),
            row("Gelu", "", "1", Mark::Inserted),
        ],
    }
}

/// The picture of a change: a node, its weight, its neighbours and a rewired operand.
pub(crate) fn change_picture(place: usize) -> Picture {
    let node = |label: &str, line: String, mark, shape| PictureNode {
        label: label.to_owned(),
        lines: vec![line],
        tooltip: format!("{label} of the model"),
        mark,
        shape,
        ..PictureNode::default()
    };
    let edge = |from, to, label: &str, mark| PictureEdge {
        from,
        to,
        label: label.to_owned(),
        mark,
    };
    Picture {
        title: format!("{} and the nodes around it", name(place)),
        nodes: vec![
            node(
                "input",
                "1×3×224×224".to_owned(),
                Mark::Same,
                NodeShape::Port,
            ),
            node(
                "Relu",
                "relu_before".to_owned(),
                Mark::Same,
                NodeShape::Operator,
            ),
            node(
                "weight",
                "64×3×7×7".to_owned(),
                Mark::Same,
                NodeShape::Constant,
            ),
            node(
                OPERATORS[place % 8],
                name(place),
                Mark::Changed,
                NodeShape::Operator,
            ),
            node(
                "Identity",
                "identity".to_owned(),
                Mark::Deleted,
                NodeShape::Operator,
            ),
            node(
                "Gelu",
                "gelu".to_owned(),
                Mark::Inserted,
                NodeShape::Operator,
            ),
            node("…", "3 more".to_owned(), Mark::Same, NodeShape::Ellipsis),
        ],
        edges: vec![
            edge(0, 1, "", Mark::Same),
            edge(1, 4, "", Mark::Deleted),
            edge(4, 3, "X", Mark::Deleted),
            edge(1, 3, "X", Mark::Inserted),
            edge(2, 3, "W", Mark::Same),
            edge(3, 5, "", Mark::Inserted),
            edge(5, 6, "", Mark::Inserted),
        ],
        blocks: Vec::new(),
    }
}

/// The picture of the whole model: a chain of stages of blocks. Few stages and blocks are open.
fn model_picture(nodes: usize, places: &[usize]) -> Picture {
    let length = OPERATORS.len();
    let picture_node = |node: usize| PictureNode {
        label: OPERATORS[node % length].to_owned(),
        lines: vec![name(node)],
        mark: match places.binary_search(&node) {
            Ok(index) => KINDS[index % KINDS.len()].1,
            Err(_) => Mark::Same,
        },
        anchor: places
            .binary_search(&node)
            .ok()
            .map(|index| format!("change-{}", index + 1)),
        block: Some(node / length),
        ..PictureNode::default()
    };
    let blocks = nodes.div_ceil(length);
    let block = |number: usize| PictureBlock {
        label: format!("layer {number}"),
        count: if number % 10 == 1 { 24 } else { 1 },
        parent: Some(blocks + number / STAGE),
        is_collapsed: number > 1,
    };
    let stage = |number: usize| PictureBlock {
        label: format!("stage {number}"),
        count: 1,
        parent: None,
        is_collapsed: number > 0,
    };
    Picture {
        title: "The whole model".to_owned(),
        nodes: (0..nodes).map(picture_node).collect(),
        edges: (1..nodes)
            .map(|node| PictureEdge {
                from: node - 1,
                to: node,
                ..PictureEdge::default()
            })
            .collect(),
        blocks: (0..blocks)
            .map(block)
            .chain((0..blocks.div_ceil(STAGE)).map(stage))
            .collect(),
    }
}
