//! The nodes other than literals.
//!
//! Constructors check the data types of the operands and find the data type of the
//! result.

use isoform::types::IntoField;
use isoform::values::DType;
use isoform::{Array, Error, Node, Ref, Result, Str, Value, export};

use super::number_types as rules;
use super::number_types::is_bool;
use crate::ir::{Op, PointerType, PrimExpr, PrimType, RelayExpr, Span, Type};

/// A variable, identified by its binding; the name is ignored.
#[derive(Node)]
#[node(key = "tir.Var", kind = var, init = make_var, no_new)]
#[repr(C)]
pub struct Var {
    #[node(base)]
    base: PrimExpr,
    /// For people.
    #[node(ignore)]
    pub name: Str,
    /// The type of the value.
    pub type_annotation: Ref<Type>,
}

impl Var {
    /// A variable of a data type.
    pub fn new(name: impl Into<Str>, dtype: DType) -> Ref<Var> {
        Ref::new(Var::of_dtype(name.into(), dtype, None))
    }

    fn of_dtype(name: Str, dtype: DType, span: Option<Ref<Span>>) -> Var {
        Var {
            base: PrimExpr::typed(dtype, span),
            name,
            type_annotation: PrimType::new(dtype).upcast(),
        }
    }

    /// A variable of a type or a data type.
    fn of(name: Str, ty: &Value, span: Option<Ref<Span>>) -> Result<Var> {
        let Some(annotation) = ty.peek::<Ref<Type>>() else {
            let dtype = isoform::types::Schema::DType.convert(ty.clone())?;
            return Ok(Var::of_dtype(
                name,
                dtype.as_dtype().unwrap_or(DType::INT32),
                span,
            ));
        };
        let dtype = match annotation.downcast_ref::<PrimType>() {
            Some(scalar) => scalar.dtype,
            None if annotation.isa::<PointerType>() => rules::HANDLE,
            None => {
                return Err(Error::type_error(format!(
                    "tir.Var: expected dtype, ir.PrimType or ir.PointerType, got {}",
                    annotation.type_info().key()
                )));
            }
        };
        Ok(Var {
            base: PrimExpr::typed(dtype, span),
            name,
            type_annotation: annotation.clone(),
        })
    }
}

/// Makes a variable of a data type, or of a type with a machine representation.
#[export("tir.Var")]
fn make_var(
    name: Str,
    #[default = DType::INT32] dtype: Value,
    span: Option<Ref<Span>>,
) -> Result<Ref<Var>> {
    Var::of(name, &dtype, span).map(Ref::new)
}

/// A variable for a size, therefore not negative.
#[derive(Node)]
#[node(key = "tir.SizeVar", kind = var, init = make_size_var, no_new)]
#[repr(C)]
pub struct SizeVar {
    #[node(base)]
    base: Var,
}

/// Makes a variable for a size.
#[export("tir.SizeVar")]
fn make_size_var(
    name: Str,
    #[default = DType::INT32] dtype: Value,
    span: Option<Ref<Span>>,
) -> Result<Ref<SizeVar>> {
    let base = Var::of(name, &dtype, span)?;
    if !rules::class(base.dtype).is_integer() {
        return Err(Error::value_error(format!(
            "tir.SizeVar: expected an integer data type, got {}",
            base.dtype
        )));
    }
    Ok(Ref::new(SizeVar { base }))
}

/// A conversion to another data type.
#[derive(Node)]
#[node(key = "tir.Cast", init = make_cast, no_new)]
#[repr(C)]
pub struct Cast {
    #[node(base)]
    base: PrimExpr,
    /// The expression to convert.
    pub value: Ref<PrimExpr>,
}

/// Makes a conversion to a data type with the same number of lanes.
#[export("tir.Cast")]
pub(super) fn make_cast(
    dtype: DType,
    value: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Cast>> {
    if dtype.lanes() != value.dtype.lanes() {
        return Err(Error::value_error(format!(
            "tir.Cast: expected as many lanes as {} has, got {dtype}",
            value.dtype
        )));
    }
    Ok(Ref::new(Cast {
        base: PrimExpr::typed(dtype, span),
        value,
    }))
}

/// The common data type of two operands.
fn same_dtype(key: &str, left: &PrimExpr, right: &PrimExpr) -> Result<DType> {
    if left.dtype == right.dtype {
        return Ok(left.dtype);
    }
    Err(Error::type_error(format!(
        "{key}: expected operands of one data type, got {} and {}",
        left.dtype, right.dtype
    )))
}

fn bool_with_lanes_of(dtype: DType) -> DType {
    rules::with_lanes(DType::BOOL, dtype.lanes())
}

/// Declares a base of two operands.
macro_rules! base {
    ($(#[$doc:meta])* $base:ident = $key:tt) => {
        $(#[$doc])*
        #[derive(Node)]
        #[node(key = $key, no_new)]
        #[repr(C)]
        pub struct $base {
            #[node(base)]
            base: PrimExpr,
            /// The left operand.
            pub a: Ref<PrimExpr>,
            /// The right operand.
            pub b: Ref<PrimExpr>,
        }
    };
}

base! {
    /// An arithmetic operation on two numbers of one data type.
    BinaryOpExpr = "tir.BinaryOpExpr"
}
base! {
    /// A comparison of two numbers of one data type.
    CmpExpr = "tir.CmpExpr"
}
base! {
    /// An operation on two truth values.
    LogicalExpr = "tir.LogicalExpr"
}

fn binary_base(
    key: &str,
    a: Ref<PrimExpr>,
    b: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<BinaryOpExpr> {
    let base = PrimExpr::typed(same_dtype(key, &a, &b)?, span);
    Ok(BinaryOpExpr { base, a, b })
}

fn comparison_base(
    key: &str,
    a: Ref<PrimExpr>,
    b: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<CmpExpr> {
    let dtype = bool_with_lanes_of(same_dtype(key, &a, &b)?);
    let base = PrimExpr::typed(dtype, span);
    Ok(CmpExpr { base, a, b })
}

fn logical_base(
    key: &str,
    a: Ref<PrimExpr>,
    b: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<LogicalExpr> {
    let dtype = expect_bool(key, same_dtype(key, &a, &b)?)?;
    let base = PrimExpr::typed(dtype, span);
    Ok(LogicalExpr { base, a, b })
}

fn expect_bool(key: &str, dtype: DType) -> Result<DType> {
    if is_bool(dtype) {
        Ok(dtype)
    } else {
        Err(Error::type_error(format!(
            "{key}: expected bool, got {dtype}"
        )))
    }
}

/// Declares a node of two operands.
macro_rules! operation {
    ($(#[$doc:meta])* $node:ident = $key:tt, $base:ident, $make_base:ident, $make:ident) => {
        $(#[$doc])*
        #[derive(Node)]
        #[node(key = $key, init = $make, no_new)]
        #[repr(C)]
        pub struct $node {
            #[node(base)]
            base: $base,
        }

        impl $node {
            /// The operation on these operands, without folding.
            ///
            /// # Errors
            ///
            /// `TypeError` if the data types are not compatible.
            pub fn new(
                a: impl IntoField<Ref<PrimExpr>>,
                b: impl IntoField<Ref<PrimExpr>>,
            ) -> Result<Ref<Self>> {
                $make(a.into_field(), b.into_field(), None)
            }
        }

        $(#[$doc])*
        #[export($key)]
        fn $make(
            a: Ref<PrimExpr>,
            b: Ref<PrimExpr>,
            span: Option<Ref<Span>>,
        ) -> Result<Ref<$node>> {
            let base = $make_base($key, a, b, span)?;
            Ok(Ref::new($node { base }))
        }
    };
}

operation! {
    /// `a + b`.
    Add = "tir.Add", BinaryOpExpr, binary_base, make_add
}
operation! {
    /// `a - b`.
    Sub = "tir.Sub", BinaryOpExpr, binary_base, make_sub
}
operation! {
    /// `a * b`.
    Mul = "tir.Mul", BinaryOpExpr, binary_base, make_mul
}
operation! {
    /// `a / b`; of integers rounded towards zero.
    Div = "tir.Div", BinaryOpExpr, binary_base, make_div
}
operation! {
    /// The remainder of division rounded towards zero.
    Mod = "tir.Mod", BinaryOpExpr, binary_base, make_mod
}
operation! {
    /// `a / b` rounded down.
    FloorDiv = "tir.FloorDiv", BinaryOpExpr, binary_base, make_floordiv
}
operation! {
    /// The remainder of division rounded down.
    FloorMod = "tir.FloorMod", BinaryOpExpr, binary_base, make_floormod
}
operation! {
    /// The smaller one.
    Min = "tir.Min", BinaryOpExpr, binary_base, make_min
}
operation! {
    /// The larger one.
    Max = "tir.Max", BinaryOpExpr, binary_base, make_max
}
operation! {
    /// Equality, `a == b`.
    EQ = "tir.EQ", CmpExpr, comparison_base, make_eq
}
operation! {
    /// Inequality, `a != b`.
    NE = "tir.NE", CmpExpr, comparison_base, make_ne
}
operation! {
    /// The comparison `a < b`.
    LT = "tir.LT", CmpExpr, comparison_base, make_lt
}
operation! {
    /// The comparison `a <= b`.
    LE = "tir.LE", CmpExpr, comparison_base, make_le
}
operation! {
    /// The comparison `a > b`.
    GT = "tir.GT", CmpExpr, comparison_base, make_gt
}
operation! {
    /// The comparison `a >= b`.
    GE = "tir.GE", CmpExpr, comparison_base, make_ge
}
operation! {
    /// True if both operands are true.
    And = "tir.And", LogicalExpr, logical_base, make_and
}
operation! {
    /// True if at least one operand is true.
    Or = "tir.Or", LogicalExpr, logical_base, make_or
}

/// True if `a` is false.
#[derive(Node)]
#[node(key = "tir.Not", init = make_not, no_new)]
#[repr(C)]
pub struct Not {
    #[node(base)]
    base: PrimExpr,
    /// The operand.
    pub a: Ref<PrimExpr>,
}

/// Makes a negation of a truth value.
#[export("tir.Not")]
pub(super) fn make_not(a: Ref<PrimExpr>, span: Option<Ref<Span>>) -> Result<Ref<Not>> {
    let dtype = expect_bool(Not::TYPE_KEY, a.dtype)?;
    let base = PrimExpr::typed(dtype, span);
    Ok(Ref::new(Not { base, a }))
}

/// A choice between two values; both values are computed.
#[derive(Node)]
#[node(key = "tir.Select", init = make_select, no_new)]
#[repr(C)]
pub struct Select {
    #[node(base)]
    base: PrimExpr,
    /// The condition.
    pub condition: Ref<PrimExpr>,
    /// The value if the condition holds.
    pub true_value: Ref<PrimExpr>,
    /// The value for a false condition.
    pub false_value: Ref<PrimExpr>,
}

/// Makes a choice between two values of one data type.
#[export("tir.Select")]
fn make_select(
    condition: Ref<PrimExpr>,
    true_value: Ref<PrimExpr>,
    false_value: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Select>> {
    expect_bool("tir.Select.condition", condition.dtype)?;
    let dtype = same_dtype(Select::TYPE_KEY, &true_value, &false_value)?;
    if ![1, dtype.lanes()].contains(&condition.dtype.lanes()) {
        return Err(Error::type_error(format!(
            "tir.Select.condition: expected 1 or {} lanes, got {}",
            dtype.lanes(),
            condition.dtype
        )));
    }
    Ok(Ref::new(Select {
        base: PrimExpr::typed(dtype, span),
        condition,
        true_value,
        false_value,
    }))
}

/// The value of `body` with `var` bound to `value`.
#[derive(Node)]
#[node(key = "tir.Let", scope, defs_first = false, init = make_let, no_new)]
#[repr(C)]
pub struct Let {
    #[node(base)]
    base: PrimExpr,
    /// The value of the variable. The value comes first because the variable is not
    /// bound in the value.
    pub value: Ref<PrimExpr>,
    /// Bound in the body.
    #[node(def)]
    pub var: Ref<Var>,
    /// The result.
    pub body: Ref<PrimExpr>,
}

/// Makes a binding of a variable.
#[export("tir.Let")]
fn make_let(
    var: Ref<Var>,
    value: Ref<PrimExpr>,
    body: Ref<PrimExpr>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Let>> {
    same_dtype(Let::TYPE_KEY, &var, &value)?;
    Ok(Ref::new(Let {
        base: PrimExpr::typed(body.dtype, span),
        value,
        var,
        body,
    }))
}

/// The call of an operator or a function.
#[derive(Node)]
#[node(key = "tir.Call", init = make_call, no_new)]
#[repr(C)]
pub struct Call {
    #[node(base)]
    base: PrimExpr,
    /// The callee: an operator, or the global variable of a function.
    pub op: Ref<RelayExpr>,
    /// The arguments.
    pub args: Array<Ref<PrimExpr>>,
}

impl Call {
    /// A call with a result of this data type.
    pub fn new(
        dtype: DType,
        op: impl IntoField<Ref<RelayExpr>>,
        args: impl Into<Array<Ref<PrimExpr>>>,
    ) -> Ref<Call> {
        Ref::new(Call {
            base: PrimExpr::typed(dtype, None),
            op: op.into_field(),
            args: args.into(),
        })
    }
}

/// Makes a call of an operator, given itself or by its name in the namespace
/// `tir`, or of the global variable of a function.
#[export("tir.Call")]
fn make_call(
    dtype: DType,
    op: Value,
    args: Array<Ref<PrimExpr>>,
    span: Option<Ref<Span>>,
) -> Result<Ref<Call>> {
    let op = match op.as_str() {
        Some(name) if name.starts_with("tir.") => Op::get(name)?.upcast(),
        Some(name) => {
            return Err(Error::value_error(format!(
                "Cannot handle str op argument {name}. This function only handles str argument \
                 with the tir namespace. If you are certain about the intrinsic name, pass in \
                 Op.get(name) instead"
            )));
        }
        None => op
            .extract::<Ref<RelayExpr>>()
            .map_err(|error| Error::type_error(format!("tir.Call.op: {}", error.message())))?,
    };
    let base = PrimExpr::typed(dtype, span);
    Ok(Ref::new(Call { base, op, args }))
}

/// A vector repeating one value.
#[derive(Node)]
#[node(key = "tir.Broadcast", init = make_broadcast, no_new)]
#[repr(C)]
pub struct Broadcast {
    #[node(base)]
    base: PrimExpr,
    /// The value, a scalar.
    pub value: Ref<PrimExpr>,
    /// The number of lanes.
    pub lanes: i64,
}

impl Broadcast {
    /// A vector repeating one value.
    ///
    /// # Errors
    ///
    /// `ValueError` if the value is not a scalar, or a vector cannot have this number
    /// of lanes.
    pub fn new(value: &Ref<PrimExpr>, lanes: i64) -> Result<Ref<Broadcast>> {
        make_broadcast(value.clone(), lanes, None)
    }
}

/// The data type of a vector of the scalars.
pub(super) fn vector(key: &str, scalar: DType, lanes: i64) -> Result<DType> {
    if scalar.lanes() != 1 {
        return Err(Error::value_error(format!(
            "{key}: expected a scalar, got {scalar}"
        )));
    }
    match u16::try_from(lanes) {
        Ok(lanes) if lanes > 1 => Ok(rules::with_lanes(scalar, lanes)),
        _ => Err(Error::value_error(format!(
            "{key}.lanes: expected 2 to {}, got {lanes}",
            u16::MAX
        ))),
    }
}

/// Makes a vector from one repeated scalar.
#[export("tir.Broadcast")]
fn make_broadcast(
    value: Ref<PrimExpr>,
    lanes: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<Broadcast>> {
    let dtype = vector(Broadcast::TYPE_KEY, value.dtype, lanes)?;
    Ok(Ref::new(Broadcast {
        base: PrimExpr::typed(dtype, span),
        value,
        lanes,
    }))
}
