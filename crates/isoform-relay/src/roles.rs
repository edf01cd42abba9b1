//! The roles of expressions in rewrites by rules: what binds a variable.

use super::Let;
use isoform::{Node, Result};
use isoform_ir::DialectRoles;

/// Declares the roles, once. Calls may have effects, as their operator decides, so no
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
