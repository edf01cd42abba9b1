//! Comparisons.

use super::loops::{same_type, zip};
use crate::control::Control;
use crate::element::{Element, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::Result;
use crate::tensor::{Tensor, View};

/// A comparison of two elements. NaN is unequal to everything and neither less nor greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `==`; 0 and -0 are equal.
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Every comparison.
    pub const ALL: &'static [Comparison] = &[
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessEqual,
        Comparison::Greater,
        Comparison::GreaterEqual,
    ];

    /// The name in Relay's spelling: `"less_equal"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Comparison::Equal => "equal",
            Comparison::NotEqual => "not_equal",
            Comparison::Less => "less",
            Comparison::LessEqual => "less_equal",
            Comparison::Greater => "greater",
            Comparison::GreaterEqual => "greater_equal",
        }
    }
}

/// The truth values of a comparison of each pair of elements, under broadcasting.
/// False is less than true.
///
/// ```
/// use isoform_kernels::elementwise::{Comparison, compare};
/// use isoform_kernels::{Control, Tensor};
///
/// let a = Tensor::from_slice(&[3], &[1.0_f64, f64::NAN, 3.0])?;
/// let b = Tensor::scalar(2.0_f64);
/// let less = compare(Comparison::Less, a.view(), b.view(), &Control::default())?;
/// assert_eq!(less.view().to_vec::<bool>()?, [true, false, false]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error if the types differ or are for storage only, a shape error if the shapes do
/// not broadcast.
pub fn compare(op: Comparison, a: View<'_>, b: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    let ty = same_type(op.name(), a, b)?;
    if ty == ElementType::Bool {
        return ordered::<bool>(op, a, b, control);
    }
    dispatch!(number ty, T => ordered::<T>(op, a, b, control),
        else Err(not_defined(op.name(), "bool, an integer or a float type", ty)))
}

fn ordered<T: Element + PartialOrd>(
    op: Comparison,
    a: View<'_>,
    b: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    match op {
        Comparison::Equal => zip(a, b, control, |x: T, y: T| x == y),
        Comparison::NotEqual => zip(a, b, control, |x: T, y: T| x != y),
        Comparison::Less => zip(a, b, control, |x: T, y: T| x < y),
        Comparison::LessEqual => zip(a, b, control, |x: T, y: T| x <= y),
        Comparison::Greater => zip(b, a, control, |x: T, y: T| x < y),
        Comparison::GreaterEqual => zip(b, a, control, |x: T, y: T| x <= y),
    }
}
