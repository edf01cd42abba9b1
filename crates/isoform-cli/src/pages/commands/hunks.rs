//! Unified diffs, as passes report their changes, as rows with both sides.

use isoform_page::Mark;
use isoform_page::page::{Line, Piece, PieceRole, Row};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::pages::words::{mark_words, piece, plain};

/// Products of the lengths of paired lines, in pieces, up to which words are compared; the
/// further lines of a page are marked as a whole.
const WORD_BUDGET: usize = 1 << 28;
/// The rows of all listings of a page.
const MOST_ROWS: usize = 100_000;
/// The largest product of the numbers of removed and added lines of a change whose lines are
/// aligned.
const MOST_HEADS: usize = 1 << 20;
/// Longer lines are one piece.
const LONGEST_SPLIT: usize = 1 << 16;

/// The number of rows and of comparisons that are left for one page.
pub(super) struct RowBudget {
    words: usize,
    rows: usize,
}

impl Default for RowBudget {
    fn default() -> Self {
        RowBudget {
            words: WORD_BUDGET,
            rows: MOST_ROWS,
        }
    }
}

/// The numbers of a unified diff.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct DiffCounts {
    pub(super) functions: usize,
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl DiffCounts {
    /// `2 functions changed, +3 −4 lines`, or `no change`.
    pub(super) fn text(self) -> String {
        if self.functions == 0 {
            return "no change".to_owned();
        }
        let functions = crate::output::counted(self.functions, "function");
        format!(
            "{functions} changed, +{} −{} lines",
            self.added, self.removed
        )
    }
}

/// Counts the lines of a unified diff. Linear.
pub(super) fn counts_of(diff: &str) -> DiffCounts {
    let mut counts = DiffCounts::default();
    for part in parts(diff) {
        match part {
            Part::Function { .. } => counts.functions += 1,
            Part::Removed(_) => counts.removed += 1,
            Part::Added(_) => counts.added += 1,
            Part::Gap(_) | Part::Same(_) => {}
        }
    }
    counts
}

/// The rows of a unified diff. A removed line stands beside the added line that replaces it, and
/// the words that differ are marked. The anchor of each change starts with `anchor`.
/// Linear, except for the words of changed lines, within the budget.
pub(super) fn rows_of_diff(diff: &str, anchor: &str, budget: &mut RowBudget) -> Vec<Row> {
    let mut rows = Rows {
        rows: Vec::new(),
        removed: Vec::new(),
        added: Vec::new(),
        changes: 0,
        anchor,
        budget,
    };
    for part in parts(diff) {
        match part {
            Part::Removed(text) => {
                // Removed lines after added ones are another change.
                if !rows.added.is_empty() {
                    rows.flush();
                }
                rows.removed.push(text);
            }
            Part::Added(text) => rows.added.push(text),
            Part::Same(text) => rows.both(code_line(text)),
            Part::Gap(lines) => {
                let lines = crate::output::counted(lines, "line");
                rows.both(comment(format!("… {lines} the same")));
            }
            Part::Function { before, after } => rows.both(comment(head(before, after))),
        }
    }
    rows.flush();
    let Rows { mut rows, .. } = rows;
    if rows.len() > budget.rows {
        let more = crate::output::counted(rows.len() - budget.rows, "more line");
        rows.truncate(budget.rows);
        rows.push(same(comment(format!("… {more}"))));
    }
    budget.rows = budget.rows.saturating_sub(rows.len());
    rows
}

/// The name of a changed function.
fn head(before: &str, after: &str) -> String {
    let name = |side: &str, root: &str| {
        let name = side.strip_prefix(root)?;
        Some(name.strip_prefix('/').unwrap_or_default().to_owned())
    };
    match (name(before, "before"), name(after, "after")) {
        (Some(name), Some(_)) if name.is_empty() => "program".to_owned(),
        (Some(name), Some(_)) => format!("function {name}"),
        (Some(name), None) => format!("function {name}, removed"),
        (None, Some(name)) => format!("function {name}, added"),
        (None, None) => format!("{before} → {after}"),
    }
}

fn comment(text: String) -> Line {
    Line {
        depth: 0,
        pieces: vec![piece(text, PieceRole::Comment)],
    }
}

fn same(line: Line) -> Row {
    Row {
        left: Some(line.clone()),
        right: Some(line),
        ..Row::default()
    }
}

struct Rows<'a, 'b> {
    rows: Vec<Row>,
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
    changes: usize,
    anchor: &'b str,
    budget: &'b mut RowBudget,
}

impl Rows<'_, '_> {
    fn both(&mut self, line: Line) {
        self.flush();
        self.rows.push(same(line));
    }

    /// Adds the lines of a change that has ended.
    fn flush(&mut self) {
        let (removed, added) = (
            std::mem::take(&mut self.removed),
            std::mem::take(&mut self.added),
        );
        let first = self.rows.len();
        for (left, right) in pairs(&removed, &added) {
            let mut left = left.map(code_line);
            let mut right = right.map(code_line);
            if let (Some(left), Some(right)) = (&mut left, &mut right) {
                self.mark(left, right);
            }
            self.rows.push(Row {
                mark: Mark::of_sides(left.is_some(), right.is_some()),
                left,
                right,
                ..Row::default()
            });
        }
        if let Some(row) = self.rows.get_mut(first) {
            self.changes += 1;
            row.anchors = vec![format!("{}-{}", self.anchor, self.changes)];
        }
    }

    fn mark(&mut self, left: &mut Line, right: &mut Line) {
        let cost = left.pieces.len().saturating_mul(right.pieces.len());
        if let Some(rest) = self.budget.words.checked_sub(cost) {
            self.budget.words = rest;
            mark_words(left, right);
        }
    }
}

/// Lines that replace each other: those that define the same name, and otherwise lines of
/// equally many neighbours, in order.
fn pairs<'a>(removed: &[&'a str], added: &[&'a str]) -> Vec<(Option<&'a str>, Option<&'a str>)> {
    let heads = |lines: &[&'a str]| -> Vec<&'a str> {
        let head = |line: &&'a str| line.split(['=', '(', ':']).next().unwrap_or(line);
        lines.iter().map(head).collect()
    };
    let is_large = removed.len().saturating_mul(added.len()) > MOST_HEADS;
    let steps = if is_large {
        vec![DiffOp::Replace {
            old_index: 0,
            old_len: removed.len(),
            new_index: 0,
            new_len: added.len(),
        }]
    } else {
        capture_diff_slices(Algorithm::Myers, &heads(removed), &heads(added))
    };
    let mut pairs = Vec::new();
    for step in steps {
        let (old, new) = (&removed[step.old_range()], &added[step.new_range()]);
        if old.len() == new.len() {
            let both = old.iter().zip(new);
            pairs.extend(both.map(|(left, right)| (Some(*left), Some(*right))));
        } else {
            pairs.extend(old.iter().map(|left| (Some(*left), None)));
            pairs.extend(new.iter().map(|right| (None, Some(*right))));
        }
    }
    pairs
}

/// A part of a unified diff.
enum Part<'a> {
    /// The names of both sides.
    Function {
        before: &'a str,
        after: &'a str,
    },
    /// The number of lines left out.
    Gap(usize),
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The parts of a unified diff, by the numbers of lines in its headers: lines of programs may
/// look like headers.
fn parts(diff: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    // Lines of the hunk that are still to come, and the last line of the hunk before.
    let (mut old, mut new, mut last) = (0, 0, 0);
    let mut before = "";
    for line in diff.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        if old > 0 || new > 0 {
            let (sign, text) = line.split_at_checked(1).unwrap_or_default();
            match sign {
                "-" => parts.push(Part::Removed(text)),
                "+" => parts.push(Part::Added(text)),
                "\\" => continue,
                _ => parts.push(Part::Same(text)),
            }
            old -= usize::from(sign != "+").min(old);
            new -= usize::from(sign != "-").min(new);
        } else if let Some([from, old_lines, new_lines]) = hunk(line) {
            let start = from.saturating_sub(1);
            if start > last {
                parts.push(Part::Gap(start - last));
            }
            (old, new, last) = (old_lines, new_lines, start + old_lines);
        } else if let Some(name) = line.strip_prefix("--- ") {
            before = name;
        } else if let Some(after) = line.strip_prefix("+++ ") {
            parts.push(Part::Function { before, after });
            last = 0;
        }
    }
    parts
}

/// The first line on the left, and the numbers of lines, of a header such as `@@ -1,2 +1,3 @@`.
fn hunk(line: &str) -> Option<[usize; 3]> {
    let (old, new) = line
        .strip_prefix("@@ -")?
        .strip_suffix(" @@")?
        .split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    // An empty range names the line before it.
    let start = if old == 0 { start + 1 } else { start };
    Some([start, old, new])
}

/// A line of a program in pieces, whatever its dialect.
pub(super) fn code_line(text: &str) -> Line {
    let rest = text.trim_start_matches(' ');
    let spaces = text.len() - rest.len();
    let mut pieces = Vec::new();
    if spaces % 2 == 1 {
        pieces.push(plain(" "));
    }
    if rest.len() > LONGEST_SPLIT {
        pieces.push(plain(rest));
    } else {
        split(rest, &mut pieces);
    }
    Line {
        depth: spaces / 2,
        pieces,
    }
}

fn split(mut rest: &str, pieces: &mut Vec<Piece>) {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '@' | '$' | '/');
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            pieces.push(piece(rest, PieceRole::Comment));
            return;
        }
        let end = if first == '"' {
            end_of_string(rest)
        } else if is_word(first) {
            rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
        } else {
            rest.find(|c: char| is_word(c) || c == '"')
                .unwrap_or(rest.len())
        };
        let (word, tail) = rest.split_at(end);
        let role = match (first, tail.chars().next()) {
            ('"' | '0'..='9', _) => PieceRole::Literal,
            ('%' | '@' | '$', _) => PieceRole::Name,
            (_, _) if !is_word(first) => PieceRole::Plain,
            (_, Some('(')) => PieceRole::Operator,
            (_, Some('=')) => PieceRole::Field,
            _ => PieceRole::Plain,
        };
        pieces.push(piece(word, role));
        rest = tail;
    }
}

/// The byte after a quoted string at the start of a text.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return place + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- before/f\n+++ after/f\n@@ -10,4 +10,3 @@\n a\n--- b\n-c\n++++ d\n e\n";

    fn shown(row: &Row) -> [String; 2] {
        [&row.left, &row.right].map(|line| {
            let pieces = line.iter().flat_map(|line| &line.pieces);
            let texts = pieces.map(|piece| {
                if piece.is_changed {
                    format!("<{}>", piece.text)
                } else {
                    piece.text.clone()
                }
            });
            texts.collect()
        })
    }

    #[test]
    fn lines_that_look_like_headers_are_lines() {
        let counts = counts_of(DIFF);
        assert_eq!(counts.text(), "1 function changed, +1 −2 lines");
        let rows = rows_of_diff(DIFF, "pass-1", &mut RowBudget::default());
        let texts: Vec<[String; 2]> = rows.iter().map(shown).collect();
        let both = |text: &str| [text.to_owned(), text.to_owned()];
        assert_eq!(
            texts,
            [
                both("function f"),
                both("… 9 lines the same"),
                both("a"),
                ["-- b".to_owned(), String::new()],
                ["c".to_owned(), String::new()],
                [String::new(), "+++ d".to_owned()],
                both("e"),
            ]
        );
        let marks: Vec<Mark> = rows.iter().map(|row| row.mark).collect();
        assert_eq!(marks[3..6], [Mark::Deleted, Mark::Deleted, Mark::Inserted]);
        assert_eq!(rows[3].anchors, ["pass-1-1"]);
    }

    #[test]
    fn only_words_that_differ_are_marked() {
        let diff = "--- before/f\n+++ after/f\n@@ -1 +1 @@\n-  x = Add(%a, 1)\n+  x = Add(%a, 2)\n";
        let rows = rows_of_diff(diff, "a", &mut RowBudget::default());
        assert_eq!(shown(&rows[1]), ["x = Add(%a, <1>)", "x = Add(%a, <2>)"]);
        assert_eq!(rows[1].left.as_ref().map(|line| line.depth), Some(1));
    }

    #[test]
    fn lines_about_the_same_name_are_paired() {
        let diff = "--- before/f\n+++ after/f\n@@ -1,2 +1 @@\n-w = Fill(1)\n-r = Conv(x, w)\n+r = Conv(x, v)\n";
        let rows = rows_of_diff(diff, "a", &mut RowBudget::default());
        assert_eq!(shown(&rows[1]), ["w = Fill(1)", ""]);
        assert_eq!(shown(&rows[2]), ["r = Conv(x, <w>)", "r = Conv(x, <v>)"]);
        let anchors = rows.iter().map(|row| row.anchors.concat());
        let anchors: Vec<String> = anchors.collect();
        assert_eq!(anchors, ["", "a-1", ""]);
    }

    #[test]
    fn functions_come_and_go() {
        let diff = "--- (absent)\n+++ after/new\n@@ -0,0 +1 @@\n+a\n--- before/old\n+++ (absent)\n@@ -1 +0,0 @@\n-a\n";
        let rows = rows_of_diff(diff, "a", &mut RowBudget::default());
        let texts: Vec<String> = rows.iter().map(|row| shown(row).concat()).collect();
        assert_eq!(texts[0], "function new, added".repeat(2));
        assert_eq!(texts[2], "function old, removed".repeat(2));
        assert_eq!(
            (rows[1].mark, rows[3].mark),
            (Mark::Inserted, Mark::Deleted)
        );
    }

    #[test]
    fn rows_of_a_page_are_limited() {
        let diff = "--- before/f\n+++ after/f\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n";
        let mut budget = RowBudget { words: 0, rows: 2 };
        let rows = rows_of_diff(diff, "a", &mut budget);
        assert_eq!(rows.len(), 3);
        assert_eq!(shown(&rows[2])[0], "… 2 more lines");
        assert_eq!(rows_of_diff(diff, "a", &mut budget).len(), 1);
    }

    #[test]
    fn strings_are_one_piece() {
        let line = code_line(r#"   f("a \" b", g=1)  // c "d""#);
        let texts: Vec<(&str, PieceRole)> = line
            .pieces
            .iter()
            .filter(|piece| piece.role != PieceRole::Plain)
            .map(|piece| (piece.text.as_str(), piece.role))
            .collect();
        assert_eq!(
            texts,
            [
                ("f", PieceRole::Operator),
                (r#""a \" b""#, PieceRole::Literal),
                ("g", PieceRole::Field),
                ("1", PieceRole::Literal),
                (r#"// c "d""#, PieceRole::Comment),
            ]
        );
    }
}
