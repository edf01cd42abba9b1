//! The roles of expressions in rewrites by rules: what binds a variable, what has no effect,
//! what is a constant, whose operands may be swapped.

use super::nodes::{Add, And, Call, EQ, Let, Max, Min, Mul, NE, Or};
use crate::attrs::{self, Lookup};
use crate::ir::PrimExpr;
use crate::ir::prim::{FloatImm, IntImm, StringImm};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::error::Result;
use crate::kernel::object::reference::Node;
use crate::kernel::value::Value;
use crate::traverse::{BINDING, COMMUTATIVE, CONSTANT, PURE};

/// Declares the roles, once. Calls may have effects, as their operator decides, so they are
/// not pure.
pub(super) fn register() -> Result<()> {
    let fields: Map<Str, Str> = [("var", "var"), ("value", "value"), ("body", "body")]
        .into_iter()
        .map(|(role, field)| (Str::from(role), Str::from(field)))
        .collect();
    let operands = Value::from(Array::from(vec![Str::from("a"), Str::from("b")]));
    let mut roles = vec![
        (PrimExpr::type_index(), PURE, Value::from(true)),
        (Call::type_index(), PURE, false.into()),
        (Let::type_index(), BINDING, fields.into()),
    ];
    for ty in [
        IntImm::type_index(),
        FloatImm::type_index(),
        StringImm::type_index(),
    ] {
        roles.push((ty, CONSTANT, true.into()));
    }
    for ty in [
        Add::type_index(),
        Mul::type_index(),
        Min::type_index(),
        Max::type_index(),
        EQ::type_index(),
        NE::type_index(),
        And::type_index(),
        Or::type_index(),
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
