//! The table as Markdown, with its columns aligned.

use std::fmt;

use super::timing::Times;
use crate::common::orders::Order;

/// The target of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// It is there for comparison only.
    None,
    /// Nanoseconds per position.
    Ns(f64),
    /// Times the base.
    Ratio(f64),
    /// At least this many times the other side.
    AtLeast(f64),
    /// Nanoseconds per position besides those of the base.
    Beyond(f64),
}

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 6]>,
    orders: Vec<[String; 7]>,
    notes: Vec<String>,
}

impl Table {
    pub(crate) fn row(&mut self, figure: impl Into<String>, times: Times, limit: Limit) {
        let base = times.base;
        let (limit, reached) = match (limit, base) {
            (Limit::Ns(limit), _) => (format!("≤ {limit}"), Some(times.ours <= limit)),
            (Limit::Ratio(limit), Some(base)) => {
                (format!("≤ {limit}× enum"), Some(base.ratio <= limit))
            }
            (Limit::AtLeast(limit), Some(base)) => {
                (format!("≥ {limit}×"), Some(base.ratio >= limit))
            }
            (Limit::Beyond(limit), Some(base)) => {
                let beyond = times.ours - base.best;
                (format!("≤ base + {limit}"), Some(beyond <= limit))
            }
            _ => (String::new(), None),
        };
        self.rows.push([
            figure.into(),
            format!("{:.1}", times.ours),
            base.map_or(String::new(), |base| format!("{:.1}", base.best)),
            base.map_or(String::new(), |base| format!("{:.2}", base.ratio)),
            limit,
            reached
                .map_or("", |reached| if reached { "yes" } else { "no" })
                .into(),
        ]);
    }

    /// A figure for each order of building; the limit is that of the first.
    pub(crate) fn orders_row(
        &mut self,
        figure: impl Into<String>,
        times: &[Times; 4],
        limit: Limit,
    ) {
        let cell = |times: &Times| match times.base {
            None => format!("{:.1}", times.median),
            Some(base) => format!("{:.1} / {:.1}", times.median, base.median),
        };
        let (limit, reached) = match limit {
            Limit::Ns(limit) => (format!("≤ {limit}"), times[0].median <= limit),
            _ => (String::new(), true),
        };
        let [first, second, third, fourth] = times.each_ref().map(cell);
        let reached = if reached { "yes" } else { "no" }.into();
        self.orders
            .push([figure.into(), first, second, third, fourth, limit, reached]);
    }

    pub(crate) fn note_memory(&mut self, figure: impl fmt::Display, growth: Option<u64>) {
        let growth = match growth {
            Some(bytes) => format!("{:.0} MB", bytes as f64 / 1e6),
            None => "not known on this system".to_owned(),
        };
        self.notes
            .push(format!("Extra memory at the peak of {figure}: {growth}."));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "figure (ns per node)",
            "Isoform",
            "enum",
            "ratio",
            "reach",
            "reached",
        ];
        write_table(f, head, &self.rows)?;
        if !self.orders.is_empty() {
            let [first, second, third, fourth] = Order::ALL.map(|(name, _)| name);
            let figure = "median, Isoform / enum (ns per node)";
            let head = [figure, first, second, third, fourth, "reach", "reached"];
            writeln!(f)?;
            write_table(f, head, &self.orders)?;
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        Ok(())
    }
}

fn write_table<const COLUMNS: usize>(
    f: &mut fmt::Formatter<'_>,
    head: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> fmt::Result {
    let head = head.map(str::to_owned);
    let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
        let cells = std::iter::once(&head).chain(rows);
        let widths = cells.map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    });
    let rule = widths.map(|width| "-".repeat(width));
    for row in [&head, &rule].into_iter().chain(rows) {
        for (cell, width) in row.iter().zip(widths) {
            write!(f, "| {cell:width$} ")?;
        }
        writeln!(f, "|")?;
    }
    Ok(())
}
