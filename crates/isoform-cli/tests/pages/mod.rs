//! Pages of differences: their contents as data, and `isoform diff --html` and `--format`.

mod commands;
mod coverage;
mod listings;
mod options;

use isoform_onnx::proto::ModelProto;
use isoform_onnx::report::{Report, ReportOptions};
use isoform_page::Page;
use isoform_page::page::{ChangeCard, Line, Listing, Piece, Section};

use crate::build::Folder;

/// The difference of two models, and its page.
fn compared(left: &ModelProto, right: &ModelProto, options: ReportOptions) -> (Report, Page) {
    let folder = Folder::new();
    let paths = [folder.model("a.onnx", left), folder.model("b.onnx", right)];
    let models = paths.map(|path| isoform_onnx::load(path).expect("a valid model"));
    let [left, right] = models.each_ref().map(|model| model.program());
    let report = options.report(left, right, &Default::default());
    let report = report.expect("comparable models");
    let page = isoform_cli::pages::page_of_models(&report, ["a.onnx", "b.onnx"]);
    (report, page)
}

fn page_of(left: &ModelProto, right: &ModelProto) -> Page {
    compared(left, right, ReportOptions::default()).1
}

fn cards(page: &Page) -> &[ChangeCard] {
    let cards = page.sections.iter().find_map(|section| match section {
        Section::Changes(cards) => Some(cards.as_slice()),
        _ => None,
    });
    cards.unwrap_or_default()
}

fn listing(page: &Page) -> &Listing {
    let listings = page.sections.iter().find_map(|section| match section {
        Section::Listing(listing) => Some(listing),
        _ => None,
    });
    listings.expect("a listing")
}

/// Pieces as text, with those that differ in `<>`.
fn marked(pieces: &[Piece]) -> String {
    let mut text = String::new();
    let mut is_open = false;
    for piece in pieces {
        if piece.is_changed != is_open {
            text.push(if is_open { '>' } else { '<' });
            is_open = piece.is_changed;
        }
        text.push_str(&piece.text);
    }
    if is_open {
        text.push('>');
    }
    text
}

fn line(line: &Option<Line>) -> String {
    line.as_ref()
        .map_or_else(String::new, |line| marked(&line.pieces))
}

/// The rows of a listing that are not the same: sign, left line, right line, anchor.
fn changed_rows(listing: &Listing) -> Vec<String> {
    let rows = listing.rows.iter();
    rows.filter(|row| row.mark != isoform_page::Mark::Same)
        .map(|row| {
            format!(
                "{} {} | {} {}",
                row.mark.sign(),
                line(&row.left),
                line(&row.right),
                row.anchors.join(" ")
            )
        })
        .collect()
}
