//! Inlining of functions of a module.

use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, TensorType, TypeVar};
use isoform_relay::passes::inline_functions;
use isoform_relay::{AsExpr, Function};

use crate::support::*;

#[test]
fn calls_become_bodies_leaves_first() {
    let [main, f, g] = ["main", "inl_f", "inl_g"].map(GlobalVar::new);
    let [x, y, z] = ["x", "y", "z"].map(var);
    let all = module([
        (&main, &func([&x], apply(&f, [&call("h", [&x.expr()])]))),
        (&f, &func([&y], tuple([&apply(&g, [&y.expr()]), &y.expr()]))),
        (&g, &func([&z], call("k", [&z.expr()]))),
    ]);
    let done = inline_functions(&all).unwrap();
    let arg = call("h", [&x.expr()]);
    let expected = tuple([&call("k", [&arg]), &arg]);
    assert_equal(&lookup(&done, &main), &func([&x], &expected));
    assert_eq!((all.functions.len(), done.functions.len()), (3, 1));
    assert!(inline_functions(&done).unwrap().same_as(&done));
}

#[test]
fn each_call_has_its_own_variables_and_effects() {
    let [main, f] = ["main", "inl_f"].map(GlobalVar::new);
    let [x, y, a] = ["x", "y", "a"].map(var);
    let body = bind(&a, &call("tick", [&int(1)]), &tuple([&a.expr(), &y.expr()]));
    let call_f = |arg: &Expr| apply(&f, [arg]);
    let all = module([
        (
            &main,
            &func([&x], tuple([&call_f(&x.expr()), &call_f(&x.expr())])),
        ),
        (&f, &func([&y], &body)),
    ]);
    let done = lookup(&inline_functions(&all).unwrap(), &main);
    let [b, c] = ["b", "c"].map(var);
    let once = |a: &isoform::Ref<isoform_relay::Var>| {
        bind(a, &call("tick", [&int(1)]), &tuple([&a.expr(), &x.expr()]))
    };
    assert_equal(&done, &func([&x], tuple([&once(&b), &once(&c)])));
    // Other passes reject a variable with two bindings; `done` binds all variables once.
    isoform_relay::passes::to_a_normal_form_expr(&done).unwrap();
}

#[test]
fn arguments_with_effects_are_evaluated_once_before_the_body() {
    let [main, f] = ["main", "inl_f"].map(GlobalVar::new);
    let [x, y, z, a] = ["x", "y", "z", "a"].map(var);
    let all = module([
        (
            &main,
            &func([&x], apply(&f, [&call("tick", [&x.expr()]), &x.expr()])),
        ),
        (&f, &func([&y, &z], func([], z.expr()))),
    ]);
    let done = lookup(&inline_functions(&all).unwrap(), &main);
    let expected = bind(&a, &call("tick", [&x.expr()]), &func([], x.expr()));
    assert_equal(&done, &func([&x], &expected));
}

#[test]
fn functions_of_other_compilers_and_names_become_expressions() {
    let [main, f] = ["main", "inl_f"].map(GlobalVar::new);
    let [x, y] = ["x", "y"].map(var);
    let callee = func([&y], call("k", [&y.expr()]));
    for key in ["Compiler", "Extern"] {
        let all = module([(&main, &func([&x], apply(&f, [&x.expr()]))), (&f, &callee)]);
        let value = if key == "Compiler" {
            "other".into()
        } else {
            isoform::Value::from(1)
        };
        let func_f = all.lookup(&f).unwrap().with_attr(key, value).unwrap();
        all.update_func(&f, func_f.clone()).unwrap();
        let done = lookup(&inline_functions(&all).unwrap(), &main);
        let literal = func_f.cast::<Function>().unwrap();
        assert_equal(&done, &func([&x], apply(&literal, [&x.expr()])));
    }
    // A name that is not called.
    let all = module([(&main, &func([], tuple([&f.expr()]))), (&f, &callee)]);
    let literal = lookup(&all, &f);
    let done = lookup(&inline_functions(&all).unwrap(), &main);
    assert_equal(&done, &func([], tuple([&literal])));
    // A name without a function type.
    let typed = isoform::objects::with_field(
        GlobalVar::new("inl_v").as_object(),
        "checked_type_",
        TensorType::new([]).into(),
    );
    let v = typed.unwrap().cast::<GlobalVar>().unwrap();
    let all = module([
        (&main, &func([], tuple([&v.expr()]))),
        (&v, &func([], int(4))),
    ]);
    let done = lookup(&inline_functions(&all).unwrap(), &main);
    assert_equal(&done, &func([], tuple([&int(4)])));
    // A function binds its type parameters, and a polymorphic function is not inlined.
    let t = TypeVar::new("t");
    let poly = Function::new([y.clone()], y.expr()).with_type_params([t]);
    let all = module([
        (&main, &func([&x], apply(&f, [&x.expr()]))),
        (&f, &poly.expr()),
    ]);
    let literal = lookup(&all, &f);
    let done = lookup(&inline_functions(&all).unwrap(), &main);
    assert_equal(&done, &func([&x], apply(&literal, [&x.expr()])));
}

#[test]
fn entries_stay_and_what_cannot_be_inlined_is_an_error() {
    let [entry, main, f, plain] = ["inl_entry", "main", "inl_f", "plain"].map(GlobalVar::new);
    let x = var("x");
    let all = module([(&entry, &func([], apply(&f, []))), (&f, &func([], int(1)))]);
    let done = inline_functions(&all).unwrap();
    assert_equal(
        &lookup(&done, &entry),
        &lookup(&module([(&entry, &func([], int(1)))]), &entry),
    );
    assert_eq!(done.functions.len(), 1);
    let calling = module([
        (&main, &func([], apply(&f, []))),
        (&f, &func([], apply(&plain, []))),
        (&plain, &func([], int(1))),
    ]);
    assert_error(
        inline_functions(&calling),
        &["@inl_f is marked as inline", "@plain"],
    );
    let wrong = module([
        (&main, &func([], apply(&f, []))),
        (&f, &func([&x], x.expr())),
    ]);
    assert_error(
        inline_functions(&wrong),
        &["expected 1 arguments for @inl_f, got 0", "'main'"],
    );
    // Nothing is marked.
    let unmarked = module([(&plain, &func([], int(1)))]);
    assert!(inline_functions(&unmarked).unwrap().same_as(&unmarked));
}

#[test]
fn recursive_functions_stay_and_others_are_inlined() {
    let [main, f, g, h] = ["main", "inl_f", "inl_g", "inl_h"].map(GlobalVar::new);
    let plain = GlobalVar::new("plain");
    let caller = func([], tuple([&apply(&f, []), &apply(&h, [])]));
    let calls = |callee: &isoform::Ref<GlobalVar>| func([], apply(callee, []));
    // Directly, by way of another marked function, and by way of one that is not marked.
    for (of_f, other, of_other) in [
        (calls(&f), &g, func([], int(2))),
        (calls(&g), &g, calls(&f)),
        (calls(&plain), &plain, calls(&f)),
        // A function that mentions a recursive one alone stays with it.
        (calls(&g), &g, calls(&g)),
    ] {
        let all = module([
            (&main, &caller),
            (&f, &of_f),
            (other, &of_other),
            (&h, &func([], int(1))),
        ]);
        let done = inline_functions(&all).unwrap();
        let expected = func([], tuple([&apply(&f, []), &int(1)]));
        assert_equal(&lookup(&done, &main), &expected);
        assert_equal(&lookup(&done, &f), &lookup(&all, &f));
        assert_eq!(done.functions.len(), 3);
    }
}
