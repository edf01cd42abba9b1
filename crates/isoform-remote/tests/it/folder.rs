//! Folders on a server whose files are no values of a store.

use std::sync::atomic::Ordering;

use isoform_remote::{RemoteFolder, RemoteOptions};

use crate::fake::{Behaviour, Server};

fn folder(server: &Server) -> RemoteFolder {
    let options = RemoteOptions::default().retries(0);
    RemoteFolder::open(&server.url(), options).unwrap().unwrap()
}

fn put(server: &Server, name: &str, bytes: &[u8]) {
    let key = format!("prefix/{name}");
    server.objects.lock().unwrap().insert(key, bytes.to_vec());
}

#[test]
fn files_and_folders_are_listed_by_name() {
    let server = Server::start(Behaviour::Right);
    for name in ["b/deep/x.onnx", "a.onnx", "b/y.onnx", "c/z.onnx"] {
        put(&server, name, name.as_bytes());
    }
    let folder = folder(&server);
    let names = |path: &str| {
        let entries = folder.entries(path).unwrap().into_iter();
        let text = |size: Option<u64>| size.map_or("folder".to_owned(), |size| size.to_string());
        let names: Vec<String> = entries
            .map(|entry| format!("{} {}", entry.name, text(entry.size)))
            .collect();
        names
    };
    assert_eq!(names(""), ["a.onnx 6", "b folder", "c folder"]);
    assert_eq!(names("b"), ["deep folder", "y.onnx 8"]);
    assert_eq!(names("none"), [""; 0]);
    assert_eq!(folder.read("b/deep/x.onnx").unwrap(), b"b/deep/x.onnx");
    let error = folder.read("gone.onnx").unwrap_err();
    assert!(error.message().contains("cannot read gone.onnx"), "{error}");
}

#[test]
fn the_version_of_a_file_changes_with_its_bytes() {
    let server = Server::start(Behaviour::Right);
    put(&server, "a.onnx", b"one");
    let folder = folder(&server);
    let version = || folder.entries("").unwrap()[0].version.clone();
    let first = version();
    assert!(!first.is_empty());
    assert_eq!(version(), first);
    put(&server, "a.onnx", b"two");
    assert_ne!(version(), first);
}

#[test]
fn a_large_file_comes_in_parts() {
    let server = Server::start(Behaviour::Right);
    let bytes: Vec<u8> = (0..(16_u32 << 20) + 5).map(|number| number as u8).collect();
    put(&server, "large.onnx", &bytes);
    let folder = folder(&server);
    assert!(folder.read("large.onnx").unwrap() == bytes);
    // The size, two parts, and the version again.
    assert_eq!(server.requests.load(Ordering::SeqCst), 4);
    put(&server, "empty.onnx", b"");
    assert_eq!(folder.read("empty.onnx").unwrap(), b"");
}

#[test]
fn a_cut_reply_is_an_error() {
    let server = Server::start(Behaviour::Cut);
    put(&server, "a.onnx", b"0123456789");
    assert!(folder(&server).read("a.onnx").is_err());
}

#[test]
fn only_servers_have_remote_folders() {
    let open = |url: &str| RemoteFolder::open(url, RemoteOptions::default());
    assert!(open("models").unwrap().is_none());
    assert!(open("memory:").unwrap().is_none());
    assert!(open("s3:").is_err());
}
