//! The parts of `isoform.transform` that are not global functions: options of contexts with
//! Python types, and messages for `logging`.

use std::fmt::{self, Write};

use isoform_ir::transform::register_config_option;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::convert::{SchemaHandle, untyped};
use crate::error::IntoPyResult;

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register_config, module)?)?;
    module.add_function(wrap_pyfunction!(install_logger, module)?)
}

/// Registers an option of pass contexts.
#[pyfunction]
#[pyo3(name = "_register_config_option")]
fn register_config(
    key: &str,
    schema: &Bound<'_, SchemaHandle>,
    default: &Bound<'_, PyAny>,
    doc: &str,
) -> PyResult<()> {
    let schema = schema.get().schema().clone();
    register_config_option(key, schema, untyped(default)?, doc).into_py()
}

static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static SHOW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sends messages of the passes to a logger of Python's `logging`, unless the program
/// that embeds the library has its own subscriber. `show` gets programs that somebody asked
/// for, which are messages at level INFO.
#[pyfunction]
#[pyo3(name = "_install_logger")]
fn install_logger(py: Python<'_>, logger: Py<PyAny>, show: Py<PyAny>) {
    // A process has one logger and one subscriber; later calls have no effect.
    let _ = LOGGER.set(py, logger);
    let _ = SHOW.set(py, show);
    let _ = set_global_default(ToLogging);
}

/// Passes messages on to Python, which decides by level.
struct ToLogging;

/// The number of a level in `logging`.
fn number(level: &Level) -> u32 {
    match *level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        _ => 10,
    }
}

/// Calls a function of Python, or a method of the logger; nothing once Python has shut down.
fn ask<T>(
    target: &PyOnceLock<Py<PyAny>>,
    call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> Option<T> {
    Python::try_attach(|py| {
        // A message that cannot be written must not end a pass.
        call(target.get(py)?.bind(py))
            .map_err(|error| error.write_unraisable(py, None))
            .ok()
    })?
}

impl Subscriber for ToLogging {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.target().starts_with("isoform") && metadata.is_event() {
            // Levels of loggers change.
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = number(metadata.level());
        let asked =
            |logger: &Bound<'_, PyAny>| logger.call_method1("isEnabledFor", (level,))?.is_truthy();
        *metadata.level() == Level::INFO || ask(&LOGGER, asked) == Some(true)
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Message(String::new());
        event.record(&mut text);
        let level = event.metadata().level();
        if *level == Level::INFO {
            ask(&SHOW, |show| show.call1((text.0,)).map(drop));
        } else {
            let arguments = (number(level), "%s", text.0);
            ask(&LOGGER, |logger| {
                logger.call_method1("log", arguments).map(drop)
            });
        }
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// The text of an event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
