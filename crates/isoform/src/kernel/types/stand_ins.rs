//! The types of a file as far as the file describes them, and types in place of others while
//! a file is read.
//!
//! A stand-in is a registered type with another key. It takes the place of a type that is
//! unknown, or whose declaration does not fit the file, only on the thread and for the time of one call, so that nothing else mistakes it for the
//! type itself.
//!
//! Absent: the choice of the definitions, which is up to the caller.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Schema;
use crate::kernel::object::header::TypeIndex;

/// A type of a file, as far as the file describes it.
#[derive(Clone, Debug)]
pub struct TypeSketch {
    /// The type key.
    pub key: String,
    /// True if hooks write its objects as data instead of fields.
    pub is_hooked: bool,
    /// True if some object has a name in the text that stands for a field.
    pub is_named: bool,
    /// The fields in the order of the file.
    pub fields: Vec<FieldSketch>,
}

/// A field of a type of a file.
#[derive(Clone, Debug)]
pub struct FieldSketch {
    /// The name.
    pub name: String,
    /// `Any`, or the type of plain values that the format stores in the object itself.
    pub schema: Schema,
}

impl TypeSketch {
    /// A type of which nothing but the key is known.
    pub fn new(key: &str) -> Self {
        TypeSketch {
            key: key.to_owned(),
            is_hooked: false,
            is_named: false,
            fields: Vec::new(),
        }
    }

    /// Adds a field, unless it is known.
    pub fn add(&mut self, name: &str, schema: Schema) {
        if self.fields.iter().all(|field| field.name != name) {
            let name = name.to_owned();
            self.fields.push(FieldSketch { name, schema });
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<HashMap<String, TypeIndex>>> = const { RefCell::new(None) };
}

/// Restores the earlier stand-ins, also after a panic.
struct Restore(Option<HashMap<String, TypeIndex>>);

impl Drop for Restore {
    fn drop(&mut self) {
        // At the end of a thread there is nothing to restore.
        let _ = CURRENT.try_with(|current| current.replace(self.0.take()));
    }
}

/// Calls `body`, during which files are read with these types in place of the types with the
/// keys.
pub fn with_stand_ins<R>(types: HashMap<String, TypeIndex>, body: impl FnOnce() -> R) -> R {
    let earlier = CURRENT.with(|current| current.replace(Some(types)));
    let _restore = Restore(earlier);
    body()
}

/// The type in place of another one.
pub(crate) fn find(key: &str) -> Option<TypeIndex> {
    CURRENT.with_borrow(|current| current.as_ref()?.get(key).copied())
}

/// True if the type is in place of another one, whose objects might be scopes for names.
pub(crate) fn is_stand_in(index: TypeIndex) -> bool {
    CURRENT.with_borrow(|current| {
        let types = current.as_ref();
        types.is_some_and(|types| types.values().any(|stand_in| *stand_in == index))
    })
}
