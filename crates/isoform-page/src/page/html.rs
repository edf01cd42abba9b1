//! The document: its head, the first screen, the sections, and what the script needs.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::cards::{self, Form};
use super::{Fact, Listing, Page, Section, Verdict, encode, listing, scenes, table, toolbar};
use crate::Picture;
use crate::page::embed::policy;
use crate::page::text::{SHOWN_CHARACTERS, beginning, brief, counted, long, shown};

const STYLE: &str = concat!(
    include_str!("../picture/style.css"),
    include_str!("style.css")
);
const SCRIPT: &str = include_str!("script.js");

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
        @if start.is_some() { (long(sentence)) }
    }
}

/// The class, the sign and the word of a verdict.
pub(super) fn verdict_words(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Verdict::Shown => ("verdict shown", "", ""),
        Verdict::Equal => ("verdict equal", "=", "Equal"),
        Verdict::Different => ("verdict different", "≠", "Different"),
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
    let changes = page.sections.iter().find_map(|section| match section {
        Section::Changes(changes) if changes.len() > 1 => Some(changes),
        _ => None,
    });
    html! {
        @if let Some(changes) = changes {
            ol.overview aria-label="The most important changes" {
                @for change in changes.iter().take(OVERVIEW_CHANGES) { (cards::overview_line(change)) }
            }
        }
    }
}

/// The name of a section in the list of sections, with its size.
fn entry(section: &Section) -> String {
    match section {
        Section::Changes(changes) => counted(changes.len(), "change"),
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
    }
}

fn heading(section: &Section) -> String {
    let (given, usual) = match section {
        Section::Changes(_) => ("", "Changes"),
        Section::Table(table) => (table.title.as_str(), "Table"),
        Section::Listing(listing) => (listing.title.as_str(), "Listing"),
        Section::Picture(_) => ("", "Picture"),
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
                Section::Changes(changes) => (cards::list(number, changes)),
                Section::Table(table) => (table::table(table)),
                Section::Listing(listing) => (listing_markup(listing)),
                Section::Picture(picture) => (picture_markup(number, picture)),
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
        div class=(sides) data-title=(brief(&listing.title, TITLE_CHARACTERS)) {}
        script type="application/json" { (PreEscaped(encode::listing(listing))) }
        noscript { (listing::text(listing)) }
    }
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
        @if !picture.title.is_empty() { div.caption { (long(&picture.title)) } }
    }
}

/// The contents of a page for the output of a notebook.
pub(super) fn fragment(page: &Page) -> String {
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
            @for section in &page.sections {
                @match section {
                    Section::Changes(changes) => (cards::first(changes, Form::Notebook)),
                    Section::Table(table) => {
                        div.caption { b { (heading(section)) } }
                        (table::beginning_of(table))
                    }
                    Section::Listing(listing) => {
                        details {
                            summary { (entry(section)) }
                            (listing::text(listing))
                        }
                    }
                    Section::Picture(picture) => {
                        @if picture.nodes.len() <= STATIC_NODES {
                            figure.whole { (PreEscaped(picture.svg_in_page("isoform-notebook"))) }
                        } @else {
                            div.caption { (entry(section)) }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}
