//! Eviction by size, number and age.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use isoform_store::{FileKind, INLINE_LIMIT, Limits, Name, NewEntry, Store};

use crate::helpers::{Fault, FaultyEngine, folder, key, open, stored_files};

/// Sets the last use of a file that was put last, in hours before now.
fn age(folder: &Path, name: &Name, hours: u64) {
    let digits = name.to_string();
    let file = stored_files(folder)
        .into_iter()
        .find(|file| file.to_str().unwrap().ends_with(&digits[2..]))
        .unwrap();
    let time = SystemTime::now() - Duration::from_secs(hours * 3600);
    File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

fn count(limit: u64) -> Limits {
    Limits {
        max_count: Some(limit),
        ..Limits::default()
    }
}

#[test]
fn the_least_recently_used_files_go_first() {
    let folder = folder();
    let store = open(folder.path());
    let names: Vec<Name> = (0..10_u8)
        .map(|number| {
            let name = store.put(&[number; 44]).unwrap();
            // Neither the order of the puts nor that of the names.
            age(folder.path(), &name, 10 + u64::from(number * 7 % 10));
            name
        })
        .collect();
    // A lookup makes a file the most recently used.
    store.get(&names[7]).unwrap();
    let eviction = store
        .evict(&Limits {
            max_bytes: Some(450),
            ..Limits::default()
        })
        .unwrap();
    assert_eq!((eviction.removed.files, eviction.kept.files), (6, 4));
    assert_eq!((eviction.removed.bytes, eviction.kept.bytes), (600, 400));
    let kept: Vec<usize> = (0..10)
        .filter(|&at| store.contains(&names[at]).unwrap())
        .collect();
    // 0 is 10 hours old, 3 is 11, 6 is 12, and 7 was used now.
    assert_eq!(kept, [0, 3, 6, 7]);
    assert_eq!(store.sizes().unwrap().total().files, 4);
}

#[test]
fn an_entry_goes_before_its_value() {
    let folder = folder();
    let store = open(folder.path());
    let value = vec![7; INLINE_LIMIT + 1];
    store
        .put_entry(&key(1), &NewEntry::new(value.clone()).program("program"))
        .unwrap();
    store.put_entry(&key(2), &NewEntry::new("small")).unwrap();
    let lonely = store.put(b"lonely").unwrap();
    // The value and the program look old, but the entry is young.
    age(folder.path(), &Name::of(&value), 100);
    age(folder.path(), &Name::of(b"program"), 100);
    age(folder.path(), &key(1).digest(), 1);
    age(folder.path(), &key(2).digest(), 2);
    age(folder.path(), &lonely, 50);
    for (limit, left) in [
        (4, vec!["value", "value", "entry 1", "entry 2"]),
        (3, vec!["value", "value", "entry 1"]),
        (2, vec!["value", "value"]),
        (1, vec!["value"]),
        (0, vec![]),
    ] {
        store.evict(&count(limit)).unwrap();
        let files: Vec<_> = store.list().unwrap().map(Result::unwrap).collect();
        let mut names: Vec<&str> = files
            .iter()
            .map(|file| match file.kind {
                FileKind::Value => "value",
                FileKind::Entry if file.name == key(1).digest() => "entry 1",
                FileKind::Entry => "entry 2",
            })
            .collect();
        names.sort_by_key(|name| (name.len(), *name));
        assert_eq!(names, left, "limit {limit}");
        assert_eq!(store.verify().unwrap().damage, [], "limit {limit}");
    }
}

#[test]
fn old_files_go() {
    let folder = folder();
    let store = open(folder.path());
    for hours in [1_u64, 5, 9, 13] {
        let name = store.put(&hours.to_le_bytes()).unwrap();
        age(folder.path(), &name, hours);
    }
    let limits = Limits {
        max_age: Some(Duration::from_secs(8 * 3600)),
        ..Limits::default()
    };
    assert_eq!(store.evict(&limits).unwrap().removed.files, 2);
    assert!(
        store
            .get(&Name::of(&5_u64.to_le_bytes()))
            .unwrap()
            .is_some()
    );
    assert!(
        store
            .get(&Name::of(&9_u64.to_le_bytes()))
            .unwrap()
            .is_none()
    );
}

#[test]
fn puts_keep_a_store_within_its_limits() {
    for (options, files) in [
        (Store::options().max_bytes(20_000), 200),
        (Store::options().max_count(150), 150),
    ] {
        let folder = folder();
        let store = options.open(folder.path().to_str().unwrap()).unwrap();
        let mut fewest = u64::MAX;
        for number in 0..600_u64 {
            let mut bytes = [0; 44];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            let name = store.put(&bytes).unwrap();
            if number % 20 == 0 {
                let total = store.list().unwrap().count() as u64;
                assert!(total <= files, "{total} files after {number} puts");
                if number > files {
                    fewest = fewest.min(total);
                }
            }
            // A put never evicts its own file.
            assert!(store.get(&name).unwrap().is_some());
        }
        // Each eviction makes room for a tenth of the store, and no more.
        assert!(fewest >= files * 8 / 10, "{fewest}");
    }
}

#[test]
fn a_new_handle_learns_that_a_store_is_full() {
    let folder = folder();
    let store = open(folder.path());
    for number in 0..100_u8 {
        store.put(&[number]).unwrap();
    }
    drop(store);
    let url = folder.path().to_str().unwrap();
    let store = Store::options().max_count(50).open(url).unwrap();
    store.put(b"one more").unwrap();
    let left = store.list().unwrap().count();
    assert!(left <= 50, "{left}");
}

#[test]
fn old_files_go_by_themselves() {
    let folder = folder();
    let store = open(folder.path());
    let old = store.put(b"old").unwrap();
    age(folder.path(), &old, 100);
    drop(store);
    let options = Store::options().max_age(Duration::from_secs(50 * 3600));
    let store = options.open(folder.path().to_str().unwrap()).unwrap();
    store.put(b"new").unwrap();
    assert_eq!(store.list().unwrap().count(), 1);
}

#[test]
fn one_eviction_takes_an_entry_and_its_old_value() {
    let folder = folder();
    let store = open(folder.path());
    let value = vec![7; INLINE_LIMIT + 1];
    let new = NewEntry::new(value.clone());
    store.put_entry(&key(1), &new).unwrap();
    age(folder.path(), &Name::of(&value), 100);
    assert_eq!(store.evict(&count(0)).unwrap().removed.files, 2);
}

#[test]
fn a_value_stays_while_its_entry_cannot_be_removed() {
    // Two puts, and then the removal of the entry, which fails.
    let engine = FaultyEngine::new(Some((2, Fault::Before)));
    let store = engine.store();
    let value = vec![7; INLINE_LIMIT + 1];
    let new = NewEntry::new(value.clone());
    store.put_entry(&key(1), &new).unwrap();
    let eviction = store.evict(&count(0)).unwrap();
    assert_eq!((eviction.removed.files, eviction.kept.files), (0, 2));
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, value);
    assert_eq!(store.evict(&count(0)).unwrap().removed.files, 2);
}
