//! A-normal form, basic block normal form, graph normal form.

use isoform::Ref;
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, SourceName, Span};
use isoform_relay::analysis::{check_basic_block_normal_form, well_formed};
use isoform_relay::passes::{
    DeadCodeOptions, fold_constant_expr, to_a_normal_form, to_a_normal_form_expr as named,
    to_basic_block_normal_form, to_basic_block_normal_form_expr as blocks, to_graph_normal_form,
    to_graph_normal_form_expr as graph,
};
use isoform_relay::{AsExpr, Call, Function, Let, Var};

use crate::passes::interpret::outcome;
use crate::support::*;

#[track_caller]
fn check(form: fn(&Expr) -> isoform::Result<Expr>, program: &Expr, expected: &Expr) {
    let found = form(program).expect("well formed");
    assert_equal(&found, expected);
    let again = form(&found).expect("well formed");
    assert!(
        again.same_as(&found),
        "a second run changes {}",
        text(&found)
    );
}

#[test]
fn constants_and_calls_are_named_in_the_order_of_arguments() {
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(var);
    let program = call("add", [&int(1), &call("mul", [&int(2), &int(3)])]);
    let sum = call("add", [&a.expr(), &d.expr()]);
    let expected = bind(&e, &sum, &e.expr());
    let expected = bind(&d, &call("mul", [&b.expr(), &c.expr()]), &expected);
    let expected = bind(&b, &int(2), &bind(&c, &int(3), &expected));
    check(named, &program, &bind(&a, &int(1), &expected));
}

#[test]
fn branches_begin_with_their_own_bindings() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(var);
    let program = choose(&int(1), &int(2), &int(3));
    let yes = bind(&a, &int(2), &a.expr());
    let no = bind(&b, &int(3), &b.expr());
    let expected = bind(&d, &choose(&c.expr(), &yes, &no), &d.expr());
    check(named, &program, &bind(&c, &int(1), &expected));
}

#[test]
fn a_shared_let_is_flattened_once() {
    let [x, y, v0, v1, v2] = ["x", "y", "v0", "v1", "v2"].map(var);
    let constant = int(7);
    let shared = bind(&x, &call("add", [&constant, &constant]), &x.expr());
    let program = call("mul", [&shared, &shared]);
    let expected = bind(&v2, &call("mul", [&v1.expr(), &v1.expr()]), &v2.expr());
    let expected = bind(&v1, &y.expr(), &expected);
    let expected = bind(&y, &call("add", [&v0.expr(), &v0.expr()]), &expected);
    check(named, &program, &bind(&v0, &int(7), &expected));
}

#[test]
fn variables_of_the_program_are_reused_and_atoms_may_be_bound() {
    let [x, y, z, w] = ["x", "y", "z", "w"].map(var);
    // let x = (let y = f(w); y); let z = x; z   becomes   let y = f(w); let x = y; …
    let inner = bind(&y, &call("f", [&w.expr()]), &y.expr());
    let program = bind(&x, &inner, &bind(&z, &x.expr(), &z.expr()));
    let expected = bind(&x, &y.expr(), &bind(&z, &x.expr(), &z.expr()));
    let expected = bind(&y, &call("f", [&w.expr()]), &expected);
    check(named, &func([&w], &program), &func([&w], &expected));
}

#[test]
fn what_several_branches_share_is_bound_around_them() {
    let [p, x, v, w, d] = ["p", "x", "v", "w", "d"].map(var);
    let shared = call("f", [&x.expr()]);
    let choice = choose(&p.expr(), &shared, &call("g", [&shared]));
    let no = bind(&w, &call("g", [&v.expr()]), &w.expr());
    let expected = choose(&p.expr(), &v.expr(), &no);
    let expected = bind(&v, &call("f", [&x.expr()]), &bind(&d, &expected, &d.expr()));
    check(named, &func([&p, &x], &choice), &func([&p, &x], &expected));
}

#[test]
fn kernels_are_bound_as_they_are_and_other_compilers_functions_kept() {
    let [x, p, f, v] = ["x", "p", "f", "v"].map(var);
    let kernel = func([&p], call("g", [&call("f", [&p.expr()])]));
    let kernel = kernel.cast::<Function>().unwrap().upcast();
    let kernel = kernel
        .with_attr("Primitive", 1)
        .unwrap()
        .cast::<Function>()
        .unwrap();
    let program = apply(&kernel, [&x.expr()]);
    let expected = bind(&v, &apply(&f, [&x.expr()]), &v.expr());
    let expected = bind(&f, &kernel.expr(), &expected);
    check(named, &func([&x], &program), &func([&x], &expected));

    let outside = GlobalVar::new("outside");
    let all = module([(&outside, &func([&x], &program))]);
    let func = all.lookup(&outside).unwrap();
    all.update_func(&outside, func.with_attr("Compiler", "other").unwrap())
        .unwrap();
    assert!(to_a_normal_form(&all).unwrap().same_as(&all));
    assert!(to_basic_block_normal_form(&all).unwrap().same_as(&all));
    assert!(to_graph_normal_form(&all).unwrap().same_as(&all));
}

#[test]
fn the_module_given_is_not_changed_and_spans_and_types_are_kept() {
    let (x, main) = (var("x"), GlobalVar::new("main"));
    let span = Span::new(SourceName::new("f.relay"), 1, 1, 2, 3);
    let ty = isoform_ir::ir::TensorType::new([]).upcast();
    let inner = call("f", [&x.expr()]);
    let inner = isoform::objects::with_field(inner.as_object(), "span", (&span).into()).unwrap();
    let inner = isoform::objects::with_field(&inner, "checked_type_", (&ty).into()).unwrap();
    let inner: Expr = inner.cast().unwrap();
    let before = module([(&main, &func([&x], call("g", [&inner])))]);
    let body = lookup(&before, &main);
    let after = to_a_normal_form(&before).unwrap();
    assert!(lookup(&before, &main).same_as(&body) && !after.same_as(&before));
    let after = lookup(&after, &main).cast::<Function>().unwrap();
    let first = after.body.downcast_ref::<Let>().expect("a binding");
    assert!(
        first.value.same_as(&inner),
        "an unchanged expression is the same object"
    );
    assert_eq!(&*first.var.name_hint, "x_0");
    assert!(first.var.span.as_ref().unwrap().same_as(&span));
    assert!(first.var.checked_type_.as_ref().unwrap().same_as(&ty));
    assert!(to_a_normal_form(&to_a_normal_form(&before).unwrap()).is_ok());
}

#[test]
fn only_what_several_blocks_share_is_bound() {
    let [p, x, v] = ["p", "x", "v"].map(var);
    let shared = call("f", [&x.expr()]);
    let alone = call("h", [&call("h", [&int(1)])]);
    let choice = choose(&p.expr(), &shared, &call("g", [&shared, &alone]));
    let program = call("add", [&choice, &alone]);
    // `alone` is used in the branch first, and again outside.
    let w = var("w");
    let expected = choose(&p.expr(), &v.expr(), &call("g", [&v.expr(), &w.expr()]));
    let expected = bind(&w, &alone, &call("add", [&expected, &w.expr()]));
    let expected = bind(&v, &call("f", [&x.expr()]), &expected);
    check(
        blocks,
        &func([&p, &x], &program),
        &func([&p, &x], &expected),
    );

    let plain = call("add", [&alone, &alone]);
    assert!(blocks(&plain).unwrap().same_as(&plain), "one block uses it");
}

#[test]
fn a_value_is_bound_below_the_let_that_it_needs() {
    let [p, x, v] = ["p", "x", "v"].map(var);
    let shared = call("f", [&x.expr()]);
    let choice = |shared: &Expr| choose(&p.expr(), shared, &call("g", [shared]));
    let program = call("h", [&bind(&x, &int(1), &choice(&shared))]);
    let expected = bind(&v, &shared, &choice(&v.expr()));
    let expected = call("h", [&bind(&x, &int(1), &expected)]);
    check(blocks, &func([&p], &program), &func([&p], &expected));
}

#[test]
fn the_order_of_effects_is_kept() {
    let [p, r, u, v] = ["p", "r", "u", "v"].map(var);
    let shared = read(&r.expr());
    let choice = |shared: &Expr| choose(&p.expr(), shared, &tuple([shared]));
    let program = tuple([&write(&r.expr(), &int(1)), &choice(&shared)]);
    let expected = tuple([&u.expr(), &choice(&v.expr())]);
    let expected = bind(&v, &read(&r.expr()), &expected);
    let expected = bind(&u, &write(&r.expr(), &int(1)), &expected);
    check(
        blocks,
        &func([&p, &r], &program),
        &func([&p, &r], &expected),
    );
}

#[test]
fn effects_leave_the_lets_in_which_they_are_used_first() {
    let [r, u, w] = ["r", "u", "w"].map(var);
    // The value is used first in a `let` after a write, and then before the branches.
    let shared = read(&r.expr());
    let choice = choose(&int(1), &shared, &tuple([&shared]));
    let after_write = |expr: &Expr| bind(&u, &write(&r.expr(), &int(1)), expr);
    let pair = tuple([&int(2), &shared]);
    let inner = bind(&w, &func([], &shared), &int(2));
    for used_first in [pair, inner] {
        let program = tuple([&after_write(&used_first), &used_first, &choice]);
        let program = func([], bind(&r, &create(&int(0)), &program));
        let after = blocks(&program).unwrap();
        check_basic_block_normal_form(&after).expect("computed before the branches");
        let [before, after] = [&program, &after].map(|program| outcome(program, None).ok());
        let [(before, _), (after, _)] = [before, after].map(|run| run.expect("few steps"));
        assert_eq!(before, after, "{}", text(&program));
    }
}

#[test]
fn variables_become_their_values() {
    let [x, y, z] = ["x", "y", "z"].map(var);
    let sum = |value: &Expr| call("add", [value, value]);
    let program = bind(&z, &sum(&y.expr()), &sum(&z.expr()));
    let program = bind(&y, &sum(&x.expr()), &program);
    let inner = sum(&x.expr());
    check(graph, &func([&x], &program), &func([&x], sum(&sum(&inner))));
}

#[test]
fn work_does_not_move_into_functions() {
    let [v, w, x, f, g] = ["v", "w", "x", "f", "g"].map(var);
    let work = || call("f", [&x.expr()]);
    let kept = |program: &Expr| {
        let program = func([&x], program);
        assert!(
            graph(&program).unwrap().same_as(&program),
            "{}",
            text(&program)
        );
    };
    kept(&bind(&v, &work(), &func([], v.expr())));
    let branch = choose(&x.expr(), &v.expr(), &int(0));
    kept(&bind(
        &v,
        &work(),
        &func([], call("g", [&branch, &v.expr()])),
    ));
    // By way of another name, and of a function that also moves there.
    let program = bind(&v, &work(), &bind(&w, &v.expr(), &func([], w.expr())));
    let expected = bind(&v, &work(), &func([], v.expr()));
    check(graph, &func([&x], &program), &func([&x], &expected));
    let inner = bind(&f, &func([], v.expr()), &func([], apply(&f, [])));
    let expected = func(
        [],
        apply(&func([], v.expr()).cast::<Function>().unwrap(), []),
    );
    let expected = bind(&v, &work(), &expected);
    check(
        graph,
        &func([&x], bind(&v, &work(), &inner)),
        &func([&x], &expected),
    );
    // The value has been computed already, or two functions share the value, or it is
    // not work.
    let (once, both) = (work(), |value: &Expr| {
        tuple([&func([], value), &func([], value)])
    });
    let program = bind(&v, &work(), &tuple([&func([], v.expr()), &v.expr()]));
    let expected = tuple([&func([], &once), &once]);
    check(graph, &func([&x], &program), &func([&x], &expected));
    let program = bind(&v, &work(), &both(&v.expr()));
    check(graph, &func([&x], &program), &func([&x], both(&once)));
    let program = bind(&g, &func([], x.expr()), &func([], apply(&g, [])));
    assert!(!graph(&func([&x], &program)).unwrap().same_as(&program));
}

#[test]
fn a_tower_of_functions_stays_as_cheap_as_it_was() {
    // let v1 = f0() + f0() in let f1 = fn() { v1 } in …
    let levels: Vec<_> = (0..20).map(|_| (var("v"), var("f"))).collect();
    let mut program = levels[19].0.expr();
    for (level, (v, f)) in levels.iter().enumerate().rev() {
        let below = match level {
            0 => call("g", [&int(1), &int(2)]),
            _ => {
                let call_of = || apply(&levels[level - 1].1, []);
                call("g", [&call_of(), &call_of()])
            }
        };
        program = bind(v, &below, &bind(f, &func([], v.expr()), &program));
    }
    let program = func([], &program);
    let (before, _) = outcome(&program, None).ok().expect("few steps");
    let (after, _) = outcome(&graph(&program).unwrap(), None)
        .ok()
        .expect("few steps");
    assert_eq!(before, after);
}

#[test]
fn a_recursive_function_keeps_its_name() {
    let [f, n, x] = ["f", "n", "x"].map(var);
    let own = func([&n], apply(&f, [&call("dec", [&n.expr()])]));
    let pair = tuple([&apply(&f, [&x.expr()]), &f.expr()]);
    let named = bind(&f, &own, &f.expr());
    let expected = tuple([&apply(&named, [&x.expr()]), &named]);
    check(
        graph,
        &func([&x], bind(&f, &own, &pair)),
        &func([&x], &expected),
    );
}

#[test]
fn effects_are_neither_lost_nor_moved() {
    let [r, u, v, w, x] = ["r", "u", "v", "w", "x"].map(var);
    // An unused write, a read before another write, a call that ticks, a new reference.
    let program = tuple([&v.expr(), &w.expr(), &x.expr(), &x.expr()]);
    let program = bind(&x, &create(&int(3)), &program);
    let program = bind(&w, &call("tick", [&v.expr()]), &program);
    let program = bind(&u, &write(&r.expr(), &int(2)), &program);
    let program = bind(&v, &read(&r.expr()), &program);
    let program = func([&r], &program);
    assert!(graph(&program).unwrap().same_as(&program));
}

#[test]
fn the_result_is_in_basic_block_normal_form() {
    let [p, x] = ["p", "x"].map(var);
    let shared = call("f", [&x.expr()]);
    let program = call("g", [&shared, &choose(&p.expr(), &shared, &x.expr())]);
    let program = func([&p, &x], &program);
    assert!(blocks(&program).unwrap().same_as(&program));
    check_basic_block_normal_form(&program).expect("computed before the branches");
}

#[test]
fn graph_and_a_normal_form_are_inverse() {
    let [p, x] = ["p", "x"].map(var);
    let shared = call("f", [&x.expr(), &int(1)]);
    let branch = tuple([&shared, &item(&tuple([&x.expr(), &shared]), 1)]);
    let program = choose(&p.expr(), &branch, &tuple([&shared, &int(1)]));
    let program = func([&p, &x], call("g", [&program, &shared]));
    assert_equal(&graph(&named(&program).unwrap()).unwrap(), &program);
}

#[test]
fn work_that_functions_share_by_reference_stays_where_it_was() {
    let [x, d, f, h] = ["x", "d", "f", "h"].map(var);
    let work = call("f", [&x.expr()]);
    let inside = func([], call("h", [&work]));
    // An unused binding has the only use outside of functions.
    let program = func([&x], bind(&d, &call("g", [&work]), &inside));
    let again = bind(&d, &call("g", [&work]), &tuple([&inside, &work]));
    let again = func([&x], &again);
    let passes: [fn(&Expr) -> isoform::Result<Expr>; 2] = [graph, |program| {
        DeadCodeOptions::default().eliminate_dead_code_expr(program)
    }];
    for pass in passes {
        assert!(pass(&program).unwrap().same_as(&program));
        let expected = func([&x], tuple([&inside, &work]));
        assert_equal(&pass(&again).unwrap(), &expected);
    }
    // Two functions share `work`, and the pass would move one function into the other.
    let outer = func([], call("g", [&work, &apply(&f, [])]));
    let program = func([&x], bind(&f, &inside, &bind(&h, &outer, &apply(&h, []))));
    let expected = func(
        [&x],
        bind(&f, &inside, &apply(&outer.cast::<Function>().unwrap(), [])),
    );
    check(graph, &program, &expected);
}

#[test]
fn kernels_that_share_bindings_are_copied() {
    let [v, w, x] = ["v", "w", "x"].map(var);
    let twice = |var: &Ref<Var>| {
        let sum = call("g", [&var.expr(), &var.expr()]);
        bind(var, &item(&tuple([&x.expr(), &int(1)]), 0), &sum)
    };
    let shared = twice(&v);
    let call_of = |kernel: &Expr| Call::new(kernel, []).expr();
    // A kernel shares bindings with the surrounding program; two kernels share bindings
    // with each other.
    let both = |kernel: &Expr| func([&x], tuple([&shared, &call_of(kernel), &int(2)]));
    let first = kernel([], &shared);
    let inner = twice(&w);
    let [second, third] = ["h", "f"].map(|op| kernel([], call(op, [&inner])));
    // The variable disappears when constants are folded.
    let pair = tuple([&call_of(&second), &call_of(&third)]);
    let programs = [
        both(&first),
        func([&x], &pair),
        func([], bind(&x, &int(5), &pair)),
        func([], bind(&x, &int(5), &tuple([&call_of(&first), &shared]))),
    ];
    let passes: [fn(&Expr) -> isoform::Result<Expr>; 4] =
        [named, blocks, graph, |program| fold_constant_expr(program)];
    for program in programs {
        for pass in passes {
            let after = pass(&program).unwrap();
            assert!(well_formed(&after), "{}", text(&after));
            assert!(pass(&after).unwrap().same_as(&after), "{}", text(&after));
        }
    }
}

#[test]
fn programs_that_are_not_well_formed_are_errors() {
    let [x, y] = ["x", "y"].map(var);
    let twice = tuple([&bind(&x, &int(1), &x.expr()), &bind(&x, &int(2), &x.expr())]);
    let late = tuple([&x.expr(), &bind(&x, &int(1), &x.expr())]);
    for form in [named, blocks, graph] {
        assert_error(form(&twice), &["%x is bound twice"]);
        assert_error(form(&late), &["%x is bound after it was used"]);
    }
    // An expression over a parameter that is also used outside of the function.
    let shared = call("f", [&y.expr()]);
    let escaped = tuple([&func([&y], &shared), &shared]);
    let unbound = tuple([&bind(&y, &int(1), &shared), &shared]);
    for form in [named, blocks, graph] {
        assert_error(form(&escaped), &["%y is used outside of the scope"]);
        assert_error(form(&unbound), &["%y is used outside of the scope"]);
    }
    let f = var("f");
    let inside = apply(&f, [&int(1)]);
    let recursive = bind(&f, &func([], &inside), &inside);
    for form in [named, blocks, graph] {
        assert_error(form(&recursive), &["recursive function %f"]);
    }
}
