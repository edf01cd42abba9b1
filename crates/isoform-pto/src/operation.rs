//! Operations on one or two numbers, without folding or conversion.

use isoform::types::{Enumerator, IntoField};
use isoform::{Error, Node, Ref, Result, export};

use super::datatype::{DataType, DataTypeObject};
use super::expr::Expr;
use super::node::Span;

/// The base of the operations on two numbers.
#[derive(Node)]
#[node(key = "pto.BinaryExpr", init = refuse_binary, no_new)]
#[repr(C)]
pub struct BinaryExpr {
    #[node(base)]
    base: Expr,
    /// The left operand.
    pub left: Ref<Expr>,
    /// The right operand.
    pub right: Ref<Expr>,
}

/// Always raises TypeError: use a derived class.
#[export("pto.BinaryExpr")]
fn refuse_binary() -> Result<Ref<BinaryExpr>> {
    Err(Error::type_error(
        "pto.BinaryExpr: expected a derived class, such as Add",
    ))
}

/// The base of the operations on one number.
#[derive(Node)]
#[node(key = "pto.UnaryExpr", init = refuse_unary, no_new)]
#[repr(C)]
pub struct UnaryExpr {
    #[node(base)]
    base: Expr,
    /// The operand.
    pub operand: Ref<Expr>,
}

/// Always raises TypeError: use a derived class.
#[export("pto.UnaryExpr")]
fn refuse_unary() -> Result<Ref<UnaryExpr>> {
    Err(Error::type_error(
        "pto.UnaryExpr: expected a derived class, such as Neg",
    ))
}

/// Declares the operations on two numbers.
macro_rules! binary {
    ($($(#[$doc:meta])* $node:ident = $key:tt, $make:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Node)]
            #[node(key = $key, init = $make, no_new)]
            #[repr(C)]
            pub struct $node {
                #[node(base)]
                base: BinaryExpr,
            }

            impl $node {
                /// The operation on these operands with a result of this
                /// format, without conversion.
                pub fn new(
                    left: impl IntoField<Ref<Expr>>,
                    right: impl IntoField<Ref<Expr>>,
                    dtype: impl IntoField<Enumerator<DataType>>,
                ) -> Ref<Self> {
                    $make(left.into_field(), right.into_field(), dtype.into_field(), None)
                }
            }

            $(#[$doc])*
            #[export($key)]
            pub(super) fn $make(
                left: Ref<Expr>,
                right: Ref<Expr>,
                dtype: Ref<DataTypeObject>,
                span: Option<Ref<Span>>,
            ) -> Ref<$node> {
                let base = Expr::scalar(dtype, span);
                Ref::new($node { base: BinaryExpr { base, left, right } })
            }
        )*
    };
}

binary! {
    /// `left + right`.
    Add = "pto.Add", make_add;
    /// `left - right`.
    Sub = "pto.Sub", make_sub;
    /// `left * right`.
    Mul = "pto.Mul", make_mul;
    /// `left / right`, rounded down.
    FloorDiv = "pto.FloorDiv", make_floor_div;
    /// The remainder of division rounded down.
    FloorMod = "pto.FloorMod", make_floor_mod;
    /// `left / right`.
    FloatDiv = "pto.FloatDiv", make_float_div;
    /// The smaller one.
    Min = "pto.Min", make_min;
    /// The larger one.
    Max = "pto.Max", make_max;
    /// `left` to the power of `right`.
    Pow = "pto.Pow", make_pow;
    /// Equality, `left == right`.
    Eq = "pto.Eq", make_eq;
    /// Inequality, `left != right`.
    Ne = "pto.Ne", make_ne;
    /// The comparison `left < right`.
    Lt = "pto.Lt", make_lt;
    /// The comparison `left <= right`.
    Le = "pto.Le", make_le;
    /// The comparison `left > right`.
    Gt = "pto.Gt", make_gt;
    /// The comparison `left >= right`.
    Ge = "pto.Ge", make_ge;
    /// True if both operands are true.
    And = "pto.And", make_and;
    /// True if at least one operand is true.
    Or = "pto.Or", make_or;
    /// True if exactly one operand is true.
    Xor = "pto.Xor", make_xor;
    /// The bits set in both.
    BitAnd = "pto.BitAnd", make_bit_and;
    /// The bits set in at least one of the two.
    BitOr = "pto.BitOr", make_bit_or;
    /// The bits set in exactly one of the two.
    BitXor = "pto.BitXor", make_bit_xor;
    /// `left` shifted left by `right` bits.
    BitShiftLeft = "pto.BitShiftLeft", make_bit_shift_left;
    /// `left` shifted right by `right` bits.
    BitShiftRight = "pto.BitShiftRight", make_bit_shift_right;
}

/// Declares the operations on one number.
macro_rules! unary {
    ($($(#[$doc:meta])* $node:ident = $key:tt, $make:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Node)]
            #[node(key = $key, init = $make, no_new)]
            #[repr(C)]
            pub struct $node {
                #[node(base)]
                base: UnaryExpr,
            }

            impl $node {
                /// The operation on this operand with a result of this format,
                /// without conversion.
                pub fn new(
                    operand: impl IntoField<Ref<Expr>>,
                    dtype: impl IntoField<Enumerator<DataType>>,
                ) -> Ref<Self> {
                    $make(operand.into_field(), dtype.into_field(), None)
                }
            }

            $(#[$doc])*
            #[export($key)]
            pub(super) fn $make(
                operand: Ref<Expr>,
                dtype: Ref<DataTypeObject>,
                span: Option<Ref<Span>>,
            ) -> Ref<$node> {
                let base = Expr::scalar(dtype, span);
                Ref::new($node { base: UnaryExpr { base, operand } })
            }
        )*
    };
}

unary! {
    /// The absolute value.
    Abs = "pto.Abs", make_abs;
    /// `-operand`.
    Neg = "pto.Neg", make_neg;
    /// True if the operand is false.
    Not = "pto.Not", make_not;
    /// All bits inverted.
    BitNot = "pto.BitNot", make_bit_not;
    /// The number in another format.
    Cast = "pto.Cast", make_cast;
}
