//! Faults of the place: failing operations at every moment, and a full disk.

use std::process::Command;
use std::sync::atomic::Ordering;

use isoform::errors::ErrorKind;
use isoform_store::{Cache, EntryKey, INLINE_LIMIT, Name, NewEntry, Store};

use crate::helpers::{Fault, FaultyEngine, files, folder, job, key, open, with_job};

fn value(number: u64) -> Vec<u8> {
    format!("value {number}").into_bytes()
}

fn entry(number: u64) -> NewEntry {
    match number % 2 {
        0 => NewEntry::new(value(number)).program(format!("program {number}")),
        _ => NewEntry::new([value(number), vec![7; INLINE_LIMIT]].concat()),
    }
}

fn entry_value(number: u64) -> Vec<u8> {
    match number % 2 {
        0 => value(number),
        _ => [value(number), vec![7; INLINE_LIMIT]].concat(),
    }
}

/// Values, entries and removals; returns the steps that succeeded.
fn run(store: &Store) -> Vec<u64> {
    let step = |number: u64| match number {
        0..4 => store.put(&value(number)).map(drop),
        4..8 => store.put_entry(&key(number), &entry(number)).map(drop),
        8..10 => store.replace_entry(&key(number - 2), &entry(number - 2)),
        _ => store.remove(&Name::of(&value(number))).map(drop),
    };
    (0..12).filter(|&number| step(number).is_ok()).collect()
}

#[track_caller]
fn check_all(store: &Store, succeeded: &[u64], what: &str) {
    for number in 0..4 {
        let found = store.get(&Name::of(&value(number))).unwrap();
        assert!(
            found.is_some() || !succeeded.contains(&number),
            "{what}: value {number}"
        );
        assert!(found.is_none_or(|found| found == value(number)), "{what}");
    }
    for number in 4..8 {
        let found = store.entry(&key(number)).unwrap();
        assert!(
            found.is_some() || !succeeded.contains(&number),
            "{what}: entry {number}"
        );
        let is_right = |found: isoform_store::Entry| found.value == entry_value(number);
        assert!(found.is_none_or(is_right), "{what}");
    }
}

#[test]
fn a_fault_at_every_operation_loses_nothing_that_succeeded() {
    for fault in [Fault::Before, Fault::After, Fault::Half] {
        for at in 0.. {
            let engine = FaultyEngine::new(Some((at, fault)));
            let what = format!("{fault:?} at operation {at}");
            let succeeded = run(&engine.store());
            let operations = engine.operations.load(Ordering::Relaxed);
            engine.enabled.store(false, Ordering::Relaxed);
            check_all(&engine.store(), &succeeded, &what);
            if at >= operations {
                // The fault did not happen any more.
                assert_eq!(succeeded.len(), 12, "{what}");
                assert!(at > 10, "{what}");
                break;
            }
            assert_eq!(succeeded.len(), 11, "{what}");
            assert_eq!(run(&engine.store()).len(), 12, "{what}");
            check_all(&engine.store(), &(0..12).collect::<Vec<_>>(), &what);
            assert!(engine.store().verify().unwrap().damage.is_empty(), "{what}");
        }
    }
}

#[test]
fn a_lost_write_is_a_miss() {
    for at in 0.. {
        let engine = FaultyEngine::new(Some((at, Fault::Lost)));
        let what = format!("operation {at}");
        run(&engine.store());
        let operations = engine.operations.load(Ordering::Relaxed);
        engine.enabled.store(false, Ordering::Relaxed);
        // Nothing wrong comes back, and putting again repairs everything.
        check_all(&engine.store(), &[], &what);
        assert_eq!(run(&engine.store()).len(), 12, "{what}");
        check_all(&engine.store(), &(0..12).collect::<Vec<_>>(), &what);
        if at >= operations {
            break;
        }
    }
}

#[test]
fn a_cache_survives_a_failing_store() {
    for at in 0..10 {
        let mut engine = FaultyEngine::new(Some((at, Fault::Before)));
        engine.reads_fail = true;
        let store = engine.store();
        let cache = Cache::new(&store, "c", "1");
        for number in 0..3 {
            let result = cache.get_or_compute(&key(number), || Ok(value(number)));
            assert_eq!(result.unwrap(), value(number), "fault {at}");
        }
        // Three misses with two lookups and a write each.
        let expected = u64::from(at < 9);
        assert_eq!(store.statistics().cache_errors, expected, "fault {at}");
    }
}

/// The job of the child process whose files cannot grow beyond 64 kB.
const FULL: &str = "faults::a_full_disk_is_a_clear_error";

#[test]
fn a_full_disk_is_a_clear_error() {
    if let Some(arguments) = job(FULL) {
        return fill_disk(&arguments[0]);
    }
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    // The system tells a process with this limit the same as on a full disk: writing
    // fails in the middle.
    let mut shell = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 128 && exec \"$0\" \"$@\"";
    shell
        .arg("-c")
        .arg(script)
        .arg(std::env::current_exe().unwrap());
    with_job(&mut shell, FULL, &[path]);
    assert!(shell.status().unwrap().success());
    let store = open(folder.path());
    assert_eq!(store.get(&Name::of(b"small")).unwrap().unwrap(), "small");
    assert_eq!(store.get(&Name::of(&vec![1; 1 << 20])).unwrap(), None);
    let report = store.verify().unwrap();
    assert_eq!(report.damage, []);
    assert!(report.whole > 400, "{}", report.whole);
    assert_eq!(store.sizes().unwrap().total().files, report.whole);
}

fn fill_disk(folder: &str) {
    let store = Store::open(folder).unwrap();
    store.put(b"small").unwrap();
    for _ in 0..2 {
        let error = store.put(&vec![1; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().contains("cannot write values/"), "{error}");
        let large = NewEntry::new(vec![2; 1 << 20]);
        let key = EntryKey::builder("x").build();
        assert!(store.put_entry(&key, &large).is_err());
        assert_eq!(store.entry(&key).unwrap(), None);
    }
    let store_folder = std::path::Path::new(folder);
    assert!(files(&store_folder.join("tmp")).is_empty());
    // The index cannot grow at some point, and puts go on.
    for number in 0..400 {
        store
            .put_entry(&key(number), &NewEntry::new(value(number)))
            .unwrap();
    }
    for number in 0..400 {
        assert_eq!(
            store.entry(&key(number)).unwrap().unwrap().value,
            value(number)
        );
    }
    assert!(store_folder.join("index.sqlite").metadata().unwrap().len() <= 65_536);
    assert_eq!(store.sizes().unwrap().entries.files, 400);
}
