//! Hooks of the algorithms that go by declared fields: text, equality, order
//! and hash.

use std::cmp::Ordering;

use super::{Arguments, from_word, hook, word, wrong_result};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::lend::lend_function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Hook;
use crate::kernel::value::Value;

/// What a hook asks about one part.
type OfPart<'a, R> = dyn FnMut(&Value) -> Result<R> + 'a;

/// What a hook asks about two parts, one of each object.
type OfParts<'a, R> = dyn FnMut(&Value, &Value) -> Result<R> + 'a;

hook! {
    /// `__ffi_repr__(self, fn_repr) -> str`: the text of an object. `fn_repr`
    /// gives the text of a part.
    ///
    /// ```
    /// use isoform::{DynRepr, FieldDef, Schema, TypeDef, Value};
    /// use isoform::{construct, get_field, register_type, repr, attrs};
    ///
    /// let neg = register_type(TypeDef::new("doc.Neg").field(FieldDef::new("x", Schema::Any)))?;
    /// let text = DynRepr::new(|neg, part| Ok(format!("-{}", part(&get_field(neg, "x")?)?)));
    /// attrs::set_hook(neg, text, false)?;
    /// let value = construct(neg, vec![construct(neg, vec![1.into()])?.into()])?;
    /// assert_eq!(repr(&value.into()), "--1");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    DynRepr(&Ref<Obj>, &mut OfPart<'_, String>) -> String
}

impl DynRepr {
    pub(crate) fn call(&self, object: &Ref<Obj>, part: &mut OfPart<'_, String>) -> Result<String> {
        (self.0.call)(object, part)
    }

    fn adapter(
        function: Function,
    ) -> impl Fn(&Ref<Obj>, &mut OfPart<'_, String>) -> Result<String> {
        move |object, part| {
            let mut call = |given: &[Value]| {
                let given = Arguments::new("fn_repr", given, 1, 1)?;
                part(given.get(0)).map(|text| Value::from(&*text))
            };
            let text = lend_function(DynRepr::NAME, &mut call, |part| {
                function.call(&[object.into(), part])
            })?;
            match text.as_str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(wrong_result(object, DynRepr::NAME, "a str", &text)),
            }
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynRepr::NAME, given, 2, 2)?;
        let part = given.function(1)?;
        let mut call = |value: &Value| {
            let text = part.call(std::slice::from_ref(value))?;
            match text.as_str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(not_a("fn_repr", "a str", &text)),
            }
        };
        self.call(given.object(0)?, &mut call)
            .map(|text| Value::from(&*text))
    }
}

hook! {
    /// `__ffi_eq__(self, other, cmp) -> bool`: whether two objects of one type
    /// are equal for [`recursive_eq`](crate::recursive_eq). `cmp` compares two
    /// parts.
    ///
    /// A type with this hook or with [`DynRecursiveCompare`] needs a
    /// [`DynRecursiveHash`] to be hashed.
    DynRecursiveEqual(
        &Ref<Obj>,
        &Ref<Obj>,
        &mut OfParts<'_, bool>
    ) -> bool
}

impl DynRecursiveEqual {
    pub(crate) fn call(
        &self,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        parts: &mut OfParts<'_, bool>,
    ) -> Result<bool> {
        (self.0.call)(left, right, parts)
    }

    fn adapter(
        function: Function,
    ) -> impl Fn(&Ref<Obj>, &Ref<Obj>, &mut OfParts<'_, bool>) -> Result<bool> {
        move |left, right, parts| {
            let mut call = |given: &[Value]| {
                let given = Arguments::new("cmp", given, 2, 2)?;
                parts(given.get(0), given.get(1)).map(Value::from)
            };
            let equal = lend_function(DynRecursiveEqual::NAME, &mut call, |parts| {
                function.call(&[left.into(), right.into(), parts])
            })?;
            equal
                .as_bool()
                .ok_or_else(|| wrong_result(left, DynRecursiveEqual::NAME, "a bool", &equal))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynRecursiveEqual::NAME, given, 3, 3)?;
        let parts = given.function(2)?;
        let mut call = |left: &Value, right: &Value| {
            let equal = parts.call(&[left.clone(), right.clone()])?;
            equal
                .as_bool()
                .ok_or_else(|| not_a("cmp", "a bool", &equal))
        };
        self.call(given.object(0)?, given.object(1)?, &mut call)
            .map(Value::from)
    }
}

hook! {
    /// `__ffi_compare__(self, other, cmp) -> int`: which of two objects of one
    /// type comes first for [`recursive_cmp`](crate::recursive_cmp): below
    /// zero the left one, above zero the right one. `cmp` orders two parts.
    ///
    /// Equality asks it too, of types without [`DynRecursiveEqual`].
    DynRecursiveCompare(
        &Ref<Obj>,
        &Ref<Obj>,
        &mut OfParts<'_, Ordering>
    ) -> Ordering
}

impl DynRecursiveCompare {
    pub(crate) fn call(
        &self,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        parts: &mut OfParts<'_, Ordering>,
    ) -> Result<Ordering> {
        (self.0.call)(left, right, parts)
    }

    fn adapter(
        function: Function,
    ) -> impl Fn(&Ref<Obj>, &Ref<Obj>, &mut OfParts<'_, Ordering>) -> Result<Ordering> {
        move |left, right, parts| {
            let mut call = |given: &[Value]| {
                let given = Arguments::new("cmp", given, 2, 2)?;
                parts(given.get(0), given.get(1)).map(|order| Value::from(order as i64))
            };
            let order = lend_function(DynRecursiveCompare::NAME, &mut call, |parts| {
                function.call(&[left.into(), right.into(), parts])
            })?;
            ordering(&order)
                .ok_or_else(|| wrong_result(left, DynRecursiveCompare::NAME, "an int", &order))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynRecursiveCompare::NAME, given, 3, 3)?;
        let parts = given.function(2)?;
        let mut call = |left: &Value, right: &Value| {
            let order = parts.call(&[left.clone(), right.clone()])?;
            ordering(&order).ok_or_else(|| not_a("cmp", "an int", &order))
        };
        self.call(given.object(0)?, given.object(1)?, &mut call)
            .map(|order| Value::from(order as i64))
    }
}

hook! {
    /// `__ffi_hash__(self, fn_hash) -> int`: the hash of an object for
    /// [`recursive_hash`](crate::recursive_hash). `fn_hash` gives the hash of
    /// a part. As a function it works with the bits of the hash as a signed
    /// int.
    DynRecursiveHash(&Ref<Obj>, &mut OfPart<'_, u64>) -> u64
}

impl DynRecursiveHash {
    pub(crate) fn call(&self, object: &Ref<Obj>, part: &mut OfPart<'_, u64>) -> Result<u64> {
        (self.0.call)(object, part)
    }

    fn adapter(function: Function) -> impl Fn(&Ref<Obj>, &mut OfPart<'_, u64>) -> Result<u64> {
        move |object, part| {
            let mut call = |given: &[Value]| {
                let given = Arguments::new("fn_hash", given, 1, 1)?;
                part(given.get(0)).map(from_word)
            };
            let hash = lend_function(DynRecursiveHash::NAME, &mut call, |part| {
                function.call(&[object.into(), part])
            })?;
            word(&hash).ok_or_else(|| wrong_result(object, DynRecursiveHash::NAME, "an int", &hash))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynRecursiveHash::NAME, given, 2, 2)?;
        let part = given.function(1)?;
        let mut call = |value: &Value| {
            let hash = part.call(std::slice::from_ref(value))?;
            word(&hash).ok_or_else(|| not_a("fn_hash", "an int", &hash))
        };
        self.call(given.object(0)?, &mut call).map(from_word)
    }
}

/// The order that the sign of an int stands for.
fn ordering(number: &Value) -> Option<Ordering> {
    match number.view() {
        crate::kernel::value::ValueRef::Int(number) => Some(number.cmp(&0)),
        crate::kernel::value::ValueRef::BigInt(number) => Some(match number.sign() {
            num_bigint::Sign::Minus => Ordering::Less,
            _ => Ordering::Greater,
        }),
        _ => None,
    }
}

/// The error for a callback that answers with something else.
#[cold]
fn not_a(callback: &str, expected: &str, got: &Value) -> Error {
    let got = got.type_name();
    Error::type_error(format!(
        "{callback}: expected {expected} as result, got {got}"
    ))
}
