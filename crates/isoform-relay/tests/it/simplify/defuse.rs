//! Taking kernels apart.

use isoform::Ref;
use isoform::structural_equal;
use isoform_relay::passes::{FuseOptions, defuse_ops_expr};
use isoform_relay::{
    AsExpr, Call, Function, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var, op,
};
use isoform_testing::source::scaled;

use crate::support::*;

/// Fusing and taking apart again gives an equal program.
#[track_caller]
fn comes_back(program: &Expr) {
    let program = typed(program);
    for options in [
        FuseOptions::default(),
        FuseOptions::default().fuses(false),
        FuseOptions::default().link_params(true),
    ] {
        let fused = options.fuse_ops_expr(&program).expect("typed");
        assert!(!structural_equal(&fused, &program).expect("comparable"));
        let back = defuse_ops_expr(&typed(&fused)).expect("well formed");
        assert!(structural_equal(&back, &program).expect("comparable"));
        assert!(defuse_ops_expr(&back).expect("well formed").same_as(&back));
    }
}

#[test]
fn fused_programs_come_back() {
    let [x, y] = [0, 1].map(|_| v("f32[2,3]"));
    let shared = op::exp(&x);
    let ones = constant(&tensor(&[1.0; 3], &[3], F32));
    comes_back(&func(
        [&x, &y],
        op::add(op::tanh(&shared), op::multiply(&shared, &ones)),
    ));
    comes_back(&func(
        [&x],
        Tuple::new([shared.expr(), op::tanh(&shared).expr()]),
    ));
    let parts = op::split(&x, isoform_relay::attrs::SplitAttrs::new(1));
    comes_back(&func([&x], op::tanh(TupleGetItem::new(parts, 0))));
    let v = Var::new("v");
    comes_back(&func(
        [&x],
        Let::new(&v, op::tanh(&shared), op::add(&v, &shared)),
    ));
    // Effects of arguments stay in order.
    let r = Var::new("r");
    let (read, written) = (RefRead::new(&r), RefWrite::new(&r, &y));
    let body = Tuple::new([
        op::exp(&read).expr(),
        written.expr(),
        op::tanh(RefRead::new(&r)).expr(),
    ]);
    comes_back(&func([&x, &y], Let::new(&r, RefCreate::new(&x), body)));
}

/// The body after taking kernels apart.
#[track_caller]
fn defused(program: &Expr) -> Expr {
    let done = defuse_ops_expr(program).expect("well formed");
    let done: Ref<Function> = done.cast().expect("a function");
    done.body.clone()
}

#[test]
fn effects_of_arguments_stay_in_order() {
    let [x, y] = [0, 1].map(|_| v("f32[3]"));
    let r = Var::new("r");
    // The kernel uses the second value first.
    let written = Let::new(Var::new("u"), RefWrite::new(&r, &y), &y);
    let sum = op::add(RefRead::new(&r), op::tanh(written));
    comes_back(&func([&x, &y], Let::new(&r, RefCreate::new(&x), sum)));
    // Both values are known before the kernel, the outer one was begun first.
    let inner = Let::new(Var::new("u"), RefCreate::new(&x), &x);
    let outer = op::copy(&inner);
    let both = op::subtract(&inner, &outer);
    comes_back(&func(
        [&x],
        Let::new(Var::new("r"), RefCreate::new(&outer), both),
    ));
}

#[test]
fn arguments_with_effects_are_computed_once_and_in_order() {
    let [p, q, x] = [0, 1, 2].map(|_| v("f32[3]"));
    let r = Var::new("r");
    let in_function = |body: Expr| func([&x], Let::new(&r, RefCreate::new(&x), body));
    let inner = |body: &Expr| body.clone().cast::<Let>().expect("a binding").body.clone();
    let read = || RefRead::new(&r).expr();
    // The second parameter is used first, and the first one not at all.
    for (body, names) in [(op::subtract(&q, &p), 2), (op::subtract(&q, &q), 2)] {
        let call = Call::new(kernel([&p, &q], body), [read(), read()]);
        let mut expr = inner(&defused(&in_function(call.expr())));
        let mut bound = 0;
        while let Some(binding) = expr.downcast_ref::<Let>().cloned() {
            assert!(binding.value.isa::<RefRead>());
            expr = binding.body.clone();
            bound += 1;
        }
        assert_eq!(bound, names);
    }
    // In order, they need no names.
    let call = Call::new(kernel([&p, &q], op::subtract(&p, &q)), [read(), read()]);
    let expr = inner(&defused(&in_function(call.expr())));
    assert!(
        expr.downcast_ref::<Call>()
            .is_some_and(|call| call.args.len() == 2)
    );
}

#[test]
fn bodies_are_copied_for_each_call() {
    let [p, x] = [0, 1].map(|_| v("f32[3]"));
    let v = Var::new("v");
    let kernel = kernel([&p], Let::new(&v, op::exp(&p), op::add(&v, &v)));
    let twice = Call::new(&kernel, [Call::new(&kernel, [x.expr()]).expr()]);
    let expected = |x: &Expr| {
        let v = Var::new("v");
        Let::new(&v, op::exp(x), op::add(&v, &v)).expr()
    };
    let result = func([&x], defused(&func([&x], twice)));
    let expected = func([&x], expected(&expected(&x.expr())));
    assert!(structural_equal(result, expected).expect("comparable"));
    // Kernels not called where they are written are kept.
    let f = Var::new("f");
    let named = func([&x], Let::new(&f, &kernel, Call::new(&f, [x.expr()])));
    assert!(
        defuse_ops_expr(&named)
            .expect("well formed")
            .same_as(&named)
    );
    let wrong = func([&x], Call::new(&kernel, [x.expr(), x.expr()]));
    let error = defuse_ops_expr(&wrong).expect_err("one argument too many");
    assert!(error.message().contains("expected 1 arguments"), "{error}");
}

#[test]
fn a_hundred_thousand_kernels() {
    let x = v("f32[3]");
    let mut body = x.expr();
    for _ in 0..scaled(100_000).max(20_000) {
        body = op::exp(&body).expr();
    }
    let program = typed(&func([&x], body));
    let fused = FuseOptions::default().fuses(false).fuse_ops_expr(&program);
    let back = defuse_ops_expr(&fused.expect("typed")).expect("well formed");
    assert!(structural_equal(back, program).expect("comparable"));
}

#[test]
fn any_called_function_without_functions_inside_comes_apart() {
    let [p, q, x] = [0, 1, 2].map(|_| v("f32[3]"));
    let composite = marked(&func([&p], op::exp(&p)), "Composite");
    let outer = func([&q], Call::new(&composite, [op::tanh(&q).expr()]));
    let program = func([&x], Call::new(&composite, [op::abs(&x).expr()]));
    assert_equal(&defused(&program), &op::exp(op::abs(&x)).expr());
    // The inner call comes apart, the function around it stays.
    let program = func([&x], Call::new(&outer, [x.expr()]));
    let opened = func([&q], op::exp(op::tanh(&q)));
    let expected = Call::new(opened, [x.expr()]).expr();
    assert_equal(&func([&x], defused(&program)), &func([&x], expected));
    // A function for another compiler stays.
    let external = marked(&composite, "Extern");
    let program = func([&x], Call::new(external, [x.expr()]));
    let done = defuse_ops_expr(&program).expect("well formed");
    assert!(done.same_as(&program));
}
