//! Tests of the external module, hostile input included.

use super::*;
use crate::{
    OnnxErrorKind, decode_tensor,
    proto::{DataLocation, TensorProto},
};

fn entries(pairs: &[(&str, &str)]) -> Vec<StringStringEntryProto> {
    pairs
        .iter()
        .map(|&(key, value)| StringStringEntryProto {
            key: key.into(),
            value: value.into(),
        })
        .collect()
}

fn tensor(pairs: &[(&str, &str)]) -> TensorProto {
    TensorProto {
        name: "w".into(),
        dims: vec![4],
        data_type: 2,
        data_location: DataLocation::External.into(),
        external_data: entries(pairs),
        ..Default::default()
    }
}

/// A model's folder inside a folder that holds something secret.
fn folders() -> (tempfile::TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("model");
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(outer.path().join("secret"), [9; 4]).unwrap();
    fs::write(folder.join("weights"), [0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    fs::write(folder.join("sub/more"), [8; 4]).unwrap();
    fs::write(folder.join("nothing"), []).unwrap();
    (outer, folder)
}

fn resolvers(folder: &Path) -> [ExternalResolver; 2] {
    [true, false].map(|mmap| ExternalResolver::in_folder(folder, LoadOptions::default().mmap(mmap)))
}

#[test]
fn ranges_of_files_are_read() {
    let (_outer, folder) = folders();
    for resolver in resolvers(&folder) {
        let read = |pairs: &[(&str, &str)]| decode_tensor(&tensor(pairs), &resolver).unwrap();
        let data = read(&[("location", "weights"), ("offset", "2"), ("length", "4")]);
        assert_eq!(data.bytes().unwrap()[..], [2, 3, 4, 5]);
        let data = read(&[
            ("location", "./weights"),
            ("offset", "4"),
            ("checksum", "?"),
        ]);
        assert_eq!(data.bytes().unwrap()[..], [4, 5, 6, 7]);
        assert_eq!(
            read(&[("location", "sub/more")]).bytes().unwrap()[..],
            [8; 4]
        );

        let mut empty = tensor(&[("location", "weights"), ("offset", "8"), ("length", "0")]);
        empty.dims = vec![0];
        assert!(decode_tensor(&empty, &resolver).unwrap().is_empty());
        empty.external_data = entries(&[("location", "nothing")]);
        assert!(decode_tensor(&empty, &resolver).unwrap().is_empty());
    }
}

#[test]
fn a_file_is_loaded_once() {
    let (_outer, folder) = folders();
    let resolver = ExternalResolver::in_folder(&folder, LoadOptions::default());
    let first = resolver
        .resolve(&entries(&[("location", "weights")]))
        .unwrap();
    let second = resolver
        .resolve(&entries(&[("location", "./weights"), ("offset", "1")]))
        .unwrap();
    assert!(first.as_ptr_range().contains(&second.as_ptr()));
}

#[test]
fn ranges_outside_of_the_file_are_errors() {
    let (_outer, folder) = folders();
    for resolver in resolvers(&folder) {
        for (offset, length) in [
            ("9", "0"),
            ("5", "4"),
            ("0", "9"),
            ("18446744073709551615", "4"),
            ("4", "18446744073709551615"),
            ("8", "4"),
        ] {
            let pairs = [
                ("location", "weights"),
                ("offset", offset),
                ("length", length),
            ];
            let error = decode_tensor(&tensor(&pairs), &resolver)
                .unwrap_err()
                .to_string();
            assert!(error.contains("tensor 'w'"), "{error}");
            assert!(error.contains("file 'weights'"), "{error}");
            assert!(error.contains("outside of the file"), "{error}");
        }
        // In bounds, but not the size of the shape.
        let pairs = [("location", "weights"), ("length", "5")];
        let error = decode_tensor(&tensor(&pairs), &resolver)
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected 4 bytes"), "{error}");
    }
}

#[test]
fn malformed_entries_are_errors() {
    let (_outer, folder) = folders();
    let resolver = ExternalResolver::in_folder(&folder, LoadOptions::default());
    for (pairs, expected) in [
        (&[][..], "no location"),
        (
            &[("location", "weights"), ("offset", "-1")][..],
            "non-negative",
        ),
        (
            &[("location", "weights"), ("offset", "")][..],
            "non-negative",
        ),
        (
            &[("location", "weights"), ("length", "4.0")][..],
            "non-negative",
        ),
        (
            &[("location", "weights"), ("length", "99999999999999999999")][..],
            "non-negative",
        ),
        (
            &[("location", "weights"), ("location", "sub/more")][..],
            "more than one location",
        ),
    ] {
        let error = decode_tensor(&tensor(pairs), &resolver)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn locations_outside_of_the_folder_are_refused() {
    let (outer, folder) = folders();
    let secret = outer.path().join("secret").display().to_string();
    for resolver in resolvers(&folder) {
        for (location, expected) in [
            ("", "empty"),
            (secret.as_str(), "not relative"),
            ("../secret", "'..'"),
            ("sub/../../secret", "'..'"),
            ("sub/../weights", "'..'"),
            (".", "a folder"),
            ("sub", "a folder"),
            ("missing", "cannot find"),
            ("weights\0", "cannot find"),
        ] {
            let error = decode_tensor(&tensor(&[("location", location)]), &resolver).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(expected), "{location:?}: {text}");
            assert!(
                text.starts_with("tensor 'w' > external data file '"),
                "{text}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_may_not_leave_the_folder() {
    use std::os::unix::fs::symlink;

    let (outer, folder) = folders();
    symlink(outer.path().join("secret"), folder.join("link")).unwrap();
    symlink(outer.path(), folder.join("up")).unwrap();
    symlink("weights", folder.join("inside")).unwrap();
    symlink("/dev/zero", folder.join("device")).unwrap();
    symlink("circle", folder.join("circle")).unwrap();
    for resolver in resolvers(&folder) {
        for location in ["link", "up/secret", "device"] {
            let error = decode_tensor(&tensor(&[("location", location)]), &resolver).unwrap_err();
            assert!(error.to_string().contains("leads out"), "{error}");
        }
        let error = decode_tensor(&tensor(&[("location", "circle")]), &resolver).unwrap_err();
        assert_eq!(error.kind(), OnnxErrorKind::Io);
        let pairs = [("location", "inside"), ("length", "4")];
        assert!(decode_tensor(&tensor(&pairs), &resolver).is_ok());
    }
    let follows = LoadOptions::default().follow_links(true);
    let resolver = ExternalResolver::in_folder(&folder, follows);
    for location in ["link", "up/secret"] {
        let data = decode_tensor(&tensor(&[("location", location)]), &resolver).unwrap();
        assert_eq!(data.bytes().unwrap()[..], [9; 4]);
    }
    for location in ["device", "../secret"] {
        assert!(decode_tensor(&tensor(&[("location", location)]), &resolver).is_err());
    }
    // The folder itself may be reached by a link.
    symlink(&folder, outer.path().join("alias")).unwrap();
    let resolver = ExternalResolver::in_folder(outer.path().join("alias"), LoadOptions::default());
    assert!(decode_tensor(&tensor(&[("location", "sub/more")]), &resolver).is_ok());
}

#[test]
fn models_from_memory_have_no_external_data() {
    let error = decode_tensor(
        &tensor(&[("location", "weights")]),
        &ExternalResolver::none(),
    )
    .unwrap_err();
    assert_eq!(error.kind(), OnnxErrorKind::Key);
    assert!(error.to_string().contains("no folder"), "{error}");
}

#[test]
fn data_that_is_left_out_takes_no_memory() {
    let (_outer, folder) = folders();
    let missing = |dims: i64| TensorProto {
        dims: vec![dims],
        ..tensor(&[("location", "missing")])
    };
    for external_data in [ExternalData::IfPresent, ExternalData::Skipped] {
        let options = LoadOptions::default().external_data(external_data);
        let resolver = ExternalResolver::in_folder(&folder, options);
        for dims in [4, 1 << 40, 0, 5] {
            let data = decode_tensor(&missing(dims), &resolver).unwrap();
            let bytes = data.bytes().unwrap();
            assert_eq!(bytes.len() as i64, dims);
            assert_eq!(resolver.is_stand_in(bytes), dims > 0);
            assert!(bytes.last().is_none_or(|&last| last == 0));
        }
        let present = decode_tensor(&tensor(&[("location", "sub/more")]), &resolver).unwrap();
        let is_read = external_data == ExternalData::IfPresent;
        assert_eq!(!resolver.is_stand_in(present.bytes().unwrap()), is_read);
        // A wrong location stays an error.
        assert!(decode_tensor(&tensor(&[("location", "../secret")]), &resolver).is_err());
    }
}
