//! Writes pages of all kinds and sizes into a folder, for tests in a browser and for eyes:
//! `cargo run -p isoform-page --example sample_page -- FOLDER`.

use std::io::Write as _;
use std::{env, fs, io, path::Path};

use isoform_page::page::{
    ChangeCard, Fact, Line, Listing, Page, Piece, PieceRole, Row, Section, Table, TableRow,
    TensorChange, Verdict,
};
use isoform_page::picture::{NodeShape, PictureBlock, PictureEdge, PictureNode};
use isoform_page::{Mark, Picture};

fn main() -> io::Result<()> {
    let Some(folder) = env::args().nth(1) else {
        return Err(io::Error::other(
            "expected the name of a folder, got no argument",
        ));
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let pages = [
        ("small", small()),
        ("equal", equal()),
        ("hostile", hostile()),
        ("rows-1000", pair(1_000, 12)),
        ("changes-1000", pair(1_000, 2)),
        ("rows-20000", pair(20_000, 40)),
        ("rows-100000", pair(100_000, 500)),
        ("all-changed-20000", pair(20_000, 1)),
        ("model-20000", model(20_000, 50)),
        ("model-flat-5000", model(5_000, 0)),
    ];
    for (name, page) in pages {
        let html = page.html();
        fs::write(folder.join(format!("{name}.html")), &html)?;
        fs::write(
            folder.join(format!("{name}.notebook.html")),
            page.notebook_html(),
        )?;
        fs::write(
            folder.join(format!("{name}.md")),
            page.markdown(Some("https://example.org/")),
        )?;
        writeln!(io::stdout(), "{name}.html: {} bytes", html.len())?;
    }
    Ok(())
}

fn piece(text: impl Into<String>, role: PieceRole) -> Piece {
    Piece {
        text: text.into(),
        role,
        ..Piece::default()
    }
}

fn variable(number: u32, is_definition: bool) -> Piece {
    Piece {
        binding: Some(number),
        is_definition,
        ..piece(format!("%{number}"), PieceRole::Name)
    }
}

/// The line of a node: `%3 = Conv(%1, %2, strides=[1, 1])`.
fn line(number: u32, operator: &str, strides: &str, is_changed: bool) -> Line {
    let mut pieces = vec![
        variable(number, true),
        piece(" = ", PieceRole::Plain),
        piece(operator, PieceRole::Operator),
        piece("(", PieceRole::Plain),
    ];
    if number > 0 {
        pieces.extend([variable(number - 1, false), piece(", ", PieceRole::Plain)]);
    }
    pieces.extend([
        piece("strides", PieceRole::Field),
        piece("=", PieceRole::Plain),
        Piece {
            is_changed,
            ..piece(strides, PieceRole::Literal)
        },
        piece(")", PieceRole::Plain),
    ]);
    Line {
        depth: 1 + (number as usize / 40) % 3,
        pieces,
    }
}

fn ring(number: u32) -> Picture {
    let node = |label: &str, line: String, mark| PictureNode {
        label: label.to_owned(),
        lines: vec![line],
        mark,
        ..PictureNode::default()
    };
    let edge = |from, to, mark| PictureEdge {
        from,
        to,
        mark,
        label: String::new(),
    };
    Picture {
        title: format!("Node {number} with its neighbours"),
        nodes: vec![
            node("Relu", format!("relu_{number}"), Mark::Same),
            node("Conv", format!("conv_{number}"), Mark::Changed),
            node("Identity", format!("identity_{number}"), Mark::Deleted),
            PictureNode {
                shape: NodeShape::Constant,
                ..node("Weight", "64×64×3×3".to_owned(), Mark::Inserted)
            },
            node("Add", format!("add_{number}"), Mark::Same),
        ],
        edges: vec![
            edge(0, 1, Mark::Same),
            edge(1, 2, Mark::Deleted),
            edge(2, 4, Mark::Deleted),
            edge(3, 1, Mark::Inserted),
            edge(1, 4, Mark::Inserted),
        ],
        blocks: Vec::new(),
    }
}

/// Two programs of a number of lines, of which every `step`-th differs.
fn pair(lines: u32, step: u32) -> Page {
    let mut rows = Vec::new();
    let mut changes = Vec::new();
    for number in 0..lines {
        let mut row = Row {
            left: Some(line(number, "Conv", "[1, 1]", false)),
            right: Some(line(number, "Conv", "[1, 1]", false)),
            ..Row::default()
        };
        if number % step == step - 1 {
            change_row(&mut row, number, &mut changes);
        }
        rows.push(row);
    }
    let fact = |name: &str, value: String, mark| Fact {
        name: name.to_owned(),
        value,
        mark,
    };
    Page {
        title: "resnet50-v1.onnx → resnet50-v2.onnx".to_owned(),
        verdict: Verdict::Different,
        sentence: format!(
            "{} of {lines} nodes differ, most of them in strides",
            changes.len()
        ),
        facts: vec![
            fact("nodes", format!("{lines} → {lines}"), Mark::Same),
            fact(
                "changed",
                changes
                    .iter()
                    .filter(|change| change.mark == Mark::Changed)
                    .count()
                    .to_string(),
                Mark::Changed,
            ),
            fact(
                "deleted",
                changes
                    .iter()
                    .filter(|change| change.mark == Mark::Deleted)
                    .count()
                    .to_string(),
                Mark::Deleted,
            ),
            fact(
                "inserted",
                changes
                    .iter()
                    .filter(|change| change.mark == Mark::Inserted)
                    .count()
                    .to_string(),
                Mark::Inserted,
            ),
        ],
        sections: vec![
            Section::Changes(changes),
            Section::Listing(Listing {
                title: "Both programs".to_owned(),
                sides: vec!["resnet50-v1.onnx".to_owned(), "resnet50-v2.onnx".to_owned()],
                rows,
            }),
        ],
    }
}

/// Makes the row a change, in turn of each kind, with a card.
fn change_row(row: &mut Row, number: u32, changes: &mut Vec<ChangeCard>) {
    let anchor = format!("change-{}", changes.len() + 1);
    let (kind, mark) = match changes.len() % 4 {
        0 | 1 => ("attribute", Mark::Changed),
        2 => ("inserted", Mark::Inserted),
        _ => ("deleted", Mark::Deleted),
    };
    row.mark = mark;
    row.anchor.clone_from(&anchor);
    let why = format!(
        "Both are the only Conv that takes %{} and whose result reaches the same Add",
        number.saturating_sub(1)
    );
    match mark {
        Mark::Inserted => row.left = None,
        Mark::Deleted => row.right = None,
        _ => {
            row.left = Some(line(number, "Conv", "[1, 1]", true));
            row.right = Some(line(number, "Conv", "[2, 2]", true));
            row.why.clone_from(&why);
        }
    }
    let pieces = |line: &Option<Line>| line.as_ref().map_or(Vec::new(), |line| line.pieces.clone());
    let text = match mark {
        Mark::Inserted => format!("Conv conv_{number} is new"),
        Mark::Deleted => format!("Conv conv_{number} is gone"),
        _ => format!("Conv conv_{number} has strides [2, 2] instead of [1, 1]"),
    };
    changes.push(ChangeCard {
        anchor,
        kind: kind.to_owned(),
        mark,
        text,
        count: 1 + u64::from(number % 3),
        places: (0..1 + number % 9)
            .map(|place| format!("layer{place}.conv_{number}"))
            .collect(),
        sides: Some([pieces(&row.left), pieces(&row.right)]),
        why: if mark == Mark::Changed {
            why
        } else {
            String::new()
        },
        picture: Some(ring(number)),
        tensor: None,
    });
}

fn small() -> Page {
    let mut page = pair(60, 9);
    page.sections.insert(
        1,
        Section::Table(Table {
            title: "Tensors".to_owned(),
            columns: ["name", "shape", "before", "after"]
                .map(str::to_owned)
                .to_vec(),
            rows: (0..4)
                .map(|number| TableRow {
                    cells: vec![
                        format!("layer1.{number}.weight"),
                        "64×3×7×7".to_owned(),
                        "0.02".to_owned(),
                        format!("0.0{number}"),
                    ],
                    mark: if number == 2 {
                        Mark::Same
                    } else {
                        Mark::Changed
                    },
                })
                .collect(),
        }),
    );
    page.sections.push(Section::Picture(ring(0)));
    if let Some(Section::Changes(changes)) = page.sections.first_mut() {
        changes[0].kind = "weights".to_owned();
        changes[0].tensor = Some(tensor());
    }
    page
}

/// A whole model with blocks of a number of nodes, or without blocks.
fn model(nodes: usize, block: usize) -> Page {
    let mut picture = Picture {
        title: format!("A model with {nodes} nodes"),
        ..Picture::default()
    };
    for number in 0..nodes {
        picture.nodes.push(PictureNode {
            label: ["Conv", "BatchNormalization", "Relu"][number % 3].to_owned(),
            lines: vec![format!("node_{number}")],
            mark: if number % 97 == 0 {
                Mark::Changed
            } else {
                Mark::Same
            },
            block: number.checked_div(block),
            ..PictureNode::default()
        });
        if number > 0 {
            let from = number - 1 - number % 4 * usize::from(number > 9);
            picture.edges.push(PictureEdge {
                from,
                to: number,
                ..PictureEdge::default()
            });
        }
    }
    if let Some(blocks) = nodes.checked_div(block) {
        picture.blocks = (0..blocks)
            .map(|number| PictureBlock {
                label: format!("layer {number}"),
                count: 1 + number % 3,
                parent: None,
                is_collapsed: true,
            })
            .collect();
    }
    Page {
        title: "large.onnx".to_owned(),
        sentence: format!("A model with {nodes} nodes"),
        sections: vec![Section::Picture(picture)],
        ..Page::default()
    }
}

fn tensor() -> TensorChange {
    let bell = |centre: f64| -> Vec<u64> {
        (0..24)
            .map(|bin| (1000.0 * (-((f64::from(bin) - centre) / 4.0).powi(2)).exp()) as u64)
            .collect()
    };
    let borders: Vec<f64> = (0..=24).map(|bin| f64::from(bin) / 12.0 - 1.0).collect();
    TensorChange {
        statistics: [
            ["mean", "0.01", "0.04"],
            ["deviation", "0.21", "0.20"],
            ["zeros", "0", "0"],
        ]
        .map(|row| row.map(str::to_owned))
        .to_vec(),
        bins: [bell(11.0), bell(14.0)],
        difference: Some((borders.clone(), bell(12.0))),
        borders,
    }
}

fn equal() -> Page {
    let mut page = pair(500, 1_000);
    page.verdict = Verdict::Equal;
    page.sentence = "Both models compute the same: only names differ".to_owned();
    page.sections.remove(0);
    page
}

/// Every text is an attack on the page, or hard to show.
fn hostile() -> Page {
    let texts = [
        "</script><script>document.title='hacked'</script>".to_owned(),
        "<!-- <script> --><img src=x onerror=\"document.title='hacked'\">".to_owned(),
        "'\"><svg onload=alert(1)>&amp;&lt;".to_owned(),
        "left\u{202e}gnp.exe\u{2066} right\u{2028}next".to_owned(),
        "x".repeat(10_000),
        "👩\u{200d}🚀👨\u{200d}👩\u{200d}👧 שלום עולם مرحبا e\u{301}\u{301}\u{301}".to_owned(),
        "\0\u{1}\u{7f}\u{85}\ttab\nnew line\r".to_owned(),
        "@octocat #1 `code` | **bold** [link](javascript:alert(1))".to_owned(),
        String::new(),
    ];
    let mut page = Page {
        title: texts[0].clone(),
        verdict: Verdict::Different,
        sentence: texts.join(" "),
        ..Page::default()
    };
    let mut changes = Vec::new();
    let mut rows = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let hostile = |is_changed| Piece {
            is_changed,
            binding: Some(number as u32),
            is_definition: true,
            ..piece(text.clone(), PieceRole::Name)
        };
        let hostile_line = |is_changed| Line {
            depth: number * 1000,
            pieces: vec![piece(text.clone(), PieceRole::Plain), hostile(is_changed)],
        };
        let anchor = format!("change-{}", number + 1);
        page.facts.push(Fact {
            name: text.clone(),
            value: text.clone(),
            mark: Mark::Changed,
        });
        rows.push(Row {
            left: Some(hostile_line(true)),
            right: Some(hostile_line(false)),
            mark: Mark::Changed,
            anchor: anchor.clone(),
            why: text.clone(),
        });
        let mut picture = ring(number as u32);
        picture.title.clone_from(text);
        picture.nodes[0].label.clone_from(text);
        picture.nodes[0].tooltip.clone_from(text);
        picture.edges[0].label.clone_from(text);
        changes.push(ChangeCard {
            anchor,
            kind: text.clone(),
            mark: Mark::Changed,
            text: text.clone(),
            count: u64::MAX,
            places: vec![text.clone(); 7],
            sides: Some([vec![hostile(true)], vec![hostile(false), hostile(true)]]),
            why: text.clone(),
            picture: Some(picture),
            tensor: Some(TensorChange {
                statistics: vec![[text.clone(), text.clone(), text.clone()]],
                borders: vec![f64::NAN, f64::INFINITY],
                bins: [vec![u64::MAX], vec![0, 1, 2]],
                difference: Some((vec![], vec![])),
            }),
        });
    }
    let cells = texts.to_vec();
    page.sections = vec![
        Section::Changes(changes),
        Section::Table(Table {
            title: texts[1].clone(),
            columns: cells.clone(),
            rows: vec![TableRow {
                cells,
                mark: Mark::Inserted,
            }],
        }),
        Section::Listing(Listing {
            title: texts[0].clone(),
            sides: texts[..2].to_vec(),
            rows,
        }),
    ];
    page
}
