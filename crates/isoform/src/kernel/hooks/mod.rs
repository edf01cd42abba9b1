//! What a type does in its own way: text, comparison by fields, keys of maps,
//! copies, conversion, traversal.
//!
//! Each hook is a type attribute. Its value is a [`Function`], so that either
//! language can give it and call it; what an engine calls is the compiled hook
//! in a cell of the type's entry, which costs one load to find.
//!
//! A hook made of a closure is shown as a function, and a function is adapted
//! to a closure. The callback that some hooks get is a function too,
//! valid only while the hook runs (`object/lend.rs`).
//!
//! The cells hold hooks of exactly their type, as `__s_equal__` does: whether
//! a type that extends another one has its hooks is decided where it is
//! registered. Python classes inherit them as they inherit methods.
//!
//! Hooks run outside of sections and locks, and nest at most
//! [`MAX_HOOK_DEPTH`] levels deep.

mod fields;
mod keys;
mod make;
mod traverse;
mod verify;

use std::cell::Cell;

pub use fields::{DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, DynRepr};
pub use keys::{DynKeyEqual, DynKeyHash};
pub use make::{DynConvert, DynCopy};
pub use traverse::{DynMutate, DynVisit, LentMutate, LentVisit, MutateCallback, VisitCallback};
pub(crate) use traverse::{has_traversal_hooks, note_traversal_hooks};
pub use verify::{DynVerify, Verify};

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::function::Function;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::{Value, ValueRef};

/// How deeply custom comparisons and hashes may nest: each level is a call of
/// user code on the native stack.
pub const MAX_HOOK_DEPTH: u32 = 200;

/// Declares a hook: a closure, and the function that it was made of or is
/// shown as.
macro_rules! hook {
    (
        $(#[$doc:meta])*
        $name:ident($($argument:ty),*) -> $result:ty
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(
            crate::kernel::types::Shown<dyn Fn($($argument),*) -> Result<$result> + Send + Sync>,
        );

        impl $name {
            /// The hook around a closure.
            pub fn new(
                call: impl Fn($($argument),*) -> Result<$result> + Send + Sync + 'static,
            ) -> Self {
                $name(crate::kernel::types::Shown::new(std::sync::Arc::new(call)))
            }

            /// Sets the function that shows the hook as an attribute.
            #[must_use]
            pub fn shown_as(mut self, function: Function) -> Self {
                self.0.function = Some(function);
                self
            }
        }

        impl crate::kernel::types::Compiled for $name {
            fn from_function(function: &Function) -> Result<Self> {
                if let Some(hook) = function.content::<$name>() {
                    return Ok(hook.clone());
                }
                let mut hook = $name::new(Self::adapter(function.clone()));
                hook.0.function = Some(function.clone());
                Ok(hook)
            }

            fn function(&self) -> Function {
                let shown = || Function::with_content(self.clone(), Self::call_as_function);
                self.0.function.clone().unwrap_or_else(shown)
            }

            fn is_same(&self, other: &Self) -> bool {
                self.0.same_as(&other.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}
use hook;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs a hook outside of the section, unless hooks are nested too deeply.
///
/// # Errors
///
/// `RecursionError` naming the type and the hook; what the hook returns.
pub(crate) fn run<T>(
    section: &mut Section,
    name: &str,
    key: &str,
    hook: impl FnOnce() -> Result<T>,
) -> Result<T> {
    nested(name, key, || access::outside(section, hook))
}

/// As [`run`], for code that is in no section.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn run_outside<T>(name: &str, key: &str, hook: impl FnOnce() -> Result<T>) -> Result<T> {
    nested(name, key, || access::calling(hook))
}

fn nested<T>(name: &str, key: &str, hook: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    if DEPTH.get() >= MAX_HOOK_DEPTH {
        return Err(Error::new(
            ErrorKind::Recursion,
            format!("{key}.{name}: hooks nest deeper than {MAX_HOOK_DEPTH} levels"),
        ));
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    hook()
}

/// The error for an answer of the wrong type.
#[cold]
pub(crate) fn wrong_result(object: &Ref<Obj>, hook: &str, expected: &str, got: &Value) -> Error {
    let key = object.type_info().key();
    let got = got.type_name();
    Error::type_error(format!(
        "{key}.{hook}: expected {expected} as result, got {got}"
    ))
}

/// The arguments of a hook that is called as a function.
struct Arguments<'a> {
    hook: &'static str,
    given: &'a [Value],
}

impl<'a> Arguments<'a> {
    /// Checks how many there are.
    fn new(hook: &'static str, given: &'a [Value], least: usize, most: usize) -> Result<Self> {
        if (least..=most).contains(&given.len()) {
            return Ok(Arguments { hook, given });
        }
        let expected = match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        };
        let plural = if most == 1 { "" } else { "s" };
        Err(Error::type_error(format!(
            "{hook}: expected {expected} argument{plural}, got {}",
            given.len()
        )))
    }

    fn get(&self, position: usize) -> &'a Value {
        static NONE: Value = Value::NONE;
        self.given.get(position).unwrap_or(&NONE)
    }

    #[cold]
    fn mismatch(&self, position: usize, expected: &str) -> Error {
        let got = self.get(position).type_name();
        Error::type_error(format!(
            "{}: expected {expected} as argument {}, got {got}",
            self.hook,
            position + 1
        ))
    }

    fn object(&self, position: usize) -> Result<&'a Ref<Obj>> {
        match self.get(position).view() {
            ValueRef::Object(object) => Ok(object),
            _ => Err(self.mismatch(position, "an object")),
        }
    }

    fn function(&self, position: usize) -> Result<&'a Function> {
        match self.get(position).view() {
            ValueRef::Function(function) => Ok(function),
            _ => Err(self.mismatch(position, "a function")),
        }
    }
}

/// An unsigned number as an int: its bits, since ints of values are signed.
fn from_word(word: u64) -> Value {
    Value::from(word as i64)
}

/// The low 64 bits of an int.
pub(crate) fn word(number: &Value) -> Option<u64> {
    match number.view() {
        ValueRef::Int(number) => Some(number as u64),
        ValueRef::BigInt(number) => {
            let low = number.iter_u64_digits().next().unwrap_or(0);
            // The digits are those of the absolute value.
            Some(match number.sign() {
                num_bigint::Sign::Minus => low.wrapping_neg(),
                _ => low,
            })
        }
        _ => None,
    }
}
