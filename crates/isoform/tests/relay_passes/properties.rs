//! Every pass keeps the value and the effects of random programs (R105, R110 to R113,
//! R115, R117), and what it promises of the form of its result.
//!
//! `ISOFORM_PROGRAMS` sets the number of programs for each property.

use isoform::dialect::relay::Let;
use isoform::dialect::relay::analysis::check_basic_block_normal_form;
use isoform::dialect::relay::passes::{
    CommonSubexprOptions, DeadCodeOptions, eliminate_common_subexpr, eliminate_dead_code,
    fold_constant, fold_constant_expr, inline_functions, remove_unused_functions, to_a_normal_form,
    to_a_normal_form_expr, to_basic_block_normal_form, to_basic_block_normal_form_expr,
    to_graph_normal_form, to_graph_normal_form_expr,
};
use isoform::ir::IRModule;
use isoform::{Ref, structural_equal};

use crate::interpret::{any, is_in_a_normal_form, is_in_basic_blocks, outcome};
use crate::programs::{ALL, Features, PURE, Random, modules, program};
use crate::support::*;

fn count() -> u64 {
    let set = std::env::var("ISOFORM_PROGRAMS").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

/// Runs a pass on random programs: value and effects stay the same, a second run changes
/// nothing, and the result has a property.
#[track_caller]
fn check(
    features: Features,
    pass: impl Fn(&Expr) -> isoform::Result<Expr>,
    holds: impl Fn(&Expr, &Expr) -> bool,
) {
    check_runs(features, &pass, |seed, before, after| {
        let again = pass(after).expect("well formed");
        assert!(
            again.same_as(after),
            "seed {seed}: a second run\n{}\n{}",
            text(after),
            text(&again)
        );
        assert!(
            holds(before, after),
            "seed {seed}\n{}\n{}",
            text(before),
            text(after)
        );
    });
}

/// Runs a pass on random programs: value and effects stay the same, and so does what `also`
/// asserts.
#[track_caller]
fn check_runs(
    features: Features,
    pass: impl Fn(&Expr) -> isoform::Result<Expr>,
    also: impl Fn(u64, &Expr, &Expr),
) {
    let (mut run, mut changed) = (0, 0);
    for seed in 0..count() {
        let before = program(&mut Random::new(seed), features);
        let Ok((expected, risks)) = outcome(&before, None) else {
            continue;
        };
        let after =
            pass(&before).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", text(&before)));
        let Ok((found, taken)) = outcome(&after, None) else {
            panic!(
                "seed {seed}: does not end\n{}\n{}",
                text(&before),
                text(&after)
            );
        };
        assert_eq!(
            found,
            expected,
            "seed {seed}\n{}\n{}",
            text(&before),
            text(&after)
        );
        assert!(
            taken.is_subset(&risks),
            "seed {seed}: more can fail\n{}\n{}",
            text(&before),
            text(&after)
        );
        also(seed, &before, &after);
        run += 1;
        changed += u64::from(!after.same_as(&before));
    }
    // Programs on which nothing happens prove nothing.
    assert!(
        run * 10 > count() * 9 && changed * 50 > run,
        "{run} run, {changed} changed"
    );
}

#[test]
fn r91_r92_folding_keeps_values() {
    check_runs(ALL, |expr| fold_constant_expr(expr), |_, _, _| {});
}

#[test]
fn r91_r92_without_effects_one_run_folds_everything() {
    check(PURE, |expr| fold_constant_expr(expr), |_, _| true);
}

#[test]
fn r100_merging_keeps_values() {
    let merge = |expr: &Expr| CommonSubexprOptions::default().eliminate_common_subexpr_expr(expr);
    check(ALL, merge, |_, _| true);
}

#[test]
fn r105_dead_code_keeps_values() {
    check_once(DeadCodeOptions::default());
}

#[test]
fn r105_inlining_once_keeps_values() {
    check_once(DeadCodeOptions::default().inline_once(true));
}

/// As `check`, without a second run: some code is seen to be dead only when other dead code
/// has gone.
#[track_caller]
fn check_once(options: DeadCodeOptions) {
    check_runs(
        ALL,
        |expr| options.eliminate_dead_code_expr(expr),
        |_, _, _| {},
    );
}

#[test]
fn r110_a_normal_form_keeps_values() {
    check(ALL, to_a_normal_form_expr, |_, after| {
        is_in_a_normal_form(after)
    });
}

#[test]
fn r111_basic_blocks_keep_values() {
    check(ALL, to_basic_block_normal_form_expr, |before, after| {
        // The check of the library agrees with the one of these tests.
        let agree =
            |program| check_basic_block_normal_form(program).is_ok() == is_in_basic_blocks(program);
        is_in_basic_blocks(after) && agree(before) && agree(after)
    });
}

#[test]
fn r112_graphs_keep_values() {
    check(ALL, to_graph_normal_form_expr, |_, _| true);
}

#[test]
fn r112_graphs_without_effects_have_no_bindings() {
    check(PURE, to_graph_normal_form_expr, |_, after| {
        !any(after, |expr| {
            // Functions that call themselves keep their names.
            expr.downcast_ref::<Let>()
                .is_some_and(|binding| !binding.body.same_as(&binding.var))
        })
    });
}

#[test]
fn r113_the_graph_of_an_a_normal_form_is_that_of_the_program() {
    let mut compared = 0;
    for seed in 0..count() {
        let program = program(&mut Random::new(seed), PURE);
        let direct = to_graph_normal_form_expr(&program).expect("well formed");
        let named = to_a_normal_form_expr(&program).expect("well formed");
        let around = to_graph_normal_form_expr(&named).expect("well formed");
        assert!(
            structural_equal(&direct, &around).expect("comparable"),
            "seed {seed}\n{}\n{}",
            text(&direct),
            text(&around)
        );
        compared += 1;
    }
    assert!(compared > 0);
}

#[test]
fn r105_r115_r117_passes_over_modules_keep_values() {
    type Pass = fn(&Ref<IRModule>) -> isoform::Result<Ref<IRModule>>;
    let passes: [(&str, Pass); 8] = [
        ("inline", inline_functions),
        ("remove", |module| {
            remove_unused_functions(module, &["main"])
        }),
        ("clean", eliminate_dead_code),
        ("fold", fold_constant),
        ("merge", eliminate_common_subexpr),
        ("name", to_a_normal_form),
        ("blocks", to_basic_block_normal_form),
        ("graph", to_graph_normal_form),
    ];
    let mut changed = [0; 8];
    let total = count() / 3;
    for seed in 0..total {
        let before = modules(&mut Random::new(seed));
        let main = before.global_var("main").expect("an entry");
        let Ok((expected, risks)) = outcome(&lookup(&before, &main), Some(&before)) else {
            continue;
        };
        for (number, (name, pass)) in passes.iter().enumerate() {
            let after =
                pass(&before).unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
            let Ok((found, taken)) = outcome(&lookup(&after, &main), Some(&after)) else {
                panic!("{name}, seed {seed}: does not end");
            };
            assert_eq!(
                found,
                expected,
                "{name}, seed {seed}\n{}\n{}",
                text(&before),
                text(&after)
            );
            assert!(
                taken.is_subset(&risks),
                "{name}, seed {seed}: more can fail: {taken:?}, before {risks:?}\n{}\n{}",
                text(&before),
                text(&after)
            );
            changed[number] += usize::from(!after.same_as(&before));
        }
        // One after the other.
        let all = passes
            .iter()
            .try_fold(before.clone(), |module, (_, pass)| pass(&module));
        let all = all.unwrap_or_else(|error| panic!("all, seed {seed}: {error}"));
        let Ok((found, taken)) = outcome(&lookup(&all, &main), Some(&all)) else {
            panic!("all, seed {seed}: does not end");
        };
        assert_eq!(
            found,
            expected,
            "all, seed {seed}\n{}\n{}",
            text(&before),
            text(&all)
        );
        assert!(taken.is_subset(&risks), "all, seed {seed}: more can fail");
    }
    assert!(
        changed.iter().all(|changed| changed * 20 > total as usize),
        "{changed:?} of {total}"
    );
}
