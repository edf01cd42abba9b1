//! `Function`, a callable value, and opaque host objects.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::container::Str;
use crate::error::Result;
use crate::object::reference::{Obj, Ref};
use crate::value::Value;

type Call = dyn Fn(&[Value]) -> Result<Value> + Send + Sync;

/// The payload of a function.
pub(crate) struct FunctionObj {
    name: Option<Str>,
    call: Arc<Call>,
    /// What the function is made of, for who made it.
    content: Option<Arc<dyn Any + Send + Sync>>,
}

impl FunctionObj {
    pub(crate) fn copy_payload(&self) -> Self {
        FunctionObj {
            name: self.name.clone(),
            call: Arc::clone(&self.call),
            content: self.content.clone(),
        }
    }
}

/// A callable value, with or without a name.
///
/// ```
/// use isoform::{Function, Value};
/// let f = Function::new(|args| Ok(Value::from(args.len())));
/// assert_eq!(f.call(&[1.into(), 2.into()])?, Value::from(2));
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
#[derive(Clone)]
pub struct Function(Ref<FunctionObj>);

impl Function {
    /// An anonymous function.
    pub fn new(call: impl Fn(&[Value]) -> Result<Value> + Send + Sync + 'static) -> Self {
        Function(Ref::new(FunctionObj {
            name: None,
            call: Arc::new(call),
            content: None,
        }))
    }

    /// An anonymous function made of a value that can be had back with
    /// [`content`](Self::content), such as a callable of a host language.
    pub fn with_content<T: Any + Send + Sync>(
        content: T,
        call: impl Fn(&T, &[Value]) -> Result<Value> + Send + Sync + 'static,
    ) -> Self {
        let content = Arc::new(content);
        let held = Arc::clone(&content);
        Function(Ref::new(FunctionObj {
            name: None,
            call: Arc::new(move |arguments| call(&held, arguments)),
            content: Some(content),
        }))
    }

    /// What the function was made of, if that is a `T`.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.0.content.as_ref()?.downcast_ref()
    }

    /// The same function under a name.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let call = Arc::clone(&self.0.call);
        Function(Ref::new(FunctionObj {
            name: Some(name.into()),
            call,
            content: self.0.content.clone(),
        }))
    }

    /// The function that an object is, if it is one. O(1).
    pub fn of(object: &Ref<Obj>) -> Option<&Function> {
        Some(Function::from_payload_ref(object.downcast_ref()?))
    }

    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Calls it.
    ///
    /// # Errors
    ///
    /// Whatever the function returns.
    pub fn call(&self, arguments: &[Value]) -> Result<Value> {
        (self.0.call)(arguments)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name().unwrap_or("anonymous"))
    }
}

impl From<Function> for Value {
    fn from(function: Function) -> Self {
        Value::from_object(function.0.into_object())
    }
}

/// A host object of which the core knows nothing; never comparable.
#[derive(Clone)]
pub struct OpaqueObj {
    type_name: &'static str,
    content: Arc<dyn Any + Send + Sync>,
}

impl OpaqueObj {
    pub(crate) fn copy_payload(&self) -> Self {
        self.clone()
    }

    /// The name of the content's type, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// The content, if it is a `T`.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.downcast_ref()
    }
}

impl Value {
    /// Wraps any Rust value; see [`OpaqueObj`].
    pub fn opaque<T: Any + Send + Sync>(content: T) -> Value {
        let type_name = std::any::type_name::<T>();
        Ref::new(OpaqueObj {
            type_name,
            content: Arc::new(content),
        })
        .into()
    }
}
