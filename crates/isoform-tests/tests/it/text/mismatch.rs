//! Both sides of a mismatch as text.

use std::sync::OnceLock;

use isoform::compare::diff;
use isoform::explain_mismatch;
use isoform::functions::Function;
use isoform::objects::{construct, field_value};
use isoform::text::{MismatchOptions, assert_structural_equal, render_mismatch};

use isoform::types::TypeIndex;
use isoform::{Array, Error, Result, Str};

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

/// A type whose objects have a text of their own: the lines, or an error for no lines.
fn program_type() -> TypeIndex {
    static TYPE: OnceLock<TypeIndex> = OnceLock::new();
    *TYPE.get_or_init(register_program)
}

fn register_program() -> TypeIndex {
    let lines = |object: &Value| -> Result<Array<Str>> {
        let object = object.as_object().expect("a program");
        field_value(object, "lines")?.extract()
    };
    let script = Function::new(move |args| {
        let lines = lines(&args[0])?;
        if lines.is_empty() {
            Err(Error::value_error("no lines"))
        } else {
            Ok(lines
                .iter()
                .map(|it| &**it)
                .collect::<Vec<_>>()
                .join("\n")
                .into())
        }
    });
    register_type(
        TypeDef::new("it.text.Program")
            .field(FieldDef::new("lines", Schema::Any))
            .field(FieldDef::new("version", Schema::Int).default_value(0))
            .attr("transform.script", script),
    )
    .expect("a new type")
}

fn program(lines: &[&str]) -> Value {
    let lines: Array<Str> = lines.iter().map(|line| Str::from(*line)).collect();
    construct(program_type(), vec![lines.into(), 0.into()])
        .expect("it fits")
        .into()
}

#[test]
fn the_text_of_a_type_is_shown_around_the_line_that_differs() {
    let lines: Vec<String> = (0..20).map(|line| format!("x{line} = {line}")).collect();
    let mut left: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut right = left.clone();
    (left[10], right[10]) = ("x10 = add(a, b)", "x10 = add(a, long)");
    let options = MismatchOptions::default().lines(1);
    let (left, right) = ([1.into(), program(&left)], [1.into(), program(&right)]);
    assert_eq!(
        render(&left.into(), &right.into(), &options),
        "the values differ\n  \
         left:  <root>[1].lines[10], in <root>[1]:\n    \
         ...\n    x9 = 9\n    x10 = add(a, b)\n                 ^\n    x11 = 11\n    ...\n  \
         right: <root>[1].lines[10], in <root>[1]:\n    \
         ...\n    x9 = 9\n    x10 = add(a, long)\n                 ^^^^\n    x11 = 11\n    ..."
    );
}

#[test]
fn texts_of_types_that_do_not_help_are_left_out() {
    let fields = |left: Value, right: Value| {
        let text = render(&left, &right, &MismatchOptions::default());
        assert!(text.contains("it.text.Program(lines=["), "{text}");
    };
    // The difference is not in the text.
    let other = construct(
        program_type(),
        vec![Array::from([Str::from("a")]).into(), 1.into()],
    );
    fields(program(&["a"]), other.expect("it fits").into());
    // The type fails.
    fields(program(&["a"]), program(&[]));
    // Larger values are not asked.
    let many = vec!["a"; 500];
    let mut changed = many.clone();
    changed[3] = "b";
    let text = render(
        &program(&many),
        &program(&changed),
        &MismatchOptions::default(),
    );
    assert!(!text.contains(", in <root>:\n    a"), "{text}");
}

#[test]
fn lines_of_changes_and_mismatches_have_the_text_of_a_type() {
    let (left, right) = (program(&["a = 1", "", "  b = a"]), program(&["c = 3"]));
    let found = diff([left.clone()], [left.clone(), right.clone()]).expect("comparable");
    let line = found.changes()[0].to_string();
    assert!(line.ends_with(": c = 3"), "{line}");
    let found = diff([right.clone()], [right.clone(), left.clone()]).expect("comparable");
    let line = found.changes()[0].to_string();
    assert!(line.ends_with(": a = 1; b = a"), "{line}");
    let long = program(&["a".repeat(100).as_str()]);
    let found = diff([right.clone()], [right, long]).expect("comparable");
    let line = found.changes()[0].to_string();
    assert!(line.contains(": it.text.Program(lines=["), "{line}");
    let mismatch = explain_mismatch(&left, Value::from(1));
    let mismatch = mismatch.expect("comparable").expect("they differ");
    assert!(
        mismatch.to_string().contains("\n         a = 1; b = a\n"),
        "{mismatch}"
    );
}

#[test]
fn texts_of_types_are_safe_on_terminals_and_marked_below_tabs() {
    let render = |left: &str, right: &str| {
        let (left, right) = (program(&[left]), program(&[right]));
        render(&left, &right, &MismatchOptions::default())
    };
    let text = render("\ta\u{1b}[2J\u{202e}\t1", "\ta\u{1b}[2J\u{202e}\t2");
    let line = "    \ta\\u{1b}[2J\\u{202e}\t1\n    \t                  \t^";
    assert!(text.contains(line), "{text:?}");
    let text = render("\u{6f22}\u{5b57} = 1", "\u{6f22}\u{5b57} = \u{5b57}");
    let [left, right] = ["1\n           ^", "\u{5b57}\n           ^^"];
    assert!(text.contains(left) && text.contains(right), "{text}");
    // A difference beyond the width of a line is shown in the fields.
    let long = "z".repeat(2_000);
    let text = render(&format!("{long}1"), &format!("{long}2"));
    assert!(!text.contains("\n    zzz"), "{text}");
}
