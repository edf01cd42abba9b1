//! The Rust type of a definition: two types never share a type key.

use std::any::{TypeId, type_name};
use std::panic::Location;

use crate::kernel::error::{Error, Result};

/// A Rust type, and the place of its declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RustType {
    id: TypeId,
    name: &'static str,
    place: &'static Location<'static>,
}

impl RustType {
    /// The type, declared where the caller is called from.
    #[track_caller]
    pub(crate) fn of<T: 'static>() -> RustType {
        RustType {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
            place: Location::caller(),
        }
    }

    /// True if both are one declaration: the same type, or one type in two copies of a
    /// library, with different ids but the same name and file.
    pub(crate) fn is_same(&self, other: &RustType) -> bool {
        self.id == other.id || self.name == other.name && self.place.file() == other.place.file()
    }

    /// Fails if another Rust type claims the key of this type: objects of one type would be
    /// taken for objects of the other.
    pub(crate) fn check(&self, new: &RustType, key: &str) -> Result<()> {
        if self.is_same(new) {
            return Ok(());
        }
        Err(Error::value_error(format!(
            "type key {key} is already registered for {self}, so {new} needs another key"
        )))
    }
}

impl std::fmt::Display for RustType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({}:{})",
            self.name,
            self.place.file(),
            self.place.line()
        )
    }
}
