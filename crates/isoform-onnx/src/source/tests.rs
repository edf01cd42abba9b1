//! Tests of the source module, hostile input included.

use std::io::Write;

use super::*;
use crate::{
    OnnxErrorKind,
    proto::{
        AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto,
        GRAPH_NESTING_LIMIT, GraphProto, NodeProto, OperatorSetIdProto, TensorProto,
        TensorShapeProto, TensorTypeProto, TypeProto, TypeValue, ValueInfoProto,
    },
};

/// A value of shape `[3]`.
fn value(name: &str) -> ValueInfoProto {
    let dim = DimensionProto {
        value: Some(DimensionValue::DimValue(3)),
        ..Default::default()
    };
    let tensor = TensorTypeProto {
        elem_type: 1,
        shape: Some(TensorShapeProto { dim: vec![dim] }),
    };
    ValueInfoProto {
        name: name.into(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn graph() -> GraphProto {
    GraphProto {
        name: "main".into(),
        input: vec![value("x")],
        output: vec![value("y")],
        initializer: vec![TensorProto {
            name: "w".into(),
            dims: vec![3],
            data_type: 1,
            raw_data: Some(Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])),
            ..Default::default()
        }],
        node: vec![NodeProto {
            op_type: "Add".into(),
            input: vec!["x".into(), "w".into()],
            output: vec!["y".into()],
            attribute: vec![AttributeProto {
                name: "axes".into(),
                r#type: AttributeType::Ints.into(),
                ints: vec![1, -2, 300],
                floats: vec![1.5, -2.0],
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn model_of(graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        }],
        ..Default::default()
    }
}

/// A model with `depth` graphs inside one another below the main graph.
fn nested(depth: usize) -> ModelProto {
    let mut inner = graph();
    // The deepest thing a graph can hold short of sequences of sequences.
    inner.node[0].attribute.push(AttributeProto {
        name: "type".into(),
        r#type: AttributeType::TypeProto.into(),
        tp: value("").r#type.map(Box::new),
        ..Default::default()
    });
    for _ in 0..depth {
        let attribute = AttributeProto {
            name: "body".into(),
            r#type: AttributeType::Graph.into(),
            g: Some(Box::new(inner)),
            ..Default::default()
        };
        inner = graph();
        inner.node[0].op_type = "Loop".into();
        inner.node[0].attribute = vec![attribute];
    }
    model_of(inner)
}

fn decode_vec(bytes: Vec<u8>) -> Result<ModelProto> {
    decode_model(Bytes::from(bytes))
}

fn message(result: Result<impl Sized>) -> String {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    }
}

/// One length-delimited field.
fn delimited(tag: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    prost::encoding::encode_varint(u64::from(tag << 3 | 2), &mut bytes);
    prost::encoding::encode_varint(body.len() as u64, &mut bytes);
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn models_round_trip() {
    let model = model_of(graph());
    assert_eq!(decode_vec(model.encode_to_vec()).unwrap(), model);
}

#[test]
fn a_model_cut_short_anywhere_is_an_error() {
    let bytes = model_of(graph()).encode_to_vec();
    for length in 0..bytes.len() {
        assert!(
            decode_vec(bytes[..length].to_vec()).is_err(),
            "cut to {length} bytes"
        );
    }
}

#[test]
fn a_model_with_any_byte_changed_never_panics() {
    let bytes = model_of(graph()).encode_to_vec();
    let resolver = ExternalResolver::none();
    for index in 0..bytes.len() {
        for value in 0..=u8::MAX {
            let mut changed = bytes.clone();
            changed[index] = value;
            let Ok(model) = decode_vec(changed) else {
                continue;
            };
            for tensor in model.graph.iter().flat_map(|graph| &graph.initializer) {
                let _ = crate::decode_tensor(tensor, &resolver);
            }
        }
    }
}

#[test]
fn wrong_wire_types_are_errors() {
    // The graph as a number, the IR version as bytes, and a wire type that does not exist.
    assert!(message(decode_vec(vec![7 << 3, 1])).contains("wire type"));
    assert!(message(decode_vec(vec![1 << 3 | 2, 1, 0])).contains("wire type"));
    assert!(message(decode_vec(vec![7 << 3 | 7, 1])).contains("wire type"));
    // A string that is not UTF-8.
    let name = delimited(2, &[0xff, 0xfe]);
    assert!(message(decode_vec(delimited(7, &name))).contains("UTF-8"));
}

#[test]
fn giant_lengths_are_errors_without_reserving_memory() {
    for length in [1_u64 << 20, 1 << 40, u64::MAX] {
        for tag in [2_u32, 7, 8, 14, 20, 25] {
            let mut bytes = Vec::new();
            prost::encoding::encode_varint(u64::from(tag << 3 | 2), &mut bytes);
            prost::encoding::encode_varint(length, &mut bytes);
            bytes.push(0);
            assert!(decode_vec(bytes).is_err());
        }
    }
    // A packed array and raw data that claim more than the tensor message has.
    for tag in [1_u32, 4, 5, 6, 7, 9, 10, 11] {
        let mut tensor = Vec::new();
        prost::encoding::encode_varint(u64::from(tag << 3 | 2), &mut tensor);
        prost::encoding::encode_varint(1 << 50, &mut tensor);
        assert!(decode_vec(delimited(7, &delimited(5, &tensor))).is_err());
    }
    // A number with more digits than any number has.
    assert!(decode_vec([&[8_u8][..], &[0xff; 20][..]].concat()).is_err());
}

#[test]
fn deeply_nested_groups_and_messages_are_errors() {
    // Field 99 is unknown, and a group of unknown fields is skipped by recursion.
    let start = [0x9b, 0x06];
    let end = [0x9c, 0x06];
    let groups = [start.repeat(10_000), end.repeat(10_000)].concat();
    assert!(message(decode_vec(groups)).contains("recursion"));
    assert!(decode_vec(start.repeat(10_000)).is_err());

    let mut body = Vec::new();
    for _ in 0..10_000 {
        // Graph in attribute in node.
        body = delimited(1, &delimited(5, &delimited(6, &body)));
    }
    assert!(message(decode_vec(delimited(7, &body))).contains("recursion"));

    let mut body = Vec::new();
    for _ in 0..10_000 {
        // A sequence of a sequence of a sequence.
        body = delimited(4, &delimited(1, &body));
    }
    let graph = delimited(11, &delimited(2, &body));
    assert!(message(decode_vec(delimited(7, &graph))).contains("recursion"));
}

#[test]
fn control_flow_decodes_up_to_the_documented_nesting() {
    assert_eq!(GRAPH_NESTING_LIMIT, 31);
    for depth in [1, 20, GRAPH_NESTING_LIMIT] {
        let model = nested(depth);
        assert_eq!(
            decode_vec(model.encode_to_vec()).unwrap(),
            model,
            "depth {depth}"
        );
    }
    let error = message(decode_vec(nested(GRAPH_NESTING_LIMIT + 1).encode_to_vec()));
    assert!(error.contains("recursion"), "{error}");

    // The body of a function nests as deep as the main graph.
    let mut model = nested(GRAPH_NESTING_LIMIT);
    model.functions.push(FunctionProto {
        node: model.graph.as_ref().unwrap().node.clone(),
        ..Default::default()
    });
    assert_eq!(decode_vec(model.encode_to_vec()).unwrap(), model);
}

#[test]
fn packed_and_unpacked_numbers_decode_alike() {
    let packed = delimited(8, &[1, 2, 3]);
    let unpacked = vec![8 << 3, 1, 8 << 3, 2, 8 << 3, 3];
    let mixed = [&packed[..], &unpacked[..]].concat();
    let ints = |bytes: Vec<u8>| AttributeProto::decode(Bytes::from(bytes)).unwrap().ints;
    assert_eq!(ints(packed), [1, 2, 3]);
    assert_eq!(ints(unpacked), [1, 2, 3]);
    assert_eq!(ints(mixed), [1, 2, 3, 1, 2, 3]);

    let packed = delimited(4, &[0, 0, 128, 63, 0, 0, 0, 64]);
    let unpacked = vec![4 << 3 | 5, 0, 0, 128, 63, 4 << 3 | 5, 0, 0, 0, 64];
    let floats = |bytes: Vec<u8>| TensorProto::decode(Bytes::from(bytes)).unwrap().float_data;
    assert_eq!(floats(packed), [1.0, 2.0]);
    assert_eq!(floats(unpacked), [1.0, 2.0]);
}

#[test]
fn decoding_shares_the_memory_of_the_file() {
    let mut graph = graph();
    graph.initializer[0].string_data = vec![Bytes::from_static(b"text")];
    graph.node[0].attribute[0].s = Some(Bytes::from_static(b"value"));
    let bytes = Bytes::from(model_of(graph).encode_to_vec());
    let range = bytes.as_ptr_range();
    let model = decode_model(bytes.clone()).unwrap();
    let graph = model.graph.unwrap();
    let tensor = &graph.initializer[0];
    for shared in [
        tensor.raw_data.as_ref().unwrap(),
        &tensor.string_data[0],
        graph.node[0].attribute[0].s.as_ref().unwrap(),
    ] {
        assert!(range.contains(&shared.as_ptr()));
    }
}

#[test]
fn models_missing_what_every_model_has_are_errors() {
    assert!(message(decode_vec(Vec::new())).contains("empty"));
    let without_graph = ModelProto {
        graph: None,
        ..model_of(graph())
    };
    assert!(message(decode_vec(without_graph.encode_to_vec())).contains("it has no graph"));
    let without_version = ModelProto {
        ir_version: None,
        ..model_of(graph())
    };
    assert!(message(decode_vec(without_version.encode_to_vec())).contains("no IR version"));
    let mut without_opset = model_of(graph());
    without_opset.opset_import.clear();
    assert!(message(decode_vec(without_opset.encode_to_vec())).contains("operator sets"));
    // The first file versions had only one operator set and did not name it.
    without_opset.ir_version = Some(2);
    assert!(decode_vec(without_opset.encode_to_vec()).is_ok());
}

#[test]
fn files_open_mapped_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let model = model_of(graph());
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    for mmap in [true, false] {
        let file = LoadOptions::default().mmap(mmap).open(&path).unwrap();
        assert_eq!(file.model(), &model);
        assert_eq!(file.path(), path);
        // The parts outlive the file.
        let (decoded, _) = file.into_parts();
        assert_eq!(decoded, model);
    }
}

#[test]
fn files_that_are_no_models_are_errors_naming_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    for options in [LoadOptions::default(), LoadOptions::default().mmap(false)] {
        let cases: [(&[u8], &str); 4] = [
            (b"", "it is empty"),
            (
                b"#!/bin/sh\necho this is not a model\n",
                "not an ONNX model",
            ),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not an ONNX model"),
            (&model_of(graph()).encode_to_vec()[..40], "cut short"),
        ];
        for (content, expected) in cases {
            std::fs::File::create(&path)
                .unwrap()
                .write_all(content)
                .unwrap();
            let error = options.open(&path).unwrap_err();
            assert_eq!(error.kind(), OnnxErrorKind::Value);
            let text = error.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("model.onnx"), "{text}");
        }
        let error = options.open(folder.path().join("none.onnx")).unwrap_err();
        assert_eq!(error.kind(), OnnxErrorKind::Io);
        assert!(error.to_string().contains("none.onnx"));
        let error = options.open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), OnnxErrorKind::Value);
        assert!(error.to_string().contains("a folder"));
    }
}

#[cfg(unix)]
#[test]
fn devices_are_not_models() {
    let error = ModelFile::open("/dev/zero").unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
