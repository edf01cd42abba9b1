//! Custom comparison and hashing of a node type.
//!
//! A hook replaces the walk over the fields of its own type only; kind,
//! bindings, scopes and shortcuts stay with the engine.

use std::any::TypeId;
use std::sync::Arc;

use super::hook_cells::{Compiled, Hook, Shown, arguments, object};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::hooks::{word, wrong_result};
use crate::kernel::object::lend::{Lent, lend_equal, lend_hash, not_lent};
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::RegionChange;
use crate::kernel::value::{Value, ValueRef};

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
    call: Shown<EqualFn>,
}

/// A hash hook for a type declared at run time.
#[derive(Clone)]
pub struct DynHash {
    origin: Option<TypeId>,
    call: Shown<HashFn>,
}

impl DynEqual {
    /// Sets the function that shows the hook as an attribute.
    #[must_use]
    pub fn shown_as(mut self, function: Function) -> Self {
        self.call.function = Some(function);
        self
    }

    /// Wraps a function of both objects and the callback.
    pub fn new(
        call: impl Fn(&Ref<Obj>, &Ref<Obj>, &mut dyn EqualCallback) -> Result<bool>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        DynEqual {
            origin: None,
            call: Shown::new(Arc::new(call)),
        }
    }

    /// Asks the hook.
    ///
    /// # Errors
    ///
    /// What the hook returns.
    pub fn call(
        &self,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        callback: &mut dyn EqualCallback,
    ) -> Result<bool> {
        (self.call.call)(left, right, callback)
    }
}

impl DynHash {
    /// Sets the function that shows the hook as an attribute.
    #[must_use]
    pub fn shown_as(mut self, function: Function) -> Self {
        self.call.function = Some(function);
        self
    }

    /// Wraps a function of the object, the start and the callback.
    pub fn new(
        call: impl Fn(&Ref<Obj>, u64, &mut dyn HashCallback) -> Result<u64> + Send + Sync + 'static,
    ) -> Self {
        DynHash {
            origin: None,
            call: Shown::new(Arc::new(call)),
        }
    }

    pub(crate) fn call(
        &self,
        object: &Ref<Obj>,
        init: u64,
        callback: &mut dyn HashCallback,
    ) -> Result<u64> {
        (self.call.call)(object, init, callback)
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
        call: Shown::new(Arc::new(|left, right, callback| {
            expect::<T>(left)?.s_equal(expect::<T>(right)?, callback)
        })),
    }
}

pub(super) fn typed_hash<T: StructuralHash>() -> DynHash {
    DynHash {
        origin: Some(TypeId::of::<T>()),
        call: Shown::new(Arc::new(|object, init, callback| {
            expect::<T>(object)?.s_hash(init, callback)
        })),
    }
}

impl Compiled for DynEqual {
    fn from_function(function: &Function) -> Result<Self> {
        if let Some(hook) = function.content::<DynEqual>() {
            return Ok(hook.clone());
        }
        let called = function.clone();
        let hook = DynEqual::new(move |left, right, callback| {
            let answer = lend_equal(callback, |place| {
                let callback = LentEqual(Arc::clone(place)).function();
                called.call(&[left.into(), right.into(), callback.into()])
            })?;
            answer
                .as_bool()
                .ok_or_else(|| wrong_result(left, Self::NAME, "a bool", &answer))
        });
        Ok(hook.shown_as(function.clone()))
    }

    fn function(&self) -> Function {
        self.call.function.clone().unwrap_or_else(|| {
            Function::with_content(self.clone(), |hook, given| {
                let [left, right, callback] = arguments(Self::NAME, given)?;
                let (left, right) = (object(Self::NAME, left)?, object(Self::NAME, right)?);
                let mut callback = Callback(function(Self::NAME, callback)?);
                hook.call(left, right, &mut callback).map(Value::from)
            })
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.call.same_as(&other.call) || (self.origin.is_some() && self.origin == other.origin)
    }
}

impl Compiled for DynHash {
    fn from_function(function: &Function) -> Result<Self> {
        if let Some(hook) = function.content::<DynHash>() {
            return Ok(hook.clone());
        }
        let called = function.clone();
        let hook = DynHash::new(move |object, init, callback| {
            let answer = lend_hash(callback, |place| {
                let callback = LentHash(Arc::clone(place)).function();
                called.call(&[object.into(), Value::from(init), callback.into()])
            })?;
            word(&answer).ok_or_else(|| wrong_result(object, Self::NAME, "an int", &answer))
        });
        Ok(hook.shown_as(function.clone()))
    }

    fn function(&self) -> Function {
        self.call.function.clone().unwrap_or_else(|| {
            Function::with_content(self.clone(), |hook, given| {
                let [subject, init, callback] = arguments(Self::NAME, given)?;
                let init = hash_of(Self::NAME, init)?;
                let mut callback = Callback(function(Self::NAME, callback)?);
                let hash = hook.call(object(Self::NAME, subject)?, init, &mut callback)?;
                Ok(Value::from(hash))
            })
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.call.same_as(&other.call) || (self.origin.is_some() && self.origin == other.origin)
    }
}

/// The callback of a custom equality inside the function that a hook gets.
///
/// A host language finds it as [`Function::content`], and may show it as an
/// object of its own.
#[derive(Clone, Debug)]
pub struct LentEqual(pub Arc<Lent<dyn EqualCallback>>);

/// The callback of a custom hash inside the function that a hook gets.
#[derive(Clone, Debug)]
pub struct LentHash(pub Arc<Lent<dyn HashCallback>>);

/// The region that the argument of a callback says; the current one without.
fn region_of(given: &[Value], position: usize) -> Result<RegionChange> {
    match given.get(position).map(Value::view) {
        None | Some(ValueRef::None) => Ok(RegionChange::Inherit),
        Some(ValueRef::Bool(flag)) => RegionChange::from_number(i64::from(flag)),
        Some(ValueRef::Int(number)) => RegionChange::from_number(number),
        Some(_) => Err(Error::type_error(format!(
            "def_region: expected a bool or an int, got {}",
            given[position].type_name()
        ))),
    }
}

impl LentEqual {
    /// The callback as a function of two parts, the region and the name of the
    /// step, both of which may be left out.
    pub fn function(&self) -> Function {
        Function::with_content(self.clone(), |lent, given| {
            let (Some(left), Some(right)) = (given.first(), given.get(1)) else {
                return Err(Error::type_error("eq_cb: expected 2 to 4 arguments"));
            };
            let region = region_of(given, 2)?;
            let name = given.get(3).and_then(Value::as_str).unwrap_or("?");
            let equal = lent
                .0
                .with(|callback| callback.equal_in(left, right, region, name));
            let equal = equal.ok_or_else(|| not_lent(DynEqual::NAME))?;
            equal.map(Value::from)
        })
    }
}

impl LentHash {
    /// The callback as a function of a part, the start and the region, which
    /// may be left out.
    pub fn function(&self) -> Function {
        Function::with_content(self.clone(), |lent, given| {
            let (Some(value), Some(init)) = (given.first(), given.get(1)) else {
                return Err(Error::type_error("hash_cb: expected 2 or 3 arguments"));
            };
            let init = hash_of("hash_cb", init)?;
            let region = region_of(given, 2)?;
            let hash = lent
                .0
                .with(|callback| callback.hash_in(value, init, region));
            let hash = hash.ok_or_else(|| not_lent(DynHash::NAME))?;
            hash.map(Value::from)
        })
    }
}

/// The callback of a hook, given as a function.
struct Callback<'a>(&'a Function);

impl EqualCallback for Callback<'_> {
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool> {
        let region = Value::from(region as i64);
        let answer = self
            .0
            .call(&[left.clone(), right.clone(), region, name.into()])?;
        answer.as_bool().ok_or_else(|| {
            Error::type_error(format!(
                "{}: expected a bool, got {answer:?}",
                DynEqual::NAME
            ))
        })
    }

    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool> {
        // Each question takes back its own bindings; whose function this is
        // offers no more.
        alternative(self)
    }
}

impl HashCallback for Callback<'_> {
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64> {
        let region = Value::from(region as i64);
        let answer = self.0.call(&[value.clone(), Value::from(init), region])?;
        hash_of(DynHash::NAME, &answer)
    }
}

fn function<'a>(name: &str, given: &'a Value) -> Result<&'a Function> {
    let function = given.as_object().and_then(Function::of);
    function.ok_or_else(|| Error::type_error(format!("{name}: expected a function, got {given:?}")))
}

fn hash_of(name: &str, given: &Value) -> Result<u64> {
    word(given).ok_or_else(|| {
        Error::type_error(format!(
            "{name}: expected an int, got {}",
            given.type_name()
        ))
    })
}
