//! Pages for the tests.

use isoform_page::Mark;
use isoform_page::page::{
    ChangeCard, Fact, Line, Listing, Page, Piece, PieceRole, Row, Section, Table, TableRow,
    TensorChange, Verdict,
};
use isoform_page::picture::{Picture, PictureEdge, PictureNode};

/// A page in which every text is `text`, with a number of changes and of rows.
pub(crate) fn page_of(text: &str, changes: usize, rows: usize) -> Page {
    let owned = || text.to_owned();
    Page {
        title: owned(),
        verdict: Verdict::Different,
        sentence: owned(),
        facts: vec![Fact {
            name: owned(),
            value: owned(),
            mark: Mark::Inserted,
        }],
        sections: vec![
            Section::Changes((1..=changes).map(|number| card(text, number)).collect()),
            Section::Table(Table {
                title: owned(),
                columns: vec![owned(), owned()],
                rows: vec![
                    TableRow {
                        cells: vec![owned(), owned()],
                        mark: Mark::Deleted
                    };
                    2
                ],
            }),
            Section::Listing(Listing {
                title: owned(),
                sides: vec![owned(), owned()],
                rows: (0..rows).map(|number| row(text, number)).collect(),
                ..Listing::default()
            }),
            Section::Picture(picture(text)),
        ],
    }
}

/// A change with everything that a card can have. Of many changes, as the commands write them,
/// the first hundred have pictures and elements of tensors.
pub(crate) fn card(text: &str, number: usize) -> ChangeCard {
    let owned = || text.to_owned();
    let is_first = number <= 100;
    ChangeCard {
        anchor: format!("change-{number}"),
        kind: owned(),
        mark: Mark::Changed,
        text: owned(),
        count: 3,
        places: vec![owned(); 7],
        sides: Some([
            vec![piece(text, true)],
            vec![piece(text, false), piece(text, true)],
        ]),
        why: owned(),
        picture: is_first.then(|| picture(text)),
        changes: vec![number, 77],
        tensor: is_first.then(|| TensorChange {
            statistics: vec![[owned(), owned(), owned()]],
            borders: vec![0.0, 1.0, 2.0],
            bins: [vec![1, 2], vec![3, 4]],
            difference: Some((vec![0.0, 1.0], vec![7])),
        }),
    }
}

pub(crate) fn row(text: &str, number: usize) -> Row {
    let line = Line {
        depth: number % 5,
        pieces: vec![piece(text, false), piece(text, true)],
    };
    let (mark, left, right) = match number % 10 {
        3 => (Mark::Deleted, Some(line), None),
        4 => (Mark::Inserted, None, Some(line)),
        5 => (
            Mark::Changed,
            Some(line),
            Some(Line {
                depth: 1,
                pieces: vec![piece(text, true)],
            }),
        ),
        _ => (Mark::Same, Some(line.clone()), Some(line)),
    };
    let is_change = mark != Mark::Same;
    Row {
        left,
        right,
        mark,
        anchors: if is_change {
            vec![format!("change-{number}")]
        } else {
            Vec::new()
        },
        why: if mark == Mark::Changed {
            text.to_owned()
        } else {
            String::new()
        },
    }
}

pub(crate) fn piece(text: &str, is_changed: bool) -> Piece {
    Piece {
        text: text.to_owned(),
        role: PieceRole::Name,
        is_changed,
        binding: Some(7),
        is_definition: is_changed,
    }
}

fn picture(text: &str) -> Picture {
    let node = |mark| PictureNode {
        label: text.to_owned(),
        lines: vec![text.to_owned()],
        tooltip: text.to_owned(),
        mark,
        anchor: Some(text.to_owned()),
        ..PictureNode::default()
    };
    Picture {
        title: text.to_owned(),
        nodes: vec![node(Mark::Same), node(Mark::Inserted)],
        edges: vec![PictureEdge {
            from: 0,
            to: 1,
            label: text.to_owned(),
            mark: Mark::Inserted,
        }],
        blocks: Vec::new(),
    }
}

/// The contents of all elements with the start tag, in the order of the document.
pub(crate) fn contents<'h>(html: &'h str, start: &str, end: &str) -> Vec<&'h str> {
    let parts = html.split(start).skip(1);
    parts
        .map(|part| part.split(end).next().unwrap_or_default())
        .collect()
}
