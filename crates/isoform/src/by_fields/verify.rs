//! Verification: what each type demands of its own objects, checked for all
//! objects of a value.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::path::AccessPath;
use crate::kernel::types::{
    Compiled, Hook, Shown, hook_arguments as arguments, hook_object as object,
};
use crate::kernel::value::Value;
use crate::traverse::{WalkOptions, WalkResult, structural_walk};

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

/// Demands on objects that are not part of their types' definitions.
pub trait VerifyHooks {
    /// What is wrong with an object of a declared type, if anything.
    ///
    /// # Errors
    ///
    /// An error describes what is wrong.
    fn verify(&self, object: &Ref<Obj>) -> Result<()> {
        let _ = object;
        Ok(())
    }

    /// Whether an error is a finding, to be collected with the others. Any
    /// other one ends the verification, and is its error.
    fn is_finding(&self, error: &Error) -> bool {
        let _ = error;
        true
    }
}

/// Nothing is demanded.
impl VerifyHooks for () {}

/// Everything that is wrong with the objects of a value, with its place.
///
/// Each distinct object is verified once, after what lies below it, in fields
/// that comparison ignores as well: first by the verifiers of its type, parents'
/// first, then by `hooks`. All failures are collected; the path is the first
/// way to the object. Linear in the number of distinct objects and the places
/// of plain values.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself; what
/// [`VerifyHooks::is_finding`] does not count as a finding.
///
/// ```
/// use isoform::{DynVerify, Error, FieldDef, Schema, TypeDef, Value};
/// use isoform::{construct, get_field, register_type, verify};
///
/// let even = register_type(
///     TypeDef::new("doc.Even").field(FieldDef::new("n", Schema::Int)).verifier(DynVerify::new(
///         |object| match get_field(object, "n")?.as_int() {
///             Some(n) if n % 2 != 0 => Err(Error::value_error(format!("expected even, got {n}"))),
///             _ => Ok(()),
///         },
///     )),
/// )?;
/// let value = |n: i64| construct(even, vec![n.into()]);
/// let failures = verify(&Value::from([value(1)?, value(2)?, value(3)?]), &())?;
/// let texts: Vec<_> = failures.iter().map(|(path, error)| format!("{path}: {error}")).collect();
/// assert_eq!(texts, ["<root>[0]: ValueError: expected even, got 1",
///                    "<root>[2]: ValueError: expected even, got 3"]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn verify(root: &Value, hooks: &dyn VerifyHooks) -> Result<Vec<(AccessPath, Error)>> {
    let mut failures = Vec::new();
    // A traversal of a type's own must not hide objects.
    let options = WalkOptions::default().include_ignored(true).hooks(false);
    structural_walk(root, options, |visit| {
        let object = visit
            .object()
            .filter(|object| !object.type_info().is_builtin());
        if let Some(object) = object {
            let mut check = |outcome: Result<()>| match outcome {
                Err(error) if !hooks.is_finding(&error) => Err(error),
                outcome => {
                    failures.extend(outcome.err().map(|error| (visit.path(), error)));
                    Ok(())
                }
            };
            for verifier in verifiers(object.type_info()) {
                check((verifier.call.call)(object))?;
            }
            check(hooks.verify(object))?;
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(failures)
}

/// The verifiers of a type, parents' first.
fn verifiers(info: &'static TypeInfo) -> Vec<&'static DynVerify> {
    let line = std::iter::successors(Some(info), |info| info.parent());
    let mut found: Vec<_> = line.filter_map(|info| info.hooks.verify.get()).collect();
    found.reverse();
    found
}
