//! A store as the cache of pure passes.

use bytes::Bytes;
use isoform::{Result, Value};
use isoform_ir::transform::{Cache, ResultCache};
use isoform_store::{EntryKey, Name, NewEntry, Store};
use pyo3::prelude::*;

use super::handle::StoreHandle;
use crate::convert::to_python;

/// Keeps the results of pure passes in a store; `transform::Cache::of` makes it a cache.
#[derive(Debug)]
pub struct StoreCache {
    store: Store,
}

impl StoreCache {
    /// A cache in a store.
    pub fn new(store: Store) -> Self {
        StoreCache { store }
    }
}

fn entry_key(key: &[u8]) -> EntryKey {
    // A key names every input of a result.
    EntryKey::builder("pass").program(Name::of(key)).build()
}

impl ResultCache for StoreCache {
    fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let entry = self.store.entry(&entry_key(key))?;
        Ok(entry.map(|entry| entry.value.to_vec()))
    }

    fn store(&self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let new = NewEntry::new(Bytes::copy_from_slice(bytes));
        self.store.put_entry(&entry_key(key), &new).map(drop)
    }
}

/// The cache of pure passes that keeps results in a store.
#[pyfunction]
#[pyo3(name = "_store_cache")]
pub(super) fn store_cache<'py>(store: &Bound<'py, StoreHandle>) -> PyResult<Bound<'py, PyAny>> {
    let cache = Cache::of(StoreCache::new(store.get().store()?));
    to_python(store.py(), &Value::from(cache))
}
