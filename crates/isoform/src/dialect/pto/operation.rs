//! Operations on numbers: two operands or one, as they are said.

use isoform_macros::{Node, export};

use super::datatype::{DataType, DataTypeObject};
use super::expr::Expr;
use super::node::Span;
use crate::kernel::convert::IntoField;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::types::Enumerator;

/// The base of the operations on two numbers.
#[derive(Node)]
#[node(key = "pto.BinaryExpr", init = refuse_binary, no_new, crate = crate)]
#[repr(C)]
pub struct BinaryExpr {
    #[node(base)]
    base: Expr,
    /// The left operand.
    pub left: Ref<Expr>,
    /// The right operand.
    pub right: Ref<Expr>,
}

/// Always raises TypeError: an operation is one of the classes that extend it.
#[export("pto.BinaryExpr", crate = crate)]
fn refuse_binary() -> Result<Ref<BinaryExpr>> {
    Err(Error::type_error(
        "pto.BinaryExpr: expected one of the classes that extend it, such as Add",
    ))
}

/// The base of the operations on one number.
#[derive(Node)]
#[node(key = "pto.UnaryExpr", init = refuse_unary, no_new, crate = crate)]
#[repr(C)]
pub struct UnaryExpr {
    #[node(base)]
    base: Expr,
    /// The operand.
    pub operand: Ref<Expr>,
}

/// Always raises TypeError: an operation is one of the classes that extend it.
#[export("pto.UnaryExpr", crate = crate)]
fn refuse_unary() -> Result<Ref<UnaryExpr>> {
    Err(Error::type_error(
        "pto.UnaryExpr: expected one of the classes that extend it, such as Neg",
    ))
}

/// Declares the operations on two numbers.
macro_rules! binary {
    ($($(#[$doc:meta])* $node:ident = $key:tt, $make:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Node)]
            #[node(key = $key, init = $make, no_new, crate = crate)]
            #[repr(C)]
            pub struct $node {
                #[node(base)]
                base: BinaryExpr,
            }

            impl $node {
                /// The operation on these operands with a result of this
                /// format, as it is said.
                pub fn new(
                    left: impl IntoField<Ref<Expr>>,
                    right: impl IntoField<Ref<Expr>>,
                    dtype: impl IntoField<Enumerator<DataType>>,
                ) -> Ref<Self> {
                    $make(left.into_field(), right.into_field(), dtype.into_field(), None)
                }
            }

            $(#[$doc])*
            #[export($key, crate = crate)]
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
    /// What division rounded down leaves over.
    FloorMod = "pto.FloorMod", make_floor_mod;
    /// `left / right`.
    FloatDiv = "pto.FloatDiv", make_float_div;
    /// The smaller one.
    Min = "pto.Min", make_min;
    /// The larger one.
    Max = "pto.Max", make_max;
    /// `left` to the power of `right`.
    Pow = "pto.Pow", make_pow;
    /// Whether `left == right`.
    Eq = "pto.Eq", make_eq;
    /// Whether `left != right`.
    Ne = "pto.Ne", make_ne;
    /// Whether `left < right`.
    Lt = "pto.Lt", make_lt;
    /// Whether `left <= right`.
    Le = "pto.Le", make_le;
    /// Whether `left > right`.
    Gt = "pto.Gt", make_gt;
    /// Whether `left >= right`.
    Ge = "pto.Ge", make_ge;
    /// Whether both hold.
    And = "pto.And", make_and;
    /// Whether one of the two holds.
    Or = "pto.Or", make_or;
    /// Whether exactly one holds.
    Xor = "pto.Xor", make_xor;
    /// The bits that both have.
    BitAnd = "pto.BitAnd", make_bit_and;
    /// The bits that one of the two has.
    BitOr = "pto.BitOr", make_bit_or;
    /// The bits that exactly one has.
    BitXor = "pto.BitXor", make_bit_xor;
    /// The bits of `left` moved up by `right`.
    BitShiftLeft = "pto.BitShiftLeft", make_bit_shift_left;
    /// The bits of `left` moved down by `right`.
    BitShiftRight = "pto.BitShiftRight", make_bit_shift_right;
}

/// Declares the operations on one number.
macro_rules! unary {
    ($($(#[$doc:meta])* $node:ident = $key:tt, $make:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Node)]
            #[node(key = $key, init = $make, no_new, crate = crate)]
            #[repr(C)]
            pub struct $node {
                #[node(base)]
                base: UnaryExpr,
            }

            impl $node {
                /// The operation on this operand with a result of this format,
                /// as it is said.
                pub fn new(
                    operand: impl IntoField<Ref<Expr>>,
                    dtype: impl IntoField<Enumerator<DataType>>,
                ) -> Ref<Self> {
                    $make(operand.into_field(), dtype.into_field(), None)
                }
            }

            $(#[$doc])*
            #[export($key, crate = crate)]
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
    /// The number without its sign.
    Abs = "pto.Abs", make_abs;
    /// `-operand`.
    Neg = "pto.Neg", make_neg;
    /// Whether the operand does not hold.
    Not = "pto.Not", make_not;
    /// The other bits.
    BitNot = "pto.BitNot", make_bit_not;
    /// The number in another format.
    Cast = "pto.Cast", make_cast;
}
