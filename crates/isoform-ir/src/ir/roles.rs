//! The roles of the common types in rewrites: expressions, types and attributes without
//! effects, literals.

use super::{Attrs, Constructor, FloatImm, GlobalVar, IntImm, PrimExpr, StringImm, Type};
use crate::declare_attribute;
use crate::transform::cse::FORM;
use isoform::traverse::{CONSTANT, PURE};
use isoform::{Node, Result};

/// Declares the roles, once. Types and attributes are data of the expressions that have
/// them: equal ones make equal expressions, and nobody gains by sharing them.
pub(crate) fn register() -> Result<()> {
    for ty in [Type::type_index(), Attrs::type_index()] {
        declare_attribute(ty, PURE, true.into())?;
        declare_attribute(ty, FORM, "data".into())?;
    }
    for ty in [
        PrimExpr::type_index(),
        GlobalVar::type_index(),
        Constructor::type_index(),
    ] {
        declare_attribute(ty, PURE, true.into())?;
    }
    for ty in [
        IntImm::type_index(),
        FloatImm::type_index(),
        StringImm::type_index(),
    ] {
        declare_attribute(ty, CONSTANT, true.into())?;
    }
    Ok(())
}
