//! The index: an SQLite database with a row for each file, for sizes, queries and
//! eviction.
//!
//! Files are the truth: no get and no put depends on the index. A writer collects rows
//! and adds them in one transaction, so a killed process leaves its last files out of the
//! index; [`reconciled`](Index::reconcile) compares the rows with the files again, and
//! builds the index of a store that has none.
//!
//! Each process has a connection of its own, and makes the connection on first use.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};

use crate::engine::FileInfo;
use crate::gate;
use crate::place::{FileKind, parse_path};

/// The version of the tables. An index of an older version is built again.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE files (
        path TEXT PRIMARY KEY, kind INTEGER NOT NULL, size INTEGER NOT NULL,
        created INTEGER NOT NULL, used INTEGER NOT NULL, key TEXT
    ) WITHOUT ROWID;
    CREATE TABLE uses (
        entry TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (entry, value)
    ) WITHOUT ROWID;
    CREATE TABLE totals (
        kind INTEGER PRIMARY KEY, files INTEGER NOT NULL, bytes INTEGER NOT NULL
    );
    CREATE TABLE state (is_complete INTEGER NOT NULL, evicted INTEGER NOT NULL);
    INSERT INTO totals VALUES (1, 0, 0), (2, 0, 0);
    INSERT INTO state VALUES (0, 0);
    CREATE TRIGGER file_added AFTER INSERT ON files BEGIN
        UPDATE totals SET files = files + 1, bytes = bytes + new.size WHERE kind = new.kind;
    END;
    CREATE TRIGGER file_removed AFTER DELETE ON files BEGIN
        UPDATE totals SET files = files - 1, bytes = bytes - old.size WHERE kind = old.kind;
        DELETE FROM uses WHERE entry = old.path;
    END;
    PRAGMA user_version = 1;
";

/// How long a transaction waits for another process, when a caller needs the index.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a removal and the end of a handle wait for the index.
const BRIEF: Duration = Duration::from_secs(1);

/// How long a put waits for the index, which it does not need.
const HASTE: Duration = Duration::from_millis(50);

/// The number of rows in a transaction of a writer.
const BATCH: usize = 64;

/// The number of rows that wait for a busy or failing index, before they are dropped.
const BACKLOG: usize = 4096;

/// A row of the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    pub(crate) size: u64,
    pub(crate) created: u64,
    pub(crate) used: u64,
    /// The parts of the key of an entry, as a JSON object.
    pub(crate) key: Option<String>,
    /// The paths of the values that an entry needs.
    pub(crate) values: Vec<String>,
}

/// The number of files of a kind, and their size.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FileTotals {
    /// The number of files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// The sizes of a store.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Sizes {
    /// Values that have files of their own.
    pub values: FileTotals,
    /// Entries, with the values that lie in their files.
    pub entries: FileTotals,
}

impl Sizes {
    /// The sum over both kinds of files.
    pub fn total(&self) -> FileTotals {
        FileTotals {
            files: self.values.files.saturating_add(self.entries.files),
            bytes: self.values.bytes.saturating_add(self.entries.bytes),
        }
    }
}

/// The numbers for which a put looks at the index.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Numbers {
    pub(crate) sizes: Sizes,
    /// False if the index never saw all files.
    pub(crate) is_complete: bool,
    /// The time of the last eviction, in seconds since 1970.
    pub(crate) evicted: u64,
}

/// The index of one process.
#[derive(Debug)]
pub(crate) struct Index {
    /// None for an index in memory.
    place: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    connection: Option<Connection>,
    waiting: Vec<Row>,
    /// The numbers of the index, with the files in `waiting`; None before the first use.
    numbers: Option<Numbers>,
    flushed: Instant,
    /// Expensive attempts for a put wait until then.
    resting_until: Option<Instant>,
    /// True if this process does without the file of the index.
    is_in_memory: bool,
}

impl Index {
    /// The index in a folder, or in memory. Opens nothing yet.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Index {
            place: folder.map(|folder| folder.join("index.sqlite")),
            state: Mutex::new(State {
                connection: None,
                waiting: Vec::new(),
                numbers: None,
                flushed: Instant::now(),
                resting_until: None,
                is_in_memory: false,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves a rolled-back transaction, and rows that wait.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a row soon. Returns the numbers of the index, if known.
    pub(crate) fn add(&self, row: Row) -> Option<Numbers> {
        let mut state = self.state();
        if let Some(numbers) = &mut state.numbers {
            let totals = match row.kind {
                FileKind::Value => &mut numbers.sizes.values,
                FileKind::Entry => &mut numbers.sizes.entries,
            };
            totals.files += 1;
            totals.bytes += row.size;
        }
        state.waiting.push(row);
        let is_due = state.flushed.elapsed() > Duration::from_secs(1);
        if is_due || state.waiting.len().is_multiple_of(BATCH) {
            // The files are in place, so a failing index is nothing for the caller.
            let _ = self.flush_into(&mut state, HASTE);
        }
        state.numbers
    }

    /// Adds the waiting rows now.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut state = self.state();
        if state.waiting.is_empty() {
            return Ok(());
        }
        self.flush_into(&mut state, PATIENCE)
    }

    fn flush_into(&self, state: &mut State, patience: Duration) -> Result<()> {
        state.flushed = Instant::now();
        let waiting = std::mem::take(&mut state.waiting);
        let added = self.transact(state, patience, |transaction| {
            waiting
                .iter()
                .try_for_each(|row| add_row(transaction, row))?;
            numbers(transaction)
        });
        match added {
            Ok(numbers) => state.numbers = Some(numbers),
            Err(error) => {
                if waiting.len() < BACKLOG {
                    state.waiting = waiting;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes removed files out of the index.
    pub(crate) fn remove(&self, paths: &[String]) -> Result<()> {
        let mut state = self.state();
        state.waiting.retain(|row| !paths.contains(&row.path));
        let numbers = self.transact(&mut state, BRIEF, |transaction| {
            paths
                .iter()
                .try_for_each(|path| remove_row(transaction, path))?;
            numbers(transaction)
        })?;
        state.numbers = Some(numbers);
        Ok(())
    }

    /// The numbers of the index, with all files that this process wrote.
    pub(crate) fn numbers(&self) -> Result<Numbers> {
        let mut state = self.state();
        self.flush_into(&mut state, PATIENCE)?;
        Ok(state.numbers.unwrap_or_default())
    }

    /// True if other processes write to this index, too. Known after the first use.
    pub(crate) fn is_shared(&self) -> bool {
        let state = self.state();
        let path = state.connection.as_ref().and_then(Connection::path);
        path.is_some_and(|path| !path.is_empty())
    }

    /// True unless an expensive attempt failed within the last minute.
    pub(crate) fn may_try(&self) -> bool {
        let until = self.state().resting_until;
        until.is_none_or(|until| until <= Instant::now())
    }

    /// Keeps puts from expensive attempts for a minute.
    pub(crate) fn rest(&self) {
        self.state().resting_until = Instant::now().checked_add(Duration::from_secs(60));
    }

    /// Records the time of an eviction.
    pub(crate) fn set_evicted(&self, time: u64) -> Result<()> {
        let mut state = self.state();
        let numbers = self.transact(&mut state, PATIENCE, |transaction| {
            transaction.execute("UPDATE state SET evicted = ?", [signed(time)])?;
            numbers(transaction)
        })?;
        state.numbers = Some(numbers);
        Ok(())
    }

    /// All rows, in the order of their paths.
    pub(crate) fn rows(&self) -> Result<Vec<Row>> {
        let mut state = self.state();
        self.transact(&mut state, PATIENCE, |transaction| {
            let mut rows = BTreeMap::new();
            let mut query = transaction
                .prepare("SELECT path, size, created, used, key FROM files ORDER BY path")?;
            let mut found = query.query([])?;
            while let Some(row) = found.next()? {
                let path: String = row.get(0)?;
                // A row that no store wrote is left out.
                if let Some((kind, _)) = parse_path(&path) {
                    let row = Row {
                        path: path.clone(),
                        kind,
                        size: unsigned(row.get(1)?),
                        created: unsigned(row.get(2)?),
                        used: unsigned(row.get(3)?),
                        key: row.get(4)?,
                        values: Vec::new(),
                    };
                    rows.insert(path, row);
                }
            }
            let mut query = transaction.prepare("SELECT entry, value FROM uses")?;
            let mut found = query.query([])?;
            while let Some(row) = found.next()? {
                if let Some(entry) = rows.get_mut(&row.get::<_, String>(0)?) {
                    entry.values.push(row.get(1)?);
                }
            }
            Ok(rows.into_values().collect())
        })
    }

    /// The paths and keys of the entries whose keys have all these parts, newest first.
    pub(crate) fn find(&self, parts: &[(&str, &str)]) -> Result<Vec<(String, String)>> {
        let mut query = "SELECT path, key FROM files WHERE key IS NOT NULL".to_owned();
        let mut values = Vec::new();
        for (name, value) in parts {
            query += " AND EXISTS (SELECT 1 FROM json_each(files.key) AS part \
                       WHERE part.key = ? AND part.value = ?)";
            values.extend([
                Value::from((*name).to_owned()),
                Value::from((*value).to_owned()),
            ]);
        }
        query += " ORDER BY created DESC, path";
        let mut state = self.state();
        self.transact(&mut state, PATIENCE, |transaction| {
            let mut query = transaction.prepare(&query)?;
            let values = rusqlite::params_from_iter(&values);
            let found = query.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.collect()
        })
    }

    /// Makes the rows agree with the files. `describe` reads an entry that has no row.
    pub(crate) fn reconcile(
        &self,
        files: Vec<FileInfo>,
        started: u64,
        mut describe: impl FnMut(&FileInfo, FileKind) -> Option<Row>,
    ) -> Result<()> {
        self.flush()?;
        let known: HashMap<String, u64> = self
            .rows()?
            .into_iter()
            .map(|row| (row.path, row.size))
            .collect();
        let mut present = HashSet::new();
        let (mut fresh, mut used) = (Vec::new(), Vec::new());
        for file in files {
            let Some((kind, _)) = parse_path(&file.path) else {
                continue;
            };
            if known.get(&file.path) == Some(&file.size) {
                used.push((file.path.clone(), file.used));
            } else {
                fresh.extend(describe(&file, kind));
            }
            present.insert(file.path);
        }
        let gone = known.keys().filter(|path| !present.contains(*path));
        let gone: Vec<&String> = gone.collect();
        let mut state = self.state();
        let numbers = self.transact(&mut state, PATIENCE, |transaction| {
            for path in &gone {
                // A row that came during the walk may have a file.
                let old = "DELETE FROM files WHERE path = ? AND created < ?";
                transaction.execute(old, params![path, signed(started)])?;
            }
            fresh.iter().try_for_each(|row| add_row(transaction, row))?;
            let mut update = transaction.prepare("UPDATE files SET used = ? WHERE path = ?")?;
            for (path, used) in &used {
                update.execute(params![signed(*used), path])?;
            }
            drop(update);
            transaction.execute("UPDATE state SET is_complete = 1", [])?;
            numbers(transaction)
        })?;
        state.numbers = Some(numbers);
        Ok(())
    }

    /// Goes on with an empty index in memory, because the file cannot be used.
    pub(crate) fn use_memory(&self) {
        let mut state = self.state();
        let _passage = gate::pass();
        state.connection = None;
        state.numbers = None;
        state.is_in_memory = true;
    }

    /// Drops the index, also a broken index. The next use makes an empty index.
    pub(crate) fn clear(&self) -> Result<()> {
        let mut state = self.state();
        let _passage = gate::pass();
        state.connection = None;
        state.waiting.clear();
        state.numbers = None;
        let Some(place) = &self.place else {
            return Ok(());
        };
        for suffix in ["-wal", "-shm", "-journal", ""] {
            let mut file = place.clone().into_os_string();
            file.push(suffix);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let file = Path::new(&file).display();
                    let message = format!("cannot remove the broken index {file}: {error}");
                    return Err(Error::new(ErrorKind::Io, message).caused_by(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn transact<T>(
        &self,
        state: &mut State,
        patience: Duration,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let place = self.place.as_deref().filter(|_| !state.is_in_memory);
        let _passage = gate::pass();
        let result = (|| {
            let connection = match &mut state.connection {
                Some(connection) => connection,
                none => none.insert(connected(place)?),
            };
            connection.busy_timeout(patience)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        result.map_err(|error: rusqlite::Error| {
            state.connection = None;
            let place = match place {
                Some(place) => place.display().to_string(),
                None => "in memory".to_owned(),
            };
            let hint = "the files of the store are unaffected";
            let message = format!("index {place}: {error}; {hint}");
            Error::new(ErrorKind::Io, message).caused_by(error)
        })
    }
}

impl Index {
    /// Adds the waiting rows at the end of a handle or of the process.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        if !state.waiting.is_empty() {
            // Whoever needs the rows will find the files.
            let _ = self.flush_into(&mut state, BRIEF);
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.finish();
        let _passage = gate::pass();
        self.state().connection = None;
    }
}

fn connected(place: Option<&Path>) -> rusqlite::Result<Connection> {
    let mut connection = match place {
        Some(place) => Connection::open_with_flags(
            place,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?,
        None => Connection::open_in_memory()?,
    };
    connection.busy_timeout(HASTE)?;
    // A lost transaction is a file that the next comparison finds.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let version = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
    };
    if version(&connection)? > VERSION {
        // A newer release uses the store, too, and keeps its index.
        return connected(None);
    }
    if version(&connection)? != VERSION {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the tables in the meantime.
        if version(&transaction)? != VERSION {
            transaction.execute_batch(TABLES)?;
        }
        transaction.commit()?;
    }
    Ok(connection)
}

fn add_row(transaction: &Transaction<'_>, row: &Row) -> rusqlite::Result<()> {
    remove_row(transaction, &row.path)?;
    transaction.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        params![
            row.path,
            row.kind.number(),
            signed(row.size),
            signed(row.created),
            signed(row.used),
            row.key
        ],
    )?;
    for value in &row.values {
        let add = "INSERT OR IGNORE INTO uses VALUES (?, ?)";
        transaction.execute(add, params![row.path, value])?;
    }
    Ok(())
}

fn remove_row(transaction: &Transaction<'_>, path: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM files WHERE path = ?", [path])?;
    Ok(())
}

fn numbers(transaction: &Transaction<'_>) -> rusqlite::Result<Numbers> {
    let of_kind = |kind: FileKind| {
        let query = "SELECT files, bytes FROM totals WHERE kind = ?";
        transaction.query_row(query, [kind.number()], |row| {
            Ok(FileTotals {
                files: unsigned(row.get(0)?),
                bytes: unsigned(row.get(1)?),
            })
        })
    };
    let sizes = Sizes {
        values: of_kind(FileKind::Value)?,
        entries: of_kind(FileKind::Entry)?,
    };
    let query = "SELECT is_complete, evicted FROM state";
    transaction.query_row(query, [], |row| {
        Ok(Numbers {
            sizes,
            is_complete: row.get(0)?,
            evicted: unsigned(row.get(1)?),
        })
    })
}

/// SQLite has signed integers only; a number beyond them is as large as can be.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
