//! A store on a server does what a store in a folder does.

use std::env;

use isoform_store::{Cache, EntryKey, INLINE_LIMIT, Limits, Name, NewEntry, Store, StoreOptions};

use crate::fake::{Behaviour, Server};

fn key(number: u64) -> EntryKey {
    EntryKey::builder("test").option("number", number).build()
}

fn open(url: &str) -> Store {
    isoform_remote::open(url, StoreOptions::default()).unwrap()
}

/// Everything except lists.
#[track_caller]
fn check_operations(url: &str) {
    let store = open(url);
    let absent = Name::of(b"absent");
    assert_eq!(store.get(&absent).unwrap(), None, "{url}");
    assert!(!store.remove(&absent).unwrap());
    for size in [0, 1, 1000, 300_000] {
        let bytes = vec![7; size];
        let name = store.put(&bytes).unwrap();
        assert_eq!(store.put(&bytes).unwrap(), name);
        assert_eq!(open(url).get(&name).unwrap().unwrap(), bytes);
        assert!(store.contains(&name).unwrap());
        assert!(store.remove(&name).unwrap());
        assert!(!store.contains(&name).unwrap());
    }
    assert_eq!(store.statistics().repeated_puts, 4);
    let large = vec![8; INLINE_LIMIT + 1];
    store.remove_entry(&key(1)).unwrap();
    store.remove_entry(&key(2)).unwrap();
    assert!(
        store
            .put_entry(&key(1), &NewEntry::new("first").program("p"))
            .unwrap()
    );
    assert!(!store.put_entry(&key(1), &NewEntry::new("second")).unwrap());
    assert_eq!(open(url).entry(&key(1)).unwrap().unwrap().value, "first");
    let confirmed = store.entry_confirmed(&key(1), b"q", |kept, _| Ok(kept == b"p"));
    assert!(confirmed.unwrap().is_some());
    store
        .replace_entry(&key(1), &NewEntry::new("third"))
        .unwrap();
    assert_eq!(open(url).entry(&key(1)).unwrap().unwrap().value, "third");
    assert!(
        store
            .put_entry(&key(2), &NewEntry::new(large.clone()))
            .unwrap()
    );
    assert_eq!(open(url).entry(&key(2)).unwrap().unwrap().value, large);
    let cache = Cache::new(&store, "c", "1");
    store.remove_entry(&cache.entry_key(&key(3))).unwrap();
    assert_eq!(
        cache.get_or_compute(&key(3), || Ok(vec![1])).unwrap(),
        vec![1]
    );
    assert_eq!(
        cache.get_or_compute(&key(3), || Ok(vec![2])).unwrap(),
        vec![1]
    );
    // Threads share one handle.
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..5 {
                    let bytes = (thread % 4 * 5 + number).to_le_bytes();
                    let name = store.put(&bytes).unwrap();
                    assert_eq!(store.get(&name).unwrap().unwrap(), &bytes[..]);
                }
            });
        }
    });
}

/// Lists and whatever uses them.
#[track_caller]
fn check_lists(url: &str) {
    let store = open(url);
    let all = Limits {
        max_count: Some(0),
        ..Limits::default()
    };
    store.evict(&all).unwrap();
    assert_eq!(store.list().unwrap().count(), 0);
    let name = store.put(b"value").unwrap();
    store.put_entry(&key(1), &NewEntry::new("entry")).unwrap();
    let files: Vec<_> = store.list().unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 2);
    assert_eq!((files[0].name, files[0].size), (name, 61));
    assert!(files[0].used > 1_700_000_000);
    assert_eq!(open(url).sizes().unwrap().total().files, 2);
    assert_eq!(
        open(url)
            .find_entries(&[("option.number", "1")])
            .unwrap()
            .len(),
        1
    );
    let report = store.verify().unwrap();
    assert_eq!((report.whole, report.damage.len()), (2, 0));
    assert_eq!(store.evict(&all).unwrap().removed.files, 2);
}

#[test]
fn a_store_on_a_server_works() {
    for behaviour in [Behaviour::Right, Behaviour::Unconditional] {
        let server = Server::start(behaviour);
        check_operations(&server.url());
        check_lists(&server.url());
    }
}

#[test]
fn damage_on_a_server_is_found_and_repaired() {
    let server = Server::start(Behaviour::Right);
    let store = open(&server.url());
    let name = store.put(b"value").unwrap();
    let damage = || {
        for bytes in server.objects.lock().unwrap().values_mut() {
            bytes.truncate(30);
        }
    };
    damage();
    assert_eq!(store.get(&name).unwrap(), None);
    store.put(b"value").unwrap();
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
    damage();
    assert_eq!(store.repair().unwrap().removed, 1);
    assert_eq!(server.objects.lock().unwrap().len(), 0);
}

#[test]
fn prefixes_separate_stores() {
    let server = Server::start(Behaviour::Right);
    let (one, other) = (server.url(), server.url().replace("/prefix", "/other"));
    let name = open(&one).put(b"x").unwrap();
    assert_eq!(open(&other).get(&name).unwrap(), None);
    let keys: Vec<String> = server.objects.lock().unwrap().keys().cloned().collect();
    assert!(keys[0].starts_with("prefix/values/"), "{keys:?}");
}

#[test]
fn a_mode_makes_a_store_read_only() {
    let server = Server::start(Behaviour::Right);
    let name = open(&server.url()).put(b"x").unwrap();
    let reader = open(&(server.url() + "&mode=READ_ONLY"));
    assert_eq!(reader.get(&name).unwrap().unwrap(), "x");
    assert!(
        reader
            .put(b"y")
            .unwrap_err()
            .message()
            .contains("read-only")
    );
}

#[test]
fn other_urls_open_other_stores() {
    let store = open("memory:");
    assert!(store.put(b"x").is_ok());
    let error = isoform_remote::open("ftp://h", StoreOptions::default()).unwrap_err();
    assert!(error.message().contains("unknown"), "{error}");
}

/// URLs of real servers, separated by spaces. A Redis server cannot list.
const SERVERS: &str = "ISOFORM_STORE_TEST_SERVERS";

#[test]
fn real_servers_work() {
    for url in env::var(SERVERS).unwrap_or_default().split_whitespace() {
        check_operations(url);
        if url.starts_with("redis") {
            let error = open(url).sizes().unwrap_err();
            assert!(error.message().contains("cannot list"), "{error}");
        } else {
            check_lists(url);
        }
    }
}
