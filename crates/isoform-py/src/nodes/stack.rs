//! Stacks for methods that nest: a deep visit goes on in another thread.
//!
//! Python limits the calls of a thread that nest, and its native stack has an end. When a
//! thread has run a part of the levels that fit, the next level runs in a new thread, and
//! the first thread waits for the result. So plain methods nest far deeper than the limit,
//! and a visit of few levels never leaves its thread.
//!
//! The waiting thread lends everything that belongs to a visit: context variables and the
//! contexts of passes. Exceptions come back with their tracebacks. A signal handler runs
//! in the main thread; an exception of the handler, such as KeyboardInterrupt, is raised in
//! the thread that runs methods.
//!
//! A thread stays for further levels until the outermost visit of the first thread ends.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isoform_ir::transform::ThreadState;
use pyo3::exceptions::{PyOSError, PyRecursionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyTuple};

use crate::object::gil;

/// How many nested calls of Python a level may take, as a share of the limit.
const CALLS_PER_LEVEL: usize = 16;

/// The largest number of levels in a thread, whatever the limit of Python: every level
/// takes native stack.
const MOST_LEVELS: usize = 128;

/// The largest number of threads of one visit.
const MOST_THREADS: usize = 400;

thread_local! {
    static HERE: Here = const {
        Here {
            levels: Cell::new(0),
            lent: RefCell::new(None),
            next: RefCell::new(None),
        }
    };
}

/// The visits of a thread.
struct Here {
    /// The number of running levels.
    levels: Cell<usize>,
    /// The visit that this thread goes on with, for a thread of this module.
    lent: RefCell<Option<Arc<Chain>>>,
    /// The thread for further levels, while it is idle.
    next: RefCell<Option<Worker>>,
}

/// The threads of one visit, and an exception on its way to the thread that runs methods.
#[derive(Default)]
struct Chain(Mutex<Links>);

#[derive(Default)]
struct Links {
    /// The threads that go on with the visit, the deepest last.
    threads: Vec<gil::ThreadId>,
    /// True while the deepest thread starts another one. CPython 3.11 gives the new thread
    /// the identity of its starter until the new thread runs, so an exception for the starter
    /// could end the new thread, for whose start the starter would wait forever.
    is_starting: bool,
    raised: Option<PyErr>,
}

impl Chain {
    fn links(&self) -> MutexGuard<'_, Links> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the deepest thread raise an exception: at once if it runs code of Python. If it
    /// starts another thread, the first call of that thread raises the exception.
    fn interrupt(&self, py: Python<'_>, error: PyErr) {
        let class = error.get_type(py);
        let mut links = self.links();
        let old = links.raised.replace(error);
        if let Some(deepest) = links.threads.last()
            && !links.is_starting
        {
            gil::raise_in(py, *deepest, Some(&class));
        }
        drop(links);
        drop(old);
    }

    /// The exception that waits, if any: no thread raises it from now on. If the deepest
    /// thread `leaves`, exceptions reach the thread before.
    fn raised(&self, py: Python<'_>, leaves: bool) -> Option<PyErr> {
        let mut links = self.links();
        let raised = links.raised.take();
        if raised.is_some() {
            for thread in &links.threads {
                gil::raise_in(py, *thread, None);
            }
        }
        if leaves {
            links.threads.pop();
        }
        raised
    }

    /// The outcome of code that an exception may have reached.
    fn settled<T>(&self, py: Python<'_>, outcome: PyResult<T>, leaves: bool) -> PyResult<T> {
        let Some(raised) = self.raised(py, leaves) else {
            return outcome;
        };
        if let Err(error) = outcome
            && error.get_type(py).is(raised.get_type(py))
        {
            raised.set_traceback(py, error.traceback(py));
        }
        Err(raised)
    }
}

/// Runs a level of methods: `here` in this thread, or else the same as a call of a
/// function in a thread with a stack of its own.
///
/// # Errors
///
/// The exceptions of the methods; `RecursionError` if they nest beyond all threads.
pub(super) fn level<'py>(
    py: Python<'py>,
    here: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    elsewhere: impl FnOnce() -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)>,
) -> PyResult<Bound<'py, PyAny>> {
    /// Ends the level, even if the code panics.
    struct Level(usize);
    impl Drop for Level {
        fn drop(&mut self) {
            HERE.with(|here| here.levels.set(self.0));
        }
    }
    let levels = HERE.with(|here| here.levels.get());
    if levels >= most_levels(py) {
        let (function, arguments) = elsewhere()?;
        return lend(function, arguments);
    }
    let level = Level(levels);
    HERE.with(|here| here.levels.set(levels + 1));
    let result = here();
    drop(level);
    if levels > 0 || HERE.with(|here| here.lent.borrow().is_some()) {
        return result;
    }
    end_threads(py).and(result)
}

/// The number of levels that run in one thread.
fn most_levels(py: Python<'_>) -> usize {
    (gil::recursion_limit(py) / CALLS_PER_LEVEL).clamp(1, MOST_LEVELS)
}

/// Ends the idle thread of this thread, if any.
fn end_threads(py: Python<'_>) -> PyResult<()> {
    match HERE.with(|here| here.next.take()) {
        Some(worker) => worker.end(py),
        None => Ok(()),
    }
}

/// Calls a function in another thread, as part of the visit of this thread.
fn lend<'py>(
    function: Bound<'py, PyAny>,
    arguments: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let lent = HERE.with(|here| here.lent.borrow().clone());
    let is_first = lent.is_none();
    let chain = lent.unwrap_or_default();
    let worker = Worker::idle(py, &chain)?;
    let context = py.import("contextvars")?.call_method0("copy_context")?;
    let call = LentCall {
        function: function.unbind(),
        arguments: arguments.unbind(),
        context: context.clone().unbind(),
        chain: chain.clone(),
        state: Mutex::default(),
        outcome: Mutex::default(),
    };
    let call = Bound::new(py, call)?;
    call.get().state().exchange();
    let asked = worker.run(&call, is_first);
    call.get().state().exchange();
    HERE.with(|here| here.next.replace(Some(worker)));
    asked?;
    let outcome = call.get().outcome().take();
    let outcome = outcome.unwrap_or_else(|| Ok(py.None()));
    let outcome = if is_first {
        chain.settled(py, outcome, false)
    } else {
        outcome
    };
    let stacks = py.import("isoform._stacks")?;
    let adopted = stacks.call_method1("adopt", (context,));
    outcome.and_then(|result| adopted.map(|_| result.into_bound(py)))
}

/// Calls a function as a level of methods: where levels nest deeply, in a thread with a
/// stack of its own.
#[pyfunction]
#[pyo3(signature = (function, *arguments))]
pub(super) fn _level<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let here = || {
        let arguments: Vec<_> = arguments.as_slice().iter().collect();
        gil::call_with_all(function, &arguments)
    };
    let elsewhere = || Ok((function.clone(), arguments.clone()));
    level(function.py(), here, elsewhere)
}

/// A thread that goes on with visits.
struct Worker {
    thread: Py<PyAny>,
    /// The queue of calls for the thread; None ends it.
    calls: Py<PyAny>,
    /// The queue with an element for every finished call.
    finished: Py<PyAny>,
}

impl Worker {
    /// The idle thread of this thread, or a new thread.
    fn idle(py: Python<'_>, chain: &Chain) -> PyResult<Worker> {
        if let Some(worker) = HERE.with(|here| here.next.take()) {
            return Ok(worker);
        }
        if chain.links().threads.len() >= MOST_THREADS {
            return Err(too_deep(&format!("{MOST_THREADS} threads")));
        }
        let queue = py.import("queue")?.getattr("SimpleQueue")?;
        let (calls, finished) = (queue.call0()?, queue.call0()?);
        let serve = wrap_pyfunction!(_serve, py)?;
        let start = py.import("isoform._stacks")?.getattr("start")?;
        chain.links().is_starting = true;
        let started = start.call1((serve, &calls, &finished));
        chain.links().is_starting = false;
        match started {
            Ok(thread) => Ok(Worker {
                thread: thread.unbind(),
                calls: calls.unbind(),
                finished: finished.unbind(),
            }),
            Err(error) => {
                // The thread may run, if a signal handler raised the exception.
                calls.call_method1("put", (py.None(),))?;
                let no_thread = error.is_instance_of::<PyRuntimeError>(py)
                    || error.is_instance_of::<PyOSError>(py);
                if !no_thread {
                    return Err(error);
                }
                let refused = too_deep("the threads that the system allows");
                refused.set_cause(py, Some(error));
                Err(refused)
            }
        }
    }

    /// Runs a call in the thread, and waits for its end.
    fn run(&self, call: &Bound<'_, LentCall>, is_first: bool) -> PyResult<()> {
        let py = call.py();
        self.calls.call_method1(py, "put", (call,))?;
        let get = self.finished.bind(py).getattr("get")?;
        let (block, seconds) = (PyBool::new(py, true).to_owned(), PyFloat::new(py, 0.1));
        while !call.get().is_finished() {
            // Only the first thread can be the main thread, which runs signal handlers. A
            // signal that reached another thread does not wake it.
            let woken = if is_first {
                gil::call(&get, &[block.as_any(), seconds.as_any()])
            } else {
                gil::call(&get, &[])
            };
            let raised = match woken {
                Ok(_) => Ok(()),
                Err(error) if is_empty(py, &error) => py.check_signals(),
                Err(error) => Err(error),
            };
            if let Err(error) = raised {
                call.get().chain.interrupt(py, error);
            }
        }
        Ok(())
    }

    /// Ends the thread, and the threads that it has.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.calls.call_method1(py, "put", (py.None(),))?;
        gil::call(&self.thread.bind(py).getattr("join")?, &[]).map(drop)
    }
}

/// True for the exception of a queue that stayed empty.
fn is_empty(py: Python<'_>, error: &PyErr) -> bool {
    let empty = py.import("queue").and_then(|queue| queue.getattr("Empty"));
    empty.is_ok_and(|empty| error.is_instance(py, &empty))
}

/// The error for methods that nest beyond all threads.
fn too_deep(limit: &str) -> PyErr {
    PyRecursionError::new_err(format!("methods of a visit nest beyond {limit}"))
}

/// A call that another thread makes for the thread that waits.
#[pyclass(frozen, module = "isoform._core")]
struct LentCall {
    function: Py<PyAny>,
    arguments: Py<PyTuple>,
    /// The context variables.
    context: Py<PyAny>,
    chain: Arc<Chain>,
    state: Mutex<ThreadState>,
    outcome: Mutex<Option<PyResult<Py<PyAny>>>>,
}

impl LentCall {
    fn state(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outcome(&self) -> MutexGuard<'_, Option<PyResult<Py<PyAny>>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_finished(&self) -> bool {
        self.outcome().is_some()
    }

    fn make(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let run = self.context.bind(py).getattr("run")?;
        let mut all = vec![self.function.bind(py)];
        all.extend(self.arguments.bind(py).as_slice());
        gil::call_with_all(&run, &all).map(Bound::unbind)
    }

    /// Makes the call in this thread.
    fn run(&self, py: Python<'_>) {
        HERE.with(|here| here.lent.replace(Some(self.chain.clone())));
        self.state().exchange();
        self.chain.links().threads.push(gil::this_thread(py));
        let outcome = match self.chain.raised(py, false) {
            Some(error) => Err(error),
            None => self.make(py),
        };
        let outcome = self.chain.settled(py, outcome, true);
        self.state().exchange();
        HERE.with(|here| here.lent.take());
        *self.outcome() = Some(outcome);
    }
}

/// Makes the calls of a queue until it gets None.
#[pyfunction]
fn _serve(calls: &Bound<'_, PyAny>, finished: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = calls.py();
    let (get, put) = (calls.getattr("get")?, finished.getattr("put")?);
    while let Ok(call) = gil::call(&get, &[])?.cast::<LentCall>() {
        call.get().run(py);
        gil::call(&put, &[py.None().bind(py)])?;
    }
    end_threads(py)
}
