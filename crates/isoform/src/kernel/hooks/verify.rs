//! The hook with which a type checks its own objects.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::{
    Compiled, Hook, Shown, hook_arguments as arguments, hook_object as object,
};
use crate::kernel::value::Value;

/// What a type demands of its objects, in the type's own code.
///
/// ```
/// use isoform::{Error, Node, Result, Value, Verify, verify};
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
/// assert!(verify(&Range::new(1, 2).into(), &())?.is_empty());
/// let failures = verify(&Value::from([Range::new(2, 1)]), &())?;
/// let (path, error) = &failures[0];
/// assert_eq!(format!("{path}: {error}"), "<root>[0]: ValueError: 2 > 1");
/// # Ok::<(), isoform::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares `hooks(verify)` and does not implement `Verify`",
    note = "implement `isoform::Verify`, or leave `verify` out of `hooks(...)`"
)]
pub trait Verify: Node {
    /// What is wrong with this object, if anything.
    ///
    /// # Errors
    ///
    /// An error describes what is wrong.
    fn verify(&self) -> Result<()>;
}

type VerifyFn = dyn Fn(&Ref<Obj>) -> Result<()> + Send + Sync;

/// What a type demands of its objects and those of the types that extend it;
/// see [`TypeDef::verifier`](crate::TypeDef::verifier).
#[derive(Clone)]
pub struct DynVerify {
    /// The Rust type whose trait is called, so that registering it twice is
    /// recognised as the same definition; None for a closure.
    origin: Option<TypeId>,
    call: Shown<VerifyFn>,
}

impl DynVerify {
    /// Wraps a function that says what is wrong with an object.
    pub fn new(verify: impl Fn(&Ref<Obj>) -> Result<()> + Send + Sync + 'static) -> Self {
        DynVerify {
            origin: None,
            call: Shown::new(Arc::new(verify)),
        }
    }

    /// The hook of a Rust type; it sees the objects of types that extend it as
    /// well.
    pub(crate) fn typed<T: Verify>() -> Self {
        let verify = |object: &Ref<Obj>| match object.downcast_ref::<T>() {
            Some(node) => T::verify(node),
            None => Err(Error::type_error(format!(
                "hook of {}: expected {0}, got {}",
                T::TYPE_KEY,
                object.type_info().key()
            ))),
        };
        DynVerify {
            origin: Some(TypeId::of::<T>()),
            ..DynVerify::new(verify)
        }
    }

    /// Sets the function that shows the hook as an attribute.
    #[must_use]
    pub fn shown_as(mut self, function: Function) -> Self {
        self.call.function = Some(function);
        self
    }
}

impl DynVerify {
    /// What is wrong with an object, if anything.
    ///
    /// # Errors
    ///
    /// What the hook returns.
    pub(crate) fn check(&self, object: &Ref<Obj>) -> Result<()> {
        (self.call.call)(object)
    }
}

impl Compiled for DynVerify {
    fn from_function(function: &Function) -> Result<Self> {
        if let Some(hook) = function.content::<DynVerify>() {
            return Ok(hook.clone());
        }
        let call = function.clone();
        let hook = DynVerify::new(move |object| call.call(&[object.into()]).map(drop));
        Ok(hook.shown_as(function.clone()))
    }

    fn function(&self) -> Function {
        self.call.function.clone().unwrap_or_else(|| {
            Function::with_content(self.clone(), |hook, given| {
                let [subject] = arguments(Self::NAME, given)?;
                (hook.call.call)(object(Self::NAME, subject)?).map(|()| Value::NONE)
            })
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.origin.is_some() && self.origin == other.origin) || self.call.same_as(&other.call)
    }
}

impl fmt::Debug for DynVerify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynVerify")
    }
}
