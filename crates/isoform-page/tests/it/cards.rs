//! Cards that are not changes: their heading, noun and reason instead of those of changes.

use isoform_page::Page;
use isoform_page::page::{Cards, ChangeCard, Section};

fn page(count: usize) -> Page {
    let card = |number: usize| ChangeCard {
        anchor: format!("rule-{number}"),
        kind: "exact".to_owned(),
        text: format!("rule <{number}>"),
        count: 2,
        why: "both sides are <the> same".to_owned(),
        ..ChangeCard::default()
    };
    Page {
        sections: vec![Section::Cards(Cards {
            title: "Rules & steps".to_owned(),
            noun: "rule".to_owned(),
            reason: "Why <it> is right".to_owned(),
            cards: (1..=count).map(card).collect(),
        })],
        ..Page::default()
    }
}

#[test]
fn cards_have_their_own_words() {
    let html = page(2).html();
    for text in [
        "<bdi>Rules &amp; steps</bdi>",
        "<article id=\"rule-2\"",
        "<summary>Why &lt;it&gt; is right</summary>",
        "The most important rules",
        "rule &lt;2&gt;",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("Why these two were matched"));
    assert!(page(0).html().contains("No rules."));
}

#[test]
fn all_cards_and_those_in_notebooks_have_the_words() {
    let html = page(100).html();
    assert_eq!(html.matches("<article").count(), 100);
    assert_eq!(html.matches("Why &lt;it&gt; is right").count(), 100);
    let fragment = page(100).notebook_html();
    assert!(fragment.contains("more rules"), "{fragment}");
    assert!(fragment.contains("Why &lt;it&gt; is right"));
}

#[test]
fn a_review_has_cards() {
    let markdown = page(2).markdown(None);
    assert!(markdown.contains("rule"), "{markdown}");
    assert!(
        markdown.contains("Why &lt;it&gt; is right: both sides are"),
        "{markdown}"
    );
}
