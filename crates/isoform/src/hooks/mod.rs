//! What a type does in its own way: text, comparison by fields, keys of maps,
//! copies, conversion, traversal.
//!
//! Each hook is a type attribute. Its value is a [`Function`], so that either
//! language can give it and call it; what an engine calls is the compiled hook
//! in a cell of the type's entry, which costs one load to find.
//!
//! A hook given as a closure is exposed as a function, and a function is
//! adapted to a closure. The callback that some hooks get is a function too,
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

use std::cell::Cell;
use std::fmt;

pub use fields::{DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, DynRepr};
pub use keys::{DynKeyEqual, DynKeyHash};
pub use make::{DynConvert, DynCopy};
pub use traverse::{DynMutate, DynVisit, LentMutate, LentVisit, MutateCallback, VisitCallback};

use crate::container::Function;
use crate::error::{Error, ErrorKind, Result};
use crate::object::access;
use crate::object::published::Published;
use crate::object::reference::{Obj, Ref};
use crate::structural::MAX_HOOK_DEPTH;
use crate::value::{Value, ValueRef};

/// The hooks of one type, each readable without a lock.
#[derive(Default)]
pub(crate) struct HookCells {
    pub(crate) repr: Published<DynRepr>,
    pub(crate) recursive_equal: Published<DynRecursiveEqual>,
    pub(crate) recursive_compare: Published<DynRecursiveCompare>,
    pub(crate) recursive_hash: Published<DynRecursiveHash>,
    pub(crate) key_hash: Published<DynKeyHash>,
    pub(crate) key_equal: Published<DynKeyEqual>,
    pub(crate) copy: Published<DynCopy>,
    pub(crate) convert: Published<DynConvert>,
    pub(crate) visit: Published<DynVisit>,
    pub(crate) mutate: Published<DynMutate>,
}

impl fmt::Debug for HookCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCells").finish_non_exhaustive()
    }
}

/// Declares a hook: a closure, and the function that it was made of or is
/// shown as.
macro_rules! hook {
    (
        $(#[$doc:meta])*
        $name:ident($($argument:ty),*) -> $result:ty, $attribute:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            call: std::sync::Arc<dyn Fn($($argument),*) -> Result<$result> + Send + Sync>,
            /// The function it was made of, which is then its attribute.
            source: Option<Function>,
        }

        impl $name {
            /// The name of the attribute.
            pub const NAME: &'static str = $attribute;

            /// The hook around a closure.
            pub fn new(
                call: impl Fn($($argument),*) -> Result<$result> + Send + Sync + 'static,
            ) -> Self {
                $name { call: std::sync::Arc::new(call), source: None }
            }

            /// Whether both are one hook.
            #[allow(dead_code, reason = "used where a definition is compared with another")]
            pub(crate) fn same_as(&self, other: &Self) -> bool {
                std::sync::Arc::ptr_eq(&self.call, &other.call)
            }

            /// The hook that calls a function.
            pub fn from_function(function: Function) -> Self {
                let source = Some(function.clone());
                $name { source, ..$name::new(Self::adapter(function)) }
            }

            /// The hook as a function of values: what it was made of, or one
            /// that calls it.
            pub fn function(&self) -> Function {
                match &self.source {
                    Some(function) => function.clone(),
                    None => self.exposed(),
                }
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

/// Runs a hook outside of sections, unless hooks are nested too deeply.
///
/// # Errors
///
/// `RecursionError` naming the type and the hook; what the hook returns.
pub(crate) fn run<T>(
    name: &str,
    key: &str,
    hook: impl FnOnce() -> Result<T>,
) -> Result<T> {
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
    access::outside(hook)
}

/// The error for an answer of the wrong type.
#[cold]
fn wrong_result(object: &Ref<Obj>, hook: &str, expected: &str, got: &Value) -> Error {
    let key = object.type_info().key();
    let got = got.type_name();
    Error::type_error(format!("{key}.{hook}: expected {expected} as result, got {got}"))
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
fn word(number: &Value) -> Option<u64> {
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
