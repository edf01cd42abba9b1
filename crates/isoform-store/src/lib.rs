//! Stores bytes under their digests and results under keys, so that no process computes
//! a result again which another process has.
//!
//! ```
//! # fn main() -> isoform::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().to_str().unwrap();
//! use isoform_store::{Cache, EntryKey, Name, Store};
//!
//! let store = Store::open(folder)?;
//! let name = store.put(b"def f(x): x + x")?;
//! assert_eq!(store.get(&name)?.unwrap(), "def f(x): x + x");
//!
//! let cache = Cache::new(&store, "compiler", "1.0");
//! let key = EntryKey::builder("compile").program(name).option("level", 2).build();
//! let code = cache.get_or_compute(&key, || Ok(b"machine code".to_vec()))?;
//! assert_eq!(code, "machine code");
//! # Ok(())
//! # }
//! ```
//!
//! | concept | items |
//! |---|---|
//! | the store | [`Store`], [`StoreOptions`] |
//! | bytes under their digest | [`Name`], [`Store::put`], [`Store::get`] |
//! | results under a key | [`EntryKey`], [`NewEntry`], [`Entry`], [`Store::entry_confirmed`] |
//! | computing each result once | [`Cache`], [`Caller`], [`Store::reserve`] |
//! | sizes and lists | [`Store::sizes`], [`Store::list`], [`Store::find_entries`] |
//! | limits | [`Limits`], [`Store::evict`] |
//! | damage | [`Store::verify`], [`Store::repair`] |
//! | counts of hits and misses | [`Statistics`] |
//! | the place of the files | [`Engine`], [`FolderEngine`], [`MemoryEngine`], [`PerProcess`] |
//! | files on servers | [`RemoteClient`], [`RemoteFiles`], [`set_remote_client`] |
//!
//! # What always holds
//!
//! * A lookup returns the bytes that somebody put, or nothing: checksums find damage.
//! * A put that returned is there for every later lookup of every process, until
//!   somebody removes or evicts it.
//! * Any number of processes may use a folder, and may be killed at any moment.
//! * The index serves sizes, queries and eviction; without the index, every lookup and
//!   every put works the same.

mod cache;
mod engine;
mod entries;
mod entry;
mod envelope;
mod evict;
mod flights;
mod folder;
mod gate;
mod index;
mod key;
mod maintain;
mod memory;
mod name;
mod options;
mod per_process;
mod place;
mod remote;
mod reserve;
mod statistics;
mod store;
mod verify;

pub use self::{
    cache::{Cache, Claim, Claimed},
    engine::{Engine, FileContents, FileInfo, FileList, LockGuard},
    entry::{Entry, INLINE_LIMIT, NewEntry},
    envelope::LAYOUT_VERSION,
    evict::{Eviction, Limits},
    flights::Caller,
    folder::FolderEngine,
    index::{FileTotals, Sizes},
    key::{EntryKey, EntryKeyBuilder},
    maintain::StoredFile,
    memory::MemoryEngine,
    name::Name,
    options::StoreOptions,
    per_process::PerProcess,
    place::FileKind,
    remote::{
        REMOTE_SCHEMES, RemoteClient, RemoteEntry, RemoteFiles, is_remote, open_remote_folder,
        set_remote_client, without_credentials,
    },
    reserve::Reservation,
    statistics::Statistics,
    store::Store,
    verify::{Damage, Verification},
};

// The examples of the page run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/stores.md")]
struct StoresPage;
