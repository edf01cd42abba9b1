//! Statistics and histograms of changed tensors.

use isoform::compare::Change;
use isoform::values::{DType, Tensor, ValueRef};
use isoform_ir::kernels::element_type;
use isoform_kernels::{Control, View, to_f64s, unpack_bits};
use isoform_onnx::elements::{element_count, tensor_type};
use isoform_page::page::TensorChange;

/// The elements of all tensors of a page that are read.
const MOST_ELEMENTS: u64 = 1 << 26;
/// The elements of a tensor that are read; of longer tensors, the first ones are.
const MOST_OF_TENSOR: u64 = 1 << 22;
/// The bins of a histogram.
const BINS: usize = 40;

/// The elements that may still be read.
pub(super) struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Budget(MOST_ELEMENTS)
    }
}

/// The elements of a changed tensor on both sides. None unless the change has two tensors
/// of real numbers, and if the budget is spent. O(elements), within the budget.
pub(super) fn tensor_change(change: &Change, budget: &mut Budget) -> Option<TensorChange> {
    let (left, right) = (change.left()?, change.right()?);
    let (ValueRef::Tensor(left), ValueRef::Tensor(right)) = (left.view(), right.view()) else {
        return None;
    };
    two_tensors(left, right, budget)
}

/// The elements of two tensors, as [`tensor_change`].
pub(super) fn two_tensors(
    left: &Tensor,
    right: &Tensor,
    budget: &mut Budget,
) -> Option<TensorChange> {
    let numbers = [numbers(left, budget)?, numbers(right, budget)?];
    let facts = numbers.each_ref().map(|side| Facts::of(side));
    let borders = borders(&facts, BINS);
    let bins = numbers.each_ref().map(|side| binned(side, &borders));
    let difference = (left.shape() == right.shape()).then(|| {
        let pairs = numbers[0].iter().zip(&numbers[1]);
        let apart: Vec<f64> = pairs.map(|(left, right)| right - left).collect();
        let borders = self::borders(&[Facts::of(&apart)], BINS);
        let bins = binned(&apart, &borders);
        (borders, bins)
    });
    Some(TensorChange {
        statistics: statistics([left, right], &numbers, &facts),
        borders,
        bins,
        difference: difference.filter(|(borders, _)| !borders.is_empty()),
    })
}

/// Numbers about one tensor.
pub(super) struct TensorNumbers {
    /// The smallest and the largest finite element.
    pub(super) range: Option<(f64, f64)>,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) zeros: u64,
    /// The number of elements in each bin of a histogram; none without finite elements.
    pub(super) bins: Vec<u64>,
    /// The number of elements that were read.
    pub(super) read: u64,
}

/// Numbers about a tensor, with a histogram of some bins. None unless the elements are real
/// numbers, and if the budget is spent. O(elements), within the budget.
pub(super) fn numbers_of(
    tensor: &Tensor,
    bins: usize,
    budget: &mut Budget,
) -> Option<TensorNumbers> {
    let numbers = numbers(tensor, budget)?;
    let facts = Facts::of(&numbers);
    let borders = borders(std::slice::from_ref(&facts), bins);
    Some(TensorNumbers {
        range: facts.range,
        mean: facts.mean,
        deviation: facts.deviation,
        zeros: facts.zeros,
        bins: binned(&numbers, &borders),
        read: numbers.len() as u64,
    })
}

/// The first elements of a tensor as numbers.
fn numbers(tensor: &Tensor, budget: &mut Budget) -> Option<Vec<f64>> {
    let lanes = u64::from(tensor.dtype().lanes());
    let count = element_count(tensor).checked_mul(lanes)?;
    let count = count.min(MOST_OF_TENSOR);
    budget.0 = budget.0.checked_sub(count)?;
    let count = usize::try_from(count).ok()?;
    let ty = element_type(DType::new(tensor.dtype().code(), tensor.dtype().bits())).ok()?;
    let control = Control::default();
    let data = tensor.data();
    if ty.packed_bits() < 8 {
        let bytes = data.get(..(count * ty.packed_bits()).div_ceil(8))?;
        let unpacked = unpack_bits(ty, &[count], bytes, &control).ok()?;
        return to_f64s(unpacked.view(), &control).ok();
    }
    let bytes = data.get(..count.checked_mul(ty.size())?)?;
    to_f64s(View::new(ty, &[count], bytes).ok()?, &control).ok()
}

/// Numbers about the elements of a tensor.
struct Facts {
    /// The smallest and the largest finite element.
    range: Option<(f64, f64)>,
    mean: f64,
    deviation: f64,
    zeros: u64,
    nans: u64,
    infinities: u64,
}

impl Facts {
    /// Mean and deviation are those of the finite elements. O(elements).
    fn of(numbers: &[f64]) -> Self {
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let count = finite().count().max(1) as f64;
        // Sums of parts do not overflow.
        let mean: f64 = finite().map(|number| number / count).sum();
        let variance: f64 = finite()
            .map(|number| (number - mean) * ((number - mean) / count))
            .sum();
        Facts {
            range: finite().fold(None, |range, number| {
                let (low, high) = range.unwrap_or((number, number));
                Some((f64::min(low, number), f64::max(high, number)))
            }),
            mean,
            deviation: variance.sqrt(),
            zeros: numbers.iter().filter(|number| **number == 0.0).count() as u64,
            nans: numbers.iter().filter(|number| number.is_nan()).count() as u64,
            infinities: numbers.iter().filter(|number| number.is_infinite()).count() as u64,
        }
    }
}

/// Equally wide bins over the finite elements of all tensors; none without such elements.
fn borders(facts: &[Facts], bins: usize) -> Vec<f64> {
    let ranges = facts.iter().filter_map(|side| side.range);
    let whole = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let Some((low, high)) = whole else {
        return Vec::new();
    };
    // A half of the width cannot overflow.
    let half = (high / 2.0 - low / 2.0) / bins as f64;
    if half <= 0.0 || low + half == low {
        let gap = low.abs().max(1.0) * 1e-6;
        return vec![low - gap, high + gap];
    }
    let border = |bin: usize| (low + half * bin as f64) + half * bin as f64;
    let mut borders: Vec<f64> = (0..bins).map(border).collect();
    borders.push(high);
    borders
}

/// The number of finite elements in each bin; the last bin has its upper border, too.
fn binned(numbers: &[f64], borders: &[f64]) -> Vec<u64> {
    let count = borders.len().saturating_sub(1);
    let mut bins = vec![0; count];
    let (Some(low), Some(high)) = (borders.first(), borders.last()) else {
        return bins;
    };
    let half = high / 2.0 - low / 2.0;
    for number in numbers.iter().filter(|number| number.is_finite()) {
        let place = (number / 2.0 - low / 2.0) / half * count as f64;
        // Numbers below 0 become 0.
        let bin = (place as usize).min(count.saturating_sub(1));
        bins[bin] += 1;
    }
    bins
}

/// The name of a count, and the count.
type CountOfElements = (&'static str, fn(&Facts) -> u64);

fn statistics(
    tensors: [&Tensor; 2],
    numbers: &[Vec<f64>; 2],
    facts: &[Facts; 2],
) -> Vec<[String; 3]> {
    let row = |name: &str, text: &dyn Fn(usize) -> String| [name.to_owned(), text(0), text(1)];
    let number = |number: f64| format!("{number:.6e}");
    let has_range = facts.iter().any(|side| side.range.is_some());
    let of_range = |side: usize, text: fn(&Facts, (f64, f64)) -> f64| {
        let range = facts[side].range;
        range.map_or_else(|| "-".to_owned(), |range| number(text(&facts[side], range)))
    };
    let mut rows = vec![row("type", &|side| tensor_type(tensors[side]))];
    if tensors.iter().zip(numbers).any(|(tensor, read)| {
        let lanes = u64::from(tensor.dtype().lanes());
        element_count(tensor).saturating_mul(lanes) > read.len() as u64
    }) {
        rows.push(row("elements read", &|side| {
            numbers[side].len().to_string()
        }));
    }
    if has_range {
        rows.push(row("min", &|side| of_range(side, |_, range| range.0)));
        rows.push(row("max", &|side| of_range(side, |_, range| range.1)));
        rows.push(row("mean", &|side| of_range(side, |facts, _| facts.mean)));
        rows.push(row("std", &|side| {
            of_range(side, |facts, _| facts.deviation)
        }));
    }
    let counts: [CountOfElements; 3] = [
        ("zeros", |facts| facts.zeros),
        ("NaN", |facts| facts.nans),
        ("infinite", |facts| facts.infinities),
    ];
    for (name, count) in counts {
        if facts.iter().any(|side| count(side) > 0) {
            rows.push(row(name, &|side| count(&facts[side]).to_string()));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use isoform::values::DTypeCode;

    use super::*;

    fn tensor(dtype: DType, shape: &[i64], data: Vec<u8>) -> Tensor {
        Tensor::new(dtype, shape.to_vec(), data).expect("a valid tensor")
    }

    fn floats(numbers: &[f32]) -> Tensor {
        let data: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        tensor(DType::FLOAT32, &[numbers.len() as i64], data)
    }

    fn of(left: &Tensor, right: &Tensor) -> Option<TensorChange> {
        two_tensors(left, right, &mut Budget::default())
    }

    fn value<'c>(change: &'c TensorChange, name: &str) -> [&'c str; 2] {
        let row = change.statistics.iter().find(|row| row[0] == name);
        row.map_or(["", ""], |row| [&row[1], &row[2]])
    }

    #[test]
    fn both_sides_share_their_borders() {
        let change = of(&floats(&[0.0, 1.0, 2.0]), &floats(&[0.0, 1.0, 4.0])).expect("numbers");
        assert_eq!(value(&change, "type"), ["float32[3]"; 2]);
        assert_eq!(value(&change, "min"), ["0.000000e0"; 2]);
        assert_eq!(value(&change, "max"), ["2.000000e0", "4.000000e0"]);
        assert_eq!(value(&change, "mean"), ["1.000000e0", "1.666667e0"]);
        assert_eq!(value(&change, "std")[0], "8.164966e-1");
        assert_eq!(value(&change, "zeros"), ["1", "1"]);
        assert_eq!(change.borders.len(), BINS + 1);
        assert_eq!((change.borders[0], change.borders[BINS]), (0.0, 4.0));
        let bins = change.bins.each_ref().map(|side| {
            let filled = side.iter().enumerate().filter(|(_, count)| **count > 0);
            filled.map(|(bin, _)| bin).collect::<Vec<_>>()
        });
        assert_eq!(bins, [vec![0, 10, 20], vec![0, 10, 39]]);
        let (borders, counts) = change.difference.expect("one shape");
        assert_eq!((borders[0], borders[BINS]), (0.0, 2.0));
        assert_eq!((counts[0], counts[BINS - 1]), (2, 1));
    }

    #[test]
    fn odd_numbers_are_counted() {
        let odd = [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            -0.0,
            f32::MAX,
            f32::MIN,
        ];
        let change = of(&floats(&odd), &floats(&[1.0; 6])).expect("numbers");
        assert_eq!(value(&change, "NaN"), ["1", "0"]);
        assert_eq!(value(&change, "infinite"), ["2", "0"]);
        assert_eq!(value(&change, "zeros"), ["1", "0"]);
        assert_eq!(change.bins[0].iter().sum::<u64>(), 3);
        assert!(change.borders.windows(2).all(|pair| pair[0] < pair[1]));
        let huge = [f64::MAX, f64::MIN].map(f64::to_le_bytes).concat();
        let huge = tensor(DType::FLOAT64, &[2], huge);
        let change = of(&huge, &huge).expect("numbers");
        assert!(change.borders.iter().all(|border| border.is_finite()));
        assert_eq!((change.bins[0][0], change.bins[0][BINS - 1]), (1, 1));
        // Nothing but NaN has no histogram.
        let change = of(&floats(&[f32::NAN]), &floats(&[f32::NAN])).expect("numbers");
        assert!(change.borders.is_empty() && change.difference.is_none());
    }

    #[test]
    fn equal_elements_have_one_bin() {
        let change = of(&floats(&[3.0; 4]), &floats(&[3.0; 5])).expect("numbers");
        assert_eq!(change.bins, [vec![4], vec![5]]);
        assert!(change.difference.is_none(), "the shapes differ");
        assert!(change.borders[0] < 3.0 && change.borders[1] > 3.0);
    }

    #[test]
    fn elements_of_every_type() {
        let half = |code, bits| DType::new(code, bits);
        let cases = [
            (half(DTypeCode::Float, 16), vec![0x00, 0x3c], "1.000000e0"),
            (half(DTypeCode::BFloat, 16), vec![0x80, 0x3f], "1.000000e0"),
            (DType::INT32, vec![0xff, 0xff, 0xff, 0xff], "-1.000000e0"),
            (half(DTypeCode::UInt, 8), vec![200], "2.000000e2"),
            (half(DTypeCode::Int, 4), vec![0x0f], "-1.000000e0"),
        ];
        for (dtype, data, expected) in cases {
            let tensor = tensor(dtype, &[1], data);
            let change = of(&tensor, &floats(&[0.5])).expect("numbers");
            assert_eq!(value(&change, "max")[0], expected, "{dtype}");
        }
        let complex = tensor(half(DTypeCode::Complex, 64), &[1], vec![0; 8]);
        assert!(of(&complex, &complex).is_none());
    }

    #[test]
    fn no_elements_and_too_many() {
        let empty = floats(&[]);
        let change = of(&empty, &empty).expect("numbers");
        assert!(change.borders.is_empty() && change.bins.iter().all(Vec::is_empty));
        let long = tensor(DType::new(DTypeCode::UInt, 8), &[1 << 23], vec![1; 1 << 23]);
        let mut budget = Budget::default();
        let change = two_tensors(&long, &long, &mut budget).expect("numbers");
        assert_eq!(value(&change, "elements read"), ["4194304"; 2]);
        assert_eq!(change.bins[0], [1 << 22]);
        budget.0 = 5;
        assert!(two_tensors(&floats(&[1.0; 3]), &floats(&[1.0; 3]), &mut budget).is_none());
    }
}
