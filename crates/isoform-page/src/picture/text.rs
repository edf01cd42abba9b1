//! Text from files, made harmless: neutral, short, escaped, and measured.

/// The longest text that is kept for tooltips, in characters.
const LONGEST: usize = 2_000;

/// Makes every character visible that hides, moves or reorders text: control and bidi
/// characters become their numbers. Line breaks stay if `has_lines`, and become spaces
/// otherwise. O(n), for at most the first [`LONGEST`] characters.
pub(crate) fn neutral(text: &str, has_lines: bool) -> String {
    let mut shown = String::with_capacity(text.len().min(LONGEST));
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            shown.push('…');
            break;
        }
        match c {
            '\n' if has_lines => shown.push(c),
            '\n' | '\t' | '\r' => shown.push(' '),
            _ if is_hidden(c) => shown.push_str(&format!("⟨{:04X}⟩", u32::from(c))),
            _ => shown.push(c),
        }
    }
    shown
}

/// True for control characters, bidi controls, invisible characters and characters that
/// XML forbids. The joiners of emoji and of Indic scripts are not among them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            u32::from(c),
            0x61C | 0xAD | 0x180E | 0x200B | 0x200E | 0x200F | 0x2028 | 0x2029
                | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB
                | 0xFFFE | 0xFFFF | 0xE0000..=0xE007F
        )
}

/// The beginning and the end of a text of more than `most` characters. The end gets more
/// room with `prefers_end`, because names of one model begin alike.
pub(crate) fn cut(text: &str, most: usize, prefers_end: bool) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end = if prefers_end { most * 2 / 3 } else { 0 };
    let head: String = text.chars().take(most - end - 1).collect();
    let tail: String = text.chars().skip(count - end).collect();
    format!("{head}…{tail}")
}

/// Escapes a text for XML, for contents as well as for attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// The width of a text in a proportional font, in parts of the font's size; rather too
/// large than too small.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum()
}

fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.36,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | ' ' | '-' => 0.44,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '×' => 0.98,
        'A'..='Z' => 0.74,
        '\0'..='\u{7f}' => 0.62,
        '\u{1100}'.. if !('\u{2000}'..='\u{2bff}').contains(&c) => 1.1,
        _ => 0.72,
    }
}
