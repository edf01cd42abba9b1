//! Expressions over scalars and vectors of the machine: their base, and literals.

use isoform::types::Schema;
use isoform::values::{DType, ValueRef};
use isoform::{Error, Node, Ref, Result, Str, Value, export};

use super::expr::BaseExpr;
use super::number_types::{self as rules, Class};
use super::span::Span;

/// The base of the expressions over scalars and vectors of the machine.
///
/// Where a literal is expected, numbers and strings are converted. A bool becomes a
/// literal of type bool, an int of type int32 or, if larger, int64, a float of type
/// float32 or, if larger, float64. A string becomes a string literal.
#[derive(Node)]
#[node(key = "ir.PrimExpr", convert = prim_expr_from)]
#[node(attrs("text.type" = "dtype"))]
#[repr(C)]
pub struct PrimExpr {
    #[node(base, default)]
    base: BaseExpr,
    /// The data type of the value.
    pub dtype: DType,
}

impl PrimExpr {
    /// The fields of an expression of this data type.
    pub fn typed(dtype: DType, span: Option<Ref<Span>>) -> Self {
        PrimExpr {
            base: BaseExpr { span },
            dtype,
        }
    }
}

/// The literal of a number or a string.
#[export("ir.PrimExpr.__ffi_convert__")]
fn prim_expr_from(value: Value) -> Result<Ref<PrimExpr>> {
    natural_literal(&value)
}

/// An integer; also a bool.
#[derive(Node)]
#[node(key = "ir.IntImm", init = make_int, no_new)]
#[repr(C)]
pub struct IntImm {
    #[node(base)]
    base: PrimExpr,
    /// The number.
    pub value: i64,
}

impl IntImm {
    /// An integer of a data type.
    ///
    /// # Errors
    ///
    /// `ValueError` if the data type is not a scalar integer type, or the number is
    /// out of range.
    pub fn new(dtype: DType, value: i64) -> Result<Ref<IntImm>> {
        make_int(dtype, value, None)
    }

    /// An integer known to be of the data type.
    pub fn made(dtype: DType, value: i64, span: Option<Ref<Span>>) -> Ref<IntImm> {
        let base = PrimExpr::typed(dtype, span);
        Ref::new(IntImm { base, value })
    }
}

/// Makes an integer literal; ValueError for a number outside the range of the
/// data type.
#[export("ir.IntImm")]
fn make_int(dtype: DType, value: i64, span: Option<Ref<Span>>) -> Result<Ref<IntImm>> {
    let fail = |what: String| Err(Error::value_error(format!("ir.IntImm: {what}")));
    if dtype.lanes() != 1 {
        return fail(format!("expected a scalar data type, got {dtype}"));
    }
    let class = rules::class(dtype);
    if !class.is_integer() {
        return fail(format!("expected an integer data type, got {dtype}"));
    }
    let (least, most) = rules::integer_range(dtype);
    if !(least..=most).contains(&value) {
        return fail(format!(
            "the value {value} is outside the range of {dtype}, {least} to {most}"
        ));
    }
    Ok(IntImm::made(dtype, value, span))
}

/// A float.
#[derive(Node)]
#[node(key = "ir.FloatImm", init = make_float, no_new)]
#[repr(C)]
pub struct FloatImm {
    #[node(base)]
    base: PrimExpr,
    /// The number.
    pub value: f64,
}

impl FloatImm {
    /// A float of a data type.
    ///
    /// # Errors
    ///
    /// `ValueError` if the data type is not a scalar float type, or the number is
    /// finite and out of range.
    pub fn new(dtype: DType, value: f64) -> Result<Ref<FloatImm>> {
        make_float(dtype, value, None)
    }

    /// A float known to be of the data type.
    pub(crate) fn made(dtype: DType, value: f64, span: Option<Ref<Span>>) -> Ref<FloatImm> {
        let base = PrimExpr::typed(dtype, span);
        Ref::new(FloatImm { base, value })
    }
}

/// Makes a float literal; ValueError for a finite number outside the range of
/// the data type.
#[export("ir.FloatImm")]
fn make_float(dtype: DType, value: f64, span: Option<Ref<Span>>) -> Result<Ref<FloatImm>> {
    let fail = |what: String| Err(Error::value_error(format!("ir.FloatImm: {what}")));
    if dtype.lanes() != 1 {
        return fail(format!("expected a scalar data type, got {dtype}"));
    }
    if rules::class(dtype) != Class::Float {
        return fail(format!("expected a float data type, got {dtype}"));
    }
    let most = rules::largest_float(dtype);
    if value.is_finite() && value.abs() > most {
        return fail(format!(
            "the value {value} is outside the range of {dtype}, {} to {most}",
            -most
        ));
    }
    Ok(FloatImm::made(dtype, value, span))
}

/// A string, for example an argument of an intrinsic.
#[derive(Node)]
#[node(key = "tir.StringImm", init = make_string, no_new)]
#[repr(C)]
pub struct StringImm {
    #[node(base)]
    base: PrimExpr,
    /// The text.
    pub value: Str,
}

impl StringImm {
    /// A string.
    pub fn new(value: impl Into<Str>) -> Ref<StringImm> {
        make_string(value.into(), None)
    }
}

/// Makes a string literal.
#[export("tir.StringImm")]
fn make_string(value: Str, span: Option<Ref<Span>>) -> Ref<StringImm> {
    Ref::new(StringImm {
        base: PrimExpr::typed(rules::HANDLE, span),
        value,
    })
}

/// The default data type of a number.
///
/// # Errors
///
/// `TypeError` for a value that is not a number, `ValueError` for an integer too large
/// for any literal.
pub(crate) fn natural_dtype(value: &Value) -> Result<DType> {
    Ok(match value.view() {
        ValueRef::Bool(_) => DType::BOOL,
        ValueRef::Int(number) if i32::try_from(number).is_ok() => DType::INT32,
        ValueRef::Int(_) => DType::INT64,
        ValueRef::Float(number) if number.is_finite() && number.abs() > f64::from(f32::MAX) => {
            DType::FLOAT64
        }
        ValueRef::Float(_) => DType::FLOAT32,
        ValueRef::BigInt(_) => {
            let range = "an int of 64 bits";
            return Err(Error::value_error(format!(
                "expected {range}, got {value:?}"
            )));
        }
        _ => {
            return Err(Error::type_error(format!(
                "expected a bool, an int, a float or a str, got {}",
                value.type_name()
            )));
        }
    })
}

/// The literal for a number or a string, with the default data type.
///
/// # Errors
///
/// Errors of [`natural_dtype`], except for strings.
pub(crate) fn natural_literal(value: &Value) -> Result<Ref<PrimExpr>> {
    if let ValueRef::Str(text) = value.view() {
        return Ok(StringImm::new(text).upcast());
    }
    scalar(natural_dtype(value)?, value, None)
}

/// A number as a literal of a scalar data type.
pub(crate) fn scalar(
    dtype: DType,
    value: &Value,
    span: Option<Ref<Span>>,
) -> Result<Ref<PrimExpr>> {
    match rules::class(dtype) {
        Class::Bool => {
            let value = Schema::Bool.convert(value.clone())?;
            let value = i64::from(value.as_bool().unwrap_or_default());
            Ok(make_int(dtype, value, span)?.upcast())
        }
        Class::Int | Class::UInt => {
            let value = match value.view() {
                // Rounds towards zero, like a conversion in C.
                ValueRef::Float(number) => number.trunc() as i64,
                _ => Schema::Int.convert(value.clone())?.extract()?,
            };
            Ok(make_int(dtype, value, span)?.upcast())
        }
        Class::Float => {
            let value = Schema::Float.convert(value.clone())?.extract()?;
            Ok(make_float(dtype, value, span)?.upcast())
        }
        Class::Other => Err(Error::value_error(format!(
            "expected a number type for a literal, got {dtype}"
        ))),
    }
}
