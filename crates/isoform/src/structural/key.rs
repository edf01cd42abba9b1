//! Creation and comparison of structural keys.

use std::sync::Arc;

use super::fingerprint::{hash_at, hash_of_moment};
use super::snapshots::Snapshots;
use super::{CompareOptions, Comparison};
use crate::kernel::container::StructuralKey;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::moment::{self, Version};
use crate::kernel::value::Value;

impl StructuralKey {
    /// Makes a key: hashes the value once, and watches every object inside that can
    /// change. The first write to a watched object copies the object's fields; after
    /// any such write, comparisons look up all watched objects.
    ///
    /// # Errors
    ///
    /// As [`structural_hash`](crate::structural_hash). Any value that can be hashed can
    /// be compared, unless a custom comparison fails; see [`try_eq`](Self::try_eq).
    pub fn new(value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        let types = moment::changed_types();
        let (hash, moment) = hash_of_moment(&value)?;
        Ok(StructuralKey {
            value,
            hash,
            moment: moment.map(Arc::new),
            types,
            equal: keys_equal,
        })
    }
}

fn keys_equal(left: &StructuralKey, right: &StructuralKey) -> Result<bool> {
    if left.hash != right.hash {
        return Ok(false);
    }
    let types = moment::changed_types();
    for key in [left, right] {
        if key.types != types {
            check_hash(key)?;
        }
    }
    let before = moment::time();
    let equal = compare(left, right, |moment| Snapshots::of(moment));
    let is_frozen = left.moment.is_none() && right.moment.is_none();
    if is_frozen || moment::time() == before {
        return equal;
    }
    // A write happened in the meantime, maybe to an object being compared.
    compare(left, right, |moment| Some(Snapshots::exact(moment)))
}

/// Fails if the value of a key has another hash than when the key was made, apart from what
/// the key watches. O(n).
fn check_hash(key: &StructuralKey) -> Result<()> {
    let now = match key.moment.as_deref() {
        None => hash_of_moment(&key.value)?.0,
        Some(moment) => hash_at(&key.value, moment)?,
    };
    if now == key.hash {
        return Ok(());
    }
    Err(Error::value_error(format!(
        "the StructuralKey of {:?} is out of date: a frozen field was overwritten for the first \
         time, or a type got another comparison, after the key was made; make keys afterwards",
        key.value
    )))
}

fn compare(
    left: &StructuralKey,
    right: &StructuralKey,
    snapshots: fn(&Version) -> Option<Snapshots<'_>>,
) -> Result<bool> {
    let comparison = Comparison {
        left: &left.value,
        right: &right.value,
        snapshots: (
            left.moment.as_deref().and_then(snapshots),
            right.moment.as_deref().and_then(snapshots),
        ),
        options: CompareOptions::default(),
    };
    comparison.equal()
}
