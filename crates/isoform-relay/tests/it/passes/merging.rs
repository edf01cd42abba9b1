//! Common subexpression elimination, removal of functions.

use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{DictAttrs, GlobalVar};
use isoform_relay::passes::{
    CommonSubexprOptions, eliminate_common_subexpr, remove_unused_functions,
};
use isoform_relay::{AsExpr, Call, Function};

use crate::support::*;

fn merged(program: &Expr) -> Expr {
    CommonSubexprOptions::default()
        .eliminate_common_subexpr_expr(program)
        .expect("well formed")
}

#[track_caller]
fn check(program: &Expr, expected: &Expr) {
    let found = merged(program);
    assert_equal(&found, expected);
    assert!(merged(&found).same_as(&found));
}

#[track_caller]
fn check_unchanged(program: &Expr) {
    assert!(merged(program).same_as(program));
}

#[test]
fn equal_calls_become_one() {
    let x = var("x");
    let plus = || call("add", [&call("relu", [&x.expr()]), &int(1)]);
    let program = func([&x], call("add", [&plus(), &plus()]));
    let once = plus();
    check(&program, &func([&x], call("add", [&once, &once])));
}

#[test]
fn arguments_are_identical_equal_scalars_or_tuples_of_such() {
    let x = var("x");
    let with = |arg: &Expr| call("f", [&x.expr(), arg]);
    let twice = |one: &Expr, two: &Expr| func([&x], tuple([one, two]));
    let shared = with(&tuple([&x.expr(), &int(1)]));
    let other = with(&tuple([&x.expr(), &int(1)]));
    check(&twice(&shared, &other), &twice(&shared, &shared));
    for (one, two) in [
        (int(1), int(2)),
        (constant(&ints(&[1], &[1])), constant(&ints(&[1], &[1]))),
        (tuple([&x.expr()]), tuple([&x.expr(), &x.expr()])),
        (func([], x.expr()), func([], x.expr())),
    ] {
        check_unchanged(&twice(&with(&one), &with(&two)));
    }
    // Another number of arguments, another order, another operator.
    let one = with(&int(1));
    check_unchanged(&twice(&one, &call("f", [&x.expr(), &int(1), &int(1)])));
    check_unchanged(&twice(&one, &call("f", [&int(1), &x.expr()])));
    check_unchanged(&twice(&one, &call("g", [&x.expr(), &int(1)])));
}

#[test]
fn attributes_are_compared() {
    let x = var("x");
    let with = |axis: i64| {
        let attrs = DictAttrs::from_map([("axis".into(), axis.into())].into_iter().collect());
        Call::new(unknown_op("f"), [x.expr()])
            .with_attrs(attrs.upcast())
            .expr()
    };
    let plain = call("f", [&x.expr()]);
    let [one, again, two] = [with(1), with(1), with(2)];
    let program = func([&x], tuple([&one, &again, &two, &plain]));
    check(&program, &func([&x], tuple([&one, &one, &two, &plain])));
}

#[test]
fn items_of_tuples_are_merged_by_index() {
    let x = var("x");
    let item = |index| item(&x.expr(), index);
    let zero = item(0);
    let found = merged(&func([&x], tuple([&zero, &item(0), &item(1)])));
    let body = &found.downcast_ref::<Function>().unwrap().body;
    let fields = &body.downcast_ref::<isoform_relay::Tuple>().unwrap().fields;
    let [first, second, third] = [0, 1, 2].map(|at| fields.get(at).unwrap());
    assert!(first.same_as(&zero) && second.same_as(&zero) && !third.same_as(&zero));
}

#[test]
fn other_calls_are_left_alone() {
    let (x, g) = (var("x"), GlobalVar::new("g"));
    for make in [|| call("zeros", []), || call("tick", [&int(1)])] {
        check_unchanged(&func([&x], tuple([&make(), &make()])));
    }
    let callee = || apply(&g, [&x.expr()]);
    check_unchanged(&func([&x], tuple([&callee(), &callee()])));
    let choice = || choose(&x.expr(), &int(1), &int(2));
    check_unchanged(&func([&x], tuple([&choice(), &choice()])));
}

#[test]
fn calls_can_be_skipped() {
    let x = var("x");
    let (f, g) = (|| call("f", [&x.expr()]), || call("g", [&x.expr()]));
    let program = func([&x], tuple([&f(), &f(), &g(), &g()]));
    let skip = |expr: &Expr| {
        Ok(expr
            .downcast_ref::<Call>()
            .is_some_and(|call| call.op.same_as(&unknown_op("f"))))
    };
    let options = CommonSubexprOptions::default().skip(skip);
    let once = g();
    let found = options.eliminate_common_subexpr_expr(&program).unwrap();
    assert_equal(&found, &func([&x], tuple([&f(), &f(), &once, &once])));
    let failing = CommonSubexprOptions::default().skip(|_| Err(isoform::Error::value_error("no")));
    assert_error(failing.eliminate_common_subexpr_expr(&program), &["no"]);
}

#[test]
fn scopes_are_ignored_and_kernels_are_not_entered() {
    let [p, x, k] = ["p", "x", "k"].map(var);
    let f = || call("f", [&x.expr()]);
    let once = f();
    let program = func([&p, &x], choose(&p.expr(), &f(), &tuple([&f()])));
    check(
        &program,
        &func([&p, &x], choose(&p.expr(), &once, &tuple([&once]))),
    );

    let inner = tuple([&call("f", [&k.expr()]), &call("f", [&k.expr()])]);
    let kernel = func([&k], &inner).cast::<Function>().unwrap().upcast();
    let kernel = kernel
        .with_attr("Primitive", 1)
        .unwrap()
        .cast::<Function>()
        .unwrap();
    check_unchanged(&func([&x], apply(&kernel, [&x.expr()])));
}

#[test]
fn calls_that_may_fail_stay_behind_their_conditions() {
    let [p, x] = ["p", "x"].map(var);
    let risk = || call("f", [&call("part", [&x.expr()]), &int(1)]);
    let guarded = |value: &Expr| choose(&x.expr(), &int(0), value);
    let around = |body: &Expr| func([&p, &x], body);
    // Neither branch is around the other one.
    let apart = [guarded(&risk()), guarded(&risk())];
    check_unchanged(&around(&choose(&p.expr(), &apart[0], &apart[1])));
    let fine = || call("f", [&call("g", [&x.expr()]), &int(1)]);
    let apart = [guarded(&fine()), guarded(&fine())];
    let program = around(&choose(&p.expr(), &apart[0], &apart[1]));
    assert!(!merged(&program).same_as(&program));
    // Outside of the branches the value is computed in any case, before or after the
    // branches.
    let once = risk();
    let both = choose(&p.expr(), &guarded(&once), &guarded(&once));
    let expected = around(&tuple([&both, &once]));
    let apart = choose(&p.expr(), &guarded(&risk()), &guarded(&risk()));
    check(&around(&tuple([&apart, &risk()])), &expected);
}

#[test]
fn the_first_call_keeps_its_place_and_functions_may_opt_out() {
    let (x, main) = (var("x"), GlobalVar::new("main"));
    let first = call("f", [&x.expr()]);
    let program = func([&x], tuple([&first, &call("f", [&x.expr()])]));
    let all = module([(&main, &program)]);
    let done = eliminate_common_subexpr(&all).unwrap();
    let body = lookup(&done, &main)
        .cast::<Function>()
        .unwrap()
        .body
        .clone();
    let fields = body.cast::<isoform_relay::Tuple>().unwrap().fields.clone();
    assert!(fields.iter().all(|field| field.same_as(&first)));
    assert!(eliminate_common_subexpr(&done).unwrap().same_as(&done));
    for (key, value) in [("SkipOptimization", 1), ("Extern", 1)] {
        let func = all.lookup(&main).unwrap().with_attr(key, value).unwrap();
        let kept = all.copied();
        kept.update_func(&main, func).unwrap();
        assert!(
            eliminate_common_subexpr(&kept).unwrap().same_as(&kept),
            "{key}"
        );
    }
}

#[test]
fn functions_that_no_entry_reaches_are_removed() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(GlobalVar::new);
    let caller = |callee| func([], apply(callee, []));
    let all = module([
        (&a, &caller(&b)),
        (&b, &caller(&b)),
        (&c, &caller(&d)),
        (&d, &func([], tuple([]))),
    ]);
    let names = |entries: &[&str]| {
        let left = remove_unused_functions(&all, entries).unwrap();
        let names = left.global_vars();
        names
            .iter()
            .map(|var| var.name_hint.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["a"]), ["a", "b"]);
    assert_eq!(names(&["d"]), ["d"]);
    assert_eq!(names(&["a", "c"]), ["a", "b", "c", "d"]);
    assert_eq!(names(&[]), [""; 0]);
    assert_eq!(all.functions.len(), 4, "the module given is not changed");
    assert!(
        remove_unused_functions(&all, &["a", "c"])
            .unwrap()
            .same_as(&all)
    );
    assert_error(remove_unused_functions(&all, &["e"]), &["\"e\"", "\"a\""]);
}
