//! The work that facts take, counted.

use super::build::{Dims, call, graph, int, named_input, op, output};
use isoform::{Ref, Value};
use isoform_onnx::facts::Analysis;
use isoform_onnx::ir::Output;
use isoform_testing::source::scaled;

fn analysis_of(x: &Ref<isoform_onnx::ir::Input>) -> Analysis {
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph(vec![x.clone()], vec![]));
    analysis
}

#[test]
fn a_long_chain_is_visited_once() {
    let x = Dims::default().input("x", "float32 n 3");
    let mut value = Value::from(&x);
    let length = scaled(1_000_000);
    for _ in 0..length {
        value = op("Add", &[&value, &value]);
    }
    let mut analysis = analysis_of(&x);
    assert_eq!(analysis.fact(&value).to_string(), "float[n, 3]");
    assert_eq!(analysis.visits(), length);
    let more = op("Relu", &[&value]);
    assert_eq!(analysis.fact(&more).to_string(), "float[n, 3]");
    assert_eq!(analysis.visits(), length + 1);
}

/// The last value carried by a loop whose body uses the given value.
fn loop_around(value: &Value) -> Value {
    let params = ["at", "go", "held"].map(|name| named_input(name, Value::NONE));
    let [_, go, held] = &params;
    let next = op("Add", &[&Value::from(held), value]);
    let results = vec![op("Identity", &[&Value::from(go)]), next];
    let body = graph(params.to_vec(), results);
    let inputs = vec![int(3), Value::NONE, value.clone()];
    output(&call("Loop", inputs, vec![("body", body.into())], 1), 0)
}

#[test]
fn a_chain_of_loops_is_visited_a_few_times() {
    let x = Dims::default().input("x", "float32 n 3");
    let mut value = Value::from(&x);
    let length = 20_000;
    for _ in 0..length {
        value = loop_around(&value);
    }
    let mut analysis = analysis_of(&x);
    assert_eq!(analysis.fact(&value).to_string(), "float[n, 3]");
    assert!(analysis.visits() <= 4 * length, "{}", analysis.visits());
}

/// A loop that reads the captured value only in its body.
fn loop_capturing(value: &Value, initial: &Value) -> Value {
    let params = ["at", "go", "held"].map(|name| named_input(name, Value::NONE));
    let [_, go, held] = &params;
    let axis = vec![("axis", Value::from(0))];
    let inputs = vec![Value::from(held), value.clone()];
    let grown = output(&call("Concat", inputs, axis, 1), 0);
    let results = vec![op("Identity", &[&Value::from(go)]), grown];
    let body = graph(params.to_vec(), results);
    let inputs = vec![int(3), Value::NONE, initial.clone()];
    output(&call("Loop", inputs, vec![("body", body.into())], 1), 0)
}

#[test]
fn loops_that_use_each_other_in_their_bodies_are_visited_a_few_times() {
    let x = Dims::default().input("x", "float32 n 3");
    let initial = Value::from(&x);
    let mut value = initial.clone();
    let length = 20_000;
    for _ in 0..length {
        value = loop_capturing(&value, &initial);
    }
    let mut analysis = analysis_of(&x);
    let _ = analysis.fact(&value);
    assert!(analysis.visits() <= 16 * length, "{}", analysis.visits());
}

#[test]
fn branches_in_branches_are_visited_once() {
    let x = Dims::default().input("x", "float32 n 3");
    let c = Dims::default().input("c", "bool");
    let mut value = Value::from(&x);
    let depth = scaled(1_000_000);
    for _ in 0..depth {
        let branch = |op_name: &str| graph(vec![], vec![op(op_name, &[&value])]).into();
        let bodies = vec![
            ("then_branch", branch("Relu")),
            ("else_branch", branch("Abs")),
        ];
        value = output(&call("If", vec![Value::from(&c)], bodies, 1), 0);
    }
    let mut analysis = analysis_of(&x);
    assert_eq!(analysis.fact(&value).to_string(), "float[n, 3]");
    assert_eq!(analysis.visits(), 3 * depth);
}

#[test]
fn nested_loops_that_grow_take_bounded_rounds() {
    let x = Dims::default().input("x", "float32 1 3");
    // Every loop contains the next loop, and carries the result of the inner loop.
    fn nest(depth: usize, carried: &Value) -> Value {
        let params = ["at", "go", "held"].map(|name| named_input(name, Value::NONE));
        let [_, go, held] = &params;
        let held = Value::from(held);
        let axis = vec![("axis", Value::from(0))];
        let grown = call("Concat", vec![held.clone(), held], axis, 1);
        let grown = output(&grown, 0);
        let next = if depth == 0 {
            grown
        } else {
            nest(depth - 1, &grown)
        };
        let results = vec![op("Identity", &[&Value::from(go)]), next];
        let body = graph(params.to_vec(), results);
        let inputs = vec![int(3), Value::NONE, carried.clone()];
        output(&call("Loop", inputs, vec![("body", body.into())], 1), 0)
    }
    // With work that doubles at each level, the depth would not be reached.
    let depth = 60;
    let value = nest(depth, &Value::from(&x));
    let mut analysis = analysis_of(&x);
    let _ = analysis.fact(&value);
    assert!(analysis.visits() < 1000 * depth, "{}", analysis.visits());
}

/// Two calls of a loop with different inputs that share a body, as made by rewriting:
/// the results for the old and the new value.
fn loop_of_two(analysis: &mut Analysis, old: &Value, new: &Value) -> [Value; 2] {
    let first = loop_around(old);
    let made = first.as_object().unwrap().downcast_ref::<Output>().unwrap();
    let (_, body) = made.call.attrs.iter().next().unwrap();
    let inputs = vec![int(3), Value::NONE, new.clone()];
    let second = call("Loop", inputs, vec![("body", body.clone())], 1);
    analysis.bind_bodies(&second);
    [first, output(&second, 0)]
}

#[test]
fn bodies_of_two_calls_in_a_chain_are_visited_a_few_times() {
    let (mut dims, length) = (Dims::default(), scaled(20_000));
    let (x, y) = (dims.input("x", "int64"), dims.input("y", "int64"));
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph(vec![x.clone(), y.clone()], vec![]));
    let mut values = [Value::from(&x), Value::from(&y)];
    for _ in 0..length {
        values = loop_of_two(&mut analysis, &values[0], &values[1]);
    }
    for value in &values {
        assert_eq!(analysis.fact(value).elem.unwrap().to_string(), "int64");
    }
    assert!(analysis.visits() <= 16 * length, "{}", analysis.visits());
}
