//! Stores of bytes and results, for `isoform.store`.
//!
//! | file | subject |
//! |---|---|
//! | `handle.rs` | stores |
//! | `entry.rs` | keys and entries |
//! | `cached.rs`, `arguments.rs`, `result.rs`, `failures.rs` | functions that keep their results |
//! | `client.rs` | servers, by another package |
//! | `pass_cache.rs` | a store as the cache of pure passes |

mod arguments;
mod cached;
mod client;
mod entry;
mod failures;
mod handle;
mod pass_cache;
mod result;

pub use self::pass_cache::StoreCache;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use isoform::Result;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::IntoPyResult;

/// How long an operation runs between two checks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Adds the names of this folder.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    client::install();
    module.add_class::<handle::StoreHandle>()?;
    module.add_class::<entry::KeyHandle>()?;
    module.add_class::<entry::EntryHandle>()?;
    module.add_class::<cached::CallsHandle>()?;
    module.add_class::<cached::PendingHandle>()?;
    module.add_function(wrap_pyfunction!(pass_cache::store_cache, module)?)
}

/// Runs a long operation without the GIL in a thread of its own: Ctrl-C ends the wait,
/// and the operation goes on to its end.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    // Without a receiver, nobody needs the result.
    thread::spawn(move || drop(sender.send(job())));
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        match received {
            Ok(result) => return result.into_py(),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("an operation panicked"));
            }
        }
    }
}

/// Runs a short operation without the GIL. A server may take its time, so Ctrl-C ends the
/// wait for a server.
fn detached<T: Send + 'static>(
    py: Python<'_>,
    is_remote: bool,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    if is_remote {
        interruptible(py, job)
    } else {
        py.detach(job).into_py()
    }
}

/// The bytes of an object with the buffer protocol, without a copy for `bytes`.
fn buffer(data: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone().into());
    }
    let view: pyo3::buffer::PyBuffer<u8> = pyo3::buffer::PyBuffer::get(data)?;
    let copy = view.to_vec(data.py())?;
    Ok(PyBytes::new(data.py(), &copy).into())
}
