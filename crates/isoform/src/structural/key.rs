//! A value as a key of hash tables.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::fingerprint::hash_of_moment;
use super::pins::Pins;
use super::{CompareOptions, Question};
use crate::kernel::container::note_key_hooks;
use crate::kernel::error::Result;
use crate::kernel::object::moment::{self, Moment};
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// A value that is `==` and hashes by structure.
///
/// The key stands for the value as it was when the key was made: lists, dicts
/// and objects with mutable fields are watched, and what one held is kept when
/// it changes, for as long as a key needs it. So changing it later neither
/// loses the key in a table nor makes it equal to something else, and a value
/// that does not change costs no more than its hash. A custom comparison of an
/// object that was changed is shown a copy with its old fields.
///
/// ```
/// use std::collections::HashMap;
/// use isoform::{List, StructuralKey, Value};
///
/// let list = List::from(vec![1i64]);
/// let mut table = HashMap::new();
/// table.insert(StructuralKey::new(Value::from(list.clone()))?, "one");
/// list.push(2)?;
/// let key = |items: Vec<i64>| StructuralKey::new(Value::from(List::from(items)));
/// assert_eq!(table.get(&key(vec![1])?), Some(&"one"));
/// assert_eq!(table.get(&key(vec![1, 2])?), None);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct StructuralKey {
    value: Value,
    hash: u64,
    /// When the key was made, if anything in the value can change.
    moment: Option<Arc<Moment>>,
}

impl StructuralKey {
    /// Makes a key: hashes the value once, and watches what can change. The
    /// first write to each watched object copies its fields, and a comparison
    /// after a write to any of them looks all of them up.
    ///
    /// # Errors
    ///
    /// As [`structural_hash`](crate::structural_hash). What can be hashed can
    /// be compared, but for custom comparisons that fail; see
    /// [`try_eq`](Self::try_eq).
    pub fn new(value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        let (hash, moment) = hash_of_moment(&value)?;
        Ok(StructuralKey {
            value,
            hash,
            moment: moment.map(Arc::new),
        })
    }

    /// The value the key was made of.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The hash of the value when the key was made, for tables of this process:
    /// the same for equal keys, and another one in another process, so that
    /// nobody can make up keys that collide.
    pub fn table_hash(&self) -> u64 {
        self.hash
    }

    /// Whether two keys are equal.
    ///
    /// # Errors
    ///
    /// Those of a custom comparison; `==` takes them for "different".
    pub fn try_eq(&self, other: &Self) -> Result<bool> {
        if self.hash != other.hash {
            return Ok(false);
        }
        let before = moment::time();
        let equal = self.compare(other, |moment| Pins::of(moment));
        let is_frozen = self.moment.is_none() && other.moment.is_none();
        if is_frozen || moment::time() == before {
            return equal;
        }
        // Somebody wrote meanwhile, maybe to what was being compared.
        self.compare(other, |moment| Some(Pins::exact(moment)))
    }

    fn compare(&self, other: &Self, pins: fn(&Moment) -> Option<Pins<'_>>) -> Result<bool> {
        let question = Question {
            left: &self.value,
            right: &other.value,
            pins: (
                self.moment.as_deref().and_then(pins),
                other.moment.as_deref().and_then(pins),
            ),
            options: CompareOptions::default(),
        };
        question.equal()
    }
}

impl PartialEq for StructuralKey {
    fn eq(&self, other: &Self) -> bool {
        self.try_eq(other).unwrap_or(false)
    }
}

impl Eq for StructuralKey {}

impl Hash for StructuralKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// The payload of a key that is kept in a value.
#[derive(Clone)]
pub(crate) struct KeyObj(StructuralKey);

impl KeyObj {
    pub(crate) fn copy_payload(&self) -> Self {
        self.clone()
    }

    pub(crate) fn key(&self) -> &StructuralKey {
        &self.0
    }
}

impl From<StructuralKey> for Value {
    fn from(key: StructuralKey) -> Self {
        note_key_hooks();
        Ref::new(KeyObj(key)).into()
    }
}

impl Value {
    /// The structural key, if the value is one. Such values are `==` when the
    /// keys are, so that maps find them by structure.
    ///
    /// ```
    /// use isoform::{Map, StructuralKey, Value};
    /// let key = |items: [i64; 2]| Ok::<_, isoform::Error>(Value::from(StructuralKey::new(items)?));
    /// let map: Map = [(key([1, 2])?, Value::from("one"))].into_iter().collect();
    /// assert_eq!(map.get(&key([1, 2])?), Some(&Value::from("one")));
    /// assert_eq!(map.get(&key([1, 3])?), None);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn as_structural_key(&self) -> Option<&StructuralKey> {
        Some(self.as_object()?.downcast_ref::<KeyObj>()?.key())
    }
}

impl fmt::Debug for StructuralKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StructuralKey").field(&self.value).finish()
    }
}
