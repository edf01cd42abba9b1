//! Branches, loops and functions.

use super::build::{
    Dims, call, check, fact, graph, int, ints, named_input, op, output, typed_graph, with,
};
use isoform::values::{DType, Tensor};
use isoform::{Array, Map, Ref, Str, Value};
use isoform_onnx::facts::{Analysis, Fact};
use isoform_onnx::ir::{AttrRef, Call, Function, Graph, Input};

fn untyped(name: &str) -> Ref<Input> {
    named_input(name, Value::NONE)
}

fn branches(condition: &Value, yes: Value, no: Value) -> Value {
    let bodies = vec![
        ("then_branch", graph(vec![], vec![yes]).into()),
        ("else_branch", graph(vec![], vec![no]).into()),
    ];
    with("If", &[condition], bodies)
}

#[test]
fn branches_have_in_common_what_is_the_same() {
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 n 3"),
        dims.input("y", "float32 n 4"),
    );
    let c = dims.input("c", "bool");
    let (yes, no) = (
        op("Relu", &[&Value::from(&x)]),
        op("Relu", &[&Value::from(&y)]),
    );
    let both = branches(&Value::from(&c), yes.clone(), no);
    let joined = fact(&[&x, &y, &c], &both);
    let shape = joined.shape.unwrap();
    assert_eq!(shape[0].to_string(), "n");
    assert!(
        shape[1]
            .as_symbol()
            .is_some_and(|symbol| symbol.name() != "n")
    );
    let flat = op("Flatten", &[&Value::from(&y)]);
    let other_rank = op("Unsqueeze", &[&flat, &ints(&[0])]);
    check(
        &[&x, &y, &c],
        &branches(&Value::from(&c), yes, other_rank),
        "float[...]",
    );
}

#[test]
fn a_decided_condition_takes_its_branch() {
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 n 3"),
        dims.input("y", "float32 n 4"),
    );
    let positive = op(
        "Greater",
        &[&op("Size", &[&op("Shape", &[&Value::from(&x)])]), &int(0)],
    );
    let taken = branches(&positive, Value::from(&x), Value::from(&y));
    check(&[&x, &y], &taken, "float[n, 3]");
    let not = op("Not", &[&positive]);
    let taken = branches(&not, Value::from(&x), Value::from(&y));
    check(&[&x, &y], &taken, "float[n, 4]");
}

/// A loop over one value: the trip count, the initial value, and the next value with
/// something to collect, computed from the iteration number and the value.
fn looped(
    count: &Value,
    initial: &Value,
    step: impl FnOnce(&Value, &Value) -> (Value, Value),
) -> (Ref<Call>, Ref<Graph>) {
    let scalar = |elem: DType| {
        Ref::new(isoform_onnx::ir::TensorType {
            elem: elem.into(),
            shape: Some(Array::new()),
        })
    };
    let iteration = named_input("at", scalar(DType::INT64).into());
    let go = named_input("go", scalar(DType::BOOL).into());
    let held = untyped("held");
    let (next, each) = step(&Value::from(&iteration), &Value::from(&held));
    let go_on = op("Identity", &[&Value::from(&go)]);
    let body = graph(vec![iteration, go, held], vec![go_on, next, each]);
    let yes = Tensor::new(DType::BOOL, vec![], vec![1]).unwrap();
    let inputs = vec![count.clone(), yes.into(), initial.clone()];
    let call = call("Loop", inputs, vec![("body", body.clone().into())], 2);
    (call, body)
}

#[test]
fn a_loop_keeps_what_no_iteration_changes() {
    let x = Dims::default().input("x", "float32 n 3");
    let (call, _) = looped(&int(5), &Value::from(&x), |_, held| {
        let next = op("Relu", &[held]);
        (next.clone(), next)
    });
    check(&[&x], &output(&call, 0), "float[n, 3]");
    check(&[&x], &output(&call, 1), "float[5, n, 3]");
}

#[test]
fn a_loop_that_may_stop_early_has_any_number_of_iterations() {
    let x = Dims::default().input("x", "float32 n 3");
    let (call, body) = looped(&int(5), &Value::from(&x), |_, held| {
        (held.clone(), held.clone())
    });
    let with_inputs = |condition: Value, results: Vec<Value>| {
        let stops = Ref::new(Graph {
            results: results.into(),
            ..isoform::Node::clone_fields(&*body)
        });
        let inputs = vec![int(5), condition, Value::from(&x)];
        let attrs = vec![("body", stops.into())];
        let each = fact(
            &[&x],
            &output(&super::build::call("Loop", inputs, attrs, 2), 1),
        );
        each.shape.unwrap()[0].as_const()
    };
    let results = body.results.values().to_vec();
    let yes = call.inputs.values()[1].clone();
    assert_eq!(with_inputs(yes.clone(), results.clone()), Some(5));
    // Runtimes obey the body's condition even if none is given.
    assert_eq!(with_inputs(Value::NONE, results.clone()), None);
    let constant = [vec![yes.clone()], results[1..].to_vec()].concat();
    assert_eq!(with_inputs(Value::NONE, constant), Some(5));
    let go = body.params.iter().nth(1).unwrap();
    let not = op("Not", &[&Value::from(go)]);
    let stopping = [vec![not], results[1..].to_vec()].concat();
    assert_eq!(with_inputs(yes, stopping), None);
}

#[test]
fn a_loop_that_grows_a_tensor_forgets_its_length() {
    let x = Dims::default().input("x", "float32 1 3");
    let (call, body) = looped(&int(5), &Value::from(&x), |_, held| {
        let axis = vec![("axis", Value::from(0))];
        let next = with("Concat", &[held, &Value::from(&x)], axis);
        (next, op("Shape", &[held]))
    });
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph(vec![x.clone()], vec![]));
    analysis.bind_bodies(&call);
    let held = Value::from(body.params.iter().last().unwrap());
    let inside = analysis.fact(&held);
    let [length, width] = inside.shape.as_deref().unwrap() else {
        panic!("{inside}");
    };
    assert!(length.as_symbol().is_some() && width.as_const() == Some(3));
    let after = analysis.fact(&output(&call, 0));
    let last = &after.shape.as_ref().unwrap()[0];
    // The length after the loop differs from the length in an arbitrary iteration.
    assert!(last.as_symbol().is_some() && last != length);
    // Values inside of the body hold in each iteration.
    let next = analysis.fact(&body.results.values()[1]);
    let grown = length.add(&isoform_onnx::facts::Size::from(1));
    assert_eq!(next.shape.as_ref().unwrap()[0], grown.unwrap());
}

#[test]
fn counters_are_symbols_after_the_first_round() {
    let start = int(0);
    let (call, body) = looped(&int(5), &start, |_, held| {
        (op("Add", &[held, &int(2)]), held.clone())
    });
    let mut analysis = Analysis::new();
    analysis.bind_bodies(&call);
    let held = Value::from(body.params.iter().last().unwrap());
    assert_eq!(analysis.fact(&held).elements_const(), None);
    let next = analysis.fact(&body.results.values()[1]).to_string();
    assert!(
        next.starts_with("int64 = _") && next.ends_with(" + 2"),
        "{next}"
    );
    assert_eq!(analysis.fact(&output(&call, 0)).elements_const(), None);
}

#[test]
fn without_an_iteration_extents_are_not_claimed() {
    let mut dims = Dims::default();
    let (x, n) = (dims.input("x", "float32 2"), dims.input("n", "float32 n"));
    let count = op("Size", &[&Value::from(&n)]);
    let (call, _) = looped(&count, &Value::from(&x), |_, held| {
        (held.clone(), held.clone())
    });
    let each = fact(&[&x, &n], &output(&call, 1));
    assert_eq!(each.rank(), Some(2));
    assert_eq!(each.shape.as_ref().unwrap()[0].to_string(), "n");
    assert_eq!(each.dims_const(), None);
}

#[test]
fn scans_slice_and_collect() {
    let x = Dims::default().input("x", "float32 t b 3");
    let state = Dims::default().input("state", "float32 7");
    let (held, slice) = (untyped("held"), untyped("slice"));
    let each = op("Relu", &[&Value::from(&slice)]);
    let next = op("Relu", &[&Value::from(&held)]);
    let body = graph(vec![held, slice], vec![next, each]);
    let attrs = |extra: Vec<(&'static str, Value)>| {
        let mut attrs = vec![
            ("body", body.clone().into()),
            ("num_scan_inputs", Value::from(1)),
        ];
        attrs.extend(extra);
        attrs
    };
    let inputs = vec![Value::from(&state), Value::from(&x)];
    let scan = call("Scan", inputs.clone(), attrs(vec![]), 2);
    check(&[&x, &state], &output(&scan, 0), "float[7]");
    check(&[&x, &state], &output(&scan, 1), "float[t, b, 3]");
    let axes = vec![
        ("scan_input_axes", super::build::list(&[1])),
        ("scan_output_axes", super::build::list(&[-1])),
    ];
    let scan = call("Scan", inputs, attrs(axes), 2);
    check(&[&x, &state], &output(&scan, 1), "float[t, 3, b]");
}

fn function(params: Vec<Ref<Input>>, results: Vec<Value>) -> Ref<Function> {
    Ref::new(Function {
        params: params.into(),
        attrs: vec![Str::from("to")].into(),
        attr_defaults: Map::new(),
        results: results.into(),
        name: "demo.f".into(),
        result_names: Array::new(),
        doc: Str::default(),
        meta: None,
    })
}

fn call_function(function: &Ref<Function>, inputs: Vec<Value>, attrs: Vec<(&str, Value)>) -> Value {
    let plain = call("", inputs, attrs, function.results.values().len() as i64);
    let fields = isoform::Node::clone_fields(&*plain);
    output(
        &Ref::new(Call {
            callee: Some(function.clone()),
            version: 0,
            ..fields
        }),
        0,
    )
}

#[test]
fn functions_are_followed_for_each_call() {
    let x = untyped("x");
    let to = Ref::new(AttrRef { name: "to".into() });
    let body = with(
        "Cast",
        &[&op("Shape", &[&Value::from(&x)])],
        vec![("to", to.into())],
    );
    let function = function(vec![x], vec![body]);
    let mut dims = Dims::default();
    let (a, b) = (dims.input("a", "float32 n 3"), dims.input("b", "float32 m"));
    let to = |code: i64| vec![("to", Value::from(code))];
    let first = call_function(&function, vec![Value::from(&a)], to(7));
    let second = call_function(&function, vec![Value::from(&b)], to(6));
    check(&[&a, &b], &first, "int64[2] = (n, 3)");
    check(&[&a, &b], &second, "int32[1] = (m)");
}

#[test]
fn functions_that_call_functions_twice_take_bounded_work() {
    let x = untyped("x");
    let mut inner = function(vec![x.clone()], vec![op("Relu", &[&Value::from(&x)])]);
    for _ in 0..60 {
        let x = untyped("x");
        let once = call_function(&inner, vec![Value::from(&x)], vec![]);
        let twice = call_function(&inner, vec![once], vec![]);
        inner = function(vec![x], vec![twice]);
    }
    let input = Dims::default().input("x", "float32 n");
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph(vec![input.clone()], vec![]));
    let value = call_function(&inner, vec![Value::from(&input)], vec![]);
    let _ = analysis.fact(&value);
    assert!(analysis.visits() < 1 << 20, "{}", analysis.visits());
}

#[test]
fn a_body_of_two_calls_holds_for_both() {
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 2 3"),
        dims.input("y", "float32 5 3"),
    );
    let (first, body) = looped(&int(5), &Value::from(&x), |_, held| {
        (held.clone(), held.clone())
    });
    let attrs = vec![("body", body.clone().into())];
    let second = call("Loop", vec![int(5), Value::NONE, Value::from(&y)], attrs, 2);
    let mut analysis = Analysis::new();
    analysis.enter_graph(&typed_graph(vec![x, y], vec![], vec![]));
    assert_eq!(analysis.fact(&output(&first, 0)).to_string(), "float[2, 3]");
    analysis.bind_bodies(&second);
    let held = analysis.fact(&Value::from(body.params.iter().last().unwrap()));
    let held: &Fact = &held;
    let shape = held.shape.as_ref().unwrap();
    assert_eq!((shape[0].as_const(), shape[1].as_const()), (None, Some(3)));
}

/// A loop with an inner loop in its body, both carrying the first value; a call in the
/// innermost body.
fn nested(first: &Value) -> (Ref<Call>, Value) {
    let mut inside = None;
    let (call, _) = looped(&int(5), first, |_, held| {
        let (inner, _) = looped(&int(5), held, |_, held| {
            inside = Some(op("Abs", &[held]));
            (op("Relu", &[held]), held.clone())
        });
        (output(&inner, 0), held.clone())
    });
    (call, inside.unwrap())
}

#[test]
fn facts_inside_of_a_body_hold_for_all_its_calls() {
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 2 3"),
        dims.input("y", "float32 4 3"),
    );
    let (first, inside) = nested(&Value::from(&x));
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph(vec![x.clone(), y.clone()], vec![]));
    analysis.bind_bodies(&first);
    assert_eq!(analysis.fact(&inside).to_string(), "float[2, 3]");
    // Asked for after the loops were closed, and known before the second call comes.
    let later = op("Neg", &[&inside]);
    assert_eq!(analysis.fact(&later).to_string(), "float[2, 3]");
    let (_, body) = first.attrs.iter().next().unwrap();
    let inputs = vec![int(5), Value::NONE, Value::from(&y)];
    let second = call("Loop", inputs, vec![("body", body.clone())], first.outputs);
    analysis.bind_bodies(&second);
    for value in [&inside, &later] {
        let fact = analysis.fact(value);
        let [length, width] = fact.shape.as_deref().unwrap() else {
            panic!("{fact}");
        };
        assert!(length.as_const().is_none(), "{fact}");
        assert_eq!(width.as_const(), Some(3));
    }
    // Facts outside of the body come from the first call alone.
    assert_eq!(analysis.fact(&output(&first, 0)).to_string(), "float[2, 3]");
}
