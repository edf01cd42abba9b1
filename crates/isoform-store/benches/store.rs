//! The cost of puts and lookups, next to the same work with bare files: writing a
//! temporary file and renaming it, and reading a file. The ratios say what checksums,
//! names and the index cost.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use isoform_store::{Cache, EntryKey, Name, NewEntry, Store};

const COUNT: u64 = 5_000;

fn bytes(number: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![number as u8; size];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// The time of each call in microseconds.
fn time(count: u64, mut call: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..count).for_each(&mut call);
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn row(what: &str, size: usize, ours: f64, bare: f64) {
    println!(
        "{what:<24} {size:>9} B {ours:>9.1} µs {bare:>9.1} µs bare {:>6.2}x",
        ours / bare
    );
}

fn measure(folder: &Path, size: usize, count: u64) {
    let store = Store::open(folder.join("store").to_str().expect("UTF-8")).expect("a store");
    let values: Vec<Vec<u8>> = (0..count).map(|number| bytes(number, size)).collect();
    let values = |number: u64| &values[number as usize];
    let names: Vec<Name> = (0..count).map(|number| Name::of(values(number))).collect();
    let names = |number: u64| &names[number as usize];
    let bare = |number: u64| {
        let digits = names(number).to_string();
        folder.join("bare").join(&digits[..2]).join(&digits[2..])
    };
    for top in 0..256 {
        fs::create_dir_all(folder.join(format!("bare/{top:02x}"))).expect("a folder");
    }

    let written = time(count, |number| {
        let mut file = tempfile::NamedTempFile::new_in(folder.join("bare")).expect("a file");
        file.write_all(values(number)).expect("written");
        file.persist_noclobber(bare(number)).expect("renamed");
    });
    let read = time(count, |number| {
        black_box(fs::read(bare(number)).expect("read"));
    });
    let put = time(count, |number| {
        store.put(values(number)).expect("put");
    });
    row("put", size, put, written);
    let put = time(count, |number| {
        store.put(values(number)).expect("put");
    });
    row("put again", size, put, written);
    let get = time(count, |number| {
        black_box(store.get(names(number)).expect("read"));
    });
    row("get", size, get, read);

    let key = |number: u64| {
        EntryKey::builder("bench")
            .version("1")
            .program(*names(number))
            .build()
    };
    let put = time(count, |number| {
        let new = NewEntry::new(values(number).clone());
        store.put_entry(&key(number), &new).expect("put");
    });
    row("put_entry", size, put, written);
    let get = time(count, |number| {
        black_box(store.entry(&key(number)).expect("read"));
    });
    row("entry", size, get, read);
    let cache = Cache::new(&store, "bench", "1");
    let computed = time(count, |number| {
        let result = cache.get_or_compute(&key(number), || Ok(values(number).clone()));
        black_box(result.expect("computed"));
    });
    row("get_or_compute, a miss", size, computed, written);
    let get = time(count, |number| {
        let result = cache.get_or_compute(&key(number), || Ok(values(number).clone()));
        black_box(result.expect("found"));
    });
    row("get_or_compute, a hit", size, get, read);
}

fn main() {
    for (size, count) in [(1_000, COUNT), (100_000, COUNT / 10), (10_000_000, 20)] {
        let folder = tempfile::tempdir().expect("a folder");
        measure(folder.path(), size, count);
    }
}
