//! `isoform diff --model-explorer`: the marks, the pairs and the refusals.

use std::fs;

use serde_json::{Value as Json, json};

use super::layers;
use crate::build::Folder;
use crate::formats::{gzip, piped};
use crate::support::Ran;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("a.onnx", &layers(6, "Relu", 0.5));
    folder.model("b.onnx", &layers(6, "Tanh", 0.5));
    folder
}

/// A file of the folder `out`.
fn read(folder: &Folder, name: &str) -> Json {
    let text = fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The marks of a side by id.
fn marks(folder: &Folder, name: &str) -> Vec<(String, String)> {
    let data = read(folder, name);
    let results = data["main"]["results"].as_object().unwrap().clone();
    let marks = results.into_iter();
    marks
        .map(|(id, mark)| (id, mark["value"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn a_node_that_became_another_one_is_a_pair() {
    let folder = folder();
    let ran = folder.run("diff --model-explorer out a.onnx b.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("Relu became Tanh, 2 times"), "{ran:?}");
    let changed = ["/layer.1/act", "/layer.5/act"].map(|id| (id.to_owned(), "changed".to_owned()));
    assert_eq!(marks(&folder, "left.json"), changed);
    assert_eq!(marks(&folder, "right.json"), changed);
    let mapping = read(&folder, "mapping.json")["mapping"].clone();
    for id in ["/layer.1/act", "/layer.5/act", "/layer.2/add"] {
        assert_eq!(mapping[id], json!(id), "{mapping}");
    }
}

#[test]
fn a_node_in_place_of_two_has_no_partner() {
    let folder = folder();
    let mut other = layers(6, "Relu", 0.5);
    let graph = other.graph.as_mut().unwrap();
    let mut fused = crate::build::node("Sqrt", &["v0"], &["v1"]);
    fused.name = "fused".to_owned();
    graph.node.splice(2..4, [fused]);
    folder.model("fused.onnx", &other);
    let ran = folder.run("diff --model-explorer out a.onnx fused.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    let left = marks(&folder, "left.json");
    for id in ["/layer.1/add", "/layer.1/act"] {
        assert!(
            left.contains(&(id.to_owned(), "deleted".to_owned())),
            "{left:?}"
        );
    }
    let right = marks(&folder, "right.json");
    assert!(
        right.contains(&("fused".to_owned(), "inserted".to_owned())),
        "{right:?}"
    );
}

/// Checks that nothing was compared or written.
#[track_caller]
fn refused(folder: &Folder, ran: &Ran, error: &str) {
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert_eq!(ran.err, error);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn only_files_that_model_explorer_opens_are_explored() {
    let folder = folder();
    let bytes = fs::read(folder.path().join("b.onnx")).unwrap();
    folder.file("b.onnx.gz", &gzip(&bytes));
    folder.run("convert b.onnx b.isob");
    let no_file = "--model-explorer gives the ids that model-explorer reads from the file, so the \
                   model has to be a file; write it to one first";
    let ran = piped(folder.path(), "diff --model-explorer out a.onnx -", &bytes);
    refused(&folder, &ran, &format!("isoform: -: {no_file}\n"));
    for (file, reason) in [
        (
            "b.onnx.gz",
            "model-explorer does not open compressed models; unpack the file first",
        ),
        ("b.isob", "--model-explorer is for ONNX models"),
    ] {
        let ran = folder.run(&format!("diff --model-explorer out a.onnx {file}"));
        refused(&folder, &ran, &format!("isoform: {file}: {reason}\n"));
    }
    let ran = folder.run("diff --model-explorer out a.onnx missing.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.err.contains("isoform: missing.onnx: No such file"),
        "{ran:?}"
    );
    assert!(!folder.path().join("out").exists());
}

#[test]
fn no_file_is_replaced_by_accident() {
    let folder = folder();
    let taken = folder.path().join("out/mapping.json");
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(&taken, "mine").unwrap();
    let ran = folder.run("diff --model-explorer out a.onnx b.onnx");
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("mapping.json: the file exists"), "{ran:?}");
    assert!(!folder.path().join("out/left.json").exists());
    // The files of the comparison are not replaced even with --force.
    fs::copy(
        folder.path().join("a.onnx"),
        folder.path().join("out/left.json"),
    )
    .unwrap();
    let ran = folder.run("diff --force --model-explorer out out/left.json b.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.err.contains("would take the place of 'out/left.json'"),
        "{ran:?}"
    );
    assert_eq!(fs::read(&taken).unwrap(), b"mine");
}
