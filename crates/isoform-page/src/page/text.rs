//! Text from files as people can read it: invisible characters get symbols, directions are
//! isolated, and long texts are cut with the rest on request.

use std::borrow::Cow;

use maud::{Markup, html};

/// The number of characters that a heading, a cell or a piece shows at once.
pub(super) const SHOWN_CHARACTERS: usize = 240;

/// A run of text between two changes of visibility.
pub(super) struct Run<'t> {
    /// The text, or the symbol of one invisible character.
    pub text: Cow<'t, str>,
    /// True for a symbol.
    pub is_symbol: bool,
}

/// Splits a text into runs that can be read and symbols for the characters that cannot.
/// Takes linear time.
pub(super) fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if is_invisible(first) {
            rest = &rest[first.len_utf8()..];
            return Some(Run {
                text: Cow::Owned(symbol(first)),
                is_symbol: true,
            });
        }
        let end = rest.find(is_invisible).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Run {
            text: Cow::Borrowed(text),
            is_symbol: false,
        })
    })
}

/// The text with symbols for invisible characters, for places without markup.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        Cow::Owned(runs(text).map(|run| run.text).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text as markup, isolated from the direction of the text around it. ASCII has no character
/// of another direction than the page, so it needs no element.
pub(super) fn shown(text: &str) -> Markup {
    html! {
        @if text.is_ascii() { (symbols(text)) } @else { bdi { (symbols(text)) } }
    }
}

/// The text as markup with symbols for invisible characters.
pub(super) fn symbols(text: &str) -> Markup {
    html! {
        @for run in runs(text) {
            @if run.is_symbol { span.control { (run.text) } } @else { (run.text) }
        }
    }
}

/// The text as markup; of a long text only the beginning, which opens the rest.
pub(super) fn long(text: &str) -> Markup {
    let Some(start) = beginning(text, SHOWN_CHARACTERS) else {
        return shown(text);
    };
    html! {
        details.cut {
            summary { (shown(start)) "… (" (grouped(text.chars().count() as u64)) " characters)" }
            div { (shown(text)) }
        }
    }
}

/// The whole of a text whose beginning is shown before.
pub(super) fn whole(text: &str) -> Markup {
    html! {
        details.cut {
            summary { "The whole sentence (" (grouped(text.chars().count() as u64)) " characters)" }
            div { (shown(text)) }
        }
    }
}

/// The text as the head of a row or a column, which readers must be able to hear.
pub(super) fn head(text: &str) -> Markup {
    match text.trim() {
        "" => html! { span.heard { "no name" } },
        _ => long(text),
    }
}

/// The text without markup, cut to a number of characters.
pub(super) fn brief(text: &str, characters: usize) -> String {
    match beginning(text, characters) {
        Some(start) => format!("{}…", visible(start)),
        None => visible(text).into_owned(),
    }
}

/// The first characters of a text that has more of them.
pub(super) fn beginning(text: &str, characters: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(characters)?;
    Some(&text[..end])
}

/// A number with commas between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and a noun, which gets an `s` unless the number is one.
pub(super) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number as u64))
}

/// True for characters that take no place, move other characters, or end a line. The joiners
/// U+200C and U+200D stay: many scripts and emoji need them.
fn is_invisible(character: char) -> bool {
    let is_noncharacter = u32::from(character) & 0xfffe == 0xfffe;
    character.is_control()
        || is_noncharacter
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'
                | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}' | '\u{fdd0}'..='\u{fdef}'
        )
}

fn symbol(character: char) -> String {
    match character {
        '\n' => "⏎".to_owned(),
        '\t' => "⇥".to_owned(),
        _ => format!("⟨U+{:04X}⟩", u32::from(character)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_get_symbols() {
        assert_eq!(
            visible("a\u{202e}b\n\0\u{7f}\u{85}\u{fffe}\u{10ffff}"),
            "a⟨U+202E⟩b⏎⟨U+0000⟩⟨U+007F⟩⟨U+0085⟩⟨U+FFFE⟩⟨U+10FFFF⟩"
        );
        assert_eq!(
            visible("plain 👩\u{200d}🚀 שלום"),
            "plain 👩\u{200d}🚀 שלום"
        );
        assert!(!runs("\u{2028}<").any(|run| run.text.contains('\u{2028}')));
    }

    #[test]
    fn a_long_text_shows_its_beginning_and_keeps_the_rest() {
        let text = "é".repeat(10_000);
        let markup = long(&text).into_string();
        assert!(markup.contains("(10,000 characters)"));
        assert_eq!(markup.matches('é').count(), 10_000 + SHOWN_CHARACTERS);
        assert_eq!(brief(&text, 3), "ééé…");
        assert_eq!(brief("abc", 3), "abc");
    }

    #[test]
    fn numbers_are_grouped() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2000, "line"), "2,000 lines");
    }
}
