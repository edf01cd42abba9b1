//! Places on servers, by the client of another crate: a program without stores on servers
//! does not build a client.
//!
//! The crate `isoform-remote` has a client for programs in Rust, and the Python package
//! `isoform-remote` one for Python.

use std::sync::{Arc, OnceLock};

use isoform::{Error, Result};

use crate::engine::Engine;

/// The schemes of URLs that name servers.
pub const REMOTE_SCHEMES: [&str; 7] = ["s3", "redis", "rediss", "gcs", "gs", "azblob", "webdav"];

static CLIENT: OnceLock<Arc<dyn RemoteClient>> = OnceLock::new();

/// Reaches servers by their URLs.
pub trait RemoteClient: Send + Sync {
    /// Returns the engine of the store at the URL of a server. Connects at the first
    /// operation of the engine.
    ///
    /// # Errors
    ///
    /// A `ValueError` for a wrong or a missing setting.
    fn engine(&self, url: &str) -> Result<Box<dyn Engine>>;

    /// Returns the folder at the URL of a server. Connects when a file is read.
    ///
    /// # Errors
    ///
    /// A `ValueError` for a wrong or a missing setting.
    fn folder(&self, url: &str) -> Result<Box<dyn RemoteFiles>>;
}

/// A folder on a server whose files are read: a bucket, or a prefix in a bucket.
pub trait RemoteFiles: Send + Sync {
    /// Returns the files and folders in a folder, sorted by name. The top folder is empty;
    /// the parts of others are separated by `/`.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the server, if the folder cannot be listed.
    fn entries(&self, folder: &str) -> Result<Vec<RemoteEntry>>;

    /// Returns the contents of a file.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the server, if the file cannot be read, or changes meanwhile.
    fn read(&self, file: &str) -> Result<Vec<u8>>;
}

/// A file or a folder of [`RemoteFiles`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteEntry {
    /// The name in its folder.
    pub name: String,
    /// The size in bytes; None for a folder.
    pub size: Option<u64>,
    /// A text that changes with the file; empty if the server does not tell.
    pub version: String,
}

/// Sets the client with which [`StoreOptions::open`](crate::StoreOptions::open) and
/// [`open_remote_folder`] reach servers. The first client of a process stays; returns false
/// if there was one.
pub fn set_remote_client(client: impl RemoteClient + 'static) -> bool {
    CLIENT.set(Arc::new(client)).is_ok()
}

/// Opens the folder at a URL; None if the URL names no server.
///
/// # Errors
///
/// A `ValueError` for a wrong or a missing setting, and if the program has no client.
pub fn open_remote_folder(url: &str) -> Result<Option<Box<dyn RemoteFiles>>> {
    if is_remote(url) {
        client(url)?.folder(url).map(Some)
    } else {
        Ok(None)
    }
}

/// True for the URL of a server, and false for a store on this machine.
pub fn is_remote(url: &str) -> bool {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    REMOTE_SCHEMES.contains(&scheme)
}

/// Returns a URL without its credentials, to be kept or shown: whoever opens it needs the
/// credentials in variables. The URL of a store on this machine stays as it is.
///
/// ```
/// use isoform_store::without_credentials;
///
/// let url = without_credentials("redis://me:secret@host/1?token=t&prefix=p");
/// assert_eq!(url, "redis://host/1?prefix=p");
/// assert_eq!(without_credentials("webdav:https://me:s@h/x"), "webdav:https://h/x");
/// assert_eq!(without_credentials("folder/a@b"), "folder/a@b");
/// ```
pub fn without_credentials(url: &str) -> String {
    if !is_remote(url) {
        return url.to_owned();
    }
    // A password may contain any character, so everything up to the last @ goes.
    let address = match url.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}"),
            None => url.to_owned(),
        },
        None => url.to_owned(),
    };
    let Some((place, options)) = address.split_once('?') else {
        return address;
    };
    let is_public = |option: &&str| {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        !["username", "password", "token", "connection"].contains(&name)
    };
    let options: Vec<&str> = options.split('&').filter(is_public).collect();
    if options.is_empty() {
        place.to_owned()
    } else {
        format!("{place}?{}", options.join("&"))
    }
}

/// The client of this process.
pub(crate) fn client(url: &str) -> Result<&'static dyn RemoteClient> {
    CLIENT.get().map(|client| &**client).ok_or_else(|| {
        // The rest of a URL may contain a password.
        let scheme = url.split_once(':').map_or(url, |(scheme, _)| scheme);
        Error::value_error(format!(
            "store URL \"{scheme}:\": this program has no client of servers; call \
             isoform_remote::install() of the crate isoform-remote first"
        ))
    })
}
