//! The table of attributes: names, and for each name a map from index to value. Readers
//! take no lock.
//!
//! Published data is never freed: names, values, including replaced values, and
//! outgrown maps (together smaller than the current map). Readers therefore need no
//! protection, and a value can be lent for the lifetime of the process.
//!
//! No user code runs while the writers' lock is held.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rapidhash::fast::RandomState;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::published::Published;
use crate::kernel::types::Schema;
use crate::kernel::value::Value;

/// A method of a node trait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraitMethod {
    /// The name.
    pub name: &'static str,
    /// The documentation; may be empty.
    pub doc: &'static str,
    /// True if an implementation must provide the method; otherwise the trait has a
    /// default body.
    pub required: bool,
    /// The names of the arguments, without `self`.
    pub arguments: &'static [&'static str],
}

/// The declaration of an attribute, apart from its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declaration {
    /// Empty if not declared.
    pub(crate) doc: Box<str>,
    /// None if not declared.
    pub(crate) schema: Option<Schema>,
    /// A check of the values beyond the schema.
    pub(crate) check: Option<fn(&Value) -> Result<()>>,
    /// The methods of the attribute's trait.
    pub(crate) methods: &'static [TraitMethod],
}

impl Declaration {
    /// Converts a value to the stored form of the attribute.
    ///
    /// # Errors
    ///
    /// `TypeError` and `ValueError` naming the expected value.
    pub(crate) fn accept(&self, value: Value) -> Result<Value> {
        let value = match &self.schema {
            Some(schema) => schema.convert(value)?,
            None => value,
        };
        self.check.map_or(Ok(()), |check| check(&value))?;
        Ok(value)
    }

    fn check(&self, value: &Value) -> Result<()> {
        if let Some(schema) = &self.schema {
            schema.check(value)?;
        }
        self.check.map_or(Ok(()), |check| check(value))
    }

    /// True if another declaration adds nothing.
    fn includes(&self, other: &Declaration) -> bool {
        self.doc == other.doc
            && self.schema == other.schema
            && self.check.is_some() == other.check.is_some()
            && self.methods.len() == other.methods.len()
    }

    /// Merges two declarations; None in case of a contradiction.
    fn merge(&self, other: &Declaration) -> Option<Declaration> {
        let doc = match (&*self.doc, &*other.doc) {
            (own, "") => own,
            ("", other) => other,
            (own, other) if own == other => own,
            _ => return None,
        };
        let schema = match (&self.schema, &other.schema) {
            (own, None) => own,
            (None, other) => other,
            (own, other) if own == other => own,
            _ => return None,
        };
        Some(Declaration {
            doc: doc.into(),
            schema: schema.clone(),
            // Only the trait owning an attribute has a check.
            check: self.check.or(other.check),
            methods: match self.methods {
                [] => other.methods,
                own => own,
            },
        })
    }
}

/// True if nothing was declared meanwhile.
fn same(now: Option<&'static Declaration>, then: Option<&'static Declaration>) -> bool {
    now.map(std::ptr::from_ref) == then.map(std::ptr::from_ref)
}

/// An attribute: the name and the values by index.
pub struct Attribute {
    name: Box<str>,
    /// The general tier: only what is set.
    sparse: Published<Sparse>,
    /// The hot tier, if the attribute was promoted: one slot per index.
    dense: Published<Dense>,
    declaration: Published<Declaration>,
}

/// A hash table with open addressing; a slot is taken once its key is set.
struct Sparse {
    /// Index plus one; zero means free.
    keys: Box<[AtomicU32]>,
    values: Box<[Published<Value>]>,
}

struct Dense {
    values: Box<[Published<Value>]>,
}

fn empty_cells<T: Sync + 'static>(count: usize) -> Box<[Published<T>]> {
    (0..count).map(|_| Published::new()).collect()
}

impl Sparse {
    fn with_capacity(capacity: usize) -> Self {
        Sparse {
            keys: (0..capacity).map(|_| AtomicU32::new(0)).collect(),
            values: empty_cells(capacity),
        }
    }

    /// The slot of an index, or the free slot for the index. There is always a free
    /// slot.
    #[inline(always)]
    fn place(&self, index: u32) -> (usize, bool) {
        let capacity = self.keys.len();
        // Multiply-shift: indices of one dialect are consecutive, and the multiplier
        // spreads them over any capacity without a division.
        let spread = u64::from(index.wrapping_mul(0x9E37_79B1));
        let mut place = ((spread * capacity as u64) >> 32) as usize;
        loop {
            match self.keys[place].load(Ordering::Acquire) {
                0 => return (place, false),
                key if key == index + 1 => return (place, true),
                _ => place += 1,
            }
            if place == capacity {
                place = 0;
            }
        }
    }

    #[inline(always)]
    fn get(&self, index: u32) -> Option<&'static Value> {
        match self.place(index) {
            (place, true) => self.values[place].get(),
            _ => None,
        }
    }

    fn taken(&self) -> usize {
        let taken = |key: &&AtomicU32| key.load(Ordering::Relaxed) != 0;
        self.keys.iter().filter(taken).count()
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &'static Value)> {
        self.keys
            .iter()
            .zip(&self.values)
            .filter_map(|(key, value)| {
                let index = key.load(Ordering::Acquire).checked_sub(1)?;
                Some((index, value.get()?))
            })
    }

    /// The capacity of the table replacing a table of this capacity.
    fn next_capacity(capacity: usize) -> usize {
        match capacity {
            0 => 4,
            4 => 12,
            more => more * 2,
        }
    }

    /// Memory of the table, and of all replaced tables.
    fn bytes(&self) -> usize {
        let sizes = std::iter::successors(Some(4), |&size| Some(Sparse::next_capacity(size)));
        sizes
            .take_while(|&size| size <= self.keys.len())
            .map(|size| size_of::<Self>() + size * (size_of::<u32>() + size_of::<usize>()))
            .sum()
    }
}

impl Attribute {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn declaration(&self) -> Option<&'static Declaration> {
        self.declaration.get()
    }

    pub(crate) fn is_dense(&self) -> bool {
        self.dense.get().is_some()
    }

    /// The value at an index. O(1), no lock.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<&'static Value> {
        match self.dense.get() {
            Some(dense) => dense.values.get(index as usize)?.get(),
            None => self.sparse.get()?.get(index),
        }
    }

    /// All values with their indices, sorted.
    pub(crate) fn entries(&self) -> Vec<(u32, &'static Value)> {
        let mut found: Vec<_> = match (self.dense.get(), self.sparse.get()) {
            (Some(dense), _) => {
                let places = (0..).zip(&dense.values);
                let set = places.filter_map(|(index, value)| Some((index, value.get()?)));
                set.collect()
            }
            (None, Some(sparse)) => sparse.iter().collect(),
            (None, None) => Vec::new(),
        };
        found.sort_unstable_by_key(|(index, _)| *index);
        found
    }

    /// Memory of the attribute, without the values.
    pub(crate) fn bytes(&self) -> usize {
        let map = match (self.dense.get(), self.sparse.get()) {
            (Some(dense), _) => size_of::<Dense>() + dense.values.len() * size_of::<usize>(),
            (None, Some(sparse)) => sparse.bytes(),
            (None, None) => 0,
        };
        // A name has two slots in the table of names, which is half empty.
        size_of::<Self>() + self.name.len() + 2 * size_of::<usize>() + map
    }

    /// Sets or, with None, removes a value; the caller holds the lock.
    fn store(&self, index: u32, value: Option<&'static Value>) {
        let cell = match self.dense.get() {
            Some(dense) => self.dense_place(dense, index),
            None => self.sparse_place(index, value.is_some()),
        };
        match (cell, value) {
            (Some(cell), Some(value)) => cell.publish(value),
            (Some(cell), None) => cell.withdraw(),
            (None, _) => {}
        }
        if let (Some(sparse), None) = (self.sparse.get(), self.dense.get()) {
            // The key is stored last: a reader of the key sees the value.
            let (place, known) = sparse.place(index);
            if !known && value.is_some() {
                sparse.keys[place].store(index + 1, Ordering::Release);
            }
        }
    }

    fn dense_place(&self, dense: &'static Dense, index: u32) -> Option<&'static Published<Value>> {
        let index = index as usize;
        if let Some(cell) = dense.values.get(index) {
            return Some(cell);
        }
        let grown = Dense::holding(index + 1, dense.values.iter().map(Published::get));
        let grown: &'static Dense = Box::leak(Box::new(grown));
        self.dense.publish(grown);
        grown.values.get(index)
    }

    fn sparse_place(&self, index: u32, add: bool) -> Option<&'static Published<Value>> {
        let current = self.sparse.get();
        if let Some(sparse) = current {
            let (place, is_present) = sparse.place(index);
            // At most five of six slots are taken, to keep a free slot near.
            if is_present || (add && (sparse.taken() + 1) * 6 <= sparse.keys.len() * 5) {
                return Some(&sparse.values[place]);
            }
        }
        if !add {
            return None;
        }
        let capacity = current.map_or(0, |sparse| sparse.keys.len());
        let grown = Sparse::with_capacity(Sparse::next_capacity(capacity));
        for (key, value) in current.into_iter().flat_map(Sparse::iter) {
            let (place, _) = grown.place(key);
            grown.values[place].publish(value);
            grown.keys[place].store(key + 1, Ordering::Relaxed);
        }
        let grown: &'static Sparse = Box::leak(Box::new(grown));
        self.sparse.publish(grown);
        Some(&grown.values[grown.place(index).0])
    }

    fn make_dense(&self) {
        if self.is_dense() {
            return;
        }
        let entries = self.entries();
        let count = entries.last().map_or(0, |(index, _)| *index as usize + 1);
        let dense = Dense::holding(count, std::iter::empty());
        for (index, value) in entries {
            dense.values[index as usize].publish(value);
        }
        self.dense.publish(Box::leak(Box::new(dense)));
    }
}

impl Dense {
    /// A tier with room for at least `count` indices, starting with these values.
    fn holding(count: usize, values: impl Iterator<Item = Option<&'static Value>>) -> Self {
        let cells = empty_cells(count.next_power_of_two().max(64));
        for (cell, value) in cells.iter().zip(values) {
            if let Some(value) = value {
                cell.publish(value);
            }
        }
        Dense { values: cells }
    }
}

/// Attributes by name; open addressing, at most half full.
struct Names(Box<[Published<Attribute>]>);

impl Names {
    #[inline]
    fn place(&self, name: &str) -> &Published<Attribute> {
        let mask = self.0.len() - 1;
        let mut place = rapidhash::v3::rapidhash_v3(name.as_bytes()) as usize & mask;
        loop {
            match self.0[place].get() {
                Some(attribute) if *attribute.name != *name => place = (place + 1) & mask,
                _ => return &self.0[place],
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = &'static Attribute> {
        self.0.iter().filter_map(Published::get)
    }
}

/// State that only writers need.
#[derive(Default)]
struct Writers {
    /// Plain values, such as true, are stored once however often they are set.
    plain: Option<HashMap<Value, &'static Value, RandomState>>,
    /// Counts the changes, to check work done without the lock.
    version: u64,
}

/// Attributes of things identified by an index: types, operators.
pub struct AttrTable {
    names: Published<Names>,
    writers: Mutex<Writers>,
    /// Describes the owner of an index in messages.
    describe: fn(u32) -> String,
}

impl AttrTable {
    /// An empty table.
    pub const fn new(describe: fn(u32) -> String) -> Self {
        AttrTable {
            names: Published::new(),
            writers: Mutex::new(Writers {
                plain: None,
                version: 0,
            }),
            describe,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Writers> {
        // No user code runs under the lock, and nothing is half done at any point where
        // memory may run out.
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attribute with a name, if ever set or declared. O(1), no lock.
    #[inline]
    pub fn find(&self, name: &str) -> Option<&'static Attribute> {
        self.names.get()?.place(name).get()
    }

    /// The attribute with a name, created if necessary.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name.
    pub(crate) fn open(&self, name: &str) -> Result<&'static Attribute> {
        match self.find(name) {
            Some(attribute) => Ok(attribute),
            None => self.open_locked(name, &self.lock()),
        }
    }

    fn open_locked(
        &self,
        name: &str,
        _guard: &MutexGuard<'_, Writers>,
    ) -> Result<&'static Attribute> {
        if name.is_empty() {
            return Err(Error::value_error("an attribute needs a name"));
        }
        if let Some(attribute) = self.find(name) {
            return Ok(attribute);
        }
        let existing = self.names.get();
        let count = existing.map_or(0, |names| names.all().count());
        let names = match existing {
            Some(names) if (count + 1) * 2 <= names.0.len() => names,
            _ => {
                let grown = Names(empty_cells(((count + 1) * 2).next_power_of_two().max(32)));
                for attribute in existing.into_iter().flat_map(Names::all) {
                    grown.place(&attribute.name).publish(attribute);
                }
                let grown: &'static Names = Box::leak(Box::new(grown));
                self.names.publish(grown);
                grown
            }
        };
        let attribute: &'static Attribute = Box::leak(Box::new(Attribute {
            name: name.into(),
            sparse: Published::new(),
            dense: Published::new(),
            declaration: Published::new(),
        }));
        names.place(name).publish(attribute);
        Ok(attribute)
    }

    /// Sets a value, and runs `installed` before another writer can intervene.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name, or a second value without `replace`; `TypeError`
    /// for a value forbidden by the declaration.
    pub fn set(
        &self,
        index: u32,
        name: &str,
        value: Value,
        replace: bool,
        installed: impl FnOnce(),
    ) -> Result<()> {
        let mut value = value;
        loop {
            // A conversion may run user code: it happens without the lock, and again if
            // the declaration has changed meanwhile.
            let declaration = self.find(name).and_then(Attribute::declaration);
            if let Some(declaration) = declaration {
                value = declaration.accept(value).map_err(|error| {
                    let owner = (self.describe)(index);
                    error.in_context(format_args!("attribute '{name}' of {owner}"))
                })?;
            }
            let mut guard = self.lock();
            let attribute = self.open_locked(name, &guard)?;
            if !same(attribute.declaration(), declaration) {
                continue;
            }
            if let Some(old) = attribute.get(index).filter(|_| !replace) {
                // The text of a value may run code of the value's type.
                drop(guard);
                let owner = (self.describe)(index);
                return Err(Error::value_error(format!(
                    "attribute '{name}' of {owner} is set already, to {old:?}; to replace it, say \
                     so (override)"
                )));
            }
            let kept = guard.keep(value);
            guard.version += 1;
            attribute.store(index, Some(kept));
            installed();
            return Ok(());
        }
    }

    /// Sets a checked value, for an index not yet visible to anybody else.
    pub(crate) fn place(&self, index: u32, name: &str, value: Value) {
        let mut guard = self.lock();
        // An empty name, without a slot, was rejected before.
        if let Ok(attribute) = self.open_locked(name, &guard) {
            let kept = guard.keep(value);
            guard.version += 1;
            attribute.store(index, Some(kept));
        }
    }

    /// Removes a value; false if there was no value.
    pub fn remove(&self, index: u32, name: &str) -> bool {
        let mut guard = self.lock();
        let Some(attribute) = self.find(name) else {
            return false;
        };
        let known = attribute.get(index).is_some();
        if known {
            guard.version += 1;
            attribute.store(index, None);
        }
        known
    }

    /// Documents an attribute, and declares its values.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name, or one with a different declaration; `TypeError`
    /// if an existing value is not of the type.
    pub(crate) fn declare(&self, name: &str, declaration: Declaration) -> Result<()> {
        loop {
            let version = self.lock().version;
            let attribute = self.open(name)?;
            let existing = attribute.declaration();
            let declaration = match existing {
                Some(existing) => existing
                    .merge(&declaration)
                    .ok_or_else(|| conflict(name, existing, &declaration))?,
                None => declaration.clone(),
            };
            if existing.is_some_and(|existing| existing.includes(&declaration)) {
                return Ok(());
            }
            for (index, value) in attribute.entries() {
                declaration.check(value).map_err(|error| {
                    let owner = (self.describe)(index);
                    error.in_context(format_args!("attribute '{name}' of {owner}"))
                })?;
            }
            let guard = self.lock();
            if guard.version == version && same(attribute.declaration(), existing) {
                attribute
                    .declaration
                    .publish(Box::leak(Box::new(declaration)));
                return Ok(());
            }
        }
    }

    /// Moves an attribute to the hot tier.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name.
    pub(crate) fn make_dense(&self, name: &str) -> Result<()> {
        let guard = self.lock();
        self.open_locked(name, &guard)?.make_dense();
        Ok(())
    }

    /// All attributes, by name.
    pub fn all(&self) -> Vec<&'static Attribute> {
        let mut all: Vec<_> = self.names.get().into_iter().flat_map(Names::all).collect();
        all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

impl Writers {
    /// Stores a value for the lifetime of the process.
    fn keep(&mut self, value: Value) -> &'static Value {
        if value.as_object().is_some() {
            return Box::leak(Box::new(value));
        }
        let plain = self.plain.get_or_insert_default();
        match plain.get(&value) {
            Some(kept) => kept,
            None => {
                let kept: &'static Value = Box::leak(Box::new(value.clone()));
                plain.insert(value, kept);
                kept
            }
        }
    }
}

fn conflict(name: &str, known: &Declaration, given: &Declaration) -> Error {
    let schema = |declaration: &Declaration| match &declaration.schema {
        Some(schema) => schema.to_string(),
        None => "anything".to_owned(),
    };
    let what = if known.schema == given.schema || given.schema.is_none() {
        "with another documentation".to_owned()
    } else {
        format!("for {}, now for {}", schema(known), schema(given))
    };
    Error::value_error(format!("attribute '{name}' is declared already, {what}"))
}
