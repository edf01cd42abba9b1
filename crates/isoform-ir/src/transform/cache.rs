//! Caches for the results of memoised passes: bytes by key; and the declaration that a
//! pass is memoised.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use isoform::functions::Function;
use isoform::values::{Bytes, ValueRef};
use isoform::{Error, Node, Ref, Result, Str, Value, export};
use rapidhash::fast::RandomState;

/// A store of bytes under keys of 32 bytes, in memory or anywhere else.
///
/// Keys name every influence on a result, so entries never become wrong. Processes and
/// machines may share a cache, and the cache may forget entries at any time.
pub trait ResultCache: Send + Sync + 'static {
    /// Returns the bytes of a key; None without an entry.
    ///
    /// # Errors
    ///
    /// Reported as a warning; the result is computed. Exceptions of Python that ask a
    /// program to end, such as KeyboardInterrupt, end the pass.
    fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Stores bytes under a key.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    fn store(&self, key: &[u8], bytes: &[u8]) -> Result<()>;
}

/// A cache in memory, dropping the least recently used entries.
///
/// The cache has two generations: when the young generation fills half of the bound,
/// the old generation is dropped. Use makes an entry young again.
#[derive(Debug)]
pub struct MemoryCache {
    half: usize,
    entries: Mutex<Generations>,
}

type Entries = HashMap<Box<[u8]>, Box<[u8]>, RandomState>;

#[derive(Debug, Default)]
struct Generations {
    young: Entries,
    old: Entries,
    /// The bytes of the young generation.
    size: usize,
}

impl Generations {
    fn add(&mut self, key: &[u8], bytes: Box<[u8]>, half: usize) {
        self.size += key.len() + bytes.len();
        if let Some(replaced) = self.young.insert(key.into(), bytes) {
            self.size -= key.len() + replaced.len();
        }
        if self.size > half {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
        }
    }
}

impl MemoryCache {
    /// A cache of at most about this many bytes.
    pub fn new(max_bytes: usize) -> Self {
        MemoryCache {
            half: max_bytes / 2,
            entries: Mutex::default(),
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.young.len() + entries.old.len()
    }

    /// True if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ResultCache for MemoryCache {
    fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = entries.young.get(key) {
            return Ok(Some(bytes.to_vec()));
        }
        let Some(bytes) = entries.old.remove(key) else {
            return Ok(None);
        };
        let found = bytes.to_vec();
        entries.add(key, bytes, self.half);
        Ok(Some(found))
    }

    fn store(&self, key: &[u8], bytes: &[u8]) -> Result<()> {
        // An entry that fills a generation would only drop the other entries.
        if key.len() + bytes.len() <= self.half {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.old.remove(key);
            entries.add(key, bytes.into(), self.half);
        }
        Ok(())
    }
}

/// A [`ResultCache`] of any language, for contexts.
#[derive(Node)]
#[node(key = "transform.Cache", kind = none)]
#[repr(C)]
pub struct Cache {
    /// Called with a key, a byte string; returns a byte string, or None.
    pub load: Function,
    /// Called with a key and a byte string.
    pub store: Function,
}

/// The declaration that a function pass is pure. The result depends only on the
/// function, the options of the pass and of the context, and the declared reads of the
/// program.
#[derive(Node)]
#[node(key = "transform.Memo", kind = none)]
#[repr(C)]
pub struct Memo {
    /// The version of the pass; change the version together with the results.
    pub version: Str,
    /// True if the pass depends on no field that comparison ignores, such as names and
    /// spans: functions with differences only in these fields share an entry.
    #[node(default = false)]
    pub ignores: bool,
    /// Returns what the pass reads of the program besides the signatures of the functions
    /// that it calls, from the function and the program. A pass without it gets a
    /// [`NoProgram`] in place of the program.
    #[node(default)]
    pub reads: Option<Function>,
    /// The place of the pass in source code, such as module and qualified name in
    /// Python: passes of one name from different places share no results.
    #[node(default)]
    pub code: Str,
    /// Returns all other influences on the pass, as a map from names to values, for
    /// example the captured variables of a closure. The pass must not change the
    /// values.
    #[node(default)]
    pub state: Option<Function>,
}

/// Replaces the program for a pure pass without declared reads of the program.
#[derive(Node)]
#[node(key = "transform.NoProgram", kind = none)]
#[repr(C)]
pub struct NoProgram {
    /// The name of the pass.
    pub of_pass: Str,
}

fn bytes_of(value: &Value) -> Result<&Bytes> {
    match value.view() {
        ValueRef::Bytes(_) => value
            .peek::<Bytes>()
            .ok_or_else(|| Error::type_error("expected bytes")),
        _ => Err(Error::type_error(format!(
            "transform.Cache: expected bytes, got {}",
            value.type_name()
        ))),
    }
}

impl Cache {
    /// A cache written in Rust.
    pub fn of(cache: impl ResultCache) -> Ref<Cache> {
        let shared = std::sync::Arc::new(cache);
        let other = std::sync::Arc::clone(&shared);
        let load = move |key: Bytes| shared.load(&key).map(|found| found.map(Bytes::from));
        let store = move |key: Bytes, bytes: Bytes| other.store(&key, &bytes);
        Cache::new(Function::typed(load), Function::typed(store))
    }

    /// The bytes stored for a key. A failing cache counts as a miss; an interrupt ends the
    /// pass.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let found = self.load.call(&[Bytes::from(key.to_vec()).into()]);
        let found = found.and_then(|found| {
            if found.is_none() {
                Ok(None)
            } else {
                bytes_of(&found).cloned().map(Some)
            }
        });
        found.or_else(|error| warned(error, "read").map(|()| None))
    }

    pub(super) fn keep(&self, key: &[u8], bytes: Vec<u8>) -> Result<()> {
        let arguments = [Bytes::from(key.to_vec()).into(), Bytes::from(bytes).into()];
        let stored = self.store.call(&arguments);
        stored.map(drop).or_else(|error| warned(error, "written"))
    }
}

/// Reports the failure of a cache.
///
/// # Errors
///
/// The exceptions of Python that ask a program to end.
fn warned(error: Error, what: &str) -> Result<()> {
    match error.kind_name() {
        "KeyboardInterrupt" | "SystemExit" | "GeneratorExit" => Err(error),
        _ => {
            tracing::warn!(target: "isoform.transform", "a cache of results cannot be {what}: {error}");
            Ok(())
        }
    }
}

/// Makes a cache in memory of at most about this many bytes.
#[export("passes.memory_cache")]
fn memory_cache(max_bytes: usize) -> Ref<Cache> {
    Cache::of(MemoryCache::new(max_bytes))
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![memory_cache]
}
