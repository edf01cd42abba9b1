//! Rewrites: substitution, fresh variables, post-order.

use isoform::values::{DType, Tensor};
use isoform::{Ref, structural_equal};
use isoform_ir::ir::{TupleType, Type, TypeVar};
use isoform_relay::{
    AsExpr, Call, Clause, Constant, ExprRewriter, Function, If, Let, Match, Pattern, PatternTuple,
    PatternVar, RefCreate, Tuple, TupleGetItem, Var, bind, bind_params_by_name, bind_types, dedup,
    expand_a_normal_form, fresh_pattern, post_order_rewrite,
};

use crate::support::*;

fn function(expr: &Expr) -> Ref<Function> {
    expr.downcast_ref::<Function>().expect("a function").clone()
}

#[test]
fn bound_parameters_disappear_and_new_variables_become_parameters() {
    let [x, y, z, free] = ["x", "y", "z", "free"].map(Var::new);
    let func = Function::new(
        [x.clone(), y.clone()],
        Tuple::new([x.expr(), y.expr(), free.expr()]),
    )
    .with_ret_type(Some(ty("i64[]")));
    // A variable of the value becomes a parameter, unless it was free before.
    let value = Tuple::new([z.expr(), free.expr()]).expr();
    let bound = function(&bind(&func.expr(), &[(x.clone(), value.clone())]).expect("a parameter"));
    assert!(bound.params.iter().eq([&y, &z]) && bound.ret_type.is_some());
    let fields = &bound.body.downcast_ref::<Tuple>().expect("a tuple").fields;
    assert!(fields.get(0).is_some_and(|field| field.same_as(&value)));
    // Nothing to replace.
    let other = bind(&func.expr(), &[(Var::new("x"), int(1))]).expect("nothing");
    assert!(other.same_as(&func));
    assert!(bind(&func.expr(), &[]).expect("nothing").same_as(&func));
    // Other expressions.
    let pair = Tuple::new([x.expr(), y.expr()]).expr();
    let done = bind(&pair, &[(x.clone(), int(1)), (y.clone(), x.expr())]).expect("free");
    compare(&done, Tuple::new([int(1), x.expr()]), true);
    // Variables that are bound inside.
    for inside in [
        Let::new(&x, int(1), &x).expr(),
        Tuple::new([Function::new([x.clone()], &x).expr()]).expr(),
        Match::new(int(1), [Clause::new(PatternVar::new(&x), &x)]).expr(),
    ] {
        let error = bind(&inside, &[(x.clone(), int(2))]).expect_err("bound inside");
        assert!(
            error
                .message()
                .contains("Cannot bind an internal variable: %x")
        );
    }
}

#[test]
fn no_variable_is_captured() {
    let [x, y] = ["x", "y"].map(Var::new);
    let constant = Function::new([x.clone()], &y).expr();
    let inside = Tuple::new([constant]).expr();
    let done = bind(&inside, &[(y, x.expr())]).expect("free");
    let other = Var::new("other");
    compare(&done, Tuple::new([Function::new([other], &x).expr()]), true);
}

#[test]
fn type_variables_of_types_are_bound() {
    let a = TypeVar::new("a");
    let pair: Ref<Type> = TupleType::new([a.clone().upcast(), a.clone().upcast()]).upcast();
    let done = bind_types(&pair, &[(a, ty("i64[]"))]).expect("a type");
    compare(&done, TupleType::new([ty("i64[]"), ty("i64[]")]), true);
}

#[test]
fn parameters_are_bound_by_name() {
    let data = || Tensor::new(DType::INT64, Vec::new(), vec![1; 8]).expect("eight bytes");
    let [x, w] = ["x", "w"].map(Var::new);
    let func = Function::new([x.clone(), w.clone()], Tuple::new([x.expr(), w.expr()]));
    let bound = bind_params_by_name(&func, [("w", data()), ("none", data())]).expect("names");
    assert!(bound.params.iter().eq([&x]));
    let fields = &bound.body.downcast_ref::<Tuple>().expect("a tuple").fields;
    assert!(fields.get(1).is_some_and(|field| field.isa::<Constant>()));
    let twice = Function::new([Var::new("x"), Var::new("x")], int(1));
    bind_params_by_name(&twice, [("y", data())]).expect("not used");
    let error = bind_params_by_name(&twice, [("x", data())]).expect_err("two of them");
    assert!(
        error
            .message()
            .contains("Multiple args in the function have name \"x\"")
    );
}

#[test]
fn each_expression_is_rewritten_once_as_it_was_and_is() {
    let plain = op("relay_test.plain").expr();
    let shared = Call::new(&plain, [int(1)]).expr();
    let x = Var::new("x");
    let expr = Let::new(
        &x,
        RefCreate::new(&shared),
        Match::new(&x, [Clause::new(PatternVar::new(Var::new("y")), &shared)]),
    )
    .expr();
    let mut seen = Vec::new();
    let rewriter = ExprRewriter::new()
        .on_any(|_: &mut Vec<&str>, _: &Ref<Constant>, _| Ok(Some(int(2))))
        .on(|seen, before: &Ref<Call>, after: &Ref<Call>| {
            seen.push("call");
            assert!(!before.same_as(after));
            Ok(Some(Tuple::new([after.expr()]).expr()))
        })
        .on(|seen, _: &Ref<Let>, _| {
            seen.push("let");
            Ok(None)
        });
    let done = rewriter.rewrite(&mut seen, &expr).expect("a rewrite");
    assert_eq!(seen, ["call", "let"]);
    let replaced = Tuple::new([Call::new(&plain, [int(2)]).expr()]).expr();
    let clause = Clause::new(PatternVar::new(Var::new("y")), &replaced);
    compare(
        &done,
        Let::new(&x, RefCreate::new(&replaced), Match::new(&x, [clause])),
        true,
    );
    // An unchanged part stays the same object, and so does an unchanged whole.
    let kept = post_order_rewrite(&expr, |_, after| Ok(Some(after.clone()))).expect("a rewrite");
    assert!(kept.same_as(&expr));
    // The function of a class may keep its node from being rewritten below.
    let left = ExprRewriter::new()
        .before(|_: &mut (), call: &Ref<Call>| Ok(Some(call.expr())))
        .on_any(|_, _: &Ref<Constant>, _| Ok(Some(int(2))));
    assert!(
        left.rewrite(&mut (), &expr)
            .expect("a rewrite")
            .same_as(&expr)
    );
    // A parameter must stay a variable.
    let func = Function::new([x.clone()], &x).expr();
    let wrong = ExprRewriter::new().on_any(|_: &mut (), _: &Ref<Var>, _| Ok(Some(int(1))));
    wrong.rewrite(&mut (), &func).expect_err("no variable");
}

#[test]
fn every_class_is_rebuilt() {
    let x = Var::new("x");
    let get = |expr: Expr| TupleGetItem::new(expr, 0).expr();
    for (with, expected) in [
        (
            If::new(int(1), int(1), int(1)).expr(),
            If::new(&x, &x, &x).expr(),
        ),
        (get(int(1)), get(x.expr())),
        (
            Function::new([], int(1)).expr(),
            Function::new([], &x).expr(),
        ),
        (
            Call::new(int(1), [int(1)]).expr(),
            Call::new(&x, [x.expr()]).expr(),
        ),
    ] {
        let done = post_order_rewrite(&with, |before, _| {
            Ok(before.isa::<Constant>().then(|| x.expr()))
        });
        assert!(structural_equal(done.expect("a rewrite"), expected).expect("comparable"));
    }
}

/// The variable of a binding is rewritten after the value and before the body; a constant
/// folder replaces the variable, and the binding disappears.
#[test]
fn a_binding_without_its_variable_is_its_body() {
    let [x, free] = ["x", "free"].map(Var::new);
    let replaces = |var: Ref<Var>, replacement: Expr| {
        ExprRewriter::new().on_any(move |_: &mut (), before: &Ref<Var>, _: &Expr| {
            Ok(before.same_as(&var).then(|| replacement.clone()))
        })
    };
    let body = Tuple::new([x.expr(), free.expr()]);
    let binding = Let::new(&x, int(1), &body).expr();
    let done = replaces(x.clone(), int(2))
        .rewrite(&mut (), &binding)
        .expect("an expression");
    compare(&done, Tuple::new([int(2), free.expr()]), true);
    // Another variable stays one that is bound.
    let renamed = replaces(x.clone(), free.expr())
        .rewrite(&mut (), &binding)
        .expect("a variable");
    assert!(
        renamed
            .downcast_ref::<Let>()
            .is_some_and(|binding| binding.var.same_as(&free))
    );
    // The parameter of a function cannot disappear.
    let func = Function::new([x.clone()], &x).expr();
    let error = replaces(x, int(2))
        .rewrite(&mut (), &func)
        .expect_err("a parameter");
    assert_eq!(error.kind_name(), "TypeError");

    // Value, variable, body; in a chain of any length.
    let vars: Vec<Ref<Var>> = (0..levels()).map(|_| Var::new("v")).collect();
    let mut chain = vars[levels() - 1].expr();
    for (index, var) in vars.iter().enumerate().rev() {
        let value = if index == 0 {
            int(7)
        } else {
            vars[index - 1].expr()
        };
        chain = Let::new(var, value, chain).expr();
    }
    let constants = ExprRewriter::new()
        .on(
            |last: &mut Option<Expr>, _: &Ref<Constant>, constant: &Ref<Constant>| {
                *last = Some(constant.expr());
                Ok(None)
            },
        )
        .on_any(|last: &mut Option<Expr>, _: &Ref<Var>, _: &Expr| Ok(last.clone()));
    let done = constants.rewrite(&mut None, &chain).expect("an expression");
    compare(&done, int(7), true);
}

#[test]
fn chains_of_bindings_are_visited_inwards_and_outwards() {
    let [x, y] = ["x", "y"].map(Var::new);
    let inner = Let::new(&y, int(2), &y);
    let outer = Let::new(&x, int(1), &inner);
    let order = std::cell::RefCell::new(Vec::new());
    let note = |mark: char| {
        let order = &order;
        move |binding: &Ref<Let>| {
            order
                .borrow_mut()
                .push(format!("{mark}{}", binding.var.name_hint));
            Ok(())
        }
    };
    expand_a_normal_form(&outer, note('<'), note('>')).expect("no errors");
    assert_eq!(*order.borrow(), ["<x", "<y", ">y", ">x"]);
}

#[test]
fn patterns_get_fresh_variables() {
    let x = v("i64[]");
    let part: Ref<Pattern> = PatternVar::new(&x).upcast();
    let pattern: Ref<Pattern> = PatternTuple::new()
        .with_patterns([part.clone(), part])
        .upcast();
    let (fresh, renamed) = fresh_pattern(&pattern).expect("a pattern");
    let [(old, new)] = &renamed[..] else {
        panic!("one variable, got {renamed:?}");
    };
    assert!(old.same_as(&x) && !new.same_as(&x) && new.name_hint == x.name_hint);
    let tuple = fresh.downcast_ref::<PatternTuple>().expect("a tuple");
    let vars = tuple
        .patterns
        .iter()
        .filter_map(|part| part.downcast_ref::<PatternVar>());
    assert!(vars.map(|part| &part.var).eq([new, new]));
}

#[test]
fn binders_get_fresh_variables() {
    let a = TypeVar::new("a");
    let x = Var::typed("x", &a);
    let free = Var::new("free");
    let func = Function::new([x.clone()], Tuple::new([x.expr(), free.expr()]))
        .with_type_params([a.clone()]);
    let copy = function(&dedup(&func.expr()).expect("well formed"));
    compare(&func, &copy, true);
    assert!(copy.params.iter().all(|param| !param.same_as(&x)));
    assert!(copy.type_params.iter().all(|param| !param.same_as(&a)));
    let annotation = copy
        .params
        .get(0)
        .and_then(|param| param.type_annotation.clone());
    assert!(annotation.is_some_and(|ty| copy.type_params.get(0).is_some_and(|a| ty.same_as(a))));
    let twice = Let::new(&x, int(1), Let::new(&x, int(2), &x)).expr();
    dedup(&twice).expect_err("bound twice");
}

#[test]
fn a_wildcard_is_filled_by_any_expression() {
    use isoform::pattern::Pattern;
    use isoform_ir::ir::GlobalVar;
    use isoform_relay::Wildcard;

    let x = Wildcard::new("x");
    let plain = op("relay_test.plain").expr();
    let pattern = Pattern::new(Call::new(&plain, [x.expr()]), [&x]).expect("a hole");
    let typed = typed_var("typed", "i64[]").expr();
    for part in [typed, int(1), GlobalVar::new("f").expr(), plain.clone()] {
        let found = pattern.match_value(Call::new(&plain, [part.clone()]));
        let found = found.expect("comparable").expect("it matches");
        assert_eq!(found.get(&x), Some(&part.into()));
    }
}

#[test]
fn shared_arrays_are_rewritten_once() {
    // Two calls with the same array of arguments, which are theirs alone.
    let plain = op("relay_test.plain").expr();
    let first = Call::new(&plain, [RefCreate::new(int(1)).expr()]);
    let second = first.with_op(op("relay_test.other").expr());
    let pair = Tuple::new([first.expr(), second.expr()]).expr();
    let mut count = 0;
    let rewriter = ExprRewriter::new().on_any(|count: &mut i32, _: &Ref<RefCreate>, _| {
        *count += 1;
        Ok(Some(int(2)))
    });
    let done = rewriter.rewrite(&mut count, &pair).expect("a rewrite");
    assert_eq!(count, 1);
    let fields = &done.downcast_ref::<Tuple>().expect("a tuple").fields;
    let args = |index| {
        let field = fields
            .get(index)
            .and_then(|field| field.downcast_ref::<Call>());
        field.expect("a call").args.clone()
    };
    assert!(
        args(0)
            .get(0)
            .expect("one")
            .same_as(args(1).get(0).expect("one"))
    );
}

#[test]
fn errors_name_the_class_that_does_not_fit() {
    let x = Var::new("x");
    let func = Function::new([x.clone()], &x).expr();
    let wrong = ExprRewriter::new().on_any(|_: &mut (), _: &Ref<Var>, _| Ok(Some(int(1))));
    let error = wrong
        .rewrite(&mut (), &Tuple::new([func]).expr())
        .expect_err("no variable");
    assert!(error.to_string().contains("relay.Constant"), "{error}");
}
