//! Short ways to write models, and the checks on pairs of them.

use bytes::Bytes;
use isoform::{explain_mismatch, structural_digest, structural_hash};
use isoform_onnx::{
    ExternalResolver, ImportOptions, Model,
    proto::{
        AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto, GraphProto,
        ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto,
        TypeProto, TypeValue, ValueInfoProto,
    },
};

/// Splits a list of names; `_` is an empty name.
pub(crate) fn names(list: &str) -> Vec<String> {
    let name = |name| if name == "_" { "" } else { name };
    list.split_whitespace()
        .map(name)
        .map(String::from)
        .collect()
}

/// A node, written `op`, inputs, outputs.
pub(crate) fn node(op: &str, inputs: &str, outputs: &str) -> NodeProto {
    NodeProto {
        op_type: op.into(),
        input: names(inputs),
        output: names(outputs),
        ..Default::default()
    }
}

pub(crate) trait NodeExt {
    fn with(self, attr: AttributeProto) -> Self;
    fn in_domain(self, domain: &str) -> Self;
}

impl NodeExt for NodeProto {
    fn with(mut self, attr: AttributeProto) -> Self {
        self.attribute.push(attr);
        self
    }

    fn in_domain(mut self, domain: &str) -> Self {
        self.domain = domain.into();
        self
    }
}

fn attr(name: &str, kind: AttributeType, fill: impl FnOnce(&mut AttributeProto)) -> AttributeProto {
    let mut attr = AttributeProto {
        name: name.into(),
        r#type: kind.into(),
        ..Default::default()
    };
    fill(&mut attr);
    attr
}

pub(crate) fn int(name: &str, i: i64) -> AttributeProto {
    attr(name, AttributeType::Int, |attr| attr.i = Some(i))
}

pub(crate) fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    attr(name, AttributeType::Ints, |attr| attr.ints = ints.to_vec())
}

pub(crate) fn float(name: &str, f: f32) -> AttributeProto {
    attr(name, AttributeType::Float, |attr| attr.f = Some(f))
}

pub(crate) fn floats(name: &str, floats: &[f32]) -> AttributeProto {
    attr(name, AttributeType::Floats, |attr| {
        attr.floats = floats.to_vec()
    })
}

pub(crate) fn string(name: &str, text: &[u8]) -> AttributeProto {
    let text = Bytes::copy_from_slice(text);
    attr(name, AttributeType::String, |attr| attr.s = Some(text))
}

pub(crate) fn strings(name: &str, texts: &[&str]) -> AttributeProto {
    let texts = texts
        .iter()
        .map(|text| Bytes::copy_from_slice(text.as_bytes()));
    attr(name, AttributeType::Strings, |attr| {
        attr.strings = texts.collect()
    })
}

pub(crate) fn tensor_attr(name: &str, tensor: TensorProto) -> AttributeProto {
    let tensor = Box::new(tensor);
    attr(name, AttributeType::Tensor, |attr| attr.t = Some(tensor))
}

pub(crate) fn graph_attr(name: &str, graph: GraphProto) -> AttributeProto {
    let graph = Box::new(graph);
    attr(name, AttributeType::Graph, |attr| attr.g = Some(graph))
}

pub(crate) fn type_attr(name: &str, ty: TypeProto) -> AttributeProto {
    let ty = Box::new(ty);
    attr(name, AttributeType::TypeProto, |attr| attr.tp = Some(ty))
}

pub(crate) fn ref_attr(name: &str, of: &str, kind: AttributeType) -> AttributeProto {
    attr(name, kind, |attr| attr.ref_attr_name = of.into())
}

/// A float tensor type; dimensions are numbers, names, or `?`.
pub(crate) fn tensor_type(shape: &str) -> TypeProto {
    let dim = |text: &str| DimensionProto {
        value: match text.parse() {
            Ok(extent) => Some(DimensionValue::DimValue(extent)),
            Err(_) if text == "?" => None,
            Err(_) => Some(DimensionValue::DimParam(text.into())),
        },
        ..Default::default()
    };
    TypeProto {
        value: Some(TypeValue::TensorType(TensorTypeProto {
            elem_type: 1,
            shape: Some(TensorShapeProto {
                dim: shape.split_whitespace().map(dim).collect(),
            }),
        })),
        ..Default::default()
    }
}

/// A named float tensor.
pub(crate) fn value(name: &str, shape: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: name.into(),
        r#type: Some(tensor_type(shape)),
        ..Default::default()
    }
}

/// A named value of unknown type.
pub(crate) fn untyped(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: name.into(),
        ..Default::default()
    }
}

/// A float tensor of rank 1, stored in `float_data`.
pub(crate) fn tensor(name: &str, data: &[f32]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: vec![data.len() as i64],
        data_type: 1,
        float_data: data.to_vec(),
        ..Default::default()
    }
}

/// A graph with untyped inputs and outputs.
pub(crate) fn graph(inputs: &str, nodes: Vec<NodeProto>, outputs: &str) -> GraphProto {
    GraphProto {
        name: "main".into(),
        input: names(inputs).iter().map(|name| untyped(name)).collect(),
        node: nodes,
        output: names(outputs).iter().map(|name| untyped(name)).collect(),
        ..Default::default()
    }
}

pub(crate) fn opset(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto {
        domain: domain.into(),
        version,
    }
}

/// A model that imports `ai.onnx` 17 and `demo` 1.
pub(crate) fn model_of(graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![opset("", 17), opset("demo", 1)],
        graph: Some(graph),
        ..Default::default()
    }
}

/// As [`model_of`], from the parts of a graph.
pub(crate) fn model(inputs: &str, nodes: Vec<NodeProto>, outputs: &str) -> ModelProto {
    model_of(graph(inputs, nodes, outputs))
}

/// A function of the domain `demo`.
pub(crate) fn function(
    name: &str,
    inputs: &str,
    nodes: Vec<NodeProto>,
    outputs: &str,
) -> FunctionProto {
    FunctionProto {
        name: name.into(),
        domain: "demo".into(),
        input: names(inputs),
        node: nodes,
        output: names(outputs),
        opset_import: vec![opset("", 17)],
        ..Default::default()
    }
}

#[track_caller]
pub(crate) fn load_with(model: &ModelProto, options: ImportOptions) -> Model {
    match options.import(model, &ExternalResolver::none()) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
pub(crate) fn load(model: &ModelProto) -> Model {
    load_with(model, ImportOptions::default())
}

/// The models are the same program, have the same hash and the same digest.
#[track_caller]
pub(crate) fn check_same(left: &ModelProto, right: &ModelProto) {
    let (left, right) = (load(left).to_value(), load(right).to_value());
    if let Some(mismatch) = explain_mismatch(&left, &right).unwrap() {
        panic!("expected equal models: {mismatch}");
    }
    assert_eq!(
        structural_hash(&left).unwrap(),
        structural_hash(&right).unwrap()
    );
    assert_eq!(
        structural_digest(&left).unwrap(),
        structural_digest(&right).unwrap()
    );
}

/// The models are different programs with different digests, and the place shown to the
/// user is as expected.
#[track_caller]
pub(crate) fn check_differ(left: &ModelProto, right: &ModelProto, place: &str) {
    let (left, right) = (load(left), load(right));
    let (l, r) = (left.to_value(), right.to_value());
    let mismatch = explain_mismatch(&l, &r)
        .unwrap()
        .expect("the models differ");
    assert_ne!(
        structural_digest(&l).unwrap(),
        structural_digest(&r).unwrap()
    );
    let origin = left.node_at(&mismatch.left_path);
    let origin = origin.map(|origin| origin.to_string()).unwrap_or_default();
    assert_eq!(origin, place, "{mismatch}");
}
