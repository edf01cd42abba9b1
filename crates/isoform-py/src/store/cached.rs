//! Functions that keep their results in a store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use isoform::{Array, Value};
use isoform_store::{Cache, Caller, Claim, Claimed, EntryKey, NewEntry, Store};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::arguments::{Described, Parts, Signature};
use super::entry::{are_equal, binary};
use super::failures::Failures;
use super::handle::StoreHandle;
use super::result::Codec;
use super::{PAUSE, detached, interruptible};
use crate::error::IntoPyResult;

/// How long a call waits for another caller that computes the same result.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long a remembered failure is raised again.
const FAILURE_LIFETIME: Duration = Duration::from_secs(3600);

/// The calls of a function whose results are kept; see `isoform.store.cached`.
#[pyclass(frozen, name = "CachedCalls", module = "isoform.store")]
pub(crate) struct CallsHandle {
    store: Store,
    /// True for a store on a server.
    is_remote: bool,
    cache: Cache,
    function: Py<PyAny>,
    signature: Signature,
    key_function: Option<Py<PyAny>>,
    failures: Failures,
    confirm: bool,
    codec: Codec,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The options of `isoform.store.cached`, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    key: Option<Py<PyAny>>,
    failures: Vec<Py<PyType>>,
    confirm: bool,
    dumps: Option<Py<PyAny>>,
    loads: Option<Py<PyAny>>,
}

/// A call: its key, and its arguments in the binary form if hits are confirmed.
struct Call {
    key: EntryKey,
    program: Option<Bytes>,
}

/// How a computed result is kept.
enum Keep {
    /// For the others, who wait.
    Claim(Box<Claim>),
    /// Unless somebody else has kept a result.
    Put,
    /// In place of bytes that this process cannot read.
    Replace,
    /// The key belongs to another program.
    Nothing,
}

enum State<'py> {
    Found(Bound<'py, PyAny>),
    Free(Keep),
    Busy,
}

#[pymethods]
impl CallsHandle {
    #[new]
    #[pyo3(signature = (store, name, version, function, parameters, bind, options))]
    fn new(
        store: &Bound<'_, StoreHandle>,
        name: &str,
        version: &str,
        function: Py<PyAny>,
        parameters: Vec<Described>,
        bind: Py<PyAny>,
        options: Options,
    ) -> PyResult<Self> {
        let py = store.py();
        let (is_remote, store) = (store.get().is_remote(), store.get().store()?);
        let mut cache = Cache::new(&store, name, version);
        if !options.failures.is_empty() {
            // The caller decides by the class of the exception.
            cache = cache.remember_failures(FAILURE_LIFETIME, |_| true);
        }
        Ok(CallsHandle {
            store,
            is_remote,
            cache,
            function,
            signature: Signature::new(py, parameters, bind)?,
            key_function: options.key,
            failures: Failures(options.failures),
            confirm: options.confirm,
            codec: Codec {
                dumps: options.dumps,
                loads: options.loads,
            },
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        })
    }

    /// Returns the kept result of a call, or calls the function and keeps the result.
    #[pyo3(signature = (args, kwargs))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call_of(args, kwargs)?;
        if let Some(result) = self.find(py, &call)? {
            return Ok(result);
        }
        let start = Instant::now();
        let keep = loop {
            match self.claim(py, &call, Some(Caller::thread()), PAUSE)? {
                State::Found(result) => return Ok(result),
                State::Free(keep) => break keep,
                State::Busy if start.elapsed() > PATIENCE => break Keep::Put,
                State::Busy => py.check_signals()?,
            }
        };
        match self.function.bind(py).call(args, kwargs) {
            Ok(result) => {
                self.keep(&call, keep, &result)?;
                Ok(result)
            }
            Err(error) => {
                self.keep_failure(py, keep, &error)?;
                Err(error)
            }
        }
    }

    /// Begins a call of a coroutine function: the kept result as a tuple of one, or the call
    /// that is to be made.
    #[pyo3(signature = (args, kwargs))]
    fn begin<'py>(
        this: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, calls) = (this.py(), this.get());
        let call = calls.call_of(args, kwargs)?;
        if let Some(result) = calls.find(py, &call)? {
            return Ok(PyTuple::new(py, [result])?.into_any());
        }
        let pending = PendingHandle {
            calls: this.clone().unbind(),
            call,
            start: Instant::now(),
            keep: Mutex::new(None),
        };
        Ok(Bound::new(py, pending)?.into_any())
    }

    /// The digest of the key of a call.
    #[pyo3(signature = (args, kwargs))]
    fn key(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let call = self.call_of(args, kwargs)?;
        Ok(self.cache.entry_key(&call.key).digest().to_string())
    }

    /// Removes the result of a call. Returns False if there is none.
    #[pyo3(signature = (args, kwargs))]
    fn remove(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let key = self.cache.entry_key(&self.call_of(args, kwargs)?.key);
        let store = self.store.clone();
        detached(py, self.is_remote, move || store.remove_entry(&key))
    }

    /// The numbers of hits and misses of this process, and of errors of the store.
    fn info(&self) -> (u64, u64, u64) {
        let errors = self.store.statistics().cache_errors;
        (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
            errors,
        )
    }
}

impl CallsHandle {
    fn call_of(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Call> {
        let py = args.py();
        let parts_of = |values: Option<Vec<Value>>| Parts {
            key: self.cache.key("cached"),
            values,
        };
        let mut parts = parts_of(self.confirm.then(Vec::new));
        let key = match &self.key_function {
            None => {
                self.signature.add(&mut parts, args, kwargs)?;
                parts.key
            }
            Some(function) => {
                if self.confirm {
                    self.signature.add(&mut parts, args, kwargs)?;
                }
                let mut own = parts_of(None);
                own.add("key", &function.bind(py).call(args, kwargs)?)?;
                own.key
            }
        };
        let arguments = parts.values.map(|values| Array::from_iter(values).into());
        Ok(Call {
            key: key.build(),
            program: arguments.map(|values| binary(py, &values)).transpose()?,
        })
    }

    /// The kept result of a call, or the remembered failure.
    fn find<'py>(&self, py: Python<'py>, call: &Call) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = match &call.program {
            None => self.ask(py, call, Cache::lookup)?,
            Some(program) => self.confirmed(py, call, program)?,
        };
        let result = match found {
            Some(found) => self.codec.decode(py, &self.counted(py, found)?)?,
            None => None,
        };
        if result.is_some() {
            self.hits.fetch_add(1, Ordering::Relaxed);
        }
        Ok(result)
    }

    /// The bytes of a hit; a remembered failure is a hit, too.
    fn counted(&self, py: Python<'_>, found: isoform::Result<Bytes>) -> PyResult<Bytes> {
        found.or_else(|error| {
            self.hits.fetch_add(1, Ordering::Relaxed);
            Err(self.failures.raised(py, error)?)
        })
    }

    /// As a lookup of the cache, for an entry with the programs of this call.
    fn confirmed(
        &self,
        py: Python<'_>,
        call: &Call,
        program: &[u8],
    ) -> PyResult<Option<isoform::Result<Bytes>>> {
        let (store, key) = (self.store.clone(), self.cache.entry_key(&call.key));
        let program = program.to_vec();
        let found = detached(py, self.is_remote, move || {
            // A store that fails makes a call slow.
            Ok(store
                .entry_confirmed(&key, &program, are_equal)
                .unwrap_or(None))
        })?;
        match found {
            Some(entry) if entry.is_failure => self.ask(py, call, Cache::lookup),
            found => Ok(found.map(|entry| Ok(entry.value))),
        }
    }

    /// Asks the cache about a call, without the GIL. The common case, a store on this
    /// machine, copies nothing; Ctrl-C ends the wait for a server.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        call: &Call,
        question: impl FnOnce(&Cache, &EntryKey) -> T + Send + 'static,
    ) -> PyResult<T> {
        if !self.is_remote {
            return Ok(py.detach(|| question(&self.cache, &call.key)));
        }
        let (cache, key) = (self.cache.clone(), call.key.clone());
        interruptible(py, move || Ok(question(&cache, &key)))
    }

    fn claim<'py>(
        &self,
        py: Python<'py>,
        call: &Call,
        caller: Option<Caller>,
        patience: Duration,
    ) -> PyResult<State<'py>> {
        let claimed = self.ask(py, call, move |cache, key| match caller {
            Some(caller) => cache.claim_by(caller, key, patience),
            None => Ok(cache.claim(key, patience)),
        })?;
        let keep = match claimed.into_py()? {
            Claimed::Busy => return Ok(State::Busy),
            Claimed::Free(claim) => Keep::Claim(Box::new(claim)),
            Claimed::Found(found) => {
                if let Some(result) = self.find(py, call)? {
                    return Ok(State::Found(result));
                }
                match (found, call.program.is_some()) {
                    (Ok(_), false) => Keep::Replace,
                    _ => Keep::Nothing,
                }
            }
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        Ok(State::Free(keep))
    }

    fn keep(&self, call: &Call, keep: Keep, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut new = NewEntry::new(self.codec.encode(result)?);
        if let Some(program) = &call.program {
            new = new.program(program.clone());
        }
        let (store, key) = (self.store.clone(), self.cache.entry_key(&call.key));
        detached(result.py(), self.is_remote, move || {
            // A store that fails makes a call slow.
            let _ = match keep {
                Keep::Claim(claim) => {
                    claim.keep_entry(&new);
                    Ok(())
                }
                Keep::Put => store.put_entry(&key, &new).map(drop),
                Keep::Replace => store.replace_entry(&key, &new),
                Keep::Nothing => Ok(()),
            };
            Ok(())
        })
    }

    fn keep_failure(&self, py: Python<'_>, keep: Keep, error: &PyErr) -> PyResult<()> {
        if let Keep::Claim(claim) = keep
            && let Some(error) = self.failures.kept(py, error)?
        {
            detached(py, self.is_remote, move || {
                claim.keep(&Err(error));
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// A call of a coroutine function that has no result yet.
#[pyclass(frozen, name = "PendingCall", module = "isoform.store")]
pub(crate) struct PendingHandle {
    calls: Py<CallsHandle>,
    call: Call,
    start: Instant,
    keep: Mutex<Option<Keep>>,
}

impl PendingHandle {
    fn taken(&self) -> PyResult<Keep> {
        let keep = self
            .keep
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        keep.ok_or_else(|| PyRuntimeError::new_err("this call has not started, or has ended"))
    }
}

#[pymethods]
impl PendingHandle {
    /// The result of another caller as a tuple of one; True if this call computes, and False
    /// while another caller computes. `task` is the identity of the task that asks, if there is
    /// one: a task that asks for its own result raises RecursionError.
    #[pyo3(signature = (task))]
    fn poll<'py>(&self, py: Python<'py>, task: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let (calls, caller) = (self.calls.get(), task.map(Caller::task));
        let state = calls.claim(py, &self.call, caller, Duration::ZERO)?;
        let keep = match state {
            State::Found(result) => return Ok(PyTuple::new(py, [result])?.into_any()),
            State::Free(keep) => keep,
            State::Busy if self.start.elapsed() > PATIENCE => Keep::Put,
            State::Busy => return Ok(false.into_pyobject(py)?.to_owned().into_any()),
        };
        *self.keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(keep);
        Ok(true.into_pyobject(py)?.to_owned().into_any())
    }

    /// Keeps the result of the call.
    fn keep(&self, result: &Bound<'_, PyAny>) -> PyResult<()> {
        self.calls.get().keep(&self.call, self.taken()?, result)
    }

    /// Ends the call without a result, and remembers an exception of the declared classes.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) -> PyResult<()> {
        let keep = self.taken()?;
        let error = PyErr::from_value(error.clone());
        if !error
            .value(py)
            .is_instance_of::<pyo3::exceptions::PyBaseException>()
        {
            return Err(PyTypeError::new_err("expected an exception"));
        }
        self.calls.get().keep_failure(py, keep, &error)
    }
}
