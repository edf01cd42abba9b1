//! The walk finds the same files as a search by the standard library, in order.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::{TestInspector, listed, write};
use crate::walk::{Walk, WalkItem};
use crate::{FileDescription, Index, path_order, read_described, update_index};

/// Files and failures of a walk, without the root.
fn walked(root: &Path) -> Vec<String> {
    let inspector = TestInspector::default();
    let prefix = format!("{}/", root.display());
    let name = |path: &str| path.strip_prefix(&prefix).unwrap_or(path).to_owned();
    let items = Walk::new(&[root.display().to_string()], &inspector).map(|item| match item {
        WalkItem::File(file) => name(&file.path),
        WalkItem::Failed(row) => format!("{}: {}", name(&row.path), row.error.unwrap()),
    });
    items.collect()
}

/// All wanted files below a folder, in any order.
fn searched(folder: &Path, files: &mut BTreeSet<String>, root: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            searched(&path, files, root);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            files.extend(name.ends_with(".m").then(|| name.to_owned()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_walk_finds_all_files_in_order(
        names in proptest::collection::vec("[a-c.]{1,2}(/[a-c. -]{1,3}){0,3}", 1..20)
    ) {
        let folder = TempDir::new().unwrap();
        for name in names {
            let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "." | "..")).collect();
            let path = folder.path().join(parts.join("/") + ".m");
            let _ = fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(path, ""));
        }
        let paths = walked(folder.path());
        prop_assert!(paths.is_sorted_by(|left, right| path_order(left, right).is_lt()), "{paths:?}");
        let mut expected = BTreeSet::new();
        searched(folder.path(), &mut expected, folder.path());
        prop_assert_eq!(paths.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

fn zip(path: &Path, files: &[(&str, impl AsRef<[u8]>)]) {
    let mut writer = ZipWriter::new(fs::File::create(path).unwrap());
    for (name, contents) in files {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(contents.as_ref()).unwrap();
    }
    writer.finish().unwrap();
    super::age(path);
}

#[test]
fn an_archive_is_a_folder() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("root");
    write(&root, "b.m", "02");
    zip(
        &root.join("a.whl"),
        &[("x/two.m", "12"), ("one.m", "11"), ("note.txt", "no")],
    );
    fs::write(root.join("c.zip"), "not an archive").unwrap();
    let index = folder.path().join("i.parquet");
    let inspector = TestInspector::default();
    let roots = [root.display().to_string()];
    update_index(&roots, &index, &inspector, 2, |_| Ok(())).unwrap();
    let rows = listed(&root, &index);
    assert_eq!(rows[..3], ["a.whl/one.m 11", "a.whl/x/two.m 12", "b.m 02"]);
    assert!(rows[3].starts_with("c.zip: "), "{rows:?}");
    assert_eq!(rows.len(), 4);

    // Members of an archive that did not change are kept.
    inspector.taken();
    update_index(&roots, &index, &inspector, 2, |_| Ok(())).unwrap();
    assert!(inspector.taken().is_empty());
    zip(&root.join("a.whl"), &[("one.m", "13"), ("two.m", "12")]);
    update_index(&roots, &index, &inspector, 2, |_| Ok(())).unwrap();
    assert_eq!(inspector.taken().len(), 2);
    let rows = listed(&root, &index);
    assert_eq!(rows[..3], ["a.whl/one.m 13", "a.whl/two.m 12", "b.m 02"]);
}

#[test]
fn an_archive_within_an_archive_is_not_entered() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("root");
    write(&root, "b.m", "02");
    let inner = folder.path().join("inner.zip");
    zip(&inner, &[("one.m", "11")]);
    let bytes = fs::read(&inner).unwrap();
    zip(
        &root.join("a.zip"),
        &[("in.whl", &*bytes), ("two.m", b"12")],
    );
    assert_eq!(walked(&root), ["a.zip/two.m", "b.m"]);
}

#[test]
fn roots_inside_of_others_are_left_out() {
    let roots = ["b", "a/x", "a/", "a.m", "ab", "/", "/usr"].map(str::to_owned);
    let kept = crate::walk::outermost(&roots);
    assert_eq!(kept, ["/", "a", "a.m", "ab", "b"]);
    let roots = [".", "./src", "src", "Cargo.toml", "../isoform", "s3:bucket"].map(str::to_owned);
    let kept = crate::walk::outermost(&roots);
    assert_eq!(kept, [".", "../isoform", "s3:bucket"]);
}

#[test]
fn passwords_are_not_kept() {
    for (root, public) in [
        ("webdav:http://me:s3cr3t@host/x", "webdav:http://host/x"),
        ("store:redis://:s3cr3t@host/1", "store:redis://host/1"),
        ("models/a@b", "models/a@b"),
        ("store:models/a@b", "store:models/a@b"),
    ] {
        assert_eq!(crate::places::public_root(root), public);
    }
    let folder = TempDir::new().unwrap();
    let inspector = TestInspector::default();
    let roots = ["webdav:http://me:s3cr3t@127.0.0.1:1/x".to_owned()];
    let index = folder.path().join("i.parquet");
    let error = update_index(&roots, &index, &inspector, 1, |_| Ok(())).unwrap_err();
    assert!(!error.message().contains("s3cr3t"), "{error}");
}

#[test]
fn a_missing_root_is_an_error_and_the_index_stays() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("root");
    let index = folder.path().join("i.parquet");
    let inspector = TestInspector::default();
    let update = || {
        update_index(&[root.display().to_string()], &index, &inspector, 2, |_| {
            Ok(())
        })
    };
    let error = update().unwrap_err();
    assert!(error.message().contains("cannot read this root"), "{error}");
    assert!(super::names(folder.path()).is_empty());
    write(&root, "a.m", "01");
    update().unwrap();
    fs::remove_dir_all(&root).unwrap();
    update().unwrap_err();
    assert_eq!(listed(&root, &index), ["a.m 01"]);
}

#[test]
fn the_values_of_a_store_are_files() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("store");
    let store = isoform_store::Store::open(place.to_str().unwrap()).unwrap();
    let name = store.put(b"01").unwrap();
    store.put(b"other").unwrap();
    let index = folder.path().join("i.parquet");
    let inspector = TestInspector::default();
    let root = format!("store:{}", place.display());
    for kept in [0, 1] {
        let roots = [root.clone()];
        let report = update_index(&roots, &index, &inspector, 2, |_| Ok(())).unwrap();
        assert_eq!((report.rows, report.kept), (1, kept));
    }
    let rows = listed(Path::new(&root), &index);
    assert_eq!(rows, [format!("{name} 01")]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_circles_are_harmless() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, "a/b/x.m", "01");
    write(root, "blob", "02");
    symlink(root.join("a"), root.join("a/b/loop")).unwrap();
    symlink(root.join("a/b"), root.join("again")).unwrap();
    symlink(root.join("blob"), root.join("z.m")).unwrap();
    symlink(root.join("nowhere"), root.join("notes")).unwrap();
    symlink(root.join("nowhere"), root.join("y.m")).unwrap();
    // Nobody knows what a link to itself would be.
    symlink(root.join("self"), root.join("self")).unwrap();
    let rows = walked(root);
    assert_eq!(rows[0], "a/b/x.m");
    assert!(rows[1].starts_with("self: "), "{rows:?}");
    assert!(rows[2].starts_with("y.m: "), "{rows:?}");
    assert_eq!(rows[3..], ["z.m"]);
}

/// Files that are described and read elsewhere have the same rows.
#[test]
fn described_files_have_the_same_rows() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("root");
    write(&root, "b.m", "02");
    write(&root, "sub/c.m", "bad");
    zip(&root.join("a.zip"), &[("one.m", "11"), ("x/two.m", "12")]);
    let store = isoform_store::Store::open(folder.path().join("store").to_str().unwrap()).unwrap();
    store.put(b"21").unwrap();
    let roots = [
        root.display().to_string(),
        format!("store:{}", folder.path().join("store").display()),
    ];
    let inspector = TestInspector::default();
    let index = folder.path().join("i.parquet");
    update_index(&roots, &index, &inspector, 2, |_| Ok(())).unwrap();
    let rows: Vec<_> = Index::open(&index)
        .unwrap()
        .rows()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len(), 5);

    let mut descriptions: Vec<FileDescription> = Walk::new(&roots, &inspector)
        .filter_map(|item| match item {
            WalkItem::File(file) => Some(FileDescription::from(&file)),
            WalkItem::Failed(_) => None,
        })
        .collect();
    let read = |descriptions: &[FileDescription]| {
        let bytes = read_described(descriptions, &inspector).unwrap();
        let rows = Index::of_bytes(bytes).unwrap().rows();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(read(&descriptions), rows);

    // A file that is gone.
    descriptions[2].path = root.join("gone.m").display().to_string();
    let rows = read(&descriptions);
    assert_eq!(
        rows[2].error.as_deref(),
        Some("No such file on this machine")
    );
}
