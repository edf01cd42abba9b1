//! Files: external data, replacing, and the state after a failure.

use std::fs;
use std::io::Write;
use std::path::Path;

use isoform::errors::ErrorKind;
use isoform::structural_digest;
use isoform_onnx::proto::{DataLocation, ModelProto, TensorProto};
use isoform_onnx::{ImportOptions, Model, SaveOptions, WholeFile, load, save};
use prost::Message;

use crate::build::*;
use crate::export::models::{all, branch, if_node, plain};

/// A model with weights of these numbers of bytes, including a weight in a branch, and
/// a constant in an attribute.
fn weighted(sizes: &[usize]) -> ModelProto {
    let weight = |name: &str, bytes: usize| TensorProto {
        name: name.into(),
        dims: vec![bytes as i64],
        data_type: 3,
        raw_data: Some((0..bytes).map(|index| (index % 127) as u8).collect()),
        ..Default::default()
    };
    let mut then = branch(vec![node("Add", "x inner", "t")], "t");
    then.initializer = vec![weight("inner", sizes[0])];
    let other = branch(vec![node("Neg", "x", "e")], "e");
    let mut nodes = vec![if_node("c", then, other, "v0")];
    let mut weights = Vec::new();
    for (index, &size) in sizes.iter().enumerate() {
        let name = format!("w/{index}");
        nodes.push(node(
            "Add",
            &format!("v{index} {name}"),
            &format!("v{}", index + 1),
        ));
        weights.push(weight(&name, size));
    }
    let last = format!("v{}", sizes.len());
    let constant = tensor_attr("t", weight("", sizes[0]));
    nodes.push(node("Use", &last, "y").in_domain("demo").with(constant));
    let mut graph = graph("c x", nodes, "y");
    graph.initializer = weights;
    model_of(graph)
}

fn digest(model: &Model) -> String {
    structural_digest(model.to_value()).unwrap().to_string()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn tensors(path: &Path) -> Vec<TensorProto> {
    let proto = ModelProto::decode(fs::read(path).unwrap().as_slice()).unwrap();
    proto.graph.unwrap().initializer
}

#[test]
fn large_constants_go_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let model = load_with(
        &weighted(&[2000, 100, 3 << 20, 5000]),
        ImportOptions::default(),
    );
    let path = folder.path().join("m.onnx");
    let options = SaveOptions::default().save_as_external_data(true);
    let saved = options.save(model.program(), &path).unwrap();
    assert_eq!(names_in(folder.path()), ["m.onnx", "m.onnx.data"]);
    assert_eq!(saved.external_files, [folder.path().join("m.onnx.data")]);
    assert_eq!(saved.bytes, fs::metadata(&path).unwrap().len());
    let length = fs::metadata(&saved.external_files[0]).unwrap().len();
    assert_eq!(saved.external_bytes, length);
    assert_eq!(digest(&load(&path).unwrap()), digest(&model));
    for tensor in tensors(&path) {
        let is_external = tensor.data_location() == DataLocation::External;
        assert_eq!(is_external, tensor.dims[0] >= 1024);
        let entry = tensor
            .external_data
            .iter()
            .find(|entry| entry.key == "offset");
        let offset: u64 = entry.map_or(0, |entry| entry.value.parse().unwrap());
        // Large tensors can be mapped by themselves.
        let alignment = if tensor.dims[0] >= 1 << 20 { 4096 } else { 16 };
        assert_eq!(offset % alignment, 0);
    }

    // The constant in the attribute, too.
    let small = options
        .clone()
        .convert_attribute(true)
        .location("other.bin");
    let both = small.save(model.program(), &path).unwrap();
    assert!(both.bytes + 2000 <= saved.bytes + 200, "{both:?}");
    assert_eq!(digest(&load(&path).unwrap()), digest(&model));
}

#[test]
fn each_constant_can_have_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let model = load_with(&weighted(&[2000, 3000]), ImportOptions::default());
    let path = folder.path().join("m.onnx");
    let options = SaveOptions::default()
        .save_as_external_data(true)
        .all_tensors_to_one_file(false)
        .size_threshold(0);
    options.save(model.program(), &path).unwrap();
    assert_eq!(
        names_in(folder.path()),
        ["m.onnx", "m.onnx.inner", "m.onnx.w_0", "m.onnx.w_1"]
    );
    assert_eq!(digest(&load(&path).unwrap()), digest(&model));
}

#[test]
fn the_data_of_another_model_stay() {
    let folder = tempfile::tempdir().unwrap();
    let model = load_with(&weighted(&[2000, 3000]), ImportOptions::default());
    let path = |name: &str| folder.path().join(name);
    let external = SaveOptions::default().save_as_external_data(true);
    let shared = external.clone().location("weights.bin");
    shared.save(model.program(), path("a.onnx")).unwrap();
    let loaded = load(path("a.onnx")).unwrap();
    let before = fs::read(path("weights.bin")).unwrap();
    let error = shared.save(loaded.program(), path("b.onnx")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    let message = error.message();
    assert!(
        message.contains("weights.bin': the file exists, and may be"),
        "{message}"
    );
    assert_eq!(fs::read(path("weights.bin")).unwrap(), before);
    assert_eq!(names_in(folder.path()), ["a.onnx", "weights.bin"]);

    // A renamed model still refers to the data under the old name.
    external.save(model.program(), path("m.onnx")).unwrap();
    fs::rename(path("m.onnx"), path("old.onnx")).unwrap();
    external.save(model.program(), path("m.onnx")).unwrap_err();
    assert_eq!(digest(&load(path("old.onnx")).unwrap()), digest(&model));

    // The replaced model loses its data.
    shared.save(loaded.program(), path("a.onnx")).unwrap();
    // Two models with files for each constant do not share any.
    let each = external.all_tensors_to_one_file(false);
    let other = load_with(&weighted(&[2000, 4000]), ImportOptions::default());
    each.save(model.program(), path("first.onnx")).unwrap();
    each.save(other.program(), path("second.onnx")).unwrap();
    assert_eq!(digest(&load(path("first.onnx")).unwrap()), digest(&model));
    assert_eq!(digest(&load(path("second.onnx")).unwrap()), digest(&other));
}

/// The weights of the replaced file are views of the file.
#[test]
fn a_model_can_replace_the_files_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let made = load_with(&weighted(&[200_000, 3 << 20]), ImportOptions::default());
    for external in [false, true, true, false] {
        let options = SaveOptions::default().save_as_external_data(external);
        if path.exists() {
            options.save(load(&path).unwrap().program(), &path).unwrap()
        } else {
            options.save(made.program(), &path).unwrap()
        };
        let model = load(&path).unwrap();
        options.save(model.program(), &path).unwrap();
        assert_eq!(digest(&model), digest(&made));
        assert_eq!(digest(&load(&path).unwrap()), digest(&made));
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (
        folder.path().join("m.onnx"),
        folder.path().join("link.onnx"),
    );
    let model = load_with(&plain(), ImportOptions::default());
    save(model.program(), &path).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let usual = folder.path().join("usual");
    fs::write(&usual, "").unwrap();
    assert_eq!(mode(&path), mode(&usual));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    save(model.program(), &link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn a_file_is_not_seen_before_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "old").unwrap();
    let names = names_in(folder.path());
    let mut file = WholeFile::create(&path).unwrap();
    file.write_all(&[b'x'; 100_000]).unwrap();
    file.flush().unwrap();
    // A process killed at this point leaves nothing on systems with nameless files.
    if cfg!(target_os = "linux") {
        assert_eq!(names_in(folder.path()), names);
    }
    drop(file);
    assert_eq!(names_in(folder.path()), names);

    let mut file = WholeFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.keep().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let again = WholeFile::create(&path).unwrap().keep_new().unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names_in(folder.path()), names);
}

#[test]
fn failures_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let model = load_with(&weighted(&[2000, 3000]), ImportOptions::default());
    let external = SaveOptions::default().save_as_external_data(true);
    // The second file cannot be written where a folder is.
    fs::create_dir(&path).unwrap();
    let error = external.save(model.program(), &path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("this is a folder"), "{error}");
    assert_eq!(names_in(folder.path()), ["m.onnx"]);
    fs::remove_dir(&path).unwrap();

    let missing = folder.path().join("none").join("m.onnx");
    let error = save(model.program(), &missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    for (location, expected) in [
        ("../m.data", "the location contains '..'"),
        ("/m.data", "the location is not relative"),
        ("m.onnx", "expected another location"),
    ] {
        let error = external
            .clone()
            .location(location)
            .save(model.program(), &path);
        let error = error.unwrap_err();
        assert!(error.message().contains(expected), "{error}");
    }
    let error = external.to_bytes(model.program()).unwrap_err();
    assert!(
        error.message().contains("save the model to a file"),
        "{error}"
    );
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn models_without_large_constants_have_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, proto) in all() {
        let model = load_with(&proto, ImportOptions::default());
        let path = folder.path().join(format!("{name}.onnx"));
        let options = SaveOptions::default()
            .save_as_external_data(true)
            .check(false);
        let saved = options.save(model.program(), &path).unwrap();
        assert_eq!(
            (saved.external_files.len(), saved.external_bytes),
            (0, 0),
            "{name}"
        );
        assert_eq!(digest(&load(&path).unwrap()), digest(&model), "{name}");
    }
}
