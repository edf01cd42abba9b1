//! The engine of a server.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use isoform_store::{Engine, FileContents, FileInfo, FileList, PerProcess, Store, StoreOptions};
use opendal::layers::{RetryLayer, TimeoutLayer};
use opendal::{HttpTransporter, Operator};
use opendal_http_transport_reqwest::ReqwestTransport;
use tokio::runtime::{Builder, Runtime};

use crate::services::client;
use crate::settings::{Scheme, Settings};

/// The longest timeout of a Redis server.
const REDIS_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client waits for a server.
///
/// ```no_run
/// # fn main() -> isoform::Result<()> {
/// use std::time::Duration;
///
/// use isoform_remote::RemoteOptions;
/// use isoform_store::StoreOptions;
///
/// let store = RemoteOptions::default()
///     .timeout(Duration::from_secs(2))
///     .retries(0)
///     .open("redis://127.0.0.1:6379", StoreOptions::default())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    timeout: Duration,
    retries: usize,
    rest: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            timeout: Duration::from_secs(10),
            retries: 3,
            rest: Duration::from_secs(10),
        }
    }
}

impl RemoteOptions {
    isoform::__setters! {
        /// How long an attempt waits for progress of the server; ten seconds by default.
        timeout: Duration,
        /// How often an operation is tried again after a failure that may be temporary;
        /// three times by default. The pauses grow from a tenth of a second to a second.
        retries: usize,
        /// How long every operation fails at once after the server did not answer; ten
        /// seconds by default. A build with a dead server is then hardly slower.
        rest: Duration,
    }

    /// Opens the store at a URL, on a server or as [`Store::open`] does.
    ///
    /// # Errors
    ///
    /// As [`open`](crate::open()).
    pub fn open(self, url: &str, options: StoreOptions) -> Result<Store> {
        let Some(settings) = Settings::read(url)? else {
            return options.open(url);
        };
        Ok(options.open_engine(self.engine(settings)?))
    }

    /// The engine of a server, which connects at its first operation.
    pub(crate) fn engine(self, settings: Settings) -> Result<RemoteEngine> {
        // A wrong setting is an error here, and not at the first put.
        client(&settings)?;
        let mut options_of_client = self;
        if settings.scheme == Scheme::Redis {
            // A Redis server responds in milliseconds or not at all, and its client tries again
            // by itself until the timeout.
            let given = &mut options_of_client;
            (given.timeout, given.retries) = (given.timeout.min(REDIS_TIMEOUT), 0);
        }
        Ok(RemoteEngine {
            is_read_only: settings.is_read_only()?,
            description: settings.description(),
            secrets: settings.secrets(),
            settings,
            options: options_of_client,
            is_conditional: Arc::new(AtomicBool::new(true)),
            started: Instant::now(),
            rests_until: AtomicU64::new(0),
            session: PerProcess::new(),
        })
    }

    /// The longest time of an operation, however the server behaves.
    fn deadline(&self) -> Duration {
        let attempts = u32::try_from(self.retries)
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let pauses = Duration::from_secs(2).saturating_mul(attempts);
        self.timeout.saturating_mul(attempts).saturating_add(pauses)
    }
}

pub(crate) struct RemoteEngine {
    settings: Settings,
    options: RemoteOptions,
    is_read_only: bool,
    description: String,
    secrets: Vec<String>,
    /// False if the server refused to write on a condition.
    is_conditional: Arc<AtomicBool>,
    started: Instant,
    /// The time since the start, in milliseconds, before which no operation is tried.
    rests_until: AtomicU64,
    /// Threads and connections do not survive a fork.
    session: PerProcess<Result<Session, String>>,
}

/// The client of one process.
struct Session {
    /// None during a drop only.
    runtime: Option<Runtime>,
    operator: Operator,
}

impl Session {
    fn start(settings: &Settings, options: &RemoteOptions) -> Result<Session, String> {
        // Another part of the program may have chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(options.timeout)
            .build()
            .map_err(|error| error.to_string())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("isoform-remote")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let operator = client(settings).map_err(|error| error.message().to_owned())?;
        let transport = HttpTransporter::new(ReqwestTransport::new(http));
        let context = operator.base_context().with_http_transport(transport);
        let operator = operator
            .with_context(context)
            .layer(
                TimeoutLayer::new()
                    .with_timeout(options.timeout)
                    .with_io_timeout(options.timeout),
            )
            .layer(
                RetryLayer::new()
                    .with_min_delay(Duration::from_millis(100))
                    .with_max_delay(Duration::from_secs(1))
                    .with_max_times(options.retries)
                    .with_jitter(),
            );
        Ok(Session {
            runtime: Some(runtime),
            operator,
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for the threads would fail on a thread of another runtime.
            runtime.shutdown_background();
        }
    }
}

impl RemoteEngine {
    /// Runs an operation on the thread of the session, and waits for its result. Works
    /// on any thread, also on one of another runtime.
    pub(crate) fn run<T, F>(
        &self,
        verb: &str,
        path: &str,
        operation: impl FnOnce(Operator) -> F,
    ) -> Result<opendal::Result<T>>
    where
        T: Send + 'static,
        F: Future<Output = opendal::Result<T>> + Send + 'static,
    {
        let failed = |reason: &str| self.error(verb, path, reason);
        let session = self
            .session
            .get(|| Session::start(&self.settings, &self.options));
        let session = session.as_ref().map_err(|reason| failed(reason))?;
        let Some(runtime) = &session.runtime else {
            return Err(failed("the store is closed"));
        };
        if self.now() < self.rests_until.load(Ordering::Relaxed) {
            let seconds = self.options.rest.as_secs();
            return Err(failed(&format!(
                "the server did not answer in the last {seconds} s; check that the server runs"
            )));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let operation = operation(session.operator.clone());
        let task = runtime.spawn(async move {
            // Nobody receives after the deadline.
            let _ = sender.send(operation.await);
        });
        let deadline = self.options.deadline();
        match receiver.recv_timeout(deadline) {
            Ok(result) => {
                if result.as_ref().is_err_and(is_silence) {
                    self.rest();
                }
                Ok(result)
            }
            Err(RecvTimeoutError::Timeout) => {
                task.abort();
                self.rest();
                let seconds = deadline.as_secs();
                Err(failed(&format!(
                    "the server did not finish within {seconds} s"
                )))
            }
            Err(RecvTimeoutError::Disconnected) => Err(failed("the client failed")),
        }
    }

    /// The time since the start in milliseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Begins a rest.
    fn rest(&self) {
        let rest = u64::try_from(self.options.rest.as_millis()).unwrap_or(u64::MAX);
        let until = self.now().saturating_add(rest);
        self.rests_until.store(until, Ordering::Relaxed);
    }

    #[track_caller]
    fn error(&self, verb: &str, path: &str, reason: &str) -> Error {
        let mut reason = reason.to_owned();
        for secret in self.secrets.iter().filter(|secret| secret.len() >= 4) {
            reason = reason.replace(secret, "***");
        }
        let place = &self.description;
        let message = format!("store {place}: cannot {verb} {path}: {reason}");
        Error::new(ErrorKind::Io, message)
    }

    #[track_caller]
    pub(crate) fn failed(&self, verb: &str, path: &str, error: &opendal::Error) -> Error {
        let mut reason = error.message().to_owned();
        // The causes of the error tell what the network did.
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason += &format!(": {error}");
            cause = error.source();
        }
        let hint = match error.kind() {
            opendal::ErrorKind::PermissionDenied => "; check the credentials",
            opendal::ErrorKind::Unsupported => "; use a store of another kind",
            _ if error.is_temporary() || error.is_persistent() => "; check that the server runs",
            _ => "",
        };
        self.error(verb, path, &format!("{}: {reason}{hint}", error.kind()))
    }
}

/// True for an error that says nothing about the file, but that the server cannot be used.
fn is_silence(error: &opendal::Error) -> bool {
    let is_lasting = error.is_temporary() || error.is_persistent();
    let kind = error.kind();
    is_lasting
        && matches!(
            kind,
            opendal::ErrorKind::Unexpected | opendal::ErrorKind::RateLimited
        )
}

/// Returns None for the error about a missing file.
fn absent_is_none<T>(result: opendal::Result<T>) -> opendal::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == opendal::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Engine for RemoteEngine {
    fn read(&self, path: &str) -> Result<Option<FileContents>> {
        let place = path.to_owned();
        let found = self.run("read", path, |operator| async move {
            operator.read(&place).await
        })?;
        let found = absent_is_none(found).map_err(|error| self.failed("read", path, &error))?;
        Ok(found.map(|buffer| FileContents {
            bytes: buffer.to_vec(),
            used: None,
        }))
    }

    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        let (place, bytes) = (path.to_owned(), bytes.to_vec());
        let is_conditional = Arc::clone(&self.is_conditional);
        let written = self.run("write", path, |operator| {
            write_once(operator, place, bytes, is_conditional)
        })?;
        written.map_err(|error| self.failed("write", path, &error))
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (place, bytes) = (path.to_owned(), bytes.to_vec());
        let written = self.run("write", path, |operator| async move {
            operator.write(&place, bytes).await.map(drop)
        })?;
        written.map_err(|error| self.failed("write", path, &error))
    }

    fn remove(&self, path: &str) -> Result<bool> {
        let place = path.to_owned();
        let removed = self.run("remove", path, |operator| async move {
            // Servers do not tell whether there was a file.
            let exists = operator.exists(&place).await?;
            if exists {
                operator.delete(&place).await?;
            }
            Ok(exists)
        })?;
        removed.map_err(|error| self.failed("remove", path, &error))
    }

    fn list(&self, folder: &str) -> Result<FileList<'_>> {
        let place = format!("{folder}/");
        let listed = self.run("list", folder, |operator| async move {
            operator.list_with(&place).recursive(true).await
        })?;
        let listed = absent_is_none(listed).map_err(|error| self.failed("list", folder, &error))?;
        let mut files = Vec::new();
        for entry in listed.unwrap_or_default() {
            let metadata = entry.metadata();
            if metadata.is_file() {
                let changed = metadata.last_modified().map(SystemTime::from);
                let since =
                    changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
                files.push(FileInfo {
                    path: entry.path().to_owned(),
                    size: metadata.content_length(),
                    used: since.map_or(0, |since| since.as_secs()),
                });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Box::new(files.into_iter().map(Ok)))
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}

/// Writes a file unless the file exists. The flag tells that the server knows conditions.
async fn write_once(
    operator: Operator,
    path: String,
    bytes: Vec<u8>,
    is_conditional: Arc<AtomicBool>,
) -> opendal::Result<bool> {
    if is_conditional.load(Ordering::Relaxed)
        && operator.info().capability().write_with_if_not_exists
    {
        let written = operator
            .write_with(&path, bytes.clone())
            .if_not_exists(true)
            .await;
        match written {
            Ok(_) => return Ok(true),
            Err(error) => match error.kind() {
                opendal::ErrorKind::ConditionNotMatch | opendal::ErrorKind::AlreadyExists => {
                    return Ok(false);
                }
                // Another writer is about to write the file.
                opendal::ErrorKind::Conflict => {}
                // The code of a server that speaks the protocol of S3 in part.
                _ if error.message().contains("NotImplemented") => {
                    is_conditional.store(false, Ordering::Relaxed);
                }
                _ => return Err(error),
            },
        }
    }
    // Two writers may both write, which is harmless for values, and for entries leaves
    // the later one.
    if operator.exists(&path).await? {
        return Ok(false);
    }
    operator.write(&path, bytes).await?;
    Ok(true)
}
