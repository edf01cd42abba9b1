//! The parts that the script uses: the bar with filter, search and switches, and the help.

use maud::{Markup, html};

use super::text::{brief, grouped};
use super::{Page, Section};

/// The number of characters of a kind.
const KIND_CHARACTERS: usize = 160;

/// The keys and what they do.
const KEYS: [(&str, &str); 8] = [
    ("n", "next change"),
    ("p", "previous change"),
    ("/", "search; Enter and Shift+Enter go through the matches"),
    ("u", "listings in one column or two"),
    ("← →", "in a listing: from variable to variable"),
    ("↑ ↓", "in a listing: from line to line"),
    ("Enter", "on a variable: go to its definition"),
    ("?", "this help"),
];

/// The bar, which stays hidden without script.
pub(super) fn toolbar(page: &Page) -> Markup {
    let kinds = kinds(page);
    let has_columns = page
        .sections
        .iter()
        .any(|section| matches!(section, Section::Listing(listing) if listing.sides.len() > 1));
    html! {
        div.toolbar role="region" aria-label="Tools" hidden {
            span.stepping role="group" aria-label="Changes" {
                button.step type="button" data-step="-1" title="Previous change (p)" { "↑" span.heard { "Previous change" } }
                button.step type="button" data-step="1" title="Next change (n)" { "↓" span.heard { "Next change" } }
            }
            label.search {
                span.heard { "Search" }
                input type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false";
            }
            @if kinds.len() > 1 {
                details.kinds {
                    summary { "Kinds" }
                    fieldset {
                        legend { "Show these kinds" }
                        @for (kind, count) in &kinds {
                            label {
                                input type="checkbox" checked value=(kind);
                                " " bdi { (kind) } " (" (grouped(*count)) ")"
                            }
                        }
                    }
                }
            }
            @if has_columns {
                button.columns type="button" aria-pressed="false" title="One column (u)" { "Unified" }
            }
            button.theme type="button" aria-pressed="false" title="Dark or light" { "Dark" }
            button.keys type="button" title="Keys (?)" { "?" span.heard { "Help on keys" } }
            span.status role="status" aria-live="polite" {}
        }
    }
}

/// The kinds of changes with their numbers, in the order of the page.
fn kinds(page: &Page) -> Vec<(String, u64)> {
    let mut kinds: Vec<(String, u64)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for section in &page.sections {
        let Some((changes, _)) = section.cards() else {
            continue;
        };
        for change in changes.iter().filter(|change| !change.kind.is_empty()) {
            let place = *places.entry(change.kind.as_str()).or_insert(kinds.len());
            match kinds.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => kinds.push((brief(&change.kind, KIND_CHARACTERS), 1)),
            }
        }
    }
    kinds
}

/// The dialog that lists the keys.
pub(super) fn help() -> Markup {
    html! {
        dialog aria-labelledby="help-heading" {
            h2 id="help-heading" { "Keys" }
            dl.shortcuts {
                @for (key, effect) in KEYS { div { dt { kbd { (key) } } dd { (effect) } } }
            }
            button.close type="button" { "Close" }
        }
    }
}
