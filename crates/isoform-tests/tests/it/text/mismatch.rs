//! Both sides of a mismatch as text.

use isoform::explain_mismatch;
use isoform::text::{MismatchOptions, assert_structural_equal, render_mismatch};

use super::*;
use crate::support::MAPPED;

fn render(left: &Value, right: &Value, options: &MismatchOptions) -> String {
    let mismatch = explain_mismatch(left, right);
    let mismatch = mismatch.expect("comparable").expect("they differ");
    options.render(left, right, &mismatch)
}

/// The text of the mismatch of two values.
#[track_caller]
fn check_mismatch(left: impl Into<Value>, right: impl Into<Value>, expected: &str) {
    let (left, right) = (left.into(), right.into());
    assert_eq!(render(&left, &right, &MismatchOptions::default()), expected);
}

fn function(names: [&str; 2], body: impl Fn(&Value, &Value) -> Value) -> Value {
    let [x, y] = names.map(var);
    let body = body(&(&x).into(), &(&y).into());
    Func::new(body, [x, y]).into()
}

#[test]
fn the_place_is_underlined_on_both_sides() {
    let sum = function(["x", "y"], |x, y| [x.clone(), y.clone()].into());
    let square = function(["a", "b"], |a, _| [a.clone(), a.clone()].into());
    let place = "//".to_owned() + &" ".repeat(57) + "^^";
    check_mismatch(
        &sum,
        &square,
        &format!(
            "the left variable is already paired with tx.Var \"b\" on the \
             right, at <root>.params[1]\n  \
             left:  <root>.body[1]\n    \
             tx.Function(params=[%x: tx.Var(), %y: tx.Var()], body=[%x, %y])\n    {place}\n  \
             right: <root>.body[1]\n    \
             tx.Function(params=[%a: tx.Var(), %b: tx.Var()], body=[%a, %a])\n    {place}"
        ),
    );
    let error = assert_structural_equal(&sum, &square).expect_err("they differ");
    assert!(error.message().contains("body=[%x, %y])\n"), "{error}");
    // The message shows the place, and the path is not appended.
    assert!(!error.to_string().contains("(at "), "{error}");
    let path = error.path().map(ToString::to_string);
    assert_eq!(path.as_deref(), Some("<root>.body[1]"));
}

#[test]
fn what_is_missing_is_said() {
    check_mismatch(
        [1, 2],
        [1],
        "the left has an element that the right has not\n  \
         left:  <root>[1]\n    [1, 2]\n    //  ^\n  \
         right: <root>[<missing:1>]\n    [1]\n    //^ has no such part",
    );
    // A default is shown only if it makes the difference.
    let pair = |ty: Option<i64>| -> Value {
        let var = |name| match ty {
            Some(ty) if name == "x" => Var::typed(name, ty),
            _ => Var::new(name),
        };
        [var("y"), var("x")].into()
    };
    let [left, right] = [pair(None), pair(Some(1))];
    let mismatch = MAPPED
        .explain_mismatch(&left, &right)
        .expect("comparable")
        .expect("they differ");
    let shown = render_mismatch(&left, &right, &mismatch);
    assert!(shown.contains("%y = tx.Var()\n"), "{shown}");
    assert!(
        shown.contains("%x = tx.Var(ty=None)\n    //             ^^^^"),
        "{shown}"
    );
}

#[test]
fn large_values_are_shown_in_part() {
    let items = |odd: i64| -> Value {
        let items = (0..10_000).map(|n| [n, if n == 7_000 { odd } else { n }].into());
        items.collect::<Vec<Value>>().into()
    };
    check_mismatch(
        items(1),
        items(2),
        "the values differ\n  \
         left:  <root>[7000][1], in <root>[7000]:\n    [7000, 1]\n    //     ^\n  \
         right: <root>[7000][1], in <root>[7000]:\n    [7000, 2]\n    //     ^",
    );
    // Lines far from the place are omitted.
    let long = |odd: &str| -> Value {
        let texts = (0..40).map(|n| format!("a text of some length, number {n}, to be alone"));
        let mut texts: Vec<Value> = texts.map(|text| text.as_str().into()).collect();
        texts[20] = odd.into();
        texts.into()
    };
    let options = MismatchOptions::default().lines(1);
    let shown = render(&long("left"), &long("right"), &options);
    assert_eq!(
        shown,
        "the values differ\n  left:  <root>[20]\n    ...\n      \
         \"a text of some length, number 19, to be alone\",\n      \"left\",\n    //^^^^^^\n      \
         \"a text of some length, number 21, to be alone\",\n    ...\n  right: <root>[20]\n    ...\n      \
         \"a text of some length, number 19, to be alone\",\n      \"right\",\n    //^^^^^^^\n      \
         \"a text of some length, number 21, to be alone\",\n    ..."
    );
    // A large place is shortened, and so is a deep path.
    let deep = |value: i64| {
        let mut deep = Value::from(value);
        for _ in 0..scaled(100_000) {
            deep = [deep].into();
        }
        deep
    };
    let shown = render(&deep(1), &deep(2), &MismatchOptions::default());
    assert!(shown.len() < 20_000, "{}", shown.len());
    let shown = render(&deep(1), &5.into(), &MismatchOptions::default());
    assert!(shown.contains("[[[["), "{shown}");
    assert!(shown.len() < 1_000, "{shown}");
}

#[test]
fn what_has_no_text_is_cut_short() {
    let list = List::<Value>::new();
    list.push(list.clone().into()).unwrap();
    let pair = |n: i64| -> Value { [Value::from(n), list.clone().into()].into() };
    let shown = render(&pair(1), &pair(2), &MismatchOptions::default());
    assert!(shown.contains("left:  <root>[0]"), "{shown}");
    list.clear();
    let nameless = Value::from(Function::new(|_| Ok(Value::NONE)));
    let pair = |n: i64| -> Value { [Value::from(n), nameless.clone()].into() };
    let shown = render(&pair(1), &pair(2), &MismatchOptions::default());
    assert!(shown.contains("[1, <Function>]"), "{shown}");
}
