//! Depth is limited by memory only.

use isoform::Ref;
use isoform_relay::eval::{Closure, Evaluator};
use isoform_relay::passes::fold_constant_expr;
use isoform_relay::{AsExpr, Call, Constant, Function, If, Let, Tuple, Var, op};

use crate::support::*;

/// let x0 = first in let x1 = step(x0) in … in the last variable
fn lets(first: Expr, step: impl Fn(&Ref<Var>) -> Expr) -> Expr {
    let vars: Vec<_> = (0..levels()).map(|_| Var::new("x")).collect();
    let mut body = vars[levels() - 1].expr();
    for position in (1..levels()).rev() {
        body = Let::new(&vars[position], step(&vars[position - 1]), body).expr();
    }
    Let::new(&vars[0], first, body).expr()
}

#[test]
fn a_million_lets_are_evaluated_and_folded() {
    let one = int(1);
    let program = lets(int(0), |before| op::add(before, &one).expr());
    assert_eq!(int_of(&evaluate(program.clone())), levels() as i32 - 1);
    let folded = fold_constant_expr(&program).expect("a folded program");
    let folded: Ref<Constant> = folded.cast().expect("a constant");
    assert_eq!(int_of(&folded.data.clone().into()), levels() as i32 - 1);
    // Nothing is known here, so nothing changes.
    let x = Var::new("x0");
    let program = lets(x.expr(), |before| op::negative(before).expr());
    assert!(
        fold_constant_expr(&program)
            .expect("the program")
            .same_as(&program)
    );
}

#[test]
fn a_million_nested_calls_are_evaluated_and_folded() {
    let one = int(1);
    let mut program = int(0);
    for _ in 0..levels() {
        program = op::add(program, &one).expr();
    }
    assert_eq!(int_of(&evaluate(program.clone())), levels() as i32);
    assert!(
        fold_constant_expr(&program)
            .expect("a folded program")
            .isa::<Constant>()
    );
}

#[test]
fn a_million_nested_branches_are_evaluated_and_folded() {
    let x = Var::new("x");
    let mut program = x.expr();
    for _ in 0..levels() {
        program = If::new(boolean(true), program, int(2)).expr();
    }
    let folded = fold_constant_expr(&program).expect("a folded program");
    assert!(folded.same_as(&x));
    let closed = Let::new(&x, int(1), program);
    assert_eq!(int_of(&evaluate(closed)), 1);
}

#[test]
fn functions_call_themselves_a_hundred_thousand_times() {
    // let f = fn(n) { if n < 1 { 0 } else { f(n - 1) + 1 } } in f(100000)
    let (f, n) = (Var::new("f"), Var::new("n"));
    let rest = Call::new(&f, [op::subtract(&n, int(1)).expr()]);
    let body = If::new(op::less(&n, int(1)), int(0), op::add(rest, int(1)));
    let function = Function::new([n.clone()], body);
    let program = Let::new(&f, function, Call::new(&f, [int(100_000)]));
    assert_eq!(int_of(&evaluate(program)), 100_000);
}

#[test]
fn chains_of_closures_are_dropped_without_recursion() {
    // let f = fn(n, g) { if n < 1 { g } else { f(n - 1, fn() { g }) } } in f(100000, fn() { () })
    let (f, n, g) = (Var::new("f"), Var::new("n"), Var::new("g"));
    let wrapped = Function::new([], &g);
    let rest = Call::new(&f, [op::subtract(&n, int(1)).expr(), wrapped.expr()]);
    let body = If::new(op::less(&n, int(1)), &g, rest);
    let function = Function::new([n.clone(), g.clone()], body);
    let first = Function::new([], Tuple::new([]));
    let call = Call::new(&f, [int(100_000), first.expr()]);
    let value = evaluate(Let::new(&f, function, call));
    assert!(value.peek::<Ref<Closure>>().is_some());
    drop(value);
}

#[test]
fn a_hundred_thousand_nested_functions_are_planned() {
    let x = Var::new("x");
    let mut program = x.expr();
    for _ in 0..100_000 {
        program = Function::new([], program).expr();
    }
    let evaluator = Evaluator::new();
    let program = Let::new(&x, int(7), program);
    let mut value = evaluator.evaluate(program).expect("a closure");
    for _ in 0..100_000 {
        value = evaluator.call(&value, &[]).expect("what is inside");
    }
    assert_eq!(int_of(&value), 7);
}

#[test]
fn a_million_nested_tuples_are_evaluated_and_folded() {
    let mut program = int(1);
    for _ in 0..levels() {
        program = Tuple::new([program]).expr();
    }
    drop(evaluate(program.clone()));
    assert!(
        fold_constant_expr(&program)
            .expect("the program")
            .same_as(&program)
    );
}
