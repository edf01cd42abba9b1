//! The lookup of keys: plain values by content, objects by identity, unless they are
//! structural keys or their type has hooks for keys.
//!
//! Hooks, and comparisons of structural keys, which may call hooks, run on an immutable
//! map without holding a lock. The results are used only if the map has not been
//! replaced since the search.
//!
//! If the keys of a dict have changed in the meantime, the lookup starts again.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use indexmap::map::RawEntryApiV1;

use super::key::{KeyObj, StructuralKey};
use super::mapping::Entries;
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynKeyEqual, DynKeyHash};
use crate::kernel::mixing::FixedHasher;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::value::{Value, ValueRef};

/// True if any type has hooks for keys, or a structural key is stored in a value. Until
/// then, the check costs one load.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Records that a type has a hook for keys, or that a value is a structural key.
pub(crate) fn note_key_hooks() {
    HOOKED.store(true, Relaxed);
}

/// A key compared by user code, with its hash by the same code.
pub(crate) struct HookedKey<'k> {
    object: &'k Ref<Obj>,
    info: &'static TypeInfo,
    equal: Equal<'k>,
    pub(super) hash: u64,
}

/// The comparison of two keys of one type.
enum Equal<'k> {
    Hook(&'static DynKeyEqual),
    Structure(&'k StructuralKey),
}

/// The key with the hooks of its type, or None for a type without hooks. Runs user
/// code.
///
/// # Errors
///
/// Errors from the hook; `TypeError` for a type with only one of the two hooks.
#[inline]
pub(super) fn hooked(key: &Value) -> Result<Option<HookedKey<'_>>> {
    if !HOOKED.load(Relaxed) {
        return Ok(None);
    }
    ask(key)
}

#[cold]
#[inline(never)]
fn ask(key: &Value) -> Result<Option<HookedKey<'_>>> {
    let ValueRef::Object(object) = key.view() else {
        return Ok(None);
    };
    let info = object.type_info();
    if let Some(key) = key.as_structural_key() {
        return Ok(Some(HookedKey {
            object,
            info,
            equal: Equal::Structure(key),
            hash: key.table_hash(),
        }));
    }
    let (has, misses) = match (info.hooks.key_hash.get(), info.hooks.key_equal.get()) {
        (None, None) => return Ok(None),
        (Some(hash), Some(equal)) => {
            let hash = hooks::run_outside(DynKeyHash::NAME, info.key(), || hash.call(object))?;
            return Ok(Some(HookedKey {
                object,
                info,
                equal: Equal::Hook(equal),
                hash,
            }));
        }
        (Some(_), None) => (DynKeyHash::NAME, DynKeyEqual::NAME),
        (None, Some(_)) => (DynKeyEqual::NAME, DynKeyHash::NAME),
    };
    Err(Error::type_error(format!(
        "type {} has {has} but no {misses}, so its objects cannot be keys",
        info.key()
    )))
}

/// True if user code may decide whether the object is the same key as another. Runs no
/// user code.
pub(super) fn is_hooked(object: &Ref<Obj>) -> bool {
    HOOKED.load(Relaxed) && {
        let cells = &object.type_info().hooks;
        cells.key_hash.get().is_some()
            || cells.key_equal.get().is_some()
            || object.downcast_ref::<KeyObj>().is_some()
    }
}

/// Runs a lookup of a key, outside of the section if it may call hooks of the key's
/// type.
///
/// # Errors
///
/// Errors from the lookup.
pub(crate) fn asking<T>(
    section: &mut Section,
    key: &Value,
    look_up: impl FnOnce() -> Result<T>,
) -> Result<T> {
    match key.view() {
        ValueRef::Object(object) if is_hooked(object) => access::outside(section, look_up),
        _ => look_up(),
    }
}

/// The hash of a value as a key.
///
/// # Errors
///
/// Errors from its type's hook.
pub(crate) fn key_hash(key: &Value) -> Result<u64> {
    let mut hasher = FixedHasher::default();
    match hooked(key)? {
        None => key.hash(&mut hasher),
        Some(key) => hasher.write_u64(key.hash),
    }
    Ok(hasher.finish())
}

/// The hash returned by the hook of a key's type; None for a type without a hook.
///
/// # Errors
///
/// Errors from the hook.
pub fn hooked_key_hash(key: &Value) -> Result<Option<u64>> {
    Ok(hooked(key)?.map(|key| key.hash))
}

/// The hash as spread over the table of a map.
pub(super) fn spread(map: &Entries, hash: u64) -> u64 {
    map.entries.hasher().hash_one(hash)
}

impl HookedKey<'_> {
    /// True if a key of the same type is equal.
    fn is_equal(&self, held: &Ref<Obj>) -> Result<bool> {
        match self.equal {
            Equal::Hook(hook) => hooks::run_outside(DynKeyEqual::NAME, self.info.key(), || {
                hook.call(self.object, held)
            }),
            Equal::Structure(key) => match held.downcast_ref::<KeyObj>() {
                Some(held) => key.try_eq(held.key()),
                None => Ok(false),
            },
        }
    }

    /// The position of the key in a map. Runs user code.
    ///
    /// # Errors
    ///
    /// Errors from the hook.
    pub(super) fn position(&self, map: &Entries) -> Result<Option<usize>> {
        let mut failed = None;
        let is_match = |held: &Value| match held.view() {
            ValueRef::Object(held) if held.same_as(self.object) => true,
            ValueRef::Object(held) if std::ptr::eq(held.type_info(), self.info) => {
                let equal = self.is_equal(held);
                // An error ends the search like a match.
                equal.unwrap_or_else(|error| {
                    failed = Some(error);
                    true
                })
            }
            _ => false,
        };
        let entries = map.entries.raw_entry_v1();
        let found = entries.index_from_hash(spread(map, self.hash), is_match);
        match failed {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }
}
