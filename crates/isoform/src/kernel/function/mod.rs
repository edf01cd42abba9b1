//! `Function`, a callable value, and its construction from plain Rust functions.
//!
//! Global names of functions are in `kernel/types/functions.rs`.
//!
//! A `Function` maps values to a value, and carries its name, documentation and
//! signature as data. `typed.rs` makes a `Function` from a Rust function, and
//! `argument.rs` defines the Rust types of arguments and results; `#[export]` of
//! `isoform-macros` generates the same calls.
//!
//! Arguments convert by `Schema::convert`, like fields. The binding of a host language
//! converts arguments by the schema of the parameter before the call.
//!
//! Absent: conversion by the annotations of Python functions; annotations are only
//! documentation.

mod argument;
mod signature;
mod typed;

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

pub use self::argument::{Argument, Borrowed, Returned};
pub use self::signature::{Parameter, Signature};
pub use self::typed::{Call, TypedFunction, parameter, parameter_ref, signature};
use crate::kernel::container::Str;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

type Body = dyn Fn(&Call<'_>) -> Result<Value> + Send + Sync;

/// The payload of a function.
#[derive(Clone)]
pub(crate) struct FunctionObj {
    name: Option<Str>,
    doc: Option<Str>,
    signature: Option<Arc<Signature>>,
    body: Arc<Body>,
    /// The value the function was made from, for the function's creator.
    content: Option<Arc<dyn Any + Send + Sync>>,
    /// Where a function written in Rust was made, for tracebacks.
    location: Option<&'static Location<'static>>,
}

impl FunctionObj {
    #[track_caller]
    fn new(body: Arc<Body>) -> Self {
        FunctionObj {
            name: None,
            doc: None,
            signature: None,
            body,
            content: None,
            location: Some(Location::caller()),
        }
    }

    pub(crate) fn copy_payload(&self) -> Self {
        self.clone()
    }
}

/// A callable value, with or without a name.
///
/// ```
/// use isoform::Value;
/// use isoform::functions::Function;
/// let count = Function::new(|args| Ok(Value::from(args.len())));
/// assert_eq!(count.call(&[1.into(), 2.into()])?, Value::from(2));
///
/// let add = Function::typed(|x: i64, y: i64| x + y).named("demo.add");
/// assert_eq!(add.call(&[1.into(), 2.into()])?, Value::from(3));
/// let error = add.call(&[1.into(), "two".into()]).expect_err("a string is no integer");
/// assert_eq!(error.message(), "demo.add() argument 2: expected int, got str");
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
#[derive(Clone)]
pub struct Function(Ref<FunctionObj>);

impl Function {
    /// Makes an anonymous function of any number of values.
    #[track_caller]
    pub fn new(call: impl Fn(&[Value]) -> Result<Value> + Send + Sync + 'static) -> Self {
        let body = move |made: &Call<'_>| call(made.arguments);
        Function(Ref::new(FunctionObj::new(Arc::new(body))))
    }

    /// Makes an anonymous function from a Rust function of up to 8 arguments, which are
    /// converted like the values of fields.
    ///
    /// Calls fail with a `TypeError` naming the argument if an argument does not
    /// convert, or if the number of arguments differs. An [`Option`] after all required
    /// arguments may be omitted.
    #[track_caller]
    pub fn typed<F: TypedFunction<Arguments>, Arguments>(function: F) -> Self {
        let body = move |call: &Call<'_>| function.invoke(call);
        Function::of_body(Arc::new(body), F::signature())
    }

    #[track_caller]
    fn of_body(body: Arc<Body>, signature: Signature) -> Self {
        Function(Ref::new(FunctionObj {
            signature: Some(Arc::new(signature)),
            ..FunctionObj::new(body)
        }))
    }

    /// Makes the function for `#[isoform::export]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn exported(
        body: fn(&Call<'_>) -> Result<Value>,
        name: &str,
        doc: &str,
        signature: Signature,
    ) -> Self {
        let made = Function::of_body(Arc::new(body), signature).named(name);
        if doc.is_empty() {
            return made;
        }
        made.with_doc(doc)
    }

    /// Makes an anonymous function from a value to be returned by
    /// [`content`](Self::content), such as a callable of a host language.
    pub fn with_content<T: Any + Send + Sync>(
        content: T,
        call: impl Fn(&T, &[Value]) -> Result<Value> + Send + Sync + 'static,
    ) -> Self {
        let content = Arc::new(content);
        let held = Arc::clone(&content);
        let body = move |made: &Call<'_>| call(&held, made.arguments);
        Function(Ref::new(FunctionObj {
            content: Some(content),
            // The host language has its own tracebacks.
            location: None,
            ..FunctionObj::new(Arc::new(body))
        }))
    }

    /// The same function, with a value that [`content`](Self::content) returns.
    #[must_use]
    pub(crate) fn made_of<T: Any + Send + Sync>(&self, content: Arc<T>) -> Self {
        self.changed(|payload| payload.content = Some(content))
    }

    /// The value the function was made from, if the value is a `T`.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.0.content.as_ref()?.downcast_ref()
    }

    /// The [`content`](Self::content), if no copy of the function shares it.
    pub fn exclusive_content<T: Any>(&self) -> Option<&T> {
        // The payload and the body of the function are the two owners.
        match Arc::strong_count(self.0.content.as_ref()?) {
            2 => self.content(),
            _ => None,
        }
    }

    fn changed(&self, change: impl FnOnce(&mut FunctionObj)) -> Self {
        let mut payload = self.0.copy_payload();
        change(&mut payload);
        Function(Ref::new(payload))
    }

    /// The same function under a name.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        self.changed(|payload| payload.name = Some(name.into()))
    }

    /// The same function with documentation.
    #[must_use]
    pub fn with_doc(&self, text: &str) -> Self {
        self.changed(|payload| payload.doc = Some(text.into()))
    }

    /// The same function with a signature, which describes the parameters and does not
    /// change the behaviour.
    #[must_use]
    pub fn with_signature(&self, signature: Signature) -> Self {
        self.changed(|payload| payload.signature = Some(Arc::new(signature)))
    }

    /// The same function with names for its parameters, first to last. Has no effect on
    /// a function without a signature.
    #[must_use]
    pub fn with_parameters(&self, names: &[&str]) -> Self {
        self.changed(|payload| {
            if let Some(signature) = &mut payload.signature {
                Arc::make_mut(signature).rename(names);
            }
        })
    }

    /// The same function with a default for an omitted argument, converted like a given
    /// argument. Has no effect on a function without a parameter at the position.
    /// Applies only if all later arguments may be omitted.
    #[must_use]
    pub fn with_default(&self, position: usize, value: impl Into<Value>) -> Self {
        self.changed(|payload| {
            if let Some(signature) = &mut payload.signature {
                Arc::make_mut(signature).set_default(position, value.into());
            }
        })
    }

    /// The function stored in an object, if any. O(1).
    pub fn of(object: &Ref<Obj>) -> Option<&Function> {
        Some(Function::from_payload_ref(object.downcast_ref()?))
    }

    /// True if both are the very same function. O(1).
    pub fn same_as(&self, other: &Function) -> bool {
        self.0.same_as(&other.0)
    }

    /// True if both have the same body, whatever their names. O(1).
    #[doc(hidden)]
    pub fn same_body(&self, other: &Function) -> bool {
        Arc::ptr_eq(&self.0.body, &other.0.body)
    }

    /// The name of an argument in messages: `demo.add() argument 'x'`.
    pub fn argument_label(&self, position: usize) -> String {
        typed::label(self.name(), self.signature(), position)
    }

    /// The name, if any.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// The documentation, if there is any.
    pub fn doc(&self) -> Option<&str> {
        self.0.doc.as_deref()
    }

    /// The parameters and result, if known.
    pub fn signature(&self) -> Option<&Signature> {
        self.0.signature.as_deref()
    }

    /// Calls the function.
    ///
    /// # Errors
    ///
    /// Errors from the function. The [traceback](Error::traceback) of an error leaving
    /// a function written in Rust includes the function.
    pub fn call(&self, arguments: &[Value]) -> Result<Value> {
        let result = (self.0.body)(&Call {
            name: self.0.name.as_deref(),
            signature: self.0.signature.as_deref(),
            arguments,
        });
        result.map_err(|error| self.left_by(error))
    }

    #[cold]
    fn left_by(&self, error: Error) -> Error {
        match self.0.location {
            Some(location) => error.passing(self.name(), location),
            None => error,
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name().unwrap_or("anonymous"))
    }
}

impl From<&Function> for Value {
    fn from(function: &Function) -> Self {
        function.clone().into()
    }
}

impl From<Function> for Value {
    fn from(function: Function) -> Self {
        Value::from_object(function.0.into_object())
    }
}
