//! Whole programs.

use std::cell::Cell;

use isoform::{Array, Map, Node as _, Ref, Str, Value};
use isoform_onnx::eval::{Control, run};
use isoform_onnx::ir::{AttrRef, Call, Function, Input, Output, Program};
use isoform_testing::source::scaled;

use crate::eval::{call, floats, ints, output, tensor, truths};
use crate::parts::{self, graph, named_input};

fn input(name: &str, default: Value) -> Ref<Input> {
    let fields = named_input(name, Value::NONE).clone_fields();
    Ref::new(Input { default, ..fields })
}

fn program(params: impl Into<Array<Ref<Input>>>, results: impl Into<Array<Value>>) -> Ref<Program> {
    parts::program(graph(params, results))
}

/// The results for values of all inputs, in their order.
fn results(program: &Program, inputs: &[Value]) -> Vec<Value> {
    let inputs: Vec<(String, Value)> = inputs
        .iter()
        .map(|value| (String::new(), value.clone()))
        .collect();
    run(program, &inputs, &Control::default()).unwrap()
}

#[track_caller]
fn same(got: &Value, expected: &Value) {
    let (got, expected) = (tensor(got), tensor(expected));
    assert_eq!(got.dtype(), expected.dtype());
    assert_eq!(got.shape(), expected.shape());
    assert_eq!(got.data(), expected.data());
}

#[test]
fn a_million_calls_in_a_row() {
    let x = input("x", Value::NONE);
    let mut value = Value::from(&x);
    for _ in 0..scaled(1_000_000) {
        value = output(&call("Neg", 13, &[], &[value], 1));
    }
    let made = results(&program([x], [value]), &[ints(&[], &[5])]);
    same(&made[0], &ints(&[], &[5]));
}

#[test]
fn each_call_is_computed_once() {
    let x = input("x", Value::NONE);
    let mut value = Value::from(&x);
    for _ in 0..50 {
        value = output(&call("Add", 14, &[], &[value.clone(), value], 1));
    }
    let steps = Cell::new(0);
    let count = || {
        steps.set(steps.get() + 1);
        false
    };
    let control = Control {
        interrupted: Some(&count),
        ..Control::default()
    };
    let inputs = [("x".to_owned(), ints(&[], &[1]))];
    let made = run(&program([x], [value]), &inputs, &control).unwrap();
    same(&made[0], &ints(&[], &[1 << 50]));
    // Once for each call, and once for the graph.
    assert_eq!(steps.get(), 51);
}

#[test]
fn only_the_taken_branch_is_computed() {
    let (x, condition) = (input("x", Value::NONE), input("c", Value::NONE));
    let zero = ints(&[], &[0]);
    let fails = output(&call("Div", 14, &[], &[Value::from(&x), zero], 1));
    let works = output(&call("Neg", 13, &[], &[Value::from(&x)], 1));
    let attrs = [
        ("then_branch", Value::from(graph([], [works]))),
        ("else_branch", Value::from(graph([], [fails]))),
    ];
    let choice = output(&call("If", 13, &attrs, &[Value::from(&condition)], 1));
    let program = program([x, condition], [choice]);
    let made = results(&program, &[ints(&[], &[3]), truths(&[], &[true])]);
    same(&made[0], &ints(&[], &[-3]));
    let inputs = [ints(&[], &[3]), truths(&[], &[false])].map(|value| (String::new(), value));
    let error = run(&program, &inputs, &Control::default()).unwrap_err();
    assert!(error.to_string().starts_with("node Div ''"), "{error}");
    assert!(error.to_string().contains("divisor"), "{error}");
}

#[test]
fn loops_carry_and_collect() {
    let trips = input("n", Value::NONE);
    let step = input("step", Value::NONE);
    let (i, c, sum) = (
        input("i", Value::NONE),
        input("c", Value::NONE),
        input("sum", Value::NONE),
    );
    let next = output(&call(
        "Add",
        14,
        &[],
        &[Value::from(&sum), Value::from(&step)],
        1,
    ));
    let keep = output(&call("Identity", 13, &[], &[Value::from(&c)], 1));
    let body = graph([i.clone(), c, sum], [keep, next, Value::from(&i)]);
    let start = ints(&[], &[10]);
    let inputs = [Value::from(&trips), Value::NONE, start];
    let call = call("Loop", 13, &[("body", body.into())], &inputs, 2);
    let second: Value = Ref::new(Output {
        call: call.clone(),
        index: 1,
    })
    .into();
    let program = program([trips, step], [output(&call), second]);
    let outputs = results(&program, &[ints(&[], &[4]), ints(&[], &[3])]);
    same(&outputs[0], &ints(&[], &[22]));
    same(&outputs[1], &ints(&[4], &[0, 1, 2, 3]));
}

#[test]
fn scans_take_elements_and_stack_results() {
    let xs = input("xs", Value::NONE);
    let (state, x) = (input("state", Value::NONE), input("x", Value::NONE));
    let sum = output(&call(
        "Add",
        14,
        &[],
        &[Value::from(&state), Value::from(&x)],
        1,
    ));
    let body = graph([state, x], [sum.clone(), sum]);
    let attrs = [
        ("body", Value::from(body)),
        ("num_scan_inputs", Value::from(1)),
        ("scan_input_directions", crate::eval::list(&[1])),
    ];
    let scan = call("Scan", 11, &attrs, &[ints(&[], &[0]), Value::from(&xs)], 2);
    let second: Value = Ref::new(Output {
        call: scan.clone(),
        index: 1,
    })
    .into();
    let outputs = results(
        &program([xs], [output(&scan), second]),
        &[ints(&[3], &[1, 2, 3])],
    );
    same(&outputs[0], &ints(&[], &[6]));
    same(&outputs[1], &ints(&[3], &[3, 5, 6]));
}

#[test]
fn functions_use_attributes_of_the_call_or_their_defaults() {
    let x = input("x", Value::NONE);
    let attr: Value = Ref::new(AttrRef {
        name: "alpha".into(),
    })
    .into();
    let inner = output(&call(
        "LeakyRelu",
        16,
        &[("alpha", attr)],
        &[Value::from(&x)],
        1,
    ));
    let defaults: Map<Str, Value> = [(Str::from("alpha"), Value::from(0.5))]
        .into_iter()
        .collect();
    let function = Ref::new(Function {
        params: [x].into_iter().collect(),
        attrs: Array::new(),
        attr_defaults: defaults,
        results: [inner].into_iter().collect(),
        name: "Leak".into(),
        result_names: Array::new(),
        doc: "".into(),
        meta: None,
    });
    let calls = |attrs: &[(&str, Value)], argument: &Value| {
        let plain = call("", 0, attrs, std::slice::from_ref(argument), 1);
        let called = Ref::new(Call {
            callee: Some(function.clone()),
            op_name: "Leak".into(),
            ..plain.clone_fields()
        });
        output(&called)
    };
    let y = input("y", floats(&[1], &[-8.0]));
    let half = calls(&[], &Value::from(&y));
    let quarter = calls(&[("alpha", Value::from(0.25))], &Value::from(&y));
    let program = program([y], [half, quarter]);
    // The omitted input takes its default.
    let outputs = results(&program, &[]);
    same(&outputs[0], &floats(&[1], &[-4.0]));
    same(&outputs[1], &floats(&[1], &[-2.0]));
}

#[test]
fn sequences_and_optional_values() {
    let x = input("x", Value::NONE);
    let pair = call(
        "SequenceConstruct",
        11,
        &[],
        &[Value::from(&x), ints(&[1], &[9])],
        1,
    );
    let erased = call(
        "SequenceErase",
        11,
        &[],
        &[output(&pair), ints(&[], &[0])],
        1,
    );
    let last = call(
        "SequenceAt",
        11,
        &[],
        &[output(&erased), ints(&[], &[-1])],
        1,
    );
    let joined = call(
        "ConcatFromSequence",
        11,
        &[("axis", Value::from(0))],
        &[output(&pair)],
        1,
    );
    let nothing = call("Optional", 15, &[], &[], 1);
    let present = call("OptionalHasElement", 18, &[], &[output(&nothing)], 1);
    let split = call("SplitToSequence", 11, &[], &[output(&joined)], 1);
    let length = call("SequenceLength", 11, &[], &[output(&split)], 1);
    let wanted = [&last, &joined, &present, &length, &nothing].map(output);
    let outputs = results(&program([x], wanted), &[ints(&[2], &[1, 2])]);
    same(&outputs[0], &ints(&[1], &[9]));
    same(&outputs[1], &ints(&[3], &[1, 2, 9]));
    same(&outputs[2], &truths(&[], &[false]));
    same(&outputs[3], &ints(&[], &[3]));
    assert!(outputs[4].is_none());
}

#[test]
fn inputs_are_checked() {
    let x = input("x", Value::NONE);
    let y = output(&call("Neg", 13, &[], &[Value::from(&x)], 1));
    let program = program([x], [y]);
    let error = |inputs: &[(String, Value)]| {
        run(&program, inputs, &Control::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(error(&[]), "input 'x' is missing");
    let other = ("z".to_owned(), ints(&[], &[1]));
    assert_eq!(
        error(&[other]),
        "expected the name of an input, one of x, got 'z'"
    );
    let twice = ("x".to_owned(), ints(&[], &[1]));
    assert_eq!(error(&[twice.clone(), twice]), "input 'x' is given twice");
}

#[test]
fn an_endless_loop_can_be_stopped() {
    let (i, c) = (input("i", Value::NONE), input("c", Value::NONE));
    let body = graph([i, c], [truths(&[], &[true])]);
    let endless = call(
        "Loop",
        13,
        &[("body", body.into())],
        &[Value::NONE, Value::NONE],
        0,
    );
    let x = input("x", Value::NONE);
    let first = output(&endless);
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 100
    };
    let control = Control {
        interrupted: Some(&interrupted),
        ..Control::default()
    };
    let error = run(
        &program([x], [first]),
        &[("x".to_owned(), ints(&[], &[1]))],
        &control,
    );
    assert!(error.unwrap_err().to_string().contains("interrupted"));
}
