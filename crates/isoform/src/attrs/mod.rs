//! Open attributes of types: any value under any name on any type.
//!
//! An attribute is set once, or replaced deliberately, by any code with the type and
//! the name at hand. Each lookup chooses whether to include the attributes of
//! ancestors.
//!
//! ```
//! use isoform::attrs::{self, Column, Lookup};
//! use isoform::objects::construct;
//! use isoform::types::{FieldDef, Schema, TypeDef, register_type};
//!
//! let add = register_type(
//!     TypeDef::new("doc.attrs.Add")
//!         .field(FieldDef::new("a", Schema::Any))
//!         .attr("ir_trait.commutative", true),
//! )?;
//! attrs::set(add, "doc.cost", 4)?;
//! assert!(attrs::set(add, "doc.cost", 5).is_err());
//! attrs::replace(add, "doc.cost", 5)?;
//! assert_eq!(attrs::get(add, "doc.cost", Lookup::Exact), Some(&5.into()));
//!
//! // A column resolves the name once; a lookup by node is a few nanoseconds.
//! let cost = Column::<i64>::open("doc.cost")?;
//! let node = construct(add, vec![1.into()])?;
//! assert_eq!(node.attr(&cost), Some(&5));
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! # Two tiers
//!
//! By default an attribute is a small hash table from type to value, taking memory only
//! for existing values, and one probe per lookup. [`declare_dense`] turns the table
//! into an array indexed by type: one word per type, no hashing. The hooks of the
//! library ([`Hook`](crate::hooks::Hook)) are attributes of the dense kind, reached by
//! the engines without a lookup. The tiers do not differ in any other way, and lookups
//! take no lock in either.
//!
//! The process never frees the value of an attribute, not even after a replacement, so
//! lookups can lend their results.
//!
//! # Files
//!
//! | file | job |
//! |---|---|
//! | `kernel/types/attr_table.rs` | names, and for each name a map from type index to value |
//! | `column.rs` | `Column`, an attribute whose name has been resolved |
//! | `traits/` | Rust traits as attributes |
//! | `kernel/hooks/list.rs` | hooks: attributes that the library itself calls |
//!
//! Absent: inheritance in the tables.

mod column;
mod traits;

pub use crate::kernel::types::attr_table::TraitMethod;
pub use crate::kernel::types::attributes::{Lookup, get};
pub use column::Column;
pub use isoform_macros::node_trait;
pub(crate) use traits::macros;
pub use traits::{Implementation, Implemented, NodeTrait, declare_trait, implement, implements};

use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::{HOOKS, HookSet};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table as types;
use crate::kernel::types::Schema;
use crate::kernel::types::attr_table::{Attribute, Declaration};
use crate::kernel::types::attributes::{canonical, describe, nearest, table};
use crate::kernel::types::role_attributes::check_fields;
use crate::kernel::value::Value;

/// The description of an attribute.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AttrInfo {
    /// The name.
    pub name: &'static str,
    /// The documentation; empty if not declared.
    pub doc: &'static str,
    /// The schema of the attribute's values; any value if not declared.
    pub schema: Option<Schema>,
    /// The methods of the Rust trait declaring the attribute, if any.
    pub methods: &'static [TraitMethod],
    /// True for an attribute in the hot tier.
    pub dense: bool,
    /// True if the library itself reads it.
    pub builtin: bool,
    /// The number of types with the attribute.
    pub count: usize,
    /// Memory in bytes, without the values.
    pub bytes: usize,
}

/// The declaration of an attribute: optional, for documentation and checks.
#[derive(Clone, Debug)]
pub struct AttrDef {
    name: Box<str>,
    declaration: Declaration,
    dense: bool,
}

impl AttrDef {
    /// An attribute for any value, in the general tier.
    pub fn new(name: &str) -> Self {
        AttrDef {
            name: name.into(),
            declaration: Declaration::default(),
            dense: false,
        }
    }

    /// Sets the documentation.
    #[must_use]
    pub fn doc(mut self, text: &str) -> Self {
        self.declaration.doc = text.into();
        self
    }

    /// Sets the schema of the values; values are converted like the values of a field.
    #[must_use]
    pub fn schema(mut self, schema: Schema) -> Self {
        self.declaration.schema = Some(schema);
        self
    }

    /// Sets an additional check of the values, run after conversion.
    #[must_use]
    pub fn check(mut self, check: fn(&Value) -> Result<()>) -> Self {
        self.declaration.check = Some(check);
        self
    }

    /// Puts the attribute into the hot tier.
    #[must_use]
    pub fn dense(mut self) -> Self {
        self.dense = true;
        self
    }
}

fn assign(ty: TypeIndex, name: &str, value: Value, replace: bool) -> Result<()> {
    let ty = canonical(ty);
    let info = types::info(ty);
    let mut hooks = HookSet::default();
    let is_hook = hooks
        .set_attribute(name, &value)
        .map_err(|error| error.in_context(describe(ty.get())))?;
    if is_hook && !info.takes_hooks() {
        return Err(Error::type_error(format!(
            "the built-in {} takes no hook {name}",
            describe(ty.get())
        )));
    }
    check_fields(info.key(), info.fields().iter(), name, &value)?;
    table().set(ty.get(), name, value, replace, || {
        if is_hook {
            info.install_hooks(&hooks);
        }
    })
}

/// Sets an attribute of a type.
///
/// # Errors
///
/// `ValueError` for an empty name, or if the attribute is already set; `TypeError` for
/// a value forbidden by the attribute's declaration, for a hook that is not a function,
/// and for a hook on a built-in type. Attributes for the roles of types in rewrites
/// ([`BINDING`](crate::traverse::BINDING) and others) are declared by the library: a
/// value of another form is a `TypeError` or `ValueError`, and a wrong name of a field a
/// `ValueError`.
pub fn set(ty: TypeIndex, name: &str, value: impl Into<Value>) -> Result<()> {
    assign(ty, name, value.into(), false)
}

/// Sets an attribute of a type, replacing an existing value.
///
/// # Errors
///
/// The errors of [`set`], except for the error about an existing value.
pub fn replace(ty: TypeIndex, name: &str, value: impl Into<Value>) -> Result<()> {
    assign(ty, name, value.into(), true)
}

/// Sets a hook of a type, which is an attribute as well.
///
/// # Errors
///
/// The errors of [`set`]; an existing hook is an error unless `replace`.
pub fn set_hook<H: crate::hooks::Hook>(ty: TypeIndex, hook: H, replace: bool) -> Result<()> {
    let info = types::info(ty);
    if !info.takes_hooks() {
        return Err(Error::type_error(format!(
            "the built-in {} takes no hook {}",
            describe(ty.get()),
            H::NAME
        )));
    }
    let value = Value::from(hook.function());
    let mut hooks = HookSet::default();
    *H::slot(&mut hooks) = Some(hook);
    table().set(ty.get(), H::NAME, value, replace, || {
        info.install_hooks(&hooks)
    })
}

/// Removes an attribute from a type; returns false for an unset attribute. The value
/// stays alive for the callers of earlier lookups.
///
/// # Errors
///
/// `TypeError` for a hook of the library: the effect of a hook cannot be undone.
pub fn remove(ty: TypeIndex, name: &str) -> Result<bool> {
    if HOOKS.iter().any(|(hook, _)| *hook == name) {
        return Err(Error::type_error(format!(
            "{}: the hook {name} cannot be removed, only replaced",
            describe(ty.get())
        )));
    }
    Ok(table().remove(canonical(ty).get(), name))
}

/// True if an attribute is set.
pub fn has(ty: TypeIndex, name: &str, lookup: Lookup) -> bool {
    get(ty, name, lookup).is_some()
}

/// The type, or the nearest ancestor, with the attribute.
pub fn owner(ty: TypeIndex, name: &str) -> Option<TypeIndex> {
    nearest(table().find(name)?, ty).map(|(owner, _)| owner)
}

/// The attributes set on exactly this type, by name. O(attributes).
pub fn attrs_of(ty: TypeIndex) -> Vec<(&'static str, &'static Value)> {
    let index = canonical(ty).get();
    let all = table().all().into_iter();
    all.filter_map(|attribute| Some((attribute.name(), attribute.get(index)?)))
        .collect()
}

/// The types with an attribute, in order of registration.
pub fn types_with(name: &str) -> Vec<TypeIndex> {
    let attribute = table().find(name);
    let entries = attribute.into_iter().flat_map(Attribute::entries);
    entries.map(|(index, _)| TypeIndex(index)).collect()
}

/// Declares the meaning of an attribute and the type of its values.
///
/// An attribute need not be declared; a declared value type is enforced from then on. A
/// later declaration may add the parts left open by an earlier declaration.
///
/// # Errors
///
/// `ValueError` for an empty name, or a name with a different declaration; `TypeError`
/// for an existing value of another type.
pub fn declare(definition: AttrDef) -> Result<()> {
    table().declare(&definition.name, definition.declaration)?;
    if definition.dense {
        declare_dense(&definition.name)?;
    }
    Ok(())
}

/// Moves an attribute to the hot tier: one word per registered type, and lookups
/// without hashing. For attributes set on most types, or looked up in inner loops.
///
/// # Errors
///
/// `ValueError` for an empty name.
pub fn declare_dense(name: &str) -> Result<()> {
    table().make_dense(name)
}

/// Returns the description of an attribute; None for an attribute neither set nor
/// declared.
pub fn info(name: &str) -> Option<AttrInfo> {
    table().find(name).map(describe_attribute)
}

/// All set or declared attributes, by name.
pub fn list() -> Vec<AttrInfo> {
    table().all().into_iter().map(describe_attribute).collect()
}

fn describe_attribute(attribute: &'static Attribute) -> AttrInfo {
    let declaration = attribute.declaration();
    AttrInfo {
        name: attribute.name(),
        doc: declaration.map_or("", |declared| &declared.doc),
        schema: declaration.and_then(|declared| declared.schema.clone()),
        methods: declaration.map_or(&[], |declared| declared.methods),
        dense: attribute.is_dense(),
        builtin: HOOKS.iter().any(|(name, _)| *name == attribute.name()),
        count: attribute.entries().len(),
        bytes: attribute.bytes(),
    }
}
