//! Declaring the roles of a dialect's types in rewrites by rules.

use isoform::attrs::{self, Lookup};
use isoform::traverse::{BINDING, COMMUTATIVE, CONSTANT, PURE};
use isoform::types::TypeIndex;
use isoform::{Array, Map, Result, Str, Value};

/// The roles of the types of a dialect.
pub struct DialectRoles<'a> {
    /// The type binding variables, with its fields by their roles.
    pub binding: (TypeIndex, &'a [(&'a str, &'a str)]),
    /// Types with the value telling whether their nodes are pure.
    pub pure: &'a [(TypeIndex, Value)],
    /// Types whose nodes are constants.
    pub constant: &'a [TypeIndex],
    /// Types with swappable operands, and the fields of these operands.
    pub commutative: (&'a [TypeIndex], [&'a str; 2]),
}

impl DialectRoles<'_> {
    /// Sets the missing attributes.
    ///
    /// # Errors
    ///
    /// As [`attrs::set`].
    pub fn declare(&self) -> Result<()> {
        let (binder, fields) = self.binding;
        let fields: Map<Str, Str> = fields
            .iter()
            .map(|(role, field)| (Str::from(*role), Str::from(*field)))
            .collect();
        declare_attribute(binder, BINDING, fields.into())?;
        for (ty, is_pure) in self.pure {
            declare_attribute(*ty, PURE, is_pure.clone())?;
        }
        for ty in self.constant {
            declare_attribute(*ty, CONSTANT, true.into())?;
        }
        let (types, operands) = self.commutative;
        let operands = Array::from(operands.map(Str::from));
        let mut types = types.iter();
        types.try_for_each(|ty| declare_attribute(*ty, COMMUTATIVE, operands.clone().into()))
    }
}

/// Sets a missing attribute of a type.
///
/// # Errors
///
/// As [`attrs::set`].
pub fn declare_attribute(ty: TypeIndex, name: &str, value: Value) -> Result<()> {
    let set = attrs::set(ty, name, value);
    // Asked after the attempt, since another thread may do the same meanwhile.
    if attrs::has(ty, name, Lookup::Exact) {
        Ok(())
    } else {
        set
    }
}
