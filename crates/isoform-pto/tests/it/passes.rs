//! Passes of the statement dialect: their results, and that programs still
//! compute the same values.

use std::collections::HashMap;

use isoform::errors::ErrorKind;
use isoform::text::assert_structural_equal;
use isoform::traverse::deep_copy;
use isoform::types::IntoField;
use isoform::{Node, Ref, Result, Value, structural_equal};
use isoform_pto as pto;
use isoform_pto::{
    Add, And, AssignStmt, BinaryExpr, BitAnd, BitOr, BitShiftLeft, BitShiftRight, BitXor, Call,
    Cast, ConstBool, ConstFloat, ConstInt, DataType, EvalStmt, Expr, FloatDiv, FloorDiv, FloorMod,
    ForStmt, Function, IfStmt, Lt, Max, Min, Mul, Neg, Op, Program, ReturnStmt, STATEFUL,
    ScalarType, SeqStmts, Stmt, Sub, UnaryExpr, Var, WhileStmt, cse, simplify,
};
use isoform_testing::source::split_mix;

use isoform_testing::source::scaled;

const I64: DataType = DataType::Int64;

fn var_of(name: &str, format: DataType) -> Ref<Var> {
    Var::new(name, ScalarType::new(format))
}

fn var(name: &str) -> Ref<Var> {
    var_of(name, I64)
}

fn int(value: i64) -> Ref<ConstInt> {
    ConstInt::new(value, I64)
}

fn expr(node: impl IntoField<Ref<Expr>>) -> Ref<Expr> {
    node.into_field()
}

fn add(left: impl IntoField<Ref<Expr>>, right: impl IntoField<Ref<Expr>>) -> Ref<Expr> {
    expr(Add::new(left, right, I64))
}

fn mul(left: impl IntoField<Ref<Expr>>, right: impl IntoField<Ref<Expr>>) -> Ref<Expr> {
    expr(Mul::new(left, right, I64))
}

fn assign(var: &Ref<Var>, value: impl IntoField<Ref<Expr>>) -> Ref<Stmt> {
    AssignStmt::new(var, value.into_field()).upcast()
}

fn returns(values: &[&Ref<Var>]) -> Ref<Stmt> {
    let values: Vec<Ref<Expr>> = values.iter().map(|&value| expr(value)).collect();
    ReturnStmt::new(values).upcast()
}

fn seq(stmts: impl IntoIterator<Item = Ref<Stmt>>) -> Ref<Stmt> {
    SeqStmts::new(stmts.into_iter().collect::<Vec<_>>()).upcast()
}

fn function(params: &[&Ref<Var>], body: Ref<Stmt>) -> Ref<Function> {
    let params: Vec<Ref<Var>> = params.iter().map(|&param| param.clone()).collect();
    Function::new("f", params, [ScalarType::new(I64).upcast()], body)
}

#[track_caller]
fn check_cse(params: &[&Ref<Var>], before: Ref<Stmt>, after: Ref<Stmt>) {
    let before = Value::from(function(params, before));
    let done = cse(&before).expect("a function");
    let after = function(params, after);
    assert_structural_equal(&done, &after).expect("the same program");
    // There is nothing left to do.
    assert_eq!(cse(&done).expect("a function"), done);
    let program = Program::new([before.extract().expect("a function")], "p").expect("a program");
    let done: Ref<Program> = cse(program).expect("a program").extract().expect("one");
    assert_structural_equal(done.function("f").expect("f"), &after).expect("the same program");
}

#[track_caller]
fn check_unchanged(params: &[&Ref<Var>], body: Ref<Stmt>) {
    let before = Value::from(function(params, body));
    assert_eq!(cse(&before).expect("a function"), before);
}

#[test]
fn what_has_a_variable_is_read_from_it() {
    let (a, b, x, y, z) = (var("a"), var("b"), var("x"), var("y"), var("z"));
    check_cse(
        &[&a, &b],
        seq([
            assign(&x, add(&a, &b)),
            assign(&y, mul(add(&a, &b), &b)),
            // An assignment that only repeats a value disappears with the variable.
            assign(&z, mul(add(&a, &b), &b)),
            returns(&[&x, &y, &z]),
        ]),
        seq([
            assign(&x, add(&a, &b)),
            assign(&y, mul(&x, &b)),
            returns(&[&x, &y, &y]),
        ]),
    );
}

#[test]
fn what_has_no_variable_gets_one_in_front_of_its_first_use() {
    let (a, b, x, y, t) = (var("a"), var("b"), var("x"), var("y"), var("t"));
    let sum = || add(&a, &b);
    check_cse(
        &[&a, &b],
        seq([
            assign(&x, expr(Neg::new(mul(sum(), sum()), I64))),
            assign(&y, mul(&x, sum())),
            returns(&[&y]),
        ]),
        seq([
            assign(&t, sum()),
            assign(&x, expr(Neg::new(mul(&t, &t), I64))),
            assign(&y, mul(&x, &t)),
            returns(&[&y]),
        ]),
    );
    // Only the largest common part gets a variable: inside it, a + b is
    // computed once.
    let product = || mul(sum(), int(3));
    check_cse(
        &[&a, &b],
        seq([
            assign(&x, add(product(), int(1))),
            assign(&y, add(product(), int(2))),
            returns(&[&x, &y]),
        ]),
        seq([
            assign(&t, product()),
            assign(&x, add(&t, int(1))),
            assign(&y, add(&t, int(2))),
            returns(&[&x, &y]),
        ]),
    );
}

#[test]
fn values_are_not_taken_out_of_branches_and_loops() {
    let (a, c, x, y, z, i) = (var("a"), var("c"), var("x"), var("y"), var("z"), var("i"));
    let square = || mul(&a, &a);
    let truth = expr(Lt::new(&a, &c, DataType::Bool));
    let one_branch = IfStmt::new(
        &truth,
        assign(&x, square()),
        None::<Ref<Stmt>>,
        Vec::<Ref<Var>>::new(),
    );
    check_unchanged(
        &[&a, &c],
        seq([one_branch.upcast(), assign(&y, square()), returns(&[&y])]),
    );
    let branches = IfStmt::new(
        &truth,
        assign(&x, square()),
        Some(assign(&z, square())),
        Vec::<Ref<Var>>::new(),
    );
    check_unchanged(&[&a, &c], seq([branches.upcast(), returns(&[&a])]));
    let looped = ForStmt::new(&i, int(0), int(9), int(1), assign(&x, square()));
    check_unchanged(
        &[&a],
        seq([looped.upcast(), assign(&y, square()), returns(&[&y])]),
    );
    // They are taken into them.
    let inside = |value: Ref<Expr>| {
        let body = seq([assign(&x, value)]);
        expr_loop(&i, body)
    };
    check_cse(
        &[&a],
        seq([
            assign(&y, square()),
            inside(add(square(), &i)),
            returns(&[&y]),
        ]),
        seq([assign(&y, square()), inside(add(&y, &i)), returns(&[&y])]),
    );
    // The bounds of a loop are computed before it.
    let t = var("t");
    let bounds = |stop: Ref<Expr>, value: Ref<Expr>| -> Ref<Stmt> {
        ForStmt::new(&i, int(0), stop, int(1), assign(&x, add(value, &i))).upcast()
    };
    check_cse(
        &[&a],
        seq([bounds(square(), square()), returns(&[&a])]),
        seq([
            assign(&t, square()),
            bounds(expr(&t), expr(&t)),
            returns(&[&a]),
        ]),
    );
}

fn expr_loop(i: &Ref<Var>, body: Ref<Stmt>) -> Ref<Stmt> {
    ForStmt::new(i, int(0), int(4), int(1), body).upcast()
}

#[test]
fn what_may_not_be_computed_is_not_computed_early() {
    let (a, b, x) = (var("a"), var("b"), var("x"));
    // a // b is computed only where b is not 0.
    let quotient = || expr(FloorDiv::new(&a, &b, I64));
    let less = |left: Ref<Expr>, value: i64| expr(Lt::new(left, int(value), DataType::Bool));
    let right = expr(And::new(
        less(quotient(), 3),
        less(quotient(), 5),
        DataType::Bool,
    ));
    let both = |right: Ref<Expr>| expr(And::new(less(expr(&b), 1), right, DataType::Bool));
    let condition = |value: Ref<Expr>| -> Ref<Stmt> { EvalStmt::new(value).upcast() };
    check_unchanged(
        &[&a, &b],
        seq([condition(both(right.clone())), returns(&[&a])]),
    );
    check_cse(
        &[&a, &b],
        seq([
            assign(&x, quotient()),
            condition(both(less(quotient(), 3))),
            returns(&[&x]),
        ]),
        seq([
            assign(&x, quotient()),
            condition(both(less(expr(&x), 3))),
            returns(&[&x]),
        ]),
    );
    // The condition of a loop is computed in every iteration.
    let body = assign(&x, quotient());
    let none = (Vec::<Ref<pto::IterArg>>::new(), Vec::<Ref<Var>>::new());
    let looped = WhileStmt::new(less(mul(quotient(), quotient()), 3), none.0, body, none.1);
    check_unchanged(&[&a, &b], seq([looped.upcast(), returns(&[&a])]));
}

#[test]
fn calls_are_merged_only_when_their_operator_allows_it() -> Result<()> {
    let pure = isoform_ir::ir::OpRegistry::get_or_register("it_pto.pure")?;
    pure.attr(STATEFUL, false, 10)?;
    let (a, x, y) = (var("a"), var("x"), var("y"));
    let call = |name: &str| expr(Call::typed(Op::new(name), [expr(&a)], ScalarType::new(I64)));
    check_cse(
        &[&a],
        seq([
            assign(&x, call("it_pto.pure")),
            assign(&y, call("it_pto.pure")),
            returns(&[&x, &y]),
        ]),
        seq([assign(&x, call("it_pto.pure")), returns(&[&x, &x])]),
    );
    let body = seq([
        assign(&x, call("it_pto.any")),
        assign(&y, call("it_pto.any")),
        returns(&[&x, &y]),
    ]);
    check_unchanged(&[&a], body);
    // The arguments of such a call are.
    let with = |value: Ref<Expr>| -> Ref<Stmt> {
        EvalStmt::new(Call::new(Op::new("it_pto.any"), [value])).upcast()
    };
    check_cse(
        &[&a],
        seq([
            assign(&x, mul(&a, &a)),
            with(mul(&a, &a)),
            with(mul(&a, &a)),
        ]),
        seq([assign(&x, mul(&a, &a)), with(expr(&x)), with(expr(&x))]),
    );
    // Dropping a call is like merging it with nothing.
    let kept = Value::from(mul(call("it_pto.any"), int(0)));
    assert_eq!(simplify(&kept)?.value, kept);
    assert_structural_equal(simplify(mul(call("it_pto.pure"), int(0)))?.value, int(0))?;
    Ok(())
}

#[test]
fn variables_that_change_or_are_named_elsewhere_stay() {
    let (a, x, y, z) = (var("a"), var("x"), var("y"), var("z"));
    // x is assigned twice.
    check_unchanged(
        &[&a],
        seq([
            assign(&x, add(&a, int(1))),
            assign(&y, mul(&x, &x)),
            assign(&x, add(&a, int(2))),
            assign(&z, mul(&x, &x)),
            returns(&[&y, &z]),
        ]),
    );
    // A type mentions `y`, so the assignment to `y` is kept.
    let tensor = pto::TensorType::new([expr(&y)], DataType::Fp32);
    let t = Var::new("t", &tensor);
    let alloc = || expr(Call::typed(Op::new("it_pto.alloc"), [], &tensor));
    check_cse(
        &[&a],
        seq([
            assign(&x, mul(&a, &a)),
            assign(&y, mul(&a, &a)),
            AssignStmt::new(&t, alloc()).upcast(),
            returns(&[&y]),
        ]),
        seq([
            assign(&x, mul(&a, &a)),
            assign(&y, &x),
            AssignStmt::new(&t, alloc()).upcast(),
            returns(&[&y]),
        ]),
    );
    // One statement object in two places.
    let twice = assign(&x, add(&a, int(1)));
    check_unchanged(
        &[&a],
        seq([twice.clone(), twice, assign(&y, add(&a, int(1)))]),
    );
    let error = cse(expr(&a)).expect_err("no program");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(
        error.message(),
        "cse: expected pto.Function or pto.Program, got pto.Var"
    );
}

#[test]
fn copies_carry_values_on() {
    let (a, b, x, y, z) = (var("a"), var("b"), var("x"), var("y"), var("z"));
    check_cse(
        &[&a, &b],
        seq([
            assign(&x, &a),
            assign(&y, add(&a, &b)),
            assign(&z, add(&x, &b)),
            returns(&[&y, &z]),
        ]),
        seq([assign(&x, &a), assign(&y, add(&a, &b)), returns(&[&y, &y])]),
    );
}

#[test]
fn depth_and_sharing_cost_nothing() -> Result<()> {
    let length = scaled(1_000_000);
    let (a, x, y) = (var("a"), var("x"), var("y"));
    // Statements in statements, with a common value at both ends.
    let square = || mul(&a, &a);
    let mut body = assign(&y, square());
    for _ in 0..length {
        body = IfStmt::new(
            ConstBool::new(true),
            body,
            None::<Ref<Stmt>>,
            Vec::<Ref<Var>>::new(),
        )
        .upcast();
    }
    let before = Value::from(function(&[&a], seq([assign(&x, square()), body])));
    assert_ne!(cse(&before)?, before);
    // A chain of operations, twice.
    let length = scaled(200_000);
    let deep = || (0..length).fold(expr(&a), |inner, _| add(&inner, int(1)));
    let before = Value::from(function(
        &[&a],
        seq([assign(&x, deep()), assign(&y, deep()), returns(&[&x, &y])]),
    ));
    let after: Ref<Function> = cse(&before)?.extract()?;
    assert_eq!(
        after
            .body
            .downcast_ref::<SeqStmts>()
            .map(|seq| seq.stmts.len()),
        Some(2)
    );
    // The shared sum has 2^60 parts written out, and 60 assignments in a program.
    let shared = (0..60).fold(expr(&a), |inner, _| add(&inner, &inner));
    let before = Value::from(function(&[&a], seq([assign(&x, shared), returns(&[&x])])));
    let after: Ref<Function> = cse(&before)?.extract()?;
    assert_eq!(
        after
            .body
            .downcast_ref::<SeqStmts>()
            .map(|seq| seq.stmts.len()),
        Some(61)
    );
    let deep = (0..length).fold(expr(&a), |inner, _| add(&inner, int(0)));
    assert_eq!(simplify(deep)?.value, Value::from(&a));
    Ok(())
}

#[test]
fn identities_hold_in_their_formats() -> Result<()> {
    let simple = |value: Ref<Expr>| -> Result<Ref<Expr>> { simplify(value)?.value.extract() };
    let x = var("x");
    let same = |value: Ref<Expr>| -> Result<bool> { Ok(simple(value)?.same_as(&x)) };
    assert!(same(mul(int(1), add(&x, int(0))))?);
    assert!(same(expr(Min::new(&x, &x, I64)))?);
    assert!(same(expr(Cast::new(&x, I64)))?);
    assert!(same(expr(Neg::new(Neg::new(&x, I64), I64)))?);
    let shifted = simple(mul(&x, int(8)))?;
    assert_structural_equal(&shifted, BitShiftLeft::new(&x, int(3), I64))?;
    let half = simple(expr(FloorDiv::new(&x, int(2), I64)))?;
    assert_structural_equal(&half, BitShiftRight::new(&x, int(1), I64))?;
    let rest = simple(expr(FloorMod::new(&x, int(16), I64)))?;
    assert_structural_equal(&rest, BitAnd::new(&x, int(15), I64))?;
    // The rule does not apply for different numbers or formats.
    for kept in [
        mul(&x, int(6)),
        mul(&x, int(-8)),
        mul(int(2), int(3)),
        expr(FloorDiv::new(&x, int(0), I64)),
    ] {
        let kept = Value::from(kept);
        let multiplied = simplify(&kept)?.value;
        let is_kept = multiplied == kept;
        assert!(is_kept || structural_equal(&multiplied, BitShiftLeft::new(int(3), int(1), I64))?);
    }
    let f = var_of("f", DataType::Fp32);
    let float = |value| ConstFloat::new(value, DataType::Fp32);
    let times = |value| expr(Mul::new(&f, float(value), DataType::Fp32));
    assert!(simple(times(1.0))?.same_as(&f));
    assert!(simple(expr(FloatDiv::new(&f, float(1.0), DataType::Fp32)))?.same_as(&f));
    for kept in [
        times(0.0),
        expr(Add::new(&f, float(0.0), DataType::Fp32)),
        expr(Sub::new(&f, &f, DataType::Fp32)),
    ] {
        let kept = Value::from(kept);
        assert_eq!(simplify(&kept)?.value, kept, "it differs for -0.0 or NaN");
    }
    // A cast to another format is one.
    let cast = Value::from(Cast::new(&x, DataType::Int32));
    assert_eq!(simplify(&cast)?.value, cast);
    Ok(())
}

/// The value of an integer expression; None for a division by zero or an excessive
/// shift.
fn evaluate(root: &Ref<Expr>, vars: &HashMap<u64, i128>) -> Option<i128> {
    let format = root.scalar_dtype()?;
    let wrap = |value: i128| {
        let range = format.int_range()?;
        let size = range.end() - range.start() + 1;
        Some((value - range.start()).rem_euclid(size) + range.start())
    };
    if let Some(literal) = root.downcast_ref::<ConstInt>() {
        return Some(i128::from(literal.value));
    }
    if root.isa::<Var>() {
        return vars.get(&root.identity()).copied();
    }
    if let Some(unary) = root.downcast_ref::<UnaryExpr>() {
        let operand = evaluate(&unary.operand, vars)?;
        return match root.type_info().key() {
            "pto.Neg" => wrap(-operand),
            "pto.BitNot" => wrap(!operand),
            "pto.Cast" => wrap(operand),
            _ => None,
        };
    }
    let binary = root.downcast_ref::<BinaryExpr>()?;
    let (left, right) = (
        evaluate(&binary.left, vars)?,
        evaluate(&binary.right, vars)?,
    );
    let by = || {
        (0..i128::from(format.bits()))
            .contains(&right)
            .then_some(right)
    };
    wrap(match root.type_info().key() {
        "pto.Add" => left + right,
        "pto.Sub" => left - right,
        "pto.Mul" => left * right,
        "pto.FloorDiv" if right != 0 => floor_div(left, right),
        "pto.FloorMod" if right != 0 => left - right * floor_div(left, right),
        "pto.Min" => left.min(right),
        "pto.Max" => left.max(right),
        "pto.BitAnd" => left & right,
        "pto.BitOr" => left | right,
        "pto.BitXor" => left ^ right,
        "pto.BitShiftLeft" => left << by()?,
        "pto.BitShiftRight" => left >> by()?,
        _ => return None,
    })
}

fn floor_div(left: i128, right: i128) -> i128 {
    let towards_zero = left / right;
    towards_zero - i128::from(left % right != 0 && (left < 0) != (right < 0))
}

/// Random integer expressions of one format over a few variables.
struct Random {
    state: u64,
    format: DataType,
    vars: Vec<Ref<Var>>,
}

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        split_mix(&mut self.state) % bound
    }

    fn expr(&mut self, depth: usize) -> Ref<Expr> {
        if depth == 0 || self.below(6) == 0 {
            let pick = self.below(self.vars.len() as u64 + 4) as usize;
            return match self.vars.get(pick) {
                Some(var) => expr(var),
                None => {
                    let value = [0, 1, 1, 2, 4, 8, 3][self.below(7) as usize];
                    let largest = self.format.int_range().map_or(1, |range| *range.end());
                    expr(ConstInt::new(
                        i64::min(value, i64::try_from(largest).unwrap_or(8)),
                        self.format,
                    ))
                }
            };
        }
        let format = self.format;
        let a = self.expr(depth - 1);
        let b = match self.below(4) {
            0 => a.clone(),
            1 => deep_copy(&a)
                .ok()
                .and_then(|copy| copy.extract().ok())
                .unwrap_or_else(|| a.clone()),
            _ => self.expr(depth - 1),
        };
        match self.below(15) {
            0 | 1 => expr(Add::new(a, b, format)),
            2 => expr(Sub::new(a, b, format)),
            3..=5 => expr(Mul::new(a, b, format)),
            6 => expr(FloorDiv::new(a, b, format)),
            7 => expr(FloorMod::new(a, b, format)),
            8 => expr(Min::new(a, b, format)),
            9 => expr(Max::new(a, b, format)),
            10 => expr(BitAnd::new(a, b, format)),
            11 => expr(BitOr::new(a, b, format)),
            12 => expr(BitXor::new(a, b, format)),
            13 => expr(Neg::new(a, format)),
            _ => expr(Cast::new(a, format)),
        }
    }
}

fn extreme(random: &mut Random) -> i128 {
    let range = random.format.int_range().expect("integers");
    let size = range.end() - range.start() + 1;
    match random.below(4) {
        0 => *range.start(),
        1 => *range.end(),
        _ => range.start() + i128::from(random.below(u64::MAX)) % size,
    }
}

#[test]
fn simplified_expressions_keep_their_value() -> Result<()> {
    let formats = [
        DataType::Int8,
        DataType::UInt8,
        DataType::Int32,
        I64,
        DataType::Index,
        DataType::UInt4,
    ];
    let (mut applied, mut compared) = (0, 0);
    for round in 0..3000_u64 {
        let format = formats[round as usize % formats.len()];
        let vars = vec![
            var_of("a", format),
            var_of("b", format),
            var_of("c", format),
        ];
        let mut random = Random {
            state: round,
            format,
            vars,
        };
        let before = random.expr(5);
        let done = simplify(Value::from(&before))?;
        applied += done.applied.iter().sum::<u64>();
        let after: Ref<Expr> = done.value.extract()?;
        for _ in 0..4 {
            let values: Vec<i128> = (0..3).map(|_| extreme(&mut random)).collect();
            let assignment = random.vars.iter().map(Ref::identity).zip(values).collect();
            if let Some(expected) = evaluate(&before, &assignment) {
                assert_eq!(
                    evaluate(&after, &assignment),
                    Some(expected),
                    "{before:?} {after:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(applied > 1000 && compared > 1000, "{applied} {compared}");
    Ok(())
}

/// Runs a function of assignments and a return; None when a value is missing.
fn run(function: &Ref<Function>, values: &[i128]) -> Option<Vec<i128>> {
    let params = function.params.iter().map(Ref::identity);
    let mut known: HashMap<u64, i128> = params.zip(values.iter().copied()).collect();
    for stmt in function.body.downcast_ref::<SeqStmts>()?.stmts.iter() {
        if let Some(assign) = stmt.downcast_ref::<AssignStmt>() {
            let value = evaluate(&assign.value, &known)?;
            known.insert(assign.var.identity(), value);
        } else if let Some(end) = stmt.downcast_ref::<ReturnStmt>() {
            return end
                .value
                .iter()
                .map(|value| evaluate(value, &known))
                .collect();
        }
    }
    None
}

fn operations(function: &Ref<Function>) -> usize {
    let mut stack = Vec::new();
    for stmt in function
        .body
        .downcast_ref::<SeqStmts>()
        .expect("statements")
        .stmts
        .iter()
    {
        if let Some(assign) = stmt.downcast_ref::<AssignStmt>() {
            stack.push(assign.value.clone());
        } else if let Some(end) = stmt.downcast_ref::<ReturnStmt>() {
            stack.extend(end.value.iter().cloned());
        }
    }
    let mut count = 0;
    while let Some(next) = stack.pop() {
        if let Some(binary) = next.downcast_ref::<BinaryExpr>() {
            count += 1;
            stack.extend([binary.left.clone(), binary.right.clone()]);
        } else if let Some(unary) = next.downcast_ref::<UnaryExpr>() {
            count += 1;
            stack.push(unary.operand.clone());
        }
    }
    count
}

#[test]
fn programs_without_common_subexpressions_keep_their_results() -> Result<()> {
    let (mut saved, mut compared) = (0, 0);
    for round in 0..1000_u64 {
        let params = [var("a"), var("b")];
        let mut random = Random {
            state: round,
            format: I64,
            vars: params.to_vec(),
        };
        let mut stmts = Vec::new();
        let mut pool: Vec<Ref<Expr>> = Vec::new();
        for position in 0..6 {
            let mut value = random.expr(3);
            if let Some(earlier) = pool.get(random.below(8) as usize) {
                value = add(&value, deep_copy(earlier)?.extract::<Ref<Expr>>()?);
            }
            pool.push(value.clone());
            let target = var(&format!("v{position}"));
            stmts.push(assign(&target, value));
            random.vars.push(target);
        }
        stmts.push(returns(&random.vars.iter().collect::<Vec<_>>()));
        let before = function(&[&params[0], &params[1]], seq(stmts));
        let after: Ref<Function> = cse(Value::from(&before))?.extract()?;
        assert!(operations(&after) <= operations(&before));
        saved += operations(&before) - operations(&after);
        for _ in 0..3 {
            let values = [extreme(&mut random), extreme(&mut random)];
            if let Some(expected) = run(&before, &values) {
                assert_eq!(run(&after, &values), Some(expected), "{before:?} {after:?}");
                compared += 1;
            }
        }
    }
    assert!(saved > 1000 && compared > 50, "{saved} {compared}");
    assert!(Lt::TYPE_KEY.starts_with("pto."));
    Ok(())
}
