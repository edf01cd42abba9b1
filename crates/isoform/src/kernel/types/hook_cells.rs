//! Hooks as attributes: which names the library itself reads, and the cells in
//! which a type keeps what it made of their values.

use std::sync::Arc;

use super::hooks::{DynEqual, DynHash};
use super::json_hooks::{DynFromJson, DynToJson};
use crate::kernel::container::note_key_hooks;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::hooks::DynVerify;
use crate::kernel::hooks::{
    self, DynConvert, DynCopy, DynKeyEqual, DynKeyHash, DynMutate, DynRecursiveCompare,
    DynRecursiveEqual, DynRecursiveHash, DynRepr, DynVisit,
};
use crate::kernel::object::published::Published;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

/// A hook of a type: a function with a fixed meaning for the library, which is
/// also an attribute of the type, under [`NAME`](Self::NAME).
///
/// The attribute's value is a [`Function`] that any language can call; the
/// engines call the hook itself, without a lookup.
pub trait Hook: Compiled {
    /// The name of the attribute.
    const NAME: &'static str;

    /// What the hook does, and the arguments of its function.
    const DOC: &'static str;

    #[doc(hidden)]
    fn slot(set: &mut HookSet) -> &mut Option<Self>;
}

/// What each kind of hook does by itself.
pub trait Compiled: Clone + Send + Sync + 'static {
    /// The hook that calls a function.
    ///
    /// # Errors
    ///
    /// `TypeError` when the function cannot be such a hook.
    fn from_function(function: &Function) -> Result<Self>;

    /// The hook as a function that any language can call.
    fn function(&self) -> Function;

    #[doc(hidden)]
    fn is_same(&self, other: &Self) -> bool;
}

macro_rules! hooks {
    ($($field:ident: $ty:ident = $name:literal, $doc:literal;)*) => {
        /// What the engines call, for one type; filled as the attributes are
        /// set, and read without locks.
        #[derive(Default)]
        pub(crate) struct HookCells {
            $(pub(crate) $field: Published<$ty>,)*
        }

        /// The hooks of a definition.
        #[doc(hidden)]
        #[derive(Clone, Default)]
        pub struct HookSet {
            $($field: Option<$ty>,)*
        }

        $(impl Hook for $ty {
            const NAME: &'static str = $name;
            const DOC: &'static str = $doc;
            fn slot(set: &mut HookSet) -> &mut Option<Self> {
                &mut set.$field
            }
        })*

        /// The names of all hooks, with their documentation.
        pub(crate) const HOOKS: &[(&str, &str)] = &[$(($name, $doc)),*];

        impl HookSet {
            /// Takes up the value of an attribute; false when no hook has this
            /// name.
            ///
            /// # Errors
            ///
            /// `TypeError` for a value that cannot be the hook.
            pub(crate) fn set_attribute(&mut self, name: &str, value: &Value) -> Result<bool> {
                match name {
                    $($name => self.$field = Some(compile(name, value)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// The attributes that show these hooks.
            pub(crate) fn attributes(&self) -> Vec<(&'static str, Function)> {
                let mut attributes = Vec::new();
                $(attributes.extend(self.$field.as_ref().map(|hook| ($name, hook.function())));)*
                attributes
            }

            /// Puts the hooks into the cells of a type.
            pub(crate) fn publish(&self, cells: &HookCells) {
                $(if let Some(hook) = &self.$field {
                    cells.$field.publish(Box::leak(Box::new(hook.clone())));
                })*
            }

            /// The name of a hook that another definition has otherwise.
            pub(crate) fn difference(&self, other: &HookSet) -> Option<&'static str> {
                $(match (&self.$field, &other.$field) {
                    (None, None) => {}
                    (Some(own), Some(other)) if own.is_same(other) => {}
                    _ => return Some($name),
                })*
                None
            }
        }
    };
}

hooks! {
    equal: DynEqual = "__s_equal__",
        "Structural equality: `(self, other, equal)`, with `equal(left, right, region, name)` for \
         the parts, gives a bool.";
    hash: DynHash = "__s_hash__",
        "Structural hash: `(self, init, hash)`, with `hash(value, init, region)` for the parts, \
         gives an int.";
    verify: DynVerify = "__verify__",
        "What the type demands of its objects: `(self)` raises when one breaks it.";
    to_json: DynToJson = "__data_to_json__",
        "What stands for an object in files: `(self)` gives JSON data.";
    from_json: DynFromJson = "__data_from_json__",
        "The object that JSON data stands for: `(data)` gives an object of the type.";
    repr: DynRepr = "__ffi_repr__",
        "The text of an object: `(self, fn_repr)`, with `fn_repr(value)` for the parts, gives a \
         str.";
    recursive_equal: DynRecursiveEqual = "__ffi_eq__",
        "Equality by fields: `(self, other, cmp)`, with `cmp(left, right)` for the parts, gives a \
         bool.";
    recursive_compare: DynRecursiveCompare = "__ffi_compare__",
        "Order by fields: `(self, other, cmp)`, with `cmp(left, right)` for the parts, gives an \
         int below, at or above zero.";
    recursive_hash: DynRecursiveHash = "__ffi_hash__",
        "Hash by fields: `(self, fn_hash)`, with `fn_hash(value)` for the parts, gives an int.";
    key_hash: DynKeyHash = "__any_hash__",
        "The hash of an object as the key of a map or dict: `(self)` gives an int.";
    key_equal: DynKeyEqual = "__any_equal__",
        "Whether two objects are one key of a map or dict: `(self, other)` gives a bool.";
    copy: DynCopy = "__ffi_shallow_copy__",
        "A copy of one object: `(self)` gives an object of the type.";
    convert: DynConvert = "__ffi_convert__",
        "An object of the type from another value that a field gets: `(value)` gives the object.";
    visit: DynVisit = "__s_visit__",
        "Structural walk: `(self, visitor)` visits the parts, and gives None or what ended the \
         walk.";
    mutate: DynMutate = "__s_mutate__",
        "Structural rewrite: `(self, mutator)` gives what the object becomes.";
}

impl HookCells {
    /// Tells those who ask first whether any type has such a hook.
    pub(crate) fn note(&self) {
        if self.key_hash.get().is_some() || self.key_equal.get().is_some() {
            note_key_hooks();
        }
        if self.visit.get().is_some() || self.mutate.get().is_some() {
            hooks::note_traversal_hooks();
        }
    }

    /// Whether comparison and hash follow the fields.
    pub(crate) fn are_structural_defaults(&self) -> bool {
        self.equal.get().is_none() && self.hash.get().is_none()
    }

    /// Both directions of the form in files; one alone would write what cannot
    /// be read.
    pub(crate) fn file_hooks(&self) -> Option<FileHooks> {
        Some(FileHooks {
            to_json: self.to_json.get()?,
            from_json: self.from_json.get()?,
        })
    }
}

/// How objects of a type stand in files.
#[derive(Clone, Copy)]
pub(crate) struct FileHooks {
    pub(crate) to_json: &'static DynToJson,
    pub(crate) from_json: &'static DynFromJson,
}

fn compile<H: Compiled>(name: &str, value: &Value) -> Result<H> {
    let function = value.as_object().and_then(Function::of);
    let Some(function) = function else {
        return Err(Error::type_error(format!(
            "{name}: expected a function, got {value:?}"
        )));
    };
    H::from_function(function)
}

/// The closure of a hook, and the function that shows it to other languages.
pub(crate) struct Shown<F: ?Sized> {
    pub(crate) call: Arc<F>,
    pub(crate) function: Option<Function>,
}

impl<F: ?Sized> Clone for Shown<F> {
    fn clone(&self) -> Self {
        Shown {
            call: Arc::clone(&self.call),
            function: self.function.clone(),
        }
    }
}

impl<F: ?Sized> Shown<F> {
    pub(crate) fn new(call: Arc<F>) -> Self {
        Shown {
            call,
            function: None,
        }
    }

    pub(crate) fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.call, &other.call)
    }
}

/// The arguments of a hook that is called as a function.
///
/// # Errors
///
/// `TypeError` for another number of them.
pub(crate) fn arguments<'a, const N: usize>(
    name: &str,
    given: &'a [Value],
) -> Result<&'a [Value; N]> {
    given
        .try_into()
        .map_err(|_| Error::type_error(format!("{name} takes {N} arguments, got {}", given.len())))
}

/// An argument of a hook that must be an object.
///
/// # Errors
///
/// `TypeError` for anything else.
pub(crate) fn object<'a>(name: &str, given: &'a Value) -> Result<&'a Ref<Obj>> {
    given
        .as_object()
        .ok_or_else(|| Error::type_error(format!("{name}: expected an object, got {given:?}")))
}
