//! The meaning of a language's operators: operands are brought to a common data type,
//! and constants are folded.

use isoform::values::DType;
use isoform::{Error, Ref, Result, export};

use super::fold::{self, Arithmetic};
use super::nodes::{
    self, Add, And, Broadcast, Call, Div, EQ, FloorDiv, FloorMod, GE, GT, LE, LT, Max, Min, Mod,
    Mul, NE, Or, Sub,
};
use super::number_types::is_bool;
use super::number_types::{self as rules, Class, Comparison};
use crate::ir::IntImm;
use crate::ir::{OpRegistry, PrimExpr};

/// Converts an expression to a data type; returns an expression of the data type
/// unchanged.
///
/// A literal stays a literal, and a scalar can become a vector.
///
/// # Errors
///
/// `TypeError` if the numbers of lanes are not compatible, or the operand is not
/// a number.
pub fn cast(dtype: DType, value: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    if value.dtype == dtype {
        return Ok(value.clone());
    }
    if rules::class(value.dtype) == Class::Other {
        return Err(mismatched(dtype, value.dtype));
    }
    let element = rules::element_of(dtype);
    if value.dtype.lanes() == 1 {
        let scalar = match fold::converted(element, value)? {
            Some(literal) => literal,
            None if value.dtype == element => value.clone(),
            None => nodes::make_cast(element, value.clone(), value.span.clone())?.upcast(),
        };
        return match dtype.lanes() {
            1 => Ok(scalar),
            lanes => Ok(Broadcast::new(&scalar, i64::from(lanes))?.upcast()),
        };
    }
    if value.dtype.lanes() != dtype.lanes() {
        return Err(mismatched(dtype, value.dtype));
    }
    if let Some(vector) = value.downcast_ref::<Broadcast>() {
        let scalar = cast(element, &vector.value)?;
        return Ok(Broadcast::new(&scalar, vector.lanes)?.upcast());
    }
    Ok(nodes::make_cast(dtype, value.clone(), value.span.clone())?.upcast())
}

fn mismatched(left: DType, right: DType) -> Error {
    Error::type_error(format!(
        "the data types {left} and {right} are not compatible"
    ))
}

/// Brings both operands to one data type.
fn matched(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<(Ref<PrimExpr>, Ref<PrimExpr>)> {
    if a.dtype == b.dtype {
        return Ok((a.clone(), b.clone()));
    }
    let lanes = a.dtype.lanes().max(b.dtype.lanes());
    let widened = |dtype: DType| match dtype.lanes() {
        1 => rules::with_lanes(dtype, lanes),
        _ => dtype,
    };
    let (left, right) = (widened(a.dtype), widened(b.dtype));
    let common = if left.lanes() == right.lanes() {
        rules::common(left, right)
    } else {
        None
    };
    let common = common.ok_or_else(|| mismatched(a.dtype, b.dtype))?;
    Ok((cast(common, a)?, cast(common, b)?))
}

fn arithmetic(
    operation: Arithmetic,
    a: &Ref<PrimExpr>,
    b: &Ref<PrimExpr>,
) -> Result<Ref<PrimExpr>> {
    let (a, b) = matched(a, b)?;
    if rules::class(a.dtype) == Class::Other {
        return Err(Error::type_error(format!(
            "expected numbers, got {}",
            a.dtype
        )));
    }
    if let Some(result) = fold::arithmetic(operation, &a, &b)? {
        return Ok(result);
    }
    Ok(match operation {
        Arithmetic::Add => Add::new(a, b)?.upcast().upcast(),
        Arithmetic::Sub => Sub::new(a, b)?.upcast().upcast(),
        Arithmetic::Mul => Mul::new(a, b)?.upcast().upcast(),
        Arithmetic::Div => Div::new(a, b)?.upcast().upcast(),
        Arithmetic::Mod => Mod::new(a, b)?.upcast().upcast(),
        Arithmetic::FloorDiv => FloorDiv::new(a, b)?.upcast().upcast(),
        Arithmetic::FloorMod => FloorMod::new(a, b)?.upcast().upcast(),
        Arithmetic::Min => Min::new(a, b)?.upcast().upcast(),
        Arithmetic::Max => Max::new(a, b)?.upcast().upcast(),
    })
}

/// Declares a function for an arithmetic operation.
macro_rules! arithmetic_functions {
    ($($(#[$doc:meta])* $name:ident = $key:tt, $operation:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// `TypeError` if the data types are not compatible; `ValueError`
        /// for an integer division by zero.
        #[export($key)]
        pub fn $name(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
            arithmetic(Arithmetic::$operation, a, b)
        }
    )*};
}

arithmetic_functions! {
    /// `a + b`.
    add = "tir.add", Add;
    /// `a - b`.
    sub = "tir.subtract", Sub;
    /// `a * b`.
    mul = "tir.multiply", Mul;
    /// `a / b`; of integers rounded towards zero.
    div = "tir.div", Div;
    /// The remainder of division rounded towards zero.
    truncmod = "tir.truncmod", Mod;
    /// `a / b` rounded down.
    floordiv = "tir.floordiv", FloorDiv;
    /// The remainder of division rounded down.
    floormod = "tir.floormod", FloorMod;
    /// The smaller one.
    min = "tir.min", Min;
    /// The larger one.
    max = "tir.max", Max;
}

/// A comparison of two numbers.
///
/// # Errors
///
/// `TypeError` if the data types are not compatible.
pub fn compare(
    comparison: Comparison,
    a: &Ref<PrimExpr>,
    b: &Ref<PrimExpr>,
) -> Result<Ref<PrimExpr>> {
    let (a, b) = matched(a, b)?;
    if let Some(result) = fold::comparison(comparison, &a, &b) {
        return Ok(IntImm::made(DType::BOOL, i64::from(result), None).upcast());
    }
    Ok(match comparison {
        Comparison::EQ => EQ::new(a, b)?.upcast().upcast(),
        Comparison::NE => NE::new(a, b)?.upcast().upcast(),
        Comparison::LT => LT::new(a, b)?.upcast().upcast(),
        Comparison::LE => LE::new(a, b)?.upcast().upcast(),
        Comparison::GT => GT::new(a, b)?.upcast().upcast(),
        Comparison::GE => GE::new(a, b)?.upcast().upcast(),
    })
}

/// Declares a function for a comparison.
macro_rules! comparison_functions {
    ($($(#[$doc:meta])* $name:ident = $key:tt, $comparison:ident;)*) => {$(
        $(#[$doc])*
        #[export($key)]
        fn $name(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
            compare(Comparison::$comparison, a, b)
        }
    )*};
}

comparison_functions! {
    /// Compares for `a == b`.
    equal = "tir.equal", EQ;
    /// Compares for `a != b`.
    not_equal = "tir.not_equal", NE;
    /// Compares for `a < b`.
    less = "tir.less", LT;
    /// Compares for `a <= b`.
    less_equal = "tir.less_equal", LE;
    /// Compares for `a > b`.
    greater = "tir.greater", GT;
    /// Compares for `a >= b`.
    greater_equal = "tir.greater_equal", GE;
}

/// True if both operands are true.
///
/// # Errors
///
/// `TypeError` if an operand is not a truth value.
#[export("tir.logical_and")]
pub fn and(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    let made = And::new(a, b)?;
    Ok(match (fold::truth(a), fold::truth(b)) {
        (Some(true), _) | (_, Some(false)) => b.clone(),
        (Some(false), _) | (_, Some(true)) => a.clone(),
        _ => made.upcast().upcast(),
    })
}

/// True if at least one operand is true.
///
/// # Errors
///
/// `TypeError` if an operand is not a truth value.
#[export("tir.logical_or")]
pub fn or(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    let made = Or::new(a, b)?;
    Ok(match (fold::truth(a), fold::truth(b)) {
        (Some(false), _) | (_, Some(true)) => b.clone(),
        (Some(true), _) | (_, Some(false)) => a.clone(),
        _ => made.upcast().upcast(),
    })
}

/// True if the operand is false.
///
/// # Errors
///
/// `TypeError` for an operand that is not a truth value.
#[export("tir.logical_not")]
pub fn not(a: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    match fold::truth(a).filter(|_| is_bool(a.dtype)) {
        Some(holds) => Ok(IntImm::made(a.dtype, i64::from(!holds), None).upcast()),
        None => Ok(nodes::make_not(a.clone(), None)?.upcast()),
    }
}

/// An operation on the bits of two integers: a call of the operator of this
/// name, unless both are known.
fn bitwise(
    name: &str,
    a: &Ref<PrimExpr>,
    b: &Ref<PrimExpr>,
    compute: impl FnOnce(i64, i64) -> i64,
) -> Result<Ref<PrimExpr>> {
    let (a, b) = matched(a, b)?;
    if !rules::class(a.dtype).is_integer() {
        return Err(Error::type_error(format!(
            "{name}: expected integers, got {}",
            a.dtype
        )));
    }
    let literal = |expr: &Ref<PrimExpr>| Some(expr.downcast_ref::<IntImm>()?.value);
    if let (Some(x), Some(y)) = (literal(&a), literal(&b)) {
        let result = rules::wrap(a.dtype, i128::from(compute(x, y)));
        return Ok(IntImm::made(a.dtype, result, None).upcast());
    }
    let op = OpRegistry::get_or_register(name)?;
    Ok(Call::new(a.dtype, op.op(), [a, b]).upcast())
}

/// Declares a function for an operation on bits.
macro_rules! bitwise_functions {
    ($($(#[$doc:meta])* $name:ident = $key:tt, $compute:expr;)*) => {$(
        $(#[$doc])*
        #[export($key)]
        fn $name(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
            bitwise($key, a, b, $compute)
        }
    )*};
}

bitwise_functions! {
    /// The bits set in both.
    bitwise_and = "tir.bitwise_and", |x, y| x & y;
    /// The bits set in at least one of the two.
    bitwise_or = "tir.bitwise_or", |x, y| x | y;
    /// The bits set in exactly one of the two.
    bitwise_xor = "tir.bitwise_xor", |x, y| x ^ y;
}

/// A known number of bits to shift by, checked to be in range.
fn shift_amount(key: &str, by: &Ref<PrimExpr>, dtype: DType) -> Result<()> {
    match by.downcast_ref::<IntImm>() {
        Some(by) if !(0..i64::from(dtype.bits())).contains(&by.value) => {
            Err(Error::value_error(format!(
                "{key}: Shift amount must be non-negative and less than {} for type {dtype}, got {}",
                dtype.bits(),
                by.value
            )))
        }
        _ => Ok(()),
    }
}

/// The bits shifted left.
#[export("tir.shift_left")]
fn shift_left(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    shift_amount("tir.shift_left", b, a.dtype)?;
    bitwise("tir.shift_left", a, b, |x, y| x.wrapping_shl(y as u32))
}

/// The bits shifted right.
#[export("tir.shift_right")]
fn shift_right(a: &Ref<PrimExpr>, b: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    shift_amount("tir.shift_right", b, a.dtype)?;
    bitwise("tir.shift_right", a, b, |x, y| x.wrapping_shr(y as u32))
}

/// All bits inverted.
#[export("tir.bitwise_not")]
fn bitwise_not(a: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    if !rules::class(a.dtype).is_integer() {
        return Err(Error::type_error(format!(
            "tir.bitwise_not: expected an integer, got {}",
            a.dtype
        )));
    }
    if let Some(literal) = a.downcast_ref::<IntImm>() {
        let result = rules::wrap(a.dtype, i128::from(!literal.value));
        return Ok(IntImm::made(a.dtype, result, None).upcast());
    }
    let op = OpRegistry::get_or_register("tir.bitwise_not")?;
    Ok(Call::new(a.dtype, op.op(), [a.clone()]).upcast())
}

/// The expression converted to a data type.
#[export("tir.cast")]
fn cast_to(dtype: DType, value: &Ref<PrimExpr>) -> Result<Ref<PrimExpr>> {
    cast(dtype, value)
}

/// The operators of operations represented as calls.
const OPERATORS: [(&str, i64, &str); 6] = [
    ("tir.bitwise_and", 2, "The bits set in both"),
    ("tir.bitwise_or", 2, "The bits set in at least one"),
    ("tir.bitwise_xor", 2, "The bits set in exactly one"),
    ("tir.bitwise_not", 1, "All bits inverted"),
    ("tir.shift_left", 2, "The bits shifted left"),
    ("tir.shift_right", 2, "The bits shifted right"),
];

pub(super) fn register() -> Result<()> {
    for (name, inputs, what) in OPERATORS {
        let _ = OpRegistry::get_or_register(name)?
            .num_inputs(inputs)
            .describe(what);
    }
    isoform::register_functions![
        add,
        sub,
        mul,
        div,
        truncmod,
        floordiv,
        floormod,
        min,
        max,
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
        and,
        or,
        not,
        bitwise_and,
        bitwise_or,
        bitwise_xor,
        bitwise_not,
        shift_left,
        shift_right,
        cast_to,
    ]
}
