//! No text of a page becomes markup, script or an attribute.

use isoform_page::page::{Cards, Page, Section};
use proptest::prelude::*;

use crate::samples::{card, contents, page_of};

const DATA: &str = "<script type=\"application/json\">";

/// The names of tags, and of attributes within tags, as a browser reads them from well-formed
/// markup: every `<` begins a tag, and every `"` within a tag ends or begins a value.
fn structure(html: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let mut tag = String::new();
        let mut is_value = false;
        for (place, character) in rest.char_indices() {
            match character {
                '"' => is_value = !is_value,
                '>' if !is_value => {
                    rest = &rest[place + 1..];
                    break;
                }
                _ if !is_value => tag.push(character),
                _ => {}
            }
        }
        // The contents of scripts and styles are not markup.
        for raw in ["script", "style"] {
            if tag == raw || tag.starts_with(&format!("{raw} ")) {
                let end = rest.find(&format!("</{raw}")).expect("the element ends");
                rest = &rest[end..];
            }
        }
        names.push(tag);
    }
    names
}

/// Texts with the characters and words that end contexts of HTML, scripts and JSON.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "</script>",
            "<!--",
            "-->",
            "<script>",
            "</style>",
            "]]>",
            "\"",
            "'",
            "&",
            "&lt;",
            "<",
            ">",
            "\\",
            "\u{2028}",
            "\u{202e}",
            "\0",
            "\n",
            "=",
            "`",
            "</title>",
            "</noscript>",
            "</template>",
            "onload=",
            "style=",
            "{",
            "}",
            "👩\u{200d}🚀",
            "שלום",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// A page with every kind of section.
fn with_cards(text: &str) -> Page {
    let mut page = page_of(text, 52, 12);
    page.sections.push(Section::Cards(Cards {
        title: text.to_owned(),
        noun: text.to_owned(),
        reason: text.to_owned(),
        cards: (100..152).map(|number| card(text, number)).collect(),
    }));
    page
}

#[track_caller]
fn assert_same_structure(text: &str) {
    let pages = |page: &Page| [page.html(), page.notebook_html()];
    let hostile = pages(&with_cards(text));
    // Symbols of invisible characters and cut texts add elements of their own.
    let is_plain = |text: &str| {
        text.chars().count() < 200
            && text
                .chars()
                .all(|c| c.is_ascii_graphic() || c == ' ' || c > '\u{3fff}' && c < '\u{d7ff}')
            && !text.trim().is_empty()
    };
    let bad = [
        "onload",
        "onerror",
        "style=",
        "javascript",
        "iframe",
        "img",
        "svg onload",
    ];
    // Texts beyond ASCII are isolated from the direction of the text around them.
    let harmless = if text.is_ascii() {
        "text"
    } else {
        "t\u{4e00}xt"
    };
    for (html, plain) in hostile.iter().zip(pages(&with_cards(harmless))) {
        let names = structure(html);
        if is_plain(text) {
            assert_eq!(names, structure(&plain), "{text:?}");
        }
        let is_bad = |name: &&String| bad.iter().any(|bad| name.contains(bad));
        assert_eq!(names.iter().find(is_bad), None, "{text:?}");
        let scripts =
            |names: &[String]| names.iter().filter(|name| name.contains("script")).count();
        assert_eq!(scripts(&names), scripts(&structure(&plain)), "{text:?}");
        assert!(
            !html.contains(['\0', '\u{202e}', '\u{2066}', '\u{2028}', '\u{85}']),
            "{text:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn texts_never_become_markup(text in hostile()) {
        assert_same_structure(&text);
    }
}

#[test]
fn text_beyond_ascii_has_the_structure_of_such_text() {
    assert_same_structure("\u{a4d0}");
}

#[test]
fn known_attacks_stay_texts() {
    for text in [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\" onload=\"alert(1)",
        "'><img src=x onerror=alert(1)>",
        "</noscript><script>alert(1)</script>",
        "</style><script>alert(1)</script>",
        "a\u{202e}b\u{2066}c\u{2028}d\0e\u{85}f",
    ] {
        assert_same_structure(text);
    }
}

#[test]
fn a_long_name_is_shown_in_part_and_kept_in_full() {
    for (character, [open, close]) in [("n", ["", ""]), ("\u{5d0}", ["<bdi>", "</bdi>"])] {
        let name = character.repeat(10_000);
        let html = page_of(&name, 1, 1).html();
        assert!(html.contains(&format!(
            "<summary>{open}{}{close}… (10,000 characters)</summary>",
            character.repeat(240)
        )));
        assert!(html.contains(&format!("<div>{open}{name}{close}</div>")));
        let title = contents(&html, "<title>", "</title>")[0];
        assert_eq!(title.chars().count(), 121);
    }
}

#[test]
fn a_page_makes_no_request_and_has_no_inline_handlers_or_styles() {
    let html = page_of("text", 60, 30).html();
    let markup: String = html.split(DATA).next().unwrap_or_default().to_owned();
    for word in [
        "http://", "https://", "//cdn", "url(", "@import", "src=", "fetch(", "eval(",
    ] {
        let allowed = markup.matches("http://www.w3.org/2000/svg").count();
        let count = markup.matches(word).count();
        assert_eq!(count, if word == "http://" { allowed } else { 0 }, "{word}");
    }
    for name in structure(&html) {
        assert!(!name.contains(" style") && !name.contains(" on"), "{name}");
    }
}
