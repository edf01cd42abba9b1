//! Folders, child processes and engines for tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use isoform_store::{Engine, EntryKey, FileContents, FileList, LockGuard, MemoryEngine, Store};
use isoform_testing::source::scaled;
use proptest::test_runner::Config as ProptestConfig;

/// The variable that tells a child process its job.
pub(crate) const JOB: &str = "ISOFORM_STORE_TEST_JOB";

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn open(folder: &Path) -> Store {
    Store::open(folder.to_str().unwrap()).unwrap()
}

pub(crate) fn key(number: u64) -> EntryKey {
    EntryKey::builder("test").option("number", number).build()
}

/// The arguments of the job of this process, if the process is a child for this test.
pub(crate) fn job(test: &str) -> Option<Vec<String>> {
    let text = env::var(JOB).ok()?;
    let mut parts = text.split('|').map(str::to_owned);
    (parts.next()? == test).then(|| parts.collect())
}

/// The command for a child process that runs a test of this binary as a job.
pub(crate) fn child(test: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    with_job(&mut command, test, arguments);
    command
}

pub(crate) fn with_job(command: &mut Command, test: &str, arguments: &[&str]) {
    command
        .args(["--exact", test, "--test-threads=1"])
        .env(JOB, format!("{test}|{}", arguments.join("|")))
        .stdout(Stdio::null())
        .stdin(Stdio::null());
}

#[track_caller]
pub(crate) fn assert_success(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

/// All files in a folder and below, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The files of values and entries in the folder of a store.
pub(crate) fn stored_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(&folder.join("values"));
    found.extend(files(&folder.join("entries")));
    found
}

/// The number of cases of a property, fewer in quick runs.
pub(crate) fn cases(full: usize) -> ProptestConfig {
    ProptestConfig {
        cases: scaled(full) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A generator of numbers, the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// How an engine fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The operation has no effect.
    Before,
    /// The operation has its effect, but reports an error.
    After,
    /// A write leaves half of the file, and reports an error.
    Half,
    /// A write leaves half of the file, and reports success, as after a loss of power.
    Lost,
}

/// Files in memory that a test can reach, with a fault at one operation.
#[derive(Clone)]
pub(crate) struct FaultyEngine {
    pub(crate) files: Arc<MemoryEngine>,
    pub(crate) fault: Option<(usize, Fault)>,
    pub(crate) operations: Arc<AtomicUsize>,
    pub(crate) enabled: Arc<AtomicBool>,
    /// True if reading counts as an operation that can fail.
    pub(crate) reads_fail: bool,
    /// False for an engine without locks, such as a server.
    pub(crate) has_locks: bool,
}

impl FaultyEngine {
    pub(crate) fn new(fault: Option<(usize, Fault)>) -> Self {
        FaultyEngine {
            files: Arc::new(MemoryEngine::new()),
            fault,
            operations: Arc::default(),
            enabled: Arc::new(AtomicBool::new(true)),
            reads_fail: false,
            has_locks: true,
        }
    }

    pub(crate) fn store(&self) -> Store {
        Store::options().open_engine(self.clone())
    }

    fn fault(&self) -> Option<Fault> {
        if !self.enabled.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        let (at, fault) = self.fault?;
        (number == at).then_some(fault)
    }

    fn error() -> Error {
        Error::new(ErrorKind::Io, "the planted fault")
    }

    fn write<T>(&self, bytes: &[u8], write: impl Fn(&[u8]) -> Result<T>) -> Result<T> {
        match self.fault() {
            None => write(bytes),
            Some(Fault::Before) => Err(Self::error()),
            Some(Fault::After) => write(bytes).and(Err(Self::error())),
            Some(Fault::Half) => write(&bytes[..bytes.len() / 2]).and(Err(Self::error())),
            Some(Fault::Lost) => write(&bytes[..bytes.len() / 2]),
        }
    }
}

impl Engine for FaultyEngine {
    fn read(&self, path: &str) -> Result<Option<FileContents>> {
        if self.reads_fail && self.fault().is_some() {
            return Err(Self::error());
        }
        self.files.read(path)
    }

    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.write(bytes, |bytes| self.files.write_once(path, bytes))
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.write(bytes, |written| {
            if written.len() == bytes.len() {
                self.files.replace(path, bytes)
            } else {
                // No engine leaves half of a file in place of a whole file.
                Ok(())
            }
        })
    }

    fn remove(&self, path: &str) -> Result<bool> {
        self.write(&[], |_| self.files.remove(path))
    }

    fn list(&self, folder: &str) -> Result<FileList<'_>> {
        self.files.list(folder)
    }

    fn mark_used(&self, path: &str, time: u64) {
        self.files.mark_used(path, time);
    }

    fn lock(&self, name: &str, deadline: Duration) -> Result<Option<LockGuard>> {
        if !self.has_locks {
            // As slow as a file system far away.
            std::thread::sleep(Duration::from_millis(5));
            return Err(Self::error());
        }
        self.files.lock(name, deadline)
    }

    fn description(&self) -> String {
        "faulty:".to_owned()
    }
}
