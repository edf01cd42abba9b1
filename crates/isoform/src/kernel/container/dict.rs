//! `Dict`: mutable and shared, a map that changes under the access rule.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::demands;
use super::lookup::hooked;
use super::mapping::{Map, Place};
use super::mutable::Mutable;
use super::names::NameIndex;
use crate::kernel::error::Result;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// The payload of a dict.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct DictObj {
    pub(crate) entries: Mutable<Map>,
    /// Where keys are by their names, once that was asked for; locked while
    /// the entries are read or written. It is dropped when entries change their
    /// positions.
    names: Mutex<Option<Box<NameIndex>>>,
}

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
        self.reference.entries.held.read(Map::len)
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
        self.look(key, |entries, position| {
            let (_, value) = entries.get_index(position?)?;
            V::peek(value).cloned()
        })
    }

    /// Sets the value of a key and gives the old one back.
    ///
    /// # Errors
    ///
    /// `TypeError` when the dict stands in a field whose type forbids the
    /// entry; those of the hooks of the key's type and of types that convert.
    /// `RuntimeError` when the hooks change the dict each time they look, or the
    /// host language has ended. Nothing changes then.
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
                // If the key is there, this one is dropped: not as its last owner.
                let (key, value) = (key.clone(), std::mem::take(value));
                let old = held.make_mut().put(place, key, value);
                if held.len() != before {
                    dict.entries.advance_version();
                }
                old
            },
        )
    }

    /// These entries as the dict would store them: converted to what the
    /// fields that it stands in demand. O(n).
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
                // The key, too, is dropped by the caller.
                self.reference.remove_at(held, position)
            },
        )
    }

    /// Takes the last entry out. O(1). None as well once the host language has
    /// ended, when nothing can be changed any more.
    pub fn pop(&self) -> Option<(Value, Value)> {
        let dict = &self.reference;
        let last = dict.entries.held.write(dict.identity(), |held| {
            let last = held.len().checked_sub(1)?;
            dict.remove_at(held, last)
        });
        last.ok().flatten()
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
        self.look(key, |_, position| position.is_some())
    }

    /// Finds a key, and reads at its position. The hooks of its type run while
    /// no lock is held, on what the dict held then.
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

    /// Changes the dict at the place of a key. The hooks of its type run while
    /// no lock is held, on what the dict held then; when the set of keys is
    /// another one afterwards, they look again.
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

    /// A copy of the entry at a position in insertion order. O(1).
    pub fn get_index(&self, position: usize) -> Option<(K, V)> {
        self.reference.entries.held.read(|held| {
            let (key, value) = held.get_index(position)?;
            Some((K::peek(key)?.clone(), V::peek(value)?.clone()))
        })
    }

    /// The first key of a name. O(1) amortised over changes that add entries
    /// or take the last one out; O(n) after any other.
    ///
    /// All questions to one dict are asked with the same function.
    pub(crate) fn key_named(&self, name: &str, name_of: fn(&Value) -> Option<&str>) -> Option<K> {
        self.reference.entries.held.read(|held| {
            let mut names = self.reference.names();
            let names = names.get_or_insert_with(|| Box::new(NameIndex::new(name_of)));
            let position = names.find(held.reference(), name)?;
            let (key, _) = held.get_index(position)?;
            K::peek(key).cloned()
        })
    }

    /// Replaces all entries and gives the old ones back. O(n).
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

    /// A number that is another one after each change of the set of keys; a
    /// new value for a key is none. O(1).
    ///
    /// Iterators of host languages tell by it that a dict changed under them.
    pub fn version(&self) -> u64 {
        self.reference.entries.version()
    }

    /// Takes all entries out. Does nothing once the host language has ended.
    pub fn clear(&self) {
        // The error can only be that one.
        let _ended = self.replace(Map::new());
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
