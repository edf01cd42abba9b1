//! Caches: each computation runs once.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use isoform::Error;
use isoform::errors::ErrorKind;
use isoform_store::{
    Cache, Caller, Claimed, Engine, EntryKey, FolderEngine, MemoryEngine, NewEntry, Store,
};

use crate::helpers::{FaultyEngine, assert_success, child, files, folder, job, key, open};

#[test]
fn a_result_is_computed_once() {
    let folder = folder();
    let cache = Cache::new(&open(folder.path()), "c", "1");
    let first = cache.get_or_compute(&key(1), || Ok(vec![1])).unwrap();
    let again = Cache::new(&open(folder.path()), "c", "1");
    let hit = again.get_or_compute(&key(1), || Err(Error::value_error("computed again")));
    assert_eq!(hit.unwrap(), first);
    for other in [
        Cache::new(&open(folder.path()), "d", "1"),
        Cache::new(&open(folder.path()), "c", "2"),
    ] {
        assert_eq!(
            other.get_or_compute(&key(1), || Ok(vec![2])).unwrap(),
            vec![2]
        );
    }
    assert_eq!(
        files(&folder.path().join("locks")),
        [] as [std::path::PathBuf; 0]
    );
}

#[test]
fn threads_wait_for_the_first() {
    let folder = folder();
    let mut without_locks = FaultyEngine::new(None);
    without_locks.has_locks = false;
    for store in [
        Store::open("memory:").unwrap(),
        open(folder.path()),
        without_locks.store(),
    ] {
        let computed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let cache = Cache::new(&store, "c", "1");
                    let result = cache.get_or_compute(&key(1), || {
                        computed.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(50));
                        Ok(vec![1])
                    });
                    assert_eq!(result.unwrap(), vec![1]);
                });
            }
        });
        assert_eq!(
            computed.load(Ordering::Relaxed),
            1,
            "{}",
            store.description()
        );
    }
}

#[test]
fn a_lock_has_one_holder() {
    let folder = folder();
    let engines: [&dyn Engine; 2] = [
        &FolderEngine::open(folder.path()).unwrap(),
        &MemoryEngine::new(),
    ];
    for engine in engines {
        let (held, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // Without pauses, so that threads open the file of a lock that another
                    // thread is about to free.
                    for _ in 0..5_000 {
                        let Some(guard) = engine.lock("name", Duration::ZERO).unwrap() else {
                            continue;
                        };
                        assert!(!held.swap(true, Ordering::SeqCst), "two holders");
                        // Long enough to meet a second holder.
                        thread::sleep(Duration::from_micros(20));
                        held.store(false, Ordering::SeqCst);
                        count.fetch_add(1, Ordering::Relaxed);
                        drop(guard);
                    }
                });
            }
        });
        assert!(count.load(Ordering::Relaxed) > 100);
        let lock = |name, millis| engine.lock(name, Duration::from_millis(millis)).unwrap();
        let guard = lock("name", 0);
        assert!(guard.is_some());
        assert!(lock("name", 5).is_none());
        assert!(lock("other", 0).is_some());
        drop(guard);
        assert!(lock("name", 0).is_some());
    }
}

#[test]
fn a_failure_is_computed_by_the_next_caller() {
    let store = Store::open("memory:").unwrap();
    let cache = Cache::new(&store, "c", "1");
    for _ in 0..2 {
        let error = cache
            .get_or_compute(&key(1), || Err(Error::value_error("no")))
            .unwrap_err();
        assert_eq!(error.to_string(), "ValueError: no");
    }
    assert_eq!(
        cache.get_or_compute(&key(1), || Ok(vec![1])).unwrap(),
        vec![1]
    );
}

#[test]
fn failures_are_remembered_for_a_time() {
    let time = Arc::new(AtomicU64::new(1000));
    let clock = time.clone();
    let store = Store::options()
        .clock(move || clock.load(Ordering::Relaxed))
        .open("memory:")
        .unwrap();
    let lifetime = Duration::from_secs(100);
    let is_lasting = |error: &Error| error.kind() != ErrorKind::Io;
    let cache = Cache::new(&store, "c", "1").remember_failures(lifetime, is_lasting);
    let computed = AtomicUsize::new(0);
    let fail = |make: fn() -> Error| {
        let result = cache.get_or_compute(&key(1), || {
            computed.fetch_add(1, Ordering::Relaxed);
            Err(make())
        });
        (result.unwrap_err(), computed.swap(0, Ordering::Relaxed))
    };
    let io = || Error::new(ErrorKind::Io, "disk");
    let shape = || Error::of_kind("ShapeError", "3 is not 4");
    assert_eq!(fail(io).1, 1);
    assert_eq!(fail(shape).1, 1);
    time.store(1099, Ordering::Relaxed);
    let (error, computed_now) = fail(io);
    assert_eq!(computed_now, 0);
    assert_eq!(
        (error.kind_name(), error.message()),
        ("ShapeError", "3 is not 4")
    );
    // A cache that does not remember failures computes.
    let forgetful = Cache::new(&store, "c", "1");
    assert!(forgetful.get_or_compute(&key(1), || Err(io())).is_err());
    assert_eq!(fail(io).1, 0);
    time.store(1100, Ordering::Relaxed);
    assert_eq!(fail(shape).1, 1);
    assert_eq!(fail(io).1, 0);
    // A clock that went back forgets.
    time.store(500, Ordering::Relaxed);
    let value = cache.get_or_compute(&key(1), || Ok(vec![1])).unwrap();
    assert_eq!(value, vec![1]);
    let error = || Error::value_error("computed again");
    assert_eq!(
        cache.get_or_compute(&key(1), || Err(error())).unwrap(),
        vec![1]
    );
}

#[test]
fn patience_ends() {
    for url in [None, Some("memory:")] {
        let folder = folder();
        let store = match url {
            Some(url) => Store::open(url).unwrap(),
            None => open(folder.path()),
        };
        let cache = Cache::new(&store, "c", "1").patience(Duration::from_millis(20));
        let start = Instant::now();
        // A thread that waited long enough computes, too.
        let asks = || cache.get_or_compute(&key(1), || Ok(vec![1]));
        let result = cache.get_or_compute(&key(1), || {
            Ok(thread::scope(|scope| scope.spawn(asks).join().unwrap())?.to_vec())
        });
        assert_eq!(result.unwrap(), vec![1]);
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}

const ONCE: &str = "cache::processes_compute_once";

#[test]
fn processes_compute_once() {
    if let Some(arguments) = job(ONCE) {
        return compute(&arguments[0], &arguments[1], 30);
    }
    let folder = folder();
    let (place, log) = (folder.path().join("store"), folder.path().join("log"));
    let arguments = [place.to_str().unwrap(), log.to_str().unwrap()];
    let children: Vec<_> = (0..8)
        .map(|_| child(ONCE, &arguments).spawn().unwrap())
        .collect();
    children.into_iter().for_each(assert_success);
    // Each of the keys was computed by one of the processes.
    assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 5);
}

fn compute(place: &str, log: &str, pause: u64) {
    let cache = Cache::new(&Store::open(place).unwrap(), "c", "1");
    for number in 0..5 {
        let result = cache.get_or_compute(&key(number), || {
            let mut log = OpenOptions::new().create(true).append(true).open(log)?;
            log.write_all(format!("{number}\n").as_bytes())?;
            thread::sleep(Duration::from_millis(pause));
            Ok(vec![number as u8])
        });
        assert_eq!(result.unwrap(), vec![number as u8]);
    }
}

const DYING: &str = "cache::a_killed_process_frees_its_computation";

#[test]
fn a_killed_process_frees_its_computation() {
    if let Some(arguments) = job(DYING) {
        return compute(&arguments[0], &arguments[1], arguments[2].parse().unwrap());
    }
    let folder = folder();
    let (place, log) = (folder.path().join("store"), folder.path().join("log"));
    let arguments = |pause| [place.to_str().unwrap(), log.to_str().unwrap(), pause];
    let mut dying = child(DYING, &arguments("1000000")).spawn().unwrap();
    while !log.exists() {
        assert!(dying.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(1));
    }
    let mut waiting = child(DYING, &arguments("0")).spawn().unwrap();
    thread::sleep(Duration::from_millis(100));
    assert!(waiting.try_wait().unwrap().is_none());
    dying.kill().unwrap();
    dying.wait().unwrap();
    assert_success(waiting);
    assert_eq!(std::fs::read_to_string(log).unwrap(), "0\n0\n1\n2\n3\n4\n");
}

#[test]
fn a_claim_is_exclusive_and_keeps_a_result() {
    let folder = folder();
    for store in [open(folder.path()), Store::open("memory:").unwrap()] {
        let cache = Cache::new(&store, "c", "1");
        assert!(cache.lookup(&key(1)).is_none());
        let Claimed::Free(claim) = cache.claim(&key(1), Duration::ZERO) else {
            panic!("nobody else computes");
        };
        assert!(matches!(
            cache.claim(&key(1), Duration::ZERO),
            Claimed::Busy
        ));
        assert!(matches!(
            cache.claim(&key(1), Duration::from_millis(5)),
            Claimed::Busy
        ));
        // A dropped claim is free again.
        drop(claim);
        let Claimed::Free(claim) = cache.claim(&key(1), Duration::ZERO) else {
            panic!("the claim is free");
        };
        claim.keep_entry(&NewEntry::new("result").program("p"));
        let Claimed::Found(result) = cache.claim(&key(1), Duration::ZERO) else {
            panic!("the result is kept");
        };
        assert_eq!(result.unwrap(), "result");
        assert_eq!(cache.lookup(&key(1)).unwrap().unwrap(), "result");
        let entry = store.entry(&cache.entry_key(&key(1))).unwrap().unwrap();
        assert!(entry.program.is_some());
    }
}

#[test]
fn a_claim_of_another_handle_is_busy() {
    let folder = folder();
    let caches = [(); 2].map(|()| Cache::new(&open(folder.path()), "c", "1"));
    let Claimed::Free(claim) = caches[0].claim(&key(1), Duration::ZERO) else {
        panic!("nobody else computes");
    };
    assert!(matches!(
        caches[1].claim(&key(1), Duration::ZERO),
        Claimed::Busy
    ));
    claim.keep(&Ok("result".into()));
    assert!(matches!(
        caches[1].claim(&key(1), Duration::ZERO),
        Claimed::Found(Ok(_))
    ));
}

#[test]
fn keys_of_a_cache_are_keys_of_its_entries() {
    let cache = Cache::new(&Store::open("memory:").unwrap(), "c", "1");
    let full = cache.entry_key(&EntryKey::builder("test").option("number", 1).build());
    assert_eq!(full, cache.key("test").option("number", 1).build());
    assert_eq!(cache.entry_key(&full), full);
    let other = Cache::new(&Store::open("memory:").unwrap(), "c", "2");
    assert_ne!(other.entry_key(&full), full);
    assert_eq!(EntryKey::of_parts(full.parts().clone()), full);
}

#[test]
fn a_computation_that_asks_for_its_own_result_is_an_error_at_once() {
    let folder = folder();
    let mut without_locks = FaultyEngine::new(None);
    without_locks.has_locks = false;
    for store in [
        Store::open("memory:").unwrap(),
        open(folder.path()),
        without_locks.store(),
    ] {
        let cache = Cache::new(&store, "recursive", "1");
        let start = Instant::now();
        let error = cache.get_or_compute(&key(1), || {
            // Another key is fine, and so is the way to the own key through a clone.
            let other = cache.get_or_compute(&key(2), || {
                let own = cache.clone().get_or_compute(&key(1), || Ok(vec![0]))?;
                Ok(own.to_vec())
            })?;
            Ok(other.to_vec())
        });
        let error = error.unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(60), "it waited");
        assert_eq!(error.kind(), ErrorKind::Recursion);
        let digest = cache.entry_key(&key(1)).digest().to_string();
        for part in [
            "\"recursive\"",
            "job \"test\"",
            &digest,
            "asks for its own result",
        ] {
            assert!(error.message().contains(part), "{error}");
        }
        // The keys are free again.
        assert_eq!(
            cache.get_or_compute(&key(1), || Ok(vec![1])).unwrap(),
            [1][..]
        );
        assert_eq!(
            cache.get_or_compute(&key(2), || Ok(vec![2])).unwrap(),
            [2][..]
        );
    }
}

#[test]
fn callers_are_told_apart() {
    let store = Store::open("memory:").unwrap();
    let cache = Cache::new(&store, "c", "1");
    let claim = cache
        .claim_by(Caller::task(1), &key(1), Duration::ZERO)
        .unwrap();
    assert!(matches!(claim, Claimed::Free(_)));
    for other in [Caller::task(2), Caller::thread()] {
        let claimed = cache.claim_by(other, &key(1), Duration::ZERO).unwrap();
        assert!(matches!(claimed, Claimed::Busy));
    }
    assert!(matches!(
        cache.claim(&key(1), Duration::ZERO),
        Claimed::Busy
    ));
    assert!(
        store
            .reserve(&cache.entry_key(&key(1)), Duration::ZERO)
            .is_none()
    );
    assert!(
        cache
            .claim_by(Caller::task(1), &key(1), Duration::ZERO)
            .is_err()
    );
    drop(claim);
    let again = cache
        .claim_by(Caller::task(1), &key(1), Duration::ZERO)
        .unwrap();
    assert!(matches!(again, Claimed::Free(_)));
    let on_thread = thread::spawn(Caller::thread).join().unwrap();
    assert_ne!(on_thread, Caller::thread());
}

#[test]
fn a_slow_place_without_locks_is_not_busy() {
    let mut without_locks = FaultyEngine::new(None);
    without_locks.has_locks = false;
    let cache = Cache::new(&without_locks.store(), "c", "1");
    let claimed = cache.claim(&key(1), Duration::ZERO);
    assert!(matches!(claimed, Claimed::Free(_)));
}
