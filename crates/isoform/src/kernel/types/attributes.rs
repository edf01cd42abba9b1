//! The attributes of types: their table, and its use by the registry. The interface for
//! users is [`attrs`](crate::attrs).

use std::sync::LazyLock;

use super::attr_table::{AttrTable, Attribute, Declaration};
use super::names::{TEXT_NAME, VISIT_NAME};
use super::role_attributes::ROLES;
use super::{NamedValues, Schema};
use crate::kernel::error::Result;
use crate::kernel::hooks::{HOOKS, HookSet};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::native::{BIG_INT, INT};
use crate::kernel::object::table as types;
use crate::kernel::value::Value;

/// The types that a lookup asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lookup {
    /// The type itself.
    #[default]
    Exact,
    /// The type, then its parent, and further up to the root.
    Nearest,
}

/// The attributes with names as values, and their documentation.
const NAMES: &[(&str, &str)] = &[
    (
        TEXT_NAME,
        "The field of type str that names objects in text; an empty string for none.",
    ),
    (
        VISIT_NAME,
        "What visitor methods are called for the type, after `visit_`; by default its class in snake case.",
    ),
];

pub(crate) fn table() -> &'static AttrTable {
    static TABLE: LazyLock<AttrTable> = LazyLock::new(|| {
        let table = AttrTable::new(describe);
        for (name, doc) in HOOKS {
            let declaration = Declaration {
                doc: (*doc).into(),
                schema: Some(Schema::Function),
                ..Declaration::default()
            };
            let declared = table
                .declare(name, declaration)
                .and_then(|()| table.make_dense(name));
            debug_assert!(declared.is_ok(), "the names are good and the table is new");
        }
        for (name, doc) in NAMES {
            let declaration = Declaration {
                doc: (*doc).into(),
                schema: Some(Schema::Str),
                ..Declaration::default()
            };
            let declared = table.declare(name, declaration);
            debug_assert!(declared.is_ok(), "the names are good and the table is new");
        }
        for (name, doc, check) in ROLES {
            let declaration = Declaration {
                doc: doc.into(),
                check: Some(check),
                ..Declaration::default()
            };
            let declared = table.declare(name, declaration);
            debug_assert!(declared.is_ok(), "the names are good and the table is new");
        }
        table
    });
    &TABLE
}

pub(crate) fn describe(index: u32) -> String {
    format!("type {}", types::info(TypeIndex(index)).key())
}

/// Large integers count as integers, though stored as objects.
#[inline(always)]
pub(crate) fn canonical(ty: TypeIndex) -> TypeIndex {
    if ty == BIG_INT { INT } else { ty }
}

/// The attribute of a type, if set. O(1) without ancestors.
pub fn get(ty: TypeIndex, name: &str, lookup: Lookup) -> Option<&'static Value> {
    let attribute = table().find(name)?;
    match lookup {
        Lookup::Exact => attribute.get(canonical(ty).get()),
        Lookup::Nearest => nearest(attribute, ty).map(|(_, value)| value),
    }
}

pub(crate) fn nearest(attribute: &Attribute, ty: TypeIndex) -> Option<(TypeIndex, &'static Value)> {
    let mut line = types::info(canonical(ty)).lineage();
    line.find_map(|ty| Some((ty, attribute.get(ty.get())?)))
}

/// Checks the attributes of a definition against their declarations.
pub(crate) fn prepare(key: &str, attrs: NamedValues) -> Result<NamedValues> {
    let convert = |(name, value): (Box<str>, Value)| {
        let declaration = table().find(&name).and_then(Attribute::declaration);
        let value = match declaration {
            Some(declaration) => declaration.accept(value).map_err(|error| {
                error.in_context(format_args!("attribute '{name}' of type {key}"))
            })?,
            None => value,
        };
        Ok((name, value))
    };
    attrs.into_iter().map(convert).collect()
}

/// Enters the attributes of a newly registered type.
pub(crate) fn enter(ty: TypeIndex, hooks: &HookSet, attrs: NamedValues) {
    for (name, function) in hooks.attributes() {
        table().place(ty.get(), name, function.into());
    }
    for (name, value) in attrs {
        table().place(ty.get(), &name, value);
    }
}
