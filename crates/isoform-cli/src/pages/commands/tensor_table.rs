//! Tables of tensors with statistics and histograms.

use isoform::values::Tensor;
use isoform_onnx::elements::{element_count, tensor_type};
use isoform_page::page::{Table, TableRow};

use super::{row, table};
use crate::optimize::bytes_text;
use crate::pages::tensors::{Budget, numbers_of};

/// The bins of a histogram in a cell.
const BINS: usize = 16;
/// The bars of a histogram, lowest first; an empty bin has none.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A tensor of a table.
pub(super) struct NamedTensor {
    pub(super) name: String,
    /// The type and the shape, if the tensor's own are not those of its numbers.
    pub(super) stored: Option<String>,
    pub(super) tensor: Tensor,
    /// False if the elements are those of a file that is missing, or not to be read.
    pub(super) has_numbers: bool,
}

/// A table of tensors, largest first. Reads the elements within the budget of a page.
pub(super) fn tensor_table(title: &str, mut tensors: Vec<NamedTensor>) -> Table {
    tensors.sort_by_key(|named| std::cmp::Reverse(named.tensor.data().len()));
    let mut budget = Budget::default();
    let columns = [
        "name",
        "type",
        "size",
        "min",
        "max",
        "mean",
        "std",
        "zeros",
        "histogram",
    ];
    let rows = tensors.iter().map(|named| tensor_row(named, &mut budget));
    table(title, &columns, rows)
}

fn tensor_row(named: &NamedTensor, budget: &mut Budget) -> TableRow {
    let tensor = &named.tensor;
    let ty = named.stored.clone().unwrap_or_else(|| tensor_type(tensor));
    let mut cells = vec![
        named.name.clone(),
        ty,
        bytes_text(tensor.data().len() as u64),
    ];
    let numbers = if named.has_numbers && named.stored.is_none() {
        numbers_of(tensor, BINS, budget)
    } else {
        None
    };
    let Some(numbers) = numbers else {
        cells.extend(["-"; 6].map(str::to_owned));
        return row(cells);
    };
    let number = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), short);
    cells.extend([
        number(numbers.range.map(|(low, _)| low)),
        number(numbers.range.map(|(_, high)| high)),
        number(numbers.range.map(|_| numbers.mean)),
        number(numbers.range.map(|_| numbers.deviation)),
        numbers.zeros.to_string(),
    ]);
    let mut bars = bars(&numbers.bins);
    if numbers.read < element_count(tensor) {
        bars.push_str(&format!(" (of the first {})", numbers.read));
    }
    cells.push(bars);
    row(cells)
}

/// A number with four digits.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-3..1e5).contains(&size) {
        let text = format!("{number:.4}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return text.to_owned();
    }
    format!("{number:.3e}")
}

/// A histogram as a line of bars: the fullest bin has the highest bar, and a bin with any
/// element has a bar.
fn bars(bins: &[u64]) -> String {
    let most = bins.iter().copied().max().unwrap_or(0);
    let bar = |count: &u64| match count {
        0 => ' ',
        _ => {
            let height = (*count as f64 / most as f64 * BARS.len() as f64).ceil() as usize;
            BARS[height.clamp(1, BARS.len()) - 1]
        }
    };
    let bars: String = bins.iter().map(bar).collect();
    // Borders keep the empty bins at both ends visible.
    if bars.is_empty() {
        bars
    } else {
        format!("│{bars}│")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_heights_of_bins() {
        assert_eq!(bars(&[0, 1, 50, 100]), "│ ▁▄█│");
        assert_eq!(bars(&[]), "");
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 1.5, -0.25, 123_456.0, 1e-9, f64::MAX].map(short);
        assert_eq!(
            texts,
            ["0", "1.5", "-0.25", "1.235e5", "1.000e-9", "1.798e308"]
        );
    }

    #[test]
    fn tensors_have_statistics() {
        let data: Vec<u8> = [1.0_f32, 2.0, 0.0, 3.0]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        let dtype = "float32".parse().unwrap();
        let tensor = Tensor::new(dtype, vec![4], data).unwrap();
        let named = |has_numbers| NamedTensor {
            name: "w".to_owned(),
            stored: None,
            tensor: tensor.clone(),
            has_numbers,
        };
        let table = tensor_table("Weights", vec![named(true), named(false)]);
        let cells = &table.rows[0].cells;
        assert_eq!(
            cells[..8],
            ["w", "float32[4]", "16 B", "0", "3", "1.5", "1.118", "1"]
        );
        assert_eq!(cells[8].chars().filter(|bar| *bar == '█').count(), 4);
        assert_eq!(table.rows[1].cells[3..], ["-"; 6]);
        assert_eq!(table.columns.len(), cells.len());
    }
}
