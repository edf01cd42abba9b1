//! Damaged files: a lookup returns the right bytes or nothing.

use isoform_store::{Engine, FileKind, INLINE_LIMIT, Name, NewEntry, Store};
use isoform_testing::source::scale;
use proptest::prelude::*;

use crate::helpers::{FaultyEngine, cases, folder, key, open, stored_files};

/// A store in memory with a value, and an entry of each form; and the paths of all files.
fn filled() -> (FaultyEngine, Vec<String>) {
    let engine = FaultyEngine::new(None);
    put_all(&engine.store());
    let mut paths = Vec::new();
    for folder in ["values", "entries"] {
        paths.extend(engine.list(folder).unwrap().map(|file| file.unwrap().path));
    }
    assert_eq!(paths.len(), 5);
    (engine, paths)
}

fn put_all(store: &Store) {
    store.put(b"the value").unwrap();
    store.put_entry(&key(1), &inline()).unwrap();
    store.put_entry(&key(2), &large()).unwrap();
}

fn inline() -> NewEntry {
    NewEntry::new("inline")
        .metadata("a", "b")
        .program("program")
        .failure()
}

fn large() -> NewEntry {
    NewEntry::new(vec![7; INLINE_LIMIT + 1])
}

/// Checks every lookup, and returns the number of misses.
#[track_caller]
fn check_lookups(store: &Store) -> usize {
    let mut misses = 0;
    match store.get(&Name::of(b"the value")).unwrap() {
        Some(value) => assert_eq!(value, "the value"),
        None => misses += 1,
    }
    let (is_same, program) = (|_: &[u8], _: &[u8]| Ok(true), b"program");
    match store.entry_confirmed(&key(1), program, is_same).unwrap() {
        Some(entry) => {
            assert_eq!(entry.value, "inline");
            assert_eq!(entry.metadata["a"], "b");
            assert_eq!(entry.program, Some(Name::of(program)));
            assert!(entry.is_failure);
        }
        None => misses += 1,
    }
    match store.entry(&key(2)).unwrap() {
        Some(entry) => assert_eq!(entry.value, vec![7; INLINE_LIMIT + 1]),
        None => misses += 1,
    }
    match store.get(&Name::of(program)).unwrap() {
        Some(value) => assert_eq!(value, &program[..]),
        None => misses += 1,
    }
    misses
}

/// Replaces a file by a damaged one, and checks that lookups miss, that `verify` names
/// the file, and that a put repairs the file.
#[track_caller]
fn check_damage(engine: &FaultyEngine, path: &str, damaged: &[u8], what: &str) {
    engine.replace(path, damaged).unwrap();
    let report = engine.store().verify().unwrap();
    assert!(
        report.damage.iter().any(|damage| damage.path == path),
        "{what}"
    );
    // A put without a lookup first.
    put_all(&engine.store());
    assert_eq!(check_lookups(&engine.store()), 0, "{what}");
    // A lookup first.
    engine.replace(path, damaged).unwrap();
    let store = engine.store();
    assert!(check_lookups(&store) > 0, "{what}");
    assert!(store.statistics().torn > 0, "{what}");
    assert!(
        engine.read(path).unwrap().is_none(),
        "{what}: the file stays"
    );
    put_all(&store);
    assert_eq!(check_lookups(&store), 0, "{what}");
}

/// How far damage goes: beyond every header and description in long runs.
fn reach() -> usize {
    if scale() == 1 { 600 } else { 200 }
}

#[test]
fn every_flipped_bit_is_found() {
    let (engine, paths) = filled();
    for path in paths {
        let whole = engine.read(&path).unwrap().unwrap().bytes;
        // The payload of a large value is all alike.
        for at in 0..whole.len().min(reach()) {
            // Every bit of the header, and in quick runs a bit of each other byte.
            let bits = if at < 56 || scale() == 1 {
                0..8
            } else {
                at % 8..at % 8 + 1
            };
            for bit in bits {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                check_damage(
                    &engine,
                    &path,
                    &damaged,
                    &format!("{path}, byte {at}, bit {bit}"),
                );
            }
        }
    }
}

#[test]
fn every_cut_is_found() {
    let (engine, paths) = filled();
    for path in paths {
        let whole = engine.read(&path).unwrap().unwrap().bytes;
        let last = whole.len() - 1;
        for length in (0..whole.len().min(reach())).chain([last]) {
            check_damage(
                &engine,
                &path,
                &whole[..length],
                &format!("{path} cut to {length}"),
            );
            let mut zeros = whole.clone();
            zeros[length..].fill(0);
            if zeros != whole && (scale() == 1 || length % 8 == 0) {
                check_damage(
                    &engine,
                    &path,
                    &zeros,
                    &format!("{path}, zeros from {length}"),
                );
            }
        }
        let longer = [&whole[..], b"x"].concat();
        check_damage(&engine, &path, &longer, &format!("{path} with a byte more"));
    }
}

#[test]
fn files_in_the_place_of_others_are_found() {
    let (engine, paths) = filled();
    for path in &paths {
        for other in paths.iter().filter(|other| *other != path) {
            let bytes = engine.read(other).unwrap().unwrap().bytes;
            let old = engine.read(path).unwrap().unwrap().bytes;
            engine.replace(path, &bytes).unwrap();
            let report = engine.store().verify().unwrap();
            assert!(report.damage.iter().any(|damage| damage.path == *path));
            assert!(check_lookups(&engine.store()) > 0, "{other} at {path}");
            engine.replace(path, &old).unwrap();
            put_all(&engine.store());
            assert_eq!(check_lookups(&engine.store()), 0);
        }
    }
}

#[test]
fn repair_removes_damaged_files_and_entries_without_values() {
    let folder = folder();
    let store = open(folder.path());
    put_all(&store);
    let whole = store.verify().unwrap();
    assert_eq!((whole.whole, whole.damage.len(), whole.removed), (5, 0, 0));
    let large = stored_files(folder.path())
        .into_iter()
        .find(|file| file.metadata().unwrap().len() > INLINE_LIMIT as u64)
        .unwrap();
    std::fs::write(&large, "torn").unwrap();
    let report = store.verify().unwrap();
    let reasons: Vec<&str> = report.damage.iter().map(|damage| &*damage.reason).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert_eq!(reasons[0], "the file is shorter than its header");
    assert!(reasons[1].ends_with("of the entry is gone"), "{reasons:?}");
    assert!(large.exists());
    let repaired = store.repair().unwrap();
    assert_eq!((repaired.whole, repaired.removed), (3, 2));
    let after = store.verify().unwrap();
    assert_eq!((after.whole, after.damage.len()), (3, 0));
    assert_eq!(store.sizes().unwrap().total().files, 3);
}

/// A file whose header has another layout version and is right otherwise.
fn with_version(file: &[u8], version: u16) -> Vec<u8> {
    let mut file = file.to_vec();
    file[4..6].copy_from_slice(&version.to_le_bytes());
    with_check(file)
}

/// The file with a right check of its header.
fn with_check(mut file: Vec<u8>) -> Vec<u8> {
    let check = blake3::hash(&file[..48]);
    file[48..56].copy_from_slice(&check.as_bytes()[..8]);
    file
}

#[test]
fn a_value_in_the_place_of_an_entry_is_a_miss() {
    let (engine, paths) = filled();
    let is_entry = |path: &&String| path.starts_with("entries/");
    let path = paths.iter().find(is_entry).unwrap();
    let entry = engine.read(path).unwrap().unwrap().bytes;
    // A value with the payload of the entry: all checksums are right.
    let name = engine.store().put(&entry[56..]).unwrap();
    let digits = name.to_string();
    let value = format!("values/{}/{}", &digits[..2], &digits[2..]);
    let value = engine.read(&value).unwrap().unwrap().bytes;
    assert_eq!(value[56..], entry[56..]);
    check_damage(&engine, path, &value, "a value");
}

#[test]
fn a_wrong_length_is_found() {
    let (engine, paths) = filled();
    for path in &paths {
        let mut file = engine.read(path).unwrap().unwrap().bytes;
        file[8] ^= 1;
        check_damage(&engine, path, &with_check(file), path);
    }
}

#[test]
fn a_file_of_a_newer_layout_is_an_error_and_stays() {
    let folder = folder();
    let store = open(folder.path());
    put_all(&store);
    let files = stored_files(folder.path());
    let newer: Vec<_> = files
        .iter()
        .map(|path| with_version(&std::fs::read(path).unwrap(), 2))
        .collect();
    for (path, bytes) in files.iter().zip(&newer) {
        std::fs::write(path, bytes).unwrap();
    }
    let name = Name::of(b"the value");
    let errors = [
        store.get(&name).unwrap_err(),
        store.put(b"the value").unwrap_err(),
        store.entry(&key(1)).unwrap_err(),
        store.put_entry(&key(1), &NewEntry::new("x")).unwrap_err(),
        store
            .replace_entry(&key(1), &NewEntry::new("x"))
            .unwrap_err(),
        store.contains(&name).unwrap_err(),
    ];
    for error in errors {
        let message = error.message();
        let place = folder.path().canonicalize().unwrap();
        assert!(
            message.contains("layout version 1, got version 2"),
            "{message}"
        );
        assert!(message.contains(place.to_str().unwrap()), "{message}");
    }
    let report = store.repair().unwrap();
    assert_eq!((report.foreign.len(), report.damage.len()), (5, 0));
    for (path, bytes) in files.iter().zip(&newer) {
        assert_eq!(&std::fs::read(path).unwrap(), bytes);
    }
    // Files of this layout work next to the others.
    let other = store.put(b"another").unwrap();
    assert_eq!(store.get(&other).unwrap().unwrap(), "another");
}

#[test]
fn foreign_files_in_the_folders_do_no_harm() {
    let folder = folder();
    let store = open(folder.path());
    put_all(&store);
    for stray in [
        "values/README",
        "values/zz/x",
        "entries/ab/cd/ef",
        "values/ab/note.txt",
    ] {
        let path = folder.path().join(stray);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "stray").unwrap();
    }
    assert_eq!(check_lookups(&store), 0);
    assert_eq!(store.list().unwrap().count(), 5);
    store.rebuild_index().unwrap();
    assert_eq!(store.sizes().unwrap().total().files, 5);
    store
        .evict(&isoform_store::Limits {
            max_count: Some(0),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(store.list().unwrap().count(), 0);
    assert!(folder.path().join("values/zz/x").exists());
}

proptest! {
    #![proptest_config(cases(1600))]

    /// Random damage to files in a folder, at any offset and of any length.
    #[test]
    fn damaged_files_in_a_folder_are_misses(
        value in prop::collection::vec(any::<u8>(), 0..4000),
        (start, length) in (any::<prop::sample::Index>(), 0_usize..100),
        replacement in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let folder = folder();
        let store = open(folder.path());
        let name = store.put(&value).unwrap();
        store.put_entry(&key(1), &NewEntry::new(value.clone())).unwrap();
        for path in stored_files(folder.path()) {
            let whole = std::fs::read(&path).unwrap();
            let start = start.index(whole.len());
            let end = (start + length).min(whole.len());
            let damaged = [&whole[..start], &replacement, &whole[end..]].concat();
            std::fs::write(&path, &damaged).unwrap();
            let is_whole = damaged == whole;
            let (found, kind) = if path.starts_with(folder.path().join("values")) {
                (store.get(&name).unwrap(), FileKind::Value)
            } else {
                let entry = store.entry(&key(1)).unwrap();
                (entry.map(|entry| entry.value), FileKind::Entry)
            };
            prop_assert_eq!(found.is_some(), is_whole, "{}", kind);
            prop_assert!(found.is_none_or(|found| found == value));
        }
    }
}
