//! Traits implemented by functions: translation of method calls, with conversion of
//! arguments and results.

use std::fmt;
use std::marker::PhantomData;

use super::contract::{Adapter, NodeTrait};
use crate::kernel::container::Array;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::{Argument, Borrowed, Function, Returned};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Schema;
use crate::kernel::value::{Value, ValueRef};

impl<'a, Tr: NodeTrait + ?Sized> Adapter<'a, Tr> {
    pub(super) fn new(object: &'a Ref<Obj>, value: &'static Value) -> Self {
        Adapter {
            object,
            value,
            methods: PhantomData,
        }
    }

    fn function(&self, method: usize) -> Option<&'static Function> {
        match self.value.view() {
            ValueRef::Function(function) => Some(function),
            _ => {
                let name = Tr::METHODS.get(method)?.name;
                self.value.as_map()?.get(name)?.peek()
            }
        }
    }

    /// True if the attribute's value has a function for the method.
    pub fn has(&self, method: usize) -> bool {
        self.function(method).is_some()
    }

    /// The node as the first argument of a function.
    pub fn receiver(&self) -> Value {
        self.object.into()
    }

    /// Calls the function of a method; the node is the first argument.
    ///
    /// # Errors
    ///
    /// Those of the function, unchanged.
    pub fn call(&self, method: usize, arguments: &[Value]) -> Result<Answer> {
        let name = Tr::METHODS.get(method).map_or("", |method| method.name);
        let ty = self.object.type_info().key();
        let function = self.function(method).ok_or_else(|| {
            Error::type_error(format!(
                "attribute '{}' of type {ty}: expected a function '{name}', got none",
                Tr::NAME
            ))
        })?;
        Ok(Answer {
            value: function.call(arguments)?,
            ty,
            attribute: Tr::NAME,
            method: name,
        })
    }
}

/// A node with the trait's own default body for one method, and an [`Adapter`] for
/// all others.
pub struct Defaults<'a, Tr: NodeTrait + ?Sized, const METHOD: usize>(Adapter<'a, Tr>);

impl<'a, Tr: NodeTrait + ?Sized, const METHOD: usize> Defaults<'a, Tr, METHOD> {
    /// The same node.
    pub fn of(adapter: &Adapter<'a, Tr>) -> Self {
        Defaults(*adapter)
    }

    /// Returns the adapter for the other methods.
    pub fn adapter(&self) -> &Adapter<'a, Tr> {
        &self.0
    }
}

impl<Tr: NodeTrait + ?Sized, const METHOD: usize> fmt::Debug for Defaults<'_, Tr, METHOD> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Defaults").field(&self.0).finish()
    }
}

/// The result of a function for a method, and its origin.
#[derive(Debug)]
pub struct Answer {
    value: Value,
    ty: &'static str,
    attribute: &'static str,
    method: &'static str,
}

impl Answer {
    fn convert<T: Argument>(self) -> Result<T> {
        T::from_value(self.value).map_err(|error| {
            let message = format!(
                "attribute '{}' of type {}: result of {}(): {}",
                self.attribute,
                self.ty,
                self.method,
                error.message()
            );
            Error::new(error.kind(), message)
        })
    }
}

/// The result type of a method of a node trait.
#[diagnostic::on_unimplemented(
    message = "a method of a node trait cannot return `{Self}`",
    note = "methods return `isoform::Result<T>`, since an implementation in another language may \
            fail; `#[node_trait(rust_only)]` on the method hides it from other languages"
)]
pub trait MethodResult: Sized {
    /// The schema of the result.
    fn schema() -> Schema;
    /// The result as a value.
    ///
    /// # Errors
    ///
    /// The error in the result.
    fn into_value(self) -> Result<Value>;
    /// Converts a function's return value to the result.
    fn from_answer(answer: Result<Answer>) -> Self;
}

impl<T: Argument + Returned> MethodResult for Result<T> {
    fn schema() -> Schema {
        <T as Returned>::schema()
    }
    fn into_value(self) -> Result<Value> {
        self?.into_value()
    }
    fn from_answer(answer: Result<Answer>) -> Self {
        answer?.convert()
    }
}

/// The value of an argument.
///
/// # Errors
///
/// The error in a part of the argument.
pub fn pass<T: Argument + Returned>(argument: T) -> Result<Value> {
    argument.into_value()
}

/// The value of an argument passed by reference.
///
/// # Errors
///
/// As [`pass`].
pub fn lend<T: Lent + ?Sized>(argument: &T) -> Result<Value> {
    argument.lend()
}

/// A type for references in the arguments of a method.
#[diagnostic::on_unimplemented(
    message = "a method of a node trait cannot take `&{Self}`",
    note = "arguments are what may be an argument and a result of an Isoform function, shared \
            references to such types, &str and &[Value]; `#[node_trait(rust_only)]` on the \
            method hides it from other languages"
)]
pub trait Lent: Borrowed {
    /// The value of the argument.
    ///
    /// # Errors
    ///
    /// The error in a part of the argument.
    fn lend(&self) -> Result<Value>;
}

impl<T: Argument + Returned + Clone> Lent for T {
    fn lend(&self) -> Result<Value> {
        self.clone().into_value()
    }
}

impl Lent for str {
    fn lend(&self) -> Result<Value> {
        Ok(self.into())
    }
}

impl Lent for [Value] {
    fn lend(&self) -> Result<Value> {
        Ok(Array::from(self.to_vec()).into())
    }
}
