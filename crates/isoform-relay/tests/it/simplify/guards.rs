//! Effects, functions skipped by simplification, limits, and rules that enable further rules.

use isoform::{Ref, structural_equal};
use isoform_ir::ir::GlobalVar;
use isoform_relay::attrs::{ReshapeAttrs, sizes};
use isoform_relay::passes::{SimplifyOptions, simplify, simplify_rules};
use isoform_relay::{AsExpr, Call, Function, Let, RefCreate, RefRead, Var, op};

use crate::simplify::*;
use crate::support::*;

#[test]
fn the_table_says_why() {
    let mut names = std::collections::BTreeSet::new();
    for rule in simplify_rules() {
        assert!(names.insert(rule.name), "{} occurs once", rule.name);
        assert!(rule.reason.len() > 20, "{}", rule.name);
        assert!(rule.exact_for_integers || !rule.exact_for_floats);
    }
    assert_eq!(names.len(), 28);
}

#[test]
fn an_operand_with_an_effect_is_not_dropped() {
    let x = v("f32[3]");
    let r = Var::new("r");
    let read = RefRead::new(&r);
    let with = |body: Ref<Call>| {
        let value = RefCreate::new(&x);
        func([&x], Let::new(&r, value, body).expr())
    };
    stays(&with(op::zeros_like(&read)));
    stays(&with(op::add(&x, op::zeros_like(op::tanh(&read)))));
    // A remaining expression with an effect may be used otherwise.
    let sum = with(op::add(&read, number(0.0, F32)));
    let kept = func([&x], Let::new(&r, RefCreate::new(&x), &read).expr());
    applies("add_zero", &sum, &kept);
    // The effects of a function are not known.
    let f = Var::new("f");
    let identity = {
        let p = v("f32[3]");
        func([&p], &p)
    };
    let called = Call::new(&f, [x.expr()]);
    let body = op::zeros_like(&called);
    stays(&func([&x], Let::new(&f, identity, body).expr()));
}

#[test]
fn kernels_and_functions_of_others_are_left_alone() {
    let zero = number(0.0, F32);
    let p = v("f32[3]");
    let kernel = kernel([&p], op::add(&p, &zero));
    stays(&kernel);
    let x = v("f32[3]");
    stays(&func([&x], Call::new(&kernel, [x.expr()])));
    // Around a kernel, rules apply, and the kernel is the same object.
    let program = func([&x], Call::new(&kernel, [op::add(&x, &zero).expr()]));
    let simple = SimplifyOptions::default()
        .simplify_expr(&program)
        .expect("typed");
    let simple: Ref<Function> = simple.cast().expect("a function");
    let call: Ref<Call> = simple.body.clone().cast().expect("a call");
    assert!(call.args.get(0).is_some_and(|arg| arg.isa::<Var>()));
    assert!(structural_equal(&call.op, typed(&kernel)).expect("comparable"));

    let plain = func([&x], op::add(&x, &zero));
    let module = module([
        (&GlobalVar::new("changed"), &plain),
        (&GlobalVar::new("kept"), &marked(&plain, "SkipOptimization")),
        (&GlobalVar::new("extern"), &marked(&plain, "Extern")),
    ]);
    let simple = simplify(&module).expect("typed");
    for (name, is_simple) in [("changed", true), ("kept", false), ("extern", false)] {
        assert_eq!(
            function_in(&simple, name).body.isa::<Var>(),
            is_simple,
            "{name}"
        );
    }
    assert!(simplify(&simple).expect("typed").same_as(&simple));
}

#[test]
fn rules_enable_each_other_in_one_run() {
    let x = v("f32[2,3]");
    let reshape = |x: &Expr, shape: [i64; 2]| op::reshape(x, ReshapeAttrs::new(sizes(shape)));
    // Ones in the shape of a sum, as a factor between two reshapes.
    let inner = reshape(&x.expr(), [3, 2]);
    let ones = op::ones_like(op::add(&inner, &inner));
    let product = op::multiply(&inner, ones);
    let program = func([&x], reshape(&product.expr(), [1, 6]));
    let expected = func([&x], reshape(&x.expr(), [1, 6]));
    applies("reshape_reshape", &program, &expected);
}

#[test]
fn rewrites_without_end_are_an_error() {
    let x = v("f32[3]");
    let zero = number(0.0, F32);
    let sum = op::add(op::add(&x, &zero), &zero);
    let program = typed(&func([&x], sum));
    let options = SimplifyOptions::default().max_rewrites(0);
    let error = options.run(&program).expect_err("no rewrite is allowed");
    assert!(error.message().contains("SimplifyExpr"), "{error}");
    assert!(error.message().contains("max_steps=0"), "{error}");
    let done = SimplifyOptions::default().max_rewrites(1).run(&program);
    assert_eq!(done.expect("few rewrites").applied, [("add_zero", 2)]);
}
