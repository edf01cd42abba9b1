//! Arithmetic, logic and bits of two operands.

use super::loops::{same_type, zip};
use crate::control::Control;
use crate::element::{Class, Element, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::number::{Integer, Number};
use crate::tensor::{Tensor, View};

/// An operator with two operands and a result of the same type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binary {
    /// The sum; integers wrap around.
    Add,
    /// The difference; integers wrap around.
    Subtract,
    /// The product; integers wrap around.
    Multiply,
    /// The quotient; of integers, rounded towards zero, and the smallest one divided by -1
    /// wraps around to itself.
    Divide,
    /// The quotient rounded towards zero: `divide` of integers, `trunc` of `divide` of floats.
    TruncDivide,
    /// The remainder with the sign of the dividend, as `%` of C and `fmod`.
    TruncMod,
    /// The quotient rounded down, like `//` of Python and NumPy. For floats, the
    /// unrounded quotient is rounded down, to be consistent with `FloorMod`.
    FloorDivide,
    /// The remainder with the sign of the divisor, as `%` of Python and NumPy.
    FloorMod,
    /// The power. Integers wrap around, and a negative exponent of integers is
    /// undefined. Floats follow `pow` of IEEE 754: `1 ** NaN` and `NaN ** 0` are 1.
    Power,
    /// The larger operand. NaN if either is NaN, and 0 is larger than -0: `maximum` of
    /// IEEE 754-2019. On truth values, `or`.
    Maximum,
    /// The smaller one. NaN if either is NaN, and -0 is smaller than 0: `minimum` of IEEE 754-2019.
    /// On truth values, `and`.
    Minimum,
    /// Integers shifted left; a number of bits outside of `0..width` is undefined.
    LeftShift,
    /// Integers shifted right, signed ones with copies of the sign; a number of bits
    /// outside of `0..width` is undefined.
    RightShift,
    /// The bits that both have; of integers and truth values.
    BitwiseAnd,
    /// The bits set in at least one operand, for integers and truth values.
    BitwiseOr,
    /// The bits set in exactly one operand, for integers and truth values.
    BitwiseXor,
    /// True if both are; of truth values.
    LogicalAnd,
    /// True if at least one is; of truth values.
    LogicalOr,
    /// True if exactly one is; of truth values.
    LogicalXor,
}

impl Binary {
    /// Every operator.
    pub const ALL: &'static [Binary] = &[
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::TruncDivide,
        Binary::TruncMod,
        Binary::FloorDivide,
        Binary::FloorMod,
        Binary::Power,
        Binary::Maximum,
        Binary::Minimum,
        Binary::LeftShift,
        Binary::RightShift,
        Binary::BitwiseAnd,
        Binary::BitwiseOr,
        Binary::BitwiseXor,
        Binary::LogicalAnd,
        Binary::LogicalOr,
        Binary::LogicalXor,
    ];

    /// The name in Relay's spelling: `"floor_divide"`. Relay's `mod` is `trunc_mod`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Subtract => "subtract",
            Binary::Multiply => "multiply",
            Binary::Divide => "divide",
            Binary::TruncDivide => "trunc_divide",
            Binary::TruncMod => "trunc_mod",
            Binary::FloorDivide => "floor_divide",
            Binary::FloorMod => "floor_mod",
            Binary::Power => "power",
            Binary::Maximum => "maximum",
            Binary::Minimum => "minimum",
            Binary::LeftShift => "left_shift",
            Binary::RightShift => "right_shift",
            Binary::BitwiseAnd => "bitwise_and",
            Binary::BitwiseOr => "bitwise_or",
            Binary::BitwiseXor => "bitwise_xor",
            Binary::LogicalAnd => "logical_and",
            Binary::LogicalOr => "logical_or",
            Binary::LogicalXor => "logical_xor",
        }
    }
}

/// The result of an operator on each pair of elements, under broadcasting.
///
/// ```
/// use isoform_kernels::elementwise::{Binary, binary};
/// use isoform_kernels::{Control, Tensor};
///
/// let a = Tensor::from_slice(&[2, 1], &[-7_i32, 7])?;
/// let b = Tensor::from_slice(&[2], &[2_i32, -2])?;
/// let result = binary(Binary::FloorDivide, a.view(), b.view(), &Control::default())?;
/// assert_eq!(result.view().to_vec::<i32>()?, [-4, 3, 3, -4]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error if the types differ or lack the operator, a shape error if the shapes
/// do not broadcast, an undefined result for integers as described at [`Binary`]. If
/// the result has no elements, the elements of the operands are not checked.
pub fn binary(op: Binary, a: View<'_>, b: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    use Binary as B;
    let ty = same_type(op.name(), a, b)?;
    match op {
        B::LogicalAnd | B::LogicalOr | B::LogicalXor if ty != ElementType::Bool => {
            return Err(not_defined(op.name(), "bool", ty));
        }
        B::LogicalAnd | B::BitwiseAnd | B::Minimum if ty == ElementType::Bool => {
            return zip(a, b, control, |x: bool, y: bool| x & y);
        }
        B::LogicalOr | B::BitwiseOr | B::Maximum if ty == ElementType::Bool => {
            return zip(a, b, control, |x: bool, y: bool| x | y);
        }
        B::LogicalXor | B::BitwiseXor if ty == ElementType::Bool => {
            return zip(a, b, control, |x: bool, y: bool| x ^ y);
        }
        B::LeftShift | B::RightShift | B::BitwiseAnd | B::BitwiseOr | B::BitwiseXor => {
            return dispatch!(integer ty, T => on_bits::<T>(op, a, b, control),
                else Err(not_defined(op.name(), "an integer type", ty)));
        }
        _ => {}
    }
    dispatch!(number ty, T => arithmetic::<T>(op, a, b, control),
        else Err(not_defined(op.name(), "an integer or float type", ty)))
}

fn arithmetic<T: Number>(
    op: Binary,
    a: View<'_>,
    b: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    use Binary as B;
    if !T::IS_FLOAT {
        match op {
            B::Divide | B::TruncDivide | B::TruncMod | B::FloorDivide | B::FloorMod => {
                require(op, a, b, "a divisor other than 0", |x: T| x != T::ZERO)?;
            }
            B::Power => require(op, a, b, "an exponent of 0 or more", |x: T| x >= T::ZERO)?,
            _ => {}
        }
    }
    match op {
        B::Add => zip(a, b, control, T::add),
        B::Subtract => zip(a, b, control, T::subtract),
        B::Multiply => zip(a, b, control, T::multiply),
        B::Divide => zip(a, b, control, T::divide),
        B::TruncDivide => zip(a, b, control, T::trunc_divide),
        B::TruncMod => zip(a, b, control, T::trunc_mod),
        B::FloorDivide => zip(a, b, control, T::floor_divide),
        B::FloorMod => zip(a, b, control, T::floor_mod),
        B::Power => zip(a, b, control, T::power),
        B::Maximum => zip(a, b, control, T::maximum),
        B::Minimum => zip(a, b, control, T::minimum),
        _ => Err(not_defined(op.name(), "an integer type", T::TYPE)),
    }
}

fn on_bits<T: Integer>(
    op: Binary,
    a: View<'_>,
    b: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    use Binary as B;
    if matches!(op, B::LeftShift | B::RightShift) {
        let expected = "a number of bits from 0 to below the width";
        require(op, a, b, expected, |x: T| {
            (0..i64::from(T::BITS)).contains(&x.to_i64())
        })?;
    }
    match op {
        B::LeftShift => zip(a, b, control, T::shift_left),
        B::RightShift => zip(a, b, control, T::shift_right),
        B::BitwiseAnd => zip(a, b, control, T::and),
        B::BitwiseOr => zip(a, b, control, T::or),
        _ => zip(a, b, control, T::xor),
    }
}

/// An error for the first element of `b` that the operator is not defined for.
fn require<T: Element>(
    op: Binary,
    a: View<'_>,
    b: View<'_>,
    expected: &str,
    holds: impl Fn(T) -> bool,
) -> Result<()> {
    if a.len() == 0 {
        return Ok(());
    }
    let elements = b.elements::<T>();
    // Without an early end, to let the compiler vectorise the loop.
    let all = elements
        .iter()
        .fold(true, |all, raw| all & holds(T::read(*raw)));
    if all {
        return Ok(());
    }
    let index = elements.iter().position(|raw| !holds(T::read(*raw)));
    let index = index.unwrap_or(0);
    let value = T::read(elements[index]);
    let value = match T::CLASS {
        Class::Unsigned => i128::from(value.to_i64() as u64),
        _ => i128::from(value.to_i64()),
    };
    Err(KernelError::undefined(format!(
        "{}: expected {expected}, got {value} at element {index}",
        op.name()
    )))
}

/// Adds a vector along an axis: element `i` of `bias` to all elements whose index on
/// `axis` is `i`.
///
/// # Errors
///
/// A shape error unless `bias` is a vector as long as the axis; otherwise as
/// [`Binary::Add`].
pub fn bias_add(x: View<'_>, bias: View<'_>, axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let at = crate::shape::axis(axis, x.rank())?;
    if bias.shape() != [x.shape()[at]] {
        return Err(KernelError::shape(format!(
            "bias_add: expected a bias of shape [{}] for axis {at} of {:?}, got {:?}",
            x.shape()[at],
            x.shape(),
            bias.shape()
        )));
    }
    let mut shape = vec![1; x.rank() - at];
    shape[0] = x.shape()[at];
    binary(Binary::Add, x, bias.with_shape(&shape), control)
}
