//! The roles of the dialect's types in rewrites by rules: what binds a variable, what has no
//! effect, what is a constant, whose operands may be swapped.

use super::expr::{ConstBool, ConstFloat, ConstInt, Expr};
use super::operation::{Add, BitAnd, BitOr, BitXor, Eq, Max, Min, Mul, Ne, Xor};
use super::purity::has_no_effect;
use super::stmt::AssignStmt;
use super::ty::Type;
use crate::attrs::{self, Lookup};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::value::Value;
use crate::traverse::{BINDING, COMMUTATIVE, CONSTANT, PURE};

/// Declares the roles, once. `And` and `Or` are not commutative, since they evaluate the right
/// operand only if they need it.
pub(super) fn register() -> Result<()> {
    let pure = Function::new(|arguments: &[Value]| {
        let expr: Ref<Expr> = arguments.first().cloned().unwrap_or_default().extract()?;
        Ok(has_no_effect(&expr).into())
    });
    let fields: Map<Str, Str> = [("var", "var"), ("value", "value")]
        .into_iter()
        .map(|(role, field)| (Str::from(role), Str::from(field)))
        .collect();
    let operands = Value::from(Array::from(vec![Str::from("left"), Str::from("right")]));
    let mut roles = vec![
        (Expr::type_index(), PURE, Value::from(pure)),
        (Type::type_index(), PURE, true.into()),
        (AssignStmt::type_index(), BINDING, fields.into()),
    ];
    for ty in [
        ConstInt::type_index(),
        ConstFloat::type_index(),
        ConstBool::type_index(),
    ] {
        roles.push((ty, CONSTANT, true.into()));
    }
    for ty in [
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
    ] {
        roles.push((ty, COMMUTATIVE, operands.clone()));
    }
    for (ty, name, value) in roles {
        if !attrs::has(ty, name, Lookup::Exact) {
            attrs::set(ty, name, value)?;
        }
    }
    Ok(())
}
