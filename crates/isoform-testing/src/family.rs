//! One set of node types, declared twice.
//!
//! It covers every kind, field flag, storage and hook. The types exist once as Rust
//! structs and once as data registered at run time; both must behave the same, so every
//! case runs on both.

mod dynamic;
mod native;
mod role;

use isoform::Result;
use isoform::TypeIndex;
use isoform::Value;
use isoform::{Obj, Ref};
use isoform::{construct, get_field_at, set_field_at};

pub use native::{
    Add, Binder, Comm, Const, Expr, Frozen, Function, Hidden, Lambda, LateLambda, Let, Literal, Op,
    Shared, SharedLambda, Sized, Storages, TypedVar, Var,
};
pub use role::{ROLES, Role};

/// One declaration of all roles.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    name: &'static str,
    types: [TypeIndex; ROLES.len()],
}

impl Family {
    /// Returns the types declared as Rust structs.
    ///
    /// # Errors
    ///
    /// `ValueError` if one of the type keys is taken.
    pub fn native() -> Result<Family> {
        Ok(Family {
            name: "Rust",
            types: native::register_all()?,
        })
    }

    /// The types declared at run time.
    ///
    /// # Errors
    ///
    /// As [`native`](Self::native).
    pub fn dynamic() -> Result<Family> {
        Ok(Family {
            name: "run time",
            types: dynamic::register_all()?,
        })
    }

    /// Both, the Rust one first.
    ///
    /// # Errors
    ///
    /// As [`native`](Self::native).
    pub fn both() -> Result<[Family; 2]> {
        Ok([Family::native()?, Family::dynamic()?])
    }

    /// The place of the types' declarations, for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The type with a role.
    pub fn type_of(&self, role: Role) -> TypeIndex {
        self.types[role as usize]
    }

    /// Makes a node from its field values, parents' fields first. Mutable fields are then
    /// set once more, so that the engines see objects whose fields have changed.
    ///
    /// # Errors
    ///
    /// `TypeError` if the values do not fit.
    pub fn make(&self, role: Role, values: Vec<Value>) -> Result<Ref<Obj>> {
        let object = construct(self.type_of(role), values)?;
        for (position, field) in object.type_info().fields().iter().enumerate() {
            if field.is_mutable()
                && let Some(value) = get_field_at(&object, position)
            {
                set_field_at(&object, position, value)?;
            }
        }
        Ok(object)
    }
}
