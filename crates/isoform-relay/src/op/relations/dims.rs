//! Sizes of dimensions: known, symbolic or unknown, and the arithmetic of all three.

use crate::Any;
use crate::attrs::size;
use isoform::values::DType;
use isoform::{Array, Error, Ref, Result, structural_equal};
use isoform_ir::ir::{IntImm, PrimExpr, TensorType, Type};
use isoform_ir::tir;

/// The size of a dimension.
pub(crate) type Dim = Ref<PrimExpr>;

/// The size as a number; None unless the size is a literal.
pub(crate) fn known(dim: &Dim) -> Option<i64> {
    dim.downcast_ref::<IntImm>().map(|literal| literal.value)
}

/// True for the unknown size.
pub(crate) fn is_any(dim: &Dim) -> bool {
    dim.isa::<Any>()
}

/// The unknown size.
pub(crate) fn any() -> Dim {
    Any::new().upcast()
}

/// True unless two sizes are known to differ.
pub(crate) fn may_be_equal(left: &Dim, right: &Dim) -> bool {
    match (known(left), known(right)) {
        (Some(left), Some(right)) => left == right,
        _ => true,
    }
}

/// True if two sizes are certainly equal.
pub(crate) fn are_equal(left: &Dim, right: &Dim) -> bool {
    if is_any(left) || is_any(right) {
        return false;
    }
    match (known(left), known(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.same_as(right) || structural_equal(left, right).unwrap_or(false),
        _ => false,
    }
}

/// The more informative of two sizes that may be equal.
pub(crate) fn sharper(left: &Dim, right: &Dim) -> Dim {
    if is_any(left) || known(left).is_none() && known(right).is_some() {
        right.clone()
    } else {
        left.clone()
    }
}

/// Applies arithmetic to two sizes: numbers are computed exactly, symbolic sizes form
/// an expression, otherwise the result is unknown.
fn combined(
    left: &Dim,
    right: &Dim,
    exact: fn(i64, i64) -> Option<i64>,
    symbolic: fn(&Dim, &Dim) -> Result<Dim>,
) -> Result<Dim> {
    if is_any(left) || is_any(right) {
        return Ok(any());
    }
    match (known(left), known(right)) {
        (Some(left), Some(right)) => match exact(left, right) {
            Some(value) => Ok(size(value)),
            None => Err(Error::value_error(format!(
                "a size of the result is too large: it is computed from {left} and {right}"
            ))),
        },
        _ => symbolic(left, right),
    }
}

/// The sum of two sizes.
pub(crate) fn add(left: &Dim, right: &Dim) -> Result<Dim> {
    match (known(left), known(right)) {
        (Some(0), _) => Ok(right.clone()),
        (_, Some(0)) => Ok(left.clone()),
        _ => combined(left, right, i64::checked_add, tir::add),
    }
}

/// The difference of two sizes.
pub(crate) fn sub(left: &Dim, right: &Dim) -> Result<Dim> {
    combined(left, right, i64::checked_sub, tir::sub)
}

/// The product of two sizes.
pub(crate) fn mul(left: &Dim, right: &Dim) -> Result<Dim> {
    // A factor of 1 leaves symbolic and unknown sizes unchanged.
    match (known(left), known(right)) {
        (Some(1), _) => Ok(right.clone()),
        (_, Some(1)) => Ok(left.clone()),
        _ => combined(left, right, i64::checked_mul, tir::mul),
    }
}

/// The quotient of two sizes, rounded down. The divisor is not 0.
pub(crate) fn div(left: &Dim, right: &Dim) -> Result<Dim> {
    match known(right) {
        Some(1) => Ok(left.clone()),
        _ => combined(left, right, i64::checked_div_euclid, tir::floordiv),
    }
}

/// The product of sizes.
pub(crate) fn product<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> Result<Dim> {
    dims.into_iter()
        .try_fold(size(1), |product, dim| mul(&product, dim))
}

/// The product of sizes, if all are known.
pub(crate) fn known_product<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> Option<i64> {
    let mut dims = dims.into_iter();
    dims.try_fold(1_i64, |product, dim| product.checked_mul(known(dim)?))
}

/// The sizes of a tensor type.
pub(crate) fn shape_of(ty: &Ref<TensorType>) -> Vec<Dim> {
    ty.shape.iter().cloned().collect()
}

/// The type of a tensor.
pub(crate) fn tensor(shape: impl Into<Array<Dim>>, dtype: DType) -> Ref<Type> {
    TensorType::new(shape.into()).with_dtype(dtype).upcast()
}

/// The data type named by attributes, or the data type of an input if the attributes
/// leave the type open.
pub(crate) fn dtype_or(dtype: DType, input: DType) -> DType {
    if dtype.is_void() { input } else { dtype }
}

/// An axis counted from the start.
///
/// # Errors
///
/// `ValueError` for an axis outside of the `rank` axes.
pub(crate) fn axis_of(name: &str, axis: i64, rank: usize) -> Result<usize> {
    let count = rank as i64;
    let position = if axis < 0 { axis + count } else { axis };
    if (0..count).contains(&position) {
        return Ok(position as usize);
    }
    let expected = match rank {
        0 => "a tensor without axes has none".to_owned(),
        _ => format!("expected one from {} to {}", -count, count - 1),
    };
    Err(Error::value_error(format!(
        "{name}={axis} is not an axis of a tensor with {rank} dimensions: {expected}"
    )))
}

/// Axes counted from the start.
///
/// # Errors
///
/// As [`axis_of`]; `ValueError` for an axis that occurs twice.
pub(crate) fn axes_of(name: &str, axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut seen = vec![false; rank];
    let mut found = Vec::with_capacity(axes.len());
    for axis in axes {
        let position = axis_of(name, *axis, rank)?;
        if std::mem::replace(&mut seen[position], true) {
            return Err(Error::value_error(format!(
                "{name}={axes:?} names axis {position} twice"
            )));
        }
        found.push(position);
    }
    Ok(found)
}

/// The number of a size in attributes.
///
/// # Errors
///
/// `TypeError` for a symbolic size.
pub(crate) fn int(name: &str, dim: &Dim) -> Result<i64> {
    known(dim).ok_or_else(|| {
        Error::type_error(format!(
            "{name}: expected an integer, got {}",
            dim.type_info().key()
        ))
    })
}

/// The numbers of sizes in attributes.
///
/// # Errors
///
/// As [`int`].
pub(crate) fn ints(name: &str, dims: &Array<Dim>) -> Result<Vec<i64>> {
    dims.iter().map(|dim| int(name, dim)).collect()
}

/// Checks the number of dimensions of an argument.
///
/// # Errors
///
/// `ValueError` with the name of the argument.
pub(crate) fn expect_rank(what: &str, shape: &[Dim], rank: usize) -> Result<()> {
    if shape.len() == rank {
        return Ok(());
    }
    Err(Error::value_error(format!(
        "{what}: expected a tensor with {rank} dimensions, got {} of shape {}",
        shape.len(),
        crate::text::shape_text(shape)
    )))
}
