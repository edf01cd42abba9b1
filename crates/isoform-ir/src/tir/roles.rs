//! The roles of expressions in rewrites by rules: binders of variables, operations
//! without effects, constants, commutative operations.

use super::nodes::{Add, And, Call, EQ, Let, Max, Min, Mul, NE, Or};
use crate::DialectRoles;
use crate::ir::PrimExpr;
use crate::ir::prim::{FloatImm, IntImm, StringImm};
use isoform::{Node, Result};

/// Declares the roles, once. The effects of calls depend on the operator, so calls are
/// not pure.
pub(super) fn register() -> Result<()> {
    let roles = DialectRoles {
        binding: (
            Let::type_index(),
            &[("var", "var"), ("value", "value"), ("body", "body")],
        ),
        pure: &[
            (PrimExpr::type_index(), true.into()),
            (Call::type_index(), false.into()),
        ],
        constant: &[
            IntImm::type_index(),
            FloatImm::type_index(),
            StringImm::type_index(),
        ],
        commutative: (
            &[
                Add::type_index(),
                Mul::type_index(),
                Min::type_index(),
                Max::type_index(),
                EQ::type_index(),
                NE::type_index(),
                And::type_index(),
                Or::type_index(),
            ],
            ["a", "b"],
        ),
    };
    roles.declare()
}
