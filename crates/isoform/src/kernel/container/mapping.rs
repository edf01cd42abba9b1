//! `Map`: immutable, copy-on-write.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::sync::OnceLock;

use hashbrown::HashMap;
use indexmap::IndexMap;
use indexmap::map::RawEntryApiV1;
use indexmap::map::raw_entry_v1::RawEntryMut;
use rapidhash::fast::RandomState;

use super::lookup::{hooked, is_hooked, spread};
use crate::kernel::convert::IntoField;
use crate::kernel::error::Result;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::{Value, ValueRef, canonical_float_bits};

/// The order in which the engines visit a map's entries, as positions in insertion
/// order: independent of insertion, computed once per map.
#[derive(Clone, Debug)]
pub(crate) struct KeyOrder {
    /// Entries with plain keys, sorted by type and value.
    pub(crate) plain: Box<[u32]>,
    /// Entries with object keys, sorted by identity number.
    pub(crate) objects: Box<[u32]>,
}

/// The entries of a mapping in insertion order: the payload of a map.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(super) entries: IndexMap<Value, Value, RandomState>,
    order: OnceLock<KeyOrder>,
    /// The hashes returned by the hooks of keys, by identity number; copying a map
    /// needs no hook. None in a map without hooked keys.
    hashes: Option<Box<HashMap<u64, u64, RandomState>>>,
}

impl Entries {
    /// Makes a map with copies of the entries of another map. The keys are copies of
    /// the source's keys, so no hook is called; copied keys may be unfinished.
    pub(crate) fn of_copies(source: &Entries, mut copy: impl FnMut(&Value) -> Value) -> Self {
        let mut made = Entries::with_capacity(source.entries.len());
        for (key, value) in &source.entries {
            let hash = source.hash_of(key);
            let (key, value) = (copy(key), copy(value));
            match hash {
                None => drop(made.entries.insert(key, value)),
                Some(hash) => made.push_hooked(key, value, hash),
            }
        }
        made
    }

    /// The hash returned by the hook of a key on insertion.
    fn hash_of(&self, key: &Value) -> Option<u64> {
        let hashes = self.hashes.as_ref()?;
        hashes.get(&key.as_object()?.identity()).copied()
    }

    /// Adds an entry under a new key, with the hash of its hook.
    fn push_hooked(&mut self, key: Value, value: Value, hash: u64) {
        if let Some(object) = key.as_object() {
            let hashes = self.hashes.get_or_insert_default();
            hashes.insert(object.identity(), hash);
        }
        let hash = spread(self, hash);
        // No entry matches: the entry is new.
        let entry = self.entries.raw_entry_mut_v1().from_hash(hash, |_| false);
        if let RawEntryMut::Vacant(entry) = entry {
            entry.insert_hashed_nocheck(hash, key, value);
        }
    }

    fn with_capacity(capacity: usize) -> Self {
        let mut map = Entries::default();
        map.entries.reserve(capacity);
        map
    }

    /// Finds the position of a key, or the position to insert the key at. Runs the
    /// hooks of its type.
    fn place(&self, key: &Value) -> Result<Place> {
        Ok(match hooked(key)? {
            None => Place::Plain,
            Some(key) => match key.position(self)? {
                Some(position) => Place::At(position),
                None => Place::New(key.hash),
            },
        })
    }

    /// Inserts an entry and returns the old value.
    pub(super) fn put(&mut self, place: Place, key: Value, value: Value) -> Option<Value> {
        match place {
            Place::Plain => self.entries.insert(key, value),
            Place::At(position) => {
                let (_, held) = self.entries.get_index_mut(position)?;
                Some(std::mem::replace(held, value))
            }
            Place::New(hash) => {
                self.push_hooked(key, value, hash);
                None
            }
        }
    }

    /// Removes the entry at a position, keeping the order of the other entries. O(n).
    pub(super) fn remove_at(&mut self, position: usize) -> Option<(Value, Value)> {
        let removed = self.entries.shift_remove_index(position)?;
        if let (Some(hashes), Some(key)) = (&mut self.hashes, removed.0.as_object()) {
            hashes.remove(&key.identity());
        }
        Some(removed)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entries in insertion order.
    pub(crate) fn pairs(&self) -> impl DoubleEndedIterator<Item = (&Value, &Value)> {
        self.entries.iter()
    }

    /// The keys and values in turn, in insertion order.
    pub(crate) fn parts(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.pairs().flat_map(|(key, value)| [key, value])
    }

    pub(crate) fn entry(&self, position: usize) -> Option<(&Value, &Value)> {
        self.entries.get_index(position)
    }

    /// The position of a key for the engines, identifying all objects by identity. Runs
    /// no hook. O(1), or O(log n) for a key whose type has hooks.
    pub(crate) fn position(&self, key: &Value) -> Option<usize> {
        match key.as_object() {
            Some(object) if is_hooked(object) => {
                let objects = &self.key_order().objects;
                let ident = |position: &u32| {
                    let (key, _) = self.entry(*position as usize)?;
                    Some(key.as_object()?.identity())
                };
                let found = objects.binary_search_by_key(&Some(object.identity()), ident);
                found.ok().map(|at| objects[at] as usize)
            }
            _ => self.entries.get_index_of(key),
        }
    }

    /// The position of a key. Runs the hooks of the key's type, if any. O(1).
    ///
    /// # Errors
    ///
    /// Errors from the hooks.
    fn find(&self, key: &Value) -> Result<Option<usize>> {
        match hooked(key)? {
            None => Ok(self.entries.get_index_of(key)),
            Some(key) => key.position(self),
        }
    }

    /// The value of a key. Runs the hooks of the key's type, if any. O(1).
    ///
    /// # Errors
    ///
    /// Errors from the hooks.
    pub(crate) fn get(&self, key: &Value) -> Result<Option<&Value>> {
        let found = self.find(key)?;
        Ok(found.and_then(|position| Some(self.entry(position)?.1)))
    }

    pub(crate) fn copy_payload(&self) -> Self {
        Entries {
            entries: self.entries.clone(),
            order: OnceLock::new(),
            hashes: self.hashes.clone(),
        }
    }

    /// The position of the `number`th entry in the order of keys. O(1), except for the
    /// first call on this map.
    pub(crate) fn in_key_order(&self, number: usize) -> Option<usize> {
        let order = self.key_order();
        let position = match number.checked_sub(order.plain.len()) {
            None => order.plain.get(number),
            Some(number) => order.objects.get(number),
        };
        position.map(|position| *position as usize)
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

/// Where a key goes in a map.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Its type has no hooks.
    Plain,
    /// It exists, at this position.
    At(usize),
    /// It is new, and has this hash.
    New(u64),
}

/// True if a key is matched by value rather than by identity.
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

/// An immutable mapping in insertion order; cloning shares the map.
///
/// Keys that are plain values are looked up by content, objects by identity, or by the
/// hooks [`DynKeyHash`](crate::hooks::DynKeyHash) and
/// [`DynKeyEqual`](crate::hooks::DynKeyEqual) of their type. Hooks may fail, so each
/// operation on a key has a fallible form (`try_get`); the infallible forms are for
/// keys without hooks, and fall back to identity if a hook fails.
///
/// ```
/// use isoform::{Map, Value};
/// let mut m: Map = [("a".into(), 1.into())].into_iter().collect();
/// m.insert("b".into(), 2.into());
/// assert_eq!(m.get("b"), Some(&Value::from(2)));
///
/// let ages: Map<isoform::Str, i64> = Map::from([("Ada", 36), ("Alan", 41)]);
/// assert_eq!(ages["Ada"], 36);
/// for (name, age) in &ages {
///     assert!(*age > 30, "{name}");
/// }
/// ```
#[repr(transparent)]
pub struct Map<K = Value, V = Value> {
    reference: Ref<Entries>,
    elements: PhantomData<(K, V)>,
}

impl<K: ElementType, V: ElementType> Map<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Map {
            reference: Ref::new(Entries::default()),
            elements: PhantomData,
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.reference.entries.len()
    }

    /// True if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.reference.entries.is_empty()
    }

    /// The value of a key. O(1).
    pub fn get(&self, key: impl Into<Value>) -> Option<&V> {
        self.try_get(key).ok().flatten()
    }

    /// The value of a key. O(1).
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type.
    pub fn try_get(&self, key: impl Into<Value>) -> Result<Option<&V>> {
        let found = self.reference.find(&key.into())?;
        Ok(found.and_then(|position| V::peek(self.reference.entry(position)?.1)))
    }

    /// True if the map contains the key. O(1).
    pub fn contains_key(&self, key: impl Into<Value>) -> bool {
        matches!(self.reference.find(&key.into()), Ok(Some(_)))
    }

    /// True if the map contains the key. O(1).
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type.
    pub fn try_contains_key(&self, key: impl Into<Value>) -> Result<bool> {
        Ok(self.reference.find(&key.into())?.is_some())
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

    /// The values in insertion order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.reference.entries.values().filter_map(V::peek)
    }

    /// Sets the value of a key and returns the old value. Amortised O(1) for the only
    /// owner, O(n) otherwise.
    pub fn insert(&mut self, key: K, value: V) -> Option<Value> {
        let (key, value) = (key.into_value(), value.into_value());
        match self.reference.place(&key) {
            Ok(place) => self.make_mut().put(place, key, value),
            Err(_) => self.make_mut().entries.insert(key, value),
        }
    }

    /// Sets the value of a key and returns the old value. Amortised O(1) for the only
    /// owner, O(n) otherwise.
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type; on an error, the map is unchanged.
    pub fn try_insert(&mut self, key: K, value: V) -> Result<Option<Value>> {
        let (key, value) = (key.into_value(), value.into_value());
        let place = self.reference.place(&key)?;
        Ok(self.make_mut().put(place, key, value))
    }

    /// Makes a map with these entries; of equal keys, the last one counts.
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the keys' types.
    pub fn try_from_entries(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter();
        let mut map = Entries::with_capacity(entries.size_hint().0);
        for (key, value) in entries {
            let (key, value) = (key.into_value(), value.into_value());
            let place = map.place(&key)?;
            map.put(place, key, value);
        }
        Ok(Map::holding(map))
    }

    pub(crate) fn holding(payload: Entries) -> Self {
        Map {
            reference: Ref::new(payload),
            elements: PhantomData,
        }
    }

    /// Removes an entry, keeping the order of the other entries. O(n).
    pub fn remove(&mut self, key: impl Into<Value>) -> Option<Value> {
        self.try_remove(key).ok().flatten()
    }

    /// Removes an entry, keeping the order of the other entries. O(n).
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type; on an error, the map is unchanged.
    pub fn try_remove(&mut self, key: impl Into<Value>) -> Result<Option<Value>> {
        let found = self.reference.find(&key.into())?;
        let removed = found.and_then(|position| self.make_mut().remove_at(position));
        Ok(removed.map(|(_, value)| value))
    }

    /// True if both are the same object.
    pub fn same_as(&self, other: &Map<K, V>) -> bool {
        self.reference.same_as(&other.reference)
    }

    pub(super) fn make_mut(&mut self) -> &mut Entries {
        if self.reference.get_mut().is_none() {
            self.reference = Ref::new(self.reference.copy_payload());
        }
        match self.reference.get_mut() {
            Some(payload) => {
                payload.order.take();
                payload
            }
            None => unreachable!("a fresh object has one owner"),
        }
    }

    pub(crate) fn reference(&self) -> &Ref<Entries> {
        &self.reference
    }
}

/// # Panics
///
/// If the map has no such key, as for a `HashMap`; [`get`](Map::get) returns None instead.
impl<Q: Into<Value>, K: ElementType, V: ElementType> Index<Q> for Map<K, V> {
    type Output = V;

    #[track_caller]
    fn index(&self, key: Q) -> &V {
        let key = key.into();
        match self.get(&key) {
            Some(value) => value,
            None => panic!("the map has no key {key:?}"),
        }
    }
}

/// The entries of a map, in insertion order.
#[derive(Debug)]
pub struct MapIter<'a, K, V> {
    entries: indexmap::map::Iter<'a, Value, Value>,
    elements: PhantomData<(K, V)>,
}

impl<'a, K: ElementType, V: ElementType> Iterator for MapIter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let typed = |(key, value): (_, _)| Some((K::peek(key)?, V::peek(value)?));
        self.entries.find_map(typed)
    }
}

impl<'a, K: ElementType, V: ElementType> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = MapIter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        MapIter {
            entries: self.reference.entries.iter(),
            elements: PhantomData,
        }
    }
}

/// Keys and values convert as for a field.
impl<G, H, K, V, const N: usize> From<[(G, H); N]> for Map<K, V>
where
    G: IntoField<K>,
    H: IntoField<V>,
    K: ElementType,
    V: ElementType,
{
    fn from(entries: [(G, H); N]) -> Self {
        let entries = entries.into_iter();
        entries
            .map(|(key, value)| (key.into_field(), value.into_field()))
            .collect()
    }
}

impl<K: ElementType, V: ElementType> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut map = Entries::with_capacity(entries.size_hint().0);
        for (key, value) in entries {
            let (key, value) = (key.into_value(), value.into_value());
            match map.place(&key) {
                Ok(place) => map.put(place, key, value),
                Err(_) => map.entries.insert(key, value),
            };
        }
        Map::holding(map)
    }
}

impl<K: ElementType, V: ElementType> Default for Map<K, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<K, V> Clone for Map<K, V> {
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

impl<K: ElementType, V: ElementType> From<&Map<K, V>> for Value {
    fn from(map: &Map<K, V>) -> Self {
        map.clone().into()
    }
}

impl<K: ElementType, V: ElementType> From<Map<K, V>> for Value {
    fn from(map: Map<K, V>) -> Self {
        Value::from_object(map.reference.into_object())
    }
}
