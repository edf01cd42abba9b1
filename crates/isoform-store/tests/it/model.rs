//! Random sequences of operations, compared with maps.

use std::collections::BTreeMap;

use isoform_store::{INLINE_LIMIT, Limits, Name, NewEntry, Store};
use proptest::prelude::*;

use crate::helpers::{cases, folder, key, open};

#[derive(Clone, Debug)]
enum Operation {
    Put(u8),
    Get(u8),
    Remove(u8),
    PutEntry(u8, u8),
    ReplaceEntry(u8, u8),
    Entry(u8),
    Confirm(u8, u8),
    RemoveEntry(u8),
    List,
    Sizes,
    Verify,
    RebuildIndex,
    EvictAll,
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let number = 0_u8..6;
    let pair = (0_u8..6, 0_u8..6);
    prop_oneof![
        4 => number.clone().prop_map(Operation::Put),
        4 => number.clone().prop_map(Operation::Get),
        2 => number.clone().prop_map(Operation::Remove),
        6 => pair.clone().prop_map(|(key, value)| Operation::PutEntry(key, value)),
        2 => pair.clone().prop_map(|(key, value)| Operation::ReplaceEntry(key, value)),
        6 => number.clone().prop_map(Operation::Entry),
        3 => pair.prop_map(|(key, program)| Operation::Confirm(key, program)),
        2 => number.prop_map(Operation::RemoveEntry),
        1 => Just(Operation::List),
        1 => Just(Operation::Sizes),
        1 => Just(Operation::Verify),
        1 => Just(Operation::RebuildIndex),
        1 => Just(Operation::EvictAll),
        1 => Just(Operation::Reopen),
    ]
}

/// Values of all sizes; 4 and 5 do not fit into the file of an entry.
fn value(number: u8) -> Vec<u8> {
    let size = match number {
        0 => 0,
        4 | 5 => INLINE_LIMIT + 1,
        _ => 10,
    };
    vec![number; size]
}

/// Odd entries keep their programs.
fn new_entry(number: u8) -> NewEntry {
    let new = NewEntry::new(value(number)).metadata("number", number.to_string());
    match number % 2 {
        1 => new.program(program(number)),
        _ => new,
    }
}

fn program(number: u8) -> Vec<u8> {
    vec![b'p', number]
}

/// The values that an entry needs.
fn needs(number: u8) -> Vec<Vec<u8>> {
    let mut needs = Vec::new();
    if value(number).len() > INLINE_LIMIT {
        needs.push(value(number));
    }
    if number % 2 == 1 {
        needs.push(program(number));
    }
    needs
}

#[derive(Default)]
struct Model {
    values: BTreeMap<Name, Vec<u8>>,
    entries: BTreeMap<u8, u8>,
}

impl Model {
    fn put(&mut self, bytes: Vec<u8>) {
        self.values.insert(Name::of(&bytes), bytes);
    }

    fn has(&self, bytes: &[u8]) -> bool {
        self.values.contains_key(&Name::of(bytes))
    }

    fn put_entry(&mut self, key: u8, number: u8) {
        needs(number).into_iter().for_each(|bytes| self.put(bytes));
        self.entries.insert(key, number);
    }

    /// The entry that a lookup finds, which removes an entry without its value.
    fn lookup(&mut self, key: u8) -> Option<u8> {
        let number = *self.entries.get(&key)?;
        let bytes = value(number);
        if bytes.len() > INLINE_LIMIT && !self.has(&bytes) {
            self.entries.remove(&key);
            return None;
        }
        Some(number)
    }

    fn is_usable(&self, number: u8) -> bool {
        needs(number).iter().all(|bytes| self.has(bytes))
    }
}

fn run(mut store: Store, reopen: &dyn Fn() -> Option<Store>, operations: &[Operation]) {
    let mut model = Model::default();
    for (step, operation) in operations.iter().enumerate() {
        let what = format!("step {step}, {operation:?}");
        match *operation {
            Operation::Put(number) => {
                let name = store.put(&value(number)).unwrap();
                assert_eq!(name, Name::of(&value(number)), "{what}");
                model.put(value(number));
            }
            Operation::Get(number) => {
                let name = Name::of(&value(number));
                let found = store.get(&name).unwrap().map(|bytes| bytes.to_vec());
                assert_eq!(found, model.values.get(&name).cloned(), "{what}");
                assert_eq!(store.contains(&name).unwrap(), found.is_some(), "{what}");
            }
            Operation::Remove(number) => {
                let name = Name::of(&value(number));
                let removed = model.values.remove(&name).is_some();
                assert_eq!(store.remove(&name).unwrap(), removed, "{what}");
            }
            Operation::PutEntry(at, number) => {
                // The put brings values that an earlier entry may need.
                needs(number).into_iter().for_each(|bytes| model.put(bytes));
                let kept = model
                    .entries
                    .get(&at)
                    .is_some_and(|&old| model.is_usable(old));
                let put = store
                    .put_entry(&key(at.into()), &new_entry(number))
                    .unwrap();
                assert_eq!(put, !kept, "{what}");
                if put {
                    model.put_entry(at, number);
                }
            }
            Operation::ReplaceEntry(at, number) => {
                store
                    .replace_entry(&key(at.into()), &new_entry(number))
                    .unwrap();
                model.put_entry(at, number);
            }
            Operation::Entry(at) => {
                let found = store.entry(&key(at.into())).unwrap();
                let expected = model.lookup(at);
                assert_eq!(found.is_some(), expected.is_some(), "{what}");
                if let Some((found, number)) = found.zip(expected) {
                    assert_eq!(found.value, value(number), "{what}");
                    assert_eq!(found.metadata["number"], number.to_string(), "{what}");
                }
            }
            Operation::Confirm(at, asked) => {
                let is_same = |kept: &[u8], given: &[u8]| Ok(kept[1] % 3 == given[1] % 3);
                let asked_program = program(asked);
                let found = store.entry_confirmed(&key(at.into()), &asked_program, is_same);
                let expected = model.lookup(at).filter(|&number| {
                    let kept = model.has(&program(number)) && number % 3 == asked % 3;
                    number % 2 == 1 && (number == asked || kept)
                });
                let found = found.unwrap().map(|entry| entry.value.to_vec());
                assert_eq!(found, expected.map(value), "{what}");
            }
            Operation::RemoveEntry(at) => {
                let removed = model.entries.remove(&at).is_some();
                assert_eq!(
                    store.remove_entry(&key(at.into())).unwrap(),
                    removed,
                    "{what}"
                );
            }
            Operation::List => {
                let mut listed: Vec<Name> = store
                    .list()
                    .unwrap()
                    .map(|file| file.unwrap().name)
                    .collect();
                let entries = model.entries.keys().map(|&at| key(at.into()).digest());
                let mut expected: Vec<Name> = model.values.keys().copied().chain(entries).collect();
                listed.sort();
                expected.sort();
                assert_eq!(listed, expected, "{what}");
            }
            Operation::Sizes => {
                let sizes = store.sizes().unwrap();
                let expected = (model.values.len() as u64, model.entries.len() as u64);
                assert_eq!(
                    (sizes.values.files, sizes.entries.files),
                    expected,
                    "{what}"
                );
            }
            Operation::Verify => {
                let damaged = model
                    .entries
                    .values()
                    .filter(|&&number| !model.is_usable(number));
                let report = store.verify().unwrap();
                assert_eq!(report.damage.len(), damaged.count(), "{what}");
            }
            Operation::RebuildIndex => store.rebuild_index().unwrap(),
            Operation::EvictAll => {
                let limits = Limits {
                    max_bytes: Some(0),
                    ..Limits::default()
                };
                let eviction = store.evict(&limits).unwrap();
                let files = model.values.len() + model.entries.len();
                assert_eq!(eviction.removed.files as usize, files, "{what}");
                model = Model::default();
            }
            Operation::Reopen => {
                if let Some(reopened) = reopen() {
                    store = reopened;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(1600))]

    #[test]
    fn a_store_in_memory_is_a_map(operations in prop::collection::vec(operation(), 1..60)) {
        run(Store::open("memory:").unwrap(), &|| None, &operations);
    }

    #[test]
    fn a_store_in_a_folder_is_a_map(operations in prop::collection::vec(operation(), 1..60)) {
        let folder = folder();
        run(open(folder.path()), &|| Some(open(folder.path())), &operations);
    }
}
