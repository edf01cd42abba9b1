//! Rust traits as type attributes: implementing a trait, and viewing a node through the
//! trait.
//!
//! The value of the attribute is a plain value, readable and settable from any
//! language. On a Rust type, the value remembers its Rust code (`native.rs`), so calls
//! through the trait are direct; on other types, an adapter implements the trait by
//! calling the functions in the value (`adapter.rs`).
//!
//! The value of a trait's attribute is a bool, a function or a map of functions, for
//! Rust types and all other types.

mod adapter;
mod contract;
mod native;

use std::fmt;
use std::ops::Deref;

/// Items named by the expansion of `node_trait`.
pub(crate) mod macros {
    pub use super::adapter::{Answer, Defaults, Lent, MethodResult, lend, pass};
    pub use super::contract::{Adapter, MethodCall, TraitCell};
}

use contract::Adapter;
pub use contract::{Implementation, NodeTrait};

use super::{AttrDef, Column, Lookup};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::attr_table::TraitMethod;
use crate::kernel::types::{Schema, TypeDef, register};
use crate::kernel::value::{Value, ValueRef};

#[inline]
fn column<Tr: NodeTrait + ?Sized>() -> Option<&'static Column> {
    let open = || {
        // If the name has a different declaration, lookups rely on the values alone;
        // setting a value, or declaring the trait, reports the error.
        let _ = declare_trait::<Tr>();
        Column::open(Tr::NAME).ok()
    };
    Tr::cell().0.get_or_init(open).as_ref()
}

/// Declares the attribute of a trait: its documentation and the type of its values. The
/// first use of the trait declares the attribute as well.
///
/// # Errors
///
/// `ValueError` if an attribute of this name has a different declaration,
/// `TypeError` if a value that is already set does not fit the trait.
pub fn declare_trait<Tr: NodeTrait + ?Sized>() -> Result<()> {
    let (schema, check): (Schema, fn(&Value) -> Result<()>) = match Tr::METHODS.len() {
        0 if Tr::RUST_ONLY => (Schema::Any, native::check_native::<Tr>),
        0 => (Schema::Bool, |_| Ok(())),
        1 => (Schema::Function, |_| Ok(())),
        _ => (
            Schema::Map(Box::new((Schema::Str, Schema::Function))),
            |value| check_names(Tr::METHODS, value),
        ),
    };
    let mut definition = AttrDef::new(Tr::NAME).schema(schema).check(check);
    definition.declaration.methods = Tr::METHODS;
    // Another language may have declared the trait as well; the first documentation is
    // kept.
    super::declare(definition.clone().doc(Tr::DOC)).or_else(|_| super::declare(definition))
}

/// Checks the functions in a map against the functions required by the methods.
fn check_names(methods: &[TraitMethod], value: &Value) -> Result<()> {
    let Some(functions) = value.as_map() else {
        return Ok(());
    };
    let list = |names: &mut dyn Iterator<Item = String>| {
        let names: Vec<_> = names.collect();
        names.join(", ")
    };
    for method in methods.iter().filter(|method| method.required) {
        if functions.get(method.name).is_none() {
            let got = if functions.is_empty() {
                "no functions".to_owned()
            } else {
                let mut names = functions.keys().map(|name| format!("{name:?}"));
                format!("functions {}", list(&mut names))
            };
            return Err(Error::value_error(format!(
                "expected a function '{}', got {got}",
                method.name
            )));
        }
    }
    let is_method = |name: &Value| {
        methods
            .iter()
            .any(|method| name.as_str() == Some(method.name))
    };
    match functions.keys().find(|name| !is_method(name)) {
        None => Ok(()),
        Some(name) => Err(Error::value_error(format!(
            "expected functions among {}, got {name:?}",
            list(&mut methods.iter().map(|method| format!("'{}'", method.name)))
        ))),
    }
}

/// Makes a Rust type implement a trait as an attribute, without touching the type's
/// declaration: for types of other crates. Further calls change nothing.
///
/// ```
/// # use isoform::{Node, Result, attrs};
/// # mod library {
/// #     use isoform::Node;
/// #     #[derive(Node)]
/// #     #[node(key = "doc.retrofit.Const")]
/// #     #[repr(C)]
/// #     pub struct Const { pub value: i64 }
/// # }
/// use library::Const;
///
/// #[isoform::attrs::node_trait("doc.retrofit.cost")]
/// trait Cost {
///     /// What computing it takes.
///     fn cost(&self) -> Result<i64>;
/// }
///
/// impl Cost for Const {
///     fn cost(&self) -> Result<i64> {
///         Ok(self.value.abs())
///     }
/// }
///
/// let node = Const::new(-3);
/// assert!(node.implements::<dyn Cost>().is_none());
/// attrs::implement::<dyn Cost, Const>()?;
/// let costly = node.implements::<dyn Cost>().expect("it does now");
/// assert_eq!(costly.cost()?, 3);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if the type already has another value of the attribute, and for a type
/// key owned by another definition; `TypeError` if the attribute is declared for other
/// values.
pub fn implement<Tr, T>() -> Result<()>
where
    Tr: Implementation<T> + ?Sized,
    T: Node,
{
    // As for `TypeDef::implements`.
    let _ = declare_trait::<Tr>();
    let ty = register::<T>()?;
    let set = super::set(ty, Tr::NAME, native::value::<Tr, T>());
    // Asked after the attempt, since another thread may do the same meanwhile.
    let known = super::get(ty, Tr::NAME, Lookup::Exact);
    if known.is_some_and(|known| native::is_same::<Tr, T>(known)) {
        Ok(())
    } else {
        set
    }
}

/// True if the objects of a type implement a trait; see
/// [`Ref::implements`], which also gives access to the methods.
pub fn implements<Tr: NodeTrait + ?Sized>(ty: TypeIndex, lookup: Lookup) -> bool {
    let value = column::<Tr>().and_then(|column| column.lookup(ty, lookup));
    value.is_some_and(|value| is_by_functions::<Tr>(value) || native::is_native::<Tr>(value))
}

/// True if the value implements the trait without Rust: that of a marker, or made
/// of functions.
fn is_by_functions<Tr: NodeTrait + ?Sized>(value: &Value) -> bool {
    match value.view() {
        ValueRef::Bool(flag) => flag && Tr::METHODS.is_empty() && !Tr::RUST_ONLY,
        ValueRef::Function(_) => Tr::METHODS.len() == 1,
        _ => Tr::METHODS.len() > 1 && value.as_map().is_some(),
    }
}

/// A node viewed through an implemented trait; returned by [`Ref::implements`].
pub struct Implemented<'a, Tr: NodeTrait + ?Sized>(View<'a, Tr>);

enum View<'a, Tr: NodeTrait + ?Sized> {
    Native(&'a Tr::Object<'a>),
    Adapted(Tr::Adapted<'a>),
}

impl<'a, Tr: NodeTrait + ?Sized> Deref for Implemented<'a, Tr> {
    type Target = Tr::Object<'a>;

    #[inline]
    fn deref(&self) -> &Tr::Object<'a> {
        match &self.0 {
            View::Native(node) => node,
            View::Adapted(adapted) => Tr::adapted(adapted),
        }
    }
}

impl<Tr: NodeTrait + ?Sized> fmt::Debug for Implemented<'_, Tr> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Implemented").field(&Tr::NAME).finish()
    }
}

fn see<'a, Tr: NodeTrait + ?Sized>(
    object: &'a Ref<Obj>,
    value: &'static Value,
) -> Option<Implemented<'a, Tr>> {
    let view = match native::view::<Tr>(value, object) {
        Some(node) => View::Native(node),
        None if is_by_functions::<Tr>(value) => {
            View::Adapted(Tr::adapt(Adapter::new(object, value))?)
        }
        None => return None,
    };
    Some(Implemented(view))
}

impl<N: Node> Ref<N> {
    /// Returns this object viewed as a trait implemented by exactly its type, in Rust
    /// or, as an attribute, in another language; None without an implementation. O(1),
    /// without lock or allocation.
    ///
    /// ```
    /// use isoform::{Node, Result};
    ///
    /// #[isoform::attrs::node_trait("doc.implements.evaluate")]
    /// trait Evaluate {
    ///     /// The number that the node stands for.
    ///     fn evaluate(&self) -> Result<i64>;
    /// }
    ///
    /// #[derive(Node)]
    /// #[node(key = "doc.implements.Const", attrs(dyn Evaluate))]
    /// #[repr(C)]
    /// struct Const {
    ///     value: i64,
    /// }
    ///
    /// impl Evaluate for Const {
    ///     fn evaluate(&self) -> Result<i64> {
    ///         Ok(self.value)
    ///     }
    /// }
    ///
    /// let node = Const::new(2).upcast();
    /// let seen = node.implements::<dyn Evaluate>().expect("a Const does");
    /// assert_eq!(seen.evaluate()?, 2);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[inline]
    pub fn implements<Tr: NodeTrait + ?Sized>(&self) -> Option<Implemented<'_, Tr>> {
        let value = column::<Tr>()?.get(self.type_index())?;
        see(self.as_object(), value)
    }

    /// Returns this object viewed as a trait implemented by its type, or otherwise by
    /// the nearest ancestor with the attribute. O(depth of the type), without lock or
    /// allocation.
    #[inline]
    pub fn implements_nearest<Tr: NodeTrait + ?Sized>(&self) -> Option<Implemented<'_, Tr>> {
        let value = column::<Tr>()?.nearest(self.type_index())?;
        see(self.as_object(), value)
    }
}

impl TypeDef {
    /// Sets the attribute of a trait that the Rust type implements, like `attrs(dyn Trait)`
    /// in the derive.
    #[must_use]
    pub fn implements<Tr, T>(self) -> Self
    where
        Tr: Implementation<T> + ?Sized,
        T: Node,
    {
        // If another language declared the name first, the documentation may differ;
        // differing value types are reported when the type is registered.
        let _ = declare_trait::<Tr>();
        self.attr(Tr::NAME, native::value::<Tr, T>())
    }
}
