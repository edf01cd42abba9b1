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
    let mut borders: Vec<f64> = (0..bins).map(|bin| low + 2.0 * half * bin as f64).collect();
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
    let counts: [(&str, fn(&Facts) -> u64); 3] = [
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
