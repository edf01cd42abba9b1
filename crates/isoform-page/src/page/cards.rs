//! Changes as cards: the sentence, both sides, places, the reason of the match, a picture and
//! the elements of tensors.

use maud::{Markup, PreEscaped, html};

use super::text::{
    SHOWN_CHARACTERS, beginning, brief, counted, grouped, long, runs, shown, symbols, visible,
    whole,
};
use super::{CardWords, ChangeCard, Piece, PieceRole, tensor};
use crate::{Mark, Picture};

/// The number of cards in a notebook.
const NOTEBOOK_CARDS: usize = 20;

/// The number of places of a card that are shown without a click.
const SHOWN_PLACES: usize = 5;

/// The number of characters of a change in a list.
const LINE_CHARACTERS: usize = 160;

/// Where a card stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In a document, where it has an anchor.
    Page,
    /// In the output of a notebook, next to other outputs.
    Notebook,
}

/// All cards, as elements of the document: links, searches of the browser and readers without
/// script reach each of them, and browsers lay out those in view.
pub(super) fn list(section: usize, changes: &[ChangeCard], words: CardWords<'_>) -> Markup {
    html! {
        div.changes {
            @for (number, change) in changes.iter().enumerate() {
                (card(change, &format!("s{section}-{number}"), Form::Page, words.reason))
            }
        }
        @if changes.is_empty() { p { "No " (visible(words.noun)) "s." } }
    }
}

/// The first cards, and the number of those that are left out.
/// The prefix makes the ids of pictures unique among the outputs of a notebook.
pub(super) fn first(changes: &[ChangeCard], words: CardWords<'_>, prefix: &str) -> Markup {
    let rest = changes.len().saturating_sub(NOTEBOOK_CARDS);
    html! {
        @for (number, change) in changes.iter().take(NOTEBOOK_CARDS).enumerate() {
            (card(change, &format!("{prefix}-{number}"), Form::Notebook, words.reason))
        }
        @if rest > 0 { p { (counted(rest, &format!("more {}", visible(words.noun)))) } }
    }
}

/// A change as a line of the overview, which leads to the card of the change.
pub(super) fn overview_line(change: &ChangeCard) -> Markup {
    html! {
        li class=(format!("mark-{}", change.mark.name())) {
            (sign(change.mark))
            a href=(format!("#{}", change.anchor)) { (shown(&brief(&change.text, LINE_CHARACTERS))) }
            (times(change.count))
        }
    }
}

/// The sign of a side, and its word for readers who hear the page.
pub(super) fn sign(mark: Mark) -> Markup {
    html! {
        @if mark != Mark::Same {
            span.sign role="img" aria-label=(mark.name()) { (mark.sign()) }
        }
    }
}

fn times(count: u64) -> Markup {
    html! { @if count > 1 { " " span.times { "× " (grouped(count)) } } }
}

/// The prefix makes the ids inside of the card's picture unique in the page, and is used
/// for a missing anchor.
fn card(change: &ChangeCard, prefix: &str, form: Form, reason: &str) -> Markup {
    let class = format!("change mark-{}", change.mark.name());
    let in_page = form == Form::Page;
    let anchor = if change.anchor.is_empty() {
        prefix
    } else {
        &change.anchor
    };
    let anchor = in_page.then_some(anchor);
    html! {
        article id=[anchor] class=(class) data-changes=[numbers(&change.changes)] {
            div.head {
                (card_heading(change, form))
                (times(change.count))
                @if !change.kind.is_empty() { " " span.kind { (shown(&brief(&change.kind, LINE_CHARACTERS))) } }
            }
            @if beginning(&change.text, SHOWN_CHARACTERS).is_some() { (whole(&change.text)) }
            @if let Some(sides) = &change.sides { (both_sides(sides)) }
            (places(&change.places))
            @if !change.why.is_empty() {
                details { summary { (visible(reason)) } div { (long(&change.why)) } }
            }
            @if let Some(picture) = &change.picture {
                figure tabindex=[in_page.then_some("0")] aria-label="Picture of the change" {
                    @match form {
                        Form::Page => (PreEscaped(picture.svg_in_page(prefix))),
                        Form::Notebook => (PreEscaped(without_links(picture).svg_in_page(prefix))),
                    }
                }
            }
            @if let Some(change) = &change.tensor { (tensor::change(change)) }
        }
    }
}

/// The picture for a place without the anchors of a page.
pub(super) fn without_links(picture: &Picture) -> Picture {
    let mut picture = picture.clone();
    for node in &mut picture.nodes {
        node.anchor = None;
    }
    picture
}

fn numbers(changes: &[usize]) -> Option<String> {
    let numbers: Vec<String> = changes.iter().map(usize::to_string).collect();
    (!numbers.is_empty()).then(|| numbers.join(" "))
}

fn card_heading(change: &ChangeCard, form: Form) -> Markup {
    let start = beginning(&change.text, SHOWN_CHARACTERS);
    let text = html! {
        (sign(change.mark))
        (shown(start.unwrap_or(&change.text)))
        @if start.is_some() { "…" }
    };
    match form {
        Form::Page => html! { h3 { (text) } },
        Form::Notebook => html! { strong { (text) } },
    }
}

fn both_sides([left, right]: &[Vec<Piece>; 2]) -> Markup {
    html! {
        div.sides {
            @if !left.is_empty() { div.left { span.heard { "Before: " } code { (pieces(left, true)) } } }
            @if !right.is_empty() { div.right { span.heard { "After: " } code { (pieces(right, false)) } } }
        }
    }
}

/// Pieces as markup: those that differ as deletions on the left and insertions on the right.
pub(super) fn pieces(pieces: &[Piece], is_left: bool) -> Markup {
    html! {
        @for piece in pieces {
            @if piece.is_line_end() {
                "\n"
            } @else if piece.is_changed && is_left {
                del { (piece_markup(piece)) }
            } @else if piece.is_changed {
                ins { (piece_markup(piece)) }
            } @else {
                (piece_markup(piece))
            }
        }
    }
}

fn piece_markup(piece: &Piece) -> Markup {
    let role = match piece.role {
        PieceRole::Plain | PieceRole::Name => None,
        PieceRole::Operator => Some("operator"),
        PieceRole::Field => Some("field"),
        PieceRole::Literal => Some("literal"),
        PieceRole::Comment => Some("comment"),
    };
    let is_plain = role.is_none() && piece.binding.is_none() && piece.text.is_ascii();
    let class = match (role, piece.is_definition) {
        (role, false) => role.map(str::to_owned),
        (Some(role), true) => Some(format!("{role} definition")),
        (None, true) => Some("definition".to_owned()),
    };
    html! {
        @if is_plain && runs(&piece.text).all(|run| !run.is_symbol) {
            (cut(&piece.text))
        } @else {
            bdi class=[class] data-binding=[piece.binding] { (cut(&piece.text)) }
        }
    }
}

fn cut(text: &str) -> Markup {
    match beginning(text, SHOWN_CHARACTERS) {
        Some(_) => long(text),
        None => symbols(text),
    }
}

fn places(places: &[String]) -> Markup {
    let list = |places: &[String]| {
        html! { ul.places { @for place in places { li { (long(place)) } } } }
    };
    html! {
        @if places.len() > SHOWN_PLACES {
            details { summary { (counted(places.len(), "place")) } (list(places)) }
        } @else if !places.is_empty() {
            (list(places))
        }
    }
}
