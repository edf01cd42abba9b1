//! Files in the memory of the process: a store for tests and for trying things out.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use isoform::Result;

use crate::engine::{Engine, FileContents, FileInfo, FileList, LockGuard};
use crate::gate;
use crate::per_process::PerProcess;

/// The engine of `memory:`: a map from paths to bytes, which ends with the last handle.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    files: Mutex<BTreeMap<String, FileContents>>,
    // A child cannot wait for the threads of its parent.
    locks: PerProcess<Arc<Locks>>,
}

#[derive(Debug, Default)]
struct Locks {
    held: Mutex<HashSet<String>>,
    released: Condvar,
}

impl MemoryEngine {
    /// An engine without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function with the files, which a fork does not find locked.
    fn with_files<T>(&self, call: impl FnOnce(&mut BTreeMap<String, FileContents>) -> T) -> T {
        let _passage = gate::pass();
        // Every change of the map is a single call, so a panic leaves it whole.
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        call(&mut files)
    }
}

fn contents(bytes: &[u8]) -> FileContents {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    FileContents {
        bytes: bytes.to_vec(),
        used: since.ok().map(|since| since.as_secs()),
    }
}

impl Engine for MemoryEngine {
    fn read(&self, path: &str) -> Result<Option<FileContents>> {
        Ok(self.with_files(|files| files.get(path).cloned()))
    }

    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        Ok(self.with_files(|files| match files.entry(path.to_owned()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(contents(bytes));
                true
            }
        }))
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.with_files(|files| files.insert(path.to_owned(), contents(bytes)));
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<bool> {
        Ok(self.with_files(|files| files.remove(path).is_some()))
    }

    fn list(&self, folder: &str) -> Result<FileList<'_>> {
        let start = format!("{folder}/");
        let files: Vec<Result<FileInfo>> = self.with_files(|files| {
            files
                .range(start.clone()..)
                .take_while(|(path, _)| path.starts_with(&start))
                .map(|(path, contents)| {
                    Ok(FileInfo {
                        path: path.clone(),
                        size: contents.bytes.len() as u64,
                        used: contents.used.unwrap_or(0),
                    })
                })
                .collect()
        });
        Ok(Box::new(files.into_iter()))
    }

    fn mark_used(&self, path: &str, time: u64) {
        self.with_files(|files| {
            if let Some(contents) = files.get_mut(path) {
                contents.used = Some(time);
            }
        });
    }

    fn lock(&self, name: &str, deadline: Duration) -> Result<Option<LockGuard>> {
        let end = Instant::now().checked_add(deadline);
        let locks = Arc::clone(self.locks.get(Default::default));
        let mut held = locks.held();
        while held.contains(name) {
            let left = match end {
                Some(end) => end.checked_duration_since(Instant::now()),
                None => Some(Duration::from_secs(3600)),
            };
            let Some(left) = left else {
                return Ok(None);
            };
            let waited = locks.released.wait_timeout(held, left);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        held.insert(name.to_owned());
        drop(held);
        let name = name.to_owned();
        Ok(Some(LockGuard::new(move || {
            locks.held().remove(&name);
            locks.released.notify_all();
        })))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn description(&self) -> String {
        "memory:".to_owned()
    }
}

impl Locks {
    fn held(&self) -> MutexGuard<'_, HashSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
