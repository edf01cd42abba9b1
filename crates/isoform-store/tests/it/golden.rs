//! A folder of layout version 1, which every later release reads and which this release
//! writes byte for byte.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use isoform_store::{EntryKey, INLINE_LIMIT, LAYOUT_VERSION, Name, NewEntry, Store};

use crate::helpers::{folder, open, stored_files};

/// Set this variable to write the folder, once for a new layout version.
const WRITE: &str = "ISOFORM_WRITE_GOLDEN_STORE";

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn compile_key() -> EntryKey {
    EntryKey::builder("compile")
        .program(Name::of(b"x + x"))
        .option("level", 2)
        .version("1.0")
        .build()
}

fn large() -> Vec<u8> {
    b"0123456789abcde\n".repeat(INLINE_LIMIT / 16 + 1)
}

fn write(place: &Path) {
    let options = Store::options().clock(|| 1_800_000_000);
    let store = options.open(place.to_str().unwrap()).unwrap();
    store.put(b"").unwrap();
    store.put(b"a value\n").unwrap();
    let new = NewEntry::new("machine code")
        .program("x + x")
        .metadata("host", "a");
    store.put_entry(&compile_key(), &new).unwrap();
    let key = EntryKey::builder("fail").build();
    store
        .put_entry(&key, &NewEntry::new("no such operator").failure())
        .unwrap();
    let key = EntryKey::builder("large").build();
    store.put_entry(&key, &NewEntry::new(large())).unwrap();
    store
        .put_entry(&digest_key(), &NewEntry::new("raw"))
        .unwrap();
}

/// A key that consists of a digest alone.
fn digest_key() -> EntryKey {
    EntryKey::builder("digest")
        .program(Name::from_digest([7; 32]))
        .build()
}

#[track_caller]
fn check(store: &Store) {
    assert_eq!(store.get(&Name::of(b"")).unwrap().unwrap(), "");
    assert_eq!(
        store.get(&Name::of(b"a value\n")).unwrap().unwrap(),
        "a value\n"
    );
    let entry = store.entry_confirmed(&compile_key(), b"x + x", |_, _| Ok(false));
    let entry = entry.unwrap().unwrap();
    assert_eq!(entry.value, "machine code");
    assert_eq!(entry.metadata["host"], "a");
    assert_eq!(entry.created, 1_800_000_000);
    let entry = store
        .entry(&EntryKey::builder("fail").build())
        .unwrap()
        .unwrap();
    assert!(entry.is_failure);
    let entry = store
        .entry(&EntryKey::builder("large").build())
        .unwrap()
        .unwrap();
    assert_eq!(entry.value, large());
    let entry = store.entry(&digest_key()).unwrap().unwrap();
    assert_eq!(entry.value, "raw");
    let report = store.verify().unwrap();
    assert_eq!(
        (report.whole, report.damage.len(), report.foreign.len()),
        (8, 0, 0)
    );
    let found = store.find_entries(&[("option.level", "2")]).unwrap();
    assert_eq!(
        found,
        [(compile_key().digest(), compile_key().parts().clone())]
    );
    assert_eq!(store.sizes().unwrap().total().files, 8);
}

#[test]
fn the_golden_folder_is_read() {
    if env::var_os(WRITE).is_some() {
        write(&golden());
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            fs::remove_file(golden().join(name)).ok();
        }
        fs::remove_dir_all(golden().join("tmp")).ok();
        fs::remove_dir_all(golden().join("locks")).ok();
    }
    let options = Store::options().read_only(true);
    check(&options.open(golden().to_str().unwrap()).unwrap());
    let copy = folder();
    for file in stored_files(&golden()) {
        let target = copy.path().join(file.strip_prefix(golden()).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    check(&open(copy.path()));
}

#[test]
fn the_golden_folder_is_written() {
    assert_eq!(LAYOUT_VERSION, 1);
    let folder = folder();
    write(folder.path());
    let relative = |root: &Path| -> Vec<(PathBuf, Vec<u8>)> {
        stored_files(root)
            .into_iter()
            .map(|file| {
                let bytes = fs::read(&file).unwrap();
                (file.strip_prefix(root).unwrap().to_owned(), bytes)
            })
            .collect()
    };
    assert_eq!(relative(folder.path()), relative(&golden()));
}
