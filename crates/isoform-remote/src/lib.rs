//! Opens stores on servers, so that machines share results: S3 and servers that speak its
//! protocol, Redis, Google Cloud Storage, Azure Blob Storage, and WebDAV.
//!
//! ```no_run
//! # fn main() -> isoform::Result<()> {
//! use isoform_store::StoreOptions;
//!
//! let store = isoform_remote::open("s3:bucket/prefix?region=eu-west-1", StoreOptions::default())?;
//! let name = store.put(b"bytes")?;
//! # Ok(())
//! # }
//! ```
//!
//! The store is the [`Store`] of `isoform-store`, with the same
//! entries, caches and checks. A server has no locks, so two machines may compute a
//! result at the same time, and nothing is evicted by itself; servers have rules of their
//! own for old files. A Redis server cannot list files.
//!
//! # URLs and variables
//!
//! | URL | place |
//! |---|---|
//! | `s3:bucket/prefix` | a bucket of S3 |
//! | `redis://host:port` | a Redis server |
//! | `gcs:bucket/prefix` | a bucket of Google Cloud Storage |
//! | `azblob:container/prefix` | a container of Azure |
//! | `webdav:https://host/path` | a folder of a WebDAV server |
//!
//! Every part of a URL may be left out, even all but the scheme: a setting comes from the
//! URL, else from the variable `ISOFORM_STORE_` with the suffix in the table, else from
//! the variable `SCCACHE_` with the same suffix. Machines that are set up for `sccache`
//! thus need nothing more than the scheme. A setting is also an option after `?` in the
//! URL, under the lower-case name in the table.
//!
//! | option | suffix of the variable | meaning |
//! |---|---|---|
//! | **`s3:`** | | |
//! | `bucket` | `BUCKET` | the bucket |
//! | `endpoint` | `ENDPOINT` | the server, if it is not that of Amazon |
//! | `region` | `REGION` | the region; `auto` by default |
//! | `use_ssl` | `S3_USE_SSL` | `true` or `false`, for an endpoint without a scheme |
//! | `prefix` | `S3_KEY_PREFIX` | the folder in the bucket |
//! | `no_credentials` | `S3_NO_CREDENTIALS` | `true` for a public bucket |
//! | `virtual_host` | `S3_ENABLE_VIRTUAL_HOST_STYLE` | `true` for buckets in host names |
//! | `mode` | `S3_RW_MODE` | `READ_ONLY` or `READ_WRITE` |
//! | **`redis:`** | | |
//! | `endpoint` | `REDIS_ENDPOINT` | the server |
//! | `username` | `REDIS_USERNAME` | |
//! | `password` | `REDIS_PASSWORD` | |
//! | `db` | `REDIS_DB` | the number of the database |
//! | `prefix` | `REDIS_KEY_PREFIX` | the beginning of all keys |
//! | `mode` | `REDIS_RW_MODE` | `READ_ONLY` or `READ_WRITE` |
//! | **`gcs:`** | | |
//! | `bucket` | `GCS_BUCKET` | the bucket |
//! | `key_path` | `GCS_KEY_PATH` | the file with the key of a service account |
//! | `endpoint` | `GCS_ENDPOINT` | the server, for tests |
//! | `prefix` | `GCS_KEY_PREFIX` | the folder in the bucket |
//! | `mode` | `GCS_RW_MODE` | `READ_ONLY` or `READ_WRITE` |
//! | **`azblob:`** | | |
//! | `container` | `AZURE_BLOB_CONTAINER` | the container |
//! | `connection` | `AZURE_CONNECTION_STRING` | the account and its key |
//! | `prefix` | `AZURE_KEY_PREFIX` | the folder in the container |
//! | `mode` | `AZURE_RW_MODE` | `READ_ONLY` or `READ_WRITE` |
//! | **`webdav:`** | | |
//! | `endpoint` | `WEBDAV_ENDPOINT` | the server |
//! | `username` | `WEBDAV_USERNAME` | |
//! | `password` | `WEBDAV_PASSWORD` | |
//! | `token` | `WEBDAV_TOKEN` | a token in place of a password |
//! | `prefix` | `WEBDAV_KEY_PREFIX` | the folder on the server |
//! | `mode` | `WEBDAV_RW_MODE` | `READ_ONLY` or `READ_WRITE` |
//!
//! The mode is `READ_WRITE` by default, also for `gcs:`, where `sccache` only reads.
//! [`RemoteFolder`] reads any files of such a server, for indexes of collections.
//! Keys of AWS come from the variables, files and services that AWS defines, such as
//! `AWS_ACCESS_KEY_ID`.

mod engine;
mod folder;
mod services;
mod settings;

pub use isoform_store::{RemoteEntry, is_remote, without_credentials};

pub use self::engine::RemoteOptions;
pub use self::folder::RemoteFolder;

use isoform::Result;
use isoform_store::{Engine, RemoteClient, RemoteFiles, Store, StoreOptions, set_remote_client};

use self::settings::Settings;

/// Opens the store at a URL, on a server or as [`Store::open`] does. Connects to the
/// server at the first put or lookup.
///
/// # Errors
///
/// A `ValueError` for an unknown scheme, a wrong or a missing setting.
pub fn open(url: &str, options: StoreOptions) -> Result<Store> {
    RemoteOptions::default().open(url, options)
}

/// Lets [`Store::open`] and all that opens stores or folders by their URLs reach servers, as
/// the command does, with the default [`RemoteOptions`].
///
/// The first [client](set_remote_client) of a process stays.
///
/// ```
/// isoform_remote::install();
/// let store = isoform_store::Store::open("s3:bucket/prefix?region=eu-west-1")?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn install() {
    set_remote_client(Client);
}

/// The client of servers that this crate has.
struct Client;

impl RemoteClient for Client {
    fn engine(&self, url: &str) -> Result<Box<dyn Engine>> {
        engine(url)
    }

    fn folder(&self, url: &str) -> Result<Box<dyn RemoteFiles>> {
        let engine = RemoteOptions::default().engine(Settings::required_of(url)?)?;
        Ok(Box::new(RemoteFolder { engine }))
    }
}

/// Returns the engine of the store at the URL of a server, with the default
/// [`RemoteOptions`].
///
/// # Errors
///
/// A `ValueError` for a URL that names no server, a wrong or a missing setting.
pub fn engine(url: &str) -> Result<Box<dyn Engine>> {
    let engine = RemoteOptions::default().engine(Settings::required_of(url)?)?;
    Ok(Box::new(engine))
}
