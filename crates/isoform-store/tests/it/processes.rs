//! Many processes at the same time.

use std::path::Path;

use isoform_store::{INLINE_LIMIT, Limits, Name, NewEntry, Store};
use isoform_testing::source::scaled;

use crate::helpers::{Random, assert_success, child, folder, job, key, open, stored_files};

const PROCESSES: usize = 8;
const VALUES: u64 = 40;
const KEYS: u64 = 60;

const KEEPING: &str = "processes::processes_find_everything_that_they_put";
const REMOVING: &str = "processes::processes_that_remove_files_never_see_wrong_bytes";

fn value(number: u64) -> Vec<u8> {
    match number % 10 {
        0 => vec![number as u8; INLINE_LIMIT + 1 + number as usize],
        _ => format!("value {number}")
            .repeat(number as usize)
            .into_bytes(),
    }
}

/// An entry whose value tells the key and the writer.
fn entry(number: u64, writer: u64) -> NewEntry {
    let mut value = format!("{number} by {writer} ").into_bytes();
    if number.is_multiple_of(10) {
        value.resize(INLINE_LIMIT + 1, b'x');
    }
    NewEntry::new(value).program(format!("program {number}"))
}

#[track_caller]
fn check_entry(number: u64, value: &[u8]) {
    let text = String::from_utf8_lossy(value);
    let (found, writer) = text.split_once(" by ").unwrap();
    assert_eq!(found, number.to_string());
    let writer = writer.split_once(' ').unwrap().0.parse().unwrap();
    assert_eq!(value, run_value(&entry(number, writer)));
}

fn run_value(new: &NewEntry) -> Vec<u8> {
    let store = Store::open("memory:").unwrap();
    store.put_entry(&key(0), new).unwrap();
    store.entry(&key(0)).unwrap().unwrap().value.to_vec()
}

fn run_children(test: &str, folder: &Path) {
    let children: Vec<_> = (0..PROCESSES)
        .map(|writer| {
            let arguments = [folder.to_str().unwrap(), &writer.to_string()];
            child(test, &arguments).spawn().unwrap()
        })
        .collect();
    children.into_iter().for_each(assert_success);
}

#[test]
fn processes_find_everything_that_they_put() {
    if let Some(arguments) = job(KEEPING) {
        return keep(&arguments[0], arguments[1].parse().unwrap());
    }
    let folder = folder();
    let place = folder.path().join("store");
    run_children(KEEPING, &place);
    let store = open(&place);
    // Every process put every value and every entry at its end.
    for number in 0..VALUES {
        let bytes = value(number);
        assert_eq!(store.get(&Name::of(&bytes)).unwrap().unwrap(), bytes);
    }
    for number in 0..KEYS {
        check_entry(number, &store.entry(&key(number)).unwrap().unwrap().value);
        // Exactly one writer was first.
        let firsts = (0..PROCESSES)
            .map(|writer| folder.path().join(format!("first-{writer}-{number}")))
            .filter(|mark| mark.exists());
        assert_eq!(firsts.count(), 1, "key {number}");
    }
    let report = store.verify().unwrap();
    assert_eq!(report.damage, []);
    assert_eq!(report.whole as usize, stored_files(&place).len());
    assert_eq!(store.sizes().unwrap().total().files, report.whole);
}

fn keep(place: &str, writer: u64) {
    let store = Store::open(place).unwrap();
    let mut random = Random(writer);
    let marks = Path::new(place).parent().unwrap().to_owned();
    let put_entry = |number: u64| {
        if store
            .put_entry(&key(number), &entry(number, writer))
            .unwrap()
        {
            std::fs::write(marks.join(format!("first-{writer}-{number}")), "").unwrap();
        }
        check_entry(number, &store.entry(&key(number)).unwrap().unwrap().value);
    };
    let put_value = |number: u64| {
        let bytes = value(number);
        let name = store.put(&bytes).unwrap();
        assert_eq!(store.get(&name).unwrap().unwrap(), bytes);
    };
    for _ in 0..scaled(10_000) {
        match random.below(5) {
            0 => put_value(random.below(VALUES)),
            1 => put_entry(random.below(KEYS)),
            2 => {
                let bytes = value(random.below(VALUES));
                let found = store.get(&Name::of(&bytes)).unwrap();
                assert!(found.is_none_or(|found| found == bytes));
            }
            3 => {
                let number = random.below(KEYS);
                if let Some(found) = store.entry(&key(number)).unwrap() {
                    check_entry(number, &found.value);
                }
            }
            _ => {
                // A process that goes through all files meanwhile.
                if random.below(20) == 0 {
                    assert_eq!(store.verify().unwrap().damage, []);
                    store.sizes().unwrap();
                }
            }
        }
    }
    (0..VALUES).for_each(put_value);
    (0..KEYS).for_each(put_entry);
}

#[test]
fn processes_that_remove_files_never_see_wrong_bytes() {
    if let Some(arguments) = job(REMOVING) {
        return remove(&arguments[0], arguments[1].parse().unwrap());
    }
    let folder = folder();
    run_children(REMOVING, folder.path());
    let store = open(folder.path());
    for number in 0..VALUES {
        let bytes = value(number);
        let found = store.get(&Name::of(&bytes)).unwrap();
        assert!(found.is_none_or(|found| found == bytes));
    }
    store.repair().unwrap();
    let report = store.verify().unwrap();
    assert_eq!(report.damage, []);
    assert_eq!(store.sizes().unwrap().total().files, report.whole);
    // The folder works as before.
    for number in 0..VALUES {
        let name = store.put(&value(number)).unwrap();
        assert!(store.contains(&name).unwrap());
    }
}

fn remove(place: &str, writer: u64) {
    let store = Store::options().max_count(70).open(place).unwrap();
    let mut random = Random(writer);
    let confirm = |_: &[u8], _: &[u8]| Ok(false);
    for _ in 0..scaled(10_000) {
        let number = random.below(KEYS);
        let bytes = value(number % VALUES);
        match random.below(12) {
            0..3 => drop(store.put(&bytes).unwrap()),
            3..6 => drop(
                store
                    .put_entry(&key(number), &entry(number, writer))
                    .unwrap(),
            ),
            6 => store
                .replace_entry(&key(number), &entry(number, writer))
                .unwrap(),
            7 => drop(store.remove(&Name::of(&bytes)).unwrap()),
            8 => drop(store.remove_entry(&key(number)).unwrap()),
            9 => {
                let program = format!("program {number}");
                let found = store.entry_confirmed(&key(number), program.as_bytes(), confirm);
                if let Some(found) = found.unwrap() {
                    check_entry(number, &found.value);
                }
            }
            10 if random.below(10) == 0 => {
                let limits = Limits {
                    max_count: Some(50),
                    ..Limits::default()
                };
                store.evict(&limits).unwrap();
            }
            _ => {
                let found = store.get(&Name::of(&bytes)).unwrap();
                assert!(found.is_none_or(|found| found == bytes));
            }
        }
    }
    assert_eq!(store.statistics().torn, 0);
}
