//! Writers that are killed at random moments.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use isoform_store::{INLINE_LIMIT, Name, NewEntry, Store};
use isoform_testing::source::scaled;

use crate::helpers::{Random, child, files, folder, job, key, open};

const KILLED: &str = "killed::killed_writers_lose_nothing_that_they_finished";

fn value(number: u64) -> Vec<u8> {
    let mut random = Random(number);
    let size = match number % 16 {
        0 => INLINE_LIMIT as u64 + random.below(100_000),
        _ => random.below(3000),
    };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend((0..size).map(|_| random.below(256) as u8));
    bytes
}

#[test]
fn killed_writers_lose_nothing_that_they_finished() {
    if let Some(arguments) = job(KILLED) {
        let start = arguments[2].parse().unwrap();
        return write_forever(&arguments[0], &arguments[1], start);
    }
    let folder = folder();
    let place = folder.path().join("store");
    let log = folder.path().join("log");
    let mut random = Random(1);
    let mut finished = 0;
    let rounds = scaled(500) as u64;
    for round in 0..rounds {
        // Rounds share half of their values.
        let start = (round * 20).to_string();
        let arguments = [place.to_str().unwrap(), log.to_str().unwrap(), &start];
        let mut writer = child(KILLED, &arguments).spawn().unwrap();
        // A line of the log has nine bytes or a few more.
        let size = || log.metadata().map_or(0, |log| log.len());
        let enough = size() + 9 * (1 + random.below(15));
        while size() < enough && writer.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(300));
        }
        thread::sleep(Duration::from_micros(random.below(2000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let acknowledged = lines(&log);
        check_new(&place, &acknowledged[finished..]);
        finished = acknowledged.len();
    }
    assert!(finished as u64 > 3 * rounds, "only {finished} puts");
    let store = open(&place);
    check_new(&place, &lines(&log));
    let report = store.verify().unwrap();
    assert_eq!(report.damage, []);
    // The index has lost rows of killed writers, and finds the files.
    store.rebuild_index().unwrap();
    assert_eq!(store.sizes().unwrap().total().files, report.whole);
    assert_eq!(store.sizes().unwrap().total().bytes, report.bytes);
    drop(store);
    // The remains of the writers go after a while.
    let later = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
        + 7200;
    let later = Store::options()
        .clock(move || later)
        .open(place.to_str().unwrap());
    drop(later.unwrap());
    assert_eq!(files(&place.join("tmp")), [] as [std::path::PathBuf; 0]);
    assert_eq!(files(&place.join("locks")), [] as [std::path::PathBuf; 0]);
}

fn write_forever(place: &str, log: &str, start: u64) {
    let store = Store::open(place).unwrap();
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    for number in start.. {
        let bytes = value(number);
        let kind = match number % 3 {
            0 => {
                store
                    .put_entry(&key(number), &NewEntry::new(bytes))
                    .unwrap();
                "entry"
            }
            1 => {
                store
                    .replace_entry(&key(number), &NewEntry::new(bytes))
                    .unwrap();
                "entry"
            }
            _ => {
                store.put(&bytes).unwrap();
                "value"
            }
        };
        log.write_all(format!("{kind} {number}\n").as_bytes())
            .unwrap();
    }
}

/// The complete lines of the log.
fn lines(log: &Path) -> Vec<String> {
    let mut text = String::new();
    if let Ok(mut log) = File::open(log) {
        log.read_to_string(&mut text).unwrap();
    }
    let complete = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    complete.map(|line| line.trim().to_owned()).collect()
}

#[track_caller]
fn check_new(place: &Path, acknowledged: &[String]) {
    let store = open(place);
    for line in acknowledged {
        let (kind, number) = line.split_once(' ').unwrap();
        let number = number.parse().unwrap();
        let bytes = value(number);
        let found = match kind {
            "entry" => store.entry(&key(number)).unwrap().map(|entry| entry.value),
            _ => store.get(&Name::of(&bytes)).unwrap(),
        };
        assert_eq!(found.as_deref(), Some(&*bytes), "{line}");
    }
}
