//! Models in files.

use std::fs;

use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::values::Tensor;
use isoform::{Ref, Value, structural_equal};
use isoform_onnx::{
    ExternalData, ImportOptions, Model,
    ir::Output,
    load,
    proto::{DataLocation, ModelProto, StringStringEntryProto},
};
use prost::Message;

use crate::build::{graph, model_of, node, tensor};

/// A model with one weight; inline, or in the file `weights.bin`.
fn with_weight(external: bool) -> (ModelProto, Vec<u8>) {
    let data: Vec<f32> = (0..1000).map(|x| x as f32).collect();
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut weight = tensor("w", &data);
    weight.float_data.clear();
    if external {
        weight.data_location = DataLocation::External.into();
        weight.external_data = vec![StringStringEntryProto {
            key: "location".into(),
            value: "weights.bin".into(),
        }];
    } else {
        weight.raw_data = Some(bytes.clone().into());
    }
    let mut graph = graph("x", vec![node("Add", "x w", "y")], "y");
    graph.initializer = vec![weight];
    (model_of(graph), bytes)
}

fn weight(model: &Model) -> Tensor {
    let result = model.program().graph.results.get(0).cloned();
    let output = result.unwrap().extract::<Ref<Output>>().unwrap();
    output
        .call
        .inputs
        .get(1)
        .and_then(Value::peek::<Tensor>)
        .unwrap()
        .clone()
}

#[test]
fn external_data_is_the_same_as_inline_data() {
    let folder = tempfile::tempdir().unwrap();
    let (inline, external) = (folder.path().join("in.onnx"), folder.path().join("ex.onnx"));
    fs::write(&inline, with_weight(false).0.encode_to_vec()).unwrap();
    let (model, bytes) = with_weight(true);
    fs::write(&external, model.encode_to_vec()).unwrap();
    fs::write(folder.path().join("weights.bin"), &bytes).unwrap();
    for mmap in [true, false] {
        let options = ImportOptions::default().mmap(mmap);
        let inline = options.load(&inline).unwrap();
        let external = options.load(&external).unwrap();
        assert!(structural_equal(inline.to_value(), external.to_value()).unwrap());
        for model in [inline, external] {
            assert_eq!(weight(&model).data(), &bytes);
            assert_eq!(
                (model.counts().initializers, model.counts().bytes),
                (1, 4000)
            );
        }
    }
}

#[test]
fn the_path_is_kept_and_named_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    fs::write(&path, with_weight(true).0.encode_to_vec()).unwrap();
    let error = load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let start = format!(
        "model '{}' > graph 'main' > initializer > tensor 'w' > ",
        path.display()
    );
    assert!(error.message().starts_with(&start), "{error}");

    fs::write(&path, with_weight(false).0.encode_to_vec()).unwrap();
    let model = load(&path).unwrap();
    assert_eq!(model.path(), Some(path.as_path()));

    let missing = load(folder.path().join("none.onnx")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    fs::write(&path, b"not a model").unwrap();
    let damaged = load(&path).unwrap_err();
    assert_eq!(damaged.kind(), ErrorKind::Value);
    assert!(damaged.message().contains("m.onnx"), "{damaged}");
}

#[test]
fn contents_that_were_left_out_can_be_read_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let (model, bytes) = with_weight(true);
    fs::write(&path, model.encode_to_vec()).unwrap();
    let options = ImportOptions::default().external_data(ExternalData::IfPresent);
    let model = options.load(&path).unwrap();
    assert!(model.lacks_contents(&weight(&model)));
    let error = model.complete().unwrap_err();
    assert!(error.message().contains("weights.bin"), "{error}");

    fs::write(folder.path().join("weights.bin"), &bytes).unwrap();
    let complete = model.complete().unwrap();
    assert!(!complete.lacks_contents(&weight(&complete)));
    assert_eq!(weight(&complete).data(), &bytes);
    let options = CompareOptions {
        skip_tensor_content: true,
        ..CompareOptions::default()
    };
    let digest = |model: &Model| options.digest(model.to_value()).unwrap();
    assert_eq!(digest(&model), digest(&complete));
}
