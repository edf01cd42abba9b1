//! Type definitions as data, and the registry's public functions.
//!
//! `TypeDef` and `FieldDef` are definitions as data; a `Schema` describes the values of
//! a field, and converts values. Global functions and methods are here, too.
//!
//! Registration is explicit, idempotent for the same definition, and an error for a
//! different definition; after an error nothing is registered. The attributes of a
//! definition are set together with its registration.
//!
//! Absent: registration by the linker. A type is registered at its first use, or by a
//! call of `register`.

mod attr_difference;
pub(crate) mod attr_table;
pub(crate) mod attributes;
pub(crate) mod check;
mod complex;
mod definition;
mod functions;
mod hints;
pub(crate) mod match_node;
mod methods;
pub(crate) mod names;
mod node_enum;
pub(crate) mod region;
pub(crate) mod role_attributes;
mod rust_type;
mod schema;
pub(crate) mod singletons;
pub(crate) mod stand_ins;
mod visit_order;

pub use complex::Complex;
pub(crate) use definition::NamedValues;
pub use definition::{FieldDef, FieldFlag, INIT, Kind, TypeDef};
pub use functions::{
    global_function, list_functions, register_function, register_functions, remove_function,
};
pub(crate) use hints::{MISSING_FIELD, file_field_hint, type_hint};
pub use hints::{field_hint, name_hint, replaced_note};
pub use methods::{call_method, register_method, set_method_hook};
pub use node_enum::{
    EnumKnowledge, Enumerator, NodeEnum, enum_definition, enum_member, enum_object, register_enum,
    repeated_name,
};
pub use region::{RegionChange, RegionKind};
pub(crate) use rust_type::RustType;
pub use schema::{HostSchema, Schema, TypeRef};
pub(crate) use schema::{Parts, at as in_place, nearest};
pub(crate) use visit_order::visit_order;

use attributes::Lookup;
use node_enum::MEMBERS;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::Node;
use crate::kernel::object::table::{self, TypeInfo};

/// Registers a Rust type with its parents, and returns the type's index.
///
/// Types register themselves on first use. Call this first if a clash of type keys must
/// be an error rather than a panic, or if types must be known by key before a value of
/// them exists.
///
/// # Errors
///
/// `ValueError` if another definition or another Rust type owns the type key.
pub fn register<T: Node>() -> Result<TypeIndex> {
    crate::kernel::object::type_cell::register_node::<T>()?;
    Ok(T::type_index())
}

/// Registers a Rust type of a dialect, for `dialect!`; `method`, if given, names the
/// methods of the type's visitor. A type of `node_enum!` gets this name, because the macro
/// sets its key and its name apart.
///
/// # Errors
///
/// The errors of [`register`]; `ValueError` when the type is of another dialect, or has
/// another name by its attribute.
pub fn register_in<T: Node>(dialect: &str, method: Option<&str>) -> Result<TypeIndex> {
    check_dialect(register::<T>()?, dialect, method)
}

/// As [`register_in`] for a registered type, compiled once for all types.
fn check_dialect(index: TypeIndex, dialect: &str, method: Option<&str>) -> Result<TypeIndex> {
    let info = table::info(index);
    if info.dialect() != dialect {
        return Err(Error::value_error(format!(
            "{}: expected a type of the dialect '{dialect}', got one of '{}'",
            info.key(),
            info.dialect()
        )));
    }
    let name = info.visit_name();
    let has = |attribute| attributes::get(index, attribute, Lookup::Exact).is_some();
    match method {
        Some(method) if method != name && has(MEMBERS) && !has(names::VISIT_NAME) => {
            attributes::table().set(index.get(), names::VISIT_NAME, method.into(), true, || {})?;
            Ok(index)
        }
        Some(method) if method != name => Err(Error::value_error(format!(
            "{}: expected the name '{method}' of its class for visitors, got '{name}'; \
             rename the class, or give it the type attribute `{}`",
            info.key(),
            names::VISIT_NAME
        ))),
        _ => Ok(index),
    }
}

/// Registers a type declared at run time.
///
/// Registering the same definition again returns the same index.
///
/// # Errors
///
/// `ValueError` for a key owned by another definition, an unknown parent, a repeated
/// field, a fixed default unfit for its field, or inconsistent options. On an error,
/// nothing is registered.
///
/// ```
/// use isoform::types::{FieldDef, Kind, Schema, TypeDef, register_type};
/// let index = register_type(
///     TypeDef::new("doc.Pair")
///         .kind(Kind::Tree)
///         .field(FieldDef::new("first", Schema::Any))
///         .field(FieldDef::new("second", Schema::Any)),
/// )?;
/// let again = TypeDef::new("doc.Pair").field(FieldDef::new("other", Schema::Int));
/// assert!(register_type(again).is_err());
/// assert_eq!(isoform::types::find_type("doc.Pair").map(|info| info.index()), Some(index));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_type(definition: TypeDef) -> Result<TypeIndex> {
    table::register(definition)
}

/// Registers a type declared at run time in place of the type with its key, as an
/// interactive session does with a class whose declaration changed.
///
/// Objects of the old type keep it. Fields that name the key accept objects of the new type
/// alone.
///
/// # Errors
///
/// As [`register_type`]; `ValueError` if the type with the key is built in or declared in Rust.
pub fn replace_type(definition: TypeDef) -> Result<TypeIndex> {
    table::replace(definition)
}

/// The type registered under `key`. O(1).
pub fn find_type(key: &str) -> Option<&'static TypeInfo> {
    table::find(key)
}

/// All registered types, in order of registration.
pub fn registered_types() -> Vec<&'static TypeInfo> {
    table::all()
}
