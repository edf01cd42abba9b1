//! Custom behaviour of types: comparison, verification, files, text, keys of maps,
//! copies, conversion, traversal.
//!
//! Each hook is a type attribute. Its value is a [`Function`], so that any language can
//! provide and call it; an engine calls the compiled hook in a cell of the type's
//! entry, which costs one load to find.
//!
//! A hook made from a closure can be read as a function, and a function is adapted to a
//! closure. The callback that some hooks receive is also a function, valid only while
//! the hook runs (`object/scoped.rs`).
//!
//! The cells hold the hooks of exactly their type, as for `__s_equal__`: whether a
//! derived type has the hooks of its parent is decided where it is registered. Python
//! classes inherit them like methods.
//!
//! Hooks run outside of sections and locks, and nest at most
//! [`MAX_HOOK_DEPTH`] levels deep.

mod callbacks;
mod crossing;
mod declare;
mod list;
mod native;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use callbacks::{
    EqualCallback, HashCallback, MutateCallback, ScopedEqual, ScopedHash, ScopedMutate,
    ScopedVisit, VisitCallback,
};
pub use declare::Hook;
pub use list::{
    DynConvert, DynCopy, DynEqual, DynFromJson, DynHash, DynKeyEqual, DynKeyHash, DynMutate,
    DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, DynRepr, DynToJson, DynVerify,
    DynVisit,
};
pub(crate) use list::{HOOKS, HookCells, HookSet};
pub use native::{StructuralEqual, StructuralHash, Verify};

use crate::kernel::container::note_key_hooks;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

/// The maximal nesting of custom comparisons and hashes: each level is a call of user
/// code on the native stack.
pub const MAX_HOOK_DEPTH: u32 = 200;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs a hook outside of the section, unless hooks are nested too deeply.
///
/// # Errors
///
/// `RecursionError` naming the type and the hook; errors from the hook.
pub(crate) fn run<T>(
    section: &mut Section,
    name: &str,
    key: &str,
    hook: impl FnOnce() -> Result<T>,
) -> Result<T> {
    nested(name, key, || access::outside(section, hook))
}

/// As [`run`], for code that is not in a section.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn run_outside<T>(name: &str, key: &str, hook: impl FnOnce() -> Result<T>) -> Result<T> {
    nested(name, key, || access::calling(hook))
}

fn nested<T>(name: &str, key: &str, hook: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    if DEPTH.get() >= MAX_HOOK_DEPTH {
        return Err(Error::new(
            ErrorKind::Recursion,
            format!("{key}.{name}: hooks nest deeper than {MAX_HOOK_DEPTH} levels"),
        ));
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    hook()
}

impl HookCells {
    /// Updates the flags that tell whether any type has such a hook.
    pub(crate) fn note(&self) {
        if self.key_hash.get().is_some() || self.key_equal.get().is_some() {
            note_key_hooks();
        }
        if self.visit.get().is_some() || self.mutate.get().is_some() {
            HOOKED.store(true, Relaxed);
        }
    }

    /// True if comparison and hash use only the fields.
    pub(crate) fn are_structural_defaults(&self) -> bool {
        self.equal.get().is_none() && self.hash.get().is_none()
    }

    /// Both hooks for files; with only one of them, files would be written that cannot
    /// be read.
    pub(crate) fn file_hooks(&self) -> Option<FileHooks> {
        Some(FileHooks {
            to_json: self.to_json.get()?,
            from_json: self.from_json.get()?,
        })
    }
}

/// The hooks for objects of a type in files.
#[derive(Clone, Copy)]
pub(crate) struct FileHooks {
    pub(crate) to_json: &'static DynToJson,
    pub(crate) from_json: &'static DynFromJson,
}

/// True if any type has a hook for walks or rewrites.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// True if a traversal that starts now may meet such types.
pub(crate) fn has_traversal_hooks() -> bool {
    HOOKED.load(Relaxed)
}

/// Visits the parts of an object by the hook of its type, for a traversal of a
/// host language; None if there is no hook.
pub fn visit_by_hook(
    object: &Ref<Obj>,
    visitor: &mut dyn VisitCallback,
) -> Option<Result<Option<Value>>> {
    if !has_traversal_hooks() {
        return None;
    }
    let info = object.type_info();
    let hook = info.hooks.visit.get()?;
    let visit = || hook.call(object, visitor);
    Some(run_outside(DynVisit::NAME, info.key(), visit))
}

/// Rewrites an object by the hook of its type, for a traversal of a host
/// language; None if there is no hook.
pub fn mutate_by_hook(
    object: &Ref<Obj>,
    mutator: &mut dyn MutateCallback,
) -> Option<Result<Value>> {
    if !has_traversal_hooks() {
        return None;
    }
    let info = object.type_info();
    let hook = info.hooks.mutate.get()?;
    let mutate = || hook.call(object, mutator);
    Some(run_outside(DynMutate::NAME, info.key(), mutate))
}
