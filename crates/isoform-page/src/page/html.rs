//! The document: its head, the first screen, the sections, and what the script needs.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Fact, Listing, Page, Section, Verdict};
use super::{cards, chart, encode, listing, scenes, table, toolbar};
use crate::Picture;
use crate::page::embed::{policy, short_digest};
use crate::page::text::{SHOWN_CHARACTERS, beginning, brief, counted, long, shown, visible, whole};

const STYLE: &str = concat!(
    include_str!("../picture/style.css"),
    include_str!("style.css")
);
const SCRIPT: &str = concat!(
    include_str!("data.js"),
    include_str!("viewer.js"),
    include_str!("script.js")
);

/// The number of characters of a title in the bar of a browser.
const TITLE_CHARACTERS: usize = 120;

/// The number of nodes of a picture that is drawn as a whole.
const STATIC_NODES: usize = 300;

/// The number of changes in the overview on the first screen.
const OVERVIEW_CHANGES: usize = 7;

/// The page as one document.
pub(super) fn document(page: &Page) -> String {
    let title = if page.title.is_empty() {
        "Isoform"
    } else {
        &page.title
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(STYLE, SCRIPT));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("Isoform ", env!("CARGO_PKG_VERSION")));
                title { (brief(title, TITLE_CHARACTERS)) }
                style { (PreEscaped(STYLE)) }
            }
            body class="isoform-page" {
                a.skip href="#content" { "Skip to the contents" }
                (first_screen(page))
                (toolbar::toolbar(page))
                main id="content" tabindex="-1" {
                    @for (number, section) in page.sections.iter().enumerate() {
                        (section_markup(number, section))
                    }
                }
                footer {
                    p {
                        "Made by Isoform " (env!("CARGO_PKG_VERSION")) ". "
                        "The page is one file, and makes no requests."
                    }
                }
                (toolbar::help())
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string()
}

/// The verdict, the facts, the most important changes and the way to the sections.
fn first_screen(page: &Page) -> Markup {
    html! {
        header {
            @if !page.title.is_empty() { div.title { (long(&page.title)) } }
            (verdict(page))
            (facts(&page.facts))
            (overview(page))
            @if page.sections.len() > 1 {
                nav aria-label="Sections" {
                    ul {
                        @for (number, section) in page.sections.iter().enumerate() {
                            li { a href=(format!("#section-{number}")) { (entry(section)) } }
                        }
                    }
                }
            }
        }
    }
}

fn verdict(page: &Page) -> Markup {
    let (class, sign, word) = verdict_words(page.verdict);
    let sentence = page.sentence.trim();
    let start = beginning(sentence, SHOWN_CHARACTERS);
    html! {
        h1 class=(class) {
            @if !word.is_empty() {
                span.badge { span.sign aria-hidden="true" { (sign) } (word) }
                " "
            }
            span.sentence {
                @if let Some(start) = start { (shown(start)) "…" } @else { (shown(sentence)) }
            }
        }
        @if start.is_some() { (whole(sentence)) }
    }
}

/// The class, the sign and the word of a verdict.
pub(super) fn verdict_words(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Verdict::Shown => ("verdict shown", "", ""),
        Verdict::Equal => ("verdict equal", "=", "Equal"),
        Verdict::Different => ("verdict different", "≠", "Different"),
        Verdict::Good(word) => ("verdict equal", "✓", word),
        Verdict::Bad(word) => ("verdict bad", "✗", word),
    }
}

/// The facts as a list of terms.
pub(super) fn facts(facts: &[Fact]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl.facts {
                @for fact in facts {
                    div class=(format!("fact mark-{}", fact.mark.name())) {
                        dt { (long(&fact.name)) }
                        dd { (long(&fact.value)) }
                    }
                }
            }
        }
    }
}

/// The first changes in a line each, if there are several.
fn overview(page: &Page) -> Markup {
    let cards = page.sections.iter().find_map(Section::cards);
    html! {
        @if let Some((changes, words)) = cards.filter(|(changes, _)| changes.len() > 1) {
            ol.overview aria-label=(format!("The most important {}s", visible(words.noun))) {
                @for change in changes.iter().take(OVERVIEW_CHANGES) { (cards::overview_line(change)) }
            }
        }
    }
}

/// The name of a section in the list of sections, with its size.
fn entry(section: &Section) -> String {
    match section {
        Section::Changes(changes) => counted(changes.len(), "change"),
        Section::Cards(cards) => {
            let count = counted(cards.cards.len(), &visible(&cards.noun));
            format!("{} ({count})", heading(section))
        }
        Section::Table(table) => {
            format!(
                "{} ({})",
                heading(section),
                counted(table.rows.len(), "row")
            )
        }
        Section::Listing(listing) => {
            format!(
                "{} ({})",
                heading(section),
                counted(listing.rows.len(), "line")
            )
        }
        Section::Picture(picture) => {
            format!(
                "{} ({})",
                heading(section),
                counted(picture.nodes.len(), "node")
            )
        }
        Section::Chart(_) => heading(section),
    }
}

fn heading(section: &Section) -> String {
    let (given, usual) = match section {
        Section::Changes(_) => ("", "Changes"),
        Section::Cards(cards) => (cards.title.as_str(), "Parts"),
        Section::Table(table) => (table.title.as_str(), "Table"),
        Section::Listing(listing) => (listing.title.as_str(), "Listing"),
        Section::Picture(picture) => (picture.title.as_str(), "Picture"),
        Section::Chart(chart) => (chart.title.as_str(), "Chart"),
    };
    brief(
        if given.is_empty() { usual } else { given },
        TITLE_CHARACTERS,
    )
}

fn section_markup(number: usize, section: &Section) -> Markup {
    let id = format!("section-{number}");
    let label = format!("heading-{number}");
    html! {
        section id=(id) aria-labelledby=(label) tabindex="-1" {
            h2 id=(label) { bdi { (heading(section)) } }
            @match section {
                Section::Changes(_) | Section::Cards(_) => {
                    @if let Some((changes, words)) = section.cards() {
                        (cards::list(number, changes, words))
                    }
                }
                Section::Table(table) => (table::table(table)),
                Section::Listing(listing) => (listing_markup(listing)),
                Section::Picture(picture) => (picture_markup(number, picture)),
                Section::Chart(chart) => (chart::chart(chart)),
            }
        }
    }
}

fn listing_markup(listing: &Listing) -> Markup {
    let sides = if listing.sides.len() > 1 {
        "listing two-sided"
    } else {
        "listing"
    };
    html! {
        (note(listing))
        div class=(sides) data-title=(brief(&listing.title, TITLE_CHARACTERS)) {}
        script type="application/json" { (PreEscaped(encode::listing(listing))) }
        noscript { (listing::text(listing)) }
    }
}

fn note(listing: &Listing) -> Markup {
    html! { @if !listing.note.is_empty() { p.note { (shown(&listing.note)) } } }
}

/// A picture that is small as SVG, and a large one as data for the script, which shows parts.
fn picture_markup(number: usize, picture: &Picture) -> Markup {
    let has_blocks = picture.blocks.iter().any(|block| block.is_collapsed);
    let shown = if has_blocks {
        picture.collapsed().nodes.len()
    } else {
        picture.nodes.len()
    };
    let svg = (shown <= STATIC_NODES).then(|| picture.svg_in_page(&format!("section-{number}")));
    let is_interactive = has_blocks || svg.is_none();
    html! {
        @if is_interactive {
            div.viewer {}
            script type="application/json" { (PreEscaped(scenes::picture(picture))) }
        }
        @if let (true, Some(svg)) = (is_interactive, &svg) {
            noscript { figure.whole { (PreEscaped(svg)) } }
        } @else if let Some(svg) = &svg {
            figure.whole tabindex="0" role="group" aria-label="Picture" { (PreEscaped(svg)) }
        } @else {
            noscript { p { (counted(shown, "node")) ", which need a browser with scripts." } }
        }
        @if picture.title.chars().count() > TITLE_CHARACTERS {
            div.caption { (long(&picture.title)) }
        }
    }
}

/// The contents of a page for the output of a notebook.
pub(super) fn fragment(page: &Page) -> String {
    let prefix = fragment_prefix(page);
    let shared = STYLE.split("/* The document").next().unwrap_or_default();
    let (class, sign, word) = verdict_words(page.verdict);
    let markup = html! {
        div.isoform-page.isoform-notebook {
            style { (PreEscaped(shared)) }
            @if !page.title.is_empty() { div.title { (long(&page.title)) } }
            div class=(class) role="heading" aria-level="3" {
                @if !word.is_empty() { b.badge { (sign) " " (word) } " " }
                strong.sentence { (long(page.sentence.trim())) }
            }
            (facts(&page.facts))
            @for (number, section) in page.sections.iter().enumerate() {
                @match section {
                    Section::Changes(_) | Section::Cards(_) => {
                        @if let Some((changes, words)) = section.cards() {
                            (cards::first(changes, words, &format!("{prefix}-{number}")))
                        }
                    }
                    Section::Table(table) => {
                        div.caption { b { (heading(section)) } }
                        (table::beginning_of(table))
                    }
                    Section::Listing(listing) => {
                        details open[page.verdict == Verdict::Shown] {
                            summary { (entry(section)) }
                            (note(listing))
                            (listing::text(listing))
                        }
                    }
                    Section::Picture(picture) => {
                        @if picture.collapsed().nodes.len() <= STATIC_NODES {
                            figure.whole tabindex="0" role="group" aria-label="Picture" {
                                (PreEscaped(cards::without_links(picture).svg_in_page(&format!("{prefix}-{number}"))))
                            }
                        } @else {
                            div.caption { (entry(section)) }
                        }
                    }
                    Section::Chart(chart) => {
                        div.caption { b { (heading(section)) } }
                        (chart::chart(chart))
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// A prefix of ids that differs between the fragments of different pages, which stand next to
/// each other in a notebook.
fn fragment_prefix(page: &Page) -> String {
    let mut texts = vec![page.title.as_str(), page.sentence.as_str()];
    for section in &page.sections {
        let cards = section.cards().map_or(&[][..], |(cards, _)| cards);
        texts.extend(cards.iter().take(20).map(|card| card.text.as_str()));
        if let Section::Picture(picture) = section {
            texts.extend(picture.nodes.iter().map(|node| node.label.as_str()));
        }
    }
    short_digest(&texts)
}
