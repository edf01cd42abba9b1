//! The macro generating hooks from their declarations, and the common parts of hooks.

use std::any::TypeId;
use std::sync::Arc;

use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::value::Value;

/// A hook of a type: a function with a fixed meaning for the library, which is also an
/// attribute of the type, named [`NAME`](Self::NAME).
///
/// The attribute's value is a [`Function`] that any language can call; the
/// engines call the hook itself, without a lookup.
pub trait Hook: Clone + Send + Sync + 'static {
    /// The name of the attribute.
    const NAME: &'static str;

    /// The purpose of the hook, and the arguments of its function.
    const DOC: &'static str;

    /// The hook that calls a function.
    fn from_function(function: &Function) -> Self;

    /// Sets the function representing the hook as an attribute.
    #[must_use]
    fn shown_as(self, function: Function) -> Self;

    /// The hook as a function callable from any language.
    fn function(&self) -> Function;

    #[doc(hidden)]
    fn slot(set: &mut super::HookSet) -> &mut Option<Self>;
}

/// The closure of a hook, and its origin.
pub(super) struct Code<F: ?Sized> {
    pub(super) call: Arc<F>,
    /// The function representing the hook in other languages.
    pub(super) shown: Option<Function>,
    /// The Rust type implementing the called trait: a second registration of the type
    /// is recognised as the same definition. None for a closure.
    pub(super) origin: Option<TypeId>,
}

impl<F: ?Sized> Clone for Code<F> {
    fn clone(&self) -> Self {
        Code {
            call: Arc::clone(&self.call),
            shown: self.shown.clone(),
            origin: self.origin,
        }
    }
}

impl<F: ?Sized> Code<F> {
    pub(super) fn new(call: Arc<F>) -> Self {
        Code {
            call,
            shown: None,
            origin: None,
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.call, &other.call)
            || (self.origin.is_some() && self.origin == other.origin)
    }
}

/// Makes a hook from the value of an attribute.
///
/// # Errors
///
/// `TypeError` for anything but a function.
pub(super) fn compile<H: Hook>(value: &Value) -> Result<H> {
    let function = value.as_object().and_then(Function::of);
    let function = function.ok_or_else(|| {
        Error::type_error(format!("{}: expected a function, got {value:?}", H::NAME))
    })?;
    Ok(H::from_function(function))
}

/// Calls a function with the arguments of a hook, each valid for the duration of the
/// call.
macro_rules! call_scoped {
    ($function:ident, $name:literal, [$($lent:ident)*]) => {
        $function.call(&[$($lent),*])
    };
    ($function:ident, $name:literal, [$($lent:ident)*] $next:ident $($rest:ident)*) => {
        Argument::scoped($next, $name, stringify!($next), |$next| {
            call_scoped!($function, $name, [$($lent)* $next] $($rest)*)
        })
    };
}

macro_rules! first {
    ($first:ident $($rest:ident)*) => {
        $first
    };
}

/// Declares all hooks: types, cells and attributes.
///
/// A row consists of a field of [`HookCells`](super::HookCells), the type of the hook
/// with the arguments and result of its closure, the name of the attribute and its
/// documentation. `as` states the conversion of the result if it differs from the
/// conversion of other results of its type.
macro_rules! hooks {
    ($(
        $(#[$doc:meta])*
        $field:ident: $hook:ident($($argument:ident: $ty:ty),* $(,)?) -> $result:ty $(as $show:path)?
            = $name:literal, $what:literal;
    )*) => {
        $(hooks! {
            @hook [$(#[$doc])*] $hook($($argument: $ty),*) -> $result,
            [$($show,)? Answer::show], $field, $name, $what
        })*

        /// The hooks of one type in the form called by the engines; filled when the
        /// attributes are set, and read without locks.
        #[derive(Default)]
        pub(crate) struct HookCells {
            $(pub(crate) $field: Published<$hook>,)*
            pub(super) since: HookEpochs,
        }

        /// The hooks of a definition.
        #[doc(hidden)]
        #[derive(Clone, Default)]
        pub struct HookSet {
            $($field: Option<$hook>,)*
        }

        /// The names of all hooks, with their documentation.
        pub(crate) const HOOKS: &[(&str, &str)] = &[$(($name, $what)),*];

        impl HookSet {
            /// Uses the value of an attribute as a hook; false if no hook has this
            /// name.
            ///
            /// # Errors
            ///
            /// `TypeError` for a value unusable as the hook.
            pub(crate) fn set_attribute(&mut self, name: &str, value: &Value) -> Result<bool> {
                match name {
                    $($name => self.$field = Some(compile(value)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// The attributes that represent these hooks.
            pub(crate) fn attributes(&self) -> Vec<(&'static str, Function)> {
                let mut attributes = Vec::new();
                $(attributes.extend(self.$field.as_ref().map(|hook| ($name, hook.function())));)*
                attributes
            }

            /// Stores the hooks in the cells of a type.
            pub(crate) fn publish(&self, cells: &HookCells) {
                $(if let Some(hook) = &self.$field {
                    cells.$field.publish(Box::leak(Box::new(hook.clone())));
                })*
            }

            /// The name of a hook that differs in another definition.
            pub(crate) fn difference(&self, other: &HookSet) -> Option<&'static str> {
                $(match (&self.$field, &other.$field) {
                    (None, None) => {}
                    (Some(own), Some(other)) if own.0.is_same(&other.0) => {}
                    _ => return Some($name),
                })*
                None
            }
        }
    };
    (
        @hook [$(#[$doc:meta])*] $hook:ident($($argument:ident: $ty:ty),*) -> $result:ty,
        [$show:expr $(, $usual:expr)?], $field:ident, $name:literal, $what:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $hook(pub(super) Code<dyn Fn($($ty),*) -> Result<$result> + Send + Sync>);

        impl $hook {
            /// Makes a hook from a closure.
            pub fn new(
                call: impl Fn($($ty),*) -> Result<$result> + Send + Sync + 'static,
            ) -> Self {
                $hook(Code::new(Arc::new(call)))
            }

            /// Calls the hook.
            ///
            /// # Errors
            ///
            /// Errors from the hook.
            pub fn call(&self, $($argument: $ty),*) -> Result<$result> {
                (self.0.call)($($argument),*)
            }

            fn call_as_function(&self, given: &[Value]) -> Result<Value> {
                let count = [$(stringify!($argument)),*].len();
                let mut given = Arguments::new($name, given, count, count)?;
                $(let mut $argument =
                    <$ty as Argument<'_>>::take(&mut given, stringify!($argument))?;)*
                self.call($(<$ty as Argument<'_>>::of(&mut $argument)),*).map($show)
            }
        }

        impl Hook for $hook {
            const NAME: &'static str = $name;
            const DOC: &'static str = $what;

            fn from_function(function: &Function) -> Self {
                if let Some(hook) = function.content::<$hook>() {
                    return hook.clone();
                }
                let called = function.clone();
                let hook = $hook::new(move |$($argument),*| {
                    let answer = call_scoped!(called, $name, [] $($argument)*)?;
                    Answer::read(&answer).ok_or_else(|| {
                        let place = first!($($argument)*).place($name);
                        wrong_result(&place, <$result as Answer>::EXPECTED, &answer)
                    })
                });
                hook.shown_as(function.clone())
            }

            fn shown_as(mut self, function: Function) -> Self {
                self.0.shown = Some(function);
                self
            }

            fn function(&self) -> Function {
                let made = || Function::with_content(self.clone(), Self::call_as_function);
                self.0.shown.clone().unwrap_or_else(made)
            }

            fn slot(set: &mut HookSet) -> &mut Option<Self> {
                &mut set.$field
            }
        }

        impl fmt::Debug for $hook {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($hook))
            }
        }
    };
}
pub(super) use {call_scoped, first, hooks};
