//! Hooks that make objects: copies, and conversion from something else.

use super::{Arguments, hook, wrong_result};
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Hook;
use crate::kernel::value::Value;

hook! {
    /// `__ffi_shallow_copy__(self)`: a copy of one object, for
    /// [`shallow_copy`](crate::shallow_copy). It must be of the same type.
    DynCopy(&Ref<Obj>) -> Value
}

impl DynCopy {
    pub(crate) fn call(&self, object: &Ref<Obj>) -> Result<Ref<Obj>> {
        let copy = (self.0.call)(object)?;
        match copy.as_object() {
            Some(made) if made.type_info().index() == object.type_info().index() => {
                Ok(made.clone())
            }
            _ => {
                let expected = format!("an object of type {}", object.type_info().key());
                Err(wrong_result(object, DynCopy::NAME, &expected, &copy))
            }
        }
    }

    fn adapter(function: Function) -> impl Fn(&Ref<Obj>) -> Result<Value> {
        move |object| function.call(&[object.into()])
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynCopy::NAME, given, 1, 1)?;
        self.call(given.object(0)?).map(Value::from)
    }
}

hook! {
    /// `__ffi_convert__(value)`: an object of the type from a value that is
    /// none, where a field of the type gets one.
    ///
    /// It says that a value does not convert by an error of kind
    /// [`Type`](crate::ErrorKind::Type) or [`Value`](crate::ErrorKind::Value);
    /// other errors come back unchanged.
    ///
    /// ```
    /// use isoform::{DynConvert, FieldDef, Schema, TypeDef};
    /// use isoform::{construct, register_type, attrs};
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
    DynConvert(&Value) -> Value
}

impl DynConvert {
    pub(crate) fn call(&self, value: &Value) -> Result<Value> {
        (self.0.call)(value)
    }

    fn adapter(function: Function) -> impl Fn(&Value) -> Result<Value> {
        move |value| function.call(std::slice::from_ref(value))
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        self.call(Arguments::new(DynConvert::NAME, given, 1, 1)?.get(0))
    }
}
