//! A small page as a whole, without its style and script.

use crate::samples::{contents, page_of};

#[test]
fn a_small_page() {
    let html = page_of("a < b", 1, 6).html();
    let body = contents(&html, "<body class=\"isoform-page\">", "<script>")[0];
    // A line for each block makes the snapshot readable.
    let mut lines = body.to_owned();
    for tag in [
        "<div",
        "<section",
        "<article",
        "<h1",
        "<h2",
        "<h3",
        "<details",
        "<figure",
        "<table",
        "<noscript",
        "<script",
        "<nav",
        "<main",
        "<footer",
        "<dialog",
        "<svg",
        "<ol",
        "<ul",
        "<dl",
        "<pre",
    ] {
        lines = lines.replace(tag, &format!("\n{tag}"));
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn a_small_fragment_for_notebooks() {
    let fragment = page_of("a < b", 1, 6).notebook_html();
    let (start, rest) = fragment.split_once("<style>").expect("a style");
    let (_, body) = rest.split_once("</style>").expect("the end of the style");
    insta::assert_snapshot!(format!("{start}\n{}", body.replace("<div", "\n<div")));
    assert!(!fragment.contains("<script"));
}

#[test]
fn fragments_share_no_ids_and_have_no_links() {
    let [one, other] = ["one", "other"].map(|text| page_of(text, 2, 1).notebook_html());
    let ids = |html: &str| -> Vec<String> {
        let ids = contents(html, " id=\"", "\"");
        ids.into_iter().map(str::to_owned).collect()
    };
    let (left, right) = (ids(&one), ids(&other));
    assert!(
        left.len() > 3 && left.iter().all(|id| !right.contains(id)),
        "{left:?}"
    );
    let mut unique = left.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), left.len());
    assert!(!one.contains("href="));
}
