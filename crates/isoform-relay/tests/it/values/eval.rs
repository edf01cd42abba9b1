//! The evaluator of whole programs.

use isoform::errors::ErrorKind;
use isoform::types::IntoField;
use isoform::{Array, Ref, Value};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{Constructor, GlobalTypeVar, GlobalVar};
use isoform_relay::eval::{Closure, ConstructorValue, Evaluator, RefValue};
use isoform_relay::{
    AsExpr, Call, Clause, Function, If, Let, Match, PatternConstructor, PatternTuple, PatternVar,
    PatternWildcard, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var, op,
};

use crate::support::*;

#[track_caller]
fn fails(expr: impl IntoField<Expr>, message: &str) {
    let error = Evaluator::new().evaluate(expr).expect_err("no value");
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn values_of_simple_expressions() {
    let x = Var::new("x");
    let sum = Let::new(&x, int(3), op::multiply(&x, int(5)));
    assert_eq!(int_of(&evaluate(sum)), 15);
    let pair = Tuple::new([int(1), int(2)]);
    let fields: Array = evaluate(pair.clone()).extract().expect("a tuple");
    assert_eq!(fields.iter().map(int_of).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(int_of(&evaluate(TupleGetItem::new(&pair, 1))), 2);
    let empty: Array = evaluate(Tuple::new([])).extract().expect("a tuple");
    assert!(empty.is_empty());
    for (cond, expected) in [(true, 1), (false, 2)] {
        assert_eq!(
            int_of(&evaluate(If::new(boolean(cond), int(1), int(2)))),
            expected
        );
    }
}

#[test]
fn functions_are_closures() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    // fn(x) { fn(y) { x - y } }
    let inner = Function::new([y.clone()], op::subtract(&x, &y));
    let outer = Function::new([x.clone()], &inner);
    let evaluator = Evaluator::new();
    let outer = evaluator.evaluate(&outer).expect("a closure");
    assert!(outer.peek::<Ref<Closure>>().is_some());
    let inner = evaluator
        .call(&outer, &[ints(&[], &[10]).into()])
        .expect("a closure");
    let other = evaluator
        .call(&outer, &[ints(&[], &[20]).into()])
        .expect("a closure");
    for (closure, expected) in [(&inner, 7), (&other, 17)] {
        let result = evaluator
            .call(closure, &[ints(&[], &[3]).into()])
            .expect("a number");
        assert_eq!(int_of(&result), expected);
    }
}

#[test]
fn operators_and_constructors_are_values() {
    let f = Var::new("f");
    let negative = Let::new(&f, self::op("negative"), Call::new(&f, [int(4)]));
    assert_eq!(int_of(&evaluate(negative)), -4);
    let list = GlobalTypeVar::new("List");
    let one = Constructor::new("one", [ty("i32[]")], &list);
    let made = evaluate(Call::new(&one, [int(4)]));
    let made: Ref<ConstructorValue> = made.extract().expect("a value of a constructor");
    assert!(made.constructor.same_as(&one) && int_of(&made.fields.values()[0]) == 4);
    fails(
        Call::new(&one, []),
        "too few arguments: expected 1, found 0",
    );
    fails(Call::new(int(1), []), "expected a function, got Tensor");
}

/// let f = fn(n) { if n < 1 { 0 } else { n + f(n - 1) } } in f(count)
fn triangle(count: i32) -> Ref<Let> {
    let (f, n) = (Var::new("f"), Var::new("n"));
    let rest = Call::new(&f, [op::subtract(&n, int(1)).expr()]);
    let body = If::new(op::less(&n, int(1)), int(0), op::add(&n, rest));
    Let::new(
        &f,
        Function::new([n.clone()], body),
        Call::new(&f, [int(count)]),
    )
}

#[test]
fn local_functions_call_themselves() {
    assert_eq!(int_of(&evaluate(triangle(10))), 55);
}

#[test]
fn a_function_inside_of_a_recursive_one_sees_it() {
    // let f = fn(n) { let g = fn(m) { if m < 1 { 0 } else { f(m - 1) + 1 } } in g(n) } in f(5)
    let (f, g, n, m) = (Var::new("f"), Var::new("g"), Var::new("n"), Var::new("m"));
    let again = Call::new(&f, [op::subtract(&m, int(1)).expr()]);
    let choice = If::new(op::less(&m, int(1)), int(0), op::add(again, int(1)));
    let inner = Let::new(
        &g,
        Function::new([m.clone()], choice),
        Call::new(&g, [n.expr()]),
    );
    let outer = Let::new(
        &f,
        Function::new([n.clone()], inner),
        Call::new(&f, [int(5)]),
    );
    assert_eq!(int_of(&evaluate(outer)), 5);
}

#[test]
fn functions_of_a_module_call_each_other() {
    let (even, odd) = (GlobalVar::new("even"), GlobalVar::new("odd"));
    let parity = |other: &Ref<GlobalVar>, at_zero: bool| {
        let n = Var::new("n");
        let rest = Call::new(other, [op::subtract(&n, int(1)).expr()]);
        let body = If::new(op::less(&n, int(1)), boolean(at_zero), rest);
        Function::new([n.clone()], body)
    };
    let module = isoform_ir::ir::IRModule::new();
    module
        .update_func(&even, parity(&odd, true).upcast())
        .expect("a name");
    module
        .update_func(&odd, parity(&even, false).upcast())
        .expect("a name");
    let evaluator = Evaluator::new().module(&module);
    for (n, expected) in [(0, true), (1, false), (7, false), (100, true)] {
        let result = evaluator
            .evaluate(Call::new(&even, [int(n)]))
            .expect("a value");
        let result: isoform::values::Tensor = result.extract().expect("a tensor");
        assert_eq!(result.data()[0] != 0, expected);
    }
    // A module that changes is read again.
    module
        .update_func(&odd, parity(&even, true).upcast())
        .expect("a name");
    let result = evaluator
        .evaluate(Call::new(&even, [int(1)]))
        .expect("a value");
    assert!(same_tensor(
        &result.extract().expect("a tensor"),
        &flag(true)
    ));
    fails(Call::new(&even, [int(1)]), "@even needs a module");
    let error = evaluator
        .evaluate(GlobalVar::new("neither").upcast())
        .expect_err("no such name");
    assert!(error.message().contains("neither"), "{error}");
}

#[test]
fn references_change() {
    // let r = ref(1) in let _ = (r := 5) in let v = !r in v + 1
    let (r, ignored, v) = (Var::new("r"), Var::new("_"), Var::new("v"));
    let read_it = Let::new(&v, RefRead::new(&r), op::add(&v, int(1)));
    let write_it = Let::new(&ignored, RefWrite::new(&r, int(5)), read_it);
    let program = Let::new(&r, RefCreate::new(int(1)), write_it);
    assert_eq!(int_of(&evaluate(program)), 6);
    let reference = evaluate(RefCreate::new(int(3)));
    let reference: Ref<RefValue> = reference.extract().expect("a reference");
    assert_eq!(int_of(&reference.content()), 3);
    reference.replace(ints(&[], &[4]).into()).expect("a write");
    assert_eq!(int_of(&reference.content()), 4);
    fails(RefRead::new(int(1)), "expected a reference, got Tensor");
}

#[test]
fn a_reference_that_contains_itself_is_collected() {
    // let r = ref(()) in let _ = (r := fn() { !r }) in r
    let (r, ignored) = (Var::new("r"), Var::new("_"));
    let closure = Function::new([], RefRead::new(&r));
    let write = Let::new(&ignored, RefWrite::new(&r, closure), &r);
    let program = Let::new(&r, RefCreate::new(Tuple::new([])), write);
    let reference = evaluate(program);
    let reference: Ref<RefValue> = reference.extract().expect("a reference");
    let closure = reference.content();
    let inside = Evaluator::new()
        .call(&closure, &[])
        .expect("what the reference holds");
    assert!(inside.peek::<Ref<Closure>>().is_some());
}

#[test]
fn matches_take_the_first_clause_that_fits() {
    let list = GlobalTypeVar::new("List");
    let ty = || ty("i32[]");
    let cons = Constructor::new("cons", [ty(), ty()], &list);
    let nil = Constructor::new("nil", [], &list);
    let (head, tail, f, xs) = (Var::new("h"), Var::new("t"), Var::new("f"), Var::new("xs"));
    // The sum of a list.
    let var = |var: &Ref<Var>| PatternVar::new(var).upcast();
    let more = PatternConstructor::new(&cons).with_patterns([var(&head), var(&tail)]);
    let rest = op::add(&head, Call::new(&f, [tail.expr()]));
    let clauses = [
        Clause::new(more.upcast(), rest),
        Clause::new(PatternConstructor::new(&nil).upcast(), int(0)),
    ];
    let sum = Function::new([xs.clone()], Match::new(&xs, clauses));
    let mut list_expr = Call::new(&nil, []).expr();
    for value in [1, 20, 300] {
        list_expr = Call::new(&cons, [int(value), list_expr]).expr();
    }
    let program = Let::new(&f, sum, Call::new(&f, [list_expr]));
    assert_eq!(int_of(&evaluate(program)), 321);

    let (a, b) = (Var::new("a"), Var::new("b"));
    let nested = PatternTuple::new().with_patterns([
        var(&a),
        PatternTuple::new()
            .with_patterns([PatternWildcard::new().upcast(), var(&b)])
            .upcast(),
    ]);
    let data = Tuple::new([int(1), Tuple::new([int(2), int(4)]).expr()]);
    let clause = Clause::new(nested.upcast(), op::subtract(&a, &b));
    assert_eq!(int_of(&evaluate(Match::new(data, [clause]))), -3);
    let none = Match::new(
        Call::new(&nil, []),
        [Clause::new(PatternConstructor::new(&cons).upcast(), int(0))],
    );
    fails(
        none,
        "no clause of the match fits a value of the constructor nil",
    );
}

#[test]
fn shared_expressions_are_computed_once_per_scope() {
    let (op, count) = counter("test.values.shared");
    let tick = |x: Expr| Call::new(&op, [x]).expr();
    // Twice in one scope.
    let shared = tick(int(1));
    assert_eq!(int_of(&evaluate(op::add(&shared, &shared))), 2);
    assert_eq!(counted(count), 1);
    // Written twice.
    evaluate(op::add(tick(int(1)), tick(int(1))));
    assert_eq!(counted(count), 2);
    // In both branches: computed around them, once.
    let shared = tick(int(1));
    let both = If::new(
        boolean(true),
        op::add(&shared, int(1)),
        op::add(&shared, int(2)),
    );
    assert_eq!(int_of(&evaluate(op::add(&both, &both))), 4);
    assert_eq!(counted(count), 1);
    // In one branch that is not taken.
    let lonely = If::new(boolean(true), int(1), tick(int(2)));
    evaluate(lonely);
    assert_eq!(counted(count), 0);
    // In a function called twice, and outside of the function.
    let (f, x) = (Var::new("f"), Var::new("x"));
    let program = |shared: &Expr, also: Expr| {
        let body = op::add(&x, shared);
        let calls = op::add(Call::new(&f, [int(1)]), Call::new(&f, [int(2)]));
        Let::new(&f, Function::new([x.clone()], body), op::add(calls, also))
    };
    let inside = tick(x.expr());
    assert_eq!(int_of(&evaluate(program(&inside, int(0)))), 6);
    assert_eq!(counted(count), 2);
    let outside = tick(int(5));
    assert_eq!(int_of(&evaluate(program(&outside, outside.clone()))), 18);
    assert_eq!(counted(count), 1);
}

#[test]
fn errors_say_what_is_wrong() {
    let x = Var::new("x");
    fails(op::add(&x, int(1)), "the variable %x is free");
    fails(Function::new([], &x), "the variable %x is free");
    fails(
        TupleGetItem::new(Tuple::new([int(1)]), 1),
        "one of 1 fields of a tuple, got 1",
    );
    fails(TupleGetItem::new(int(1), 0), "expected a tuple, got Tensor");
    fails(
        If::new(int(1), int(1), int(1)),
        "expected a scalar of type bool, got int32",
    );
    let wide = constant(
        &isoform::values::Tensor::new(isoform::values::DType::BOOL, vec![2], vec![1, 1])
            .expect("a tensor"),
    );
    fails(If::new(wide, int(1), int(1)), "of shape [2]");
    let y = Var::new("y");
    fails(
        Let::new(&y, Tuple::new([y.expr()]), int(1)),
        "%y is used in its own value",
    );
    let f = Function::new([x.clone()], &x);
    fails(
        Call::new(&f, [int(1), int(2)]),
        "too many arguments: expected 1, found 2",
    );
}

#[test]
fn arguments_from_outside_are_checked() {
    let x = typed_var("x", "i32[2]");
    let evaluator = Evaluator::new();
    let f = evaluator
        .evaluate(Function::new([x.clone()], &x))
        .expect("a closure");
    evaluator
        .call(&f, &[ints(&[2], &[1, 2]).into()])
        .expect("a fitting tensor");
    let wrong: [(Value, &str); 3] = [
        (
            ints(&[3], &[1, 2, 3]).into(),
            "shape [2], got int32 of shape [3]",
        ),
        (
            floats(&[2], &[1.0, 2.0]).into(),
            "a tensor of int32 and shape [2], got float32",
        ),
        (
            Array::<Value>::new().into(),
            "argument 'x': expected a tensor",
        ),
    ];
    for (value, message) in wrong {
        let error = evaluator.call(&f, &[value]).expect_err("it does not fit");
        assert!(error.message().contains(message), "{error}");
    }
    let error = evaluator.call(&f, &[]).expect_err("too few");
    assert!(
        error
            .message()
            .contains("too few arguments: expected 1, found 0"),
        "{error}"
    );
}

#[test]
fn endless_recursion_is_an_error() {
    let (f, x) = (Var::new("f"), Var::new("x"));
    let body = Call::new(&f, [x.expr()]);
    let program = Let::new(
        &f,
        Function::new([x.clone()], body),
        Call::new(&f, [int(1)]),
    );
    let evaluator = Evaluator::new().max_depth(1000);
    let error = evaluator.evaluate(program.clone()).expect_err("no end");
    assert_eq!(error.kind(), ErrorKind::Recursion);
    assert!(error.message().contains("more than 1000 calls"), "{error}");
}

#[test]
fn results_may_be_limited() {
    let shape = isoform_relay::attrs::sizes([1 << 20]);
    let attrs = isoform_relay::attrs::InitOpAttrs::new(Some(shape));
    let large = op::broadcast_to(int(1), attrs);
    let error = Evaluator::new()
        .max_bytes(1 << 20)
        .evaluate(&large)
        .expect_err("too large");
    assert!(
        error.message().starts_with("operator broadcast_to: "),
        "{error}"
    );
    assert_eq!(ints_of(&evaluate(large)).len(), 1 << 20);
}

#[test]
fn scopes_end_for_shared_expressions_too() {
    let x = Var::new("x");
    let shared = op::negative(&x).expr();
    let bound = Let::new(&x, int(1), &shared).expr();
    let message = "the variable %x is used outside of the scope that binds it";
    fails(Tuple::new([bound.clone(), shared.clone()]), message);
    fails(If::new(boolean(true), &bound, &shared), message);
    fails(Tuple::new([bound, x.expr()]), message);
    // A recursive function with two uses is fine.
    let (f, n) = (Var::new("f"), Var::new("n"));
    let again = Call::new(&f, [op::subtract(&n, int(1)).expr()]);
    let body = If::new(op::equal(&n, int(0)), &n, again);
    let function = Function::new([n.clone()], body);
    let run = Let::new(&f, function, Call::new(&f, [int(3)])).expr();
    let both = Tuple::new([If::new(boolean(true), &run, int(1)).expr(), run]);
    assert!(Evaluator::new().evaluate(both).is_ok());
}
