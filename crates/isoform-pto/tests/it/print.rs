//! Programs of the statement dialect as text.

use isoform::{Ref, Value};
use isoform_pto::{
    Add, AssignStmt, BreakStmt, Call, Cast, ConstBool, ConstFloat, ConstInt, DataType, EvalStmt,
    Expr, FloorDiv, ForKind, ForStmt, Function, FunctionType, GlobalVar, IfStmt, InCoreScopeStmt,
    IterArg, Lt, MakeTuple, Min, Mul, Neg, Not, Or, Pow, PrintOptions, Program, ReturnStmt,
    ScalarType, SeqStmts, Span, SplitMode, Stmt, Sub, TensorType, TupleGetItemExpr, TupleType,
    Type, Var, WhileStmt, YieldStmt, python_print,
};

use isoform_testing::source::scaled;

const INT: DataType = DataType::Int64;

fn int() -> Ref<Type> {
    ScalarType::new(INT).upcast()
}

fn var(name: &str) -> Ref<Var> {
    Var::new(name, int())
}

fn number(value: i64) -> Ref<Expr> {
    ConstInt::new(value, INT).upcast()
}

#[track_caller]
fn check(node: impl Into<Value>, expected: &str) {
    let text = python_print(node).expect("the value has a text");
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn parentheses_stand_where_python_needs_them() {
    let [a, b, c] = ["a", "b", "c"].map(var);
    let sum = Add::new(&a, &b, INT);
    check(Add::new(&sum, &c, INT), "a + b + c");
    check(Add::new(&c, &sum, INT), "c + (a + b)");
    check(Mul::new(&sum, &c, INT), "(a + b) * c");
    check(Add::new(Mul::new(&a, &b, INT), &c, INT), "a * b + c");
    check(Sub::new(&a, Neg::new(&b, INT), INT), "a - -b");
    check(Neg::new(&sum, INT), "-(a + b)");
    check(Pow::new(&sum, &c, INT), "(a + b) ** c");
    check(Pow::new(Neg::new(&a, INT), &b, INT), "(-a) ** b");
    check(Neg::new(Pow::new(&a, &b, INT), INT), "-a ** b");
    check(Pow::new(&a, Neg::new(&b, INT), INT), "a ** -b");
    check(Pow::new(number(-2), &b, INT), "(-2) ** b");
    check(Pow::new(Pow::new(&a, &b, INT), &c, INT), "(a ** b) ** c");
    check(Pow::new(&a, Pow::new(&b, &c, INT), INT), "a ** b ** c");
    check(
        FloorDiv::new(&a, Mul::new(&b, &c, INT), INT),
        "a // (b * c)",
    );
    let less = Lt::new(&a, &b, DataType::Bool);
    check(Lt::new(&less, &c, DataType::Bool), "(a < b) < c");
    check(Not::new(&less, DataType::Bool), "not a < b");
    let either = Or::new(&less, &less, DataType::Bool);
    check(Not::new(&either, DataType::Bool), "not (a < b or a < b)");
    check(Min::new(&a, &sum, INT), "pl.min(a, a + b)");
}

#[test]
fn literals_of_unusual_formats_name_them() {
    check(number(5), "5");
    check(ConstInt::new(5, DataType::Int32), "pl.INT32(5)");
    check(ConstFloat::new(0.5, DataType::Fp32), "0.5");
    check(ConstFloat::new(2.0, DataType::Fp16), "pl.FP16(2.0)");
    check(ConstFloat::new(f64::NAN, DataType::Fp32), "float(\"nan\")");
    check(
        ConstFloat::new(f64::NEG_INFINITY, DataType::Fp32),
        "float(\"-inf\")",
    );
    check(ConstBool::new(true), "True");
    check(Cast::new(var("x"), DataType::Fp16), "pl.cast(x, pl.FP16)");
}

#[test]
fn tuples_and_calls_look_like_those_of_python() {
    let x = var("x");
    let tuple = MakeTuple::new([x.clone().upcast()]);
    check(&tuple, "(x,)");
    check(
        TupleGetItemExpr::new(&tuple, 0).expect("an item"),
        "(x,)[0]",
    );
    check(
        Call::new(GlobalVar::new("f"), [x.clone().upcast()]),
        "self.f(x)",
    );
    check(
        TupleType::new([int(), int()]),
        "pl.Tuple[pl.INT64, pl.INT64]",
    );
    check(
        TensorType::new([number(64), x.upcast()], DataType::Fp32),
        "pl.Tensor[[64, x], pl.FP32]",
    );
}

#[test]
fn a_program_reads_like_python() {
    let [n, i, next, out, big] = ["n", "i", "next", "out", "big"].map(var);
    let acc = IterArg::new("acc", int(), number(0));
    let body: [Ref<Stmt>; 2] = [
        AssignStmt::new(&next, Add::new(&acc, &i, INT)).upcast(),
        YieldStmt::new([next.upcast()]).upcast(),
    ];
    let body = SeqStmts::new(body);
    let looped = ForStmt::carrying(&i, number(0), &n, number(1), [acc], body, [out.clone()])
        .with_kind(ForKind::Pipeline);
    let large = Lt::new(number(10), &out, DataType::Bool);
    let branch = IfStmt::new(
        &large,
        YieldStmt::new([out.upcast()]).upcast(),
        Some(YieldStmt::new([number(10)]).upcast()),
        [big.clone()],
    );
    let body: [Ref<Stmt>; 3] = [
        looped.upcast(),
        branch.upcast(),
        ReturnStmt::new([big.upcast()]).upcast(),
    ];
    let function = Function::new("sum", [n], [int()], SeqStmts::new(body));
    let program = Program::new([function], "Sums").expect("a program");
    check(
        &program,
        "\
@pl.program
class Sums:
    @pl.function
    def sum(n: pl.INT64) -> pl.INT64:
        for i, (acc,) in pl.pipeline(0, n, 1, init_values=(0,)):  # acc: pl.INT64
            next: pl.INT64 = acc + i
            out: pl.INT64 = pl.yield_(next)
        if 10 < out:
            big: pl.INT64 = pl.yield_(out)
        else:
            big = pl.yield_(10)
        return big
",
    );
}

#[test]
fn statements_of_all_kinds() {
    let [x, y] = ["x", "y"].map(var);
    let flag = Var::new("flag", ScalarType::new(DataType::Bool));
    let nothing = || SeqStmts::new([]).upcast();
    let chain = IfStmt::new(
        &flag,
        nothing(),
        Some(IfStmt::new(&flag, BreakStmt::new().upcast(), None, []).upcast()),
        [],
    );
    let repeat = WhileStmt::new(&flag, [], chain.upcast(), []);
    check(
        &repeat,
        "\
while flag:
    if flag:
        pass
    elif flag:
        break
",
    );
    let scope = InCoreScopeStmt::new(EvalStmt::new(&x)).with_split(SplitMode::UpDown);
    check(
        &scope,
        "with pl.incore(split=pl.SplitMode.UP_DOWN):\n    x\n",
    );
    let unused = ForStmt::carrying(
        &x,
        number(0),
        number(4),
        number(1),
        [],
        nothing(),
        [y.clone()],
    );
    check(
        &unused,
        "for x in pl.range(0, 4, 1):\n    pass\n    y = ...  # not yielded\n",
    );
    let function = Function::new("f", [], [int(), int()], ReturnStmt::new([]))
        .with_func_type(FunctionType::InCore);
    check(
        &function,
        "@pl.function(type=pl.FunctionType.InCore)\ndef f() -> (pl.INT64, pl.INT64):\n    return\n",
    );
}

#[test]
fn options_show_places_and_rename_the_language() {
    let stmt = AssignStmt::new(var("x"), number(1)).into_object();
    let span = Span::new("a.py", 3, 5);
    let stmt =
        isoform::objects::with_field(&stmt, "span", span.into()).expect("statements have places");
    let options = PrintOptions::default().prefix("t").spans(true);
    let text = options.print(&stmt).expect("a text");
    assert_eq!(text, "x: t.INT64 = 1  # a.py:3:5\n");
}

#[test]
fn names_are_unique_within_a_function_and_start_anew_in_the_next() {
    let function = |name: &str| {
        let [x, y] = ["x", "x"].map(var);
        let body: [Ref<Stmt>; 2] = [
            AssignStmt::new(&y, Add::new(&x, number(1), INT)).upcast(),
            ReturnStmt::new([y.upcast()]).upcast(),
        ];
        Function::new(name, [x], [int()], SeqStmts::new(body))
    };
    let text = python_print(Program::new([function("f"), function("g")], "p").expect("a program"))
        .expect("a text");
    assert_eq!(text.matches("x_1: pl.INT64 = x + 1").count(), 2, "{text}");
    assert_eq!(text.matches("return x_1").count(), 2, "{text}");
}

#[test]
fn shared_parts_are_written_once() {
    let mut x: Ref<Expr> = var("x").upcast();
    for _ in 0..60 {
        x = Add::new(&x, &x, INT).upcast().upcast();
    }
    let text = python_print(&x).expect("a text");
    assert!(text.len() < 2_000, "{text}");
    assert!(text.contains(":= "), "{text}");

    let mut stmt: Ref<Stmt> = EvalStmt::new(number(1)).upcast();
    for _ in 0..60 {
        stmt = SeqStmts::new([stmt.clone(), stmt]).upcast();
    }
    let text = python_print(&stmt).expect("a text");
    assert!(text.len() < 5_000, "{text}");
    assert!(text.contains("# S1 again"), "{text}");
}

#[test]
fn depth_is_limited_by_memory_only() {
    let depth = scaled(1_000_000);
    let x = var("x");
    let (mut left, mut right): (Ref<Expr>, Ref<Expr>) = (x.clone().upcast(), x.clone().upcast());
    for _ in 0..depth {
        left = Add::new(&left, &x, INT).upcast().upcast();
        right = Add::new(&x, &right, INT).upcast().upcast();
    }
    let text = python_print(&left).expect("a text");
    assert_eq!(text.len(), 4 * depth + 1);
    let text = python_print(&right).expect("a text");
    assert_eq!(text.len(), 4 * depth + 1 + 2 * (depth - 1));
    let flag = Var::new("flag", ScalarType::new(DataType::Bool));
    let mut stmt: Ref<Stmt> = EvalStmt::new(number(1)).upcast();
    for _ in 0..depth {
        stmt = IfStmt::new(&flag, stmt, None, []).upcast();
    }
    let text = python_print(&stmt).expect("a text");
    assert!(text.contains(&format!("[{depth}] 1\n")));
}

#[test]
fn other_values_have_no_such_text() {
    let error = python_print(5).expect_err("a number is no program");
    assert!(error.to_string().contains("got int"), "{error}");
}
