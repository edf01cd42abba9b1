//! Summaries as lines of text.

use std::fmt;

use super::{ModelSummary, Operator, ValueSummary};

/// The role of a line, which may determine its colour on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The name of a part.
    Heading,
    /// A row that is equal in both models, or of one model.
    Row,
    /// A row that differs.
    Changed,
    /// A row that only the left model has.
    Left,
    /// A row that only the right model has.
    Right,
}

/// A line of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The role of the line.
    pub role: Role,
    /// The text of the line, with unescaped names from the file.
    pub text: String,
}

/// Where a column is aligned.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Lines in the making.
#[derive(Default)]
pub(super) struct Lines(Vec<Line>);

impl Lines {
    pub(super) fn heading(&mut self, text: &str) {
        self.0.push(Line {
            role: Role::Heading,
            text: text.to_owned(),
        });
    }

    /// Adds rows with aligned columns, below a heading if there are any.
    pub(super) fn table(&mut self, heading: &str, align: &[Align], rows: Vec<(Role, Vec<String>)>) {
        if rows.is_empty() {
            return;
        }
        let indent = match heading {
            "" => "",
            _ => {
                self.heading(heading);
                "  "
            }
        };
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|(_, cells)| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..align.len()).map(width).collect();
        for (role, cells) in rows {
            let mut text = indent.to_owned();
            for ((cell, align), width) in cells.iter().zip(align).zip(&widths) {
                let pad = " ".repeat(width - cell.chars().count());
                match align {
                    Align::Left => text.extend([cell.as_str(), &pad, "  "]),
                    Align::Right => text.extend([&pad, cell.as_str(), "  "]),
                }
            }
            let text = text.trim_end().to_owned();
            self.0.push(Line { role, text });
        }
    }

    pub(super) fn done(self) -> Vec<Line> {
        self.0
    }
}

/// Writes lines one below the other.
pub(crate) fn write(lines: &[Line], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, line) in lines.iter().enumerate() {
        let end = if at + 1 < lines.len() { "\n" } else { "" };
        write!(f, "{}{end}", line.text)?;
    }
    Ok(())
}

/// A domain as people call it.
pub(crate) fn domain_text(domain: &str) -> &str {
    if domain.is_empty() { "ai.onnx" } else { domain }
}

/// As in `Conv`, `ai.onnx.ml.Scaler` or `function demo.Norm`.
impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_function, self.domain.as_str()) {
            (true, _) => write!(f, "function {}", self.op),
            (false, "") => f.write_str(&self.op),
            (false, domain) => write!(f, "{domain}.{}", self.op),
        }
    }
}

impl ValueSummary {
    /// As in `float32[batch, 3]`.
    pub(crate) fn ty(&self) -> String {
        format!("{}{}", self.dtype, self.shape)
    }
}

/// Versions of an operator set, separated by commas.
pub(crate) fn versions<'v>(versions: impl IntoIterator<Item = &'v i64>) -> String {
    let versions: Vec<String> = versions.into_iter().map(i64::to_string).collect();
    versions.join(", ")
}

/// A row of one model.
fn row(cells: impl IntoIterator<Item = String>) -> (Role, Vec<String>) {
    (Role::Row, cells.into_iter().collect())
}

impl ModelSummary {
    /// The number of weights of all types. O(types).
    #[must_use]
    pub fn weight_count(&self) -> usize {
        self.weights.values().map(|it| it.count).sum()
    }

    /// The number of elements of all weights. O(types).
    #[must_use]
    pub fn weight_elements(&self) -> u64 {
        self.weights.values().map(|it| it.elements).sum()
    }

    /// The number of bytes of all weights. O(types).
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.weights.values().map(|it| it.bytes).sum()
    }

    /// The simple facts of a model by their names, the same names for every model.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let opsets: Vec<String> = self
            .opsets
            .iter()
            .map(|(domain, found)| format!("{} {}", domain_text(domain), versions(found)))
            .collect();
        vec![
            ("IR version", self.ir_version.to_string()),
            ("producer", self.producer.clone()),
            ("opsets", opsets.join("; ")),
            ("nodes", self.nodes.to_string()),
            ("longest chain", self.depth.to_string()),
            ("nesting of bodies", self.nesting.to_string()),
            ("functions", self.functions.len().to_string()),
            ("constants", self.constants.to_string()),
            ("weights", self.weight_count().to_string()),
            ("weight elements", self.weight_elements().to_string()),
            ("weight bytes", self.weight_bytes().to_string()),
        ]
    }

    /// The text in lines. O(length).
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        use Align::{Left, Right};
        let mut lines = Lines::default();
        let facts = self
            .facts()
            .into_iter()
            .map(|(name, text)| row([name.to_owned(), text]));
        lines.table("", &[Left, Left], facts.collect());
        let values = |values: &[ValueSummary]| {
            let values = values.iter();
            values
                .map(|value| row([value.name.clone(), value.ty()]))
                .collect()
        };
        lines.table("inputs", &[Left, Left], values(&self.inputs));
        lines.table("outputs", &[Left, Left], values(&self.outputs));
        let weights = self.weights.iter().map(|(dtype, stats)| {
            row([
                dtype.clone(),
                stats.count.to_string(),
                format!("{} elements", stats.elements),
                format!("{} bytes", stats.bytes),
            ])
        });
        lines.table("weights", &[Left, Right, Right, Right], weights.collect());
        let functions = self
            .functions
            .iter()
            .map(|function| row([function.name.clone(), format!("{} nodes", function.nodes)]));
        lines.table("functions", &[Left, Right], functions.collect());
        let mut operators: Vec<_> = self.operators.iter().collect();
        // The most frequent operators first; equally frequent operators stay sorted by
        // name.
        operators.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let operators = operators
            .into_iter()
            .map(|(operator, count)| row([operator.to_string(), count.to_string()]));
        lines.table("operators", &[Left, Right], operators.collect());
        lines.done()
    }
}

/// The text of the command `isoform summary`, without a newline at the end.
impl fmt::Display for ModelSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.lines(), f)
    }
}
