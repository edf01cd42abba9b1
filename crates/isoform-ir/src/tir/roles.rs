//! The roles of expressions in rewrites by rules: binders of variables, operations with
//! effects, commutative operations. The roles of expressions in general are those of
//! `ir`.

use super::nodes::{Add, And, Call, EQ, Let, Max, Min, Mul, NE, Or};
use crate::DialectRoles;
use isoform::{Node, Result};

/// Declares the roles, once. The effects of calls depend on the operator, so calls are
/// not pure.
pub(super) fn register() -> Result<()> {
    crate::ir::roles::register()?;
    let roles = DialectRoles {
        binding: (
            Let::type_index(),
            &[("var", "var"), ("value", "value"), ("body", "body")],
        ),
        pure: &[(Call::type_index(), false.into())],
        constant: &[],
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
