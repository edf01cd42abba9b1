//! Custom behaviour of types: comparison, verification, files, text, keys of maps,
//! copies, conversion, traversal.
//!
//! Each hook is a type attribute. The attribute's value is a [`Function`], to be
//! provided and called by any language; an engine calls the compiled hook in a cell of
//! the type's entry, found with one load.
//!
//! A hook made from a closure can be read as a function, and a function is adapted to a
//! closure. The callback passed to a hook is also a function, valid only while the hook
//! runs (`kernel/object/scoped.rs`).
//!
//! The cells hold the hooks of exactly their type, like `__s_equal__`: the registration
//! of a derived type decides about the hooks of the parent. Python classes inherit
//! hooks like methods.
//!
//! Hooks run outside of sections and locks, and nest at most
//! [`MAX_HOOK_DEPTH`] levels deep.
//!
//! | file | job |
//! |---|---|
//! | `list.rs` | one row per hook: arguments and result of its closure, attribute, documentation |
//! | `declare.rs` | the macro that generates type, cell and attribute from a row |
//! | `crossing.rs` | arguments and results as values, and back |
//! | `callbacks.rs` | the requests that a hook can make while it runs |
//! | `native.rs` | the traits of Rust types |
//!
//! `TypeDef::hook` sets a hook, and `TypeDef::attr` the function representing the hook.

mod callbacks;
mod crossing;
mod declare;
mod list;
mod native;

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};

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
use crate::kernel::object::table::TypeInfo;

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

/// [`run`] for code outside of sections.
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
    /// Records the types with these hooks.
    pub(crate) fn note(&self) {
        if self.key_hash.get().is_some() || self.key_equal.get().is_some() {
            note_key_hooks();
        }
        HookEpochs::note(&self.since.visit, self.visit.get().is_some());
        HookEpochs::note(&self.since.mutate, self.mutate.get().is_some());
    }

    /// True if comparison and hash use only the fields.
    pub(crate) fn are_structural_defaults(&self) -> bool {
        self.equal.get().is_none() && self.hash.get().is_none()
    }

    /// Both hooks for files; with only one of the hooks, files would be written but
    /// could not be read.
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

/// The number of hooks for walks and rewrites set in this process.
static TRAVERSAL_HOOKS: AtomicU32 = AtomicU32::new(0);

/// For each hook of a type for walks or rewrites, the value of [`TRAVERSAL_HOOKS`] when
/// the type got the hook; zero before.
#[derive(Default)]
pub(crate) struct HookEpochs {
    visit: AtomicU32,
    mutate: AtomicU32,
}

impl HookEpochs {
    fn note(cell: &AtomicU32, is_set: bool) {
        if is_set && cell.load(Acquire) == 0 {
            cell.store(TRAVERSAL_HOOKS.fetch_add(1, AcqRel) + 1, Release);
        }
    }
}

/// The hooks for walks and rewrites used by a traversal: only the hooks present at its
/// beginning. Results remembered by a traversal would contradict a hook set during the
/// traversal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraversalHooks(u32);

impl TraversalHooks {
    /// The hooks for a traversal that begins.
    pub(crate) fn current() -> Self {
        TraversalHooks(TRAVERSAL_HOOKS.load(Acquire))
    }

    /// True if any type has a hook for walks or rewrites.
    #[inline(always)]
    pub(crate) fn exist(self) -> bool {
        self.0 > 0
    }

    /// The hook of a type for walks.
    #[inline]
    pub(crate) fn visit(self, info: &'static TypeInfo) -> Option<&'static DynVisit> {
        let hook = info.hooks.visit.get()?;
        self.include(&info.hooks.since.visit).then_some(hook)
    }

    /// The hook of a type for rewrites.
    #[inline]
    pub(crate) fn mutate(self, info: &'static TypeInfo) -> Option<&'static DynMutate> {
        let hook = info.hooks.mutate.get()?;
        self.include(&info.hooks.since.mutate).then_some(hook)
    }

    fn include(self, since: &AtomicU32) -> bool {
        (1..=self.0).contains(&since.load(Acquire))
    }
}
