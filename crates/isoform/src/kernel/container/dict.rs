//! `Dict`: a mutable, shared map changing under the access rule.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::demands;
use super::lookup::hooked;
use super::mapping::{Map, Place};
use super::mutable::Mutable;
use super::name_index::NameIndex;
use crate::kernel::convert::IntoField;
use crate::kernel::error::Result;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// The payload of a dict.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct DictObj {
    pub(crate) entries: Mutable<Map>,
    /// The index of keys by name, present after the first lookup by name. It is locked
    /// while the entries are read or written, and dropped when entries change their
    /// positions.
    names: Mutex<Option<Box<NameIndex>>>,
}

// The collector of cycles finds the object of a dict from its entries.
const _: () = assert!(std::mem::offset_of!(DictObj, entries) == 0);

impl DictObj {
    pub(crate) fn holding(entries: Map) -> Self {
        DictObj {
            entries: Mutable::holding(entries),
            names: Mutex::new(None),
        }
    }

    fn note(&self, key: &Value, value: &Value) {
        self.entries.note(key);
        self.entries.note(value);
    }

    /// Removes and returns the entry at a position.
    fn remove_at(&self, held: &mut Map, position: usize) -> Option<(Value, Value)> {
        let mut names = self.names();
        if position + 1 == held.len() {
            // Removing the last entry moves no others.
            if let Some(names) = &mut *names {
                names.forget_last(held.reference());
            }
        } else {
            *names = None;
        }
        drop(names);
        let removed = held.make_mut().remove_at(position)?;
        self.entries.advance_version();
        Some(removed)
    }

    fn names(&self) -> MutexGuard<'_, Option<Box<NameIndex>>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn snapshot(&self) -> Map {
        self.entries.snapshot()
    }

    pub(crate) fn copy_payload(&self) -> Self {
        DictObj::holding(self.snapshot())
    }
}

/// A mutable mapping in insertion order; cloning the handle shares the dict.
///
/// Keys are found as in [`Map`]. Hooks of keys run without holding a lock, and may use
/// the same dict.
///
/// ```
/// use isoform::values::Dict;
/// let d: Dict = Dict::new();
/// d.insert("k".into(), 1.into())?;
/// assert_eq!(d.len(), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
pub struct Dict<K = Value, V = Value> {
    reference: Ref<DictObj>,
    elements: PhantomData<(K, V)>,
}

impl<K: ElementType, V: ElementType> Dict<K, V> {
    /// An empty dict.
    pub fn new() -> Self {
        std::iter::empty().collect()
    }

    /// A dict with the entries of a map. O(1).
    #[doc(hidden)]
    pub fn of(entries: Map) -> Self {
        Dict {
            reference: Ref::new(DictObj::holding(entries)),
            elements: PhantomData,
        }
    }

    /// Makes a dict with these entries; of equal keys, the last one counts.
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the keys' types.
    pub fn try_from_entries(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.into_value(), value.into_value()));
        Ok(Dict::of(Map::try_from_entries(entries)?))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.reference.entries.held.read(Map::len)
    }

    /// True if the dict is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The current contents as an immutable map. O(1).
    pub fn snapshot(&self) -> Map {
        self.reference.snapshot()
    }

    /// Returns a copy of a key's value.
    pub fn get(&self, key: impl Into<Value>) -> Option<V> {
        self.try_get(key).ok().flatten()
    }

    /// Returns a copy of a key's value.
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type.
    pub fn try_get(&self, key: impl Into<Value>) -> Result<Option<V>> {
        self.look(&key.into(), |entries, position| {
            let (_, value) = entries.get_index(position?)?;
            V::peek(value).cloned()
        })
    }

    /// Sets the value of a key and returns the old value.
    ///
    /// # Errors
    ///
    /// `TypeError` if the type of a field containing the dict forbids the entry; errors
    /// from the hooks of the key's type and of converting types; `RuntimeError` if the
    /// hooks change the dict during every lookup, or the host language has shut down.
    /// On an error, nothing changes.
    pub fn insert(&self, key: K, value: V) -> Result<Option<Value>> {
        let dict = &self.reference;
        let entry = (key.into_value(), value.into_value());
        let admit =
            |number, (key, value): &mut (Value, Value)| demands::admit_entry(number, key, value);
        self.change(
            entry,
            admit,
            |(key, _)| key,
            |held, (key, value), place| {
                dict.note(key, value);
                let before = held.len();
                // If the key exists, this copy is dropped, but not as its last owner.
                let (key, value) = (key.clone(), std::mem::take(value));
                let old = held.make_mut().put(place, key, value);
                if held.len() != before {
                    dict.entries.advance_version();
                }
                old
            },
        )
    }

    /// Converts entries to the types required by the fields containing the dict, like
    /// an insertion. O(n).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn admit(&self, entries: Map) -> Result<Map> {
        let number = self.reference.entries.demands().number();
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

    /// Removes an entry, keeping the order of the other entries. O(n), or O(1) for the
    /// last entry.
    pub fn remove(&self, key: impl Into<Value>) -> Option<Value> {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// [`remove`](Self::remove), also returning the stored key.
    pub fn remove_entry(&self, key: impl Into<Value>) -> Option<(Value, Value)> {
        self.try_remove_entry(key).ok().flatten()
    }

    /// [`remove`](Self::remove), also returning the stored key.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn try_remove_entry(&self, key: impl Into<Value>) -> Result<Option<(Value, Value)>> {
        let key = &key.into();
        let admit = |_, _: &mut &Value| Ok(());
        self.change(
            key,
            admit,
            |key| key,
            |held, key, place| {
                let position = match place {
                    Place::Plain => held.reference().entries.get_index_of(*key)?,
                    Place::At(position) => position,
                    Place::New(_) => return None,
                };
                // The caller drops the key, too.
                self.reference.remove_at(held, position)
            },
        )
    }

    /// Removes and returns the last entry. O(1). Also returns None after the shutdown
    /// of the host language, when values can no longer change.
    pub fn pop(&self) -> Option<(Value, Value)> {
        let dict = &self.reference;
        let last = dict.entries.held.write(dict.identity(), |held| {
            let last = held.len().checked_sub(1)?;
            dict.remove_at(held, last)
        });
        last.ok().flatten()
    }

    /// True if the dict contains the key. O(1).
    pub fn contains_key(&self, key: impl Into<Value>) -> bool {
        self.try_contains_key(key).unwrap_or(false)
    }

    /// True if the dict contains the key. O(1).
    ///
    /// # Errors
    ///
    /// Errors from the hooks of the key's type.
    pub fn try_contains_key(&self, key: impl Into<Value>) -> Result<bool> {
        self.look(&key.into(), |_, position| position.is_some())
    }

    /// Finds a key and reads at its position. The hooks of the key's type run without
    /// holding a lock, on the contents at that time.
    fn look<R>(&self, key: &Value, body: impl FnOnce(&Map, Option<usize>) -> R) -> Result<R> {
        let Some(hooked) = hooked(key)? else {
            let position = |held: &Map| held.reference().entries.get_index_of(key);
            let dict = &self.reference.entries.held;
            return Ok(dict.read(|held| body(held, position(held))));
        };
        let entries = self.snapshot();
        let position = hooked.position(entries.reference())?;
        Ok(body(&entries, position))
    }

    /// Changes the dict at the position of a key. The hooks of the key's type run
    /// without holding a lock, on the contents at that time. If the set of keys has
    /// changed by then, the lookup is repeated.
    fn change<P, R>(
        &self,
        parts: P,
        admit: impl Fn(u32, &mut P) -> Result<()>,
        key: impl Fn(&P) -> &Value,
        body: impl FnOnce(&mut Map, &mut P, Place) -> R,
    ) -> Result<R> {
        let (dict, mut body) = (&self.reference.entries, Some(body));
        let find = |parts: &P| {
            let Some(hooked) = hooked(key(parts))? else {
                return Ok((Place::Plain, None));
            };
            let (entries, version) = dict.held.read(|held| (held.clone(), dict.version()));
            Ok(match hooked.position(entries.reference())? {
                Some(position) => (Place::At(position), Some(version)),
                None => (Place::New(hooked.hash), Some(version)),
            })
        };
        dict.change(
            self.reference.identity(),
            parts,
            admit,
            find,
            |held, parts, (place, version)| {
                if version.is_some_and(|version| version != dict.version()) {
                    return None;
                }
                Some(body.take()?(held, parts, place))
            },
        )
    }

    /// Returns a copy of the entry at a position in insertion order. O(1).
    pub fn get_index(&self, position: usize) -> Option<(K, V)> {
        self.reference.entries.held.read(|held| {
            let (key, value) = held.get_index(position)?;
            Some((K::peek(key)?.clone(), V::peek(value)?.clone()))
        })
    }

    /// The first key with a name. O(1) amortised over additions of entries and removals
    /// of the last entry; O(n) after any other change.
    ///
    /// All calls for one dict must pass the same function.
    #[doc(hidden)]
    pub fn key_named(&self, name: &str, name_of: fn(&Value) -> Option<&str>) -> Option<K> {
        self.reference.entries.held.read(|held| {
            let mut names = self.reference.names();
            let names = names.get_or_insert_with(|| Box::new(NameIndex::new(name_of)));
            let position = names.find(held.reference(), name)?;
            let (key, _) = held.get_index(position)?;
            K::peek(key).cloned()
        })
    }

    /// Replaces all entries and returns the old entries. O(n).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn replace(&self, entries: Map) -> Result<Map> {
        let dict = &self.reference;
        let admit = |_, entries: &mut Map| {
            *entries = self.admit(entries.clone())?;
            Ok(())
        };
        dict.entries.change(
            dict.identity(),
            entries,
            admit,
            |_| Ok(()),
            |held, entries, ()| {
                for (key, value) in entries.iter() {
                    dict.note(key, value);
                }
                dict.entries.advance_version();
                *dict.names() = None;
                Some(std::mem::replace(held, std::mem::take(entries)))
            },
        )
    }

    /// A number that changes whenever the set of keys does, but not when an existing
    /// key gets a new value. O(1).
    ///
    /// Iterators of host languages use the number to detect concurrent changes of the
    /// dict.
    pub fn version(&self) -> u64 {
        self.reference.entries.version()
    }

    /// Removes all entries. Does nothing after the shutdown of the host language.
    pub fn clear(&self) {
        // This is the only possible error.
        let _ended = self.replace(Map::new());
    }

    /// True if both are the same object.
    pub fn same_as(&self, other: &Dict<K, V>) -> bool {
        self.reference.same_as(&other.reference)
    }
}

/// The entries at the time of the call, in insertion order.
impl<K: ElementType, V: ElementType> IntoIterator for &Dict<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        let entries = self.snapshot();
        let typed = |(key, value)| Some((K::peek(key)?.clone(), V::peek(value)?.clone()));
        let entries: Vec<(K, V)> = entries.iter().filter_map(typed).collect();
        entries.into_iter()
    }
}

/// Keys and values convert as for a field.
impl<G, H, K, V, const N: usize> From<[(G, H); N]> for Dict<K, V>
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

impl<K, V> Clone for Dict<K, V> {
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

impl<K: ElementType, V: ElementType> From<&Dict<K, V>> for Value {
    fn from(map: &Dict<K, V>) -> Self {
        map.clone().into()
    }
}

impl<K: ElementType, V: ElementType> From<Dict<K, V>> for Value {
    fn from(dict: Dict<K, V>) -> Self {
        Value::from_object(dict.reference.into_object())
    }
}
