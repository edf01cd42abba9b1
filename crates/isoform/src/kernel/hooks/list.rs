//! All hooks: their arguments, their results, and the attributes representing the
//! hooks.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::crossing::{Answer, Argument, Arguments, Subject, wrong_result};
use super::declare::{Code, Hook, call_scoped, compile, first, hooks};
use super::{EqualCallback, HashCallback, HookEpochs, MutateCallback, VisitCallback};
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::published::Published;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

hooks! {
    /// `__s_equal__(self, other, eq_cb) -> bool`: structural equality of two objects of
    /// one type. See [`StructuralEqual`](crate::hooks::StructuralEqual) for the use of the
    /// callback.
    equal: DynEqual(left: &Ref<Obj>, right: &Ref<Obj>, eq_cb: &mut dyn EqualCallback) -> bool
        = "__s_equal__",
        "Structural equality: `(self, other, equal)`, with `equal(left, right, region, name)` for \
         the parts, returns a bool.";

    /// `__s_hash__(self, init, hash_cb) -> int`: the structural hash of an object. See
    /// [`StructuralHash`](crate::hooks::StructuralHash) for the use of the callback.
    hash: DynHash(
        object: &Ref<Obj>,
        init: u64,
        hash_cb: &mut dyn HashCallback,
    ) -> u64 as Value::from
        = "__s_hash__",
        "Structural hash: `(self, init, hash)`, with `hash(value, init, region)` for the parts, \
         returns an int.";

    /// `__verify__(self)`: the check by [`verify`](crate::objects::verify()) of objects
    /// of a type and of extending types; an error describes a problem.
    verify: DynVerify(object: &Ref<Obj>) -> ()
        = "__verify__",
        "Verification of an object: `(self)` raises if the object is invalid.";

    /// Writes data to a file in place of an object's fields.
    ///
    /// The function returns JSON data: None, a bool, a number, a string, or an array or
    /// map (with string keys) of these.
    ///
    /// The type also needs a [`DynFromJson`].
    ///
    /// ```
    /// use isoform::Value;
    /// use isoform::files::{from_json_graph, to_json_graph};
    /// use isoform::hooks::{DynFromJson, DynToJson};
    /// use isoform::objects::{construct, field_value};
    /// use isoform::types::{FieldDef, Schema, TypeDef, find_type, register_type};
    ///
    /// let celsius = TypeDef::new("doc.Celsius")
    ///     .field(FieldDef::new("degrees", Schema::Int))
    ///     .hook(DynToJson::new(|object| field_value(object, "degrees")))
    ///     .hook(DynFromJson::new(|data| {
    ///         let index = find_type("doc.Celsius").expect("registered").index();
    ///         construct(index, vec![data.clone()])
    ///     }));
    /// let warm = Value::from(construct(register_type(celsius)?, vec![21.into()])?);
    /// let text = to_json_graph(&warm)?;
    /// assert_eq!(text, r#"{"root_index":0,"nodes":[{"type":"doc.Celsius","data":21}]}"#);
    /// let read = from_json_graph(&text)?;
    /// assert!(isoform::structural_equal(&read, &warm)?);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    to_json: DynToJson(object: &Ref<Obj>) -> Value
        = "__data_to_json__",
        "The data of an object in files: `(self)` returns JSON data.";

    /// Makes the object from the data returned by [`DynToJson`].
    from_json: DynFromJson(data: &Value) -> Ref<Obj>
        = "__data_from_json__",
        "The object for JSON data: `(data)` returns an object of the type.";

    /// `__ffi_repr__(self, fn_repr) -> str`: the text of an object. `fn_repr` returns
    /// the text of a part.
    ///
    /// ```
    /// use isoform::hooks::DynRepr;
    /// use isoform::types::{FieldDef, Schema, TypeDef};
    /// use isoform::attrs;
    /// use isoform::objects::{construct, field_value, repr};
    /// use isoform::types::register_type;
    ///
    /// let neg = register_type(TypeDef::new("doc.Neg").field(FieldDef::new("x", Schema::Any)))?;
    /// let text = DynRepr::new(|neg, part| Ok(format!("-{}", part(&field_value(neg, "x")?)?)));
    /// attrs::set_hook(neg, text, false)?;
    /// let value = construct(neg, vec![construct(neg, vec![1.into()])?.into()])?;
    /// assert_eq!(repr(value), "--1");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    repr: DynRepr(
        object: &Ref<Obj>,
        fn_repr: &mut dyn FnMut(&Value) -> Result<String>,
    ) -> String
        = "__ffi_repr__",
        "The text of an object: `(self, fn_repr)`, with `fn_repr(value)` for the parts, returns \
         a str.";

    /// `__ffi_eq__(self, other, cmp) -> bool`: returns whether two objects of one type
    /// are equal for [`recursive_eq`](crate::compare::recursive_eq). `cmp` compares two parts.
    ///
    /// A type with this hook or with [`DynRecursiveCompare`] also needs a
    /// [`DynRecursiveHash`] to be hashed.
    recursive_equal: DynRecursiveEqual(
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        cmp: &mut dyn FnMut(&Value, &Value) -> Result<bool>,
    ) -> bool
        = "__ffi_eq__",
        "Equality by fields: `(self, other, cmp)`, with `cmp(left, right)` for the parts, returns \
         a bool.";

    /// `__ffi_compare__(self, other, cmp) -> int`: the order of two objects of one type
    /// for [`recursive_cmp`](crate::compare::recursive_cmp): negative if the left
    /// object comes first, positive if the right object does. `cmp` orders two parts.
    ///
    /// Also decides equality for types without [`DynRecursiveEqual`].
    recursive_compare: DynRecursiveCompare(
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        cmp: &mut dyn FnMut(&Value, &Value) -> Result<Ordering>,
    ) -> Ordering
        = "__ffi_compare__",
        "Order by fields: `(self, other, cmp)`, with `cmp(left, right)` for the parts, returns an \
         int below, at or above zero.";

    /// `__ffi_hash__(self, fn_hash) -> int`: the hash of an object for
    /// [`recursive_hash`](crate::compare::recursive_hash). `fn_hash` returns the hash
    /// of a part. As a function, the hook represents the bits of the hash as a signed
    /// int.
    recursive_hash: DynRecursiveHash(
        object: &Ref<Obj>,
        fn_hash: &mut dyn FnMut(&Value) -> Result<u64>,
    ) -> u64
        = "__ffi_hash__",
        "Hash by fields: `(self, fn_hash)`, with `fn_hash(value)` for the parts, returns an int.";

    /// `__any_hash__(self) -> int`: the hash of an object as the key of a map
    /// or dict. Needs a [`DynKeyEqual`]; equal keys must have the same hash.
    ///
    /// ```
    /// use isoform::{Map, Value, attrs};
    /// use isoform::hooks::{DynKeyEqual, DynKeyHash};
    /// use isoform::objects::{construct, field_value};
    /// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
    ///
    /// let id = register_type(TypeDef::new("doc.Id").field(FieldDef::new("n", Schema::Int)))?;
    /// attrs::set_hook(
    ///     id,
    ///     DynKeyHash::new(|id| Ok(field_value(id, "n")?.as_int().unwrap_or(0) as u64)),
    ///     false,
    /// )?;
    /// attrs::set_hook(
    ///     id,
    ///     DynKeyEqual::new(|l, r| Ok(field_value(l, "n")? == field_value(r, "n")?)),
    ///     false,
    /// )?;
    /// let key = |n: i64| construct(id, vec![n.into()]).map(Value::from);
    /// let mut map = Map::new();
    /// map.try_insert(key(1)?, Value::from("one"))?;
    /// assert_eq!(map.try_get(&key(1)?)?, Some(&Value::from("one")));
    /// assert_eq!(map.try_get(&key(2)?)?, None);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    key_hash: DynKeyHash(object: &Ref<Obj>) -> u64
        = "__any_hash__",
        "The hash of an object as the key of a map or dict: `(self)` returns an int.";

    /// `__any_equal__(self, other) -> bool`: returns whether two objects of one type
    /// are the same key of a map or dict. Needs a [`DynKeyHash`]. An object is never
    /// compared with itself by this hook.
    key_equal: DynKeyEqual(left: &Ref<Obj>, right: &Ref<Obj>) -> bool
        = "__any_equal__",
        "Equality of two objects as keys of a map or dict: `(self, other)` returns a bool.";

    /// `__ffi_shallow_copy__(self)`: a copy of one object, for
    /// [`shallow_copy`](crate::traverse::shallow_copy). It must have the same type.
    copy: DynCopy(object: &Ref<Obj>) -> Value
        = "__ffi_shallow_copy__",
        "A copy of one object: `(self)` returns an object of the type.";

    /// `__ffi_convert__(value)`: converts a value of another kind to an object of the
    /// type, for fields of the type.
    ///
    /// To reject a value, the hook returns an error of kind
    /// [`Type`](crate::errors::ErrorKind::Type) or
    /// [`Value`](crate::errors::ErrorKind::Value); other errors propagate unchanged.
    ///
    /// ```
    /// use isoform::hooks::DynConvert;
    /// use isoform::types::{FieldDef, Schema, TypeDef};
    /// use isoform::attrs;
    /// use isoform::objects::construct;
    /// use isoform::types::register_type;
    ///
    /// let name = register_type(TypeDef::new("doc.Name").field(FieldDef::new("text", Schema::Str)))?;
    /// let convert = DynConvert::new(move |value| Ok(construct(name, vec![value.clone()])?.into()));
    /// attrs::set_hook(name, convert, false)?;
    /// let tag = TypeDef::new("doc.Tag").field(FieldDef::new("name", Schema::named("doc.Name")));
    /// let tag = register_type(tag)?;
    /// assert!(construct(tag, vec!["x".into()]).is_ok());
    /// assert_eq!(
    ///     construct(tag, vec![1.into()]).expect_err("no name").message(),
    ///     "doc.Tag.name: expected doc.Name, got int (doc.Name.__ffi_convert__: \
    ///      doc.Name.text: expected str, got int)"
    /// );
    /// # Ok::<(), isoform::Error>(())
    /// ```
    convert: DynConvert(value: &Value) -> Value
        = "__ffi_convert__",
        "Conversion of another value to the type, for fields: `(value)` returns an object.";

    /// `__s_visit__(self, visitor)`: visits the parts of an object for
    /// [`structural_walk`](crate::traverse::structural_walk) and related functions,
    /// instead of its fields. Callbacks are called for the object as for any other
    /// object. Returns None, or the value ending the walk: the result of the visitor,
    /// or another value.
    ///
    /// As a function, the visitor takes a part, the number of a kind of region (or
    /// None), and a flag to visit only the children of the part.
    ///
    /// ```
    /// use isoform::attrs;
    /// use isoform::hooks::DynVisit;
    /// use isoform::objects::{construct, field_value};
    /// use isoform::traverse::{WalkResult, structural_walk};
    /// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
    ///
    /// let pair = TypeDef::new("doc.LastFirst")
    ///     .field(FieldDef::new("a", Schema::Int))
    ///     .field(FieldDef::new("b", Schema::Int));
    /// let pair = register_type(pair)?;
    /// let visit = DynVisit::new(|pair, visitor| match visitor.visit(&field_value(pair, "b")?)? {
    ///     None => visitor.visit(&field_value(pair, "a")?),
    ///     end => Ok(end),
    /// });
    /// attrs::set_hook(pair, visit, false)?;
    /// let mut met = Vec::new();
    /// structural_walk(construct(pair, vec![1.into(), 2.into()])?, |visit| {
    ///     met.extend(visit.value().as_int());
    ///     Ok(WalkResult::<()>::Advance)
    /// })?;
    /// assert_eq!(met, [2, 1]);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    visit: DynVisit(object: &Ref<Obj>, visitor: &mut dyn VisitCallback) -> Option<Value>
        = "__s_visit__",
        "Structural walk: `(self, visitor)` visits the parts, and returns None or the value that \
         ended the walk.";

    /// `__s_mutate__(self, mutator)`: the replacement of an object in
    /// [`structural_map`](crate::traverse::structural_map) and related functions,
    /// instead of rewriting its fields. Callbacks are called for the object as for any
    /// other object.
    ///
    /// As a function, the mutator takes the same arguments as the visitor of
    /// [`DynVisit`], and returns the replacement of the part.
    mutate: DynMutate(object: &Ref<Obj>, mutator: &mut dyn MutateCallback) -> Value
        = "__s_mutate__",
        "Structural rewrite: `(self, mutator)` returns the new object.";
}
