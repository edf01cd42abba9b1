//! Small models that together cover all features of the format.

use bytes::Bytes;
use isoform_onnx::{
    ElemType,
    proto::{
        AttributeProto, AttributeType, DimensionProto, DimensionValue, FunctionProto, GraphProto,
        MapTypeProto, ModelProto, NodeProto, OpaqueTypeProto, OptionalTypeProto, SequenceTypeProto,
        SparseTensorProto, SparseTensorTypeProto, StringStringEntryProto, TensorAnnotation,
        TensorProto, TensorShapeProto, TensorTypeProto, TrainingInfoProto, TypeProto, TypeValue,
        ValueInfoProto,
    },
};

use crate::build::*;

/// All models, with names for messages.
pub(crate) fn all() -> Vec<(&'static str, ModelProto)> {
    vec![
        ("plain", plain()),
        ("annotated", annotated()),
        ("functions", functions()),
        ("scopes", scopes()),
        ("clashes", clashes()),
        ("loops", loops()),
        ("elements", elements()),
        ("attributes", attributes()),
        ("types", types()),
        ("gradient", gradient()),
        ("listed weights", listed_weights()),
        ("defaults", defaults()),
        ("sparse", sparse()),
        ("outputs", outputs()),
        ("constants", constants()),
    ]
}

pub(crate) fn entry(key: &str, value: &str) -> StringStringEntryProto {
    StringStringEntryProto {
        key: key.into(),
        value: value.into(),
    }
}

pub(crate) fn plain() -> ModelProto {
    let nodes = vec![node("Add", "x w", "a"), node("Relu", "a", "y")];
    let mut graph = graph("x", nodes, "y");
    graph.initializer = vec![tensor("w", &[1.0, -0.0, f32::NAN])];
    model_of(graph)
}

/// A typed value with denotations, documentation and metadata.
pub(crate) fn described(name: &str) -> ValueInfoProto {
    let mut ty = tensor_type("batch 3 ?");
    ty.denotation = "IMAGE".into();
    if let Some(TypeValue::TensorType(tensor)) = &mut ty.value {
        let dims = &mut tensor.shape.as_mut().unwrap().dim;
        dims[0].denotation = "DATA_BATCH".into();
    }
    ValueInfoProto {
        name: name.into(),
        r#type: Some(ty),
        doc_string: format!("about {name}"),
        metadata_props: vec![entry("of", name)],
    }
}

/// Documentation and metadata wherever there can be any.
pub(crate) fn annotated() -> ModelProto {
    let mut add = node("Add", "x w", "a");
    add.name = "the sum".into();
    add.doc_string = "adds".into();
    add.metadata_props = vec![entry("pkg", "torch"), entry("line", "12")];
    let mut transpose = node("Transpose", "a", "y").with(ints("perm", &[0, 2, 1]));
    transpose.attribute[0].doc_string = "the order".into();
    let mut constant = node("Constant", "", "c").with(tensor_attr("value", tensor("", &[2.0])));
    constant.doc_string = "two".into();
    constant.metadata_props = vec![entry("was", "a node")];
    let mut graph = graph(
        "",
        vec![add, constant, transpose, node("Mul", "y c", "z")],
        "",
    );
    graph.doc_string = "the graph".into();
    graph.metadata_props = vec![entry("graph", "yes")];
    graph.input = vec![described("x")];
    graph.output = vec![described("y"), described("z")];
    graph.value_info = vec![described("a"), value("unused", "1")];
    let mut weight = tensor("w", &[1.0]);
    weight.doc_string = "a weight".into();
    weight.metadata_props = vec![entry("layer", "1")];
    graph.initializer = vec![weight, tensor("scale", &[0.5])];
    graph.quantization_annotation = vec![
        TensorAnnotation {
            tensor_name: "a".into(),
            quant_parameter_tensor_names: vec![entry("SCALE_TENSOR", "w")],
        },
        TensorAnnotation {
            tensor_name: "a".into(),
            quant_parameter_tensor_names: vec![entry("SCALE_TENSOR", "scale")],
        },
    ];
    let mut model = model_of(graph);
    model.ir_version = Some(10);
    model.producer_name = "tester".into();
    model.producer_version = "1.2".into();
    model.domain = "org.example".into();
    model.model_version = 7;
    model.doc_string = "the model".into();
    model.metadata_props = vec![entry("author", "me"), entry("license", "MIT")];
    model.opset_import.push(opset("unused.domain", 3));
    model.training_info = vec![TrainingInfoProto {
        algorithm: Some(crate::build::graph(
            "g",
            vec![node("Sub", "w g", "w2")],
            "w2",
        )),
        update_binding: vec![entry("w", "w2")],
        ..Default::default()
    }];
    model
}

fn overloaded(overload: &str, op: &str) -> FunctionProto {
    let mut made = function(
        "F",
        "p q",
        vec![node(op, "p", "t"), node("Neg", "t", "r")],
        "r t",
    );
    made.overload = overload.into();
    made.doc_string = format!("as {op}");
    made.metadata_props = vec![entry("kind", op)];
    made.value_info = vec![value("t", "2"), value("gone", "2")];
    made
}

/// Overloads, attributes with and without defaults, functions that call functions, and
/// a function that imports another version than the model.
pub(crate) fn functions() -> ModelProto {
    let mut with_attrs = function(
        "G",
        "p",
        vec![
            node("F", "p", "a b").in_domain("demo"),
            node("LeakyRelu", "a", "c").with(ref_attr("alpha", "slope", AttributeType::Float)),
            node("Softmax", "c", "d").with(ref_attr("axis", "axis", AttributeType::Int)),
            node("Constant", "", "k").with(ref_attr("value", "k", AttributeType::Tensor)),
            node("Constant", "", "two").with(float("value_float", 2.0)),
            node("Mul", "d k", "e"),
            node("Add", "e two", "f"),
        ],
        "f b",
    );
    with_attrs.attribute = vec!["k".into(), "slope".into()];
    with_attrs.attribute_proto = vec![int("axis", -1)];
    with_attrs.opset_import = vec![opset("", 13), opset("demo", 1)];
    let call = |input: &str, output: &str| {
        node("G", input, output)
            .in_domain("demo")
            .with(float("slope", 0.25))
            .with(tensor_attr("k", tensor("kk", &[3.0])))
    };
    let mut second = node("F", "v x", "y").in_domain("demo");
    second.overload = "two".into();
    let mut unknown = node("Other", "y", "z").in_domain("demo");
    unknown.overload = "none".into();
    let mut model = model(
        "x",
        vec![call("x", "v"), call("x", "_ w"), second, unknown],
        "y w z",
    );
    model.ir_version = Some(10);
    model.functions = vec![overloaded("", "Exp"), with_attrs, overloaded("two", "Log")];
    model
}

pub(crate) fn branch(nodes: Vec<NodeProto>, output: &str) -> GraphProto {
    GraphProto {
        name: "branch".into(),
        ..graph("", nodes, output)
    }
}

pub(crate) fn if_node(
    condition: &str,
    then: GraphProto,
    other: GraphProto,
    outputs: &str,
) -> NodeProto {
    node("If", condition, outputs)
        .with(graph_attr("then_branch", then))
        .with(graph_attr("else_branch", other))
}

/// Nested branches with values of all enclosing graphs, and nodes listed further out
/// than used.
pub(crate) fn scopes() -> ModelProto {
    let deepest = branch(
        vec![node("Add", "o m", "d1"), node("Mul", "d1 x", "d")],
        "d",
    );
    let other = branch(vec![node("Exp", "m", "d2")], "d2");
    let mut then = branch(
        vec![
            node("Neg", "o", "m"),
            node("Tanh", "o", "unused inside"),
            if_node("c", deepest, other, "t"),
        ],
        "t",
    );
    then.initializer = vec![tensor("local", &[1.0])];
    then.node.push(node("Sub", "t local", "t2"));
    then.output = vec![untyped("t2")];
    then.value_info = vec![value("m", "1")];
    let mut otherwise = branch(vec![node("Add", "outside w", "e")], "e");
    otherwise.doc_string = "the other branch".into();
    model_with(
        graph(
            "c x",
            vec![
                node("Sqrt", "x", "o"),
                // Used only inside, listed here.
                node("RandomNormalLike", "x", "outside"),
                if_node("c", then, otherwise, "r"),
                node("Mul", "r w", "y"),
            ],
            "y",
        ),
        vec![tensor("w", &[4.0])],
    )
}

fn model_with(mut graph: GraphProto, initializers: Vec<TensorProto>) -> ModelProto {
    graph.initializer = initializers;
    model_of(graph)
}

/// Sibling scopes that use the same names, and inner scopes that hide outer names.
pub(crate) fn clashes() -> ModelProto {
    let then = branch(vec![node("Exp", "x", "v"), node("Neg", "v", "r")], "r");
    let mut otherwise = branch(vec![node("Log", "x", "v"), node("Add", "v k", "r")], "r");
    otherwise.initializer = vec![tensor("k", &[1.0])];
    let mut second = branch(vec![node("Sub", "x k", "v")], "v");
    second.initializer = vec![tensor("k", &[2.0])];
    let third = branch(vec![node("Add", "x k", "w")], "w");
    model_with(
        graph(
            "c x",
            vec![
                if_node("c", then, otherwise, "r"),
                if_node("c", second, third, "y"),
                node("Mul", "r y", "z"),
            ],
            "y z",
        ),
        vec![tensor("k", &[3.0])],
    )
}

/// Loop and Scan, whose bodies have separate inputs and dimensions.
pub(crate) fn loops() -> ModelProto {
    let mut body = graph(
        "i go s",
        vec![node("Add", "s outer", "s2"), node("Identity", "go", "go2")],
        "",
    );
    body.name = "body".into();
    body.input[2] = value("s", "n");
    body.output = vec![untyped("go2"), value("s2", "n"), value("s2", "n")];
    let mut lp = node("Loop", "count _ x", "last all").with(graph_attr("body", body));
    lp.name = "loop".into();
    let mut scan_body = graph("a b", vec![node("Mul", "a b", "ab")], "ab ab2");
    scan_body.node.push(node("Neg", "ab", "ab2"));
    scan_body.input[1] = value("b", "own");
    scan_body.output[1] = value("ab2", "own n");
    let scan = node("Scan", "x last", "z zz")
        .with(graph_attr("body", scan_body))
        .with(int("num_scan_inputs", 1));
    let mut graph = graph("count", vec![node("Exp", "x", "outer"), lp, scan], "all z");
    graph.input.push(value("x", "n"));
    graph.output.push(value("zz", "m 2"));
    model_of(graph)
}

/// A constant of every element type.
pub(crate) fn elements() -> ModelProto {
    let mut nodes = Vec::new();
    let mut tensors = Vec::new();
    let mut outputs = Vec::new();
    for &elem in ElemType::ALL {
        let name = elem.name();
        let mut filled = TensorProto {
            name: name.into(),
            dims: vec![5],
            data_type: elem.code(),
            ..Default::default()
        };
        match elem.byte_len(5) {
            None => filled.string_data = ["a", "", "ä", "\0", "long text"].map(text).to_vec(),
            Some(length) => {
                let bytes = (0..length).map(|index| {
                    if index + 1 < length {
                        index as u8 % 2
                    } else {
                        0
                    }
                });
                filled.raw_data = Some(bytes.collect());
            }
        }
        let mut empty = filled.clone();
        empty.name = format!("no {name}");
        empty.dims = vec![0, 3];
        empty.raw_data = filled.raw_data.as_ref().map(|_| Bytes::new());
        empty.string_data.clear();
        let output = format!("y_{name}");
        let input = vec![name.to_owned(), empty.name.clone()];
        nodes.push(NodeProto {
            input,
            ..node("Use", "", &output).in_domain("demo")
        });
        tensors.extend([filled, empty]);
        outputs.push(output);
    }
    model_with(graph("", nodes, &outputs.join(" ")), tensors)
}

fn text(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Every kind of attribute, full and empty.
pub(crate) fn attributes() -> ModelProto {
    let attr = |name: &str, kind: AttributeType| AttributeProto {
        name: name.into(),
        r#type: kind.into(),
        ..Default::default()
    };
    let sparse = sparse_tensor("s", &[2.0], &[1], &[4]);
    let full = node("Full", "x", "a")
        .in_domain("demo")
        .with(float("float", 0.1))
        .with(float("odd", f32::NEG_INFINITY))
        .with(int("int", i64::MIN))
        .with(string("string", "ä".as_bytes()))
        .with(string("bytes", b"\xff\x00"))
        .with(floats("floats", &[0.1, -0.0]))
        .with(ints("ints", &[1, -1]))
        .with(strings("strings", &["a", ""]))
        .with(tensor_attr("tensor", tensor("named", &[1.0])))
        .with(AttributeProto {
            tensors: vec![tensor("", &[1.0]), tensor("", &[2.0])],
            ..attr("tensors", AttributeType::Tensors)
        })
        .with(graph_attr(
            "graph",
            branch(vec![node("Exp", "x", "e")], "e"),
        ))
        .with(AttributeProto {
            graphs: vec![
                branch(vec![node("Exp", "x", "e")], "e"),
                branch(vec![node("Log", "x", "e")], "e"),
            ],
            ..attr("graphs", AttributeType::Graphs)
        })
        .with(AttributeProto {
            sparse_tensor: Some(Box::new(sparse.clone())),
            ..attr("sparse", AttributeType::SparseTensor)
        })
        .with(AttributeProto {
            sparse_tensors: vec![sparse],
            ..attr("sparses", AttributeType::SparseTensors)
        })
        .with(type_attr("type", tensor_type("n 2 ?")))
        .with(AttributeProto {
            type_protos: vec![tensor_type("1"), tensor_type("free")],
            ..attr("types", AttributeType::TypeProtos)
        });
    let zeros = node("Zeros", "a", "b")
        .in_domain("demo")
        .with(attr("float", AttributeType::Float))
        .with(attr("int", AttributeType::Int))
        .with(attr("string", AttributeType::String));
    let kinds = [
        ("floats", AttributeType::Floats),
        ("ints", AttributeType::Ints),
        ("strings", AttributeType::Strings),
        ("tensors", AttributeType::Tensors),
        ("graphs", AttributeType::Graphs),
        ("sparses", AttributeType::SparseTensors),
        ("types", AttributeType::TypeProtos),
    ];
    let empty = kinds.into_iter().fold(
        node("Empty", "b", "y").in_domain("demo"),
        |node, (name, kind)| node.with(attr(name, kind)),
    );
    let mut graph = graph("", vec![full, zeros, empty], "y");
    graph.input = vec![value("x", "n")];
    model_of(graph)
}

pub(crate) fn sparse_tensor(
    name: &str,
    values: &[f32],
    positions: &[i64],
    dims: &[i64],
) -> SparseTensorProto {
    SparseTensorProto {
        values: Some(tensor(name, values)),
        indices: Some(TensorProto {
            dims: vec![positions.len() as i64],
            data_type: ElemType::Int64.code(),
            int64_data: positions.to_vec(),
            ..Default::default()
        }),
        dims: dims.to_vec(),
    }
}

fn of(value: TypeValue) -> TypeProto {
    TypeProto {
        value: Some(value),
        ..Default::default()
    }
}

/// Inputs of every type.
pub(crate) fn types() -> ModelProto {
    let tensor = |elem_type, shape| TensorTypeProto { elem_type, shape };
    let shape = TensorShapeProto {
        dim: vec![
            DimensionProto {
                value: Some(DimensionValue::DimParam("n".into())),
                ..Default::default()
            },
            DimensionProto::default(),
        ],
    };
    let float = of(TypeValue::TensorType(tensor(1, Some(shape.clone()))));
    let all = [
        float.clone(),
        of(TypeValue::TensorType(tensor(0, None))),
        of(TypeValue::TensorType(tensor(
            8,
            Some(TensorShapeProto::default()),
        ))),
        of(TypeValue::SparseTensorType(SparseTensorTypeProto {
            elem_type: 17,
            shape: Some(shape),
        })),
        of(TypeValue::SequenceType(Box::new(SequenceTypeProto {
            elem_type: Some(of(TypeValue::OptionalType(Box::new(OptionalTypeProto {
                elem_type: Some(float.clone()),
            })))),
        }))),
        of(TypeValue::SequenceType(Box::default())),
        of(TypeValue::MapType(Box::new(MapTypeProto {
            key_type: 7,
            value_type: Some(float),
        }))),
        of(TypeValue::MapType(Box::new(MapTypeProto {
            key_type: 8,
            value_type: None,
        }))),
        of(TypeValue::OpaqueType(OpaqueTypeProto {
            domain: "org.example".into(),
            name: "Thing".into(),
        })),
        TypeProto::default(),
    ];
    let all = all.into_iter().chain(
        ElemType::ALL
            .iter()
            .map(|elem| of(TypeValue::TensorType(tensor(elem.code(), None)))),
    );
    let mut graph = graph("", vec![], "");
    for (index, ty) in all.enumerate() {
        let (input, output) = (format!("x{index}"), format!("y{index}"));
        let described = |name: &str| ValueInfoProto {
            name: name.into(),
            r#type: Some(ty.clone()),
            ..Default::default()
        };
        graph.input.push(described(&input));
        graph.output.push(described(&output));
        graph
            .node
            .push(node("Use", &input, &output).in_domain("demo"));
    }
    model_of(graph)
}

/// An operator whose attributes name values.
pub(crate) fn gradient() -> ModelProto {
    let domain = "ai.onnx.preview.training";
    let gradient = node("Gradient", "x w", "dx dw")
        .in_domain(domain)
        .with(strings("xs", &["x", "w"]))
        .with(strings("zs", &["x"]))
        .with(string("y", b"loss"));
    let graph = graph("x", vec![node("Mul", "x w", "loss"), gradient], "loss dw");
    let mut model = model_with(graph, vec![tensor("w", &[1.0])]);
    model.opset_import.push(opset(domain, 1));
    model
}

/// IR version 3, where every weight is an input too.
pub(crate) fn listed_weights() -> ModelProto {
    let constant = node("Constant", "", "c").with(tensor_attr("value", tensor("", &[5.0])));
    let then = branch(vec![node("Add", "x c", "t")], "t");
    let inner = node("Constant", "", "ic").with(tensor_attr("value", tensor("", &[6.0])));
    let otherwise = branch(vec![inner, node("Sub", "b ic", "e")], "e");
    let mut graph = graph(
        "w x unused b cond",
        vec![
            constant,
            node("Mul", "x w", "a"),
            if_node("cond", then, otherwise, "r"),
            node("Add", "a r", "y"),
        ],
        "y",
    );
    graph.input[0] = described("w");
    graph.initializer = vec![
        tensor("b", &[1.0]),
        tensor("unused", &[2.0]),
        tensor("w", &[3.0]),
    ];
    let mut model = model_of(graph);
    model.ir_version = Some(3);
    model.opset_import = vec![opset("", 9)];
    model
}

/// Inputs with defaults, which IR version 4 introduced.
pub(crate) fn defaults() -> ModelProto {
    let mut model = listed_weights();
    model.ir_version = Some(4);
    model
}

/// Sparse constants and strings.
pub(crate) fn sparse() -> ModelProto {
    let mut graph = graph(
        "x",
        vec![node("Add", "x s", "a"), node("Mul", "a t", "y")],
        "y",
    );
    graph.sparse_initializer = vec![
        sparse_tensor("s", &[1.0, 2.0], &[0, 5], &[2, 3]),
        sparse_tensor("t", &[], &[], &[2, 3]),
    ];
    model_of(graph)
}

/// Outputs that are inputs, constants, and several results of a single node.
pub(crate) fn outputs() -> ModelProto {
    let mut split = node("Split", "x", "p _ q").with(int("axis", 0));
    split.name = "split".into();
    model_with(
        graph("x", vec![split, node("Neg", "p", "y")], "p y x w q"),
        vec![tensor("w", &[1.0]), tensor("unused", &[1.0])],
    )
}

/// Constants in nodes of all forms, used in several scopes.
pub(crate) fn constants() -> ModelProto {
    let constant = |name: &str, attr| node("Constant", "", name).with(attr);
    let then = branch(vec![node("Add", "x f", "t")], "t");
    let otherwise = branch(
        vec![
            constant("own", floats("value_floats", &[1.0, 2.0])),
            node("Add", "own f", "o"),
        ],
        "o",
    );
    model(
        "c x",
        vec![
            constant("f", float("value_float", 0.5)),
            constant("fs", floats("value_floats", &[])),
            constant("i", int("value_int", 3)),
            constant("is", ints("value_ints", &[3, 4])),
            constant("s", string("value_string", b"text")),
            constant("ss", strings("value_strings", &["a", "b"])),
            constant("odd", ints("unknown", &[1])),
            if_node("c", then, otherwise, "r"),
            node("Use", "f fs i is s ss odd r", "y").in_domain("demo"),
        ],
        "y",
    )
}
