//! Depth costs no stack, and sharing no time: chains of a million levels.

use isoform::Ref;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule, TupleType, Type, TypeKind};
use isoform_relay::analysis::{
    check_basic_block_normal_form, check_constant, check_kind, count_layers, count_ops,
    detect_feature, expr_ref_counts, free_vars, pattern_vars, post_order_visit, type_vars,
    unmatched_cases, well_formed,
};
use isoform_relay::{
    AsExpr, Call, Clause, Constant, Function, Let, Match, Pattern, PatternTuple, Tuple, Var, bind,
    dedup, expand_a_normal_form, module_from_expr, post_order_rewrite,
};

use crate::support::*;

/// A chain of bindings, calls, tuples and functions around a variable.
fn chain(levels: usize, x: &Ref<Var>) -> Expr {
    let plain = op("relay_test.plain").expr();
    let mut expr = x.expr();
    for level in 0..levels {
        expr = match level % 4 {
            0 => Call::new(&plain, [expr]).expr(),
            1 => {
                let y = Var::new("y");
                Let::new(&y, &expr, &y).expr()
            }
            2 => Let::new(Var::new("z"), x, &expr).expr(),
            _ => Tuple::new([Function::new([], &expr).expr()]).expr(),
        };
    }
    expr
}

#[test]
fn every_function_works_on_a_million_levels() {
    let x = Var::new("x");
    let expr = chain(levels(), &x);
    assert!(well_formed(&expr));
    assert_eq!(free_vars(&expr).expect("a walk"), std::slice::from_ref(&x));
    let mut count = 0;
    post_order_visit(&expr, |_| {
        count += 1;
        Ok(())
    })
    .expect("a visit");
    assert_eq!(count, expr_ref_counts(&expr).len());
    assert!(!check_constant(&expr));
    check_basic_block_normal_form(&expr).expect("nothing is shared");
    assert_eq!(count_ops(&expr).expect("a visit").len(), 1);
    assert_eq!(
        count_layers(&expr, &["relay_test.plain"]).expect("known"),
        levels() as i64 / 4
    );
    assert!(
        detect_feature([(&expr).into()])
            .expect("an expression")
            .len()
            > 4
    );
    assert!(
        type_vars(&expr, None)
            .expect("an expression")
            .all
            .is_empty()
    );
    let done = post_order_rewrite(&expr, |before, _| {
        Ok(before.isa::<Constant>().then(|| before.clone()))
    });
    assert!(done.expect("a rewrite").same_as(&expr));
    let module = module_from_expr(&expr, Default::default(), Default::default());
    assert_eq!(module.expect("one function").global_vars().len(), 1);
    let bound = bind(&expr, &[(x, int(1))]).expect("free");
    assert!(free_vars(&bound).expect("a walk").is_empty());
    let copy = dedup(&bound).expect("well formed");
    assert!(isoform::structural_equal(&bound, &copy).expect("comparable"));
    let module = IRModule::new();
    let func = Function::new([], bound).upcast();
    module
        .update_func(&GlobalVar::new("f"), func)
        .expect("closed");
}

#[test]
fn chains_of_bindings_types_and_patterns() {
    let mut expr = int(1);
    for _ in 0..levels() {
        expr = Let::new(Var::new("x"), int(1), &expr).expr();
    }
    let mut count = 0;
    let first = expr.downcast_ref::<Let>().expect("a binding");
    expand_a_normal_form(
        first,
        |_| {
            count += 1;
            Ok(())
        },
        |_| Ok(()),
    )
    .expect("no errors");
    assert_eq!(count, levels());
    let mut nested: Ref<Type> = ty("i64[]");
    let mut pattern: Ref<Pattern> = PatternTuple::new().upcast();
    for _ in 0..levels() {
        nested = TupleType::new([nested]).upcast();
        pattern = PatternTuple::new().with_patterns([pattern]).upcast();
    }
    assert_eq!(check_kind(&nested, None).expect("a type"), TypeKind::Type);
    assert!(pattern_vars(&pattern).is_empty());
    let shallow: Ref<Pattern> = PatternTuple::new().upcast();
    let cases = Match::new(
        int(1),
        [Clause::new(&shallow, int(1)), Clause::new(&pattern, int(2))],
    );
    assert_eq!(unmatched_cases(&cases, None).expect("tuples").len(), 0);
}

#[test]
fn shared_parts_are_visited_once() {
    // Each level uses the level below twice, for a total of 2^200 places.
    let x = Var::new("x");
    let plain = op("relay_test.plain").expr();
    let mut expr = x.expr();
    for _ in 0..200 {
        expr = Call::new(&plain, [expr.clone(), expr]).expr();
    }
    let mut visits = 0;
    post_order_visit(&expr, |_| {
        visits += 1;
        Ok(())
    })
    .expect("a visit");
    assert_eq!(visits, 202);
    assert!(well_formed(&expr) && !check_constant(&expr));
    assert_eq!(free_vars(&expr).expect("a walk"), [x]);
    assert_eq!(
        count_layers(&expr, &["relay_test.plain"]).expect("known"),
        200
    );
    check_basic_block_normal_form(&expr).expect("one block");
    let counted = std::cell::Cell::new(0);
    let done = post_order_rewrite(&expr, |before, _| {
        counted.set(counted.get() + usize::from(before.isa::<Call>()));
        Ok(None)
    });
    assert!(done.expect("a rewrite").same_as(&expr) && counted.get() == 200);
}

#[test]
fn a_pattern_of_many_levels_is_taken_apart_once() {
    // Comparing every finer candidate from the root would take 10^10 steps.
    const DEPTH: usize = 100_000;
    for at in 0..2 {
        let mut pattern: Ref<Pattern> = PatternTuple::new().upcast();
        for _ in 0..DEPTH {
            let mut parts: [Ref<Pattern>; 2] =
                [PatternTuple::new().upcast(), PatternTuple::new().upcast()];
            parts[at] = pattern;
            pattern = PatternTuple::new().with_patterns(parts).upcast();
        }
        let cases = Match::new(int(1), [Clause::new(pattern, int(2))]);
        assert!(unmatched_cases(&cases, None).expect("a search").is_empty());
    }
}
