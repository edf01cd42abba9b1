//! `Map` (immutable, copy-on-write) and `Dict` (mutable, shared).

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use indexmap::IndexMap;
use rapidhash::fast::RandomState;

use crate::object::access::refresh;
use crate::object::collect;
use crate::object::field::ElementType;
use crate::object::reference::Ref;
use crate::value::{Value, ValueRef, canonical_float_bits};

/// The order in which the engines visit a map's entries, as positions in
/// insertion order: independent of insertion, computed once per map.
#[derive(Clone, Debug)]
pub(crate) struct KeyOrder {
    /// Entries with plain keys, sorted by type and value.
    pub(crate) plain: Box<[u32]>,
    /// Entries with object keys, sorted by identity number.
    pub(crate) objects: Box<[u32]>,
}

/// The payload of a map.
#[derive(Debug, Default)]
pub(crate) struct MapObj {
    entries: IndexMap<Value, Value, RandomState>,
    order: OnceLock<KeyOrder>,
}

impl MapObj {
    pub(crate) fn from_entries(entries: impl Iterator<Item = (Value, Value)>) -> Self {
        MapObj {
            entries: entries.collect(),
            order: OnceLock::new(),
        }
    }

    /// The entries in insertion order.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.entries.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn entry(&self, position: usize) -> Option<(&Value, &Value)> {
        self.entries.get_index(position)
    }

    pub(crate) fn position(&self, key: &Value) -> Option<usize> {
        self.entries.get_index_of(key)
    }

    pub(crate) fn copy_payload(&self) -> Self {
        MapObj {
            entries: self.entries.clone(),
            order: OnceLock::new(),
        }
    }

    pub(crate) fn key_order(&self) -> &KeyOrder {
        self.order.get_or_init(|| {
            let key = |position: &u32| {
                self.entries
                    .get_index(*position as usize)
                    .map(|(key, _)| key)
            };
            let (mut plain, mut objects) = (Vec::new(), Vec::new());
            for (position, key) in self.entries.keys().enumerate() {
                let list = if is_plain_key(key) {
                    &mut plain
                } else {
                    &mut objects
                };
                list.push(position as u32);
            }
            plain.sort_unstable_by(|l, r| match (key(l), key(r)) {
                (Some(l), Some(r)) => compare_plain(l, r),
                _ => Ordering::Equal,
            });
            objects.sort_unstable_by_key(|position| {
                key(position)
                    .and_then(Value::as_object)
                    .map(|object| object.identity())
            });
            KeyOrder {
                plain: plain.into(),
                objects: objects.into(),
            }
        })
    }
}

/// Whether a key is matched by value rather than by identity.
pub(crate) fn is_plain_key(key: &Value) -> bool {
    rank(key).is_some()
}

/// The position of a plain value's type in the canonical order.
fn rank(key: &Value) -> Option<u8> {
    Some(match key.view() {
        ValueRef::None => 0,
        ValueRef::Bool(_) => 1,
        ValueRef::Int(_) | ValueRef::BigInt(_) => 2,
        ValueRef::Float(_) => 3,
        ValueRef::Str(_) => 4,
        ValueRef::Bytes(_) => 5,
        ValueRef::DType(_) => 6,
        ValueRef::Device(_) => 7,
        _ => return None,
    })
}

fn compare_plain(left: &Value, right: &Value) -> Ordering {
    use ValueRef as V;
    match (left.view(), right.view()) {
        (V::Bool(l), V::Bool(r)) => l.cmp(&r),
        (V::Int(l), V::Int(r)) => l.cmp(&r),
        (V::BigInt(l), V::BigInt(r)) => l.cmp(r),
        (V::Int(l), V::BigInt(r)) => num_bigint::BigInt::from(l).cmp(r),
        (V::BigInt(l), V::Int(r)) => l.cmp(&num_bigint::BigInt::from(r)),
        (V::Float(l), V::Float(r)) => {
            let bits = |number: f64| f64::from_bits(canonical_float_bits(number.to_bits()));
            bits(l).total_cmp(&bits(r))
        }
        (V::Str(l), V::Str(r)) => l.cmp(r),
        (V::Bytes(l), V::Bytes(r)) => l.cmp(r),
        (V::DType(l), V::DType(r)) => l.cmp(&r),
        (V::Device(l), V::Device(r)) => l.cmp(&r),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// An immutable mapping that keeps insertion order; cloning shares it.
///
/// Keys that are plain values are looked up by content, objects by identity.
///
/// ```
/// use isoform::{Map, Value};
/// let mut m: Map = [("a".into(), 1.into())].into_iter().collect();
/// m.insert("b".into(), 2.into());
/// assert_eq!(m.get(&"b".into()), Some(&Value::from(2)));
/// ```
#[repr(transparent)]
pub struct Map<K: ElementType = Value, V: ElementType = Value> {
    reference: Ref<MapObj>,
    elements: PhantomData<(K, V)>,
}

impl<K: ElementType, V: ElementType> Map<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Map {
            reference: Ref::new(MapObj::default()),
            elements: PhantomData,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.reference.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.reference.entries.is_empty()
    }

    /// The value of a key. O(1).
    pub fn get(&self, key: &Value) -> Option<&V> {
        V::peek(self.reference.entries.get(key)?)
    }

    /// Whether the key is there. O(1).
    pub fn contains_key(&self, key: &Value) -> bool {
        self.reference.entries.contains_key(key)
    }

    /// The entries in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let typed = |(key, value): (_, _)| Some((K::peek(key)?, V::peek(value)?));
        self.reference.entries.iter().filter_map(typed)
    }

    /// The entry at a position in insertion order. O(1).
    pub fn get_index(&self, position: usize) -> Option<(&K, &V)> {
        let (key, value) = self.reference.entry(position)?;
        Some((K::peek(key)?, V::peek(value)?))
    }

    /// The keys in insertion order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.reference.entries.keys().filter_map(K::peek)
    }

    /// Sets the value of a key and gives the old one back. Amortised O(1) for
    /// the only owner, O(n) otherwise.
    pub fn insert(&mut self, key: K, value: V) -> Option<Value> {
        self.make_mut().insert(key.into_value(), value.into_value())
    }

    /// Takes an entry out; the others keep their order. O(n).
    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    fn remove_entry(&mut self, key: &Value) -> Option<(Value, Value)> {
        if !self.contains_key(key) {
            return None;
        }
        self.make_mut().shift_remove_entry(key)
    }

    /// Whether both are the same object.
    pub fn same_as(&self, other: &Map<K, V>) -> bool {
        self.reference.same_as(&other.reference)
    }

    fn make_mut(&mut self) -> &mut IndexMap<Value, Value, RandomState> {
        if self.reference.get_mut().is_none() {
            self.reference = Ref::new(self.reference.copy_payload());
        }
        match self.reference.get_mut() {
            Some(payload) => {
                payload.order.take();
                &mut payload.entries
            }
            None => unreachable!("a fresh object has one owner"),
        }
    }

    pub(crate) fn reference(&self) -> &Ref<MapObj> {
        &self.reference
    }
}

impl<K: ElementType, V: ElementType> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.into_value(), value.into_value()));
        let payload = MapObj {
            entries: entries.collect(),
            order: OnceLock::new(),
        };
        Map {
            reference: Ref::new(payload),
            elements: PhantomData,
        }
    }
}

impl<K: ElementType, V: ElementType> Default for Map<K, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<K: ElementType, V: ElementType> Clone for Map<K, V> {
    fn clone(&self) -> Self {
        Map {
            reference: self.reference.clone(),
            elements: PhantomData,
        }
    }
}

impl<K: ElementType, V: ElementType> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

impl<K: ElementType, V: ElementType> From<Map<K, V>> for Value {
    fn from(map: Map<K, V>) -> Self {
        Value::from_object(map.reference.into_object())
    }
}

/// The payload of a dict; as with lists, a snapshot behind a lock.
#[derive(Debug)]
pub(crate) struct DictObj {
    entries: Mutex<Map>,
    /// Counts the changes of the set of keys; written under the lock.
    version: AtomicU64,
    /// Whether the collector of cycles knows the dict.
    tracked: AtomicBool,
}

/// The entries of a dict while its lock is held.
pub(crate) type DictGuard<'a> = MutexGuard<'a, Map>;

impl Drop for DictObj {
    fn drop(&mut self) {
        if *self.tracked.get_mut() {
            collect::untrack_payload(self);
        }
    }
}

impl DictObj {
    pub(crate) fn holding(entries: Map) -> Self {
        DictObj {
            entries: Mutex::new(entries),
            version: AtomicU64::new(0),
            tracked: AtomicBool::new(false),
        }
    }

    /// The lock, if no other thread holds it.
    pub(crate) fn try_lock(&self) -> Option<DictGuard<'_>> {
        match self.entries.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Tells the collector of cycles when an entry may lead back here.
    fn note(&self, part: &Value) {
        let links = part.as_object().is_some_and(collect::may_lead_on);
        if links && !self.tracked.swap(true, Relaxed) {
            collect::track_payload(self);
        }
    }

    /// Replaces all entries.
    pub(crate) fn fill(&self, entries: Map) {
        // As with lists, destructors run after the lock is released.
        drop(self.replace(entries));
    }

    fn replace(&self, entries: Map) -> Map {
        for (key, value) in entries.iter() {
            self.note(key);
            self.note(value);
        }
        let mut held = self.lock();
        self.version.fetch_add(1, Relaxed);
        std::mem::replace(&mut held, entries)
    }

    fn lock(&self) -> MutexGuard<'_, Map> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Map {
        let entries = self.lock().clone();
        // A traversal meets objects here that did not exist when it began.
        refresh();
        entries
    }

    pub(crate) fn copy_payload(&self) -> Self {
        DictObj::holding(self.snapshot())
    }
}

/// A mutable mapping that keeps insertion order; cloning the handle shares it.
///
/// ```
/// use isoform::Dict;
/// let d: Dict = Dict::new();
/// d.insert("k".into(), 1.into());
/// assert_eq!(d.len(), 1);
/// ```
#[repr(transparent)]
pub struct Dict<K: ElementType = Value, V: ElementType = Value> {
    reference: Ref<DictObj>,
    elements: PhantomData<(K, V)>,
}

impl<K: ElementType, V: ElementType> Dict<K, V> {
    /// An empty dict.
    pub fn new() -> Self {
        std::iter::empty().collect()
    }

    /// A dict with the entries of a map. O(1).
    pub(crate) fn of(entries: Map) -> Self {
        Dict {
            reference: Ref::new(DictObj::holding(entries)),
            elements: PhantomData,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.reference.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the dict holds now, as an immutable map. O(1).
    pub fn snapshot(&self) -> Map {
        self.reference.snapshot()
    }

    /// A copy of the value of a key.
    pub fn get(&self, key: &Value) -> Option<V> {
        self.reference.lock().get(key).and_then(V::peek).cloned()
    }

    /// Sets the value of a key and gives the old one back.
    pub fn insert(&self, key: K, value: V) -> Option<Value> {
        let (key, value) = (key.into_value(), value.into_value());
        self.reference.note(&key);
        self.reference.note(&value);
        let mut entries = self.reference.lock();
        let before = entries.len();
        let old = entries.insert(key, value);
        if entries.len() != before {
            self.reference.version.fetch_add(1, Relaxed);
        }
        old
    }

    /// Takes an entry out; the others keep their order. O(n), O(1) for the
    /// last one.
    pub fn remove(&self, key: &Value) -> Option<Value> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// As [`remove`](Self::remove), with the key that was stored.
    pub fn remove_entry(&self, key: &Value) -> Option<(Value, Value)> {
        let mut entries = self.reference.lock();
        let removed = entries.remove_entry(key)?;
        self.reference.version.fetch_add(1, Relaxed);
        // The key, too, is dropped by the caller, after the lock is released.
        Some(removed)
    }

    /// Whether the key is there. O(1).
    pub fn contains_key(&self, key: &Value) -> bool {
        self.reference.lock().contains_key(key)
    }

    /// A copy of the entry at a position in insertion order. O(1).
    pub fn get_index(&self, position: usize) -> Option<(K, V)> {
        let entries = self.reference.lock();
        let (key, value) = entries.get_index(position)?;
        Some((K::peek(key)?.clone(), V::peek(value)?.clone()))
    }

    /// Replaces all entries and gives the old ones back. O(n).
    pub fn replace(&self, entries: Map) -> Map {
        self.reference.replace(entries)
    }

    /// A number that is another one after each change of the set of keys; a
    /// new value for a key is none. O(1).
    ///
    /// Iterators of host languages tell by it that a dict changed under them.
    pub fn version(&self) -> u64 {
        self.reference.version.load(Relaxed)
    }

    /// Takes all entries out.
    pub fn clear(&self) {
        self.reference.fill(Map::new());
    }

    /// Whether both are the same object.
    pub fn same_as(&self, other: &Dict<K, V>) -> bool {
        self.reference.same_as(&other.reference)
    }
}

impl<K: ElementType, V: ElementType> FromIterator<(K, V)> for Dict<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.into_value(), value.into_value()));
        Dict::of(entries.collect::<Map>())
    }
}

impl<K: ElementType, V: ElementType> Default for Dict<K, V> {
    fn default() -> Self {
        Dict::new()
    }
}

impl<K: ElementType, V: ElementType> Clone for Dict<K, V> {
    fn clone(&self) -> Self {
        Dict {
            reference: self.reference.clone(),
            elements: PhantomData,
        }
    }
}

impl<K: ElementType, V: ElementType> fmt::Debug for Dict<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(f)
    }
}

impl<K: ElementType, V: ElementType> From<Dict<K, V>> for Value {
    fn from(dict: Dict<K, V>) -> Self {
        Value::from_object(dict.reference.into_object())
    }
}
