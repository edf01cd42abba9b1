//! Local functions.

use isoform_onnx::proto::{FunctionProto, ModelProto};

use crate::build::*;

fn double(name: &str, input: &str) -> FunctionProto {
    let nodes = vec![node("Exp", input, "e"), node("Add", "e e", "d")];
    function(name, input, nodes, "d")
}

fn calling(name: &str) -> ModelProto {
    let mut model = model(
        "x",
        vec![
            node(name, "x", "a").in_domain("demo"),
            node(name, "a", "y").in_domain("demo"),
        ],
        "y",
    );
    model.functions = vec![double(name, "p")];
    model
}

#[test]
fn names_of_functions_and_of_their_values_do_not_matter() {
    let mut other = calling("Twice");
    other.functions = vec![double("Twice", "q")];
    other.functions[0].node.reverse();
    other.functions[0].doc_string = "doc".into();
    other.functions[0].value_info = vec![value("e", "1")];
    check_same(&calling("Double"), &other);
    // The domain and the overload are part of the name.
    for node in &mut other.graph.as_mut().unwrap().node {
        node.domain = "elsewhere".into();
        node.overload = "two".into();
    }
    other.functions[0].domain = "elsewhere".into();
    other.functions[0].overload = "two".into();
    check_same(&calling("Double"), &other);
}

#[test]
fn bodies_of_functions_matter() {
    let mut other = calling("Double");
    other.functions[0].node[0].op_type = "Log".into();
    check_differ(
        &calling("Double"),
        &other,
        "node #0 (Exp) producing 'e' in function 'demo.Double'",
    );
}

/// As with nodes, a function called twice differs from two equal functions.
#[test]
fn sharing_of_functions_matters() {
    let mut other = calling("Double");
    other.graph.as_mut().unwrap().node[1].op_type = "Again".into();
    other.functions.push(double("Again", "z"));
    let place = "node #1 (Add) producing 'd' in function 'demo.Double'";
    check_differ(&calling("Double"), &other, place);
    assert_eq!(load(&other).counts().functions, 2);
}

#[test]
fn functions_nobody_calls_do_not_matter() {
    let mut other = calling("Double");
    other.functions.push(double("Unused", "z"));
    check_same(&calling("Double"), &other);
    let counts = load(&other).counts();
    assert_eq!((counts.functions, counts.nodes, counts.dropped), (1, 6, 2));
}

#[test]
fn the_order_of_functions_does_not_matter() {
    let mut base = calling("Double");
    let inner = node("Double", "p", "m").in_domain("demo");
    let outer = node("Double", "m", "d").in_domain("demo");
    base.functions
        .push(function("Four", "p", vec![inner, outer], "d"));
    for node in &mut base.graph.as_mut().unwrap().node {
        node.op_type = "Four".into();
    }
    let mut other = base.clone();
    other.functions.reverse();
    check_same(&base, &other);
    assert_eq!(load(&base).counts().functions, 2);
}

#[test]
fn versions_are_those_of_the_function() {
    let mut other = calling("Double");
    // The imports of the model for its nodes do not matter to the function.
    other.opset_import[0].version = 18;
    check_same(&calling("Double"), &other);
    other.functions[0].opset_import[0].version = 18;
    let place = "node #1 (Add) producing 'd' in function 'demo.Double'";
    check_differ(&calling("Double"), &other, place);
}

#[test]
fn attributes_and_their_defaults_matter() {
    let with = |required: &[&str], default: i64| {
        let mut model = calling("Double");
        model.functions[0].attribute = required.iter().map(|&name| name.into()).collect();
        model.functions[0].attribute_proto = vec![int("k", default)];
        model
    };
    check_same(&with(&["a", "b"], 1), &with(&["b", "a"], 1));
    let place = "node #1 (demo.Double) producing 'y' in graph 'main'";
    check_differ(&with(&["a"], 1), &with(&["b"], 1), place);
    check_differ(&with(&["a"], 1), &with(&["a"], 2), place);
}

#[test]
fn results_of_functions_that_nobody_asks_for_do_not_matter() {
    let with = |outputs: &str| {
        let mut model = model("x", vec![node("Two", "x", outputs).in_domain("demo")], "y");
        let nodes = vec![node("Exp", "p", "e"), node("Log", "p", "l")];
        model.functions = vec![function("Two", "p", nodes, "e l")];
        model
    };
    check_same(&with("y"), &with("y z"));
}

#[test]
fn a_function_hides_an_operator_of_the_same_name() {
    let mut other = calling("Double");
    other.functions.clear();
    check_differ(
        &calling("Double"),
        &other,
        "node #1 (demo.Double) producing 'y' in graph 'main'",
    );
}

/// Sixty functions; every function calls the function below twice.
#[test]
fn functions_are_compared_once_however_often_they_are_called() {
    let with = |name: &str| {
        let mut functions = vec![double(&format!("{name}0"), "p")];
        for level in 1..60 {
            let below = format!("{name}{}", level - 1);
            let nodes = vec![
                node(&below, "p", "m").in_domain("demo"),
                node(&below, "m", "q").in_domain("demo"),
            ];
            functions.push(function(&format!("{name}{level}"), "p", nodes, "q"));
        }
        let top = node(&format!("{name}59"), "x", "y").in_domain("demo");
        let mut model = model("x", vec![top], "y");
        model.functions = functions;
        model
    };
    check_same(&with("F"), &with("G"));
    let model = load(&with("F")).to_value();
    isoform::structural_equal(&model, load(&with("H")).to_value()).unwrap();
    let visits = isoform::compare::last_visit_count();
    assert!(visits < 10_000, "{visits} visits");
}
