//! What a type does in its own way: comparison, verification, files, text, keys
//! of maps, copies, conversion, traversal.
//!
//! Each hook is a type attribute. Its value is a [`Function`], so that either
//! language can give it and call it; what an engine calls is the compiled hook
//! in a cell of the type's entry, which costs one load to find.
//!
//! A hook made of a closure is shown as a function, and a function is adapted
//! to a closure. The callback that some hooks get is a function too,
//! valid only while the hook runs (`object/scoped.rs`).
//!
//! The cells hold hooks of exactly their type, as `__s_equal__` does: whether
//! a type that extends another one has its hooks is decided where it is
//! registered. Python classes inherit them as they inherit methods.
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

/// How deeply custom comparisons and hashes may nest: each level is a call of
/// user code on the native stack.
pub const MAX_HOOK_DEPTH: u32 = 200;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs a hook outside of the section, unless hooks are nested too deeply.
///
/// # Errors
///
/// `RecursionError` naming the type and the hook; what the hook returns.
pub(crate) fn run<T>(
    section: &mut Section,
    name: &str,
    key: &str,
    hook: impl FnOnce() -> Result<T>,
) -> Result<T> {
    nested(name, key, || access::outside(section, hook))
}

/// As [`run`], for code that is in no section.
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
    /// Tells those who ask first whether any type has such a hook.
    pub(crate) fn note(&self) {
        if self.key_hash.get().is_some() || self.key_equal.get().is_some() {
            note_key_hooks();
        }
        if self.visit.get().is_some() || self.mutate.get().is_some() {
            HOOKED.store(true, Relaxed);
        }
    }

    /// Whether comparison and hash follow the fields.
    pub(crate) fn are_structural_defaults(&self) -> bool {
        self.equal.get().is_none() && self.hash.get().is_none()
    }

    /// Both directions of the form in files; one alone would write what cannot
    /// be read.
    pub(crate) fn file_hooks(&self) -> Option<FileHooks> {
        Some(FileHooks {
            to_json: self.to_json.get()?,
            from_json: self.from_json.get()?,
        })
    }
}

/// How objects of a type stand in files.
#[derive(Clone, Copy)]
pub(crate) struct FileHooks {
    pub(crate) to_json: &'static DynToJson,
    pub(crate) from_json: &'static DynFromJson,
}

/// Whether any type has a hook for walks or rewrites.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Whether a traversal that begins now may meet such types.
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
