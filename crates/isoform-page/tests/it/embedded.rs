//! The policy, the script and the data inside of pages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use isoform_page::Picture;
use isoform_page::page::{Page, Section};
use isoform_page::picture::PictureNode;

use crate::samples::{contents, page_of};

fn data(html: &str) -> Vec<Value> {
    let parts = contents(html, "<script type=\"application/json\">", "</script>");
    parts
        .iter()
        .map(|part| serde_json::from_str(part).expect("data is JSON"))
        .collect()
}

#[test]
fn the_policy_allows_the_one_style_and_the_one_script() {
    let html = page_of("text", 1, 1).html();
    let policy = contents(
        &html,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        "\">",
    )[0];
    let style = contents(&html, "<style>", "</style>");
    let script = contents(&html, "<script>", "</script>");
    assert_eq!((style.len(), script.len()), (1, 1));
    let hash = |source: &str| STANDARD.encode(Sha256::digest(source));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; \
             base-uri 'none'; form-action 'none'",
            hash(style[0]),
            hash(script[0])
        )
    );
    assert!(html.find("Content-Security-Policy") < html.find("<style>"));
}

#[test]
fn the_script_cannot_end_early() {
    let html = page_of("text", 0, 0).html();
    let start = html.rfind("<script>").expect("a script");
    let end = html.rfind("</script>").expect("the end of the script");
    let script = html[start + 8..end].to_lowercase();
    assert!(script.contains("use strict") && script.trim_end().ends_with("start();"));
    assert!(
        !script.contains("</script") && !script.contains("<!--") && !script.contains("<script")
    );
}

#[test]
fn data_survives_the_page() {
    let text = "</script><!--\u{2028}\"\\\u{202e}x";
    let visible = "</script><!--⟨U+2028⟩\"\\⟨U+202E⟩x";
    let html = page_of(text, 52, 10).html();
    let data = data(&html);
    assert_eq!(data.len(), 1);
    assert_eq!(data[0]["texts"][0], "");
    assert_eq!(html.matches("<article").count(), 52);
    assert!(html.contains("data-changes=\"52 77\""));
    assert_eq!(data[0]["sides"][0], visible);
    let rows = data[0]["rows"].as_array().expect("rows");
    let marks: Vec<u64> = rows.iter().filter_map(|row| row[0].as_u64()).collect();
    assert_eq!(marks, [0, 0, 0, 2, 3, 1, 0, 0, 0, 0]);
    let lengths: Vec<usize> = rows
        .iter()
        .filter_map(|row| row.as_array().map(Vec::len))
        .collect();
    assert_eq!(lengths, [2, 2, 2, 5, 5, 5, 2, 2, 2, 2]);
}

#[test]
fn pieces_are_split_at_symbols_and_joined_without_a_difference() {
    use isoform_page::page::{Line, Listing, Piece, PieceRole, Row};
    let plain = |text: &str| Piece {
        text: text.to_owned(),
        ..Piece::default()
    };
    let variable = Piece {
        text: "%1".to_owned(),
        role: PieceRole::Name,
        is_changed: true,
        binding: Some(9),
        is_definition: true,
    };
    let line = Line {
        depth: 2,
        pieces: vec![plain("a"), plain("b\n"), variable, plain("")],
    };
    let row = Row {
        left: Some(line.clone()),
        right: Some(line),
        ..Row::default()
    };
    let listing = Listing {
        rows: vec![row],
        ..Listing::default()
    };
    let page = Page {
        sections: vec![Section::Listing(listing)],
        ..Page::default()
    };
    let data = &data(&page.html())[0];
    assert_eq!(data["texts"].to_string(), r#"["","ab","⏎","%1"]"#);
    assert_eq!(
        data["rows"].to_string(),
        format!(
            "[[0,[2,{},{},{},9]]]",
            64,
            2 * 64 + 6,
            3 * 64 + 2 + 8 + 16 + 32
        )
    );
}

#[test]
fn a_thousand_changed_nodes_with_pictures_stay_below_the_limit() {
    let html = page_of("conv_with_a_name", 1_000, 1_000).html();
    assert!(html.len() <= 1_500_000, "{} bytes", html.len());
}

#[test]
fn large_listings_take_few_bytes_for_a_row() {
    let bytes = |rows| page_of("some text", 0, rows).html().len();
    let each = (bytes(20_000) - bytes(10_000)) / 10_000;
    assert!(each < 60, "{each} bytes");
}

#[test]
fn large_pictures_are_data_and_small_ones_are_drawn() {
    let page = |nodes| Page {
        sections: vec![Section::Picture(Picture {
            nodes: vec![
                PictureNode {
                    label: "node".to_owned(),
                    ..PictureNode::default()
                };
                nodes
            ],
            ..Picture::default()
        })],
        ..Page::default()
    };
    let (small, large) = (page(300).html(), page(301).html());
    assert_eq!((data(&small).len(), data(&large).len()), (0, 1));
    assert!(small.contains("<svg") && !large.contains("<svg"));
    assert_eq!(
        data(&large)[0]["scenes"][0][4].as_array().map(Vec::len),
        Some(301)
    );
}
