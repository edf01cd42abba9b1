//! Weights of language models: GGUF, and safetensors in shards.

use std::fs;

use safetensors::tensor::{Dtype, TensorView, serialize};

use super::{gzip, piped, refused, zstd};
use crate::build::Folder;
use crate::{check, json};

fn string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

/// A GGUF file with a vocabulary of this many words, a tensor of floats and a quantised
/// one, whose first byte is given.
fn gguf(words: u64, layers: u32, first: u8) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend(2u64.to_le_bytes());
    file.extend(3u64.to_le_bytes());
    file.extend(string("words"));
    file.extend(9u32.to_le_bytes());
    file.extend(8u32.to_le_bytes());
    file.extend(words.to_le_bytes());
    for word in 0..words {
        file.extend(string(&format!("w{word}")));
    }
    file.extend(string("layers"));
    file.extend(4u32.to_le_bytes());
    file.extend(layers.to_le_bytes());
    file.extend(string("template"));
    file.extend(8u32.to_le_bytes());
    file.extend(string(&"x".repeat(1000)));
    for (name, dims, kind, offset) in [("q", [32u64, 2], 2u32, 32u64), ("f", [2, 3], 0, 96)] {
        file.extend(string(name));
        file.extend(2u32.to_le_bytes());
        file.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        file.extend(kind.to_le_bytes());
        file.extend(offset.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(32) + 32, 0);
    file.push(first);
    file.extend([2; 35]);
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend([0, 0, 0x80, 0x3f].repeat(6));
    file
}

#[test]
fn gguf_is_metadata_and_tensors() {
    let folder = Folder::new();
    folder.file("a.gguf", &gguf(3, 12, 1));
    folder.file("a.bin", &zstd(&gguf(3, 12, 1)));
    let shown = folder.run("show a.gguf");
    let lines: Vec<&str> = shown.out.lines().collect();
    assert_eq!(
        lines[..3],
        ["// GGUF, isoform.Map", "metadata:", "  \"layers\": 12"]
    );
    let template = format!("  \"template\": \"{}\"... #", "x".repeat(80));
    assert!(lines[3].starts_with(&template), "{shown:?}");
    assert_eq!(
        lines[4..6],
        ["  \"words\": [\"w0\", \"w1\", \"w2\"]", "tensors:"]
    );
    assert_eq!(
        lines[6],
        "  \"f\": float32[3, 2] {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}"
    );
    assert!(lines[7].starts_with("  \"q\": Q4_0[2, 32] blocks {1, 2, 2, ...} #"));
    assert_eq!(lines.len(), 8);
    let shown = json(&folder.run("show --json a.gguf"));
    assert_eq!(shown["form"], "gguf");

    check(&folder.run("diff a.gguf a.bin"), 0, "equal\n");
    check(
        &piped(folder.path(), "diff - a.bin", &gguf(3, 12, 1)),
        0,
        "equal\n",
    );
    for form in ["iso", "isob", "json"] {
        check(&folder.run(&format!("convert a.gguf a.{form}")), 0, "");
        check(&folder.run(&format!("diff a.gguf a.{form}")), 0, "equal\n");
    }
    check(&folder.run("summary a.gguf"), 0, "Q4_0     1\nfloat32  1\n");
    let ran = json(&folder.run("summary --json a.gguf"));
    assert_eq!(ran["types"], serde_json::json!({"Q4_0": 1, "float32": 1}));
    folder.file("cut.gguf", &gguf(3, 12, 1)[..100]);
    refused(
        &folder.run("hash cut.gguf"),
        "GGUF: metadata 'layers': cut short",
    );
}

#[test]
fn differences_of_gguf_have_places() {
    let folder = Folder::new();
    folder.file("a.gguf", &gguf(3, 12, 1));
    folder.file("b.gguf", &gguf(3, 13, 1));
    folder.file("c.gguf", &gguf(3, 12, 9));
    let ran = folder.run("diff a.gguf b.gguf");
    assert_eq!(ran.status, 1);
    let place = "at <root>[\"metadata\"][\"layers\"]: 12 -> 13\n";
    assert!(ran.out.contains(place), "{ran:?}");
    let ran = json(&folder.run("diff --json a.gguf c.gguf"));
    assert_eq!(
        ran["changes"][0]["left_path"], "<root>[\"tensors\"][\"q\"][\"blocks\"]",
        "{ran}"
    );
    check(
        &folder.run("diff --architecture a.gguf c.gguf"),
        0,
        "equal\n",
    );
    assert_ne!(folder.run("show a.gguf").out, folder.run("show c.gguf").out);
}

#[test]
fn a_vocabulary_does_not_fill_the_screen() {
    let folder = Folder::new();
    folder.file("a.gguf", &gguf(200_000, 1, 1));
    let shown = folder.run("show a.gguf").out;
    assert!(shown.contains("\"w15\", ... 199984 more] #"), "{shown}");
    assert!(shown.len() < 2000, "{shown}");
    // The checksum covers the words that are not shown.
    let mut other = gguf(200_000, 1, 1);
    let last = other.windows(7).position(|part| part == b"w199999");
    other[last.unwrap() + 1] = b'2';
    folder.file("b.gguf", &other);
    assert_ne!(folder.run("show b.gguf").out, shown);
}

/// A safetensors file with tensors of two bytes.
fn tensors(named: &[(&str, [u8; 2])]) -> Vec<u8> {
    let views = named.iter().map(|(name, data)| {
        let view = TensorView::new(Dtype::U8, vec![2], data);
        (*name, view.unwrap())
    });
    serialize(views, None).unwrap()
}

const INDEX: &str = r#"{"metadata": {"total_size": 6}, "weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}}"#;

/// An index and its shards, and a file with the same tensors.
fn sharded() -> Folder {
    let folder = Folder::new();
    folder.file("1.safetensors", &tensors(&[("a", [1, 2]), ("c", [3, 4])]));
    // The index does not list the last tensor.
    folder.file("2.safetensors", &tensors(&[("b", [5, 6]), ("z", [7, 8])]));
    folder.file("m.safetensors.index.json", INDEX.as_bytes());
    folder.file(
        "whole",
        &tensors(&[("a", [1, 2]), ("b", [5, 6]), ("c", [3, 4])]),
    );
    folder
}

#[test]
fn shards_are_read_as_one_file() {
    let folder = sharded();
    let index = "m.safetensors.index.json";
    check(&folder.run(&format!("diff {index} whole")), 0, "equal\n");
    let digest = |name: &str| {
        let ran = json(&folder.run(&format!("hash --json {name}")));
        ran["digest"].clone()
    };
    assert_eq!(digest(index), digest("whole"));
    check(
        &folder.run(&format!("show {index}")),
        0,
        "// safetensors index, isoform.Map\n\"a\": uint8[2] {1, 2}\n\"b\": uint8[2] {5, 6}\n\"c\": uint8[2] {3, 4}\n",
    );
    let shown = json(&folder.run(&format!("show --json {index}")));
    assert_eq!(shown["form"], "safetensors-index");
    let files = serde_json::json!(["1.safetensors", "2.safetensors"]);
    assert_eq!(shown["files"], files);
    check(&folder.run(&format!("summary {index}")), 0, "uint8  3\n");
    check(&folder.run(&format!("convert {index} a.iso")), 0, "");
    check(&folder.run("diff a.iso whole"), 0, "equal\n");

    // The other order of keys, another name, and a start that does not tell.
    let map = INDEX.replace("{\"metadata\": {\"total_size\": 6}, ", "{");
    let spaces = " ".repeat(100_000);
    for text in [
        map.replace("}}", "}, \"metadata\": {}}"),
        format!("\u{feff}\n{INDEX}"),
        INDEX.replace("6}", &format!("6, \"x\": \"{spaces}\"}}")),
        INDEX.replace("metadata", &spaces),
    ] {
        folder.file("index.iso", text.as_bytes());
        check(&folder.run("diff index.iso whole"), 0, "equal\n");
    }
    let ran = folder.run("dedup .");
    let group = format!("  ./a.iso\n  ./index.iso\n  ./{index}\n");
    assert!(ran.out.contains(&group), "{ran:?}");
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_map_that_looks_like_an_index_stays_a_map() {
    let folder = Folder::new();
    let text = "// text\n{\"weight_map\": {\"a\": \"b\"}}\n";
    folder.file("a.iso", text.as_bytes());
    check(&folder.run("convert a.iso a.isob"), 0, "");
    check(&folder.run("convert a.isob b.iso"), 0, "");
    check(&folder.run("diff a.iso b.iso"), 0, "equal\n");
    let written = fs::read_to_string(folder.path().join("b.iso")).unwrap();
    assert_eq!(written.trim_end(), text.trim_end());
    check(&folder.run("convert a.iso a.json"), 0, "");
    check(&folder.run("diff a.iso a.json"), 0, "equal\n");
}

#[test]
fn wrong_indices_name_the_fault() {
    let folder = sharded();
    for (old, new, expected) in [
        (
            "1.saf",
            "../1.saf",
            "tensor 'a': expected the name of a file in the folder of the index, got '../1.safetensors'",
        ),
        ("2.saf", "/2.saf", "tensor 'b': expected the name of a file"),
        ("2.saf", "./2.saf", "expected the name of a file"),
        ("2.saf", "x\\\\2.saf", "expected the name of a file"),
        ("2.saf", "C:2.saf", "expected the name of a file"),
        ("2.safetensors", "", "expected the name of a file"),
        ("2.safetensors", "..", "expected the name of a file"),
        (
            "2.saf",
            "3.saf",
            "cannot find shard '3.safetensors' in the folder of the index; 1 of 2 shards missing",
        ),
        (
            "safetensors",
            "bin",
            "cannot find shard '1.bin' in the folder of the index; 2 of 2 shards missing",
        ),
        (
            "\"b\"",
            "\"y\"",
            "shard '2.safetensors': the index says that tensor 'y' is in it",
        ),
        ("\"b\"", "\"a\"", "tensor 'a' occurs twice"),
        (
            "\"2.safetensors\"",
            "7",
            "invalid type: integer `7`, expected a string at line 1",
        ),
        (
            "\"2.safetensors\"",
            "{}",
            "invalid type: map, expected a string",
        ),
        (
            "}}",
            "}, \"weight_map\": {}}",
            "duplicate field `weight_map`",
        ),
        ("}}", "}", "EOF while parsing"),
        (
            "2.safetensors",
            "m.index.json",
            "shard 'm.index.json': expected a safetensors file",
        ),
        ("2.safetensors", "p.bin", "shard 'p.bin': this is a pickle"),
        (
            "2.safetensors",
            "cut",
            "shard 'cut': this is a safetensors file, but cut short",
        ),
    ] {
        let text = INDEX.replace(old, new);
        assert_ne!(text, INDEX);
        folder.file("m.index.json", text.as_bytes());
        folder.file("p.bin", b"\x80\x02\x8a\x0a");
        folder.file("cut", &tensors(&[("b", [5, 6])])[..40]);
        let ran = folder.run("hash m.index.json");
        refused(&ran, expected);
        assert!(ran.err.contains("safetensors index: "), "{ran:?}");
    }
    let expected = "this is an index of tensors in several safetensors files";
    refused(&piped(folder.path(), "hash -", INDEX.as_bytes()), expected);
    folder.file("packed", &gzip(INDEX.as_bytes()));
    refused(&folder.run("hash packed"), expected);
}

#[cfg(unix)]
#[test]
fn links_of_shards_are_followed_on_request() {
    use std::os::unix::fs::symlink;

    let folder = sharded();
    let root = folder.path();
    fs::create_dir_all(root.join("snapshot")).unwrap();
    for name in ["1.safetensors", "2.safetensors", "m.safetensors.index.json"] {
        symlink(root.join(name), root.join("snapshot").join(name)).unwrap();
    }
    let index = "snapshot/m.safetensors.index.json";
    refused(
        &folder.run(&format!("hash {index}")),
        "shard '1.safetensors': a symbolic link leads out of the model's folder",
    );
    check(
        &folder.run(&format!("diff --follow-links {index} whole")),
        0,
        "equal\n",
    );
    // A link within the folder needs no permission.
    fs::remove_file(root.join("2.safetensors")).unwrap();
    folder.file("blob", &tensors(&[("b", [5, 6])]));
    symlink("blob", root.join("2.safetensors")).unwrap();
    check(
        &folder.run("diff m.safetensors.index.json whole"),
        0,
        "equal\n",
    );
    fs::remove_file(root.join("blob")).unwrap();
    refused(
        &folder.run("hash m.safetensors.index.json"),
        "1 of 2 shards missing",
    );
}
