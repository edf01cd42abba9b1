//! Hooks that say how objects of a type stand in files.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::object::reference::{Obj, Ref};
use crate::value::Value;

type ToJson = dyn Fn(&Ref<Obj>) -> Result<Value> + Send + Sync;
type FromJson = dyn Fn(&Value) -> Result<Ref<Obj>> + Send + Sync;

/// What stands for an object in a file, instead of its fields.
///
/// The function gives JSON data: None, a bool, a number, a string, or an array
/// or map (with string keys) of these.
#[derive(Clone)]
pub struct DynToJson(Arc<ToJson>);

impl DynToJson {
    /// The hook around a function.
    pub fn new(call: impl Fn(&Ref<Obj>) -> Result<Value> + Send + Sync + 'static) -> Self {
        DynToJson(Arc::new(call))
    }

    pub(crate) fn call(&self, object: &Ref<Obj>) -> Result<Value> {
        (self.0)(object)
    }
}

/// The object that data made by [`DynToJson`] stands for.
#[derive(Clone)]
pub struct DynFromJson(Arc<FromJson>);

impl DynFromJson {
    /// The hook around a function.
    pub fn new(call: impl Fn(&Value) -> Result<Ref<Obj>> + Send + Sync + 'static) -> Self {
        DynFromJson(Arc::new(call))
    }

    pub(crate) fn call(&self, data: &Value) -> Result<Ref<Obj>> {
        (self.0)(data)
    }
}

/// Both directions; one without the other would write what cannot be read.
#[derive(Clone)]
pub(crate) struct JsonHooks {
    pub(crate) to_json: DynToJson,
    pub(crate) from_json: DynFromJson,
}

impl JsonHooks {
    pub(super) fn same_as(&self, other: &JsonHooks) -> bool {
        Arc::ptr_eq(&self.to_json.0, &other.to_json.0)
            && Arc::ptr_eq(&self.from_json.0, &other.from_json.0)
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
