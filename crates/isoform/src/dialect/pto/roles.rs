//! The roles of the dialect's types in rewrites by rules: what binds a variable, what has no
//! effect, what is a constant, whose operands may be swapped.

use super::expr::{ConstBool, ConstFloat, ConstInt, Expr};
use super::operation::{Add, BitAnd, BitOr, BitXor, Eq, Max, Min, Mul, Ne, Xor};
use super::purity::has_no_effect;
use super::stmt::AssignStmt;
use super::ty::Type;
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Node, Ref};
use crate::traverse::DialectRoles;

/// Declares the roles, once. `And` and `Or` are not commutative, since they evaluate the right
/// operand only if they need it.
pub(super) fn register() -> Result<()> {
    let pure = Function::typed(|expr: Ref<Expr>| has_no_effect(&expr));
    let roles = DialectRoles {
        binding: (
            AssignStmt::type_index(),
            &[("var", "var"), ("value", "value")],
        ),
        pure: &[
            (Expr::type_index(), pure.into()),
            (Type::type_index(), true.into()),
        ],
        constant: &[
            ConstInt::type_index(),
            ConstFloat::type_index(),
            ConstBool::type_index(),
        ],
        commutative: (
            &[
                Add::type_index(),
                Mul::type_index(),
                Min::type_index(),
                Max::type_index(),
                Eq::type_index(),
                Ne::type_index(),
                Xor::type_index(),
                BitAnd::type_index(),
                BitOr::type_index(),
                BitXor::type_index(),
            ],
            ["left", "right"],
        ),
    };
    roles.declare()
}
