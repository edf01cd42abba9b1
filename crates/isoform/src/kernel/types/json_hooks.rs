//! Hooks that say how objects of a type stand in files.

use std::fmt;
use std::sync::Arc;

use super::hook_cells::{Compiled, Hook, Shown, arguments, object};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

type ToJson = dyn Fn(&Ref<Obj>) -> Result<Value> + Send + Sync;
type FromJson = dyn Fn(&Value) -> Result<Ref<Obj>> + Send + Sync;

/// What stands for an object in a file, instead of its fields.
///
/// The function gives JSON data: None, a bool, a number, a string, or an array
/// or map (with string keys) of these.
#[derive(Clone)]
pub struct DynToJson(Shown<ToJson>);

impl DynToJson {
    /// The hook around a function.
    pub fn new(call: impl Fn(&Ref<Obj>) -> Result<Value> + Send + Sync + 'static) -> Self {
        DynToJson(Shown::new(Arc::new(call)))
    }

    pub(crate) fn call(&self, object: &Ref<Obj>) -> Result<Value> {
        (self.0.call)(object)
    }
}

/// The object that data made by [`DynToJson`] stands for.
#[derive(Clone)]
pub struct DynFromJson(Shown<FromJson>);

impl DynFromJson {
    /// The hook around a function.
    pub fn new(call: impl Fn(&Value) -> Result<Ref<Obj>> + Send + Sync + 'static) -> Self {
        DynFromJson(Shown::new(Arc::new(call)))
    }

    pub(crate) fn call(&self, data: &Value) -> Result<Ref<Obj>> {
        (self.0.call)(data)
    }
}

impl DynToJson {
    /// Sets the function that shows the hook as an attribute.
    #[must_use]
    pub fn shown_as(mut self, function: Function) -> Self {
        self.0.function = Some(function);
        self
    }
}

impl DynFromJson {
    /// Sets the function that shows the hook as an attribute.
    #[must_use]
    pub fn shown_as(mut self, function: Function) -> Self {
        self.0.function = Some(function);
        self
    }
}

impl Compiled for DynToJson {
    fn from_function(function: &Function) -> Result<Self> {
        if let Some(hook) = function.content::<DynToJson>() {
            return Ok(hook.clone());
        }
        let call = function.clone();
        let hook = DynToJson::new(move |object| call.call(&[object.into()]));
        Ok(hook.shown_as(function.clone()))
    }

    fn function(&self) -> Function {
        self.0.function.clone().unwrap_or_else(|| {
            Function::with_content(self.clone(), |hook, given| {
                let [subject] = arguments(Self::NAME, given)?;
                hook.call(object(Self::NAME, subject)?)
            })
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.0.same_as(&other.0)
    }
}

impl Compiled for DynFromJson {
    fn from_function(function: &Function) -> Result<Self> {
        if let Some(hook) = function.content::<DynFromJson>() {
            return Ok(hook.clone());
        }
        let call = function.clone();
        let hook = DynFromJson::new(move |data| {
            let made = call.call(std::slice::from_ref(data))?;
            made.as_object().cloned().ok_or_else(|| {
                Error::type_error(format!("{}: expected an object, got {made:?}", Self::NAME))
            })
        });
        Ok(hook.shown_as(function.clone()))
    }

    fn function(&self) -> Function {
        self.0.function.clone().unwrap_or_else(|| {
            Function::with_content(self.clone(), |hook, given| {
                let [data] = arguments(Self::NAME, given)?;
                hook.call(data).map(Value::from)
            })
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.0.same_as(&other.0)
    }
}

impl fmt::Debug for DynToJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynToJson")
    }
}

impl fmt::Debug for DynFromJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynFromJson")
    }
}
