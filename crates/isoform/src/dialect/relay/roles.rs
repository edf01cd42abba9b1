//! The roles of expressions in rewrites by rules: what binds a variable.

use super::Let;
use crate::kernel::error::Result;
use crate::kernel::object::reference::Node;
use crate::traverse::DialectRoles;

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
