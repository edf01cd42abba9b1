//! Stores.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use isoform_store::{FileTotals, Limits, Name, NewEntry, Store, StoreOptions, StoredFile};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyCFunction, PyDict};

use super::entry::{EntryHandle, KeyHandle, are_equal, binary, program_value};
use super::{buffer, detached, interruptible};
use crate::error::IntoPyResult;

/// Bytes under their digests, and results under keys, for any number of processes.
///
/// Made by `Store.open`. A store never returns wrong bytes: a damaged file counts as absent.
/// A handle works in a forked child, and is pickled by its URL and options, never with
/// credentials.
#[pyclass(frozen, name = "Store", module = "isoform.store")]
pub(crate) struct StoreHandle {
    /// None when closed.
    store: RwLock<Option<Store>>,
    url: String,
    options: Options,
}

#[derive(Clone, Copy, Debug)]
struct Options {
    read_only: bool,
    durable: bool,
    limits: Limits,
}

/// Seconds, or a `datetime.timedelta`.
#[derive(FromPyObject)]
enum Age {
    Delta(Duration),
    Seconds(f64),
}

impl Age {
    fn duration(self) -> PyResult<Duration> {
        match self {
            Age::Delta(duration) => Ok(duration),
            Age::Seconds(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|error| PyValueError::new_err(format!("max_age {seconds}: {error}"))),
        }
    }
}

fn limits(
    max_bytes: Option<u64>,
    max_age: Option<Age>,
    max_count: Option<u64>,
) -> PyResult<Limits> {
    Ok(Limits {
        max_bytes,
        max_count,
        max_age: max_age.map(Age::duration).transpose()?,
    })
}

/// The function that opens a pickled store, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyDict>));

impl StoreHandle {
    /// The store, or an error if it is closed.
    pub(crate) fn store(&self) -> PyResult<Store> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        store.clone().ok_or_else(|| {
            PyValueError::new_err("the store is closed; open it again with Store.open")
        })
    }

    /// True for a store on a server.
    pub(super) fn is_remote(&self) -> bool {
        isoform_store::is_remote(&self.url)
    }

    /// Runs a short operation of the store.
    fn detached<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce() -> isoform::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        detached(py, self.is_remote(), job)
    }
}

#[pymethods]
impl StoreHandle {
    /// Opens a store: the path of a folder, which is created on demand, "memory:", or the
    /// URL of a server, such as "s3:bucket/prefix" or "redis://host", for which
    /// `pip install 'isoform[remote]'` adds the client.
    ///
    /// Args:
    ///     url: the path or URL.
    ///     read_only: never change the store.
    ///     durable: every put survives a loss of power.
    ///     max_bytes: the size of all files at which a put evicts the least recently used.
    ///     max_age: the time since its last use after which a file is evicted, in seconds or
    ///         as a timedelta.
    ///     max_count: the number of files at which a put evicts the least recently used.
    ///
    /// Raises ValueError for another URL, OSError if the folder cannot be opened, and
    /// ImportError without the client of servers.
    #[staticmethod]
    #[pyo3(signature = (url, *, read_only=false, durable=false, max_bytes=None, max_age=None, max_count=None))]
    fn open(
        py: Python<'_>,
        url: std::path::PathBuf,
        read_only: bool,
        durable: bool,
        max_bytes: Option<u64>,
        max_age: Option<Age>,
        max_count: Option<u64>,
    ) -> PyResult<Self> {
        let url = url.into_os_string().into_string().map_err(|url| {
            PyValueError::new_err(format!("store {}: expected UTF-8", url.display()))
        })?;
        let limits = limits(max_bytes, max_age, max_count)?;
        let options = Options {
            read_only,
            durable,
            limits,
        };
        let opened = StoreOptions::default()
            .read_only(read_only)
            .durable(durable)
            .limits(limits);
        let store = py.detach(|| opened.open(&url)).into_py()?;
        finish_at_exit(py)?;
        Ok(StoreHandle {
            store: RwLock::new(Some(store)),
            url,
            options,
        })
    }

    /// Closes the handle: later calls raise ValueError. Calls of other threads come to their
    /// end.
    fn close(&self) {
        *self.store.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyAny>) {
        self.close();
    }

    /// The URL without credentials.
    #[getter]
    fn url(&self) -> String {
        isoform_store::without_credentials(&self.url)
    }

    /// Stores bytes, and returns their name: 64 hexadecimal digits. Raises OSError if the
    /// bytes cannot be stored. O(bytes).
    fn put(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<String> {
        let (store, data) = (self.store()?, buffer(data)?);
        let name = self.detached(py, move || store.put(&data))?;
        Ok(name.to_string())
    }

    /// Returns the bytes with a name, or None. Raises ValueError for a text that is not a
    /// name. O(bytes).
    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (store, name) = (self.store()?, name_of(name)?);
        let found = self.detached(py, move || store.get(&name))?;
        Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// True if `get` returns the bytes now. O(bytes).
    fn contains(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let (store, name) = (self.store()?, name_of(name)?);
        self.detached(py, move || store.contains(&name))
    }

    /// Removes the bytes with a name. Returns False if the store does not have them.
    fn remove(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let (store, name) = (self.store()?, name_of(name)?);
        self.detached(py, move || store.remove(&name))
    }

    /// Stores a result under a key, unless the key has an entry. Returns True if the store
    /// has this result now, and False if it keeps an earlier one.
    ///
    /// Args:
    ///     key: the key.
    ///     value: the result, bytes.
    ///     metadata: texts by name, which `entry` returns.
    ///     program: a node, value or model that the store keeps next to the entry, instead of
    ///         the program of the key.
    #[pyo3(signature = (key, value, *, metadata=None, program=None))]
    fn put_entry(
        &self,
        py: Python<'_>,
        key: &Bound<'_, KeyHandle>,
        value: &Bound<'_, PyAny>,
        metadata: Option<BTreeMap<String, String>>,
        program: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (store, value, key) = (self.store()?, buffer(value)?, key.get());
        let program = match program {
            Some(program) => Some(binary(py, &program_value(program)?)?),
            None => key.program.clone(),
        };
        let mut new = NewEntry::new(value.to_vec());
        for (name, text) in metadata.into_iter().flatten() {
            new = new.metadata(name, text);
        }
        if let Some(program) = program {
            new = new.program(program);
        }
        let key = key.key.clone();
        self.detached(py, move || store.put_entry(&key, &new))
    }

    /// Returns the entry of a key, or None.
    ///
    /// Args:
    ///     key: the key.
    ///     confirm: True to return only an entry whose kept program is structurally equal to
    ///         the program of the key; or another program for the comparison. A key that
    ///         forgets an input is found in this way.
    #[pyo3(signature = (key, *, confirm=None))]
    fn entry(
        &self,
        py: Python<'_>,
        key: &Bound<'_, KeyHandle>,
        confirm: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<EntryHandle>> {
        let (store, key) = (self.store()?, key.get());
        let program = match confirm {
            None => None,
            Some(confirm) => match confirm.extract::<bool>() {
                Ok(false) => None,
                Ok(true) => Some(key.program.clone().ok_or_else(|| {
                    PyValueError::new_err(
                        "confirm=True: the key has no program; pass program=node to EntryKey, or \
                         the program as confirm",
                    )
                })?),
                Err(_) => Some(binary(py, &program_value(confirm)?)?),
            },
        };
        let Some(program) = program else {
            let key = key.key.clone();
            let found = self.detached(py, move || store.entry(&key))?;
            return Ok(found.map(EntryHandle));
        };
        // Comparisons that are written in Python attach the thread by themselves.
        let key = key.key.clone();
        let found = self.detached(py, move || store.entry_confirmed(&key, &program, are_equal))?;
        Ok(found.map(EntryHandle))
    }

    /// Removes the entry of a key. Returns False if there is none.
    fn remove_entry(&self, py: Python<'_>, key: &Bound<'_, KeyHandle>) -> PyResult<bool> {
        let (store, key) = (self.store()?, key.get());
        let key = key.key.clone();
        self.detached(py, move || store.remove_entry(&key))
    }

    /// All values and entries, as (kind, name, bytes of the file, time of the last use in
    /// seconds since 1970). O(files).
    fn list(&self, py: Python<'_>) -> PyResult<Vec<(String, String, u64, u64)>> {
        let store = self.store()?;
        let files = interruptible(py, move || {
            store.list()?.collect::<isoform::Result<Vec<_>>>()
        })?;
        let row = |file: StoredFile| {
            (
                file.kind.to_string(),
                file.name.to_string(),
                file.size,
                file.used,
            )
        };
        Ok(files.into_iter().map(row).collect())
    }

    /// The keys of the entries with all these parts, newest first, as pairs: the digest, and
    /// the parts as in `EntryKey.parts`. A name other than job, program, version, cache and
    /// cache_version is that of an option. O(files) without an index.
    #[pyo3(signature = (**parts))]
    fn find(
        &self,
        py: Python<'_>,
        parts: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<(String, BTreeMap<String, String>)>> {
        let store = self.store()?;
        let mut wanted: Vec<(String, String)> = Vec::new();
        for (name, value) in parts.into_iter().flatten() {
            let name: String = name.extract()?;
            let name = match &*name {
                "job" | "program" | "version" | "cache" => name,
                "cache_version" => "cache.version".to_owned(),
                _ => format!("option.{name}"),
            };
            wanted.push((name, value.str()?.to_string()));
        }
        let found = interruptible(py, move || {
            let wanted: Vec<(&str, &str)> = wanted
                .iter()
                .map(|(name, value)| (&**name, &**value))
                .collect();
            store.find_entries(&wanted)
        })?;
        let found = found.into_iter();
        Ok(found
            .map(|(name, parts)| (name.to_string(), parts))
            .collect())
    }

    /// The number and the bytes of the files: {"values": {"files": …, "bytes": …}, "entries":
    /// the same}. O(1) after the first call.
    fn sizes(
        &self,
        py: Python<'_>,
    ) -> PyResult<BTreeMap<&'static str, BTreeMap<&'static str, u64>>> {
        let store = self.store()?;
        let sizes = interruptible(py, move || store.sizes())?;
        Ok(BTreeMap::from([
            ("values", totals(sizes.values)),
            ("entries", totals(sizes.entries)),
        ]))
    }

    /// Counts of this handle: hits, misses, damaged files, unconfirmed hits, puts and bytes.
    fn statistics(&self) -> PyResult<BTreeMap<&'static str, u64>> {
        let found = self.store()?.statistics();
        Ok(BTreeMap::from([
            ("hits", found.hits),
            ("misses", found.misses),
            ("torn", found.torn),
            ("unconfirmed", found.unconfirmed),
            ("puts", found.puts),
            ("repeated_puts", found.repeated_puts),
            ("cache_errors", found.cache_errors),
            ("bytes_read", found.bytes_read),
            ("bytes_written", found.bytes_written),
        ]))
    }

    /// Checks all files. Returns {"whole": count, "bytes": count, "damage": [(path, reason)],
    /// "foreign": [(path, layout version)], "removed": count}. `repair` removes the damaged
    /// files. O(bytes of all files).
    #[pyo3(signature = (repair=false))]
    fn verify<'py>(&self, py: Python<'py>, repair: bool) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store()?;
        let report = interruptible(py, move || {
            if repair {
                store.repair()
            } else {
                store.verify()
            }
        })?;
        let damage: Vec<(String, String)> = report
            .damage
            .into_iter()
            .map(|found| (found.path, found.reason))
            .collect();
        let data = PyDict::new(py);
        data.set_item("whole", report.whole)?;
        data.set_item("bytes", report.bytes)?;
        data.set_item("damage", damage)?;
        data.set_item("foreign", report.foreign)?;
        data.set_item("removed", report.removed)?;
        Ok(data)
    }

    /// Removes the least recently used files until the store is within the limits, which are
    /// those of `open`. Returns {"removed": {"files": …, "bytes": …}, "kept": the same}.
    /// O(files).
    #[pyo3(signature = (*, max_bytes=None, max_age=None, max_count=None))]
    fn evict(
        &self,
        py: Python<'_>,
        max_bytes: Option<u64>,
        max_age: Option<Age>,
        max_count: Option<u64>,
    ) -> PyResult<BTreeMap<&'static str, BTreeMap<&'static str, u64>>> {
        let (store, limits) = (self.store()?, limits(max_bytes, max_age, max_count)?);
        let eviction = interruptible(py, move || store.evict(&limits))?;
        Ok(BTreeMap::from([
            ("removed", totals(eviction.removed)),
            ("kept", totals(eviction.kept)),
        ]))
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, handle) = (this.py(), this.get());
        let store = handle.store()?;
        if handle.url.starts_with("memory:") {
            return Err(PyTypeError::new_err(
                "a store in memory belongs to its process and cannot be pickled; open a folder",
            ));
        }
        let public = isoform_store::without_credentials(&handle.url);
        let is_folder = !handle.is_remote();
        // Another process may have another working directory.
        let url = if is_folder {
            store.description()
        } else {
            public
        };
        let options = PyDict::new(py);
        let (given, limits) = (handle.options, handle.options.limits);
        options.set_item("read_only", given.read_only)?;
        options.set_item("durable", given.durable)?;
        options.set_item("max_bytes", limits.max_bytes)?;
        options.set_item("max_age", limits.max_age)?;
        options.set_item("max_count", limits.max_count)?;
        let reopen = py.import("isoform.store")?.getattr("_reopened")?;
        Ok((reopen, (url, options)))
    }

    fn __repr__(&self) -> String {
        match self.store() {
            Ok(store) => format!("<Store {}>", store.description()),
            Err(_) => "<Store, closed>".to_owned(),
        }
    }
}

/// Python may end without dropping its objects, such as functions of modules: the rows that
/// wait for an index are written at its exit. A fork waits until no other thread is in the
/// middle of a transaction.
fn finish_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: PyOnceLock<()> = PyOnceLock::new();
    REGISTERED
        .get_or_try_init(py, || {
            let finish = PyCFunction::new_closure(py, None, None, |args, _| {
                args.py().detach(Store::finish_all);
            })?;
            py.import("atexit")?.call_method1("register", (finish,))?;
            // Systems without forks have no such function.
            if let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? {
                let hook = |call: fn()| {
                    PyCFunction::new_closure(py, None, None, move |args, _| {
                        args.py().detach(call);
                    })
                };
                let hooks = PyDict::new(py);
                hooks.set_item("before", hook(Store::before_fork)?)?;
                hooks.set_item("after_in_parent", hook(Store::after_fork)?)?;
                register.call((), Some(&hooks))?;
            }
            Ok(())
        })
        .copied()
}

fn name_of(text: &str) -> PyResult<Name> {
    text.parse().into_py()
}

fn totals(totals: FileTotals) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([("files", totals.files), ("bytes", totals.bytes)])
}
