//! A cache of computations in a store.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::entry::{Entry, NewEntry};
use crate::flights::Caller;
use crate::key::{EntryKey, EntryKeyBuilder};
use crate::reserve::{Reservation, Reserved};
use crate::store::Store;

/// Runs each computation once, for all threads and processes that share a store.
///
/// The first caller of a key computes while the others wait; the end of a process frees
/// the others. A failing store makes a cache slow, but never makes a call fail:
/// [`Statistics::cache_errors`](crate::Statistics::cache_errors) counts these errors.
///
/// ```
/// use isoform_store::{Cache, EntryKey, Store};
///
/// let cache = Cache::new(&Store::open("memory:")?, "square", "1");
/// let key = EntryKey::builder("square").option("of", 12).build();
/// let square = cache.get_or_compute(&key, || Ok(b"144".to_vec()))?;
/// assert_eq!(square, "144");
/// let again = cache.get_or_compute(&key, || unreachable!("the cache has it"))?;
/// assert_eq!(again, square);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    store: Store,
    name: String,
    version: String,
    patience: Duration,
    failures: Option<Failures>,
}

/// Which failures a cache remembers, and for how long.
#[derive(Clone, Copy, Debug)]
struct Failures {
    lifetime: Duration,
    is_lasting: fn(&Error) -> bool,
}

impl Cache {
    /// A cache in a store. Another name or version gets other entries: change the version
    /// when the computation returns other results.
    pub fn new(store: &Store, name: &str, version: &str) -> Self {
        Cache {
            store: store.clone(),
            name: name.to_owned(),
            version: version.to_owned(),
            patience: Duration::from_secs(600),
            failures: None,
        }
    }

    /// The longest time to wait for another caller that computes the same key; ten
    /// minutes by default. Whoever waited longer computes, too.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Remembers the failures for which the function returns true: a call within the
    /// lifetime fails with the same kind and message. A failure that may go away by
    /// itself, such as a full disk, is not worth remembering.
    #[must_use]
    pub fn remember_failures(mut self, lifetime: Duration, is_lasting: fn(&Error) -> bool) -> Self {
        self.failures = Some(Failures {
            lifetime,
            is_lasting,
        });
        self
    }

    /// The key of the entry in the store for a key of this cache. A key that this method
    /// returned, or that was built by [`key`](Self::key), stays the same.
    pub fn entry_key(&self, key: &EntryKey) -> EntryKey {
        self.full_key(key).into_owned()
    }

    /// Starts a key of this cache, whose lookups need not compute the key of the entry.
    pub fn key(&self, job: &str) -> EntryKeyBuilder {
        self.with_name(EntryKey::builder(job))
    }

    fn with_name(&self, builder: EntryKeyBuilder) -> EntryKeyBuilder {
        builder.part(NAME, &self.name).part(VERSION, &self.version)
    }

    fn full_key<'k>(&self, key: &'k EntryKey) -> Cow<'k, EntryKey> {
        let part = |name| key.parts().get(name);
        if part(NAME) == Some(&self.name) && part(VERSION) == Some(&self.version) {
            return Cow::Borrowed(key);
        }
        Cow::Owned(self.with_name(key.to_builder()).build())
    }

    /// Returns the result under a key, and computes the result if the store does not
    /// have it.
    ///
    /// A hit costs one read of a file. A miss takes a lock, computes and writes a file.
    ///
    /// # Errors
    ///
    /// The error of the computation, or of a remembered failure. A `RecursionError` if the
    /// computation asks for its own result.
    pub fn get_or_compute(
        &self,
        key: &EntryKey,
        compute: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Bytes> {
        if let Some(result) = self.lookup(key) {
            return result;
        }
        match self.claim_by(Caller::thread(), key, self.patience)? {
            Claimed::Found(result) => result,
            Claimed::Free(claim) => {
                let result = compute().map(Bytes::from);
                claim.keep(&result);
                result
            }
            Claimed::Busy => {
                let result = compute().map(Bytes::from);
                self.keep(&self.full_key(key), &result, false);
                result
            }
        }
    }

    /// Returns the result that the store has under a key, or the remembered failure;
    /// None without either. One read of a file.
    pub fn lookup(&self, key: &EntryKey) -> Option<Result<Bytes>> {
        self.stored(&self.full_key(key)).result
    }

    /// Claims the computation of a key for the caller, for computations that do not fit
    /// into a closure. Waits up to `patience` for another caller who has the claim.
    ///
    /// ```
    /// use std::time::Duration;
    /// use isoform_store::{Cache, Claimed, EntryKey, Store};
    ///
    /// let cache = Cache::new(&Store::open("memory:")?, "square", "1");
    /// let key = EntryKey::builder("square").option("of", 12).build();
    /// let Claimed::Free(claim) = cache.claim(&key, Duration::ZERO) else {
    ///     panic!("nobody else computes");
    /// };
    /// assert!(matches!(cache.claim(&key, Duration::ZERO), Claimed::Busy));
    /// claim.keep(&Ok("144".into()));
    /// assert_eq!(cache.lookup(&key).expect("the store has the result")?, "144");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn claim(&self, key: &EntryKey, patience: Duration) -> Claimed {
        let key = self.full_key(key);
        let reserved = self.store.reserve_for(key.digest(), None, patience);
        self.claimed(key, reserved)
    }

    /// As [`claim`](Self::claim), for a caller with an identity.
    ///
    /// ```
    /// use std::time::Duration;
    /// use isoform_store::{Cache, Caller, EntryKey, Store};
    ///
    /// let cache = Cache::new(&Store::open("memory:")?, "square", "1");
    /// let key = EntryKey::builder("square").option("of", 12).build();
    /// let claim = cache.claim_by(Caller::thread(), &key, Duration::ZERO)?;
    /// // Waiting would never end, so the error comes at once.
    /// let own = cache.claim_by(Caller::thread(), &key, Duration::from_secs(600));
    /// assert!(own.unwrap_err().message().contains("asks for its own result"));
    /// # drop(claim);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A `RecursionError` if the caller itself has the claim.
    pub fn claim_by(&self, caller: Caller, key: &EntryKey, patience: Duration) -> Result<Claimed> {
        let key = self.full_key(key);
        let reserved = self.store.reserve_for(key.digest(), Some(caller), patience);
        if matches!(reserved, Reserved::Own) {
            return Err(self.own_result(&key));
        }
        Ok(self.claimed(key, reserved))
    }

    fn claimed(&self, key: Cow<'_, EntryKey>, reserved: Reserved) -> Claimed {
        let Reserved::Free(reservation) = reserved else {
            return Claimed::Busy;
        };
        let stored = self.stored(&key);
        match stored.result {
            Some(result) => Claimed::Found(result),
            None => Claimed::Free(Claim {
                cache: self.clone(),
                key: key.into_owned(),
                replaces: stored.is_expired,
                _reservation: reservation,
            }),
        }
    }

    /// The error about a computation that would wait for itself.
    fn own_result(&self, key: &EntryKey) -> Error {
        let job = key.parts().get("job").map_or("", String::as_str);
        let message = format!(
            "cache {:?}: the computation of job {job:?}, key {}, asks for its own result; compute \
             a recursive part under a key of its own",
            self.name,
            key.digest()
        );
        Error::new(ErrorKind::Recursion, message)
    }

    fn stored(&self, key: &EntryKey) -> Lookup {
        let mut lookup = Lookup::default();
        match self.store.entry(key) {
            Ok(None) => {}
            Ok(Some(entry)) if !entry.is_failure => lookup.result = Some(Ok(entry.value)),
            Ok(Some(entry)) => {
                lookup.result = self.remembered(&entry).map(Err);
                lookup.is_expired = lookup.result.is_none();
            }
            Err(_) => self.store.inner.counters.cache_errors.add(1),
        }
        lookup
    }

    /// The error of an entry about a failure; None if its time is over.
    fn remembered(&self, entry: &Entry) -> Option<Error> {
        let lifetime = self.failures?.lifetime.as_secs();
        // A failure from the future is one from before a clock went back.
        let age = self
            .store
            .inner
            .options
            .clock
            .now()
            .checked_sub(entry.created)?;
        if age >= lifetime {
            return None;
        }
        let message = String::from_utf8_lossy(&entry.value).into_owned();
        let name = entry.metadata.get(KIND).map_or("", String::as_str);
        let error = match KINDS.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Error::new(kind, message),
            None => Error::of_kind(name, message),
        };
        Some(error.noted(format!("remembered by the cache {:?}", self.name)))
    }

    fn keep(&self, key: &EntryKey, result: &Result<Bytes>, replaces: bool) {
        if self.store.inner.options.is_read_only() {
            return;
        }
        let new = match result {
            Ok(value) => NewEntry::new(value.clone()),
            Err(error) => match self.failures {
                Some(failures) if (failures.is_lasting)(error) => {
                    NewEntry::new(error.message().to_owned())
                        .metadata(KIND, error.kind_name())
                        .failure()
                }
                _ => return,
            },
        };
        self.keep_entry(key, &new, replaces);
    }

    fn keep_entry(&self, key: &EntryKey, new: &NewEntry, replaces: bool) {
        if self.store.inner.options.is_read_only() {
            return;
        }
        let kept = if replaces {
            self.store.replace_entry(key, new)
        } else {
            self.store.put_entry(key, new).map(drop)
        };
        if kept.is_err() {
            self.store.inner.counters.cache_errors.add(1);
        }
    }
}

/// The answer to [`Cache::claim`].
#[derive(Debug)]
pub enum Claimed {
    /// The store has the result, or a remembered failure.
    Found(Result<Bytes>),
    /// The caller computes, and the others wait until the claim is dropped.
    Free(Claim),
    /// Another caller computes, and the patience is over.
    Busy,
}

/// The claim of a caller that computes the result of a key.
#[derive(Debug)]
pub struct Claim {
    cache: Cache,
    key: EntryKey,
    replaces: bool,
    _reservation: Reservation,
}

impl Claim {
    /// Stores the result, or a failure that the cache remembers, and ends the claim.
    pub fn keep(self, result: &Result<Bytes>) {
        self.cache.keep(&self.key, result, self.replaces);
    }

    /// As [`keep`](Self::keep), for a result that keeps the program of its key.
    pub fn keep_entry(self, new: &NewEntry) {
        self.cache.keep_entry(&self.key, new, self.replaces);
    }
}

#[derive(Default)]
struct Lookup {
    result: Option<Result<Bytes>>,
    /// True if there is a failure whose time is over.
    is_expired: bool,
}

/// The names of the parts of a key that belong to a cache.
const NAME: &str = "cache";
const VERSION: &str = "cache.version";

/// The name of the kind of an error in the metadata of an entry.
const KIND: &str = "error";

const KINDS: [ErrorKind; 8] = [
    ErrorKind::Type,
    ErrorKind::Value,
    ErrorKind::Key,
    ErrorKind::Attribute,
    ErrorKind::Index,
    ErrorKind::Recursion,
    ErrorKind::Io,
    ErrorKind::Runtime,
];
