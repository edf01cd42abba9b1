//! Refused models, and their error messages.

use isoform::errors::ErrorKind;
use isoform_onnx::{
    ExternalResolver, import,
    proto::{AttributeProto, AttributeType, GraphProto, ModelProto, NodeProto},
};

use crate::build::*;

#[track_caller]
fn check(model: &ModelProto, kind: ErrorKind, expected: &str) {
    match import(model, &ExternalResolver::none()) {
        Ok(_) => panic!("expected an error: {expected}"),
        Err(error) => {
            assert_eq!(error.message(), expected);
            assert_eq!(error.kind(), kind);
        }
    }
}

#[track_caller]
fn check_value(model: &ModelProto, expected: &str) {
    check(model, ErrorKind::Value, expected);
}

#[track_caller]
fn check_key(model: &ModelProto, expected: &str) {
    check(model, ErrorKind::Key, expected);
}

/// Changes a small valid model.
fn changed(change: impl FnOnce(&mut GraphProto)) -> ModelProto {
    let named = NodeProto {
        name: "n".into(),
        ..node("Exp", "x", "a")
    };
    let mut base = model("x", vec![named, node("Add", "a w", "y")], "y");
    let graph = base.graph.as_mut().unwrap();
    graph.initializer = vec![tensor("w", &[1.0])];
    change(graph);
    base
}

#[test]
fn cycles() {
    check_value(
        &changed(|graph| graph.node[0].input[0] = "y".into()),
        "graph 'main': the graph is cyclic: node #1 (Add) > node 'n' (Exp) > the first again",
    );
    check_value(
        &changed(|graph| graph.node[0].input[0] = "a".into()),
        "graph 'main': the graph is cyclic: node 'n' (Exp) > the first again",
    );
    // A body that depends on the result of the enclosing node.
    check_value(
        &changed(|graph| {
            let body = graph_attr("b", crate::build::graph("", vec![], "y"));
            graph.node[0].attribute.push(body);
        }),
        "graph 'main': the graph is cyclic: node #1 (Add) > node 'n' (Exp) > the first again",
    );
}

#[test]
fn names_that_nothing_defines() {
    check_key(
        &changed(|graph| graph.node[0].input[0] = "z".into()),
        "graph 'main' > node 'n' (Exp) > input #0: nothing defines the value 'z'",
    );
    check_key(
        &changed(|graph| graph.output[0].name = "z".into()),
        "graph 'main' > output 'z': nothing defines the value 'z'",
    );
    check_key(
        &changed(|graph| {
            let inner = crate::build::graph("", vec![node("Exp", "z", "q")], "q");
            graph.node[0].attribute.push(graph_attr("body", inner));
        }),
        "graph 'main' > node 'n' (Exp) > attribute 'body' > graph 'main' > node #0 (Exp) > \
         input #0: nothing defines the value 'z'",
    );
}

#[test]
fn names_that_are_defined_twice() {
    check_value(
        &changed(|graph| graph.node[1].output.push("a".into())),
        "graph 'main' > node #1 (Add): output 'a' is defined twice",
    );
    check_value(
        &changed(|graph| graph.node[0].output[0] = "w".into()),
        "graph 'main' > node 'n' (Exp): output 'w' is defined twice",
    );
    check_value(
        &changed(|graph| graph.initializer.push(tensor("w", &[2.0]))),
        "graph 'main': initializer 'w' is defined twice",
    );
    check_value(
        &changed(|graph| graph.input.push(untyped("x"))),
        "graph 'main': input 'x' is defined twice",
    );
    check_value(
        &changed(|graph| {
            graph.input.push(untyped("w"));
            graph.initializer.push(tensor("w", &[2.0]));
        }),
        "graph 'main': initializer 'w' is defined twice",
    );
}

#[test]
fn names_that_are_missing() {
    check_value(
        &changed(|graph| graph.output[0].name.clear()),
        "graph 'main': output #0 has no name",
    );
    check_value(
        &changed(|graph| graph.input[0].name.clear()),
        "graph 'main': input has no name",
    );
    check_value(
        &changed(|graph| graph.initializer[0].name.clear()),
        "graph 'main': initializer has no name",
    );
    check_value(
        &changed(|graph| graph.node[0].op_type.clear()),
        "graph 'main' > node 'n' (): the node names no operator",
    );
}

#[test]
fn names_that_mean_two_things() {
    // Outside, 'x' is an input; inside, 'x' is made after its use.
    let inner = vec![node("Exp", "x", "i"), node("Log", "i", "x")];
    check_value(
        &changed(|graph| {
            let body = crate::build::graph("", inner, "x");
            graph.node[0].attribute.push(graph_attr("body", body));
        }),
        "graph 'main' > node 'n' (Exp) > attribute 'body' > graph 'main' > node #0 (Exp) > \
         input #0: 'x' is used before it is defined here, and is defined outside too",
    );
}

#[test]
fn attributes() {
    let with = |attr: AttributeProto| changed(|graph| graph.node[0].attribute.push(attr));
    let place = "graph 'main' > node 'n' (Exp) > attribute 'k'";
    let bad = |attr: AttributeProto, kind, message: &str| {
        let separator = if message.starts_with("tensor") {
            " > "
        } else {
            ": "
        };
        check(&with(attr), kind, &format!("{place}{separator}{message}"));
    };
    let of = |kind: AttributeType| AttributeProto {
        name: "k".into(),
        r#type: kind.into(),
        ..Default::default()
    };
    bad(
        AttributeProto {
            r#type: 99,
            ..int("k", 1)
        },
        ErrorKind::Value,
        "99 is not a kind of attribute",
    );
    bad(
        of(AttributeType::Undefined),
        ErrorKind::Value,
        "neither a kind nor a value is given",
    );
    bad(
        of(AttributeType::Graph),
        ErrorKind::Key,
        "the value in g is missing",
    );
    bad(
        of(AttributeType::Tensor),
        ErrorKind::Key,
        "the value in t is missing",
    );
    bad(
        AttributeProto {
            r#type: AttributeType::Float.into(),
            ..int("k", 1)
        },
        ErrorKind::Value,
        "expected the value in f, got i",
    );
    bad(
        AttributeProto {
            floats: vec![1.0],
            ..int("k", 1)
        },
        ErrorKind::Value,
        "expected one value, got both i and floats",
    );
    bad(
        ref_attr("k", "outer", AttributeType::Int),
        ErrorKind::Value,
        "it refers to the attribute 'outer' of a function, but is not in a function",
    );
    bad(
        tensor_attr(
            "k",
            isoform_onnx::proto::TensorProto {
                dims: vec![3],
                ..tensor("t", &[1.0])
            },
        ),
        ErrorKind::Value,
        "tensor 't': expected 3 entries of float_data for the shape and type float, got 1",
    );
}

#[test]
fn attributes_that_are_given_twice() {
    check_value(
        &changed(|graph| graph.node[0].attribute = vec![int("k", 1), float("k", 1.0)]),
        "graph 'main' > node 'n' (Exp) > attribute 'k': it is given twice",
    );
    check_value(
        &changed(|graph| graph.node[0].attribute = vec![int("", 1)]),
        "graph 'main' > node 'n' (Exp): attribute #0 has no name",
    );
}

#[test]
fn tensors() {
    check_value(
        &changed(|graph| graph.initializer[0].dims = vec![2]),
        "graph 'main' > initializer > tensor 'w': expected 2 entries of float_data for the \
         shape and type float, got 1",
    );
    check_value(
        &changed(|graph| graph.input[0] = value("x", "1")).tap(|model| {
            let input = &mut model.graph.as_mut().unwrap().input[0];
            if let Some(isoform_onnx::proto::TypeValue::TensorType(ty)) =
                input.r#type.as_mut().and_then(|ty| ty.value.as_mut())
            {
                ty.elem_type = 77;
            }
        }),
        "graph 'main' > input 'x': 77 is not an element type",
    );
}

trait Tap {
    fn tap(self, change: impl FnOnce(&mut Self)) -> Self;
}

impl Tap for ModelProto {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

#[test]
fn operator_sets() {
    check_key(
        &changed(|graph| graph.node[1].domain = "other".into()),
        "graph 'main' > node #1 (Add): the operator set 'other' is not imported",
    );
    check_value(
        &changed(|_| {}).tap(|model| model.opset_import.push(opset("ai.onnx", 18))),
        "operator set '' is imported in versions 17 and 18",
    );
}

#[test]
fn functions() {
    let call = |name: &str| node(name, "p", "q").in_domain("demo");
    let with = |functions: Vec<_>| {
        let mut base = model("p", vec![call("F")], "q");
        base.functions = functions;
        base
    };
    check_value(
        &with(vec![
            function("F", "p", vec![call("G")], "q"),
            function("G", "p", vec![call("F")], "q"),
        ]),
        "function 'demo.F': functions call one another in a circle: F > G > F",
    );
    check_value(
        &with(vec![
            function("F", "p", vec![], "p"),
            function("F", "p", vec![], "p"),
        ]),
        "function 'demo.F': it is defined twice",
    );
    check_value(
        &with(vec![function("F", "p p", vec![], "p")]),
        "function 'demo.F': input 'p' is defined twice",
    );
    check_key(
        &with(vec![function("F", "p", vec![], "r")]),
        "function 'demo.F' > output 'r': nothing defines the value 'r'",
    );
    check_value(
        &with(vec![function("F", "", vec![node("Op", "", "r")], "r")]),
        "graph 'main' > node #0 (F): expected at most 0 inputs, as the function has, got 1",
    );
    check_value(
        &with(vec![function("F", "p", vec![], "")]),
        "graph 'main' > node #0 (F): expected at most 0 outputs, as the function has, got 1",
    );
    let reference = node("Op", "p", "q").with(ref_attr("k", "z", AttributeType::Int));
    check_key(
        &with(vec![function("F", "p", vec![reference], "q")]),
        "function 'demo.F' > node #0 (Op) > attribute 'k': the function has no attribute 'z'",
    );
    let mut both = ref_attr("k", "z", AttributeType::Int);
    both.i = Some(3);
    let mut takes = function("F", "p", vec![node("Op", "p", "q").with(both)], "q");
    takes.attribute = vec!["z".into()];
    check_value(
        &with(vec![takes]),
        "function 'demo.F' > node #0 (Op) > attribute 'k': both i and a reference to 'z' are \
         given",
    );
}

#[test]
fn nesting() {
    let mut inner = graph("", vec![node("Op", "", "y")], "y");
    for _ in 0..60 {
        inner = graph(
            "",
            vec![node("If", "", "y").with(graph_attr("b", inner))],
            "y",
        );
    }
    let error = import(&model_of(inner), &ExternalResolver::none());
    let error = error.unwrap_err();
    assert!(
        error
            .message()
            .ends_with("graphs are nested more than 40 deep")
    );
}

#[test]
fn missing_graph() {
    check_key(&ModelProto::default(), "the model has no graph");
}
