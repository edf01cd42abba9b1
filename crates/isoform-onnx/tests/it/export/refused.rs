//! Programs that are not models are errors that name the place.

use isoform::values::{DType, Tensor};
use isoform::{Array, Node, Ref, Value};
use isoform_onnx::{
    ExternalResolver, ImportOptions, SaveOptions, import,
    ir::{Call, Graph, Input, Output, Program},
    proto::{AttributeType, ModelProto},
};

use crate::build::*;
use crate::export::models::{branch, if_node, plain};
use crate::parts::named_input;

fn program_of(proto: &ModelProto) -> Ref<Program> {
    load_with(proto, ImportOptions::default()).program().clone()
}

/// Replaces the call that makes the first result.
fn edited(program: &Program, edit: impl FnOnce(Call) -> Call) -> Ref<Program> {
    let output: Ref<Output> = program.graph.results.get(0).unwrap().extract().unwrap();
    let call = Ref::new(edit(output.call.clone_fields()));
    with_results(program, vec![Ref::new(Output { call, index: 0 }).into()])
}

fn with_results(program: &Program, results: Vec<Value>) -> Ref<Program> {
    Ref::new(Program {
        graph: Ref::new(Graph {
            results: results.into(),
            ..program.graph.clone_fields()
        }),
        ..program.clone_fields()
    })
}

#[track_caller]
fn check(program: &Ref<Program>, expected: &str) {
    let error = SaveOptions::default().to_proto(program).unwrap_err();
    assert_eq!(error.message(), expected);
}

/// The program with nodes that no file has had.
fn made(program: &Program) -> Ref<Program> {
    let output: Ref<Output> = program.graph.results.get(0).unwrap().extract().unwrap();
    let call = Ref::new(Call {
        meta: None,
        ..output.call.clone_fields()
    });
    let results = 0..program.graph.results.len() as i64;
    let results = results.map(|index| {
        let call = call.clone();
        Ref::new(Output { call, index }).into()
    });
    with_results(program, results.collect())
}

/// A model with one node, which is written unchanged from a file, and refused from
/// elsewhere.
#[track_caller]
fn check_node(node: isoform_onnx::proto::NodeProto, version: i64, expected: &str) {
    let outputs = node.output.join(" ");
    let mut proto = model("x", vec![node], &outputs);
    proto.opset_import = vec![opset("", version)];
    let program = program_of(&proto);
    let written = SaveOptions::default().to_proto(&program).unwrap();
    let node = |proto: &ModelProto| proto.graph.as_ref().unwrap().node[0].clone();
    assert_eq!(node(&written), node(&proto));
    let made = made(&program);
    check(&made, &format!("graph 'main' > {expected}"));
    let unchecked = SaveOptions::default().check(false).to_proto(&made);
    import(&unchecked.unwrap(), &ExternalResolver::none()).unwrap();
}

#[test]
fn nodes_must_be_those_of_the_operator_set() {
    check_node(
        node("Reshape", "x x", "y").with(int("allowzero", 1)),
        13,
        "node #0 (Reshape) > attribute 'allowzero': Reshape has no such attribute in operator set 13 of ai.onnx, but none",
    );
    check_node(
        node("Gelu", "x", "y"),
        19,
        "node #0 (Gelu): operator set 19 of ai.onnx has no operator Gelu",
    );
    check_node(
        node("Upsample", "x x", "y"),
        10,
        "node #0 (Upsample): operator set 10 of ai.onnx has withdrawn Upsample",
    );
    check_node(
        node("Add", "x", "y"),
        17,
        "node #0 (Add): expected 2 inputs for Add in operator set 17 of ai.onnx, got 1",
    );
    check_node(
        node("Clip", "x x x x", "y"),
        17,
        "node #0 (Clip): expected 1 to 3 inputs for Clip in operator set 17 of ai.onnx, got 4",
    );
    check_node(
        node("Relu", "x", "y z"),
        17,
        "node #0 (Relu): expected 1 outputs for Relu in operator set 17 of ai.onnx, got 2",
    );
    check_node(
        node("Concat", "x", "y"),
        17,
        "node #0 (Concat): Concat needs the attribute 'axis' in operator set 17 of ai.onnx",
    );
    check_node(
        node("Concat", "x", "y").with(float("axis", 1.0)),
        17,
        "node #0 (Concat) > attribute 'axis': expected an int for Concat in operator set 17 of ai.onnx, got a float",
    );
    // The schemas do not cover newer versions and other domains.
    let mut newer = model("x", vec![node("Gelu", "x x x", "y")], "y");
    newer.opset_import = vec![opset("", 999)];
    SaveOptions::default()
        .to_proto(&program_of(&newer))
        .unwrap();
}

/// Runtimes know more than the standard.
#[test]
fn nodes_of_a_file_are_written_as_they_came() {
    for (node, version) in [
        (node("ImageScaler", "x", "y").with(float("scale", 2.0)), 7),
        (node("ThresholdedRelu", "x", "y"), 9),
        (node("ParametricSoftplus", "x", "y"), 6),
        (node("ScaledTanh", "x", "y"), 6),
    ] {
        let mut proto = model("x", vec![node], "y");
        proto.opset_import = vec![opset("", version)];
        let program = program_of(&proto);
        let written = SaveOptions::default().to_proto(&program).unwrap();
        let nodes = |proto: &ModelProto| proto.graph.as_ref().unwrap().node.clone();
        assert_eq!(nodes(&written), nodes(&proto));
        // In another operator set, it is another node.
        let moved = edited(&program, |call| Call {
            version: version - 1,
            ..call
        });
        assert!(SaveOptions::default().to_proto(&moved).is_err());
    }
    let odd = node("Concat", "x", "y");
    let program = program_of(&model("x", vec![odd], "y"));
    let odder = edited(&program, |call| Call {
        attrs: [("axes".into(), Value::from(0))].into_iter().collect(),
        ..call
    });
    check(
        &odder,
        "graph 'main' > node #0 (Concat) > attribute 'axes': Concat has no such attribute in \
         operator set 17 of ai.onnx, but axis",
    );
}

#[test]
fn a_loop_lists_its_limit_and_its_condition() {
    let nodes = vec![node("Identity", "c", "d"), node("Exp", "x", "s")];
    let mut body = graph("i c", nodes, "d s");
    body.name = "body".into();
    for inputs in ["n _", "_ _"] {
        let node = node("Loop", inputs, "y").with(graph_attr("body", body.clone()));
        let proto = model("n x", vec![node], "y");
        let written = SaveOptions::default()
            .to_proto(&made(&program_of(&proto)))
            .unwrap();
        let input = |proto: &ModelProto| proto.graph.as_ref().unwrap().node[0].input.clone();
        assert_eq!(input(&written), input(&proto));
    }
}

#[test]
fn operators_of_a_domain_have_one_version() {
    let program = edited(&program_of(&plain()), |call| Call {
        version: 18,
        name: "odd".into(),
        ..call
    });
    check(
        &program,
        "graph 'main': a model or function imports one version of an operator set, but \
         node #0 (Add) is of version 17 of ai.onnx, and node 'odd' (Relu) of version 18",
    );
}

#[test]
fn values_must_be_values() {
    let program = program_of(&plain());
    check(
        &with_results(&program, vec![Value::from(1)]),
        "graph 'main' > result #0 'y': expected onnx.Output, onnx.Input, a tensor, \
         onnx.StringTensor or onnx.SparseTensor, got int",
    );
    check(
        &with_results(&program, vec![Value::NONE]),
        "graph 'main' > result #0 'y': expected onnx.Output, onnx.Input, a tensor, \
         onnx.StringTensor or onnx.SparseTensor, got None",
    );
    check(
        &edited(&program, |call| Call {
            inputs: Array::from(vec![Value::from("w")]),
            ..call
        }),
        "graph 'main' > node #1 (Relu) > input #0: expected onnx.Output, onnx.Input, a tensor, \
         onnx.StringTensor or onnx.SparseTensor, got str",
    );
    let output: Ref<Output> = program.graph.results.get(0).unwrap().extract().unwrap();
    let call = output.call.clone();
    check(
        &with_results(&program, vec![Ref::new(Output { call, index: 1 }).into()]),
        "graph 'main' > result #0 'y': expected one of the 1 outputs of node #1 (Relu), got index 1",
    );
    check(
        &edited(&program, |call| Call {
            outputs: i64::MAX,
            ..call
        }),
        "graph 'main' > node #1 (Relu): expected 0 to 1048576 outputs, got 9223372036854775807",
    );
    let handle = Tensor::new(
        DType::new(isoform::values::DTypeCode::Handle, 64),
        vec![],
        vec![0; 8],
    );
    check(
        &edited(&program, |call| Call {
            inputs: Array::from(vec![Value::from(handle.unwrap())]),
            ..call
        }),
        "graph 'main' > constant 'a': no tensor can have elements of type handle",
    );
}

#[test]
fn attributes_must_have_kinds_of_the_format() {
    let check = |value: Value, expected: &str| {
        let program = edited(&program_of(&plain()), |call| Call {
            domain: "demo".into(),
            version: 1,
            attrs: [("a".into(), value)].into_iter().collect(),
            ..call
        });
        check(
            &program,
            &format!("graph 'main' > node #1 (Relu) > attribute 'a'{expected}"),
        );
    };
    let one_of = "int, float, string, bytes, constant, onnx.Graph, onnx.TypeAttr, onnx.AttrRef, or an array of these";
    check(
        Value::from(true),
        &format!(": expected an {one_of}, got bool"),
    );
    check(Value::NONE, &format!(": expected an {one_of}, got None"));
    check(
        Array::from(vec![Value::from(1), Value::from(1.0)]).into(),
        ": element #1: expected the same kind as the elements before it, got float",
    );
    check(
        Value::from(1e300),
        &format!(
            ": expected a float of 32 bits, got {}, which is larger",
            1e300_f64
        ),
    );
    let reference = isoform_onnx::ir::AttrRef { name: "b".into() };
    check(
        Ref::new(reference).into(),
        ": it refers to the attribute 'b', which is not one of an enclosing function",
    );
}

#[test]
fn inputs_belong_to_one_graph() {
    let program = program_of(&plain());
    check(
        &edited(&program, |call| Call {
            inputs: Array::from(vec![Value::from(&named_input("stray", Value::NONE))]),
            ..call
        }),
        "graph 'main' > node #1 (Relu) > input #0: 'stray' is not an input of a graph around it",
    );
    let params = |params: Vec<Ref<Input>>| {
        Ref::new(Program {
            graph: Ref::new(Graph {
                params: params.into(),
                ..program.graph.clone_fields()
            }),
            ..program.clone_fields()
        })
    };
    let own = program.graph.params.get(0).cloned().unwrap();
    check(
        &params(vec![own.clone(), own.clone()]),
        "graph 'main': input #1 'x' is an input of two graphs, or listed twice",
    );
    check(
        &params(vec![own.clone(), named_input("x", Value::NONE)]),
        "graph 'main': two inputs are named 'x', expected a different name for each",
    );
    check(
        &params(vec![own, named_input("y", Value::NONE)]),
        "graph 'main': result #0 'y' has the name of another input or result, expected a different name for each",
    );
}

#[test]
fn a_graph_is_in_one_place() {
    let body = |op: &str| branch(vec![node(op, "x", "t")], "t");
    let proto = model(
        "c x",
        vec![if_node("c", body("Exp"), body("Log"), "y")],
        "y",
    );
    let program = edited(&program_of(&proto), |call| {
        let then = call.body("then_branch").unwrap().unwrap().clone();
        let attrs = ["then_branch", "else_branch"].map(|name| (name.into(), Value::from(&then)));
        Call {
            attrs: attrs.into_iter().collect(),
            ..call
        }
    });
    check(
        &program,
        "graph 'branch': the graph is used in two places, expected a copy for each",
    );
}

#[test]
fn damaged_meta_is_an_error() {
    let program = program_of(&plain());
    let meta = Some(isoform::values::Bytes::from(vec![0xff; 4]));
    let damaged = Ref::new(Program {
        meta,
        ..program.clone_fields()
    });
    let error = SaveOptions::default().to_proto(&damaged).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("meta: expected an encoded message of the file format"),
        "{error}"
    );
}

#[test]
fn graphs_nest_only_as_deep_as_files_can() {
    let mut program = program_of(&plain());
    for _ in 0..50 {
        let inner = program.graph.clone();
        program = edited(&program_of(&plain()), |call| Call {
            domain: "demo".into(),
            version: 1,
            attrs: [("body".into(), Value::from(&inner))].into_iter().collect(),
            ..call
        });
    }
    check(
        &program,
        "graph 'main': graphs are nested more than 40 deep",
    );
}

/// Nodes in a row take no stack, however many there are.
#[test]
fn a_long_chain_is_written() {
    const LENGTH: usize = 100_000;
    let nodes = (0..LENGTH).map(|at| node("Exp", &format!("v{at}"), &format!("v{}", at + 1)));
    let proto = model("v0", nodes.collect(), &format!("v{LENGTH}"));
    let bytes = isoform_onnx::to_bytes(&program_of(&proto)).unwrap();
    assert_eq!(bytes.len(), prost::Message::encoded_len(&proto));
}

#[test]
fn references_without_a_kind_take_that_of_the_operator() {
    let mut proto = model(
        "x",
        vec![node("F", "x", "y").in_domain("demo").with(float("a", 0.5))],
        "y",
    );
    let body =
        vec![node("LeakyRelu", "p", "r").with(ref_attr("alpha", "a", AttributeType::Undefined))];
    let mut function = function("F", "p", body, "r");
    function.attribute = vec!["a".into()];
    proto.functions = vec![function];
    let made = SaveOptions::default()
        .to_proto(&program_of(&proto))
        .unwrap();
    assert_eq!(
        made.functions[0].node[0].attribute[0].r#type(),
        AttributeType::Float
    );
}
