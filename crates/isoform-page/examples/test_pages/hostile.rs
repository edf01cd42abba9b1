//! A page whose every text tries to leave its place.

use isoform_page::page::{
    ChangeCard, Fact, Line, Listing, Piece, PieceRole, Row, Section, Table, TableRow, TensorChange,
    Verdict,
};
use isoform_page::picture::{PictureBlock, PictureEdge, PictureNode};
use isoform_page::{Mark, Page, Picture};

/// Markup, an override of the direction of writing, controls, emoji and syntax of dot and
/// mermaid. The long text has no place to break.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(2)>",
        "\" onmouseover=\"alert(3)\" x=\"",
        "' onfocus='alert(4)' autofocus x='",
        "</style><style>body{display:none}</style>",
        "</title><h1>broken</h1>",
        "<!-- <![CDATA[ ]]> --> &lt;b&gt; &amp;",
        "left\u{202e}thgir\u{2066}",
        "\u{0}\u{1b}[31m\u{7f}\u{feff}\u{2028}\u{fffe}",
        "👩‍👩‍👧‍👦🇨🇭 é ü ß 漢字 עברית العربية",
        "a\"b\\c\nd|{e}<f>;%%g\"]--x",
        "${alert(5)}{{alert(6)}}`",
        "javascript:alert(7)",
        "",
    ]
    .map(str::to_owned)
    .into();
    texts.push("x".repeat(10_000));
    texts
}

/// A page where every field that takes text has a hostile one in turn.
pub(crate) fn page() -> Page {
    let owned = texts();
    let texts: Vec<&str> = owned.iter().map(String::as_str).collect();
    Page {
        title: texts[0].to_owned(),
        verdict: Verdict::Different,
        sentence: texts.concat(),
        facts: texts.iter().copied().map(fact).collect(),
        sections: vec![
            Section::Changes(texts.iter().copied().enumerate().map(card).collect()),
            Section::Table(Table {
                title: texts[1].to_owned(),
                columns: vec![texts[2].to_owned(), texts[3].to_owned()],
                rows: texts.iter().copied().map(table_row).collect(),
            }),
            Section::Listing(Listing {
                title: texts[4].to_owned(),
                sides: vec![texts[0].to_owned(), texts[14].to_owned()],
                rows: texts.iter().copied().enumerate().map(row).collect(),
                ..Listing::default()
            }),
            Section::Picture(picture()),
        ],
    }
}

/// A picture where every text is hostile.
pub(crate) fn picture() -> Picture {
    let owned = texts();
    let texts: Vec<&str> = owned.iter().map(String::as_str).collect();
    Picture {
        title: texts[0].to_owned(),
        nodes: texts.iter().copied().map(node).collect(),
        edges: (1..texts.len()).map(|to| edge(to, texts[to])).collect(),
        blocks: vec![PictureBlock {
            label: texts[1].to_owned(),
            count: 24,
            ..PictureBlock::default()
        }],
    }
}

fn fact(text: &str) -> Fact {
    Fact {
        name: text.to_owned(),
        value: text.to_owned(),
        mark: Mark::Changed,
    }
}

fn card((index, text): (usize, &str)) -> ChangeCard {
    ChangeCard {
        anchor: format!("hostile-{index}"),
        kind: text.to_owned(),
        mark: Mark::Changed,
        text: text.to_owned(),
        count: u64::MAX,
        places: vec![text.to_owned()],
        sides: Some([vec![piece(text)], vec![piece(text)]]),
        why: text.to_owned(),
        picture: Some(picture()),
        tensor: Some(TensorChange {
            statistics: vec![[text.to_owned(), text.to_owned(), text.to_owned()]],
            borders: vec![f64::NEG_INFINITY, f64::NAN, 1e308],
            bins: [vec![u64::MAX, 0], vec![0]],
            difference: Some((Vec::new(), vec![1])),
        }),
        changes: vec![index, usize::MAX],
    }
}

fn table_row(text: &str) -> TableRow {
    TableRow {
        cells: vec![text.to_owned(), text.to_owned(), text.to_owned()],
        mark: Mark::Inserted,
    }
}

fn row((index, text): (usize, &str)) -> Row {
    let line = Line {
        depth: index * 100,
        pieces: vec![piece(text)],
    };
    Row {
        left: Some(line.clone()),
        right: Some(line),
        mark: Mark::Changed,
        anchors: vec![format!("hostile-{index}")],
        why: text.to_owned(),
    }
}

fn piece(text: &str) -> Piece {
    Piece {
        text: text.to_owned(),
        role: PieceRole::Name,
        is_changed: true,
        binding: Some(u32::MAX),
        is_definition: false,
    }
}

fn node(text: &str) -> PictureNode {
    PictureNode {
        label: text.to_owned(),
        lines: vec![text.to_owned()],
        tooltip: text.to_owned(),
        mark: Mark::Changed,
        block: Some(0),
        anchor: Some("hostile-1".to_owned()),
        ..PictureNode::default()
    }
}

fn edge(to: usize, text: &str) -> PictureEdge {
    PictureEdge {
        from: to - 1,
        to,
        label: text.to_owned(),
        mark: Mark::Deleted,
    }
}
