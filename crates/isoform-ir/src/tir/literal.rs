//! Literals of any number type, including vectors.

use isoform::values::{DType, DTypeCode};
use isoform::{Error, Ref, Result, Value, export};

use super::nodes::Broadcast;
use super::number_types::{self as rules, Class};
use crate::ir::prim::{natural_dtype, natural_literal, scalar};
use crate::ir::{IntImm, PrimExpr, Span};

/// The integer as a literal of any number type, in every lane.
///
/// # Errors
///
/// `ValueError` if the data type cannot hold the value.
pub fn constant(dtype: DType, value: i64) -> Result<Ref<PrimExpr>> {
    number(dtype, &Value::from(value), None)
}

/// The literal for a number or a string, of the given or the default data type.
///
/// # Errors
///
/// `TypeError` for other values, `ValueError` if the data type cannot hold the
/// number.
pub fn literal(value: impl Into<Value>, dtype: Option<DType>) -> Result<Ref<PrimExpr>> {
    let value = &value.into();
    match dtype {
        None => natural_literal(value),
        // Without a number there is no data type to convert to, regardless of the
        // request.
        Some(dtype) => natural_dtype(value).and_then(|_| number(dtype, value, None)),
    }
}

/// True if the expression is the integer 0.
pub fn is_zero(expr: &Ref<PrimExpr>) -> bool {
    expr.downcast_ref::<IntImm>()
        .is_some_and(|number| number.value == 0)
}

/// A number as a literal of a data type, in every lane.
pub(super) fn number(
    dtype: DType,
    value: &Value,
    span: Option<Ref<Span>>,
) -> Result<Ref<PrimExpr>> {
    if dtype.lanes() != 1 {
        let element = number(rules::element_of(dtype), value, span.clone())?;
        return Ok(Broadcast::new(&element, i64::from(dtype.lanes()))?.upcast());
    }
    scalar(dtype, value, span)
}

/// The literal of a number; see `isoform.tir.const`.
#[export("tir.const")]
fn make_constant(
    value: Value,
    dtype: Option<DType>,
    span: Option<Ref<Span>>,
) -> Result<Ref<PrimExpr>> {
    match dtype {
        Some(dtype) => number(dtype, &value, span),
        None => literal(&value, None),
    }
}

/// The literal of the least number of a data type; see `isoform.tir.min_value`.
#[export("tir.min_value")]
fn min_value(dtype: DType, span: Option<Ref<Span>>) -> Result<Ref<PrimExpr>> {
    limit("min_value", dtype, false, span)
}

/// The literal of the greatest number of a data type; see `isoform.tir.max_value`.
#[export("tir.max_value")]
fn max_value(dtype: DType, span: Option<Ref<Span>>) -> Result<Ref<PrimExpr>> {
    limit("max_value", dtype, true, span)
}

/// The literal of the least or the greatest finite number of a data type, in every lane.
fn limit(
    name: &str,
    dtype: DType,
    greatest: bool,
    span: Option<Ref<Span>>,
) -> Result<Ref<PrimExpr>> {
    let element = rules::element_of(dtype);
    let refused = |what: String| Err(Error::value_error(format!("tir.{name}: {what}")));
    let value: Value = match rules::class(element) {
        Class::Other => {
            return refused(format!("expected a data type of numbers, got {dtype}"));
        }
        Class::UInt if greatest && element.bits() > 63 => {
            let most = i64::MAX;
            return refused(format!(
                "the greatest number of {element} is larger than {most}, the greatest of ir.IntImm"
            ));
        }
        Class::Float => {
            let most = rules::largest_float(element);
            match element.code() {
                _ if greatest => most.into(),
                // This format has exponents only, and therefore no negative numbers.
                DTypeCode::Float8E8M0FNU => (1.0 / most).into(),
                _ => (-most).into(),
            }
        }
        _ => {
            let (least, most) = rules::integer_range(element);
            (if greatest { most } else { least }).into()
        }
    };
    number(dtype, &value, span)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![make_constant, min_value, max_value]
}
