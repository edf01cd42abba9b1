//! The roles of expressions in rewrites by rules: binders of variables.

use super::Let;
use isoform::{Node, Result};
use isoform_ir::DialectRoles;

/// Declares the roles, once. The effects of calls depend on the operator, so no
/// expression is pure.
pub(super) fn register() -> Result<()> {
    let roles = DialectRoles {
        binding: (
            Let::type_index(),
            &[("var", "var"), ("value", "value"), ("body", "body")],
        ),
        pure: &[],
        constant: &[],
        commutative: (&[], ["", ""]),
    };
    roles.declare()
}
