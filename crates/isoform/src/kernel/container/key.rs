//! Structural keys: the part used by maps.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::lookup::note_key_hooks;
use crate::kernel::error::Result;
use crate::kernel::object::moment::Version;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// A value compared by `==` and hashed by structure.
///
/// The key represents the value at the time of making the key. Lists, dicts and objects
/// with mutable fields are watched: a change saves the old contents for as long as a
/// key needs the old contents. Later changes therefore neither lose the key in a table
/// nor make the key equal to another value, and an unchanging value costs no more than
/// its hash. A custom comparison of an object that has changed receives a copy with the
/// old fields.
///
/// ```
/// use std::collections::HashMap;
/// use isoform::Value;
/// use isoform::compare::StructuralKey;
/// use isoform::values::List;
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
    pub(crate) value: Value,
    pub(crate) hash: u64,
    /// The time of making the key, if any part of the value can change.
    pub(crate) moment: Option<Arc<Version>>,
    /// The state of all types when the key was made, by [`changed_types`](crate::kernel::object::moment::changed_types): a later change may
    /// make objects mutable that the key does not watch.
    pub(crate) types: u64,
    /// The comparison of keys: by the engine, a layer above.
    pub(crate) equal: fn(&StructuralKey, &StructuralKey) -> Result<bool>,
}

impl StructuralKey {
    /// The value the key was made from.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The hash of the value when the key was made, for tables of this process. Equal
    /// keys have equal hashes; the hashes differ between processes, so nobody can
    /// construct colliding keys.
    pub fn table_hash(&self) -> u64 {
        self.hash
    }

    /// True if two keys are equal.
    ///
    /// # Errors
    ///
    /// Errors from a custom comparison, and `ValueError` for a key whose value has
    /// another hash after a write to a frozen field or after a new comparison for a
    /// type; `==` treats these errors as "different".
    pub fn try_eq(&self, other: &Self) -> Result<bool> {
        (self.equal)(self, other)
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

/// The payload of a key stored in a value.
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

impl From<&StructuralKey> for Value {
    fn from(key: &StructuralKey) -> Self {
        key.clone().into()
    }
}

impl From<StructuralKey> for Value {
    fn from(key: StructuralKey) -> Self {
        note_key_hooks();
        Ref::new(KeyObj(key)).into()
    }
}

impl Value {
    /// The structural key, if the value is a structural key. Structural keys are `==`
    /// as values if the keys are `==`, so maps find these values by structure.
    ///
    /// ```
    /// use isoform::{Map, Value};
    /// use isoform::compare::StructuralKey;
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
