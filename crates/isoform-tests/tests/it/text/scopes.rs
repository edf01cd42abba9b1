//! Names by scopes: printed per function, and read by the innermost definition.

use isoform::node_enum;
use isoform::types::{Enumerator, NodeEnum};

use super::refused::refuse;
use super::*;

node_enum! {
    /// A direction.
    pub enum Turn, TurnObject = "tx.Turn" {
        /// To the left.
        Left = "left",
        /// To the right.
        Right = "right",
    }
}

/// A step.
#[derive(Node)]
#[node(key = "tx.Step")]
#[repr(C)]
pub(crate) struct Step {
    turn: Enumerator<Turn>,
}

/// A function that adds its parameter to itself, and the sum to itself.
fn quadrupled(name: &str) -> Value {
    let (x, add) = (var(name), Op::new("add"));
    let sum = call(&add, &[(&x).into(), (&x).into()]);
    Func::new(call(&add, &[(&sum).into(), sum.into()]), [x]).into()
}

fn function(body: impl Into<Value>, params: &[&Ref<Var>]) -> Value {
    let params: Array<Ref<Var>> = params.iter().map(|&param| param.clone()).collect();
    Func::new(body, params).into()
}

/// The lines of `after` that `before` does not have at the same place.
fn changed_lines<'a>(before: &str, after: &'a str) -> Vec<&'a str> {
    let pairs = before.lines().zip(after.lines());
    let changed = pairs.filter(|(before, after)| before != after);
    changed.map(|(_, after)| after).collect()
}

#[test]
fn functions_have_names_of_their_own() {
    let functions: Array<Value> = ["x", "x", "y"].map(quadrupled).into_iter().collect();
    let body = |name: &str, add: &str| {
        format!(
            "  tx.Function(\n    params=[%{name}: tx.Var()],\n    %0 = tx.Call(op=@{add}, \
             args=[%{name}, %{name}]),\n    %1 = tx.Call(op=@{add}, args=[%0, %0]),\n    \
             body=%1,\n  ),\n"
        )
    };
    let operators = "@add = tx.Op()\n@add_1 = tx.Op(name=\"add\")\n@add_2 = tx.Op(name=\"add\")\n";
    let bodies = [("x", "add"), ("x", "add_1"), ("y", "add_2")].map(|(x, add)| body(x, add));
    check(functions, &format!("{operators}[\n{}]\n", bodies.concat()));
}

#[test]
fn a_renamed_variable_changes_the_lines_of_its_function_alone() {
    let module = |name: &str| {
        let (x, y, add) = (var(name), var("y"), Op::new("add"));
        let first = function(call(&add, &[(&x).into(), (&x).into()]), &[&x]);
        let second = function(call(&add, &[(&y).into(), 2.into()]), &[&y]);
        text_of([first, second])
    };
    let (before, after) = (module("x"), module("y"));
    let changed = changed_lines(&before, &after);
    assert_eq!(changed.len(), 2, "{changed:#?}");
}

#[test]
fn inner_names_avoid_the_names_around_them() {
    // The inner function uses the outer variable of the same name.
    let (outer, inner, add) = (var("x"), var("x"), Op::new("add"));
    let sum = call(&add, &[(&outer).into(), (&inner).into()]);
    let value = function(function(sum, &[&inner]), &[&outer]);
    let text = text_of(value.clone());
    assert!(
        text.contains("%x: tx.Var()") && text.contains("%x_1: tx.Var(name_hint=\"x\")"),
        "{text}"
    );
    check_round_trip(&value, &TextOptions::default());
}

#[test]
fn variables_that_leave_their_scope_keep_one_name() {
    let (x, other) = (var("x"), var("x"));
    let value = Value::from([
        function(&x, &[&x]),
        Value::from(&x),
        function(&other, &[&other]),
    ]);
    let text = text_of(value.clone());
    assert!(text.contains("%x_1"), "{text}");
    let read = check_round_trip(&value, &TextOptions::default());
    let items: Array<Value> = read.extract().unwrap();
    let body = |index: usize| {
        items
            .get(index)
            .unwrap()
            .extract::<Ref<Func>>()
            .unwrap()
            .body
            .clone()
    };
    assert_eq!(items.get(1), Some(&body(0)));
    assert_ne!(items.get(1), Some(&body(2)));
}

#[test]
fn the_innermost_definition_counts() {
    let functions = "[tx.Function(params=[%a: tx.Var()], body=%a), \
                     tx.Function(params=[%a: tx.Var()], body=%a)]\n";
    check_read(functions, functions);
    // One definition may follow its uses.
    check_read(
        "[tx.Function(body=%a, params=[%a: tx.Var()]), tx.Function(params=[], body=%b), %b: 1]",
        "[tx.Function(params=[%a: tx.Var()], body=%a), tx.Function(params=[], body=1), 1]\n",
    );
    // A name of the whole text reaches into functions.
    check_read(
        "%a = List[1] [tx.Function(body=%a, params=[]), %a]",
        "%0 = List[1]\n[tx.Function(params=[], body=%0), %0]\n",
    );
}

#[test]
fn names_with_several_definitions_are_refused() {
    let function = "tx.Function(params=[%a: tx.Var()], body=%a)";
    refuse(
        &format!("[{function}, {function},\n %a]"),
        2,
        2,
        "%a is defined in several scopes, and in none around here",
    );
    refuse(
        &format!("[%a: [1], %a,\n {function}]"),
        2,
        22,
        "%a is defined again where it is used above; give it another name",
    );
    refuse(
        &format!("[%a,\n {function},\n {function}]"),
        3,
        22,
        "%a is defined again where it is used above; give it another name",
    );
    refuse(
        &format!("[{function}, tx.Function(body=%a, params=[%a: tx.Var()])]"),
        1,
        76,
        "%a is defined again where it is used above; give it another name",
    );
    refuse("%a = 1 %a = 2 3", 1, 8, "%a is defined twice");
}

#[test]
fn members_of_enums_are_printed_in_place() {
    let step = |turn: Turn| Value::from(Step::new(turn));
    let read = check(
        [step(Turn::Left), step(Turn::Left), step(Turn::Right)],
        "[tx.Step(turn=tx.Turn!\"left\"), tx.Step(turn=tx.Turn!\"left\"), tx.Step(turn=tx.Turn!\"right\")]\n",
    );
    let steps: Array<Ref<Step>> = read.extract().unwrap();
    assert!(steps.get(1).unwrap().turn.same_as(&Turn::Left.object()));
}

/// A tensor whose elements are in the section after the text.
fn constant(element: u8) -> Value {
    let tensor = Tensor::new(DType::new(DTypeCode::Int, 8), vec![200], vec![element; 200]);
    Constant::new(tensor.expect("a tensor")).into()
}

#[test]
fn constants_of_all_functions_are_in_one_section() {
    let x = var("x");
    let shared = constant(3);
    let inner = function([constant(4), Value::from(&x), shared.clone()], &[]);
    let value = Value::from([
        function([constant(1), shared], &[]),
        function([constant(2), constant(2), inner], &[&x]),
    ]);
    let text = text_of(value.clone());
    let section = text.split("// metadata").nth(1).expect("a section");
    let names: Vec<&str> = section
        .lines()
        .filter_map(|line| line.split(" =").next())
        .collect();
    assert_eq!(names, ["", "#0", "#1", "#2", "#3", "#4"]);
    check_round_trip(&value, &TextOptions::default());
}

#[test]
fn many_scopes_with_one_name() {
    let count = scaled(100_000);
    // Functions beside each other, below variables of the same name.
    let outside: Vec<Value> = (0..count).map(|_| var("x").into()).collect();
    let inside = (0..count).map(|_| {
        let x = var("x");
        function(&x, &[&x])
    });
    let all: Value = outside
        .into_iter()
        .chain(inside)
        .collect::<Array<Value>>()
        .into();
    check_round_trip(&Value::from([all.clone(), all]), &TextOptions::default());
}

#[test]
fn deep_scopes_with_one_name() {
    let count = scaled(100_000);
    let mut value = Value::from(0);
    for _ in 0..count {
        let x = var("x");
        value = function([Value::from(&x), value], &[&x]);
    }
    check_round_trip(&value, &TextOptions::default());
    // The parser alone, for scopes that the printer would put on lines of their own.
    let open = "tx.Function(params=[%a: tx.Var()], body=[%a, ";
    let text = format!("{}0{}", open.repeat(count), "])".repeat(count));
    let error = from_text(&text).expect_err("uses of outer definitions of the name");
    assert!(
        error
            .message()
            .contains("%a is defined again where it is used above; give it another name"),
        "{error}"
    );
    let open = "tx.Function(params=[%a: tx.Var()], body=[";
    let text = format!("{}%a{}", open.repeat(count), "])".repeat(count));
    check_round_trip(
        &from_text(&text).expect("only the innermost is used"),
        &TextOptions::default(),
    );
}
