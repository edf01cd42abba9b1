//! `isoform diff --html` and `--format` on the command line.

use std::fs;

use serde_json::json as json_of;

use crate::support::Ran;
use crate::{check, folder, json};

#[track_caller]
fn refused(ran: &Ran, message: &str) {
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.contains(message), "{ran:?}");
}

#[test]
fn the_page_is_written_beside_the_text() {
    let folder = folder();
    let plain = folder.run("diff a.onnx operator.onnx");
    let ran = folder.run("diff --html page.html a.onnx operator.onnx");
    check(&ran, 1, &plain.out);
    let page = fs::read_to_string(folder.path().join("page.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..80]);
    assert!(page.contains("Relu &#39;Relu_y&#39;") || page.contains("Relu 'Relu_y'"));
    // The page comes with JSON and without text, too.
    let ran = folder.run("diff --json --html page.html --force a.onnx operator.onnx");
    assert_eq!((ran.status, json(&ran)["equal"].clone()), (1, json_of!(false)));
    check(&folder.run("diff -q --html quiet.html a.onnx operator.onnx"), 1, "");
    assert!(folder.path().join("quiet.html").exists());
    check(&folder.run("diff --html same.html a.onnx renamed.onnx"), 0, "equal\n");
}

#[test]
fn a_file_is_replaced_only_with_force() {
    let folder = folder();
    folder.file("page.html", b"mine");
    let ran = folder.run("diff --html page.html a.onnx weight.onnx");
    refused(&ran, "page.html: the file exists; --force replaces it");
    let read = || fs::read(folder.path().join("page.html")).expect("the file");
    assert_eq!(read(), b"mine");
    let ran = folder.run("diff --html page.html --force a.onnx weight.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_ne!(read(), b"mine");
    let ran = folder.run("diff --html no/such/folder.html a.onnx weight.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("no/such/folder.html"), "{ran:?}");
    let ran = folder.run("diff --force a.onnx weight.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
}

#[test]
fn standard_output_gets_one_form() {
    let folder = folder();
    let ran = folder.run("diff --html - a.onnx operator.onnx");
    assert_eq!(ran.status, 1);
    assert!(ran.out.starts_with("<!DOCTYPE html>"), "{}", &ran.out[..80]);
    assert!(!ran.out.contains("\ndifferent\n"));
    for (line, message) in [
        ("diff --html - --json a.onnx b.onnx", "standard output gets JSON"),
        ("diff --html - --format markdown a.onnx b.onnx", "standard output gets --format markdown"),
        ("diff --html - --format json a.onnx b.onnx", "standard output gets --format json"),
        ("diff --first --format markdown a.onnx b.onnx", "--first has no Markdown"),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(message), "{ran:?}");
    }
    let ran = folder.run("diff --json --format markdown a.onnx operator.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("--json and --format markdown exclude each other"), "{ran:?}");
    let ran = folder.run("diff --first --html p.html a.onnx operator.onnx");
    assert!(ran.status == 2 && ran.err.contains("cannot be used with"), "{ran:?}");
}

#[test]
fn formats() {
    let folder = folder();
    let plain = folder.run("diff a.onnx operator.onnx");
    let text = folder.run("diff --format text a.onnx operator.onnx");
    assert_eq!((text.status, text.out), (plain.status, plain.out));
    let left = folder.run("diff --json a.onnx operator.onnx");
    let right = folder.run("diff --format json a.onnx operator.onnx");
    assert_eq!((left.status, left.out), (right.status, right.out));
    let ran = folder.run("diff --format markdown a.onnx operator.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("Relu 'Relu\\_y' became") || ran.out.contains("Relu 'Relu_y' became"), "{ran:?}");
    let stat = folder.run("diff --format markdown --stat a.onnx operator.onnx");
    assert!(stat.status == 1 && stat.out.len() < ran.out.len(), "{stat:?}");
    check(&folder.run("diff -q --format markdown a.onnx operator.onnx"), 1, "");
    let equal = folder.run("diff --format markdown a.onnx renamed.onnx");
    assert_eq!(equal.status, 0, "{equal:?}");
    assert!(equal.out.contains("same program"), "{equal:?}");
    let ran = folder.run("diff --format html a.onnx operator.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("possible values: text, json, markdown"), "{ran:?}");
}

#[test]
fn folders_have_no_page_but_markdown() {
    let folder = folder();
    fs::create_dir(folder.path().join("left")).expect("a folder");
    fs::create_dir(folder.path().join("right")).expect("a folder");
    for (from, to) in [
        ("a.onnx", "left/m.onnx"),
        ("operator.onnx", "right/m.onnx"),
        ("a.onnx", "left/n.onnx"),
        ("a.onnx", "right/n.onnx"),
        ("a.onnx", "right/only.onnx"),
    ] {
        fs::copy(folder.path().join(from), folder.path().join(to)).expect("a copy");
    }
    let ran = folder.run("diff --html page.html left right");
    refused(&ran, "--html is one page for one pair of files");
    assert!(!folder.path().join("page.html").exists());
    let ran = folder.run("diff --format markdown left right");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("Only on the right: `right/only.onnx`"), "{ran:?}");
    assert!(ran.out.contains("became"), "{ran:?}");
    // A file and a folder are one pair.
    let ran = folder.run("diff --html page.html operator.onnx left");
    assert_eq!(ran.status, 2, "there is no such file in the folder: {ran:?}");
    let ran = folder.run("diff --html page.html right/m.onnx left");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(folder.path().join("page.html").exists());
}

#[test]
fn a_failure_writes_no_page() {
    let folder = folder();
    let ran = folder.run("diff --html page.html a.onnx broken.onnx");
    refused(&ran, "broken.onnx");
    assert!(!folder.path().join("page.html").exists());
}

#[test]
fn names_are_escaped() {
    let folder = folder();
    let name = "<script>alert(1)<%2fscript>&\"'.onnx";
    fs::copy(folder.path().join("operator.onnx"), folder.path().join(name)).expect("a copy");
    let ran = folder.run(&format!("diff --html page.html a.onnx {name}"));
    assert_eq!(ran.status, 1, "{ran:?}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("the page");
    assert!(!page.contains("<script>alert"), "the name is not markup");
    assert!(page.contains("&lt;script&gt;alert(1)"));
}
