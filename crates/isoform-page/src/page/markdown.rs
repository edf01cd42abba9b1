//! The summary of a page as Markdown for a pull request: short enough for a comment, and
//! escaped so that names of programs cannot mention people, link or format.

use super::html::verdict_words;
use super::text::{beginning, counted, grouped, runs, visible};
use super::{ChangeCard, Fact, Page, Piece, Section, Table};

/// The number of UTF-16 code units that a summary stays below. GitHub refuses comments with
/// more than 65,536.
const MOST_UNITS: usize = 60_000;

/// The part of the units that is kept for closing tags, the rest of the changes and the link.
const KEPT_UNITS: usize = 1_000;

/// The number of changes in the table that is visible at once.
const TABLE_CHANGES: usize = 20;

/// The number of characters of a text.
const TEXT_CHARACTERS: usize = 300;

/// The summary with a link to the whole page.
pub(super) fn summary(page: &Page, page_url: Option<&str>) -> String {
    let mut out = Summary::default();
    let (_, sign, word) = verdict_words(page.verdict);
    let verdict = match word {
        "" => inline(&page.sentence),
        _ => format!("**{sign} {word}.** {}", inline(&page.sentence)),
    };
    out.add(&format!("{verdict}\n\n"));
    if !page.title.is_empty() {
        out.add(&format!("{}\n\n", inline(&page.title)));
    }
    add_facts(&mut out, &page.facts);
    let changes: Vec<(&ChangeCard, &str)> = page
        .sections
        .iter()
        .filter_map(Section::cards)
        .flat_map(|(cards, words)| cards.iter().map(move |card| (card, words.reason)))
        .collect();
    let shown = add_changes(&mut out, &changes);
    add_details(&mut out, &changes[..shown.min(TABLE_CHANGES)]);
    for section in &page.sections {
        if let Section::Table(table) = section {
            add_table(&mut out, table);
        }
    }
    out.finish(changes.len() - shown, page_url)
}

/// Text that stays within the limit.
#[derive(Default)]
struct Summary {
    text: String,
    units: usize,
}

impl Summary {
    /// Adds a part, if there is room for it and for `closing` parts added later.
    fn add(&mut self, part: &str) -> bool {
        let units = part.encode_utf16().count();
        let has_room = self.units + units + KEPT_UNITS <= MOST_UNITS;
        if has_room {
            self.units += units;
            self.text.push_str(part);
        }
        has_room
    }

    /// Adds a short part that closes an earlier one.
    fn close(&mut self, part: &str) {
        self.units += part.len();
        self.text.push_str(part);
    }

    fn finish(mut self, left_out: usize, page_url: Option<&str>) -> String {
        if left_out > 0 {
            self.text.push_str(&format!(
                "{} left out here.\n\n",
                counted(left_out, "more change")
            ));
        }
        if let Some(target) = page_url
            .map(url)
            .filter(|target| target.len() < KEPT_UNITS / 2)
        {
            self.text
                .push_str(&format!("[The whole page](<{target}>)\n"));
        }
        self.text
    }
}

fn add_facts(out: &mut Summary, facts: &[Fact]) {
    if facts.is_empty() || !out.add("| | |\n|---|---|\n") {
        return;
    }
    for fact in facts {
        if !out.add(&format!(
            "| {} | {} |\n",
            inline(&fact.name),
            inline(&fact.value)
        )) {
            break;
        }
    }
    out.close("\n");
}

/// Adds the first changes as a table and the others as a folded one, and returns how many
/// changes there was room for.
fn add_changes(out: &mut Summary, changes: &[(&ChangeCard, &str)]) -> usize {
    let (first, rest) = changes.split_at(changes.len().min(TABLE_CHANGES));
    let mut shown = add_rows(out, first);
    if shown == first.len() && !rest.is_empty() {
        let summary = format!(
            "<details><summary>{}</summary>\n\n",
            counted(rest.len(), "more change")
        );
        if out.add(&summary) {
            shown += add_rows(out, rest);
            out.close("</details>\n\n");
        }
    }
    shown
}

fn add_rows(out: &mut Summary, changes: &[(&ChangeCard, &str)]) -> usize {
    let head = "| | change | kind | times |\n|---|---|---|---:|\n";
    if changes.is_empty() || !out.add(head) {
        return 0;
    }
    let mut shown = 0;
    for (change, _) in changes {
        let row = format!(
            "| {} | {} | {} | {} |\n",
            inline(change.mark.sign().to_string().trim()),
            inline(&change.text),
            inline(&change.kind),
            grouped(change.count.max(1)),
        );
        if !out.add(&row) {
            break;
        }
        shown += 1;
    }
    out.close("\n");
    shown
}

/// Adds both sides, places and reasons of changes, folded.
fn add_details(out: &mut Summary, changes: &[(&ChangeCard, &str)]) {
    let parts: Vec<String> = changes
        .iter()
        .filter_map(|(change, reason)| detail(change, reason))
        .collect();
    if parts.is_empty() || !out.add("<details><summary>Details</summary>\n\n") {
        return;
    }
    for part in parts {
        if !out.add(&part) {
            break;
        }
    }
    out.close("</details>\n\n");
}

fn detail(change: &ChangeCard, reason: &str) -> Option<String> {
    if change.sides.is_none() && change.places.is_empty() && change.why.is_empty() {
        return None;
    }
    let mut part = format!("**{}**\n\n", inline(&change.text));
    if let Some([left, right]) = &change.sides {
        part.push_str(&fence(left, right));
    }
    for place in change.places.iter().take(5) {
        part.push_str(&format!("- {}\n", inline(place)));
    }
    if change.places.len() > 5 {
        part.push_str(&format!(
            "- {}\n",
            counted(change.places.len() - 5, "more place")
        ));
    }
    if !change.places.is_empty() {
        part.push('\n');
    }
    if !change.why.is_empty() {
        part.push_str(&format!("{}: {}\n\n", inline(reason), inline(&change.why)));
    }
    Some(part)
}

/// Both sides as a block of code, whose fence is longer than any that they contain.
fn fence(left: &[Piece], right: &[Piece]) -> String {
    let texts = [left, right]
        .map(|pieces| -> String { pieces.iter().map(|piece| visible(&piece.text)).collect() });
    let pairs = texts[0].chars().zip(texts[1].chars());
    let same = pairs.take_while(|(left, right)| left == right).count();
    // Long lines are shown from where they part, if their beginnings are alike.
    let skipped = if same + TEXT_CHARACTERS / 4 < TEXT_CHARACTERS {
        0
    } else {
        same - TEXT_CHARACTERS / 4
    };
    let line = |sign: char, pieces: &[Piece], text: &str| {
        let start = text.char_indices().nth(skipped);
        let text = &text[start.map_or(text.len(), |(start, _)| start)..];
        let dots = if skipped > 0 { "…" } else { "" };
        match (pieces.is_empty(), beginning(text, TEXT_CHARACTERS)) {
            (true, _) => String::new(),
            (false, Some(start)) => format!("{sign} {dots}{start}…\n"),
            (false, None) => format!("{sign} {dots}{text}\n"),
        }
    };
    let code = line('-', left, &texts[0]) + &line('+', right, &texts[1]);
    let longest = code
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}diff\n{code}{ticks}\n\n")
}

fn add_table(out: &mut Summary, table: &Table) {
    let columns = table.columns.len();
    let row = |cells: &[String]| {
        let cells: Vec<String> = (0..columns)
            .map(|place| cells.get(place).map_or(String::new(), |cell| inline(cell)))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let head = format!(
        "<details><summary>{} ({})</summary>\n\n{}|{}\n",
        inline(if table.title.is_empty() {
            "Table"
        } else {
            &table.title
        }),
        counted(table.rows.len(), "row"),
        row(&table.columns),
        "---|".repeat(columns),
    );
    if columns == 0 || table.rows.is_empty() || !out.add(&head) {
        return;
    }
    let shown = table
        .rows
        .iter()
        .take_while(|cells| out.add(&row(&cells.cells)))
        .count();
    let rest = table.rows.len() - shown;
    if rest > 0 {
        out.close(&format!("\n{} left out here.\n", counted(rest, "more row")));
    }
    out.close("\n</details>\n\n");
}

/// A text of a program within a line of Markdown.
///
/// A comment of HTML between two characters keeps GitHub from finding mentions, references,
/// addresses and emoji in what remains a readable text.
fn inline(text: &str) -> String {
    let (text, is_cut) = match beginning(text, TEXT_CHARACTERS) {
        Some(start) => (start, true),
        None => (text, false),
    };
    let text: String = runs(text).map(|run| run.text).collect();
    let mut out = String::with_capacity(text.len());
    for (place, character) in text.char_indices() {
        let after = &text[place + character.len_utf8()..];
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '$' => out.push_str("<span>$</span>"),
            '@' => out.push_str("@<!-- -->"),
            '#' => out.push_str("\\#<!-- -->"),
            ':' if starts_a_link_or_emoji(after) => out.push_str(":<!-- -->"),
            '.' if text[..place].to_ascii_lowercase().ends_with("www") => out.push_str(".<!-- -->"),
            '-' if text[..place].to_ascii_lowercase().ends_with("gh") => out.push_str("<!-- -->-"),
            '.' if is_number(&text[..place]) => out.push_str("\\."),
            '.' | ',' | ':' | ';' | '/' | ' ' | '\'' | '"' | '%' | '?' | '=' | '^' => {
                out.push(character);
            }
            _ if character.is_ascii_punctuation() => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    if is_cut {
        out.push('…');
    }
    out.trim().to_owned()
}

/// True for the start of an item of a numbered list.
fn is_number(before: &str) -> bool {
    !before.is_empty()
        && before
            .trim_start()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
}

/// True before `//`, and before a word with a colon after it.
fn starts_a_link_or_emoji(after: &str) -> bool {
    let word = after.trim_start_matches(|character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '+' | '-')
    });
    after.starts_with("//") || word.len() < after.len() && word.starts_with(':')
}

/// An address that cannot end its angle brackets, or the line.
fn url(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for character in address.trim().chars() {
        match character {
            '<' | '>' | '\\' | '"' | '`' | ' ' => {
                out.push_str(&format!("%{:02X}", u32::from(character)))
            }
            _ if character.is_control() => {}
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_format_mention_or_link() {
        for (text, markdown) in [
            ("a|b`c*d_e", "a\\|b\\`c\\*d\\_e"),
            (
                "@octocat #12 GH-3",
                "@<!-- -->octocat \\#<!-- -->12 GH<!-- -->-3",
            ),
            ("https://a.b www.c.d", "https:<!-- -->//a.b www.<!-- -->c.d"),
            ("1. x 2.0", "1\\. x 2.0"),
            (":smile: a:b", ":<!-- -->smile: a:b"),
            ("<img src=x>\n# x", "&lt;img src=x&gt;⏎\\#<!-- --> x"),
            (
                "$x$ &amp; \u{202e}",
                "<span>$</span>x<span>$</span> &amp;amp; ⟨U\\+202E⟩",
            ),
        ] {
            assert_eq!(inline(text), markdown, "{text}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        let piece = |text: &str| {
            vec![Piece {
                text: text.to_owned(),
                ..Piece::default()
            }]
        };
        let block = fence(&piece("````"), &piece("a\n```\nb"));
        assert_eq!(block, "`````diff\n- ````\n+ a⏎```⏎b\n`````\n\n");
    }

    #[test]
    fn an_address_stays_within_its_brackets() {
        assert_eq!(url("https://a/b c>\n<d"), "https://a/b%20c%3E%3Cd");
    }
}
