//! The hooks of Rust types, as traits.
//!
//! A hook replaces only the traversal of its own type's fields; kind, bindings, scopes
//! and shortcuts remain with the engine.

use std::any::TypeId;

use super::{DynEqual, DynHash, DynVerify, EqualCallback, HashCallback};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::{Node, Obj, Ref};

/// Custom equality of two objects of a type.
///
/// When [`EqualCallback::equal`] returns false, all its bindings are undone, and a hook
/// may try alternatives; [`EqualCallback::attempt`] does the same for a group of calls:
///
/// ```
/// use isoform::{Node, Result, Value, structural_equal, structural_hash};
/// use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
///
/// /// A sum whose operands may come in either order.
/// #[derive(Node)]
/// #[node(key = "doc.Sum", hooks(equal, hash))]
/// #[repr(C)]
/// pub struct Sum {
///     /// One operand.
///     pub a: Value,
///     /// The other.
///     pub b: Value,
/// }
///
/// impl StructuralEqual for Sum {
///     fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
///         let straight = eq.attempt(&mut |eq| {
///             Ok(eq.equal(&self.a, &other.a, "a")? && eq.equal(&self.b, &other.b, "b")?)
///         })?;
///         Ok(straight || (eq.equal(&self.a, &other.b, "a")? && eq.equal(&self.b, &other.a, "b")?))
///     }
/// }
/// impl StructuralHash for Sum {
///     fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
///         Ok(hash.hash(&self.a, init)? ^ hash.hash(&self.b, init)?)
///     }
/// }
/// let (l, r) = (Sum::new(1, 2), Sum::new(2, 1));
/// assert!(structural_equal(&l, &r)?);
/// assert_eq!(structural_hash(&l)?, structural_hash(&r)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares `hooks(equal)` and does not implement `StructuralEqual`",
    note = "implement `isoform::hooks::StructuralEqual`, or leave `equal` out of `hooks(...)`"
)]
pub trait StructuralEqual: Node {
    /// True if the two are equal.
    ///
    /// # Errors
    ///
    /// Errors propagate unchanged to the caller of the comparison.
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool>;
}

/// The custom hash of an object of a type.
///
/// Must agree with [`StructuralEqual`]: equal objects have equal hashes.
///
/// Every question starts from a number. A question comes *after* another question if it
/// starts from that question's result, as the next comparison in [`StructuralEqual`]
/// does: a variable or dag node of the earlier part is known in the later part, and
/// after the object. Questions starting from the same number are *alternatives*:
/// independent of each other, with results that may be combined in any order (with `^`
/// or `+`). Variables and dag nodes visited by alternatives are known after the object,
/// too, except if only the order of the questions tells two of them apart, as in
/// `x + y` with two free variables; there, unequal values may have the same hash.
///
/// Equal objects need equal hashes: the questions for equal objects must be the same,
/// about parts compared by the custom equality; only alternatives may change their
/// order. A hook asking alternatives is called twice for each hash: the first call,
/// with placeholders as results, shows how the questions depend on each other. Results
/// are therefore valid until the hook returns.
///
/// ```
/// # use isoform::{Node, Result, Value};
/// # use isoform::hooks::{HashCallback, StructuralHash};
/// # use isoform::types::RegionChange;
/// /// Binds its parameters in its body.
/// #[derive(Node)]
/// #[node(key = "doc.Binder", hooks(hash))]
/// #[repr(C)]
/// pub struct Binder {
///     /// The variables.
///     pub params: Value,
///     /// The result.
///     pub body: Value,
/// }
///
/// impl StructuralHash for Binder {
///     fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
///         let params = hash.hash_in(&self.params, init, RegionChange::Def)?;
///         hash.hash(&self.body, params)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares `hooks(hash)` and does not implement `StructuralHash`",
    note = "implement `isoform::hooks::StructuralHash`, or leave `hash` out of `hooks(...)`"
)]
pub trait StructuralHash: Node {
    /// The hash of this object, starting from `init`.
    ///
    /// # Errors
    ///
    /// Errors propagate unchanged to the caller.
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64>;
}

/// A custom check of a type's objects.
///
/// ```
/// use isoform::{Error, Node, Result, Value};
/// use isoform::hooks::Verify;
/// use isoform::objects::verify;
///
/// /// A range of numbers.
/// #[derive(Node)]
/// #[node(key = "doc.Range", hooks(verify))]
/// #[repr(C)]
/// pub struct Range {
///     /// The first one.
///     pub first: i64,
///     /// The last one.
///     pub last: i64,
/// }
///
/// impl Verify for Range {
///     fn verify(&self) -> Result<()> {
///         match self.first <= self.last {
///             true => Ok(()),
///             false => Err(Error::value_error(format!("{} > {}", self.first, self.last))),
///         }
///     }
/// }
///
/// assert!(verify(Range::new(1, 2), &())?.is_empty());
/// let failures = verify([Range::new(2, 1)], &())?;
/// let (path, error) = &failures[0];
/// assert_eq!(format!("{path}: {error}"), "<root>[0]: ValueError: 2 > 1");
/// # Ok::<(), isoform::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares `hooks(verify)` and does not implement `Verify`",
    note = "implement `isoform::hooks::Verify`, or leave `verify` out of `hooks(...)`"
)]
pub trait Verify: Node {
    /// Checks this object.
    ///
    /// # Errors
    ///
    /// An error describing the problem.
    fn verify(&self) -> Result<()>;
}

impl DynEqual {
    /// The equality of a Rust type.
    pub fn of<T: StructuralEqual>() -> Self {
        let mut hook = DynEqual::new(|left, right, eq_cb| {
            expect::<T>(left)?.s_equal(expect::<T>(right)?, eq_cb)
        });
        hook.0.origin = Some(TypeId::of::<T>());
        hook
    }
}

impl DynHash {
    /// The hash of a Rust type.
    pub fn of<T: StructuralHash>() -> Self {
        let mut hook =
            DynHash::new(|object, init, hash_cb| expect::<T>(object)?.s_hash(init, hash_cb));
        hook.0.origin = Some(TypeId::of::<T>());
        hook
    }
}

impl DynVerify {
    /// The check of a Rust type for its objects and for objects of extending types.
    pub fn of<T: Verify>() -> Self {
        let mut hook = DynVerify::new(|object| expect::<T>(object)?.verify());
        hook.0.origin = Some(TypeId::of::<T>());
        hook
    }
}

fn expect<T: Node>(object: &Ref<Obj>) -> Result<&Ref<T>> {
    object.downcast_ref::<T>().ok_or_else(|| {
        let got = object.type_info().key();
        Error::type_error(format!("hook of {}: expected {0}, got {got}", T::TYPE_KEY))
    })
}
