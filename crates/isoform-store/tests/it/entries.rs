//! Entries under keys.

use std::collections::BTreeMap;

use isoform::Error;
use isoform_store::{EntryKey, INLINE_LIMIT, Name, NewEntry, Store};

use crate::helpers::{files, folder, key, open, stored_files};

fn same(_: &[u8], _: &[u8]) -> isoform::Result<bool> {
    Ok(true)
}

#[test]
fn an_entry_comes_back_with_everything() {
    let folder = folder();
    let store = Store::options()
        .clock(|| 1234)
        .open(folder.path().to_str().unwrap())
        .unwrap();
    let key = EntryKey::builder("compile")
        .option("level", 2)
        .version("1")
        .build();
    let new = NewEntry::new("code")
        .metadata("a", "b")
        .program("p")
        .failure();
    assert!(store.put_entry(&key, &new).unwrap());
    let entry = open(folder.path()).entry(&key).unwrap().unwrap();
    assert_eq!(entry.value, "code");
    assert_eq!(entry.metadata, BTreeMap::from([("a".into(), "b".into())]));
    assert_eq!(&entry.key, key.parts());
    assert_eq!(entry.program, Some(Name::of(b"p")));
    assert_eq!(entry.created, 1234);
    assert!(entry.is_failure);
    assert_eq!(store.get(&Name::of(b"p")).unwrap().unwrap(), "p");
}

#[test]
fn a_large_value_has_its_own_file() {
    for (size, count) in [(INLINE_LIMIT, 0), (INLINE_LIMIT + 1, 1)] {
        let folder = folder();
        let store = open(folder.path());
        let value = vec![7; size];
        store
            .put_entry(&key(1), &NewEntry::new(value.clone()))
            .unwrap();
        assert_eq!(files(&folder.path().join("values")).len(), count);
        assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, value);
    }
}

#[test]
fn the_first_writer_wins() {
    let folder = folder();
    let store = open(folder.path());
    assert!(store.put_entry(&key(1), &NewEntry::new("first")).unwrap());
    assert!(!store.put_entry(&key(1), &NewEntry::new("second")).unwrap());
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, "first");
    store
        .replace_entry(&key(1), &NewEntry::new("third"))
        .unwrap();
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, "third");
    assert!(store.remove_entry(&key(1)).unwrap());
    assert!(!store.remove_entry(&key(1)).unwrap());
    assert_eq!(store.entry(&key(1)).unwrap(), None);
}

#[test]
fn a_hit_is_confirmed_by_the_program() {
    let store = Store::open("memory:").unwrap();
    store
        .put_entry(&key(1), &NewEntry::new("v").program("P"))
        .unwrap();
    let never = |_: &[u8], _: &[u8]| Err(Error::value_error("called"));
    // The same bytes need no comparison.
    assert!(
        store
            .entry_confirmed(&key(1), b"P", never)
            .unwrap()
            .is_some()
    );
    let error = store.entry_confirmed(&key(1), b"p", never).unwrap_err();
    assert_eq!(error.message(), "called");
    let compared = |kept: &[u8], given: &[u8]| {
        assert_eq!((kept, given), (&b"P"[..], &b"p"[..]));
        Ok(true)
    };
    assert!(
        store
            .entry_confirmed(&key(1), b"p", compared)
            .unwrap()
            .is_some()
    );
    assert_eq!(store.statistics().unconfirmed, 0);
    assert!(
        store
            .entry_confirmed(&key(1), b"q", |_, _| Ok(false))
            .unwrap()
            .is_none()
    );
    assert_eq!(store.statistics().unconfirmed, 1);
    // Without the kept program, nothing is confirmed.
    store.remove(&Name::of(b"P")).unwrap();
    assert!(
        store
            .entry_confirmed(&key(1), b"p", same)
            .unwrap()
            .is_none()
    );
    store.put_entry(&key(2), &NewEntry::new("v")).unwrap();
    assert!(
        store
            .entry_confirmed(&key(2), b"p", same)
            .unwrap()
            .is_none()
    );
    let statistics = store.statistics();
    assert_eq!(
        (statistics.unconfirmed, statistics.misses, statistics.hits),
        (3, 3, 2)
    );
}

#[test]
fn an_entry_under_the_digest_of_another_key_is_a_miss() {
    let folder = folder();
    let store = open(folder.path());
    store.put_entry(&key(1), &NewEntry::new("one")).unwrap();
    let one = stored_files(folder.path())[0].clone();
    store.put_entry(&key(2), &NewEntry::new("two")).unwrap();
    let two = stored_files(folder.path())
        .into_iter()
        .find(|file| *file != one)
        .unwrap();
    // As if the digests of the keys were equal.
    std::fs::copy(&one, &two).unwrap();
    assert_eq!(store.entry(&key(2)).unwrap(), None);
    assert_eq!(store.statistics().unconfirmed, 1);
    assert_eq!(store.verify().unwrap().damage.len(), 1);
    assert!(store.put_entry(&key(2), &NewEntry::new("two")).unwrap());
    assert_eq!(store.entry(&key(2)).unwrap().unwrap().value, "two");
    assert!(store.verify().unwrap().damage.is_empty());
}

#[test]
fn an_entry_without_its_value_is_a_miss_and_goes() {
    let folder = folder();
    let store = open(folder.path());
    let value = vec![7; INLINE_LIMIT + 1];
    let new = NewEntry::new(value.clone());
    store.put_entry(&key(1), &new).unwrap();
    store.remove(&Name::of(&value)).unwrap();
    assert_eq!(store.verify().unwrap().damage.len(), 1);
    assert_eq!(store.entry(&key(1)).unwrap(), None);
    assert!(files(&folder.path().join("entries")).is_empty());
    // A put after the loss of the value, without a lookup in between.
    store.put_entry(&key(1), &new).unwrap();
    store.remove(&Name::of(&value)).unwrap();
    store.put_entry(&key(1), &NewEntry::new("small")).unwrap();
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, "small");
}

#[test]
fn entries_are_found_by_parts() {
    let folder = folder();
    let clock = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(100));
    let ticks = clock.clone();
    let store = Store::options()
        .clock(move || ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        .open(folder.path().to_str().unwrap())
        .unwrap();
    for number in 0..4 {
        store.put_entry(&key(number), &NewEntry::new("v")).unwrap();
    }
    let odd = EntryKey::builder("it's \"odd\"")
        .option("a\\b\0\u{e9}", "%")
        .build();
    store.put_entry(&odd, &NewEntry::new("v")).unwrap();
    let found = store.find_entries(&[("job", "test")]).unwrap();
    let newest: Vec<_> = (0..4).rev().map(|number| key(number).digest()).collect();
    assert_eq!(
        found.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        newest
    );
    let two = [("job", "test"), ("option.number", "2")];
    assert_eq!(
        store.find_entries(&two).unwrap(),
        [(key(2).digest(), key(2).parts().clone())]
    );
    assert_eq!(store.find_entries(&[]).unwrap().len(), 5);
    assert_eq!(
        store
            .find_entries(&[("job", "it's \"odd\"")])
            .unwrap()
            .len(),
        1
    );
    assert!(
        store
            .find_entries(&[("job", "' OR 1=1 --")])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn an_entry_is_found_and_removed_by_its_digest() {
    let store = Store::open("memory:").unwrap();
    store.put_entry(&key(1), &NewEntry::new("value")).unwrap();
    let digest = key(1).digest();
    assert_eq!(store.entry_named(&digest).unwrap().unwrap().value, "value");
    assert_eq!(store.entry_named(&key(2).digest()).unwrap(), None);
    assert!(store.remove_entry_named(&digest).unwrap());
    assert!(!store.remove_entry_named(&digest).unwrap());
    assert_eq!(store.entry_named(&digest).unwrap(), None);
}
