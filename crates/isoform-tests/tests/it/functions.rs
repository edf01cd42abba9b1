//! Functions made of Rust functions, `#[export]`, and the registry of names.

use isoform::errors::ErrorKind;
use isoform::functions::{
    Function, call_method, global_function, list_functions, register_function, register_functions,
    register_method, remove_function,
};
use isoform::types::Schema;
use isoform::values::List;
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Str, Value, exports};

/// A point.
#[derive(Node)]
#[node(key = "functions.Point")]
#[repr(C)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Node)]
#[node(key = "functions.Line")]
#[repr(C)]
struct Line {
    from: Ref<Point>,
    to: Ref<Point>,
}

/// The sum.
///
/// Of two integers.
#[isoform::export("functions.add")]
fn add(x: i64, #[default = 10] y: i64) -> i64 {
    x + y
}

#[isoform::export("functions.name")]
fn name(prefix: &str, point: &Ref<Point>, rest: &[Value]) -> String {
    format!("{prefix}{},{}+{}", point.x, point.y, rest.len())
}

#[isoform::export("functions.start")]
fn start(line: Ref<Line>) -> Ref<Point> {
    line.from.clone()
}

#[isoform::export("functions.nothing")]
fn nothing(_: Value, _unused: Option<Str>, r#type: Option<i64>) {
    let _ = r#type;
}

mod inner {
    use super::{Error, Result};

    /// In a module of its own.
    #[isoform::export("functions.fail", crate = isoform)]
    pub(super) fn fail(message: String) -> Result<i64, Error> {
        Err(Error::value_error(message))
    }

    #[isoform::export("functions.read")]
    pub(super) fn read(path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

#[track_caller]
fn check_error(result: Result<Value>, kind: ErrorKind, message: &str) {
    let error = result.expect_err("the call fails");
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[track_caller]
fn check_misfit<A>(
    function: impl isoform::functions::TypedFunction<A>,
    given: Value,
    message: &str,
) {
    let function = Function::typed(function).named("f");
    let result = function.call(&[given]);
    check_error(
        result,
        ErrorKind::Type,
        &format!("f() argument 1: {message}"),
    );
}

#[track_caller]
fn check_same<A>(function: impl isoform::functions::TypedFunction<A>, given: impl Into<Value>) {
    let given = given.into();
    let result = Function::typed(function).call(std::slice::from_ref(&given));
    let result = result.expect("the call succeeds");
    assert!(
        isoform::structural_equal(&result, &given).expect("comparable"),
        "{result:?}"
    );
}

#[test]
fn values_of_every_type_travel() {
    let point = Point::new(1, 2);
    check_same(|x: i64| x, 5);
    check_same(|x: i32| x, -5);
    check_same(|x: u64| x, 5);
    check_same(|x: usize| x, 5);
    check_same(|x: f64| x, 1.5);
    check_same(|x: f32| x, 1.5);
    check_same(|x: bool| x, true);
    check_same(|x: String| x, "a text that is too long to be stored inline");
    check_same(|x: Str| x, "s");
    check_same(|x: Value| x, vec![1, 2]);
    check_same(|x: Ref<Point>| x, &point);
    check_same(|x: Ref<Obj>| x, &point);
    check_same(|x: Array<i64>| x, vec![1, 2]);
    check_same(
        |x: List<Str>| x,
        List::<Str>::from_iter(["a".into(), "b".into()]),
    );
    check_same(
        |x: Map<Str, i64>| x,
        Map::<Str, i64>::from_iter([("a".into(), 1)]),
    );
    check_same(|x: Vec<i64>| x, vec![1, 2]);
    check_same(
        |x: Vec<Vec<Ref<Point>>>| x,
        vec![vec![point.clone()], vec![]],
    );
    check_same(
        |x: (i64, Str)| x,
        Array::<Value>::from(vec![1.into(), "b".into()]),
    );
    check_same(|x: Option<i64>| x, 5);
    check_same(|x: Option<Ref<Point>>| x, Value::NONE);
    check_same(|_: ()| (), ());
    check_same(
        |x: isoform::values::DType| x,
        "int8".parse::<isoform::values::DType>().expect("a dtype"),
    );
    check_same(
        |x: isoform::values::Device| x,
        "cpu:1"
            .parse::<isoform::values::Device>()
            .expect("a device"),
    );
    check_same(
        |x: isoform::values::Shape| x,
        isoform::values::Shape::from(vec![1, 2]),
    );
    check_same(
        |x: isoform::values::Bytes| x,
        isoform::values::Bytes::from(b"ab".to_vec()),
    );
    check_same(|x: i64| -> Result<Option<i64>> { Ok(Some(x)) }, 3);
}

#[test]
fn arguments_convert_as_fields_do() {
    let call = |function: Function, given: Value| function.call(&[given]).expect("it converts");
    assert_eq!(
        call(Function::typed(|x: f64| x), 2.into()),
        Value::from(2.0)
    );
    assert_eq!(
        call(Function::typed(|x: i64| x), true.into()),
        Value::from(1)
    );
    assert_eq!(
        call(Function::typed(|x: bool| x), 3.into()),
        Value::from(true)
    );
    let items = List::<Value>::from_iter([1.into(), true.into()]);
    let sum = Function::typed(|items: Vec<i64>| items.iter().sum::<i64>());
    assert_eq!(call(sum, items.clone().into()), Value::from(2));
    let sum = Function::typed(|items: Array<i64>| items.iter().sum::<i64>());
    assert_eq!(call(sum, items.into()), Value::from(2));
}

#[test]
fn what_does_not_convert_is_named() {
    let text = || Value::from("t");
    check_misfit(|x: i64| x, text(), "expected int, got str");
    check_misfit(|x: bool| x, text(), "expected bool, got str");
    check_misfit(|x: Option<i64>| x, text(), "expected int | None, got str");
    check_misfit(|x: Option<u8>| x, text(), "expected int | None, got str");
    check_misfit(
        |x: Ref<Point>| x,
        text(),
        "expected functions.Point, got str",
    );
    check_misfit(
        |x: Option<Ref<Point>>| x,
        Line::new(Point::new(1, 2), Point::new(3, 4)).into(),
        "expected functions.Point | None, got functions.Line",
    );
    check_misfit(|x: Vec<i64>| x, text(), "expected Array[int], got str");
    let mixed = Value::from(vec![Value::from(1), text()]);
    check_misfit(
        |x: Vec<i64>| x,
        mixed.clone(),
        "element [1]: expected int, got str",
    );
    check_misfit(
        |x: Array<i64>| x,
        mixed.clone(),
        "element [1]: expected int, got str",
    );
    check_misfit(
        |x: (i64, i64, i64)| x,
        mixed,
        "expected tuple[int, int, int] (3 elements), got Array of 2",
    );
    check_misfit(|_: ()| (), text(), "expected None, got str");
    let large = Value::from(u64::MAX);
    check_misfit(
        |x: u64| x,
        large,
        "expected int, got int outside the 64-bit range",
    );
}

#[test]
fn integers_have_the_range_of_their_type() {
    let check = |function: Function, given: i64, message: &str| {
        let result = function.named("f").call(&[given.into()]);
        check_error(result, ErrorKind::Value, message);
    };
    let expected = "f() argument 1: expected an int from 0 to 255, got 256";
    check(Function::typed(|x: u8| x), 256, expected);
    let expected = "f() argument 1: element [0]: expected an int from 0 to 255, got -1";
    let result = Function::typed(|x: Vec<u8>| x)
        .named("f")
        .call(&[vec![-1].into()]);
    check_error(result, ErrorKind::Value, expected);
    let expected = "f() argument 1: expected an int from 0 to 18446744073709551615, got -1";
    check(Function::typed(|x: u64| x), -1, expected);
    // The schema of an option has no ranges, and the message is kept.
    let expected = "f() argument 1: expected an int from 0 to 255, got -2";
    check(Function::typed(|x: Option<u8>| x), -2, expected);
}

#[test]
fn the_number_of_arguments() {
    let check = |function: Function, count: usize, message: &str| {
        let arguments = vec![Value::from(1); count];
        check_error(function.call(&arguments), ErrorKind::Type, message);
    };
    let binary = Function::typed(|x: i64, y: i64| x + y).named("demo.add");
    check(binary.clone(), 3, "demo.add() expects 2 arguments, got 3");
    check(binary, 0, "demo.add() expects 2 arguments, got 0");
    let unary = Function::typed(|x: i64| x);
    check(unary, 2, "function() expects 1 argument, got 2");
    let none = Function::typed(|| 1).named("f");
    check(none, 1, "f() expects no arguments, got 1");
    let optional = Function::typed(|x: i64, y: Option<i64>| x + y.unwrap_or(7)).named("f");
    check(optional.clone(), 3, "f() expects 1 to 2 arguments, got 3");
    check(optional.clone(), 0, "f() expects 1 to 2 arguments, got 0");
    assert_eq!(
        optional.call(&[1.into()]).expect("it is optional"),
        Value::from(8)
    );
    // Only at the end: the first one must be given to get at the second.
    let first = Function::typed(|_: Option<i64>, y: i64| y).named("f");
    check(first, 1, "f() expects 2 arguments, got 1");
}

#[test]
fn exported_functions_stay_functions() {
    assert_eq!(add(1, 2), 3);
    assert!(inner::fail("no".to_owned()).is_err());
    assert!(add::function().same_as(&add::function()));
    let function = add::function();
    assert_eq!(function.name(), Some("functions.add"));
    assert_eq!(function.doc(), Some("The sum.\n\nOf two integers."));
    assert_eq!(format!("{function:?}"), "Function(functions.add)");
    let signature = function.signature().expect("it has one");
    assert_eq!(signature.to_string(), "(x: int, y: int = 10) -> int");
    assert_eq!(signature.written_in(), "rust");
    assert_eq!(
        function.call(&[1.into()]).expect("the default"),
        Value::from(11)
    );
    check_error(
        function.call(&["x".into()]),
        ErrorKind::Type,
        "functions.add() argument 'x': expected int, got str",
    );
    let signature = nothing::function();
    let signature = signature.signature().expect("it has one");
    assert_eq!(
        signature.to_string(),
        "(0: Any, _unused: str | None = None, type: int | None = None) -> None"
    );
    assert_eq!(signature.required(), 1);
}

#[test]
fn exported_functions_take_references() {
    let function = name::function();
    let arguments = ["p".into(), Point::new(1, 2).into(), vec![1, 2].into()];
    assert_eq!(
        function.call(&arguments).expect("it is called"),
        "p1,2+2".into()
    );
    let error = function.call(&["p".into(), 1.into(), vec![1].into()]);
    let message = "functions.name() argument 'point': expected functions.Point, got int";
    check_error(error, ErrorKind::Type, message);
    let line = Line::new(Point::new(1, 2), Point::new(3, 4));
    let found = start::function()
        .call(&[(&line).into()])
        .expect("it is called");
    assert!(
        found
            .extract::<Ref<Point>>()
            .expect("a point")
            .same_as(&line.from)
    );
}

#[test]
fn signatures_are_data() {
    let power = Function::typed(|base: f64, exponent: i64| base.powi(exponent as i32))
        .with_parameters(&["base", "exponent"])
        .with_default(1, 2)
        .with_doc("A power.");
    let signature = power.signature().expect("it has one");
    assert_eq!(
        signature.to_string(),
        "(base: float, exponent: int = 2) -> float"
    );
    assert_eq!(signature.returns(), &Schema::Float);
    assert_eq!(
        power.call(&[3.into()]).expect("the default"),
        Value::from(9.0)
    );
    let plain = Function::new(|_| Ok(Value::NONE));
    assert!(plain.signature().is_none() && plain.doc().is_none());
    assert!(plain.with_parameters(&["x"]).signature().is_none());
    let copied = isoform::traverse::deep_copy(power).expect("it is copied");
    let copied = copied.extract::<Function>().expect("a function");
    assert_eq!(copied.doc(), Some("A power."));
}

#[test]
fn groups_are_registered_whole_or_not_at_all() {
    let [fail, read] = exports![inner::fail, inner::read];
    register_functions([fail.clone(), read.clone(), fail.clone()]).expect("the names are free");
    register_functions(exports![inner::fail, inner::read]).expect("they are the same ones");
    let other = Function::typed(|| 1);
    let group = [
        other.named("functions.fresh"),
        other.named("functions.read"),
    ];
    let error = register_functions(group).expect_err("the second name is taken");
    assert_eq!(
        error.message(),
        "global function 'functions.read' is already registered"
    );
    assert!(global_function("functions.fresh").is_err());
    let wrong = Function::typed(|x: i64| x).with_default(0, "x");
    let error = register_functions([wrong.named("functions.wrong")]).expect_err("no int");
    let expected = "the default of functions.wrong() argument 1: expected int, got str";
    assert_eq!(error.message(), expected);
    let error = register_function("functions.wrong", wrong, false).expect_err("no int");
    assert_eq!(error.message(), expected);
    let error = register_functions([other]).expect_err("it has no name");
    assert_eq!(error.message(), "a global function needs a name");
}

#[test]
fn a_registered_function_has_the_name() {
    let function = Function::typed(|| 1);
    register_function("functions.one", function.clone(), false).expect("the name is free");
    let found = global_function("functions.one").expect("it is registered");
    assert_eq!(found.name(), Some("functions.one"));
    assert_eq!(format!("{found:?}"), "Function(functions.one)");
    assert_eq!(function.name(), None);
    register_function("functions.two", found, false).expect("the name is free");
    let found = global_function("functions.two").expect("it is registered");
    assert_eq!(found.name(), Some("functions.two"));
    let names = list_functions();
    assert!(names.iter().any(|name| name == "functions.one"));
    assert!(remove_function("functions.one") && !remove_function("functions.one"));
    assert!(global_function("functions.one").is_err());
}

#[test]
fn errors_name_the_functions_they_passed() {
    let text = "no good".to_owned();
    let inner = inner::fail::function();
    let called = inner.clone();
    let outer = Function::typed(move |message: Value| called.call(&[message])).named("outer");
    let error = outer.call(&[text.clone().into()]).expect_err("it fails");
    let frames = error.frames();
    let names: Vec<_> = frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(names, ["outer", "functions.fail"]);
    assert!(
        frames
            .iter()
            .all(|frame| frame.file.ends_with("functions.rs") && frame.line > 1)
    );
    let lines: Vec<_> = include_str!("functions.rs").lines().collect();
    let made_at = lines[frames[1].line as usize - 1];
    assert_eq!(made_at.trim(), "Err(Error::value_error(message))");
    let traceback = error.traceback();
    assert!(
        traceback.starts_with("Traceback (most recent call last):\n  File \""),
        "{traceback}"
    );
    assert!(
        traceback.ends_with(", in functions.fail\nValueError: no good"),
        "{traceback}"
    );
    assert_eq!(error.to_string(), "ValueError: no good");
    assert_eq!(format!("{error:?}"), traceback);

    // A wrong argument is an error of the call, so the library is not shown.
    let error = inner.call(&[]).expect_err("an argument is missing");
    assert_eq!(error.frames().len(), 1);
    assert_eq!(error.frames()[0].function, "functions.fail");
    let plain = Error::value_error("alone");
    assert_eq!(format!("{plain:?}"), "ValueError: alone");
    assert!(plain.traceback().contains("functions.rs\", line "));

    let error = inner::read::function()
        .call(&["/no/such/file".into()])
        .expect_err("no file");
    assert_eq!(error.kind(), ErrorKind::Io);
    let frames = error.frames();
    assert_eq!(
        (frames.len(), frames[0].function.as_str()),
        (1, "functions.read"),
        "{frames:?}"
    );
}

#[test]
fn kinds_of_ones_own() {
    let error = Error::of_kind("ShapeError", "3 is not 4");
    assert_eq!(
        (error.kind(), error.kind_name()),
        (ErrorKind::Runtime, "ShapeError")
    );
    assert_eq!(Error::type_error("x").kind_name(), "TypeError");
}

#[derive(Node)]
#[node(key = "functions.Named")]
#[repr(C)]
struct Named {
    #[node(base)]
    base: Point,
    label: Str,
}

#[test]
fn methods_are_found_by_name_and_inherited() {
    let area = Function::typed(|this: Ref<Point>, scale: i64| this.x * this.y * scale)
        .with_parameters(&["this", "scale"]);
    let ty = Point::type_index();
    register_method(ty, "area", area.clone(), false).expect("the name is free");
    register_method(ty, "area", area.clone(), false).expect("it is the same one");
    let point = Point::new(2, 3);
    let call = |object: Value, arguments: &[Value]| call_method(object, "area", arguments);
    assert_eq!(
        call((&point).into(), &[2.into()]).expect("it is called"),
        12.into()
    );
    let named = Named::new(Point::clone_fields(&point), "n");
    assert_eq!(
        call((&named).into(), &[1.into()]).expect("it is inherited"),
        6.into()
    );
    let info = named.type_info();
    assert_eq!(
        info.method("area").expect("inherited").name(),
        Some("functions.Point.area")
    );
    assert!(info.methods().is_empty());
    let own = Function::typed(|_: Ref<Named>| "own");
    register_method(info.index(), "area", own, false).expect("the name is free for this type");
    assert_eq!(
        call((&named).into(), &[]).expect("it is overridden"),
        "own".into()
    );
    assert_eq!(
        call((&point).into(), &[1.into()]).expect("it is called"),
        6.into()
    );
    let names: Vec<_> = info.methods().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["area"]);

    let result = call((&point).into(), &["x".into()]);
    let message = "functions.Point.area() argument 'scale': expected int, got str";
    check_error(result, ErrorKind::Type, message);
    let result = call_method(&point, "volume", &[]);
    check_error(
        result,
        ErrorKind::Attribute,
        "functions.Point has no method 'volume'",
    );
    let result = call_method(3, "volume", &[]);
    let message = "expected an object with a method 'volume', got int";
    check_error(result, ErrorKind::Type, message);

    let refused = |name: &str, message: &str| {
        let other = Function::typed(|_: Value| 1);
        let error = register_method(ty, name, other, false).expect_err("it is refused");
        assert_eq!((error.kind(), error.message()), (ErrorKind::Value, message));
    };
    refused(
        "area",
        "type functions.Point: method 'area' is already registered",
    );
    refused(
        "x",
        "type functions.Point: method 'x' has the name of a field",
    );
    refused("", "type functions.Point: a method needs a name");
    register_method(ty, "area", area.named("other"), true).expect("it is replaced");
    assert_eq!(
        point.type_info().method("area").expect("there").name(),
        Some("other")
    );
    // Built-in types have methods as well.
    let length = Function::typed(|items: Array| items.len());
    let array = Value::from(vec![1, 2]);
    let ty = array
        .as_object()
        .expect("an array is an object")
        .type_info()
        .index();
    register_method(ty, "functions_length", length, false).expect("the name is free");
    assert_eq!(
        call_method(array, "functions_length", &[]).expect("it is called"),
        2.into()
    );
}

#[test]
fn two_threads_may_register_the_same_methods() {
    let ty = isoform::types::register_type(isoform::types::TypeDef::new("functions.Raced"))
        .expect("new");
    let method = Function::typed(|_this: Value| 1i64).named("functions.Raced.m");
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                for n in 0..500 {
                    let name = format!("raced_{n}");
                    isoform::functions::register_method(ty, &name, method.clone(), false)
                        .expect("the very same function");
                }
            });
        }
    });
}
