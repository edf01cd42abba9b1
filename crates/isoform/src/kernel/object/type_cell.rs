//! The index of a Rust type, kept by the type itself.

use std::sync::atomic::{AtomicU32, Ordering};

use super::header::TypeIndex;
use super::reference::Node;
use super::table::{TypeInfo, find_registered, register};
use crate::kernel::error::Result;
use crate::kernel::types::{RustType, TypeDef};

/// Caches the index of a Rust type; used by the derive.
#[derive(Debug)]
pub struct TypeCell(AtomicU32);

impl TypeCell {
    /// An empty cell.
    #[allow(
        clippy::new_without_default,
        reason = "cells are statics; a default would never be used"
    )]
    pub const fn new() -> Self {
        TypeCell(AtomicU32::new(u32::MAX))
    }

    /// The index of `T`; registers `T` on first use.
    ///
    /// # Panics
    ///
    /// When the definition cannot be registered.
    #[inline]
    pub fn get_or_register<T: Node>(&self) -> TypeIndex {
        let index = self.0.load(Ordering::Acquire);
        if index != u32::MAX {
            return TypeIndex(index);
        }
        self.register_cold::<T>()
    }

    #[cold]
    fn register_cold<T: Node>(&self) -> TypeIndex {
        self.keep(register_node::<T>())
    }

    fn keep(&self, registered: Result<TypeIndex>) -> TypeIndex {
        match registered {
            Ok(index) => {
                self.0.store(index.0, Ordering::Release);
                index
            }
            // A clash of type keys is a mistake in the program's source; call
            // `isoform::types::register` first to handle the clash as an error.
            Err(error) => panic!("{error}"),
        }
    }
}

/// Registers a Rust type. Two threads that use the type for the first time make its definition
/// twice, where functions without captures may have different addresses, and both get the type.
pub(crate) fn register_node<T: Node>() -> Result<TypeIndex> {
    register_definition(T::definition(), T::TYPE_KEY, &RustType::of::<T>())
}

/// As [`register_node`], compiled once for all types.
fn register_definition(
    definition: TypeDef,
    key: &'static str,
    rust_type: &RustType,
) -> Result<TypeIndex> {
    let is_known = |known: &&TypeInfo| {
        let known = known.rust_type.get();
        known.is_some_and(|known| known.is_same(rust_type))
    };
    register(definition).or_else(|error| match find_registered(key).filter(is_known) {
        Some(info) => Ok(info.index()),
        None => Err(error),
    })
}
