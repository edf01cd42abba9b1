//! One set of node types in two declarations.
//!
//! The family has every kind, field flag, storage and hook. The types exist once as
//! Rust structs and once as data registered at run time, made from the registrations of
//! the structs; both must behave alike, so every case runs on both.

mod dynamic;
mod native;
mod role;

use isoform::objects::{construct, field_value_at, set_field_at};
use isoform::types::TypeIndex;
use isoform::{Obj, Ref, Result, Value};

pub use native::{
    Add, Binder, Comm, Const, Define, Expr, Frozen, Function, Hidden, Lambda, LateLambda, Let,
    Literal, Name, Op, ShapedVar, Shared, SharedLambda, Sized, Storages, TypedVar, Var, Wrap,
};
pub use role::{ROLES, Role};

/// One declaration of all roles.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    name: &'static str,
    types: [TypeIndex; ROLES.len()],
}

impl Family {
    /// The types declared as Rust structs.
    ///
    /// # Errors
    ///
    /// `ValueError` when another owner has registered one of the type keys.
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

    /// Where the types are declared, for messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The type with a role.
    pub fn type_of(&self, role: Role) -> TypeIndex {
        self.types[role as usize]
    }

    /// A node from its field values, parents' fields first. Mutable fields are set once
    /// more, so the engines meet objects with changed fields.
    ///
    /// # Errors
    ///
    /// `TypeError` when the values do not fit.
    pub fn make(&self, role: Role, values: Vec<Value>) -> Result<Ref<Obj>> {
        let object = construct(self.type_of(role), values)?;
        for (position, field) in object.type_info().fields().iter().enumerate() {
            if field.is_mutable()
                && let Some(value) = field_value_at(&object, position)
            {
                set_field_at(&object, position, value)?;
            }
        }
        Ok(object)
    }
}
