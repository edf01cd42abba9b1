//! Entry points of the fuzz driver: arbitrary bytes must result in a model or an error.

use bytes::Bytes;
use isoform::{structural_digest, structural_equal};
use prost::Message;

use crate::layout::list;
use crate::proto::{
    AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto, GraphProto,
    ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, TypeValue, ValueInfoProto,
};
use crate::{ExternalResolver, ImportOptions, Model, SaveOptions, decode_model};

/// Reads a model from arbitrary bytes, and checks the properties of every model.
///
/// # Panics
///
/// If a model is not equal to itself read again, or has a different digest; or if it
/// cannot be written, or is another program then.
pub fn fuzz_load(bytes: &[u8]) {
    let Ok(proto) = decode_model(Bytes::copy_from_slice(bytes)) else {
        return;
    };
    let options = ImportOptions::default().io_names(true);
    let read = || options.import(&proto, &ExternalResolver::none());
    let (Ok(model), Ok(again)) = (read(), read()) else {
        return;
    };
    let (left, right) = (model.to_value(), again.to_value());
    match structural_equal(&left, &right) {
        Ok(equal) => assert!(equal, "a model differs from itself"),
        Err(error) => panic!("a model cannot be compared: {error}"),
    }
    match (structural_digest(left), structural_digest(right)) {
        (Ok(left), Ok(right)) => assert_eq!(left, right, "a model has two digests"),
        (Err(error), _) | (_, Err(error)) => panic!("a model has no digest: {error}"),
    }
    check_written(&model);
}

/// A model written and read again is the same program, unless a result needed a
/// separate node.
fn check_written(model: &Model) {
    let saving = SaveOptions::default().check(false);
    let bytes = match saving.to_bytes(model.program()) {
        Ok(bytes) => bytes,
        Err(error) => panic!("a model cannot be written: {error}"),
    };
    let proto = match decode_model(bytes.into()) {
        Ok(proto) => proto,
        Err(error) => panic!("what was written is not a model: {error}"),
    };
    let options = ImportOptions::default().io_names(true);
    let again = match options.import(&proto, &ExternalResolver::none()) {
        Ok(again) => again,
        Err(error) => panic!("what was written cannot be read: {error}"),
    };
    let copies = |model: &Model| {
        let bodies = list(model.program()).bodies;
        let nodes = bodies.iter().flat_map(|body| &body.nodes);
        nodes.filter(|node| node.call.is("Identity")).count()
    };
    if copies(model) == copies(&again) {
        match structural_equal(model.to_value(), again.to_value()) {
            Ok(equal) => assert!(equal, "a model became another one"),
            Err(error) => panic!("a model cannot be compared: {error}"),
        }
    }
}

/// Reads a small model whose bytes are changed by `edits`: four bytes describe a change
/// (kind, position, amount).
///
/// # Panics
///
/// As [`fuzz_load`].
pub fn fuzz_edited(edits: &[u8]) {
    let mut bytes = seed();
    for edit in edits.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([edit[1], edit[2]])) % bytes.len();
        match edit[0] % 4 {
            0 => bytes[at] = edit[3],
            1 => bytes[at] ^= 1 << (edit[3] % 8),
            2 => bytes.truncate(at.max(1)),
            _ => {
                let from = (at * 31 + usize::from(edit[3])) % bytes.len();
                let length = usize::from(edit[3]).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + length, at);
            }
        }
    }
    fuzz_load(&bytes);
}

fn value(name: &str) -> ValueInfoProto {
    let dims = [
        DimensionValue::DimParam("n".into()),
        DimensionValue::DimValue(2),
    ];
    let dim = dims.map(|value| DimensionProto {
        value: Some(value),
        ..Default::default()
    });
    ValueInfoProto {
        name: name.into(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(TensorTypeProto {
                elem_type: 1,
                shape: Some(TensorShapeProto { dim: dim.into() }),
            })),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn node(domain: &str, op: &str, input: &[&str], output: &str) -> NodeProto {
    NodeProto {
        domain: domain.into(),
        op_type: op.into(),
        input: input.iter().map(|&name| name.into()).collect(),
        output: vec![output.into()],
        ..Default::default()
    }
}

/// A small model with every feature that the importer treats specially.
fn seed() -> Vec<u8> {
    let opsets = vec![OperatorSetIdProto {
        domain: String::new(),
        version: 17,
    }];
    let body = GraphProto {
        node: vec![node("", "Exp", &["a"], "i")],
        input: vec![value("p")],
        output: vec![value("i")],
        ..Default::default()
    };
    let mut loops = node("", "Loop", &["a", "w"], "l");
    loops.attribute = vec![AttributeProto {
        name: "body".into(),
        r#type: AttributeType::Graph.into(),
        g: Some(Box::new(body)),
        ..Default::default()
    }];
    let mut constant = node("", "Constant", &[], "w");
    constant.attribute = vec![AttributeProto {
        name: "value_ints".into(),
        r#type: AttributeType::Ints.into(),
        ints: vec![1, 2],
        ..Default::default()
    }];
    let graph = GraphProto {
        name: "g".into(),
        node: vec![
            node("f", "F", &["x"], "a"),
            constant,
            loops,
            node("", "Add", &["l", "v"], "y"),
        ],
        input: vec![value("x")],
        output: vec![value("y")],
        initializer: vec![TensorProto {
            name: "v".into(),
            dims: vec![2],
            data_type: 1,
            raw_data: Some(Bytes::from_static(&[0; 8])),
            ..Default::default()
        }],
        ..Default::default()
    };
    let function = FunctionProto {
        name: "F".into(),
        domain: "f".into(),
        input: vec!["s".into()],
        output: vec!["t".into()],
        node: vec![node("", "Neg", &["s"], "t")],
        opset_import: opsets.clone(),
        ..Default::default()
    };
    let model = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        functions: vec![function],
        opset_import: opsets,
        ..Default::default()
    };
    model.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The seed itself must be a model, or the test below tests nothing.
    #[test]
    fn the_seed_is_a_model() {
        let proto = decode_model(seed().into()).unwrap();
        let model = crate::import(&proto, &ExternalResolver::none()).unwrap();
        assert_eq!(model.counts().nodes, 6);
        fuzz_load(&seed());
    }

    #[test]
    fn changed_bytes_are_a_model_or_an_error() {
        // xorshift64: the same changes in every run, as many as fit into the time.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            let mut edits = Vec::new();
            for _ in 0..=state % 5 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                edits.extend_from_slice(&state.to_le_bytes()[..4]);
            }
            fuzz_edited(&edits);
        }
    }
}
