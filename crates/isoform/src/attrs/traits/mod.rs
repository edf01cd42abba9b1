//! Rust traits as type attributes: who implements a trait, and how a node is
//! seen through it.
//!
//! The value of the attribute is a plain value, so that any language can set it
//! and read it. On a Rust type it remembers the Rust code that it is made of
//! (`native.rs`), and a node is seen through the trait without a call in
//! between; on other types an adapter implements the trait by calling the
//! functions that are the value (`adapter.rs`).

mod adapter;
mod contract;
mod native;

use std::fmt;
use std::ops::Deref;

/// What the expansion of `node_trait` names.
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
        // Where the name is declared otherwise, lookups go by the values alone;
        // who sets one, or declares the trait, gets the error.
        let _ = declare_trait::<Tr>();
        Column::open(Tr::NAME).ok()
    };
    Tr::cell().0.get_or_init(open).as_ref()
}

/// Declares the attribute of a trait: its documentation, and what its values
/// must be. The first use of the trait does so as well.
///
/// # Errors
///
/// `ValueError` when an attribute of this name is declared otherwise,
/// `TypeError` when a value that is set already does not fit the trait.
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
    let definition = AttrDef::new(Tr::NAME)
        .schema(schema)
        .check(check)
        .methods(Tr::METHODS);
    // Another language may know the trait as well; the documentation that came
    // first stays.
    super::declare(definition.clone().doc(Tr::DOC)).or_else(|_| super::declare(definition))
}

/// Whether the functions of a map are those that the methods ask for.
fn check_names(methods: &[TraitMethod], value: &Value) -> Result<()> {
    let ValueRef::Map(given) = value.view() else {
        return Ok(());
    };
    let list = |names: &mut dyn Iterator<Item = String>| {
        let names: Vec<_> = names.collect();
        names.join(", ")
    };
    for method in methods.iter().filter(|method| method.required) {
        if given.get(&method.name.into()).is_none() {
            let got = match given.is_empty() {
                true => "no functions".to_owned(),
                false => {
                    let mut names = given.keys().map(|name| format!("{name:?}"));
                    format!("functions {}", list(&mut names))
                }
            };
            return Err(Error::value_error(format!(
                "expected a function '{}', got {got}",
                method.name
            )));
        }
    }
    let known = |name: &Value| {
        methods
            .iter()
            .any(|method| name.as_str() == Some(method.name))
    };
    match given.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(Error::value_error(format!(
            "expected functions among {}, got {name:?}",
            list(&mut methods.iter().map(|method| format!("'{}'", method.name)))
        ))),
    }
}

/// Makes a Rust type implement a trait as an attribute, without touching its
/// declaration: for types of other crates. Doing it again changes nothing.
///
/// ```
/// # use isoform::{Node, Result, Value, attrs};
/// # mod library {
/// #     use isoform::Node;
/// #     #[derive(Node)]
/// #     #[node(key = "doc.retrofit.Const")]
/// #     #[repr(C)]
/// #     pub struct Const { pub value: i64 }
/// # }
/// use library::Const;
///
/// #[isoform::node_trait("doc.retrofit.cost")]
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
/// `ValueError` when the attribute is set otherwise on the type, and for a type
/// key that another definition owns; `TypeError` when the attribute is declared
/// for other values.
pub fn implement<Tr, T>() -> Result<()>
where
    Tr: Implementation<T> + ?Sized,
    T: Node,
{
    // As for `TypeDef::implements`.
    let _ = declare_trait::<Tr>();
    let ty = register::<T>()?;
    let value = native::value::<Tr, T>();
    let known = super::get(ty, Tr::NAME, Lookup::Exact);
    if known.is_some_and(|known| native::is_same::<Tr, T>(known)) {
        return Ok(());
    }
    super::set(ty, Tr::NAME, value)
}

/// Whether the objects of a type implement a trait; see
/// [`Ref::implements`], which also gives access to the methods.
pub fn implements<Tr: NodeTrait + ?Sized>(ty: TypeIndex, lookup: Lookup) -> bool {
    let value = column::<Tr>().and_then(|column| column.lookup(ty, lookup));
    value.is_some_and(|value| is_by_functions::<Tr>(value) || native::is_native::<Tr>(value))
}

/// Whether a value implements the trait without help of Rust: it is that of a
/// marker, or made of functions.
fn is_by_functions<Tr: NodeTrait + ?Sized>(value: &Value) -> bool {
    match value.view() {
        ValueRef::Bool(flag) => flag && Tr::METHODS.is_empty() && !Tr::RUST_ONLY,
        ValueRef::Function(_) => Tr::METHODS.len() == 1,
        ValueRef::Map(_) => Tr::METHODS.len() > 1,
        _ => false,
    }
}

/// A node seen through a trait that it implements: what
/// [`Ref::implements`] gives.
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
    /// This object seen through a trait that exactly its type implements, in
    /// Rust or, as an attribute, in another language; None if it does not.
    /// O(1), no lock, nothing is allocated.
    ///
    /// ```
    /// use isoform::{Node, Result};
    ///
    /// #[isoform::node_trait("doc.implements.evaluate")]
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

    /// This object seen through a trait that its type implements, or else the
    /// nearest ancestor for which the attribute is set. O(depth of the type),
    /// no lock, nothing is allocated.
    #[inline]
    pub fn implements_nearest<Tr: NodeTrait + ?Sized>(&self) -> Option<Implemented<'_, Tr>> {
        let value = column::<Tr>()?.nearest(self.type_index())?;
        see(self.as_object(), value)
    }
}

impl TypeDef {
    /// Sets the attribute of a trait that the Rust type implements; what
    /// `attrs(dyn Trait)` of the derive does.
    #[must_use]
    pub fn implements<Tr, T>(self) -> Self
    where
        Tr: Implementation<T> + ?Sized,
        T: Node,
    {
        // Where another language declared the name first, the words may be
        // others; that the values are not is said when the type is registered.
        let _ = declare_trait::<Tr>();
        self.attr(Tr::NAME, native::value::<Tr, T>())
    }
}
