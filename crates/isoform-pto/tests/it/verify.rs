//! The rules for well-formed programs of the statement dialect.

use isoform::types::IntoField;
use isoform::{Array, Map, Ref, Str, Value};
use isoform_pto::{
    Add, And, AssignStmt, BitAnd, BreakStmt, Call, Cast, ConstBool, ConstFloat, ConstInt,
    ContinueStmt, DataType, EvalStmt, Expr, ForStmt, Function, GlobalVar, IfStmt, IterArg, Lt, Neg,
    Not, Program, ReturnStmt, ScalarType, SeqStmts, Span, Stmt, TensorType, Type, Var,
    VerifyOptions, WhileStmt, YieldStmt, verify,
};

use isoform_testing::source::scaled;

const INT: DataType = DataType::Int64;

fn int() -> Ref<Type> {
    ScalarType::new(INT).upcast()
}

fn var(name: &str) -> Ref<Var> {
    Var::new(name, int())
}

fn flag(name: &str) -> Ref<Var> {
    Var::new(name, ScalarType::new(DataType::Bool))
}

fn number(value: i64) -> Ref<Expr> {
    ConstInt::new(value, INT).upcast()
}

fn seq<const N: usize>(stmts: [Ref<Stmt>; N]) -> Ref<Stmt> {
    SeqStmts::new(stmts).upcast()
}

fn assign(var: &Ref<Var>, value: impl IntoField<Ref<Expr>>) -> Ref<Stmt> {
    AssignStmt::new(var, value.into_field()).upcast()
}

fn returns(values: impl IntoField<Array<Ref<Expr>>>) -> Ref<Stmt> {
    ReturnStmt::new(values.into_field()).upcast()
}

fn function(params: &[&Ref<Var>], body: Ref<Stmt>) -> Ref<Function> {
    let params: Vec<_> = params.iter().map(|&param| param.clone()).collect();
    Function::new("f", params, [], body)
}

#[track_caller]
fn check(node: impl Into<Value>, expected: &[&str]) {
    check_with(node, VerifyOptions::default(), expected);
}

#[track_caller]
fn check_with(node: impl Into<Value>, options: VerifyOptions, expected: &[&str]) {
    let failures = verify(node, &options).expect("the check comes to its end");
    let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(texts, expected);
}

/// `for i in 0..n: acc = acc + i`, with the result returned.
fn sum(
    init: Ref<Expr>,
    out: &Ref<Var>,
    yielded: impl Fn(&Ref<Var>) -> Vec<Ref<Expr>>,
) -> Ref<Stmt> {
    let [i, next] = ["i", "next"].map(var);
    let acc = IterArg::new("acc", int(), init);
    let body = seq([
        assign(&next, Add::new(&acc, &i, INT)),
        YieldStmt::new(yielded(&next)).upcast(),
    ]);
    let zero = number(0);
    ForStmt::carrying(&i, &zero, number(8), number(1), [acc], body, [out.clone()]).upcast()
}

#[test]
fn a_loop_that_carries_a_sum_is_well_formed() {
    let out = var("out");
    let looped = sum(number(0), &out, |next| vec![next.clone().upcast()]);
    let body = seq([looped, returns([out.clone().upcast()])]);
    check(Function::new("sum", [], [int()], body), &[]);
}

#[test]
fn operands_and_results_have_types_that_go_together() {
    let (x, f) = (var("x"), Var::new("f", ScalarType::new(DataType::Fp32)));
    let b = flag("b");
    check(
        Add::new(&x, &f, INT),
        &["<root>: TypeError: pto.Add: right: expected type INT64 as left, got FP32"],
    );
    check(
        Add::new(&x, &b, INT),
        &["<root>: TypeError: pto.Add: right: expected a number, got BOOL"],
    );
    check(
        Lt::new(&x, &x, INT),
        &["<root>: TypeError: pto.Lt: type: expected BOOL, got INT64"],
    );
    check(
        And::new(&x, &b, DataType::Bool),
        &["<root>: TypeError: pto.And: left: expected a truth value, got INT64"],
    );
    check(
        BitAnd::new(&f, &f, DataType::Fp32),
        &[
            "<root>: TypeError: pto.BitAnd: left: expected an integer, got FP32; right: expected an integer, got FP32",
        ],
    );
    check(
        Not::new(&x, DataType::Bool),
        &["<root>: TypeError: pto.Not: operand: expected a truth value, got INT64"],
    );
    check(
        Neg::new(&x, DataType::Fp32),
        &["<root>: TypeError: pto.Neg: type: expected INT64, got FP32"],
    );
    check(Cast::new(&x, DataType::Fp32), &[]);
    // Indices are 64-bit integers.
    check(Add::new(&x, ConstInt::new(1, DataType::Index), INT), &[]);
}

#[test]
fn literals_fit_their_formats() {
    check(ConstInt::new(127, DataType::Int8), &[]);
    check(
        ConstInt::new(128, DataType::Int8),
        &[
            "<root>: ValueError: pto.ConstInt: value: expected -128 to 127, the range of INT8, got 128",
        ],
    );
    check(
        ConstInt::new(-1, DataType::UInt64),
        &[
            "<root>: ValueError: pto.ConstInt: value: expected 0 to 18446744073709551615, the range of UINT64, got -1",
        ],
    );
    check(
        ConstFloat::new(1.0, DataType::Int8),
        &["<root>: TypeError: pto.ConstFloat: type: expected a float, got INT8"],
    );
}

#[test]
fn loops_result_in_what_they_carry() {
    let out = var("out");
    let carried = |args: Vec<Ref<IterArg>>, body: Ref<Stmt>, results: Vec<Ref<Var>>| {
        ForStmt::carrying(
            var("i"),
            number(0),
            number(8),
            number(0),
            args,
            body,
            results,
        )
    };
    let acc = || IterArg::new("acc", int(), number(0));
    let zero = "ValueError: pto.ForStmt: step: expected another number than 0, got 0";
    check(
        carried(vec![acc()], seq([]), vec![]),
        &[
            &format!(
                "<root>: {zero}; return_vars: expected 1, as many as there are iter_args, got 0"
            ),
            "<root>.body: ValueError: expected a yield of 1 values at the end, got none",
        ],
    );
    let wrong = IterArg::new("acc", int(), ConstFloat::new(0.0, DataType::Fp32));
    let body = YieldStmt::new([ConstBool::new(true).upcast()]).upcast();
    check(
        carried(vec![wrong], body, vec![flag("out")]),
        &[
            "<root>.iter_args[0]: TypeError: pto.IterArg: init_value: expected type INT64, got FP32",
            &format!("<root>: {zero}; return_vars[0]: expected type INT64, got BOOL"),
            "<root>.body.value[0]: TypeError: yield: expected type INT64, got BOOL",
        ],
    );
    check(
        sum(number(0), &out, |_| Vec::new()),
        &["<root>.body.stmts[1]: ValueError: yield: expected 1 values, got 0"],
    );
}

#[test]
fn yields_stand_at_the_end_of_bodies_and_nowhere_else() {
    let stray: Ref<Stmt> = YieldStmt::new([number(1)]).upcast();
    let text = "ValueError: yield: expected at the end of the body of a loop or an if";
    check(&stray, &[&format!("<root>: {text}")]);
    check(
        seq([stray.clone(), stray]),
        &[
            &format!("<root>.stmts[0]: {text}"),
            &format!("<root>.stmts[1]: {text}"),
        ],
    );
    let branch = IfStmt::new(
        flag("c"),
        YieldStmt::new([number(1)]).upcast(),
        Some(seq([])),
        [var("x")],
    );
    check(
        branch,
        &["<root>.else_body: ValueError: expected a yield of 1 values at the end, got none"],
    );
    let branch = IfStmt::new(
        flag("c"),
        YieldStmt::new([number(1)]).upcast(),
        None,
        [var("x")],
    );
    check(
        branch,
        &["<root>: ValueError: pto.IfStmt: else_body: expected one that yields 1 values, got none"],
    );
}

#[test]
fn jumps_stand_in_loops_and_returns_fit_their_function() {
    let jumps = seq([BreakStmt::new().upcast(), ContinueStmt::new().upcast()]);
    check(
        &jumps,
        &[
            "<root>.stmts[0]: ValueError: break: expected in a loop",
            "<root>.stmts[1]: ValueError: continue: expected in a loop",
        ],
    );
    check(WhileStmt::new(flag("c"), [], jumps, []), &[]);
    check(
        Function::new("f", [], [int()], returns([ConstBool::new(true).upcast()])),
        &["<root>.body.value[0]: TypeError: return: expected type INT64, got BOOL"],
    );
    check(
        Function::new("f", [], [int()], returns([])),
        &["<root>.body: ValueError: return: expected 1 values, got 0"],
    );
    check(
        Function::new("f", [], [int()], seq([])),
        &[
            "<root>.body: ValueError: function 'f': expected a return of 1 values at the end, got none",
        ],
    );
}

#[test]
fn variables_are_defined_before_their_uses_on_every_path() {
    let [x, y] = ["x", "y"].map(var);
    let c = flag("c");
    check(
        function(&[], assign(&y, &x)),
        &["<root>.body.value: ValueError: variable 'x' is used before it is defined"],
    );
    // The value comes before the variable.
    check(
        function(&[], assign(&x, Add::new(&x, number(1), INT))),
        &["<root>.body.value.left: ValueError: variable 'x' is used before it is defined"],
    );
    let partly = IfStmt::new(&c, assign(&x, number(1)), None, []);
    check(
        function(&[&c], seq([partly.upcast(), assign(&y, &x)])),
        &[
            "<root>.body.stmts[1].value: ValueError: variable 'x' is used where it has no value on every path",
        ],
    );
    let both = IfStmt::new(&c, assign(&x, number(1)), Some(assign(&x, number(2))), []);
    check(function(&[&c], seq([both.upcast(), assign(&y, &x)])), &[]);
    let guarded = IfStmt::new(&c, returns([]), Some(assign(&x, number(2))), []);
    check(
        function(&[&c], seq([guarded.upcast(), assign(&y, &x)])),
        &[],
    );
    let guarded = IfStmt::new(&c, assign(&x, number(2)), Some(returns([])), []);
    check(
        function(&[&c], seq([guarded.upcast(), assign(&y, &x)])),
        &[],
    );
    let looped = ForStmt::new(
        var("i"),
        number(0),
        number(8),
        number(1),
        assign(&x, number(1)),
    );
    check(
        function(&[], seq([looped.upcast(), assign(&y, &x)])),
        &[
            "<root>.body.stmts[1].value: ValueError: variable 'x' is used where it has no value on every path",
        ],
    );
    // The loop variable has no value in the bounds.
    let i = var("i");
    let looped = ForStmt::new(&i, &i, number(8), number(1), seq([]));
    check(
        function(&[], looped.upcast()),
        &["<root>.body.start: ValueError: variable 'i' is used before it is defined"],
    );
}

#[test]
fn variables_are_defined_once_unless_that_is_allowed() {
    let x = var("x");
    let twice = function(&[], seq([assign(&x, number(1)), assign(&x, number(2))]));
    check(
        &twice,
        &[
            "<root>.body.stmts[1].var: ValueError: variable 'x' is defined again, after <root>.body.stmts[0].var",
        ],
    );
    check_with(
        &twice,
        VerifyOptions::default().allow_redefinition(true),
        &[],
    );
    // A statement at two places defines at both.
    let stmt = seq([assign(&x, number(1)), assign(&var("z"), number(1))]);
    check(
        function(&[], seq([stmt.clone(), stmt.clone()])),
        &[
            "<root>.body.stmts[1]: ValueError: variable 'x' is defined again, after \
           <root>.body.stmts[0].stmts[0].var, by a statement that occurs at both places",
        ],
    );
    let c = flag("c");
    let branch = IfStmt::new(&c, stmt.clone(), Some(stmt), []).upcast();
    check(function(&[&c], seq([branch, assign(&var("y"), &x)])), &[]);
}

#[test]
fn statements_without_function_take_outer_variables_as_given() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    check(assign(&y, &x), &[]);
    check(
        seq([assign(&z, &y), assign(&y, &x)]),
        &["<root>.stmts[0].value: ValueError: variable 'y' is used before it is defined"],
    );
}

#[test]
fn symbolic_sizes_are_defined_by_the_types_of_parameters() {
    let n = var("n");
    let tensor = TensorType::new([n.clone().upcast()], DataType::Fp32);
    let param = Var::new("t", tensor);
    check(function(&[&param], EvalStmt::new(&n).upcast()), &[]);
}

#[test]
fn calls_fit_the_functions_of_the_program() {
    let x = var("x");
    let callee = Function::new("g", [x.clone()], [int()], returns([x.upcast()]));
    let call = |args: Vec<Ref<Expr>>, ty: Ref<Type>, name: &str| {
        let call = Call::typed(GlobalVar::new(name), args, ty);
        Function::new("f", [], [], EvalStmt::new(call))
    };
    let program =
        |caller: Ref<Function>| Program::new([callee.clone(), caller], "p").expect("a program");
    let path = "<root>.functions[\"f\"].body.expr";
    check(program(call(vec![number(1)], int(), "g")), &[]);
    check(
        program(call(vec![number(1)], int(), "h")),
        &[&format!(
            "{path}: ValueError: call of 'h': expected a function of the program"
        )],
    );
    check(
        program(call(vec![], int(), "g")),
        &[&format!(
            "{path}: ValueError: call of 'g': expected 1 arguments, got 0"
        )],
    );
    check(
        program(call(vec![ConstBool::new(true).upcast()], int(), "g")),
        &[&format!(
            "{path}: TypeError: call of 'g': args[0]: expected type INT64, got BOOL"
        )],
    );
    let wrong = ScalarType::new(DataType::Bool).upcast();
    check(
        program(call(vec![number(1)], wrong, "g")),
        &[&format!(
            "{path}: TypeError: call of 'g': expected a result of type INT64, got BOOL"
        )],
    );
}

#[test]
fn failures_say_where_the_program_was_written() {
    let stmt = BreakStmt::new().into_object();
    let stmt = isoform::objects::with_field(&stmt, "span", Span::new("a.py", 3, 5).into())
        .expect("a span");
    check(
        &stmt,
        &["<root>: a.py:3:5: ValueError: break: expected in a loop"],
    );
}

#[test]
fn depth_and_sharing_cost_no_more_than_size() {
    let depth = scaled(1_000_000);
    let (x, c) = (var("x"), flag("c"));
    let mut stmt: Ref<Stmt> = assign(&x, number(1));
    for _ in 0..depth {
        stmt = IfStmt::new(&c, stmt, None, []).upcast();
    }
    check(function(&[&c], stmt), &[]);

    let mut expr: Ref<Expr> = number(1);
    for _ in 0..depth {
        expr = Add::new(number(1), &expr, INT).upcast().upcast();
    }
    check(function(&[], EvalStmt::new(expr).upcast()), &[]);

    let mut expr: Ref<Expr> = x.clone().upcast();
    let mut stmt: Ref<Stmt> = EvalStmt::new(&x).upcast();
    for _ in 0..60 {
        expr = Add::new(&expr, &expr, INT).upcast().upcast();
        stmt = IfStmt::new(&c, seq([stmt.clone(), stmt.clone()]), Some(stmt), []).upcast();
    }
    check(
        function(&[&c, &x], seq([stmt, EvalStmt::new(expr).upcast()])),
        &[],
    );
}

#[test]
fn variables_in_attributes_need_values() {
    let (n, x, i) = (var("n"), var("x"), var("i"));
    let attrs = |values: Vec<Value>| {
        let mut attrs = Map::<Str, Value>::new();
        attrs.insert("note".into(), values.into());
        attrs
    };
    let of = |used: &Ref<Var>| {
        let size = TensorType::new(vec![used.clone().upcast()], DataType::Fp32);
        attrs(vec![Value::from(7), Value::from(used), Value::from(&size)])
    };
    let each = ForStmt::new(&i, number(0), &n, number(1), SeqStmts::new([]));
    let looping = |used: &Ref<Var>| function(&[&n], each.with_attrs(of(used)).upcast());
    check(looping(&n), &[]);
    check(
        looping(&x),
        &["<root>.body.attrs[\"note\"][1]: ValueError: variable 'x' is used before it is defined"],
    );
    // The loop reads them before the number of the iteration is known.
    check(
        looping(&i),
        &["<root>.body.attrs[\"note\"][1]: ValueError: variable 'i' is used before it is defined"],
    );
    let body = returns([]);
    check(function(&[&n], body.clone()).with_attrs(of(&n)), &[]);
    check(
        function(&[&n], body).with_attrs(of(&x)),
        &["<root>.attrs[\"note\"][1]: ValueError: variable 'x' is used before it is defined"],
    );
}
