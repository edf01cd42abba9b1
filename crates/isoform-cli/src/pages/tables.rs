//! The facts and the tables of pages.

use std::fmt::Display;

use isoform_page::Mark;
use isoform_page::page::{Fact, Table, TableRow};

/// The rows of a table.
const MOST_ROWS: usize = 2_000;

pub(super) fn fact(name: impl Into<String>, value: impl Display, mark: Mark) -> Fact {
    Fact {
        name: name.into(),
        value: value.to_string(),
        mark,
    }
}

/// A table with at most [`MOST_ROWS`] rows; its title tells how many there are.
pub(super) fn table(title: &str, columns: &[&str], rows: impl Iterator<Item = TableRow>) -> Table {
    let mut rows: Vec<TableRow> = rows.collect();
    let count = rows.len();
    rows.truncate(MOST_ROWS);
    let title = if count > MOST_ROWS {
        format!("{title} (the first {MOST_ROWS} of {count})")
    } else {
        title.to_owned()
    };
    Table {
        title,
        columns: columns.iter().map(ToString::to_string).collect(),
        rows,
    }
}

/// A row that tells of no side.
pub(super) fn row(cells: Vec<String>) -> TableRow {
    TableRow {
        cells,
        mark: Mark::Same,
    }
}

/// The mark of a number that tells of differences, if there are any.
pub(super) fn mark_if(is_changed: bool) -> Mark {
    if is_changed {
        Mark::Changed
    } else {
        Mark::Same
    }
}
