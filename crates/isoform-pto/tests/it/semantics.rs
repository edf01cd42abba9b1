//! Equality in the statement dialect, pair by pair: in both directions, by the
//! engine and by the oracle, and with hashes that agree.

use isoform::compare::CompareOptions;
use isoform::{Array, Map, Ref, Value};
use isoform_pto::operators::{add, lt};
use isoform_pto::{
    AssignStmt, BreakStmt, Call, ClusterScopeStmt, ConstFloat, ConstInt, DataType, EvalStmt, Expr,
    ForKind, ForStmt, Function, GlobalVar, IfStmt, InCoreScopeStmt, IterArg, MakeTuple, MemRef, Op,
    Program, PtrType, ReturnStmt, ScalarType, SeqStmts, Span, SplitMode, Stmt, TensorType, Var,
    WhileStmt, YieldStmt,
};
use isoform_testing::oracle;

fn var(name: &str) -> Ref<Var> {
    Var::new(name, ScalarType::new(DataType::Int64))
}

fn int(value: i64) -> Ref<Expr> {
    ConstInt::new(value, DataType::Int64).upcast()
}

fn plus(left: &Ref<Var>, right: &Ref<Var>) -> Ref<Expr> {
    add(left, right).unwrap()
}

fn seq<const COUNT: usize>(stmts: [Ref<Stmt>; COUNT]) -> Ref<Stmt> {
    SeqStmts::new(stmts).upcast()
}

fn assign(var: &Ref<Var>, value: &Ref<Expr>) -> Ref<Stmt> {
    AssignStmt::new(var, value).upcast()
}

fn eval(expr: &Ref<Expr>) -> Ref<Stmt> {
    EvalStmt::new(expr).upcast()
}

fn no_vars() -> Array<Ref<Var>> {
    Array::new()
}

/// Both values of a pair, in each way of comparing.
fn check(what: &str, left: impl Into<Value>, right: impl Into<Value>, plain: bool, mapped: bool) {
    let (left, right): (Value, Value) = (left.into(), right.into());
    for (map_free_vars, expected) in [(false, plain), (true, mapped)] {
        let options = CompareOptions {
            map_free_vars,
            ..CompareOptions::default()
        };
        for (first, second) in [(&left, &right), (&right, &left)] {
            let equal = options.equal(first, second).unwrap();
            assert_eq!(equal, expected, "{what}, map_free_vars={map_free_vars}");
            let mismatch = options.first_mismatch(first, second).unwrap();
            assert_eq!(mismatch.is_none(), expected, "{what}: mismatch");
            assert_eq!(
                oracle::equal(first, second, options).unwrap(),
                expected,
                "{what}: oracle, map_free_vars={map_free_vars}"
            );
        }
        let hashes = [&left, &right].map(|value| options.hash(value).unwrap());
        assert_eq!(
            hashes[0] == hashes[1],
            expected,
            "{what}: hash, map_free_vars={map_free_vars}"
        );
    }
}

/// A pair made by the same program with other objects.
fn twice<T: Into<Value>>(make: impl Fn() -> T) -> (Value, Value) {
    (make().into(), make().into())
}

fn same(what: &str, make: impl Fn() -> Value, plain: bool) {
    let (left, right) = twice(make);
    check(what, left, right, plain, true);
}

#[test]
fn what_an_assignment_defines_is_seen_by_later_siblings() {
    let program = || {
        let (x, y) = (var("x"), var("y"));
        seq([
            assign(&x, &int(1)),
            assign(&y, &plus(&x, &x)),
            eval(&plus(&x, &y)),
        ])
        .into()
    };
    same("assignments", program, true);
    // Also out of nested sequences, branches and scopes of hardware.
    let nested = || {
        let x = var("x");
        seq([seq([assign(&x, &int(1))]), eval(&plus(&x, &x))]).into()
    };
    same("out of a sequence", nested, true);
    let scoped = || {
        let x = var("x");
        let inner = InCoreScopeStmt::new(assign(&x, &int(1))).upcast().upcast();
        seq([inner, eval(&plus(&x, &x))]).into()
    };
    same("out of a scope of hardware", scoped, true);

    let swapped = |swap: bool| {
        let (x, y) = (var("x"), var("y"));
        let sum = if swap { plus(&y, &x) } else { plus(&x, &y) };
        seq([assign(&x, &int(1)), assign(&y, &int(1)), eval(&sum)])
    };
    check("swapped uses", swapped(false), swapped(true), false, false);
    let used_before = || {
        let x = var("x");
        seq([eval(&plus(&x, &x)), assign(&x, &int(1))]).into()
    };
    same("a use in front of the definition", used_before, false);
}

#[test]
fn free_variables_are_mapped_on_demand_only() {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    check("other variables", plus(&x, &x), plus(&y, &y), false, true);
    check("x + x and x + y", plus(&x, &x), plus(&x, &y), false, false);
    check("x + y and y + x", plus(&x, &y), plus(&y, &x), false, true);
    check("consistent", plus(&x, &y), plus(&y, &z), false, true);
    check("the same", plus(&x, &y), plus(&x, &y), true, true);
    let stmt = |value: &Ref<Var>| assign(&var("t"), &value.clone().upcast());
    check("a free value", stmt(&x), stmt(&y), false, true);
    check("the same free value", stmt(&x), stmt(&x), true, true);
    let typed = |dtype| Var::new("v", ScalarType::new(dtype));
    check(
        "other type",
        typed(DataType::Int64),
        typed(DataType::Int32),
        false,
        false,
    );
    check(
        "same type",
        typed(DataType::Int64),
        typed(DataType::Int64),
        false,
        true,
    );
}

fn carrying(init: &Ref<Expr>, used: usize) -> Ref<Stmt> {
    let (i, out) = (var("i"), var("out"));
    let first = IterArg::new("a", ScalarType::new(DataType::Int64), init);
    let second = IterArg::new("b", ScalarType::new(DataType::Int64), int(0));
    let args = [first, second];
    let sum = add(&args[used], &i).unwrap();
    let body = YieldStmt::new([sum.clone(), sum]);
    let vars = [out.clone(), var("rest")];
    let looped = ForStmt::carrying(&i, int(0), int(8), int(1), args, body, vars);
    seq([looped.upcast(), ReturnStmt::new([out.upcast()]).upcast()])
}

#[test]
fn loops_bind_what_they_count_carry_and_result_in() {
    same("a loop", || carrying(&int(0), 0).into(), true);
    check(
        "another carried value",
        carrying(&int(0), 0),
        carrying(&int(0), 1),
        false,
        false,
    );
    check(
        "another first value",
        carrying(&int(0), 0),
        carrying(&int(1), 0),
        false,
        false,
    );
    let (x, y) = (var("x").upcast(), var("y").upcast());
    check(
        "a free first value",
        carrying(&x, 0),
        carrying(&y, 0),
        false,
        true,
    );
    check(
        "the same first value",
        carrying(&x, 0),
        carrying(&x, 0),
        true,
        true,
    );

    let kind = |kind: ForKind| {
        ForStmt::new(var("i"), int(0), int(8), int(1), BreakStmt::new()).with_kind(kind)
    };
    check(
        "other kind",
        kind(ForKind::Parallel),
        kind(ForKind::Unroll),
        false,
        false,
    );
    let annotated = |pairs: &[(&str, i64)]| {
        let mut attrs = Map::new();
        for (name, value) in pairs {
            attrs.insert((*name).into(), Value::from(*value));
        }
        ForStmt::new(var("i"), int(0), int(8), int(1), BreakStmt::new()).with_attrs(attrs)
    };
    let (first, second) = (
        annotated(&[("a", 1), ("b", 2)]),
        annotated(&[("b", 2), ("a", 1)]),
    );
    check("order of attributes", first, second, true, true);
    check(
        "other attribute",
        annotated(&[("a", 1)]),
        annotated(&[("a", 2)]),
        false,
        false,
    );

    let looped = || {
        let (i, total) = (var("i"), var("total"));
        let inner = ForStmt::new(&i, int(0), int(8), int(1), assign(&total, &plus(&i, &i)));
        // The number of the last iteration and the variables it assigned stay
        // visible.
        seq([inner.upcast(), eval(&plus(&i, &total))]).into()
    };
    same("uses behind the loop", looped, true);
}

#[test]
fn the_condition_of_a_loop_sees_what_it_carries() {
    let looped = |which: usize| {
        let make = |name| IterArg::new(name, ScalarType::new(DataType::Int64), int(0));
        let args = [make("a"), make("b")];
        let condition = lt(&args[which], 8).unwrap();
        let body = YieldStmt::new([
            args[1].clone().upcast().upcast(),
            args[0].clone().upcast().upcast(),
        ]);
        let out = [var("x"), var("y")];
        let uses = eval(&plus(&out[0], &out[1]));
        seq([WhileStmt::new(condition, args, body, out).upcast(), uses])
    };
    same("a loop", || looped(0).into(), true);
    check("another condition", looped(0), looped(1), false, false);
}

#[test]
fn branches_define_what_they_result_in() {
    let branch = |swap: bool| {
        let (x, y) = (var("x"), var("y"));
        let then_body = YieldStmt::new([int(1), int(2)]).upcast();
        let else_body: Option<Ref<Stmt>> = Some(YieldStmt::new([int(3), int(4)]).upcast());
        let vars = [x.clone(), y.clone()];
        let branch = IfStmt::new(lt(1, 2).unwrap(), then_body, else_body, vars);
        let result = if swap { plus(&y, &x) } else { plus(&x, &y) };
        seq([branch.upcast(), eval(&result)])
    };
    same("a branch", || branch(false).into(), true);
    check("other result", branch(false), branch(true), false, false);
    let bare = |else_body: Option<Ref<Stmt>>| {
        let then_body: Ref<Stmt> = BreakStmt::new().upcast();
        IfStmt::new(lt(1, 2).unwrap(), then_body, else_body, no_vars())
    };
    check("no else", bare(None), bare(Some(seq([]))), false, false);
}

fn function(name: &str, bodies: &str) -> Ref<Function> {
    let (x, y) = (var("x"), var("y"));
    let sum = match bodies {
        "xy" => plus(&x, &y),
        _ => plus(&y, &x),
    };
    let params = [x, y];
    let result = ScalarType::new(DataType::Int64).upcast();
    Function::new(name, params, [result], ReturnStmt::new([sum]))
}

#[test]
fn functions_are_scopes_and_their_names_do_not_count() {
    check(
        "other name",
        function("f", "xy"),
        function("g", "xy"),
        true,
        true,
    );
    check(
        "other body",
        function("f", "xy"),
        function("f", "yx"),
        false,
        false,
    );
    // A parameter is free again after the function.
    let leaking = || {
        let x = var("x");
        let ty = ScalarType::new(DataType::Int64).upcast();
        let use_it = ReturnStmt::new([x.clone().upcast()]);
        let f = Function::new("f", [x.clone()], [ty], use_it);
        Array::<Value>::from(vec![Value::from(f), x.into()]).into()
    };
    same("a use behind the function", leaking, false);
    let shared = |second: &Ref<Function>| {
        Array::<Value>::from(vec![Value::from(function("f", "xy")), second.into()])
    };
    let twice = function("f", "xy");
    check(
        "one function twice",
        shared(&twice),
        shared(&function("h", "xy")),
        true,
        true,
    );
    // Shadowing: an inner definition of the same variable is a different one.
    let shadowed = |again: bool| {
        let x = var("x");
        let inner = if again { x.clone() } else { var("x") };
        seq([
            assign(&x, &int(1)),
            assign(&inner, &int(2)),
            eval(&plus(&inner, &inner)),
        ])
    };
    check("assigned again", shadowed(true), shadowed(true), true, true);
    check(
        "assigned again, or another",
        shadowed(true),
        shadowed(false),
        false,
        false,
    );
}

#[test]
fn programs_link_by_name() {
    let program = |names: [&str; 2], called: &str| {
        let body = eval(&Call::new(GlobalVar::new(called), Array::<Ref<Expr>>::new()).upcast());
        let [first, second] = names;
        let nothing = Array::new;
        let functions = [
            Function::new(first, no_vars(), nothing(), body),
            Function::new(second, no_vars(), nothing(), BreakStmt::new()),
        ];
        Program::new(functions, "p").unwrap()
    };
    let original = program(["f", "g"], "g");
    check(
        "the same",
        &original,
        program(["f", "g"], "g").with_name("q"),
        true,
        true,
    );
    check(
        "another name",
        &original,
        program(["f", "h"], "h"),
        false,
        false,
    );
    check(
        "another callee",
        &original,
        program(["f", "g"], "f"),
        false,
        false,
    );
}

#[test]
fn names_and_places_are_ignored() {
    let (x, place) = (var("x"), Span::new("a.py", 1, 2));
    let value = Call::new(Op::new("f"), [int(1)]);
    assert!(!Span::unknown().same_as(&place));
    let named = |hint: &str| {
        InCoreScopeStmt::new(eval(&x.clone().upcast()))
            .upcast()
            .with_name_hint(hint)
    };
    check(
        "spans",
        Span::new("a", 1, 1),
        Span::new("b", 1, 1),
        false,
        false,
    );
    check(
        "operators by name",
        &value,
        Call::new(Op::new("f"), [int(1)]),
        true,
        true,
    );
    check(
        "other operator",
        &value,
        Call::new(Op::new("g"), [int(1)]),
        false,
        false,
    );
    check(
        "operator and function",
        &value,
        Call::new(GlobalVar::new("f"), [int(1)]),
        false,
        false,
    );
    let split = |mode| InCoreScopeStmt::new(BreakStmt::new()).with_split(mode);
    check(
        "split",
        split(SplitMode::None),
        split(SplitMode::UpDown),
        false,
        false,
    );
    let cluster: Ref<Stmt> = ClusterScopeStmt::new(BreakStmt::new()).upcast().upcast();
    let in_core: Ref<Stmt> = InCoreScopeStmt::new(BreakStmt::new()).upcast().upcast();
    check("other scope", cluster, in_core, false, false);
    let _ = named;
}

#[test]
fn memory_is_compared_by_layout() {
    let tensor = |offset: i64, base: &Ref<Var>| {
        TensorType::new([int(4)], DataType::Fp16).at(MemRef::new(base, offset, 64))
    };
    let base = || Var::new("base", PtrType::new());
    let placed = |offsets: [i64; 2], one_base: bool| {
        let first = base();
        let second = if one_base { first.clone() } else { base() };
        let (a, b) = (
            Var::new("a", tensor(offsets[0], &first)),
            Var::new("b", tensor(offsets[1], &second)),
        );
        let value = Call::new(Op::new("make"), Array::<Ref<Expr>>::new()).upcast();
        seq([assign(&a, &value), assign(&b, &value)])
    };
    check(
        "layout",
        placed([0, 64], true),
        placed([0, 64], true),
        true,
        true,
    );
    check(
        "other offset",
        placed([0, 64], true),
        placed([0, 32], true),
        false,
        false,
    );
    check(
        "other base",
        placed([0, 64], true),
        placed([0, 64], false),
        false,
        false,
    );
    let shared = |is_same: bool| {
        let base = base();
        let first = MemRef::new(&base, 0, 64);
        let second = if is_same {
            first.clone()
        } else {
            MemRef::new(&base, 0, 64)
        };
        let ty = |memref| TensorType::new([int(4)], DataType::Fp16).at(memref);
        let elements = [
            Var::new("a", ty(first)).upcast(),
            Var::new("b", ty(second)).upcast(),
        ];
        MakeTuple::new(elements)
    };
    check(
        "one reference, or two",
        shared(true),
        shared(false),
        false,
        false,
    );
}

#[test]
fn numbers_are_compared_by_bits_and_nan_is_one() {
    let float = |value: f64| ConstFloat::new(value, DataType::Fp32);
    check("NaN", float(f64::NAN), float(-f64::NAN), true, true);
    check("zero", float(0.0), float(-0.0), false, false);
    let (one, other) = (
        ConstInt::new(1, DataType::Int64),
        ConstInt::new(1, DataType::Int32),
    );
    check("formats", one, other, false, false);
}
