//! Tables.

use maud::{Markup, html};

use super::cards::sign;
use super::text::{self, brief, counted, long};
use super::{Table, TableRow};
use crate::Mark;

/// The number of rows that are shown at once, and by each use of the button.
const ROWS_AT_ONCE: usize = 500;

/// The number of rows in a notebook.
const NOTEBOOK_ROWS: usize = 50;

/// The table; rows beyond the first ones wait in templates that the script opens.
pub(super) fn table(table: &Table) -> Markup {
    let (first, rest) = table.rows.split_at(table.rows.len().min(ROWS_AT_ONCE));
    let has_marks = table.rows.iter().any(|row| row.mark != Mark::Same);
    html! {
        div.scrolling tabindex="0" role="group" aria-label=(label(table)) {
            table {
                (head(table, has_marks))
                tbody { @for row in first { (row_markup(row, has_marks)) } }
                @for rows in rest.chunks(ROWS_AT_ONCE) {
                    template { tbody { @for row in rows { (row_markup(row, has_marks)) } } }
                }
            }
        }
        @if !rest.is_empty() {
            button.more type="button" hidden { "Show more rows" }
            noscript { p { (counted(rest.len(), "more row")) ", which need a browser with scripts." } }
        }
    }
}

/// The first rows, and the number of those that are left out.
pub(super) fn beginning_of(table: &Table) -> Markup {
    let has_marks = table.rows.iter().any(|row| row.mark != Mark::Same);
    let rest = table.rows.len().saturating_sub(NOTEBOOK_ROWS);
    html! {
        div.scrolling tabindex="0" role="group" aria-label=(label(table)) {
            table {
                (head(table, has_marks))
                tbody {
                    @for row in table.rows.iter().take(NOTEBOOK_ROWS) { (row_markup(row, has_marks)) }
                }
            }
        }
        @if rest > 0 { p { (counted(rest, "more row")) } }
    }
}

fn label(table: &Table) -> String {
    brief(
        if table.title.is_empty() {
            "Table"
        } else {
            &table.title
        },
        120,
    )
}

fn head(table: &Table, has_marks: bool) -> Markup {
    html! {
        @if !table.columns.is_empty() {
            thead {
                tr {
                    @if has_marks { th scope="col" { span.heard { "Side" } } }
                    @for column in &table.columns { th scope="col" { (text::head(column)) } }
                }
            }
        }
    }
}

fn row_markup(row: &TableRow, has_marks: bool) -> Markup {
    html! {
        tr class=(format!("mark-{}", row.mark.name())) {
            @if has_marks { td { (sign(row.mark)) } }
            @for cell in &row.cells { td { (long(cell)) } }
        }
    }
}
