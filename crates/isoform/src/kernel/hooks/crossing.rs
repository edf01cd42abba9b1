//! Passes arguments and results of hooks between closures, which are typed, and
//! functions, which take and return values.

use std::cmp::Ordering;

use super::callbacks::GivenFunction;
use super::{EqualCallback, HashCallback, MutateCallback, VisitCallback};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::scoped::with_scoped;
use crate::kernel::types::{RegionChange, RegionKind};
use crate::kernel::value::{Value, ValueRef};

/// The arguments of a hook or callback called as a function, taken one after another;
/// omitted arguments are None.
pub(crate) struct Arguments<'v> {
    name: &'static str,
    given: &'v [Value],
    taken: usize,
}

impl<'v> Arguments<'v> {
    /// Checks the number of arguments.
    pub(crate) fn new(
        name: &'static str,
        given: &'v [Value],
        least: usize,
        most: usize,
    ) -> Result<Self> {
        if (least..=most).contains(&given.len()) {
            let taken = 0;
            return Ok(Arguments { name, given, taken });
        }
        let expected = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        let plural = if most == 1 { "" } else { "s" };
        Err(Error::type_error(format!(
            "{name}: expected {expected} argument{plural}, got {}",
            given.len()
        )))
    }

    pub(crate) fn value(&mut self) -> &'v Value {
        static NONE: Value = Value::NONE;
        self.taken += 1;
        self.given.get(self.taken - 1).unwrap_or(&NONE)
    }

    #[cold]
    fn mismatch(&self, expected: &str, got: &Value) -> Error {
        let (name, got) = (self.name, got.type_name());
        Error::type_error(format!(
            "{name}: expected {expected} as argument {}, got {got}",
            self.taken
        ))
    }

    fn object(&mut self) -> Result<&'v Ref<Obj>> {
        let given = self.value();
        match given.view() {
            ValueRef::Object(object) => Ok(object),
            _ => Err(self.mismatch("an object", given)),
        }
    }

    fn function(&mut self) -> Result<&'v Function> {
        let given = self.value();
        match given.view() {
            ValueRef::Function(function) => Ok(function),
            _ => Err(self.mismatch("a function", given)),
        }
    }

    pub(super) fn word(&mut self) -> Result<u64> {
        let given = self.value();
        word(given).ok_or_else(|| self.mismatch("an int", given))
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        let given = self.value();
        match given.view() {
            ValueRef::None => Ok(false),
            ValueRef::Bool(flag) => Ok(flag),
            _ => Err(self.mismatch("a bool", given)),
        }
    }

    /// The name of a step, or a mark for an unknown step if omitted.
    pub(super) fn step(&mut self) -> &'v str {
        self.value().as_str().unwrap_or("?")
    }

    /// The region of parts of a comparison or hash; the current region if omitted.
    pub(super) fn region_change(&mut self) -> Result<RegionChange> {
        let given = self.value();
        match given.view() {
            ValueRef::None => Ok(RegionChange::Inherit),
            ValueRef::Bool(flag) => RegionChange::from_number(i64::from(flag)),
            ValueRef::Int(number) => RegionChange::from_number(number),
            _ => Err(Error::type_error(format!(
                "def_region: expected a bool or an int, got {}",
                given.type_name()
            ))),
        }
    }

    /// The kind of region of a part of a walk or rewrite, if one is given.
    pub(super) fn region(&mut self) -> Result<Option<RegionKind>> {
        let given = self.value();
        match given.view() {
            ValueRef::None => Ok(None),
            ValueRef::Int(0) => Ok(Some(RegionKind::Use)),
            ValueRef::Int(1) => Ok(Some(RegionKind::Def)),
            ValueRef::Int(2) => Ok(Some(RegionKind::DefSimple)),
            ValueRef::Int(other) => Err(Error::value_error(format!(
                "{}: expected 0 (use), 1 (def) or 2 (def-simple), got {other}",
                self.name
            ))),
            _ => Err(self.mismatch("an int", given)),
        }
    }
}

/// An argument of a hook, borrowed for `'s`.
pub(crate) trait Argument<'s>: Sized {
    /// The argument of a function call, ready to be borrowed.
    type HookArgument<'v>;

    /// Runs `body` with the argument as a value. A callback works only while `body`
    /// runs; `name` is the name of the argument.
    fn scoped<R>(self, hook: &'static str, name: &'static str, body: impl FnOnce(Value) -> R) -> R;

    /// Takes the next argument of a function.
    ///
    /// # Errors
    ///
    /// `TypeError` if it has another type.
    fn take<'v>(given: &mut Arguments<'v>, name: &'static str) -> Result<Self::HookArgument<'v>>;

    fn of<'v: 's>(given: &'s mut Self::HookArgument<'v>) -> Self;
}

impl<'s> Argument<'s> for &'s Ref<Obj> {
    type HookArgument<'v> = &'v Ref<Obj>;

    fn scoped<R>(self, _: &'static str, _: &'static str, body: impl FnOnce(Value) -> R) -> R {
        body(self.into())
    }

    fn take<'v>(given: &mut Arguments<'v>, _: &'static str) -> Result<&'v Ref<Obj>> {
        given.object()
    }

    fn of<'v: 's>(given: &'s mut &'v Ref<Obj>) -> Self {
        given
    }
}

impl<'s> Argument<'s> for &'s Value {
    type HookArgument<'v> = &'v Value;

    fn scoped<R>(self, _: &'static str, _: &'static str, body: impl FnOnce(Value) -> R) -> R {
        body(self.clone())
    }

    fn take<'v>(given: &mut Arguments<'v>, _: &'static str) -> Result<&'v Value> {
        Ok(given.value())
    }

    fn of<'v: 's>(given: &'s mut &'v Value) -> Self {
        given
    }
}

impl<'s> Argument<'s> for u64 {
    type HookArgument<'v> = u64;

    fn scoped<R>(self, _: &'static str, _: &'static str, body: impl FnOnce(Value) -> R) -> R {
        body(self.into())
    }

    fn take<'v>(given: &mut Arguments<'v>, _: &'static str) -> Result<u64> {
        given.word()
    }

    fn of<'v: 's>(given: &'s mut u64) -> Self {
        *given
    }
}

macro_rules! callback_arguments {
    ($($callback:ident),*) => {$(
        impl<'s> Argument<'s> for &'s mut (dyn $callback + 's) {
            type HookArgument<'v> = GivenFunction<'v>;

            fn scoped<R>(
                self,
                hook: &'static str,
                _: &'static str,
                body: impl FnOnce(Value) -> R,
            ) -> R {
                with_scoped(hook, self, |scoped| body(scoped.function().into()))
            }

            fn take<'v>(given: &mut Arguments<'v>, _: &'static str) -> Result<GivenFunction<'v>> {
                given.function().map(GivenFunction)
            }

            fn of<'v: 's>(given: &'s mut GivenFunction<'v>) -> Self {
                given
            }
        }
    )*};
}
callback_arguments!(EqualCallback, HashCallback, VisitCallback, MutateCallback);

macro_rules! closure_arguments {
    ($($count:literal: ($($part:ident $value:ty),*);)*) => {$(
        impl<'s, R: Answer> Argument<'s> for &'s mut (dyn FnMut($($value),*) -> Result<R> + 's) {
            type HookArgument<'v> = Box<dyn FnMut($($value),*) -> Result<R> + 'v>;

            fn scoped<T>(
                self,
                hook: &'static str,
                name: &'static str,
                body: impl FnOnce(Value) -> T,
            ) -> T {
                let mut call = |given: &[Value]| {
                    let mut given = Arguments::new(name, given, $count, $count)?;
                    $(let $part = given.value();)*
                    self($($part),*).map(R::show)
                };
                let call: &mut dyn FnMut(&[Value]) -> Result<Value> = &mut call;
                with_scoped(hook, call, |scoped| body(scoped.function().into()))
            }

            fn take<'v>(
                given: &mut Arguments<'v>,
                name: &'static str,
            ) -> Result<Self::HookArgument<'v>> {
                let function = given.function()?;
                Ok(Box::new(move |$($part: $value),*| {
                    let given = [$($part.clone()),*];
                    ask(function, name, &given)
                }))
            }

            fn of<'v: 's>(given: &'s mut Self::HookArgument<'v>) -> Self {
                &mut **given
            }
        }
    )*};
}
closure_arguments! {
    1: (part &Value);
    2: (left &Value, right &Value);
}

/// Calls the function that represents a callback.
pub(super) fn ask<R: Answer>(function: &Function, name: &str, given: &[Value]) -> Result<R> {
    let answer = function.call(given)?;
    R::read(&answer).ok_or_else(|| wrong_result(name, R::EXPECTED, &answer))
}

/// The error for a result of the wrong type.
#[cold]
pub(super) fn wrong_result(place: &str, expected: &str, got: &Value) -> Error {
    let got = got.type_name();
    Error::type_error(format!("{place}: expected {expected} as result, got {got}"))
}

/// The first argument of a hook, named by the hook's errors.
pub(super) trait Subject {
    fn place(&self, hook: &str) -> String;
}

impl Subject for &Ref<Obj> {
    fn place(&self, hook: &str) -> String {
        format!("{}.{hook}", self.type_info().key())
    }
}

impl Subject for &Value {
    fn place(&self, hook: &str) -> String {
        hook.to_owned()
    }
}

/// The result of a hook or of a callback.
pub(crate) trait Answer: Sized {
    const EXPECTED: &'static str;

    fn show(self) -> Value;

    /// None for a value of another type.
    fn read(value: &Value) -> Option<Self>;
}

macro_rules! answers {
    ($($ty:ty, $expected:literal, $show:expr, $read:expr;)*) => {$(
        impl Answer for $ty {
            const EXPECTED: &'static str = $expected;

            fn show(self) -> Value {
                let show: fn(Self) -> Value = $show;
                show(self)
            }

            fn read(value: &Value) -> Option<Self> {
                let read: fn(&Value) -> Option<Self> = $read;
                read(value)
            }
        }
    )*};
}
answers! {
    (), "nothing", |()| Value::NONE, |_| Some(());
    bool, "a bool", Value::from, Value::as_bool;
    // The bits, since the ints of values are signed.
    u64, "an int", |word| Value::from(word as i64), word;
    String, "a str", |text| Value::from(&*text), |text| text.as_str().map(str::to_owned);
    Ordering, "an int", |order| Value::from(order as i64), ordering;
    Value, "a value", |value| value, |value| Some(value.clone());
    Option<Value>, "a value", Option::unwrap_or_default,
        |end| Some((!end.is_none()).then(|| end.clone()));
    Ref<Obj>, "an object", Value::from, |object| object.as_object().cloned();
}

/// The low 64 bits of an int.
fn word(number: &Value) -> Option<u64> {
    match number.view() {
        ValueRef::Int(number) => Some(number as u64),
        ValueRef::BigInt(number) => {
            let low = number.iter_u64_digits().next().unwrap_or(0);
            // The digits belong to the absolute value.
            Some(match number.sign() {
                num_bigint::Sign::Minus => low.wrapping_neg(),
                _ => low,
            })
        }
        _ => None,
    }
}

/// The order represented by the sign of an int.
fn ordering(number: &Value) -> Option<Ordering> {
    match number.view() {
        ValueRef::Int(number) => Some(number.cmp(&0)),
        ValueRef::BigInt(number) => Some(match number.sign() {
            num_bigint::Sign::Minus => Ordering::Less,
            _ => Ordering::Greater,
        }),
        _ => None,
    }
}
