//! `Dict`: mutable and shared, a map behind a lock.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::demands::{self, Demands};
use super::lookup::hooked;
use super::mapping::{Map, Place};
use super::names::NameIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::object::access::refresh;
use crate::object::collect;
use crate::object::field::ElementType;
use crate::object::reference::Ref;
use crate::value::Value;

/// The payload of a dict; as with lists, a snapshot behind a lock.
#[derive(Debug)]
pub(crate) struct DictObj {
    entries: Mutex<Map>,
    /// Counts the changes of the set of keys; written under the lock.
    version: AtomicU64,
    /// Whether the collector of cycles knows the dict.
    tracked: AtomicBool,
    /// Where keys are by their names, once that was asked for; locked while
    /// the entries are. It is dropped when entries change their positions.
    names: Mutex<Option<Box<NameIndex>>>,
    demands: Demands,
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
            names: Mutex::new(None),
            demands: Demands::default(),
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

    /// Makes one more demand on the entries, as with lists.
    pub(super) fn demand(
        &self,
        extend: impl Fn(u32) -> u32,
        check: impl Fn(&Map) -> Result<()>,
    ) -> Result<()> {
        loop {
            let before = self.demands.number();
            let after = extend(before);
            if after == before {
                return Ok(());
            }
            let entries = self.snapshot();
            check(&entries)?;
            let held = self.lock();
            if held.same_as(&entries) && self.demands.number() == before {
                self.demands.set(after);
                return Ok(());
            }
        }
    }

    /// Fills a copy of another dict, which obeys the same demands.
    pub(crate) fn fill_copy(&self, source: &DictObj, copy: impl FnOnce(&Map) -> Map) -> Map {
        self.demands.set(source.demands.number());
        let snapshot = source.snapshot();
        self.fill(copy(&snapshot));
        snapshot
    }

    /// Replaces all entries.
    fn fill(&self, entries: Map) {
        self.note_all(&entries);
        // As with lists, destructors run after the lock is released.
        drop(self.swap(self.lock(), entries));
    }

    fn note_all(&self, entries: &Map) {
        for (key, value) in entries.iter() {
            self.note(key);
            self.note(value);
        }
    }

    fn swap(&self, mut held: MutexGuard<'_, Map>, entries: Map) -> Map {
        self.version.fetch_add(1, Relaxed);
        *self.names() = None;
        std::mem::replace(&mut held, entries)
    }

    /// Takes out the entry at a position.
    fn remove_at(&self, held: &mut Map, position: usize) -> Option<(Value, Value)> {
        let mut names = self.names();
        if position + 1 == held.len() {
            // The last one leaves the others where they are.
            if let Some(names) = &mut *names {
                names.forget_last(held.reference());
            }
        } else {
            *names = None;
        }
        drop(names);
        let removed = held.make_mut().remove_at(position)?;
        self.version.fetch_add(1, Relaxed);
        Some(removed)
    }

    fn names(&self) -> MutexGuard<'_, Option<Box<NameIndex>>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
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

/// How often a key is looked up in a dict that its hooks change meanwhile.
const MAX_LOOKS: usize = 100;

/// A mutable mapping that keeps insertion order; cloning the handle shares it.
///
/// Keys are found as in [`Map`]. Hooks of keys run while no lock is held, and
/// may use the same dict.
///
/// ```
/// use isoform::Dict;
/// let d: Dict = Dict::new();
/// d.insert("k".into(), 1.into())?;
/// assert_eq!(d.len(), 1);
/// # Ok::<(), isoform::Error>(())
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

    /// A dict with these entries; the last one of equal keys counts.
    ///
    /// # Errors
    ///
    /// Those of the hooks of the keys' types.
    pub fn try_from_entries(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| (key.into_value(), value.into_value()));
        Ok(Dict::of(Map::try_from_entries(entries)?))
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
        self.try_get(key).ok().flatten()
    }

    /// A copy of the value of a key.
    ///
    /// # Errors
    ///
    /// Those of the hooks of the key's type.
    pub fn try_get(&self, key: &Value) -> Result<Option<V>> {
        let value = |entries: &Map, position| {
            let (_, value) = entries.reference().entry(position)?;
            V::peek(value).cloned()
        };
        self.locate(key, |entries, place| match place {
            Place::Plain => entries.get(key).and_then(V::peek).cloned(),
            Place::At(position) => value(entries, position),
            Place::New(_) => None,
        })
    }

    /// Sets the value of a key and gives the old one back.
    ///
    /// # Errors
    ///
    /// `TypeError` when the dict stands in a field whose type forbids the
    /// entry; those of the hooks of the key's type and of types that convert.
    /// Nothing changes then. `RuntimeError` when the hooks change the dict each
    /// time they look.
    pub fn insert(&self, key: K, value: V) -> Result<Option<Value>> {
        let (mut key, mut value) = (key.into_value(), value.into_value());
        let dict = &self.reference;
        let mut met = 0;
        loop {
            let number = dict.demands.number();
            if number != met {
                demands::admit_entry(number, &mut key, &mut value)?;
                met = number;
            }
            dict.note(&key);
            dict.note(&value);
            let stored = self.locate(&key, |entries, place| {
                if dict.demands.number() != met {
                    return None;
                }
                let before = entries.len();
                let old = entries.make_mut().put(place, key.clone(), value.clone());
                if entries.len() != before {
                    dict.version.fetch_add(1, Relaxed);
                }
                Some(old)
            })?;
            if let Some(old) = stored {
                return Ok(old);
            }
        }
    }

    /// These entries as the dict would store them: converted to what the
    /// fields that it stands in demand. O(n).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn admit(&self, entries: Map) -> Result<Map> {
        let number = self.reference.demands.number();
        if number == 0 {
            return Ok(entries);
        }
        let admit = |(key, value): (&Value, &Value)| {
            let (mut key, mut value) = (key.clone(), value.clone());
            demands::admit_entry(number, &mut key, &mut value)?;
            Ok((key, value))
        };
        Map::try_from_entries(entries.iter().map(admit).collect::<Result<Vec<_>>>()?)
    }

    /// Takes an entry out; the others keep their order. O(n), O(1) for the
    /// last one.
    pub fn remove(&self, key: &Value) -> Option<Value> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// As [`remove`](Self::remove), with the key that was stored.
    pub fn remove_entry(&self, key: &Value) -> Option<(Value, Value)> {
        self.try_remove_entry(key).ok().flatten()
    }

    /// As [`remove`](Self::remove), with the key that was stored.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn try_remove_entry(&self, key: &Value) -> Result<Option<(Value, Value)>> {
        self.locate(key, |entries, place| {
            let position = match place {
                Place::Plain => entries.reference().entries.get_index_of(key)?,
                Place::At(position) => position,
                Place::New(_) => return None,
            };
            // The key, too, is dropped by the caller, after the lock is
            // released.
            self.reference.remove_at(entries, position)
        })
    }

    /// Takes the last entry out. O(1).
    pub fn pop(&self) -> Option<(Value, Value)> {
        let mut entries = self.reference.lock();
        let last = entries.len().checked_sub(1)?;
        self.reference.remove_at(&mut entries, last)
    }

    /// Whether the key is there. O(1).
    pub fn contains_key(&self, key: &Value) -> bool {
        self.try_contains_key(key).unwrap_or(false)
    }

    /// Whether the key is there. O(1).
    ///
    /// # Errors
    ///
    /// Those of the hooks of the key's type.
    pub fn try_contains_key(&self, key: &Value) -> Result<bool> {
        self.locate(key, |entries, place| match place {
            Place::Plain => entries.contains_key(key),
            Place::At(_) => true,
            Place::New(_) => false,
        })
    }

    /// Finds a key, and uses its place under the lock. The hooks of its type
    /// run while no lock is held, on what the dict held then; when the set of
    /// keys is another one afterwards, they look again.
    fn locate<R>(&self, key: &Value, body: impl FnOnce(&mut Map, Place) -> R) -> Result<R> {
        let Some(hooked) = hooked(key)? else {
            return Ok(body(&mut self.reference.lock(), Place::Plain));
        };
        for _ in 0..MAX_LOOKS {
            let (entries, version) = {
                let entries = self.reference.lock();
                (entries.clone(), self.version())
            };
            refresh();
            let place = match hooked.position(entries.reference())? {
                Some(position) => Place::At(position),
                None => Place::New(hooked.hash),
            };
            // As another owner it would make a change copy the whole map.
            drop(entries);
            let mut entries = self.reference.lock();
            if self.version() == version {
                return Ok(body(&mut entries, place));
            }
        }
        Err(Error::new(
            ErrorKind::Runtime,
            "the dict changes whenever a key is looked up, by the hooks of the key's type",
        ))
    }

    /// A copy of the entry at a position in insertion order. O(1).
    pub fn get_index(&self, position: usize) -> Option<(K, V)> {
        let entries = self.reference.lock();
        let (key, value) = entries.get_index(position)?;
        Some((K::peek(key)?.clone(), V::peek(value)?.clone()))
    }

    /// The first key of a name. O(1) amortised over changes that add entries
    /// or take the last one out; O(n) after any other.
    ///
    /// All questions to one dict are asked with the same function.
    pub(crate) fn key_named(&self, name: &str, name_of: fn(&Value) -> Option<&str>) -> Option<K> {
        let entries = self.reference.lock();
        let mut names = self.reference.names();
        let names = names.get_or_insert_with(|| Box::new(NameIndex::new(name_of)));
        let position = names.find(entries.reference(), name)?;
        let (key, _) = entries.get_index(position)?;
        K::peek(key).cloned()
    }

    /// Replaces all entries and gives the old ones back. O(n).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn replace(&self, entries: Map) -> Result<Map> {
        let dict = &self.reference;
        loop {
            let number = dict.demands.number();
            let entries = self.admit(entries.clone())?;
            dict.note_all(&entries);
            let held = dict.lock();
            if dict.demands.number() == number {
                return Ok(dict.swap(held, entries));
            }
        }
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

    pub(super) fn payload(&self) -> &DictObj {
        &self.reference
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
