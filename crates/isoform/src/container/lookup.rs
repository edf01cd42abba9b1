//! How keys are found: plain values by content, objects by identity, unless
//! their type has hooks for it.
//!
//! The hooks run on an immutable map while no lock is held, and their answers
//! are used only if the map is still the one that was searched.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use indexmap::map::RawEntryApiV1;

use super::mapping::MapObj;
use crate::error::{Error, Result};
use crate::hooks::{self, DynKeyEqual, DynKeyHash};
use crate::mixing::FixedHasher;
use crate::object::access::{self, Section};
use crate::object::reference::{Obj, Ref};
use crate::object::table::TypeInfo;
use crate::registry::Hook;
use crate::value::{Value, ValueRef};

/// Whether any type has hooks for keys. Until then they cost one load.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Tells that a type has a hook for keys from now on.
pub(crate) fn note_key_hooks() {
    HOOKED.store(true, Relaxed);
}

/// A key whose type has hooks, with the hash that its hook gave.
pub(crate) struct HookedKey<'k> {
    object: &'k Ref<Obj>,
    info: &'static TypeInfo,
    equal: &'static DynKeyEqual,
    pub(super) hash: u64,
}

/// The key by its hooks, if its type has them. Runs code of the user.
///
/// # Errors
///
/// What the hook returns; `TypeError` for a type with only one of the two.
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
    let (has, misses) = match (info.hooks.key_hash.get(), info.hooks.key_equal.get()) {
        (None, None) => return Ok(None),
        (Some(hash), Some(equal)) => {
            let hash = hooks::run_outside(DynKeyHash::NAME, info.key(), || hash.call(object))?;
            return Ok(Some(HookedKey {
                object,
                info,
                equal,
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

/// Whether the keys of this object's type are found by hooks. Runs no code of
/// the user.
pub(super) fn is_hooked(object: &Ref<Obj>) -> bool {
    HOOKED.load(Relaxed) && {
        let cells = &object.type_info().hooks;
        cells.key_hash.get().is_some() || cells.key_equal.get().is_some()
    }
}

/// Runs a look-up of a key outside of the section if it may call hooks of the
/// key's type.
///
/// # Errors
///
/// Those of the look-up.
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
/// Those of its type's hook.
pub(crate) fn key_hash(key: &Value) -> Result<u64> {
    let mut hasher = FixedHasher::default();
    match hooked(key)? {
        None => key.hash(&mut hasher),
        Some(key) => hasher.write_u64(key.hash),
    }
    Ok(hasher.finish())
}

/// The hash that the hook of a key's type gives; None for a type without.
///
/// # Errors
///
/// Those of the hook.
pub fn hooked_key_hash(key: &Value) -> Result<Option<u64>> {
    Ok(hooked(key)?.map(|key| key.hash))
}

/// The place of a hash in the table of a map.
pub(super) fn spread(map: &MapObj, hash: u64) -> u64 {
    map.entries.hasher().hash_one(hash)
}

impl HookedKey<'_> {
    /// The position of the key in a map. Runs code of the user.
    ///
    /// # Errors
    ///
    /// What the hook returns.
    pub(super) fn position(&self, map: &MapObj) -> Result<Option<usize>> {
        let mut failed = None;
        let is_match = |held: &Value| match held.view() {
            ValueRef::Object(held) if held.same_as(self.object) => true,
            ValueRef::Object(held) if std::ptr::eq(held.type_info(), self.info) => {
                let equal = hooks::run_outside(DynKeyEqual::NAME, self.info.key(), || {
                    self.equal.call(self.object, held)
                });
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
