//! How far two tensors are apart.
//!
//! The module only measures; the caller decides which differences matter.

use crate::bits::unpacked_pieces;
use crate::control::{BLOCK, Control};
use crate::element::{Class, Element, dispatch};
use crate::element_type::ElementType;
use crate::error::{KernelError, Result};
use crate::tensor::View;

/// The allowed distance of a number from the expected number:
/// `atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected number.
    pub rtol: f64,
    /// In any case.
    pub atol: f64,
}

impl Tolerance {
    /// True if a number at this distance is close enough to the expected number, by the
    /// rule of `numpy.isclose`: an infinite or NaN distance is never close enough.
    /// O(1).
    #[must_use]
    pub fn allows(self, apart: f64, expected: f64) -> bool {
        apart.is_finite() && apart <= self.atol + self.rtol * expected.abs()
    }
}

/// The difference of two tensors, in numbers.
///
/// Elements are compared by their bits, as everywhere in Isoform, except that all NaNs
/// are equal. 0 and -0 differ, by 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of elements of each tensor.
    pub count: usize,
    /// The number of elements that differ.
    pub differing: usize,
    /// The number of elements that differ by more than the tolerance; without a
    /// tolerance, the number of all differing elements.
    pub beyond: usize,
    /// The row-major position of the first element that differs.
    pub first: Option<usize>,
    /// The largest distance of two elements, infinite if a NaN or an infinity faces a
    /// different element; None if the elements are not known as numbers.
    pub max_abs: Option<f64>,
    /// The same without rounding, for integers and truth values.
    pub max_abs_int: Option<u64>,
    /// The largest distance divided by the size of the right element, infinite if the
    /// right element is 0, or if the distance is infinite; None if the elements are not
    /// known as numbers.
    pub max_rel: Option<f64>,
    /// The length of the difference divided by the length of the left tensor. 0 if the
    /// tensors are equal, infinite if the left tensor is zero or a distance is
    /// infinite; None if the elements are not known as numbers.
    pub relative_l2: Option<f64>,
    /// The cosine of the angle between the tensors as vectors, from -1 to 1. None if
    /// exactly one tensor is zero, if a distance is infinite, or if the elements are
    /// not known as numbers.
    pub cosine: Option<f64>,
}

impl Difference {
    /// The difference of two equal tensors of numbers. O(1).
    #[must_use]
    pub fn none(element_type: ElementType, count: usize) -> Self {
        let is_exact = !element_type.is_complex() && class(element_type) != Class::Float;
        Difference {
            count,
            differing: 0,
            beyond: 0,
            first: None,
            max_abs: Some(0.0),
            max_abs_int: is_exact.then_some(0),
            max_rel: Some(0.0),
            relative_l2: Some(0.0),
            cosine: Some(1.0),
        }
    }

    /// The difference of two tensors with elements known only as strings of bits. O(1).
    #[must_use]
    pub fn of_bits(count: usize, differing: usize, first: Option<usize>) -> Self {
        Difference {
            count,
            differing,
            beyond: differing,
            first,
            max_abs: None,
            max_abs_int: None,
            max_rel: None,
            relative_l2: None,
            cosine: None,
        }
    }
}

/// The difference of two tensors of one type and shape, of any element type. O(elements),
/// and a comparison of bytes if these are equal.
///
/// The tolerance applies to `right` as the expected value, as in `numpy.isclose`. Equal
/// NaNs and infinities are left out of lengths and angles.
///
/// ```
/// use isoform_kernels::difference::{Tolerance, difference};
/// use isoform_kernels::{Control, Tensor};
///
/// let left = Tensor::from_slice(&[3], &[3.0_f32, 0.0, 4.0])?;
/// let right = Tensor::from_slice(&[3], &[3.0_f32, 0.0, 4.5])?;
/// let near = Tolerance { rtol: 0.2, atol: 0.0 };
/// let found = difference(left.view(), right.view(), Some(near), &Control::default())?;
/// assert_eq!((found.differing, found.first, found.beyond), (1, Some(2), 0));
/// assert_eq!((found.max_abs, found.relative_l2), (Some(0.5), Some(0.1)));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for tensors of different types, a shape error for different shapes, and an
/// interruption by `control`.
pub fn difference(
    left: View<'_>,
    right: View<'_>,
    tolerance: Option<Tolerance>,
    control: &Control<'_>,
) -> Result<Difference> {
    let ty = left.element_type();
    if ty != right.element_type() {
        return Err(KernelError::ty(format!(
            "difference: expected elements of {ty}, got {}; cast one of the tensors first",
            right.element_type()
        )));
    }
    if left.shape() != right.shape() {
        return Err(KernelError::shape(format!(
            "difference: expected shape {:?}, got {:?}",
            left.shape(),
            right.shape()
        )));
    }
    if left.bytes() == right.bytes() {
        return Ok(Difference::none(ty, left.len()));
    }
    Measure::new(ty, tolerance).whole(left.bytes(), right.bytes(), control)
}

/// [`difference`] for elements of fewer bits than a byte in packed bytes, as in files.
/// Only a piece is unpacked at a time. O(elements).
///
/// # Errors
///
/// A type error for types of other sizes, a shape error for a wrong number of bytes, and an
/// interruption by `control`.
pub fn packed_difference(
    element_type: ElementType,
    count: usize,
    (left, right): (&[u8], &[u8]),
    tolerance: Option<Tolerance>,
    control: &Control<'_>,
) -> Result<Difference> {
    let is_same = left == right;
    let left = unpacked_pieces(element_type, count, left)?;
    let right = unpacked_pieces(element_type, count, right)?;
    if is_same {
        return Ok(Difference::none(element_type, count));
    }
    let mut measure = Measure::new(element_type, tolerance);
    let mut progress = control.progress();
    for (left, right) in left.zip(right) {
        measure.compare(&left, &right);
        // These formats are so narrow that no sum of squares leaves the range of f64.
        measure.add(&left, &right, [1.0; 3]);
        progress.advance(left.len())?;
    }
    Ok(measure.result())
}

/// [`difference`] of the numbers in two tensors of one shape, whatever their element
/// types. Elements are equal if they are the same `float64` number, and counts and
/// distances refer to these numbers. O(elements), with room for a piece at a time.
///
/// ```
/// use isoform_kernels::difference::difference_of_numbers;
/// use isoform_kernels::{Control, Tensor};
///
/// let left = Tensor::from_slice(&[2], &[1.0_f32, 2.5])?;
/// let right = Tensor::from_slice(&[2], &[1_i8, 2])?;
/// let found = difference_of_numbers(left.view(), right.view(), &Control::default())?;
/// assert_eq!((found.differing, found.first, found.max_abs), (1, Some(1), Some(0.5)));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for complex numbers, a shape error for different shapes, and an interruption by
/// `control`.
pub fn difference_of_numbers(
    left: View<'_>,
    right: View<'_>,
    control: &Control<'_>,
) -> Result<Difference> {
    for side in [left, right] {
        if side.element_type().is_complex() {
            return Err(KernelError::ty(format!(
                "difference: expected real numbers, got elements of {}",
                side.element_type()
            )));
        }
    }
    if left.shape() != right.shape() {
        return Err(KernelError::shape(format!(
            "difference: expected shape {:?}, got {:?}",
            left.shape(),
            right.shape()
        )));
    }
    let pieces = || {
        let sides = [left, right].map(|side| {
            let ty = side.element_type();
            let pieces = side.bytes().chunks(BLOCK * ty.size());
            pieces.map(move |piece| wide(ty, piece))
        });
        let [left, right] = sides;
        left.zip(right)
    };
    let mut measure = Measure::new(ElementType::Float64, None);
    let mut progress = control.progress();
    let mut magnitudes = [0.0_f64; 2];
    for (left, right) in pieces() {
        measure.compare(&left, &right);
        magnitudes[0] = magnitudes[0].max(magnitude(&left));
        magnitudes[1] = magnitudes[1].max(magnitude(&right));
        progress.advance(left.len() / size_of::<f64>())?;
    }
    let scales = [magnitudes[0], magnitudes[1], measure.largest].map(scale);
    for (left, right) in pieces() {
        measure.add(&left, &right, scales);
        progress.advance(left.len() / size_of::<f64>())?;
    }
    Ok(measure.result())
}

/// The numbers of real elements, as `float64` numbers.
fn wide(ty: ElementType, bytes: &[u8]) -> Vec<u8> {
    let mut wide = vec![0; bytes.len() / ty.size() * size_of::<f64>()];
    dispatch!(any ty, T => {
        let to = <f64 as Element>::chunks_mut(&mut wide).iter_mut();
        for (to, from) in to.zip(T::chunks(bytes)) {
            *to = T::read(*from).to_f64().write();
        }
    }, else ());
    wide
}

/// The difference of the elements compared up to the current position.
struct Measure {
    ty: ElementType,
    tolerance: Option<Tolerance>,
    found: Difference,
    largest: f64,
    largest_rel: f64,
    largest_int: u64,
    /// True if a NaN or an infinity faces something else.
    is_unbounded: bool,
    sums: Sums,
}

/// Sums over all elements, of numbers multiplied by scales: squares of the left and the right
/// elements and of their distances, and products of both.
#[derive(Clone, Copy)]
struct Sums {
    left: f64,
    right: f64,
    apart: f64,
    product: f64,
    scales: [f64; 3],
}

impl Measure {
    fn new(ty: ElementType, tolerance: Option<Tolerance>) -> Self {
        Measure {
            ty,
            tolerance,
            found: Difference::none(ty, 0),
            largest: 0.0,
            largest_rel: 0.0,
            largest_int: 0,
            is_unbounded: false,
            sums: Sums {
                left: 0.0,
                right: 0.0,
                apart: 0.0,
                product: 0.0,
                scales: [1.0; 3],
            },
        }
    }

    /// The difference of elements that are completely in memory.
    fn whole(mut self, left: &[u8], right: &[u8], control: &Control<'_>) -> Result<Difference> {
        let step = BLOCK * self.ty.size();
        let blocks = || left.chunks(step).zip(right.chunks(step));
        let mut progress = control.progress();
        let mut magnitudes = [0.0_f64; 2];
        for (left, right) in blocks() {
            self.compare(left, right);
            if part_type(self.ty) == ElementType::Float64 {
                magnitudes[0] = magnitudes[0].max(magnitude(left));
                magnitudes[1] = magnitudes[1].max(magnitude(right));
            }
            progress.advance(left.len() / self.ty.size())?;
        }
        let scales = [magnitudes[0], magnitudes[1], self.largest].map(scale);
        for (left, right) in blocks() {
            self.add(left, right, scales);
            progress.advance(left.len() / self.ty.size())?;
        }
        Ok(self.result())
    }

    /// Counts the elements of a piece that differ.
    fn compare(&mut self, left: &[u8], right: &[u8]) {
        if left != right {
            match self.ty {
                ElementType::Complex64 => self.compare_complex::<f32>(left, right),
                ElementType::Complex128 => self.compare_complex::<f64>(left, right),
                ty => dispatch!(any ty, T => self.compare_as::<T>(left, right), else ()),
            }
        }
        self.found.count += left.len() / self.ty.size();
    }

    fn compare_as<T: Element>(&mut self, left: &[u8], right: &[u8]) {
        let pairs = T::chunks(left).iter().zip(T::chunks(right));
        for (at, (left, right)) in pairs.enumerate() {
            if left.as_ref() == right.as_ref() {
                continue;
            }
            let (left, right) = (T::read(*left), T::read(*right));
            if are_nan(left, right) {
                continue;
            }
            let (apart, exact) = distance(left, right);
            self.largest_int = self.largest_int.max(exact);
            self.differ(at, apart, right.to_f64());
        }
    }

    fn compare_complex<T: Element>(&mut self, left: &[u8], right: &[u8]) {
        let pairs = T::chunks(left).chunks_exact(2);
        for (index, (left, right)) in pairs.zip(T::chunks(right).chunks_exact(2)).enumerate() {
            let part = |component: usize| {
                let is_same = left[component].as_ref() == right[component].as_ref();
                let (left, right) = (T::read(left[component]), T::read(right[component]));
                if is_same || are_nan(left, right) {
                    None
                } else {
                    Some(distance(left, right).0)
                }
            };
            let expected = || T::read(right[0]).to_f64().hypot(T::read(right[1]).to_f64());
            match (part(0), part(1)) {
                (None, None) => {}
                (Some(apart), None) | (None, Some(apart)) => self.differ(index, apart, expected()),
                (Some(real), Some(imaginary)) => {
                    self.differ(index, real.hypot(imaginary), expected());
                }
            }
        }
    }

    /// Counts a pair of elements that differ, at a place of the current piece.
    fn differ(&mut self, at: usize, apart: f64, expected: f64) {
        self.found.first.get_or_insert(self.found.count + at);
        self.found.differing += 1;
        self.largest = self.largest.max(apart);
        if apart > 0.0 {
            let relative = apart / expected.abs();
            // Beside an infinity or a NaN, the distance is infinite.
            self.largest_rel = self.largest_rel.max(if relative.is_nan() {
                f64::INFINITY
            } else {
                relative
            });
        }
        let allows = |it: Tolerance| it.allows(apart, expected);
        self.found.beyond += usize::from(!self.tolerance.is_some_and(allows));
    }

    /// Adds a piece to the sums.
    fn add(&mut self, left: &[u8], right: &[u8], scales: [f64; 3]) {
        self.sums.scales = scales;
        dispatch!(any part_type(self.ty), T => self.add_as::<T>(left, right), else ());
    }

    fn add_as<T: Element>(&mut self, left: &[u8], right: &[u8]) {
        let mut sums = self.sums;
        let [left_scale, right_scale, apart_scale] = sums.scales;
        for (left, right) in T::chunks(left).iter().zip(T::chunks(right)) {
            let (left, right) = (T::read(*left), T::read(*right));
            let (a, b) = (left.to_f64(), right.to_f64());
            if !(a.is_finite() && b.is_finite()) {
                // Where these are equal, they do not add to any distance.
                self.is_unbounded |= a != b && !(a.is_nan() && b.is_nan());
                continue;
            }
            let (apart, _) = distance(left, right);
            let (a, b, apart) = (a * left_scale, b * right_scale, apart * apart_scale);
            sums.left += a * a;
            sums.right += b * b;
            sums.apart += apart * apart;
            sums.product += a * b;
        }
        self.sums = sums;
    }

    fn result(self) -> Difference {
        let mut difference = self.found;
        if difference.differing == 0 {
            return difference;
        }
        difference.max_abs = Some(self.largest);
        difference.max_rel = Some(self.largest_rel);
        difference.max_abs_int = difference.max_abs_int.map(|_| self.largest_int);
        if self.is_unbounded {
            difference.relative_l2 = Some(f64::INFINITY);
            difference.cosine = None;
            return difference;
        }
        let Sums {
            left,
            right,
            apart,
            product,
            scales,
        } = self.sums;
        difference.relative_l2 = Some(match (left, apart) {
            (_, 0.0) => 0.0,
            (0.0, _) => f64::INFINITY,
            _ => (apart / left).sqrt() * (scales[0] / scales[2]),
        });
        difference.cosine = match (left, right) {
            (0.0, 0.0) => Some(1.0),
            (0.0, _) | (_, 0.0) => None,
            _ => Some((product / (left.sqrt() * right.sqrt())).clamp(-1.0, 1.0)),
        };
        difference
    }
}

/// The type of the numbers that an element consists of.
fn part_type(ty: ElementType) -> ElementType {
    match ty {
        ElementType::Complex64 => ElementType::Float32,
        ElementType::Complex128 => ElementType::Float64,
        ty => ty,
    }
}

fn class(ty: ElementType) -> Class {
    dispatch!(any ty, T => T::CLASS, else Class::Float)
}

fn are_nan<T: Element>(left: T, right: T) -> bool {
    T::CLASS == Class::Float && left.to_f64().is_nan() && right.to_f64().is_nan()
}

/// The distance of two elements, rounded, and exactly for integers.
#[inline]
fn distance<T: Element>(left: T, right: T) -> (f64, u64) {
    let exact = match T::CLASS {
        Class::Float => {
            let apart = (left.to_f64() - right.to_f64()).abs();
            return (if apart.is_nan() { f64::INFINITY } else { apart }, 0);
        }
        Class::Unsigned => (left.to_i64() as u64).abs_diff(right.to_i64() as u64),
        Class::Bool | Class::Signed => left.to_i64().abs_diff(right.to_i64()),
    };
    (exact as f64, exact)
}

/// The largest finite size among the elements of `float64`.
fn magnitude(bytes: &[u8]) -> f64 {
    let sizes = <f64 as Element>::chunks(bytes)
        .iter()
        .map(|raw| f64::read(*raw).abs());
    sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// A power of two that brings numbers of at most this size to where their squares neither
/// overflow nor vanish.
fn scale(largest: f64) -> f64 {
    match largest {
        0.0 => 1.0,
        size if size > 1e100 => 2.0_f64.powi(-600),
        size if size < 1e-100 => 2.0_f64.powi(600),
        _ => 1.0,
    }
}
