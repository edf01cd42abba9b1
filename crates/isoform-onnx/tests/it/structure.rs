//! Bodies inside nodes, and the structure of a program.

use isoform::paths::AccessPath;
use isoform::values::{DType, Tensor};
use isoform::{Array, Ref, Value};
use isoform_onnx::{
    ir::{
        AttrRef, Call, Dim, Graph, Input, MapType, OptionalType, Output, SequenceType, TensorType,
    },
    proto::{
        GraphProto, MapTypeProto, ModelProto, NodeProto, OptionalTypeProto, SequenceTypeProto,
        TypeProto, TypeValue,
    },
};

use crate::build::*;

fn branch(nodes: Vec<NodeProto>, output: &str) -> GraphProto {
    GraphProto {
        name: "branch".into(),
        ..graph("", nodes, output)
    }
}

fn if_node(condition: &str, then: GraphProto, other: GraphProto, output: &str) -> NodeProto {
    node("If", condition, output)
        .with(graph_attr("then_branch", then))
        .with(graph_attr("else_branch", other))
}

/// An If whose branches use outer values.
fn conditional(names: [&str; 4]) -> ModelProto {
    let [outer, inner, other, result] = names;
    let then = branch(vec![node("Exp", outer, inner)], inner);
    let otherwise = branch(vec![node("Add", &format!("{outer} x"), other)], other);
    model(
        "c x",
        vec![
            if_node("c", then, otherwise, result),
            node("Neg", "x", outer),
            node("Mul", &format!("{result} {outer}"), "y"),
        ],
        "y",
    )
}

#[test]
fn bodies_use_outer_values_whatever_the_order_and_names() {
    let base = conditional(["o", "i", "e", "r"]);
    check_same(&base, &conditional(["p", "q", "s", "t"]));
    // Both branches may use the same names for their values.
    check_same(&base, &conditional(["o", "i", "i", "r"]));
    // A value inside a branch may have the same name as the output of the If outside.
    check_same(&base, &conditional(["o", "r", "r", "r"]));
    let mut reversed = base.clone();
    reversed.graph.as_mut().unwrap().node.reverse();
    check_same(&base, &reversed);
}

#[test]
fn bodies_share_outer_values() {
    let base = conditional(["o", "i", "e", "r"]);
    let mut other = base.clone();
    let graph = other.graph.as_mut().unwrap();
    graph.node.push(node("Neg", "x", "o2"));
    graph.node[2].input[1] = "o2".into();
    let place = "node #1 (Neg) producing 'o' in graph 'main'";
    check_differ(&base, &other, place);
}

#[test]
fn the_program_of_an_if_has_the_expected_form() {
    let model = load(&conditional(["o", "i", "e", "r"]));
    let graph = &model.program().graph;
    let result = graph
        .results
        .get(0)
        .and_then(Value::peek::<Ref<Output>>)
        .unwrap();
    assert_eq!(result.call.op, "Mul");
    assert_eq!(result.call.version, 17);
    let outer = result
        .call
        .inputs
        .get(1)
        .and_then(Value::peek::<Ref<Output>>)
        .unwrap();
    let if_call = result
        .call
        .inputs
        .get(0)
        .and_then(Value::peek::<Ref<Output>>)
        .unwrap();
    let body = if_call.call.attrs.get("then_branch");
    let body = body.and_then(Value::peek::<Ref<Graph>>).unwrap();
    let inner = body
        .results
        .get(0)
        .and_then(Value::peek::<Ref<Output>>)
        .unwrap();
    let used = inner
        .call
        .inputs
        .get(0)
        .and_then(Value::peek::<Ref<Output>>)
        .unwrap();
    assert!(used.call.same_as(&outer.call));
    let counts = model.counts();
    assert_eq!((counts.nodes, counts.dropped), (5, 0));
}

#[test]
fn places_inside_bodies_have_names() {
    let model = load(&conditional(["o", "i", "e", "r"]));
    let body = AccessPath::root()
        .attr("graph")
        .attr("results")
        .array_item(0)
        .attr("call")
        .attr("inputs")
        .array_item(0)
        .attr("call")
        .attr("attrs")
        .map_item("else_branch")
        .attr("results")
        .array_item(0);
    let shown = |path: &AccessPath| model.node_at(path).unwrap().to_string();
    assert_eq!(shown(&body), "output 'e' of graph 'branch'");
    let add = body.attr("call").attr("op");
    assert_eq!(shown(&add), "node #0 (Add) producing 'e' in graph 'branch'");
    let outer = body.attr("call").attr("inputs").array_item(0).attr("call");
    assert_eq!(shown(&outer), "node #1 (Neg) producing 'o' in graph 'main'");
    let x = body.attr("call").attr("inputs").array_item(1);
    assert_eq!(shown(&x), "input 'x' of graph 'main'");
    assert_eq!(model.node_at(&AccessPath::root()), None);
}

/// A Loop whose body has parameters and uses an outer value.
fn counting(names: [&str; 4], order: [usize; 2], used: &str) -> ModelProto {
    let [i, cond, state, next] = names;
    let nodes = [
        node("Add", &format!("{state} {used}"), next),
        node("Identity", cond, "stay"),
    ];
    let body = GraphProto {
        input: vec![untyped(i), untyped(cond), value(state, "n")],
        output: vec![untyped("stay"), value(next, "n")],
        ..branch(order.iter().map(|&at| nodes[at].clone()).collect(), "")
    };
    let mut graph = graph(
        "n c x",
        vec![node("Loop", "n c x", "y").with(graph_attr("body", body))],
        "y",
    );
    graph.input[2] = value("x", "n");
    model_of(graph)
}

#[test]
fn loop_bodies_have_variables_of_their_own() {
    let base = counting(["i", "b", "s", "t"], [0, 1], "x");
    check_same(&base, &counting(["j", "cc", "q", "r"], [1, 0], "x"));
    // An inner name may equal the name of an outer value that the body does not use.
    check_same(&base, &counting(["n", "c", "s", "t"], [0, 1], "x"));
    let place = "input 'x' of graph 'main'";
    check_differ(&base, &counting(["i", "b", "s", "t"], [0, 1], "s"), place);
}

#[test]
fn nodes_that_only_dropped_nodes_need_are_dropped() {
    let dead_body = branch(vec![node("Exp", "a", "i"), node("Exp", "b", "unused")], "i");
    let live_body = branch(vec![node("Log", "x", "j"), node("Exp", "b", "unused")], "j");
    let base = model(
        "c x",
        vec![
            node("Neg", "x", "a"),
            // Only an unused node of a needed body reads this one.
            node("Neg", "x", "b"),
            if_node("c", dead_body.clone(), dead_body, "dead"),
            if_node("c", live_body.clone(), live_body, "y"),
        ],
        "y",
    );
    let counts = load(&base).counts();
    assert_eq!((counts.nodes, counts.dropped), (4 + 8, 3 + 4 + 2));
}

#[test]
fn results_may_be_inputs_constants_and_outer_values() {
    let mut base = model("x", vec![], "x w");
    base.graph.as_mut().unwrap().initializer = vec![tensor("w", &[1.0])];
    let program = load(&base);
    let results = &program.program().graph.results;
    assert!(results.get(0).and_then(Value::peek::<Ref<Input>>).is_some());
    let weight = results.get(1).and_then(Value::peek::<Tensor>).unwrap();
    assert_eq!((weight.dtype(), weight.shape()), (DType::FLOAT32, &[1][..]));
    check_same(&base, &base);
    let through = if_node("x", branch(vec![], "x"), branch(vec![], "x"), "y");
    check_same(
        &model("x", vec![through.clone()], "y"),
        &model("x", vec![through], "y"),
    );
}

#[test]
fn types_have_the_expected_form() {
    let sequence = TypeProto {
        value: Some(TypeValue::SequenceType(Box::new(SequenceTypeProto {
            elem_type: Some(tensor_type("n 3 ?")),
        }))),
        ..Default::default()
    };
    let map = TypeProto {
        value: Some(TypeValue::MapType(Box::new(MapTypeProto {
            key_type: 8,
            value_type: Some(sequence),
        }))),
        ..Default::default()
    };
    let optional = TypeProto {
        value: Some(TypeValue::OptionalType(Box::new(OptionalTypeProto {
            elem_type: Some(map),
        }))),
        denotation: "dropped".into(),
    };
    let mut base = model("x", vec![], "x");
    base.graph.as_mut().unwrap().input[0].r#type = Some(optional);
    let model = load(&base);
    let input = model.program().graph.params.get(0).unwrap().clone();
    let optional = input.ty.extract::<Ref<OptionalType>>().unwrap();
    let map = optional.elem.extract::<Ref<MapType>>().unwrap();
    assert_eq!(map.key.as_str(), Some("string"));
    let sequence = map.value.extract::<Ref<SequenceType>>().unwrap();
    let tensor = sequence.elem.extract::<Ref<TensorType>>().unwrap();
    assert_eq!(tensor.elem.as_dtype(), Some(DType::FLOAT32));
    let shape: &Array = tensor.shape.as_ref().unwrap();
    assert!(shape.get(0).and_then(Value::peek::<Ref<Dim>>).is_some());
    assert_eq!(shape.get(1).and_then(Value::as_int), Some(3));
    assert!(shape.get(2).is_some_and(Value::is_none));
}

#[test]
fn types_in_attributes_know_the_dimensions_of_the_graph() {
    let with = |input: &str, attr: &str| {
        let op = node("Optional", "", "y").with(type_attr("type", tensor_type(attr)));
        let mut model = model("x", vec![op], "y");
        model.graph.as_mut().unwrap().input[0] = value("x", input);
        model
    };
    check_same(&with("n", "n k"), &with("m", "m l"));
    let place = "node #0 (Optional) producing 'y' in graph 'main'";
    check_differ(&with("n", "n k"), &with("n", "l k"), place);
    check_differ(&with("n", "n k"), &with("n", "n n"), place);
}

#[test]
fn the_attributes_of_gradient_name_values() {
    let gradient = |xs: &str, y: &str| {
        node("Gradient", "a", "g")
            .in_domain("ai.onnx.preview.training")
            .with(strings("xs", &[xs]))
            .with(string("y", y.as_bytes()))
    };
    let with = |name: &str, xs: &str| {
        let nodes = vec![gradient(xs, name), node("Exp", "a", name)];
        let mut model = model("a b", nodes, "g");
        model
            .opset_import
            .push(opset("ai.onnx.preview.training", 1));
        model
    };
    assert_eq!(load(&with("e", "a")).counts().dropped, 0);
    check_same(&with("e", "a"), &with("f", "a"));
    check_differ(
        &with("e", "a"),
        &with("e", "b"),
        "input 'a' of graph 'main'",
    );
}

#[test]
fn deep_graphs_do_not_use_the_stack() {
    let count = 100_000;
    let nodes = (0..count).map(|at| node("Exp", &format!("v{at}"), &format!("v{}", at + 1)));
    let mut base = model("v0", nodes.rev().collect(), &format!("v{count}"));
    let forward = load(&base);
    base.graph.as_mut().unwrap().node.reverse();
    let backward = load(&base);
    assert!(isoform::structural_equal(forward.to_value(), backward.to_value()).unwrap());
    assert_eq!(forward.counts().nodes, count);
}

#[test]
fn constants_from_function_attributes_stay_calls() {
    let constant = node("Constant", "", "k").with(ref_attr(
        "value",
        "v",
        isoform_onnx::proto::AttributeType::Tensor,
    ));
    let mut function = function("F", "a", vec![constant, node("Add", "a k", "b")], "b");
    function.attribute = vec!["v".into()];
    let call = node("F", "x", "y")
        .in_domain("demo")
        .with(tensor_attr("v", tensor("", &[1.0])));
    let mut base = model("x", vec![call], "y");
    base.functions = vec![function];
    let model = load(&base);
    let result = model.program().graph.results.get(0).cloned().unwrap();
    let callee = result
        .extract::<Ref<Output>>()
        .unwrap()
        .call
        .callee
        .clone()
        .unwrap();
    let add = callee
        .results
        .get(0)
        .unwrap()
        .extract::<Ref<Output>>()
        .unwrap();
    let constant = add
        .call
        .inputs
        .get(1)
        .unwrap()
        .extract::<Ref<Output>>()
        .unwrap();
    let constant: &Ref<Call> = &constant.call;
    let value = constant.attrs.get("value").unwrap();
    assert_eq!(value.extract::<Ref<AttrRef>>().unwrap().name, "v");
}
