//! The result as text: a sentence, a chart of the error along the graph, and a table.

use std::fmt;

use super::outcome::{Divergence, PairError, PairKind, PairStatus, ValuePlace};
use crate::summary::{Line, Role, number, write};

/// The default limit of rows of the table.
const MOST_ROWS: usize = 20;

/// The largest number of characters of the chart.
const CHART_WIDTH: usize = 64;

/// The bars of the chart, from small to large errors.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The relative L2 errors of the smallest and of the largest bar, as powers of ten.
const BAR_RANGE: [f64; 2] = [-8.0, -1.0];

/// The columns of the table that are aligned to the right.
const NUMBERS: std::ops::Range<usize> = 5..10;

impl Divergence {
    /// The result in lines; the first line is the verdict. `max` limits the rows of the
    /// table, which begins with the first pair that is not the same; None shows all pairs.
    /// O(length).
    #[must_use]
    pub fn lines(&self, max: Option<usize>) -> Vec<Line> {
        let mut lines = vec![line(Role::Heading, self.verdict())];
        lines.extend(self.fact_lines());
        lines.extend(self.chart_lines());
        lines.extend(self.crossing_lines());
        lines.extend(self.table_lines(max));
        lines
    }

    /// The verdict in one sentence, which begins with `same` or `different`. O(pairs).
    #[must_use]
    pub fn verdict(&self) -> String {
        let Some(pair) = self.first_pair() else {
            return match self.compared() {
                0 => "different: no pair of values could be compared".to_owned(),
                _ if self.open_outputs != [0, 0] => {
                    let [left, right] = self.open_outputs;
                    format!(
                        "different: no pair of values differs beyond the tolerance, but {left} \
                         outputs on the left and {right} on the right could not be compared"
                    )
                }
                _ => "same: no pair of values differs beyond the tolerance".to_owned(),
            };
        };
        let remark = match (pair.inputs_agree, pair.kind) {
            (true, PairKind::Quantized) => ", although the value before quantization agrees",
            (true, _) => ", although its inputs agree",
            (false, _) => "; its inputs differ, too, but no pair begins it",
        };
        let inside = self.inside.as_ref();
        let inside = inside.map_or_else(String::new, |text| format!("; inside, {text}"));
        format!(
            "different: the first divergence is at {}: {}{remark}{inside}",
            pair.names(),
            pair.reason()
        )
    }

    fn fact_lines(&self) -> Vec<Line> {
        let mut texts = vec![format!(
            "run by {} ({}), with rtol {} and atol {}",
            self.runner,
            self.inputs.join("; "),
            self.rtol,
            self.atol
        )];
        let different = self.pairs.iter().filter(|pair| pair.diverges()).count();
        let mut text = format!("pairs: {} compared, {different} different", self.compared());
        let skipped = self.pairs.len() - self.compared();
        if skipped > 0 {
            text.push_str(&format!(", {skipped} not comparable"));
        }
        let [left, right] = self.unpaired;
        if left + right > 0 {
            text.push_str(&format!(
                "; nodes without a partner: {left} left, {right} right"
            ));
        }
        texts.push(text);
        let [left, right] = self.inner;
        if left + right > 0 {
            texts.push(format!(
                "not compared: {left} nodes of the left model and {right} of the right model, \
                 inside of bodies and functions"
            ));
        }
        let [left, right] = self.outputs;
        if left != right {
            let most = left.min(right);
            texts.push(format!(
                "outputs: {left} on the left and {right} on the right, of which {most} are compared"
            ));
        }
        if self.origins.len() > 1 {
            let count = self.origins.len();
            texts.push(format!(
                "{count} divergences begin independently, marked with > below"
            ));
        }
        texts
            .into_iter()
            .map(|text| line(Role::Row, text))
            .collect()
    }

    /// A bar for each pair, or for a few adjacent pairs, and a mark below the first divergence.
    fn chart_lines(&self) -> Vec<Line> {
        if self.pairs.is_empty() {
            return Vec::new();
        }
        let step = self.pairs.len().div_ceil(CHART_WIDTH);
        let bars: String = self.pairs.chunks(step).map(bar).collect();
        let each = match step {
            1 => "each bar a pair".to_owned(),
            _ => format!("each bar the worst of {step} pairs"),
        };
        let mut texts = vec![
            format!(
                "relative L2 error along the graph, {each} (. equal, ▁ 1e-8 to █ 0.1, ? unknown):"
            ),
            format!("  {bars}"),
        ];
        if let Some(first) = self.first {
            texts.push(format!("  {}^ first divergence", " ".repeat(first / step)));
        }
        texts
            .into_iter()
            .map(|text| line(Role::Row, text))
            .collect()
    }

    /// Adjacent thresholds with one pair share a line.
    fn crossing_lines(&self) -> Vec<Line> {
        let groups = self
            .crossings
            .chunk_by(|left, right| left.pair == right.pair);
        let texts = groups.filter_map(|crossings| {
            let pair = self.pairs.get(crossings.first()?.pair?)?;
            let thresholds = crossings.iter().map(|crossing| short(crossing.threshold));
            let thresholds = thresholds.collect::<Vec<_>>().join(", ");
            let names = pair.names();
            let text = format!("relative L2 error above {thresholds} first at {names}");
            Some(line(Role::Row, text))
        });
        texts.collect()
    }

    fn table_lines(&self, max: Option<usize>) -> Vec<Line> {
        let is_shown =
            |(_, pair): &(usize, &PairError)| max.is_none() || pair.status != PairStatus::Same;
        let shown: Vec<(usize, &PairError)> =
            self.pairs.iter().enumerate().filter(is_shown).collect();
        let limit = max.unwrap_or(shown.len()).min(shown.len());
        if limit == 0 {
            return Vec::new();
        }
        // The first divergence is always among the rows.
        let first = shown
            .iter()
            .position(|(index, _)| Some(*index) == self.first)
            .unwrap_or(0);
        let start = if first < limit {
            0
        } else {
            first.saturating_sub(limit / 4)
        };
        let rows = &shown[start..shown.len().min(start + limit)];
        let mut table = vec![(Role::Row, HEADS.map(str::to_owned).to_vec())];
        table.extend(rows.iter().map(|(index, pair)| self.row(*index, pair)));
        let mut lines = vec![line(Role::Row, String::new())];
        lines.extend(aligned(&table));
        let more = self.pairs.len() - rows.len();
        if more > 0 {
            let same = self
                .pairs
                .iter()
                .filter(|pair| pair.status == PairStatus::Same)
                .count();
            let text =
                format!("... and {more} more pairs, {same} of them the same; --max 0 shows all");
            lines.push(line(Role::Row, text));
        }
        lines
    }

    fn row(&self, index: usize, pair: &PairError) -> (Role, Vec<String>) {
        let mark = if self.origins.contains(&index) {
            ">"
        } else {
            ""
        };
        let role = match pair.status {
            PairStatus::Different => Role::Changed,
            _ => Role::Row,
        };
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        let mut cells = vec![
            mark.to_owned(),
            pair.left.operator().to_owned(),
            pair.left.name().to_owned(),
            pair.right_text(),
            format!("{:?}", pair.shape),
        ];
        cells.extend([
            cell(pair.max_abs),
            cell(pair.max_rel),
            cell(pair.relative_l2),
            pair.cosine
                .map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.6}")),
            pair.snr_db
                .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}")),
        ]);
        cells.push(pair.remark());
        (role, cells)
    }
}

/// The heads of the columns.
const HEADS: [&str; 11] = [
    "", "operator", "left", "right", "shape", "max abs", "max rel", "rel L2", "cosine", "SNR dB",
    "",
];

impl PairError {
    /// Both nodes: `Conv 'conv1' and Conv 'node_7'`. O(1).
    #[must_use]
    pub fn names(&self) -> String {
        format!("{} and {}", self.left.text(), self.right.text())
    }

    fn reason(&self) -> String {
        if self.beyond == 0 && !self.note.is_empty() {
            return self.note.clone();
        }
        let mut text = format!("{} of {} elements differ", self.beyond, self.count);
        if let Some(largest) = self.max_abs {
            text.push_str(&format!(", max abs {}", number(largest)));
        }
        text
    }

    /// The verdict on the pair in words: `same`, `3 of 10 differ`, or why the values were
    /// not compared; may be empty. O(1).
    #[must_use]
    pub fn remark(&self) -> String {
        let mut remarks = Vec::new();
        match self.status {
            PairStatus::Different if self.beyond > 0 => {
                remarks.push(format!("{} of {} differ", self.beyond, self.count));
            }
            PairStatus::Skipped => remarks.push("not compared".to_owned()),
            PairStatus::Same => remarks.push("same".to_owned()),
            _ => {}
        }
        if !self.note.is_empty() {
            remarks.push(self.note.clone());
        }
        remarks.join(", ")
    }

    /// The name on the right, with the operator if that is another.
    fn right_text(&self) -> String {
        if self.left.operator() == self.right.operator() {
            self.right.name().to_owned()
        } else {
            self.right.text()
        }
    }
}

impl ValuePlace {
    /// The name of the value, or else of the node.
    fn name(&self) -> &str {
        match self.node.name.as_str() {
            "" => &self.value,
            name => name,
        }
    }

    fn operator(&self) -> &str {
        match self.node.op.as_str() {
            "" => self.node.kind.name(),
            op => op,
        }
    }

    fn text(&self) -> String {
        match self.name() {
            "" => format!("{} #{}", self.operator(), self.node.position),
            name => format!("{} '{name}'", self.operator()),
        }
    }
}

/// As in `Conv 'conv1'`, or `Conv #7` without any name.
impl fmt::Display for ValuePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// The worst error of adjacent pairs as a character.
fn bar(pairs: &[PairError]) -> char {
    let errors = pairs.iter().filter_map(|pair| pair.relative_l2);
    let worst = errors.fold(0.0, f64::max);
    let is_unknown = pairs
        .iter()
        .any(|pair| pair.relative_l2.is_none() && pair.diverges());
    let is_compared = pairs.iter().any(|pair| pair.status != PairStatus::Skipped);
    match worst {
        _ if is_unknown => BARS[BARS.len() - 1],
        _ if !is_compared => '?',
        0.0 => '.',
        error => {
            let [low, high] = BAR_RANGE;
            let share = ((error.log10() - low) / (high - low)).clamp(0.0, 1.0);
            BARS[(share * (BARS.len() - 1) as f64).round() as usize]
        }
    }
}

/// A number in three digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-2..1e4).contains(&size) => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ if value.is_infinite() => "inf".to_owned(),
        _ => format!("{value:.1e}"),
    }
}

/// Rows with columns of equal width; the first column is a mark.
fn aligned(rows: &[(Role, Vec<String>)]) -> Vec<Line> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let row = |(role, cells): &(Role, Vec<String>)| {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let gap = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if NUMBERS.contains(&column) {
                format!("{gap}{cell}")
            } else {
                format!("{cell}{gap}")
            }
        });
        let text = cells.collect::<Vec<_>>().join("  ");
        line(*role, text.trim_end().to_owned())
    };
    rows.iter().map(row).collect()
}

fn line(role: Role, text: String) -> Line {
    Line { role, text }
}

/// The text of the command `isoform diff --run`, without a newline at the end.
impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.lines(Some(MOST_ROWS)), f)
    }
}
