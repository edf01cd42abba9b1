//! Options of a store, and the forms of URLs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use isoform::__setters as setters;
use isoform::{Error, Result};
use percent_encoding::percent_decode_str;

use crate::engine::Engine;
use crate::evict::Limits;
use crate::folder::FolderEngine;
use crate::memory::MemoryEngine;
use crate::remote;
use crate::store::Store;

/// How a store is opened.
///
/// ```
/// # fn main() -> isoform::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().to_str().unwrap();
/// use isoform_store::Store;
///
/// let store = Store::options().max_bytes(10_000_000).durable(true).open(folder)?;
/// let name = store.put(b"bytes")?;
/// let reader = Store::options().read_only(true).open(folder)?;
/// assert_eq!(reader.get(&name)?.unwrap(), "bytes");
/// assert!(reader.put(b"other").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct StoreOptions {
    read_only: bool,
    durable: bool,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("read_only", &self.read_only)
            .field("durable", &self.durable)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl StoreOptions {
    setters! {
        /// The store is never changed: every put fails, and lookups neither record uses
        /// nor remove damaged files.
        read_only: bool,
        /// Every put survives a loss of power, which costs milliseconds per put. By
        /// default, a loss of power can damage the last files; lookups find the damage.
        durable: bool,
        /// The limits at which a put evicts files.
        limits: Limits,
    }

    /// The size of all files in bytes at which a put evicts the least recently used.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.limits.max_bytes = Some(bytes);
        self
    }

    /// The number of files at which a put evicts the least recently used.
    #[must_use]
    pub fn max_count(mut self, files: u64) -> Self {
        self.limits.max_count = Some(files);
        self
    }

    /// The time after its last use when a file is evicted.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.limits.max_age = Some(age);
        self
    }

    /// A clock in place of the clock of the system, for tests: the seconds since 1970.
    #[must_use]
    pub fn clock(mut self, seconds: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Clock(Some(Arc::new(seconds)));
        self
    }

    /// True if the store must not be changed.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Opens the store at a URL: the path of a folder, `file:` with a path, `memory:` for an
    /// empty store in memory, or the URL of a server, if the program has a
    /// [client of servers](crate::set_remote_client).
    ///
    /// # Errors
    ///
    /// A `ValueError` for another URL, and an `OSError` if the folder cannot be opened.
    pub fn open(self, url: &str) -> Result<Store> {
        if remote::is_remote(url) {
            let engine = remote::client(url)?.engine(url)?;
            return Ok(Store::with_engine(engine, self));
        }
        match place(url)? {
            Place::Memory => Ok(self.open_engine(MemoryEngine::new())),
            Place::Folder(folder) => {
                let engine = if self.read_only {
                    FolderEngine::open_existing(&folder)?
                } else {
                    FolderEngine::open(&folder)?.durable(self.durable)
                };
                Ok(self.open_engine(engine))
            }
        }
    }

    /// Opens the store of an engine. Another crate adds a kind of place by this method.
    pub fn open_engine(self, engine: impl Engine + 'static) -> Store {
        Store::with_engine(Box::new(engine), self)
    }
}

/// The clock of a store.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<dyn Fn() -> u64 + Send + Sync>>);

impl Clock {
    /// The time in seconds since 1970; 0 before 1970.
    pub(crate) fn now(&self) -> u64 {
        match &self.0 {
            Some(seconds) => seconds(),
            None => SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        }
    }
}

#[derive(PartialEq, Eq, Debug)]
enum Place {
    Folder(PathBuf),
    Memory,
}

fn place(url: &str) -> Result<Place> {
    let refused = |why: &str| {
        let hint = "give the path of a folder, file: with a path, or memory:";
        // The rest of a URL may contain a password.
        let scheme = scheme(url).unwrap_or(url);
        Error::value_error(format!("store URL {scheme:?}: {why}; {hint}"))
    };
    let Some(scheme) = scheme(url) else {
        if url.is_empty() {
            return Err(refused("expected a path, got an empty text"));
        }
        return Ok(Place::Folder(url.into()));
    };
    let rest = &url[scheme.len() + 1..];
    match scheme {
        "memory" if rest.is_empty() || rest == "//" => Ok(Place::Memory),
        "memory" => Err(refused("a store in memory has no path")),
        "file" => {
            // `file:///a` and `file://localhost/a` are `/a`; `file:a` is relative.
            let path = match rest.strip_prefix("//") {
                None => rest,
                Some(absolute) => match absolute.strip_prefix("localhost") {
                    Some(path) if path.starts_with('/') => path,
                    _ if absolute.starts_with('/') => absolute,
                    _ => return Err(refused("a file: URL with another host")),
                },
            };
            if path.is_empty() {
                return Err(refused("expected a path after file:"));
            }
            let decoded = percent_decode_str(path).decode_utf8();
            let decoded = decoded.map_err(|_| refused("the path is not UTF-8"))?;
            Ok(Place::Folder(Path::new(&*decoded).to_owned()))
        }
        _ => Err(refused(
            "the scheme is unknown; servers have s3:, redis:, gcs:, azblob: and webdav:",
        )),
    }
}

/// The scheme of a URL; None for a path. A single letter is a drive of Windows.
fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_places() {
        for (url, path) in [
            ("a/b", "a/b"),
            ("/a b", "/a b"),
            ("C:\\store", "C:\\store"),
            ("./s3:bucket", "./s3:bucket"),
            ("file:a/b", "a/b"),
            ("file:/a%20b", "/a b"),
            ("file:///a", "/a"),
            ("file://localhost/a", "/a"),
        ] {
            assert_eq!(place(url).unwrap(), Place::Folder(path.into()), "{url}");
        }
        assert_eq!(place("memory:").unwrap(), Place::Memory);
        for (url, message) in [
            ("", "expected a path"),
            ("file:", "expected a path"),
            ("file://", "another host"),
            ("file://host/a", "another host"),
            ("file:/%ff", "not UTF-8"),
            ("memory:a", "has no path"),
            ("ftp://user:secret@host/bucket", "servers have s3:"),
        ] {
            let error = place(url).unwrap_err().to_string();
            assert!(error.contains(message), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn servers_need_a_client() {
        let error = Store::open("s3://user:secret@host/bucket").err().unwrap();
        let message = error.to_string();
        assert!(message.contains("isoform_remote::install()"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}
