//! Hooks of the keys of maps and dicts.

use super::{Arguments, from_word, hook, word, wrong_result};
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Hook;
use crate::kernel::value::Value;

hook! {
    /// `__any_hash__(self) -> int`: the hash of an object as the key of a map
    /// or dict. Needs a [`DynKeyEqual`]; equal keys must have the same hash.
    ///
    /// ```
    /// use isoform::{DynKeyEqual, DynKeyHash, FieldDef, Map, Schema, TypeDef, Value};
    /// use isoform::{construct, get_field, register_type, attrs};
    ///
    /// let id = register_type(TypeDef::new("doc.Id").field(FieldDef::new("n", Schema::Int)))?;
    /// attrs::set_hook(
    ///     id,
    ///     DynKeyHash::new(|id| Ok(get_field(id, "n")?.as_int().unwrap_or(0) as u64)),
    ///     false,
    /// )?;
    /// attrs::set_hook(
    ///     id,
    ///     DynKeyEqual::new(|l, r| Ok(get_field(l, "n")? == get_field(r, "n")?)),
    ///     false,
    /// )?;
    /// let key = |n: i64| construct(id, vec![n.into()]).map(Value::from);
    /// let mut map = Map::new();
    /// map.try_insert(key(1)?, Value::from("one"))?;
    /// assert_eq!(map.try_get(&key(1)?)?, Some(&Value::from("one")));
    /// assert_eq!(map.try_get(&key(2)?)?, None);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    DynKeyHash(&Ref<Obj>) -> u64
}

impl DynKeyHash {
    pub(crate) fn call(&self, object: &Ref<Obj>) -> Result<u64> {
        (self.0.call)(object)
    }

    fn adapter(function: Function) -> impl Fn(&Ref<Obj>) -> Result<u64> {
        move |object| {
            let hash = function.call(&[object.into()])?;
            word(&hash).ok_or_else(|| wrong_result(object, DynKeyHash::NAME, "an int", &hash))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynKeyHash::NAME, given, 1, 1)?;
        self.call(given.object(0)?).map(from_word)
    }
}

hook! {
    /// `__any_equal__(self, other) -> bool`: whether two objects of one type
    /// are the same key of a map or dict. Needs a [`DynKeyHash`]. It is not
    /// asked about an object and itself.
    DynKeyEqual(&Ref<Obj>, &Ref<Obj>) -> bool
}

impl DynKeyEqual {
    pub(crate) fn call(&self, left: &Ref<Obj>, right: &Ref<Obj>) -> Result<bool> {
        (self.0.call)(left, right)
    }

    fn adapter(function: Function) -> impl Fn(&Ref<Obj>, &Ref<Obj>) -> Result<bool> {
        move |left, right| {
            let equal = function.call(&[left.into(), right.into()])?;
            equal
                .as_bool()
                .ok_or_else(|| wrong_result(left, DynKeyEqual::NAME, "a bool", &equal))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynKeyEqual::NAME, given, 2, 2)?;
        self.call(given.object(0)?, given.object(1)?)
            .map(Value::from)
    }
}
