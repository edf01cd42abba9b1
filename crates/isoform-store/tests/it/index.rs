//! The index: lost, damaged, of another version, and never needed.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isoform_store::{INLINE_LIMIT, NewEntry, Store};

use crate::helpers::{FaultyEngine, files, folder, key, open};

fn fill(store: &Store) {
    for number in 0..100_u64 {
        store.put(&number.to_le_bytes()).unwrap();
        store
            .put_entry(&key(number), &NewEntry::new("value"))
            .unwrap();
    }
    store
        .put_entry(&key(100), &NewEntry::new(vec![7; INLINE_LIMIT + 1]))
        .unwrap();
}

#[track_caller]
fn check(folder: &Path, what: &str) {
    let store = open(folder);
    let (mut count, mut bytes) = (0, 0);
    for file in store.list().unwrap() {
        count += 1;
        bytes += file.unwrap().size;
    }
    assert!(count >= 202, "{what}");
    let total = store.sizes().unwrap().total();
    assert_eq!((total.files, total.bytes), (count, bytes), "{what}");
    assert_eq!(
        store.find_entries(&[("option.number", "7")]).unwrap().len(),
        1,
        "{what}"
    );
    assert_eq!(
        store.entry(&key(7)).unwrap().unwrap().value,
        "value",
        "{what}"
    );
}

#[test]
fn sizes_follow_puts_and_removals() {
    let folder = folder();
    let store = open(folder.path());
    assert_eq!(store.sizes().unwrap(), Default::default());
    let name = store.put(b"12345").unwrap();
    store.put(b"12345").unwrap();
    store.put(b"").unwrap();
    let sizes = store.sizes().unwrap();
    assert_eq!((sizes.values.files, sizes.values.bytes), (2, 117));
    assert_eq!(sizes.entries.files, 0);
    store.put_entry(&key(1), &NewEntry::new("entry")).unwrap();
    store
        .replace_entry(&key(1), &NewEntry::new("entry"))
        .unwrap();
    assert_eq!(store.sizes().unwrap().entries.files, 1);
    store.remove(&name).unwrap();
    let sizes = store.sizes().unwrap();
    assert_eq!((sizes.values.files, sizes.values.bytes), (1, 56));
    // Another handle adds to the same numbers.
    drop(store);
    let store = open(folder.path());
    store.put(b"x").unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 3);
}

/// The number of files in the index on disk.
fn rows(folder: &Path) -> i64 {
    let index = rusqlite::Connection::open(folder.join("index.sqlite")).unwrap();
    let count = "SELECT count(*) FROM files";
    index.query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn files_that_somebody_removed_leave_the_index() {
    let folder = folder();
    let time = Arc::new(AtomicU64::new(1000));
    let clock = time.clone();
    let options = Store::options().clock(move || clock.load(Ordering::Relaxed));
    let store = options.open(folder.path().to_str().unwrap()).unwrap();
    store.put(b"1").unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 1);
    for file in files(&folder.path().join("values")) {
        fs::remove_file(file).unwrap();
    }
    time.store(2000, Ordering::Relaxed);
    store.evict(&Default::default()).unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 0);
}

#[test]
fn the_index_of_an_older_store_is_built() {
    let folder = folder();
    fill(&open(folder.path()));
    for file in files(folder.path()) {
        if file.to_str().unwrap().contains("index.sqlite") {
            fs::remove_file(file).unwrap();
        }
    }
    check(folder.path(), "lost");
}

#[test]
fn a_damaged_index_is_built_again() {
    let folder = folder();
    fill(&open(folder.path()));
    let index = folder.path().join("index.sqlite");
    let whole = fs::read(&index).unwrap();
    assert!(whole.len() > 20_000);
    for (at, length) in [
        (0, 100),
        (50, 20),
        (100, 4000),
        (4096, 12_000),
        (whole.len() / 2, 5000),
    ] {
        let mut damaged = whole.clone();
        damaged[at..at + length].fill(0xa5);
        fs::write(&index, damaged).unwrap();
        // Puts and lookups do not need the index.
        let store = open(folder.path());
        let name = store.put(&at.to_le_bytes()).unwrap();
        assert!(store.get(&name).unwrap().is_some());
        drop(store);
        // A part of the damage is visible to complete reads only.
        open(folder.path()).rebuild_index().unwrap();
        check(folder.path(), &format!("damage at {at}"));
        assert!(rows(folder.path()) > 200);
    }
    for (size, what) in [
        (0, "empty"),
        (1000, "cut in a page"),
        (8192, "cut after a page"),
    ] {
        fs::write(&index, &whole[..size]).unwrap();
        let store = open(folder.path());
        store.put(b"x").unwrap();
        drop(store);
        check(folder.path(), what);
        assert!(rows(folder.path()) > 200, "{what}");
    }
    fs::write(
        &index,
        "this is not a database, and longer than a header of SQLite: ".repeat(9),
    )
    .unwrap();
    check(folder.path(), "a text");
}

#[test]
fn an_older_index_is_built_again() {
    let folder = folder();
    fill(&open(folder.path()));
    let index = folder.path().join("index.sqlite");
    fs::remove_file(&index).unwrap();
    let old = rusqlite::Connection::open(&index).unwrap();
    old.execute_batch("CREATE TABLE files (name TEXT); INSERT INTO files VALUES ('x')")
        .unwrap();
    drop(old);
    check(folder.path(), "older");
}

#[test]
fn a_newer_index_stays() {
    let folder = folder();
    fill(&open(folder.path()));
    let index = folder.path().join("index.sqlite");
    fs::remove_file(&index).unwrap();
    let newer = rusqlite::Connection::open(&index).unwrap();
    newer
        .execute_batch("CREATE TABLE future (x); PRAGMA user_version = 9")
        .unwrap();
    drop(newer);
    check(folder.path(), "newer");
    let newer = rusqlite::Connection::open(&index).unwrap();
    let version: i64 = newer
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 9);
}

#[test]
fn rows_that_a_killed_writer_lost_are_found() {
    let folder = folder();
    let store = open(folder.path());
    store.put(b"1").unwrap();
    store.sizes().unwrap();
    // A copy from another machine, without a row.
    let other = crate::helpers::folder();
    open(other.path()).put(b"2").unwrap();
    for file in files(&other.path().join("values")) {
        let target = folder.path().join(file.strip_prefix(other.path()).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    assert_eq!(store.sizes().unwrap().total().files, 1);
    store.evict(&Default::default()).unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 2);
}

#[test]
fn a_busy_index_delays_no_put() {
    let folder = folder();
    let store = open(folder.path());
    store.put(b"1").unwrap();
    store.sizes().unwrap();
    let index = folder.path().join("index.sqlite");
    let mut other = rusqlite::Connection::open(index).unwrap();
    let transaction = other
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    for number in 0..300_u64 {
        let name = store.put(&number.to_le_bytes()).unwrap();
        assert!(store.get(&name).unwrap().is_some());
    }
    drop(transaction);
    assert_eq!(store.sizes().unwrap().total().files, 301);
}

#[test]
fn a_server_shows_the_files_of_other_machines() {
    let engine = FaultyEngine::new(None);
    let (store, other) = (engine.store(), engine.store());
    store.put(b"1").unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 1);
    assert_eq!(store.find_entries(&[]).unwrap().len(), 0);
    other.put_entry(&key(1), &NewEntry::new("entry")).unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 2);
    other.put_entry(&key(2), &NewEntry::new("entry")).unwrap();
    assert_eq!(store.find_entries(&[("job", "test")]).unwrap().len(), 2);
}

#[test]
fn rows_of_a_handle_that_never_ends_can_be_written() {
    let folder = folder();
    assert_eq!(open(folder.path()).sizes().unwrap().total().files, 0);
    let store = open(folder.path());
    for number in 0..10 {
        store
            .put_entry(&key(number), &NewEntry::new("entry"))
            .unwrap();
    }
    std::mem::forget(store.clone());
    drop(store);
    Store::finish_all();
    let other = open(folder.path());
    assert_eq!(other.sizes().unwrap().total().files, 10);
    assert_eq!(other.find_entries(&[("job", "test")]).unwrap().len(), 10);
}
