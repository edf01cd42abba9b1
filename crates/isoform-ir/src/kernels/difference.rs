//! The distance between two tensors of programs, and the choice of small differences.

use std::sync::Arc;

use isoform_kernels::difference::{
    Difference, Tolerance, difference, difference_of_numbers, packed_difference,
};
use isoform_kernels::{Control, View};

use super::{Input, InputError, element_type};
use isoform::compare::{Change, IgnoreChange};
use isoform::plumbing::{NanRule, element_bits};
use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Error, Value};

/// The difference of two tensors of one dtype and shape, of any dtype. Consists of the
/// number of differing elements, the first differing element, the largest distance, and
/// the distance of the tensors as vectors. O(elements); for equal bytes, only a
/// comparison of bytes.
///
/// Elements are equal exactly if [`structural_equal`](isoform::structural_equal) says so of
/// tensors: by their bits, except that all NaNs are equal. Vectors (`int8x4`) are compared
/// lane by lane, and counts and positions are those of lanes. Of types that are not known as
/// numbers, such as `float8_e3m4`, only the bits are compared. The tolerance applies to
/// `right` as the expected value.
///
/// ```
/// use isoform_ir::kernels::tensor_difference;
/// use isoform::values::{DType, Tensor};
/// use isoform_kernels::Control;
///
/// let tensor = |number: i32| {
///     Tensor::new(DType::INT32, vec![2], [1, number].map(i32::to_le_bytes).concat())
/// };
/// let (left, right) = (tensor(5)?, tensor(-5)?);
/// let found = tensor_difference(&left, &right, None, &Control::default()).unwrap();
/// assert_eq!((found.differing, found.first, found.max_abs_int), (1, Some(1), Some(10)));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `TypeError` for tensors of different dtypes or shapes; an interruption by `control`.
pub fn tensor_difference(
    left: &Tensor,
    right: &Tensor,
    tolerance: Option<Tolerance>,
    control: &Control<'_>,
) -> Result<Difference, InputError> {
    if (left.dtype(), left.shape()) != (right.dtype(), right.shape()) {
        return Err(InputError::Unknown(Error::type_error(format!(
            "difference of tensors: expected {} {:?}, got {} {:?}",
            left.dtype(),
            left.shape(),
            right.dtype(),
            right.shape()
        ))));
    }
    let lane = DType::new(left.dtype().code(), left.dtype().bits());
    let (l, r) = (&left.data()[..], &right.data()[..]);
    let dims = left.shape().iter().map(|dim| dim.unsigned_abs() as usize);
    // A tensor exists only if this fits.
    let count = dims.product::<usize>() * usize::from(left.dtype().lanes());
    let Ok(ty) = element_type(lane) else {
        return Ok(bits_difference(lane, count, l, r));
    };
    if ty.packed_bits() < 8 {
        return Ok(packed_difference(ty, count, (l, r), tolerance, control)?);
    }
    let shape = [count];
    let view = |bytes| View::new(ty, &shape, bytes);
    Ok(difference(view(l)?, view(r)?, tolerance, control)?)
}

/// The difference of the numbers in two tensors of one shape, for any dtypes, for
/// example `float32` and `float16`: counts and distances are computed from the numbers
/// as `float64`. O(elements).
///
/// ```
/// use isoform_ir::kernels::number_difference;
/// use isoform::values::{DType, DTypeCode, Tensor};
/// use isoform_kernels::Control;
///
/// let left = Tensor::new(DType::INT32, vec![2], [1, 300].map(i32::to_le_bytes).concat())?;
/// let right = Tensor::new(DType::new(DTypeCode::Int, 8), vec![2], vec![1, 44])?;
/// let found = number_difference(&left, &right, &Control::default()).unwrap();
/// assert_eq!((found.differing, found.max_abs), (1, Some(256.0)));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `TypeError` for elements that are not real numbers, an error for different shapes; an
/// interruption by `control`.
pub fn number_difference(
    left: &Tensor,
    right: &Tensor,
    control: &Control<'_>,
) -> Result<Difference, InputError> {
    let (left, right) = (Input::new(left, control)?, Input::new(right, control)?);
    Ok(difference_of_numbers(left.view()?, right.view()?, control)?)
}

/// Leaves small changes of numbers out of a diff. Small means close as in
/// `numpy.isclose` with the right number as the reference. Applies to floats, and to
/// all elements of tensors of one dtype and shape. O(elements) for every changed
/// tensor.
///
/// ```
/// use isoform::compare::DiffOptions;
/// use isoform_ir::kernels::within;
///
/// let mut options = DiffOptions::default();
/// options.ignore.push(within(0.0, 0.1));
/// assert!(options.diff(1.0, 1.05)?.is_empty());
/// assert!(!options.diff(1.0, 1.2)?.is_empty());
/// # Ok::<(), isoform::Error>(())
/// ```
#[must_use]
pub fn within(rtol: f64, atol: f64) -> IgnoreChange {
    let tolerance = Tolerance { rtol, atol };
    Arc::new(move |change| {
        let (Some(left), Some(right)) = (change.left(), change.right()) else {
            return Ok(false);
        };
        Ok(match (left.view(), right.view()) {
            (ValueRef::Float(left), ValueRef::Float(right)) => {
                tolerance.allows((left - right).abs(), right)
            }
            (ValueRef::Tensor(left), ValueRef::Tensor(right)) => {
                let found = tensor_difference(left, right, Some(tolerance), &Control::default());
                // Tensors of other types or shapes are not close.
                found.is_ok_and(|it| it.beyond == 0)
            }
            _ => false,
        })
    })
}

/// The difference of elements compared by their bits.
fn bits_difference(lane: DType, count: usize, left: &[u8], right: &[u8]) -> Difference {
    let bits = usize::from(lane.bits());
    let rule = NanRule::of(lane);
    let (mut differing, mut first, mut next) = (0, None, 0);
    let pairs = left.iter().zip(right).enumerate();
    for (byte, _) in pairs.filter(|(_, (left, right))| left != right) {
        // A byte may hold several elements, and an element may have several bytes.
        let last = ((8 * byte + 7) / bits).min(count.saturating_sub(1));
        for at in (8 * byte / bits).max(next)..=last {
            next = at + 1;
            if !same_bits(left, right, at * bits, bits, rule) {
                differing += 1;
                first.get_or_insert(at);
            }
        }
    }
    Difference::of_bits(count, differing, first)
}

fn same_bits(left: &[u8], right: &[u8], from: usize, bits: usize, rule: Option<NanRule>) -> bool {
    let Some(rule) = rule else {
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
        return (from..from + bits).all(|at| bit(left, at) == bit(right, at));
    };
    // A type with NaNs has elements of whole bytes, and the parts of a complex number each
    // have their own.
    let parts = |bytes: &'_ [u8]| -> Vec<u64> {
        let element = &bytes[from / 8..(from + bits) / 8];
        element.chunks(rule.width).map(element_bits).collect()
    };
    let mut pairs = parts(left).into_iter().zip(parts(right));
    pairs.all(|(left, right)| left == right || (rule.is_nan(left) && rule.is_nan(right)))
}

/// How the elements of two tensors of one type and shape differ; None for everything
/// else. O(elements), each time.
///
/// # Errors
///
/// `TypeError` for tensors that cannot be measured.
pub fn tensor_change(change: &Change) -> isoform::Result<Option<Difference>> {
    let tensor = |value: Option<&Value>| value?.peek::<Tensor>().cloned();
    let (Some(left), Some(right)) = (tensor(change.left()), tensor(change.right())) else {
        return Ok(None);
    };
    if (left.dtype(), left.shape()) != (right.dtype(), right.shape()) {
        return Ok(None);
    }
    match tensor_difference(&left, &right, None, &Control::default()) {
        Ok(found) => Ok(Some(found)),
        Err(InputError::Unknown(error)) => Err(error),
        Err(other) => Err(Error::type_error(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use isoform_kernels::difference::Tolerance;

    use super::*;
    use isoform::Value;
    use isoform::compare::DiffOptions;
    use isoform::structural_equal;

    fn tensor(dtype: &str, count: i64, data: &[u8]) -> Tensor {
        Tensor::new(dtype.parse().unwrap(), vec![count], data.to_vec()).unwrap()
    }

    #[track_caller]
    fn check(dtype: &str, count: i64, left: &[u8], right: &[u8], first: &[usize]) -> Difference {
        let (left, right) = (tensor(dtype, count, left), tensor(dtype, count, right));
        let found = tensor_difference(&left, &right, None, &Control::default()).unwrap();
        assert_eq!(found.first, first.first().copied(), "{dtype}");
        assert_eq!(found.differing, first.len(), "{dtype}");
        let lanes = usize::from(left.dtype().lanes());
        assert_eq!(found.count, count as usize * lanes, "{dtype}");
        let is_equal = structural_equal(left, right).unwrap();
        assert_eq!(is_equal, first.is_empty(), "{dtype}");
        found
    }

    #[test]
    fn every_dtype_is_compared_as_by_structural_equality() {
        let floats = |numbers: [u32; 2]| numbers.map(u32::to_le_bytes).concat();
        let (one, nan, other_nan) = (0x3f80_0000, 0x7fc0_0000, 0xffc0_0001);
        let (left, right) = (floats([one, nan]), floats([one, other_nan]));
        check("float32", 2, &left, &right, &[]);
        check("float32x2", 1, &left, &right, &[]);
        check("complex64", 1, &left, &right, &[]);
        check("float32", 2, &left, &floats([nan, one]), &[0, 1]);
        check("complex64", 1, &left, &floats([one, one]), &[0]);
        check("int32", 2, &left, &right, &[1]);
        check("int8x2", 2, &[1, 2, 3, 4], &[1, 2, 3, 5], &[3]);
        check("uint4", 3, &[0x21, 3], &[0x31, 3], &[1]);
        check("int4", 3, &[0x21, 3], &[0x1f, 2], &[0, 1, 2]);
        check("bool", 2, &[0, 1], &[1, 1], &[0]);
        check("float8_e4m3fn", 3, &[0x7f, 1, 0], &[0xff, 2, 0], &[1]);
    }

    #[test]
    fn numbers_of_unknown_types_are_compared_by_their_bits() {
        let found = check("float8_e4m3", 3, &[0x79, 1, 0], &[0x7f, 2, 0], &[1]);
        assert_eq!((found.max_abs, found.relative_l2), (None, None));
        let halves = [0x7e01_u16, 0, 0, 1].map(u16::to_le_bytes).concat();
        let others = [0x7e02_u16, 0, 0, 2].map(u16::to_le_bytes).concat();
        check("complex32", 2, &halves, &others, &[1]);
        check("int128", 1, &[0; 16], &[1; 16], &[0]);
        // Two elements of 12 bits share a byte.
        check("int12", 2, &[1, 0x10, 0], &[1, 0x21, 0], &[0, 1]);
        check("int12", 2, &[1, 0x10, 0], &[1, 0x20, 0], &[1]);
    }

    #[test]
    fn the_tolerance_reaches_narrow_elements() {
        let (left, right) = (
            tensor("int4", 3, &[0x21, 0xf]),
            tensor("int4", 3, &[0x11, 1]),
        );
        let near = Tolerance {
            rtol: 0.0,
            atol: 1.0,
        };
        let found = tensor_difference(&left, &right, Some(near), &Control::default()).unwrap();
        // 2 and 1 are near each other, -1 and 1 are not.
        assert_eq!((found.differing, found.beyond), (2, 1));
        assert_eq!(found.max_abs_int, Some(2));
    }

    #[test]
    fn small_changes_of_numbers_are_left_out_of_a_diff() {
        let floats = |numbers: [f32; 2]| {
            let data = numbers.map(f32::to_le_bytes).concat();
            Value::from(tensor("float32", 2, &data))
        };
        let is_close = |left: Value, right: Value, rtol, atol| {
            let mut options = DiffOptions::default();
            options.ignore.push(within(rtol, atol));
            options.diff(left, right).unwrap().is_empty()
        };
        for (left, right, rtol, atol, expected) in [
            ([1.0, 2.0], [1.0, 2.25], 0.0, 0.25, true),
            ([1.0, 2.0], [1.0, 2.25], 0.0, 0.24, false),
            // The right number is the reference.
            ([1.0, 2.0], [1.0, 4.0], 0.5, 0.0, true),
            ([1.0, 4.0], [1.0, 2.0], 0.5, 0.0, false),
            // One distant element suffices.
            ([0.0, 0.0], [0.1, 9.0], 0.0, 0.5, false),
            ([1.0, f32::INFINITY], [1.0, 3.0], 1.0, 1.0, false),
        ] {
            let result = is_close(floats(left), floats(right), rtol, atol);
            assert_eq!(result, expected, "{left:?} {right:?} {rtol} {atol}");
            let [left, right] = [left[1], right[1]].map(|value| Value::from(f64::from(value)));
            assert_eq!(is_close(left, right, rtol, atol), expected);
        }
        let short = Value::from(tensor("float32", 1, &[0; 4]));
        assert!(!is_close(short, floats([0.0, 0.0]), 1.0, 1.0));
        assert!(!is_close(1.into(), 2.into(), 1.0, 1.0), "integers count");
        assert!(!is_close(Value::NONE, 2.0.into(), 1.0, 1.0));
    }

    #[test]
    fn other_shapes_are_refused() {
        let (left, right) = (tensor("int8", 1, &[1]), tensor("int8", 2, &[1, 2]));
        let error = tensor_difference(&left, &right, None, &Control::default()).unwrap_err();
        let InputError::Unknown(error) = error else {
            panic!("expected an error about types, got {error:?}");
        };
        let text = "difference of tensors: expected int8 [1], got int8 [2]";
        assert!(error.to_string().contains(text), "{error}");
    }
}
