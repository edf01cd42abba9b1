//! Files in formats of others: pipes, compressed files, files of tensors, and refusals.

mod weights;

use std::collections::HashMap;
use std::fs;
use std::io::{Cursor, ErrorKind, Write};
use std::path::Path;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use safetensors::tensor::{Dtype, TensorView, serialize};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::build::{Folder, Small, small};
use crate::check;
use crate::support::{Ran, command};

/// Runs the command with the words of a line, with something on standard input.
pub(crate) fn piped(folder: &Path, line: &str, input: &[u8]) -> Ran {
    let mut child = command()
        .current_dir(folder)
        .args(line.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read its input.
    if let Err(error) = child.stdin.take().unwrap().write_all(input) {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    child.wait_with_output().unwrap().into()
}

/// A model and a text.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("a.onnx", &small(&Small::default()));
    folder.file("a.iso", b"[1, 2.5, \"text\"]");
    folder
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn read(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[track_caller]
fn refused(ran: &Ran, expected: &str) {
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains(expected), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn models_come_from_pipes() {
    let folder = folder();
    let model = read(&folder, "a.onnx");
    check(&piped(folder.path(), "diff - a.onnx", &model), 0, "equal\n");
    check(
        &piped(folder.path(), "diff a.onnx -", &gzip(&model)),
        0,
        "equal\n",
    );
    let shown = piped(folder.path(), "show -", &model);
    assert_eq!(shown.out, folder.run("show a.onnx").out);
    let ran = piped(folder.path(), "optimize - b.onnx", &model);
    assert_eq!(ran.status, 0, "{ran:?}");
    refused(
        &piped(folder.path(), "hash -", b""),
        "standard input is empty",
    );
    refused(
        &piped(folder.path(), "hash -", &model[..100]),
        "cut short or damaged",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn devices_of_pipes_are_read_once() {
    let folder = folder();
    let model = read(&folder, "a.onnx");
    let ran = piped(folder.path(), "diff /dev/stdin a.onnx", &model);
    check(&ran, 0, "equal\n");
}

#[test]
fn compressed_files_are_unpacked_whatever_their_name() {
    let folder = folder();
    for source in ["a.onnx", "a.iso"] {
        let bytes = read(&folder, source);
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        for packed in [
            gzip(&bytes),
            zstd(&bytes),
            [gzip(head), gzip(tail)].concat(),
            [zstd(head), zstd(tail)].concat(),
            zstd(&gzip(&bytes)),
        ] {
            for name in ["packed", "packed.onnx", "packed.json", "packed.gz"] {
                folder.file(name, &packed);
                check(&folder.run(&format!("diff {name} {source}")), 0, "equal\n");
            }
        }
    }
    let bytes = read(&folder, "a.onnx");
    folder.file("three", &gzip(&gzip(&gzip(&bytes))));
    refused(&folder.run("hash three"), "compressed more than 2 times");
    folder.file("nothing", &gzip(b""));
    refused(&folder.run("hash nothing"), "the file is empty");
    for packed in [gzip(&bytes), zstd(&bytes)] {
        folder.file("cut", &packed[..packed.len() - 3]);
        refused(&folder.run("hash cut"), "cut short or damaged");
    }
}

/// Two tensors, of which one is long.
fn tensors() -> Vec<u8> {
    let long: Vec<u8> = (0..24_u8).collect();
    let views = [
        (
            "w",
            TensorView::new(Dtype::BF16, vec![3, 4], &long).unwrap(),
        ),
        (
            "b",
            TensorView::new(Dtype::F8_E4M3, vec![2], &[1, 2]).unwrap(),
        ),
    ];
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    serialize(views, Some(metadata)).unwrap()
}

#[test]
fn safetensors_are_maps_of_tensors() {
    let folder = folder();
    let file = tensors();
    folder.file("a.safetensors", &file);
    folder.file("a.bin", &gzip(&file));
    let mut other = file.clone();
    *other.last_mut().unwrap() ^= 1;
    folder.file("b.safetensors", &other);
    check(&folder.run("diff a.safetensors a.bin"), 0, "equal\n");
    assert_eq!(folder.run("diff a.safetensors b.safetensors").status, 1);
    check(
        &folder.run("diff --architecture a.safetensors b.safetensors"),
        0,
        "equal\n",
    );
    let shown = folder.run("show a.safetensors");
    let lines: Vec<&str> = shown.out.lines().collect();
    assert_eq!(lines[0], "// safetensors, isoform.Map");
    assert_eq!(lines[1], "\"b\": float8_e4m3fn[2] {0x01, 0x02}");
    assert!(lines[2].starts_with("\"w\": bfloat16[3, 4] {"), "{shown:?}");
    assert_eq!(lines.len(), 3);
    let other = folder.run("show b.safetensors").out;
    assert_ne!(other, shown.out, "the checksum differs");
    // The metadata is ignored.
    let bare = [(
        "b",
        TensorView::new(Dtype::F8_E4M3, vec![2], &[1, 2]).unwrap(),
    )];
    folder.file("c", &serialize(bare.clone(), None).unwrap());
    let metadata = Some(HashMap::from([("a".to_owned(), "b".to_owned())]));
    folder.file("d", &serialize(bare, metadata).unwrap());
    check(&folder.run("diff c d"), 0, "equal\n");
    check(&folder.run("convert c c.iso"), 0, "");
    check(&folder.run("diff c c.iso"), 0, "equal\n");

    for end in [8, 20, file.len() - 1] {
        folder.file("cut.safetensors", &file[..end]);
        refused(&folder.run("hash cut.safetensors"), "cut short or damaged");
    }
    let claim = br#"{"w":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,399999999996]}}"#;
    let mut huge = (claim.len() as u64).to_le_bytes().to_vec();
    huge.extend(claim);
    folder.file("huge", &huge);
    refused(&folder.run("hash huge"), "safetensors");
}

fn npy(shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn archive(method: CompressionMethod, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn numpy_archives_are_maps_of_tensors() {
    let folder = folder();
    let (a, b) = (npy("(2,)", &[1, 0, 2, 0]), npy("()", &[7, 0]));
    let files = [("a.npy", &a[..]), ("b.npy", &b[..])];
    let stored = archive(CompressionMethod::Stored, &files);
    folder.file("stored.npz", &stored);
    folder.file(
        "deflated.npz",
        &archive(CompressionMethod::Deflated, &files),
    );
    folder.file("a.npy", &a);
    check(&folder.run("diff stored.npz deflated.npz"), 0, "equal\n");
    check(
        &folder.run("show stored.npz"),
        0,
        "// NumPy archive, isoform.Map\n\"a\": int16[2] {1, 2}\n\"b\": int16 {7}\n",
    );
    check(&folder.run("show -q a.npy"), 0, "int16[2] {1, 2}\n");

    // One flipped bit is noticed in both.
    let position = stored
        .windows(4)
        .position(|part| part == [1, 0, 2, 0])
        .unwrap();
    let mut flipped = stored.clone();
    flipped[position] ^= 1;
    folder.file("flipped.npz", &flipped);
    refused(
        &folder.run("hash flipped.npz"),
        "array 'a': the checksum is wrong",
    );
    for end in [10, 60, stored.len() - 5] {
        folder.file("cut.npz", &stored[..end]);
        refused(&folder.run("hash cut.npz"), "cut short or damaged");
    }
    folder.file("cut.npy", &a[..a.len() - 1]);
    refused(&folder.run("hash cut.npy"), "expected 4 bytes");
    folder.file("huge.npy", &npy("(9999999999999,)", &[1, 0]));
    refused(
        &folder.run("hash huge.npy"),
        "expected 19999999999998 bytes",
    );
}

#[test]
fn archives_of_others_are_named() {
    let folder = folder();
    for (inside, expected) in [
        ("m/data.pkl", "PyTorch"),
        ("m/code/__torch__.py", "TorchScript"),
        ("model.weights.h5", "Keras"),
        ("notes.txt", "'notes.txt' in it is not an array"),
    ] {
        folder.file(
            "a.pt",
            &archive(CompressionMethod::Stored, &[(inside, b"x")]),
        );
        refused(&folder.run("hash a.pt"), expected);
    }
    folder.file("a.zip", &archive(CompressionMethod::Stored, &[]));
    refused(&folder.run("hash a.zip"), "empty zip archive");
}

#[test]
fn files_of_others_are_refused_by_name_under_every_name() {
    let folder = folder();
    for (start, expected) in [
        (
            &b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n"[..],
            "git lfs pull",
        ),
        (b"\x80\x04\x95\x10\0\0\0", "pickle"),
        (b"GGUF\x03\0\0\0", "GGUF: cut short or damaged"),
        (b"<!doctype html>", "HTML"),
        (b"{\"irVersion\": \"8\", \"graph\": {}}", "format='json'"),
        (
            b"<ir_version: 7, opset_import: [ \"\" : 10 ]>",
            "format='onnxtxt'",
        ),
        (b"ir_version: 7\n", "format='textproto'"),
        (b"{\"name\": null}", "this is JSON, but not a JSON graph"),
        (b"\x7fELF\x02", "ELF"),
        (b"", "the file is empty"),
        (b"\0\0\0\0", "not an ONNX model"),
    ] {
        let mut seen = Vec::new();
        for name in [
            "model",
            "model.onnx",
            "model.json",
            "model.iso",
            "model.isob",
            "m.npz",
        ] {
            folder.file(name, start);
            let ran = folder.run(&format!("hash {name}"));
            refused(&ran, expected);
            seen.push(ran.err.replace(&format!("{name}: "), ""));
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
    fs::create_dir_all(folder.path().join("saved")).unwrap();
    folder.file("saved/saved_model.pb", b"");
    refused(&folder.run("hash saved"), "SavedModel");
}
