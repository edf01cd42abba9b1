//! The contract of a node trait: the trait implemented by `#[node_trait]`, and the
//! types in its signature.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::super::Column;
use crate::kernel::error::Result;
use crate::kernel::function::{Call, Signature};
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::attr_table::TraitMethod;
use crate::kernel::value::Value;

/// A trait that is a type attribute; implemented for `dyn Trait` by
/// [`#[node_trait]`](crate::attrs::node_trait).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node trait",
    note = "write `#[isoform::attrs::node_trait(\"name\")]` above the trait"
)]
pub trait NodeTrait: 'static {
    /// A node seen through the trait.
    type Object<'a>: ?Sized + 'a;
    /// The name of the attribute.
    const NAME: &'static str;
    /// The documentation of the trait; may be empty.
    const DOC: &'static str;
    /// The methods visible to other languages, in order of declaration.
    const METHODS: &'static [TraitMethod];
    /// True if only Rust can implement the trait.
    #[doc(hidden)]
    const RUST_ONLY: bool = false;
    #[doc(hidden)]
    fn cell() -> &'static TraitCell;
    /// The implementation of the trait by functions; an empty type if only Rust can
    /// implement it.
    #[doc(hidden)]
    type Adapted<'a>: 'a;
    #[doc(hidden)]
    fn adapt(adapter: Adapter<'_, Self>) -> Option<Self::Adapted<'_>>;
    #[doc(hidden)]
    fn adapted<'r, 'a>(adapted: &'r Self::Adapted<'a>) -> &'r Self::Object<'a>;
}

/// A [`NodeTrait`] implemented by a Rust type: true of `dyn Trait` whenever `T: Trait`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node trait that `{T}` implements",
    note = "write `#[isoform::attrs::node_trait(\"name\")]` above the trait, and implement it for `{T}`"
)]
pub trait Implementation<T: Node>: NodeTrait {
    /// In the order of [`NodeTrait::METHODS`].
    #[doc(hidden)]
    const CALLS: &'static [MethodCall];
    #[doc(hidden)]
    fn view(node: &T) -> &Self::Object<'_>;
}

/// The column of a trait, found at the first lookup.
#[derive(Debug)]
pub struct TraitCell(pub(super) OnceLock<Option<Column>>);

impl TraitCell {
    /// A cell before the opening of its column.
    #[allow(
        clippy::new_without_default,
        reason = "cells are statics; a default would never be used"
    )]
    pub const fn new() -> Self {
        TraitCell(OnceLock::new())
    }
}

/// A method of a Rust type, in the form called by other languages.
#[derive(Clone, Copy)]
pub struct MethodCall {
    /// The node is the first argument.
    pub body: fn(&Call<'_>) -> Result<Value>,
    /// The parameters, without names, and the result.
    pub signature: fn() -> Signature,
}

impl fmt::Debug for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MethodCall")
            .field(&(self.signature)())
            .finish()
    }
}

/// A node whose type implements a trait by functions; the declaration of the trait
/// implements the trait for the adapter.
pub struct Adapter<'a, Tr: NodeTrait + ?Sized> {
    pub(super) object: &'a Ref<Obj>,
    /// The value of the attribute.
    pub(super) value: &'static Value,
    // A function pointer keeps the adapter Send and Sync, like nodes.
    pub(super) methods: PhantomData<fn(&Tr)>,
}

impl<Tr: NodeTrait + ?Sized> Clone for Adapter<'_, Tr> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Tr: NodeTrait + ?Sized> Copy for Adapter<'_, Tr> {}

impl<Tr: NodeTrait + ?Sized> fmt::Debug for Adapter<'_, Tr> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapter").field(&Tr::NAME).finish()
    }
}
