//! Custom comparison and hashing of a node type.
//!
//! A hook replaces the walk over the fields of its own type only; kind,
//! bindings, scopes and shortcuts stay with the engine.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::object::reference::{Node, Obj, Ref};
use crate::value::Value;
use crate::visit::RegionChange;

/// Equality of two objects of a type, in the type's own code.
///
/// When [`EqualCallback::equal`] answers false, every binding it made is taken
/// back, so that a hook may try alternatives; [`EqualCallback::attempt`] does
/// the same for a group of calls:
///
/// ```
/// use isoform::{EqualCallback, HashCallback, Node, Ref, Result, Value};
/// use isoform::{StructuralEqual, StructuralHash, structural_equal, structural_hash};
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
    note = "implement `isoform::StructuralEqual`, or leave `equal` out of `hooks(...)`"
)]
pub trait StructuralEqual: Node {
    /// Whether the two are equal.
    ///
    /// # Errors
    ///
    /// Errors propagate unchanged to the caller of the comparison.
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool>;
}

/// The hash of an object of a type, in the type's own code.
///
/// Must agree with [`StructuralEqual`]: equal objects, equal hashes.
///
/// Every question starts from a number. A question that starts from the answer
/// to an earlier one comes *after* it: it knows which variables that one met.
/// Questions that start from the same number are *alternatives*: none knows of
/// the others, so the answers may be combined in any order (with `^` or `+`).
///
/// ```
/// # use isoform::{HashCallback, Node, RegionChange, Result, StructuralHash, Value};
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
    note = "implement `isoform::StructuralHash`, or leave `hash` out of `hooks(...)`"
)]
pub trait StructuralHash: Node {
    /// The hash of this object, starting from `init`.
    ///
    /// # Errors
    ///
    /// Errors propagate unchanged to the caller.
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64>;
}

/// Compares parts of two objects on behalf of a hook.
pub trait EqualCallback {
    /// Compares two values in a region; `name` becomes the step of the path.
    ///
    /// # Errors
    ///
    /// As the comparison itself, plus `RecursionError` when hooks nest too
    /// deeply.
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool>;

    /// Compares two values in the current region.
    ///
    /// # Errors
    ///
    /// As [`equal_in`](Self::equal_in).
    fn equal(&mut self, left: &Value, right: &Value, name: &str) -> Result<bool> {
        self.equal_in(left, right, RegionChange::Inherit, name)
    }

    /// Runs several comparisons as one alternative: when `alternative` answers
    /// false, the bindings of all of them are taken back.
    ///
    /// # Errors
    ///
    /// Those of `alternative`.
    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool>;
}

/// Hashes parts of an object on behalf of a hook.
pub trait HashCallback {
    /// The hash of a value in a region, starting from `init`: what the hook
    /// itself was given, or an earlier answer.
    ///
    /// # Errors
    ///
    /// As the hash itself, plus `RecursionError` when hooks nest too deeply.
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64>;

    /// The hash of a value in the current region.
    ///
    /// # Errors
    ///
    /// As [`hash_in`](Self::hash_in).
    fn hash(&mut self, value: &Value, init: u64) -> Result<u64> {
        self.hash_in(value, init, RegionChange::Inherit)
    }
}

type EqualFn = dyn Fn(&Ref<Obj>, &Ref<Obj>, &mut dyn EqualCallback) -> Result<bool> + Send + Sync;
type HashFn = dyn Fn(&Ref<Obj>, u64, &mut dyn HashCallback) -> Result<u64> + Send + Sync;

/// An equality hook for a type declared at run time.
#[derive(Clone)]
pub struct DynEqual {
    // The Rust type whose trait is called, so that registering it twice is
    // recognised as the same definition; None for a closure.
    origin: Option<TypeId>,
    call: Arc<EqualFn>,
}

/// A hash hook for a type declared at run time.
#[derive(Clone)]
pub struct DynHash {
    origin: Option<TypeId>,
    call: Arc<HashFn>,
}

impl DynEqual {
    /// Wraps a function of both objects and the callback.
    pub fn new(
        call: impl Fn(&Ref<Obj>, &Ref<Obj>, &mut dyn EqualCallback) -> Result<bool>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        DynEqual {
            origin: None,
            call: Arc::new(call),
        }
    }

    pub(crate) fn call(
        &self,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        callback: &mut dyn EqualCallback,
    ) -> Result<bool> {
        (self.call)(left, right, callback)
    }
}

impl DynHash {
    /// Wraps a function of the object, the start and the callback.
    pub fn new(
        call: impl Fn(&Ref<Obj>, u64, &mut dyn HashCallback) -> Result<u64> + Send + Sync + 'static,
    ) -> Self {
        DynHash {
            origin: None,
            call: Arc::new(call),
        }
    }

    pub(crate) fn call(
        &self,
        object: &Ref<Obj>,
        init: u64,
        callback: &mut dyn HashCallback,
    ) -> Result<u64> {
        (self.call)(object, init, callback)
    }
}

fn expect<T: Node>(object: &Ref<Obj>) -> Result<&Ref<T>> {
    object.downcast_ref::<T>().ok_or_else(|| {
        let got = object.type_info().key();
        Error::type_error(format!("hook of {}: expected {0}, got {got}", T::TYPE_KEY))
    })
}

pub(super) fn typed_equal<T: StructuralEqual>() -> DynEqual {
    DynEqual {
        origin: Some(TypeId::of::<T>()),
        call: Arc::new(|left, right, callback| {
            expect::<T>(left)?.s_equal(expect::<T>(right)?, callback)
        }),
    }
}

pub(super) fn typed_hash<T: StructuralHash>() -> DynHash {
    DynHash {
        origin: Some(TypeId::of::<T>()),
        call: Arc::new(|object, init, callback| expect::<T>(object)?.s_hash(init, callback)),
    }
}

/// The hooks of one type.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) equal: Option<DynEqual>,
    pub(crate) hash: Option<DynHash>,
}

impl Hooks {
    pub(crate) fn is_empty(&self) -> bool {
        self.equal.is_none() && self.hash.is_none()
    }

    pub(crate) fn same_as(&self, other: &Hooks) -> bool {
        fn same<F: ?Sized>(
            left: Option<(&Option<TypeId>, &Arc<F>)>,
            right: Option<(&Option<TypeId>, &Arc<F>)>,
        ) -> bool {
            match (left, right) {
                (None, None) => true,
                (Some((origin, call)), Some((other_origin, other_call))) => {
                    Arc::ptr_eq(call, other_call) || (origin.is_some() && origin == other_origin)
                }
                _ => false,
            }
        }
        let equal = |hooks: &Hooks| {
            hooks
                .equal
                .as_ref()
                .map(|hook| (hook.origin, hook.call.clone()))
        };
        let hash = |hooks: &Hooks| {
            hooks
                .hash
                .as_ref()
                .map(|hook| (hook.origin, hook.call.clone()))
        };
        let (left_equal, right_equal) = (equal(self), equal(other));
        let (left_hash, right_hash) = (hash(self), hash(other));
        same(
            left_equal.as_ref().map(|(origin, call)| (origin, call)),
            right_equal.as_ref().map(|(origin, call)| (origin, call)),
        ) && same(
            left_hash.as_ref().map(|(origin, call)| (origin, call)),
            right_hash.as_ref().map(|(origin, call)| (origin, call)),
        )
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("equal", &self.equal.is_some())
            .field("hash", &self.hash.is_some())
            .finish()
    }
}
