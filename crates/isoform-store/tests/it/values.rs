//! Values under their names.

use isoform::errors::ErrorKind;
use isoform_store::{FileKind, Name, Store};

use crate::helpers::{files, folder, open};

#[test]
fn a_value_comes_back_in_another_handle() {
    let folder = folder();
    for size in [0, 1, 55, 56, 57, 1000, 65_536, 300_000] {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7 + at / 251) as u8).collect();
        let name = open(folder.path()).put(&bytes).unwrap();
        assert_eq!(name, Name::of(&bytes));
        let store = open(folder.path());
        assert_eq!(store.get(&name).unwrap().unwrap(), bytes);
        assert!(store.contains(&name).unwrap());
    }
    assert!(files(&folder.path().join("tmp")).is_empty());
}

#[test]
fn equal_values_have_one_file() {
    let folder = folder();
    let store = open(folder.path());
    for _ in 0..3 {
        store.put(b"same").unwrap();
    }
    assert_eq!(files(&folder.path().join("values")).len(), 1);
    let statistics = store.statistics();
    assert_eq!((statistics.puts, statistics.repeated_puts), (3, 2));
    assert_eq!(statistics.bytes_written, 60);
}

#[test]
fn a_removed_value_is_gone() {
    let folder = folder();
    let store = open(folder.path());
    let name = store.put(b"value").unwrap();
    assert!(store.remove(&name).unwrap());
    assert!(!store.remove(&name).unwrap());
    assert_eq!(store.get(&name).unwrap(), None);
    assert!(!store.contains(&name).unwrap());
    store.put(b"value").unwrap();
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
}

#[test]
fn statistics_count_hits_and_misses() {
    let store = Store::open("memory:").unwrap();
    let name = store.put(b"12345").unwrap();
    let clone = store.clone();
    clone.get(&name).unwrap();
    clone.get(&name).unwrap();
    store.get(&Name::of(b"absent")).unwrap();
    let statistics = store.statistics();
    assert_eq!((statistics.hits, statistics.misses), (2, 1));
    assert_eq!(statistics.bytes_read, 10);
}

#[test]
fn list_has_every_file_once() {
    let folder = folder();
    let store = open(folder.path());
    let mut names: Vec<Name> = (0..300_u32)
        .map(|number| store.put(&number.to_le_bytes()).unwrap())
        .collect();
    names.sort();
    let listed: Vec<_> = store.list().unwrap().map(Result::unwrap).collect();
    assert!(
        listed
            .iter()
            .all(|file| file.kind == FileKind::Value && file.size == 60)
    );
    let listed: Vec<Name> = listed.iter().map(|file| file.name).collect();
    assert_eq!(listed, names);
}

#[test]
fn memory_stores_are_separate() {
    let (one, other) = (
        Store::open("memory:").unwrap(),
        Store::open("memory:").unwrap(),
    );
    let name = one.put(b"x").unwrap();
    assert_eq!(other.get(&name).unwrap(), None);
}

#[test]
fn a_store_is_no_file() {
    let folder = folder();
    let path = folder.path().join("file");
    std::fs::write(&path, "").unwrap();
    let error = Store::open(path.to_str().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains(path.to_str().unwrap()), "{error}");
    let absent = folder.path().join("absent");
    let read_only = Store::options().read_only(true);
    assert!(read_only.open(absent.to_str().unwrap()).is_err());
    assert!(!absent.exists());
}

#[test]
fn a_folder_that_somebody_removed_comes_back() {
    let folder = folder();
    let path = folder.path().join("store");
    let store = open(&path);
    let name = store.put(b"1").unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(store.get(&name).unwrap(), None);
    store.put(b"1").unwrap();
    assert_eq!(open(&path).get(&name).unwrap().unwrap(), "1");
}

#[test]
fn durable_puts_work() {
    let folder = folder();
    let url = folder.path().to_str().unwrap();
    let name = open(folder.path()).put(b"value").unwrap();
    let store = Store::options().durable(true).open(url).unwrap();
    assert_eq!(store.put(b"value").unwrap(), name);
    let other = store.put(b"other").unwrap();
    assert_eq!(open(folder.path()).get(&other).unwrap().unwrap(), "other");
}

#[test]
fn names_print_and_parse() {
    let name = Name::of(b"");
    let text = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(name.to_string(), text);
    assert_eq!(text.parse::<Name>().unwrap(), name);
    for wrong in ["", "af", &text[1..], &text.replace('f', "g")] {
        let error = wrong.parse::<Name>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value, "{wrong}");
    }
}

#[test]
fn handles_cross_threads() {
    fn check<T: Clone + Send + Sync>() {}
    check::<Store>();
    check::<isoform_store::Cache>();
}
