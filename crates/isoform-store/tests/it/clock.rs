//! Clocks that jump.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use isoform_store::{Limits, NewEntry, Store};

use crate::helpers::{files, folder, key, stored_files};

fn real_time() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs()
}

fn with_clock(folder: &std::path::Path, time: &Arc<AtomicU64>) -> Store {
    let time = time.clone();
    Store::options()
        .max_bytes(1_000_000)
        .max_age(Duration::from_secs(10 * 24 * 3600))
        .clock(move || time.load(Ordering::Relaxed))
        .open(folder.to_str().unwrap())
        .unwrap()
}

fn used(folder: &std::path::Path) -> Vec<u64> {
    let times = stored_files(folder).into_iter().map(|file| {
        let time = file.metadata().unwrap().modified().unwrap();
        time.duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs()
    });
    times.collect()
}

#[test]
fn a_clock_that_goes_back_breaks_nothing() {
    const DAY: u64 = 24 * 3600;
    let folder = folder();
    let time = Arc::new(AtomicU64::new(real_time()));
    let store = with_clock(folder.path(), &time);
    let mut names = Vec::new();
    for jump in [0, DAY, 3 * DAY, 5 * DAY, 1000 * DAY] {
        time.store(real_time() - jump, Ordering::Relaxed);
        let bytes = jump.to_le_bytes();
        names.push(store.put(&bytes).unwrap());
        store.put_entry(&key(jump), &NewEntry::new("v")).unwrap();
        for name in &names {
            assert!(store.get(name).unwrap().is_some());
        }
        // Nothing is older than ten days by a clock in the past.
        store
            .evict(&Limits {
                max_age: Some(Duration::from_secs(10 * DAY)),
                ..Limits::default()
            })
            .unwrap();
        assert_eq!(store.sizes().unwrap().total().files, 2 * names.len() as u64);
        store.rebuild_index().unwrap();
        assert_eq!(store.sizes().unwrap().total().files, 2 * names.len() as u64);
    }
    time.store(0, Ordering::Relaxed);
    assert!(store.get(&names[0]).unwrap().is_some());
    assert!(store.put(b"at the epoch").is_ok());
    assert_eq!(store.verify().unwrap().damage, []);
}

#[test]
fn a_use_is_recorded_at_most_once_an_hour() {
    let folder = folder();
    let start = real_time();
    let time = Arc::new(AtomicU64::new(start));
    let store = with_clock(folder.path(), &time);
    let name = store.put(b"value").unwrap();
    let written = used(folder.path());
    for (later, recorded) in [
        (1800, written[0]),
        (3700, start + 3700),
        (7000, start + 3700),
        (7400, start + 7400),
    ] {
        time.store(start + later, Ordering::Relaxed);
        store.get(&name).unwrap();
        assert_eq!(used(folder.path()), [recorded], "after {later} s");
    }
    // A time in the future is wrong, and the next use sets it right.
    time.store(start, Ordering::Relaxed);
    store.get(&name).unwrap();
    assert_eq!(used(folder.path()), [start]);
}

#[test]
fn a_file_from_the_future_is_evicted_like_others() {
    let folder = folder();
    let start = real_time();
    let time = Arc::new(AtomicU64::new(start));
    let store = with_clock(folder.path(), &time);
    let future = store.put(b"from the future").unwrap();
    let path = stored_files(folder.path())[0].clone();
    let wrong = SystemTime::UNIX_EPOCH + Duration::from_secs(start + 1_000_000_000);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(wrong).unwrap();
    store.put(b"other").unwrap();
    time.store(start + 11 * 24 * 3600, Ordering::Relaxed);
    let limits = Limits {
        max_age: Some(Duration::from_secs(3600)),
        ..Limits::default()
    };
    // By this clock, the file was used now.
    store.evict(&limits).unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 1);
    store.get(&future).unwrap();
    time.fetch_add(7200, Ordering::Relaxed);
    store.evict(&limits).unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 0);
}

#[test]
fn remains_of_writers_go_by_any_clock() {
    let folder = folder();
    let remains = folder.path().join("tmp/write-dead");
    let start = real_time();
    for (clock, stays) in [
        (start, true),
        (start + 30, true),
        (start + 100, false),
        (start - 100, false),
    ] {
        std::fs::create_dir_all(folder.path().join("tmp")).unwrap();
        std::fs::write(&remains, "half").unwrap();
        let store = Store::options()
            .clock(move || clock)
            .open(folder.path().to_str().unwrap());
        drop(store.unwrap());
        assert_eq!(remains.exists(), stays, "{}", clock.abs_diff(start));
    }
    // A living writer holds a lock.
    std::fs::write(&remains, "half").unwrap();
    let writer = std::fs::File::open(&remains).unwrap();
    writer.lock().unwrap();
    let late = Store::options()
        .clock(move || start + 100_000)
        .open(folder.path().to_str().unwrap());
    assert!(remains.exists());
    drop(writer);
    late.unwrap().repair().unwrap();
    assert_eq!(
        files(&folder.path().join("tmp")),
        [] as [std::path::PathBuf; 0]
    );
}
