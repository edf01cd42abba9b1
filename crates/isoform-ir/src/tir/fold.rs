//! Folding of operations on literals, at construction.

use super::number_types::{self as rules, Comparison};
use crate::ir::PrimExpr;
use crate::ir::prim::{FloatImm, IntImm};
use isoform::errors::ErrorKind;
use isoform::values::{DType, DTypeCode};
use isoform::{Error, Ref, Result};

/// An arithmetic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    /// Of integers rounded towards zero.
    Div,
    /// The remainder of the truncated division.
    Mod,
    FloorDiv,
    FloorMod,
    Min,
    Max,
}

/// A literal operand.
#[derive(Clone, Copy, PartialEq, Debug)]
enum LiteralOperand {
    No,
    Int(i64),
    Float(f64),
}

fn known(expr: &Ref<PrimExpr>) -> LiteralOperand {
    if let Some(literal) = expr.downcast_ref::<IntImm>() {
        return LiteralOperand::Int(literal.value);
    }
    match expr.downcast_ref::<FloatImm>() {
        Some(literal) => LiteralOperand::Float(literal.value),
        None => LiteralOperand::No,
    }
}

impl LiteralOperand {
    fn is(self, number: i8) -> bool {
        match self {
            LiteralOperand::No => false,
            LiteralOperand::Int(value) => value == i64::from(number),
            LiteralOperand::Float(value) => value == f64::from(number),
        }
    }
}

fn divide_by_zero() -> Error {
    Error::value_error("Divide by zero")
}

/// The literal or operand equal to an operation on operands of one data type; None if
/// the operation has to be computed at run time.
///
/// # Errors
///
/// `ValueError` for an integer division by zero, and for a difference of unsigned
/// literals with zero on the left.
pub(super) fn arithmetic(
    operation: Arithmetic,
    a: &Ref<PrimExpr>,
    b: &Ref<PrimExpr>,
) -> Result<Option<Ref<PrimExpr>>> {
    use Arithmetic::{Add, Div, FloorDiv, FloorMod, Max, Min, Mod, Mul, Sub};
    let dtype = a.dtype;
    let (left, right) = (known(a), known(b));
    if matches!(operation, Div | Mod | FloorDiv | FloorMod) && right.is(0) {
        return Err(divide_by_zero());
    }
    match (left, right) {
        (LiteralOperand::Int(x), LiteralOperand::Int(y)) => {
            if operation == Sub && rules::class(dtype) == rules::Class::UInt && x == 0 && y > 0 {
                return Err(Error::value_error(format!(
                    "0 - {y} is negative, which {dtype} cannot be"
                )));
            }
            let exact = integers(operation, x, y);
            return Ok(Some(
                IntImm::made(dtype, rules::wrap(dtype, exact), None).upcast(),
            ));
        }
        (LiteralOperand::Float(x), LiteralOperand::Float(y)) => {
            if let Some(result) = floats(operation, x, y).and_then(|exact| rounded(dtype, exact)) {
                return Ok(Some(FloatImm::made(dtype, result, None).upcast()));
            }
        }
        _ => {}
    }
    Ok(match operation {
        Add if left.is(0) => Some(b.clone()),
        Add | Sub if right.is(0) => Some(a.clone()),
        Mul if left.is(1) || right.is(0) => Some(b.clone()),
        Mul if right.is(1) || left.is(0) => Some(a.clone()),
        Div | FloorDiv if left.is(0) || right.is(1) => Some(a.clone()),
        Mod | FloorMod if left.is(0) => Some(a.clone()),
        Mod | FloorMod if right.is(1) && matches!(right, LiteralOperand::Int(_)) => {
            Some(IntImm::made(dtype, 0, None).upcast())
        }
        Min | Max if a.same_as(b) => Some(a.clone()),
        _ => None,
    })
}

/// The exact result; the divisor is not zero.
fn integers(operation: Arithmetic, x: i64, y: i64) -> i128 {
    let (x, y) = (i128::from(x), i128::from(y));
    match operation {
        Arithmetic::Add => x + y,
        Arithmetic::Sub => x - y,
        Arithmetic::Mul => x * y,
        Arithmetic::Div => x / y,
        Arithmetic::Mod => x % y,
        Arithmetic::FloorDiv => floor_div(x, y),
        Arithmetic::FloorMod => x - y * floor_div(x, y),
        Arithmetic::Min => x.min(y),
        Arithmetic::Max => x.max(y),
    }
}

fn floor_div(x: i128, y: i128) -> i128 {
    let (quotient, rest) = (x / y, x % y);
    if rest != 0 && (rest < 0) != (y < 0) {
        quotient - 1
    } else {
        quotient
    }
}

fn floats(operation: Arithmetic, x: f64, y: f64) -> Option<f64> {
    match operation {
        Arithmetic::Add => Some(x + y),
        Arithmetic::Sub => Some(x - y),
        Arithmetic::Mul => Some(x * y),
        Arithmetic::Div => Some(x / y),
        Arithmetic::FloorDiv => Some((x / y).floor()),
        Arithmetic::Min => Some(x.min(y)),
        Arithmetic::Max => Some(x.max(y)),
        Arithmetic::Mod | Arithmetic::FloorMod => None,
    }
}

/// The number rounded to the data type; None for types with arithmetic left to the
/// machine.
fn rounded(dtype: DType, exact: f64) -> Option<f64> {
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::Float, 32) => Some(f64::from(exact as f32)),
        (DTypeCode::Float, 64) => Some(exact),
        _ => None,
    }
}

/// The result of a comparison of literals.
pub(super) fn comparison(
    comparison: Comparison,
    a: &Ref<PrimExpr>,
    b: &Ref<PrimExpr>,
) -> Option<bool> {
    let order = match (known(a), known(b)) {
        (LiteralOperand::Int(x), LiteralOperand::Int(y)) => Some(x.cmp(&y)),
        (LiteralOperand::Float(x), LiteralOperand::Float(y)) => x.partial_cmp(&y),
        _ => return None,
    };
    Some(comparison.holds(order))
}

/// The truth value of a literal.
pub(super) fn truth(expr: &Ref<PrimExpr>) -> Option<bool> {
    match known(expr) {
        LiteralOperand::Int(value) => Some(value != 0),
        _ => None,
    }
}

/// Converts a literal to another data type; None if the expression is not a literal,
/// or does not fit.
///
/// # Errors
///
/// Errors for a data type without numbers.
pub(super) fn converted(dtype: DType, expr: &Ref<PrimExpr>) -> Result<Option<Ref<PrimExpr>>> {
    let value = match known(expr) {
        LiteralOperand::No => return Ok(None),
        LiteralOperand::Int(value) => value.into(),
        LiteralOperand::Float(value) => value.into(),
    };
    match super::literal::number(dtype, &value, expr.span.clone()) {
        Ok(literal) => Ok(Some(literal)),
        // A number outside the range is converted at run time.
        Err(error) if error.kind() == ErrorKind::Value => Ok(None),
        Err(error) => Err(error),
    }
}
