//! Dead code elimination and purity.

use isoform::Ref;
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_relay::passes::{DeadCodeOptions, eliminate_dead_code};
use isoform_relay::{AsExpr, Function, PatternTuple, PatternVar};
use isoform_relay::{Clause, Match};

use crate::support::*;

fn options() -> DeadCodeOptions {
    DeadCodeOptions::default()
}

#[track_caller]
fn check_with(options: DeadCodeOptions, program: &Expr, expected: &Expr) {
    let found = options
        .eliminate_dead_code_expr(program)
        .expect("well formed");
    assert_equal(&found, expected);
    let again = options
        .eliminate_dead_code_expr(&found)
        .expect("well formed");
    assert!(again.same_as(&found));
}

#[track_caller]
fn check(program: &Expr, expected: &Expr) {
    check_with(options(), program, expected);
}

#[track_caller]
fn check_kept(program: &Expr) {
    let found = options()
        .eliminate_dead_code_expr(program)
        .expect("well formed");
    assert!(found.same_as(program), "{}", text(&found));
}

/// A program with an unused binding.
fn unused(value: &Expr) -> Expr {
    bind(&var("unused"), value, &int(0))
}

#[test]
fn unused_bindings_go_also_those_that_only_unused_ones_need() {
    let [x, a, b, c] = ["x", "a", "b", "c"].map(var);
    let rest = bind(&c, &call("h", [&x.expr()]), &call("i", [&c.expr()]));
    let program = bind(&b, &call("g", [&a.expr()]), &rest);
    let program = bind(&a, &call("f", [&x.expr()]), &program);
    check(&func([&x], &program), &func([&x], &rest));
    // A function that only calls itself.
    let f = var("f");
    let own = func([], apply(&f, []));
    check(&bind(&f, &own, &int(1)), &int(1));
    check_kept(&bind(&f, &own, &f.expr()));
}

#[test]
fn values_that_are_used_once_are_inlined_on_request() {
    let [x, a, b] = ["x", "a", "b"].map(var);
    let inline = options().inline_once(true);
    let value = call("f", [&x.expr()]);
    let once = bind(&a, &value, &call("g", [&a.expr()]));
    check_kept(&func([&x], &once));
    check_with(inline, &func([&x], &once), &func([&x], call("g", [&value])));
    for kept in [
        // Used twice by one expression, in a function, or with an effect.
        bind(&a, &value, &call("g", [&a.expr(), &a.expr()])),
        bind(&a, &value, &func([], a.expr())),
        bind(&a, &call("tick", [&x.expr()]), &call("g", [&a.expr()])),
    ] {
        check_with(inline, &func([&x], &kept), &func([&x], &kept));
    }
    // A use by a dropped binding is not a use.
    let half = bind(&b, &call("h", [&a.expr()]), &call("g", [&a.expr()]));
    let program = func([&x], bind(&a, &value, &half));
    check_with(inline, &program, &func([&x], call("g", [&value])));
    // Chains collapse at once, into branches as well.
    let chain = bind(
        &b,
        &call("g", [&a.expr()]),
        &choose(&x.expr(), &b.expr(), &int(1)),
    );
    let program = func([&x], bind(&a, &value, &chain));
    let expected = choose(&x.expr(), &call("g", [&value]), &int(1));
    check_with(inline, &program, &func([&x], &expected));
    // All are uses of the binding in the same function as the binding.
    let inside = func([&x], func([], bind(&a, &value, &call("g", [&a.expr()]))));
    let expected = func([&x], func([], call("g", [&value])));
    check_with(inline, &inside, &expected);
}

#[test]
fn effects_are_kept() {
    let [r, p, f, t, u] = ["r", "p", "f", "t", "u"].map(var);
    let tick = call("tick", [&int(1)]);
    let ticking = func([], &tick);
    for impure in [
        read(&r.expr()),
        write(&r.expr(), &int(1)),
        tick.clone(),
        call("f", [&tick]),
        tuple([&tick]),
        item(&tuple([&tick]), 0),
        create(&tick),
        choose(&p.expr(), &int(1), &tick),
        choose(&tick, &int(1), &int(2)),
        bind(&var("u"), &tick, &int(1)),
        apply(&ticking, []),
        // Functions that are not known.
        apply(&f, []),
        apply(&item(&t.expr(), 0), []),
        apply(&read(&r.expr()), []),
        apply(&choose(&p.expr(), &func([], int(1)), &ticking), []),
        apply(&bind(&u, &int(1), &func([], call("tick", [&u.expr()]))), []),
        apply(&apply(&func([], func([], int(1))), []), []),
    ] {
        check_kept(&func([&r, &p, &f, &t], unused(&impure)));
    }
    for pure in [
        int(1),
        create(&int(1)),
        ticking.clone(),
        call("f", [&int(1), &create(&int(2))]),
        item(&tuple([&int(1)]), 0),
        choose(&p.expr(), &int(1), &int(2)),
        apply(&func([], int(1)), []),
        apply(&choose(&p.expr(), &func([], int(1)), &func([], int(2))), []),
        f.expr(),
    ] {
        check(
            &func([&r, &p, &f, &t], unused(&pure)),
            &func([&r, &p, &f, &t], int(0)),
        );
    }
    let ignoring = options().ignore_impurity(true);
    let all = func([&r], unused(&write(&r.expr(), &int(1))));
    check_with(ignoring, &all, &func([&r], int(0)));
}

#[test]
fn functions_bound_by_a_let_are_known_and_recursion_is_no_effect() {
    let [f, g, n, p] = ["f", "g", "n", "p"].map(var);
    let with = |end: &Expr| {
        let again = apply(&f, [&call("dec", [&n.expr()])]);
        let own = func([&n], choose(&n.expr(), &again, end));
        bind(&f, &own, &unused(&apply(&f, [&p.expr()])))
    };
    check(&func([&p], with(&int(1))), &func([&p], int(0)));
    check_kept(&func([&p], with(&call("tick", [&int(1)]))));
    // `f` defines and calls `g`, which calls `f`: an effect of `g` is an effect of `f`.
    let inner = |end: &Expr| {
        let body = choose(&n.expr(), &apply(&f, [&n.expr()]), end);
        let own = func([], bind(&g, &func([], &body), &apply(&g, [])));
        let own = own.cast::<Function>().unwrap();
        Function::new([n.clone()], own.body.clone()).expr()
    };
    let program = |end: &Expr| {
        func(
            [&p],
            bind(&f, &inner(end), &unused(&apply(&f, [&p.expr()]))),
        )
    };
    check(&program(&int(1)), &func([&p], int(0)));
    check_kept(&program(&call("tick", [&int(1)])));
}

#[test]
fn functions_of_a_module_are_analysed_together() {
    let [main, pure, loops, ticks, other] =
        ["main", "pure", "loops", "ticks", "other"].map(GlobalVar::new);
    let calls = |callee: &Ref<GlobalVar>| func([], unused(&apply(callee, [])));
    let build = |callee: &Ref<GlobalVar>| {
        module([
            (&main, &calls(callee)),
            (&pure, &func([], apply(&loops, []))),
            (
                &loops,
                &func([], choose(&int(1), &apply(&pure, []), &apply(&loops, []))),
            ),
            (
                &ticks,
                &func(
                    [],
                    choose(&int(1), &apply(&ticks, []), &call("tick", [&int(1)])),
                ),
            ),
            (&other, &func([], apply(&ticks, []))),
        ])
    };
    for (callee, goes) in [
        (&pure, true),
        (&loops, true),
        (&ticks, false),
        (&other, false),
    ] {
        let before = build(callee);
        let after = eliminate_dead_code(&before).unwrap();
        assert_eq!(after.same_as(&before), !goes, "{}", callee.name_hint);
        if goes {
            assert_equal(&lookup(&after, &main), &func([], int(0)));
        }
    }
    let external = build(&pure);
    let func = external
        .lookup(&loops)
        .unwrap()
        .with_attr("Extern", 1)
        .unwrap();
    external.update_func(&loops, func).unwrap();
    assert!(eliminate_dead_code(&external).unwrap().same_as(&external));
    // A function missing in the module.
    let unknown = module([(&main, &calls(&other))]);
    assert!(eliminate_dead_code(&unknown).unwrap().same_as(&unknown));
}

#[test]
fn clauses_of_a_match_count_like_branches() {
    let [x, a] = ["x", "a"].map(var);
    let cases = |result: &Expr| {
        let pattern = PatternTuple::new().with_patterns([PatternVar::new(&a).upcast()]);
        let clause = Clause::new(pattern.upcast(), result);
        Match::new(&x, [clause]).expr()
    };
    check(&func([&x], unused(&cases(&a.expr()))), &func([&x], int(0)));
    check_kept(&func([&x], unused(&cases(&call("tick", [&a.expr()])))));
}

#[test]
fn everything_else_of_the_module_is_kept() {
    let (main, x) = (GlobalVar::new("main"), var("x"));
    let all = module([(&main, &func([&x], unused(&x.expr())))]);
    let with_attr = isoform::objects::with_field(
        all.as_object(),
        "attrs",
        isoform_ir::ir::DictAttrs::from_map([("a".into(), 1.into())].into_iter().collect()).into(),
    );
    let all: Ref<IRModule> = with_attr.unwrap().cast().unwrap();
    let done = eliminate_dead_code(&all).unwrap();
    assert!(!done.same_as(&all));
    assert_eq!(done.attribute("a"), Some(&1.into()));
    assert!(done.source_map.same_as(&all.source_map));
    assert_equal(&lookup(&all, &main), &func([&x], unused(&x.expr())));
}
