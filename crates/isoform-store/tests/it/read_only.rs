//! Stores that cannot be written.

use std::fs;

use isoform::errors::ErrorKind;
use isoform_store::{Cache, Limits, NewEntry, Store};

use crate::helpers::{files, folder, key, open};

#[test]
fn a_read_only_store_reads_and_changes_nothing() {
    let folder = folder();
    let writer = open(folder.path());
    let name = writer.put(b"value").unwrap();
    let torn = writer.put(b"torn").unwrap();
    writer.put_entry(&key(1), &NewEntry::new("entry")).unwrap();
    drop(writer);
    for file in files(&folder.path().join("values")) {
        if fs::read(&file).unwrap().ends_with(b"torn") {
            fs::write(&file, "damaged").unwrap();
        }
    }
    fs::remove_file(folder.path().join("index.sqlite")).ok();
    let before = files(folder.path());
    let url = folder.path().to_str().unwrap();
    let store = Store::options().read_only(true).open(url).unwrap();
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
    assert_eq!(store.get(&torn).unwrap(), None);
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, "entry");
    assert_eq!(store.sizes().unwrap().total().files, 3);
    assert_eq!(store.find_entries(&[("job", "test")]).unwrap().len(), 1);
    assert_eq!(store.verify().unwrap().damage.len(), 1);
    let errors = [
        store.put(b"other").unwrap_err(),
        store.put(b"value").unwrap_err(),
        store.put_entry(&key(2), &NewEntry::new("x")).unwrap_err(),
        store
            .replace_entry(&key(1), &NewEntry::new("x"))
            .unwrap_err(),
        store.remove(&name).unwrap_err(),
        store.remove_entry(&key(1)).unwrap_err(),
        store.evict(&Limits::default()).unwrap_err(),
        store.repair().unwrap_err(),
        store.rebuild_index().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(
            error.message().contains("is read-only; open it without"),
            "{error}"
        );
    }
    let cache = Cache::new(&store, "c", "1");
    let computed = cache.get_or_compute(&key(3), || Ok(b"computed".to_vec()));
    assert_eq!(computed.unwrap(), "computed");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let folder = folder();
    let store = open(folder.path());
    let name = store.put(b"value").unwrap();
    let hidden = store.put(b"torn").unwrap();
    store.put_entry(&key(1), &NewEntry::new("entry")).unwrap();
    drop(store);
    // Files in place of the folders stop every user, also one who may write everywhere.
    for stop in ["tmp", "locks"] {
        fs::remove_dir_all(folder.path().join(stop)).ok();
        fs::write(folder.path().join(stop), "").unwrap();
    }
    for leftover in files(folder.path()) {
        if leftover.to_str().unwrap().contains("index.sqlite") {
            fs::remove_file(leftover).unwrap();
        }
    }
    fs::create_dir(folder.path().join("index.sqlite")).unwrap();
    let store = open(folder.path());
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
    assert_eq!(store.entry(&key(1)).unwrap().unwrap().value, "entry");
    assert_eq!(store.put(b"value").unwrap(), name);
    assert_eq!(store.sizes().unwrap().total().files, 3);
    let error = store.put(b"other").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let place = folder.path().canonicalize().unwrap();
    assert!(error.message().contains(place.to_str().unwrap()), "{error}");
    assert!(error.message().contains("cannot write values/"), "{error}");
    assert!(store.put_entry(&key(1), &NewEntry::new("x")).is_ok());
    assert!(store.put_entry(&key(2), &NewEntry::new("x")).is_err());
    let computed = Cache::new(&store, "c", "1").get_or_compute(&key(3), || Ok(vec![1]));
    assert_eq!(computed.unwrap(), vec![1]);
    assert_eq!(store.statistics().cache_errors, 1);
    // Damage is a miss, even if the file must stay.
    for file in files(&folder.path().join("values")) {
        fs::write(file, "damaged").unwrap();
    }
    assert_eq!(store.get(&hidden).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn permissions_are_respected() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let name = open(folder.path()).put(b"value").unwrap();
    let set_mode = |mode| {
        for place in ["", "values", "tmp", "locks"] {
            let path = folder.path().join(place);
            if path.exists() {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    };
    set_mode(0o555);
    let binds = fs::write(folder.path().join("probe"), "").is_err();
    let store = open(folder.path());
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
    let put = store.put(b"a value in another folder");
    // The administrator writes anyway.
    assert_eq!(put.is_err(), binds);
    if let Err(error) = put {
        assert!(error.message().contains("`read_only`"), "{error}");
    }
    set_mode(0o755);
    assert!(store.put(b"later").is_ok());
}
