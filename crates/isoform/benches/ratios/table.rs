//! The table as Markdown, with its columns aligned.

use std::fmt;

use super::timing::Times;

/// What a figure is to reach.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// It is there for comparison only.
    None,
    /// Nanoseconds per position.
    Ns(f64),
    /// Times the base.
    Ratio(f64),
}

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 6]>,
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
        let head = head.map(str::to_owned);
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                let cells = std::iter::once(&head).chain(&self.rows);
                let widths = cells.map(|row| row[column].chars().count());
                widths.max().unwrap_or(0)
            })
            .collect();
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        let rule: Vec<&str> = rule.iter().map(String::as_str).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        write_row(f, &widths, &head)?;
        write_row(f, &widths, &rule)?;
        for row in &self.rows {
            let row: Vec<&str> = row.iter().map(String::as_str).collect();
            write_row(f, &widths, &row)?;
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

fn write_row(f: &mut fmt::Formatter<'_>, widths: &[usize], cells: &[&str]) -> fmt::Result {
    for (cell, &width) in cells.iter().zip(widths) {
        write!(f, "| {cell:width$} ")?;
    }
    writeln!(f, "|")
}
