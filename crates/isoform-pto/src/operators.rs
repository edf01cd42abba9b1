//! The operators of a language: constants take the format of the other operand, formats
//! are unified, and the result has the right format.

use isoform::functions::Argument;
use isoform::types::{IsA, NodeEnum, Schema};
use isoform::values::ValueRef;
use isoform::{Error, Ref, Result, Value, export};

use super::datatype::{DataType, DataTypeObject};
use super::expr::{ConstBool, ConstFloat, ConstInt, Expr};
use super::node::Span;
use super::operation as nodes;

/// An operand of an operator: an expression or a number.
#[derive(Clone, Debug)]
pub enum Operand {
    /// An expression.
    Expr(Ref<Expr>),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl<T: IsA<Expr>> From<&Ref<T>> for Operand {
    fn from(expr: &Ref<T>) -> Self {
        Operand::Expr(T::upcast_to(expr.clone()))
    }
}

impl<T: IsA<Expr>> From<Ref<T>> for Operand {
    fn from(expr: Ref<T>) -> Self {
        Operand::Expr(T::upcast_to(expr))
    }
}

impl From<i64> for Operand {
    fn from(number: i64) -> Self {
        Operand::Int(number)
    }
}

impl From<f64> for Operand {
    fn from(number: f64) -> Self {
        Operand::Float(number)
    }
}

impl From<bool> for Operand {
    fn from(truth: bool) -> Self {
        Operand::Bool(truth)
    }
}

impl Argument for Operand {
    // Every other schema would convert numbers.
    fn schema() -> Schema {
        Schema::Any
    }

    fn from_value(value: Value) -> Result<Self> {
        if let Some(expr) = value.peek::<Ref<Expr>>() {
            return Ok(Operand::Expr(expr.clone()));
        }
        match value.view() {
            ValueRef::Bool(truth) => Ok(Operand::Bool(truth)),
            ValueRef::Int(number) => Ok(Operand::Int(number)),
            ValueRef::Float(number) => Ok(Operand::Float(number)),
            ValueRef::BigInt(number) => Err(Error::value_error(format!(
                "expected an integer of 64 bits, got {number}"
            ))),
            _ => Err(Error::type_error(format!(
                "expected pto.Expr or a number, got {}",
                value.type_name()
            ))),
        }
    }
}

impl Operand {
    /// The literal in the expression, if the expression is a literal and not a truth
    /// value.
    fn literal(&self) -> Operand {
        if let Operand::Expr(expr) = self {
            if let Some(literal) = expr.downcast_ref::<ConstInt>() {
                return Operand::Int(literal.value);
            }
            if let Some(literal) = expr.downcast_ref::<ConstFloat>() {
                return Operand::Float(literal.value);
            }
        }
        self.clone()
    }

    /// Its own format.
    fn dtype(&self, name: &str) -> Result<DataType> {
        match self {
            Operand::Expr(expr) => expr.scalar_dtype().ok_or_else(|| {
                Error::type_error(format!(
                    "pto.{name}: expected operands of type pto.ScalarType, got {}",
                    expr.ty.type_info().key()
                ))
            }),
            Operand::Int(_) => Ok(DataType::DEFAULT_CONST_INT),
            Operand::Float(_) => Ok(DataType::DEFAULT_CONST_FLOAT),
            Operand::Bool(_) => Ok(DataType::Bool),
        }
    }

    /// Converts the operand to a format: a number to a literal, an expression by a cast if
    /// necessary.
    fn to_format(
        &self,
        name: &str,
        dtype: DataType,
        span: Option<&Ref<Span>>,
    ) -> Result<Ref<Expr>> {
        let place = |given: &Ref<Expr>| span.cloned().unwrap_or_else(|| given.span.clone());
        match self {
            Operand::Expr(expr) if expr.scalar_dtype() == Some(dtype) => Ok(expr.clone()),
            Operand::Expr(expr) => match self.literal() {
                Operand::Expr(expr) => {
                    let span = place(&expr);
                    Ok(nodes::make_cast(expr, dtype.object(), Some(span)).into_expr())
                }
                // The caller of the operator is where it is, unless the literal knows better.
                number if expr.span.is_valid() => {
                    literal(name, &number, dtype, Some(expr.span.clone()))
                }
                number => literal(name, &number, dtype, Some(place(expr))),
            },
            number => literal(name, number, dtype, span.cloned()),
        }
    }
}

/// Nodes of operations as expressions.
trait IntoExpr {
    fn into_expr(self) -> Ref<Expr>;
}

impl<T: IsA<Expr>> IntoExpr for Ref<T> {
    fn into_expr(self) -> Ref<Expr> {
        T::upcast_to(self)
    }
}

/// The literal of a number in a format.
///
/// # Errors
///
/// `ValueError` for a number outside the range of the format, `TypeError` for
/// a float with an integer format, and for numbers as truth values.
pub fn constant(number: impl Into<Operand>, dtype: DataType) -> Result<Ref<Expr>> {
    match number.into() {
        Operand::Expr(expr) => Ok(expr),
        number => literal("constant", &number, dtype, None),
    }
}

fn literal(
    name: &str,
    number: &Operand,
    dtype: DataType,
    span: Option<Ref<Span>>,
) -> Result<Ref<Expr>> {
    let refused = |got: &dyn std::fmt::Display| {
        Err(Error::type_error(format!(
            "pto.{name}: expected a constant for {}, got {got}",
            dtype.name()
        )))
    };
    let number = match *number {
        Operand::Bool(truth) if dtype == DataType::Bool => {
            return Ok(super::expr::make_const_bool(truth, span).upcast());
        }
        Operand::Bool(truth) => i64::from(truth).into(),
        ref other => other.clone(),
    };
    if dtype == DataType::Bool {
        return match number {
            Operand::Int(value) => refused(&value),
            Operand::Float(value) => refused(&value),
            _ => refused(&"an expression"),
        };
    }
    if let Some(range) = dtype.int_range() {
        return match number {
            Operand::Int(value) if range.contains(&i128::from(value)) => {
                Ok(super::expr::make_const_int(value, dtype.object(), span).upcast())
            }
            Operand::Int(value) => Err(Error::value_error(format!(
                "pto.{name}: expected a constant from {} to {} for {}, got {value}",
                range.start(),
                range.end(),
                dtype.name()
            ))),
            Operand::Float(value) => refused(&format_args!("the float {value:?}")),
            _ => refused(&"an expression"),
        };
    }
    let value = match number {
        Operand::Int(value) => value as f64,
        Operand::Float(value) => value,
        _ => return refused(&"an expression"),
    };
    // Infinities and NaN are intentional, unlike numbers that are too large.
    match dtype.max_finite() {
        Some(most) if value.is_finite() && value.abs() > most => Err(Error::value_error(format!(
            "pto.{name}: expected a constant from {:?} to {most:?} for {}, got {value:?}",
            -most,
            dtype.name()
        ))),
        _ => Ok(super::expr::make_const_float(value, dtype.object(), span).upcast()),
    }
}

/// The operands required by an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandRule {
    /// Numbers.
    Numbers,
    /// Numbers or truth values.
    Any,
    /// Integers or truth values.
    Bits,
    /// Integers.
    Integers,
    /// Truth values.
    Truth,
}

impl OperandRule {
    fn check(self, name: &str, dtype: DataType) -> Result<()> {
        let (fits, expected) = match self {
            OperandRule::Numbers => (dtype.is_float() || dtype.is_int(), "numbers"),
            OperandRule::Any => (true, "numbers or truth values"),
            OperandRule::Bits => (
                dtype.is_int() || dtype == DataType::Bool,
                "integers or truth values",
            ),
            OperandRule::Integers => (dtype.is_int(), "integers"),
            OperandRule::Truth => (dtype == DataType::Bool, "truth values"),
        };
        if fits {
            Ok(())
        } else {
            Err(Error::type_error(format!(
                "pto.{name}: expected {expected}, got {}",
                dtype.name()
            )))
        }
    }
}

/// The format for the values of both formats, as far as possible; None for incompatible
/// formats.
///
/// For an integer and a float: the float. For two floats: the wider format, or FP32 for
/// the same width. For integers: the wider format, signed if either format is signed;
/// INDEX includes every integer with at most as many bits.
pub fn common_format(left: DataType, right: DataType) -> Option<DataType> {
    if left == right {
        return Some(left);
    }
    if left.is_float() && right.is_float() {
        return Some(match left.bits().cmp(&right.bits()) {
            std::cmp::Ordering::Less => right,
            std::cmp::Ordering::Greater => left,
            std::cmp::Ordering::Equal => DataType::Fp32,
        });
    }
    match (left.is_float(), right.is_float()) {
        (true, false) if right.is_int() => return Some(left),
        (false, true) if left.is_int() => return Some(right),
        _ => {}
    }
    if !left.is_int() || !right.is_int() {
        return None;
    }
    let holds = |wide: DataType, narrow: DataType| {
        let (wide, narrow) = (wide.int_range()?, narrow.int_range()?);
        Some(wide.start() <= narrow.start() && narrow.end() <= wide.end())
    };
    let formats = [
        DataType::Index,
        left,
        right,
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
    ];
    let index = left == DataType::Index || right == DataType::Index;
    let formats = if index { &formats[..] } else { &formats[1..] };
    let fits = |dtype: &&DataType| {
        holds(**dtype, left) == Some(true) && holds(**dtype, right) == Some(true)
    };
    formats.iter().find(fits).copied()
}

/// The format of an operation on two operands.
fn format_of(name: &str, left: &Operand, right: &Operand, demand: OperandRule) -> Result<DataType> {
    let (left_literal, right_literal) = (left.literal(), right.literal());
    let is_number = |operand: &Operand| !matches!(operand, Operand::Expr(_));
    // A constant takes the format of an operand that is not constant. Between two
    // constants, the node of a literal determines the format.
    let dtype = match (is_number(&left_literal), is_number(&right_literal)) {
        (false, true) => left.dtype(name)?,
        (true, false) => right.dtype(name)?,
        (true, true) if is_number(left) && !is_number(right) => right.dtype(name)?,
        (true, true) if !is_number(left) && is_number(right) => left.dtype(name)?,
        _ => {
            let (left_format, right_format) = (left.dtype(name)?, right.dtype(name)?);
            common_format(left_format, right_format).ok_or_else(|| {
                Error::type_error(format!(
                    "pto.{name}: expected operands with compatible formats, got {} and {}",
                    left_format.name(),
                    right_format.name()
                ))
            })?
        }
    };
    demand.check(name, dtype)?;
    Ok(dtype)
}

type Sides = (Ref<Expr>, Ref<Expr>);

/// Both operands in a format.
fn sides(
    name: &str,
    left: &Operand,
    right: &Operand,
    dtype: DataType,
    span: Option<&Ref<Span>>,
) -> Result<Sides> {
    Ok((
        left.to_format(name, dtype, span)?,
        right.to_format(name, dtype, span)?,
    ))
}

/// Declares the operators of two operands.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident, $export:ident = $key:literal, $make:ident, $demand:ident, $result:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// `TypeError` for operands that are not scalars, that have incompatible
            /// formats, or that do not suit the operation; `ValueError` for a constant
            /// outside the range of the format.
            pub fn $name(
                left: impl Into<Operand>,
                right: impl Into<Operand>,
            ) -> Result<Ref<Expr>> {
                $export(left.into(), right.into(), None)
            }

            $(#[$doc])*
            #[export($key)]
            fn $export(lhs: Operand, rhs: Operand, span: Option<Ref<Span>>) -> Result<Ref<Expr>> {
                let name = stringify!($name).trim_end_matches('_');
                let found = format_of(name, &lhs, &rhs, OperandRule::$demand)?;
                let (operands, result): (DataType, DataType) = $result(found);
                let (left, right) = sides(name, &lhs, &rhs, operands, span.as_ref())?;
                Ok(nodes::$make(left, right, result.object(), span).into_expr())
            }
        )*

        fn register_binary() -> Result<()> {
            isoform::register_functions![$($export),*]
        }
    };
}

fn same(dtype: DataType) -> (DataType, DataType) {
    (dtype, dtype)
}

fn truth(dtype: DataType) -> (DataType, DataType) {
    (dtype, DataType::Bool)
}

/// Division results in a float.
fn divided(dtype: DataType) -> (DataType, DataType) {
    if dtype.is_float() {
        (dtype, dtype)
    } else {
        (DataType::Fp32, DataType::Fp32)
    }
}

binary! {
    /// `left + right`.
    add, op_add = "pto.op.add", make_add, Numbers, same;
    /// `left - right`.
    sub, op_sub = "pto.op.sub", make_sub, Numbers, same;
    /// `left * right`.
    mul, op_mul = "pto.op.mul", make_mul, Numbers, same;
    /// `left / right`; integers become floats.
    truediv, op_truediv = "pto.op.truediv", make_float_div, Numbers, divided;
    /// `left / right`, rounded down.
    floordiv, op_floordiv = "pto.op.floordiv", make_floor_div, Numbers, same;
    /// The remainder of division rounded down.
    modulo, op_mod = "pto.op.mod", make_floor_mod, Numbers, same;
    /// `left` to the power of `right`.
    pow, op_pow = "pto.op.pow", make_pow, Numbers, same;
    /// The smaller one.
    min_, op_min = "pto.op.min_", make_min, Numbers, same;
    /// The larger one.
    max_, op_max = "pto.op.max_", make_max, Numbers, same;
    /// Compares for `left == right`.
    eq, op_eq = "pto.op.eq", make_eq, Any, truth;
    /// Compares for `left != right`.
    ne, op_ne = "pto.op.ne", make_ne, Any, truth;
    /// Compares for `left < right`.
    lt, op_lt = "pto.op.lt", make_lt, Numbers, truth;
    /// Compares for `left <= right`.
    le, op_le = "pto.op.le", make_le, Numbers, truth;
    /// Compares for `left > right`.
    gt, op_gt = "pto.op.gt", make_gt, Numbers, truth;
    /// Compares for `left >= right`.
    ge, op_ge = "pto.op.ge", make_ge, Numbers, truth;
    /// True if both operands are true.
    and_, op_and = "pto.op.and_", make_and, Truth, truth;
    /// True if at least one operand is true.
    or_, op_or = "pto.op.or_", make_or, Truth, truth;
    /// True if exactly one operand is true.
    xor_, op_xor = "pto.op.xor_", make_xor, Truth, truth;
    /// The bits set in both.
    bit_and, op_bit_and = "pto.op.bit_and", make_bit_and, Bits, same;
    /// The bits set in at least one of the two.
    bit_or, op_bit_or = "pto.op.bit_or", make_bit_or, Bits, same;
    /// The bits set in exactly one of the two.
    bit_xor, op_bit_xor = "pto.op.bit_xor", make_bit_xor, Bits, same;
    /// `left` shifted left by `right` bits.
    bit_shift_left, op_shift_left = "pto.op.bit_shift_left", make_bit_shift_left, Integers, same;
    /// `left` shifted right by `right` bits.
    bit_shift_right, op_shift_right = "pto.op.bit_shift_right", make_bit_shift_right, Integers, same;
}

/// Declares the operators of one operand.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident, $export:ident = $key:literal, $make:ident, $demand:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// `TypeError` for an operand that is not a scalar or does not suit the
            /// operation.
            pub fn $name(operand: impl Into<Operand>) -> Result<Ref<Expr>> {
                $export(operand.into(), None)
            }

            $(#[$doc])*
            #[export($key)]
            fn $export(operand: Operand, span: Option<Ref<Span>>) -> Result<Ref<Expr>> {
                let name = stringify!($name).trim_end_matches('_');
                let dtype = operand.dtype(name)?;
                OperandRule::$demand.check(name, dtype)?;
                let operand = operand.to_format(name, dtype, span.as_ref())?;
                Ok(nodes::$make(operand, dtype.object(), span).into_expr())
            }
        )*

        fn register_unary() -> Result<()> {
            isoform::register_functions![$($export),*]
        }
    };
}

unary! {
    /// The absolute value.
    abs, op_abs = "pto.op.abs", make_abs, Numbers;
    /// `-operand`.
    neg, op_neg = "pto.op.neg", make_neg, Numbers;
    /// True if the operand is false.
    not_, op_not = "pto.op.not_", make_not, Truth;
    /// All bits inverted.
    bit_not, op_bit_not = "pto.op.bit_not", make_bit_not, Bits;
}

/// Converts a number to another format: a number of the format stays unchanged, and a
/// constant becomes a literal.
///
/// # Errors
///
/// `TypeError` for an operand that is not a scalar; `ValueError` for a constant
/// outside the range of the format.
pub fn cast(operand: impl Into<Operand>, dtype: DataType) -> Result<Ref<Expr>> {
    op_cast(operand.into(), dtype.object(), None)
}

/// The number in another format: unchanged if the number has the format, a literal for
/// a Python number.
#[export("pto.op.cast")]
fn op_cast(
    operand: Operand,
    dtype: Ref<DataTypeObject>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Expr>> {
    let _ = operand.dtype("cast")?;
    match operand {
        Operand::Expr(expr) if expr.scalar_dtype() == Some(dtype.get()) => Ok(expr),
        // The program asks explicitly for a conversion of its literal.
        Operand::Expr(expr) => Ok(nodes::make_cast(expr, dtype, span).into_expr()),
        number => literal("cast", &number, dtype.get(), span),
    }
}

/// True if an expression is a literal, not the result of an operation.
pub fn is_constant(expr: &Ref<Expr>) -> bool {
    expr.isa::<ConstInt>() || expr.isa::<ConstFloat>() || expr.isa::<ConstBool>()
}

pub(super) fn register() -> Result<()> {
    register_binary()?;
    register_unary()?;
    isoform::register_functions![op_cast]
}
