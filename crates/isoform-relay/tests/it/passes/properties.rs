//! Every pass keeps the value and the effects of random programs, and the promises about
//! the form of its result.

use std::cell::Cell;
use std::collections::HashSet;

use isoform::{Ref, structural_equal};
use isoform_ir::ir::IRModule;
use isoform_relay::analysis::{check_basic_block_normal_form, well_formed};
use isoform_relay::passes::{
    CommonSubexprOptions, DeadCodeOptions, eliminate_common_subexpr, eliminate_dead_code,
    fold_constant, fold_constant_expr, inline_functions, remove_unused_functions, to_a_normal_form,
    to_a_normal_form_expr, to_basic_block_normal_form, to_basic_block_normal_form_expr,
    to_graph_normal_form, to_graph_normal_form_expr,
};
use isoform_relay::{Function, Let};
use isoform_testing::source::scaled;

use crate::passes::interpret::{any, is_in_a_normal_form, is_in_basic_blocks, operands, outcome};
use crate::passes::programs::{ALL, Features, KERNELS, PURE, Random, modules, program};
use crate::support::*;

/// The number of programs for each property.
fn count() -> u64 {
    scaled(10_000) as u64
}

/// Runs a test whose interpreter takes native stack for each level of a program.
fn on_a_large_stack(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let test = thread.spawn_scoped(scope, test).expect("a thread");
        if let Err(panic) = test.join() {
            std::panic::resume_unwind(panic);
        }
    });
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

/// Runs a pass on random programs: value and effects stay the same, and the assertions of
/// `also` hold.
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
        let Ok((result, taken)) = outcome(&after, None) else {
            panic!(
                "seed {seed}: does not end\n{}\n{}",
                text(&before),
                text(&after)
            );
        };
        assert_eq!(
            result,
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
fn folding_keeps_values() {
    on_a_large_stack(|| {
        check_runs(ALL, |expr| fold_constant_expr(expr), |_, _, _| {});
    });
}

#[test]
fn without_effects_one_run_folds_everything() {
    on_a_large_stack(|| {
        check(PURE, |expr| fold_constant_expr(expr), |_, _| true);
    });
}

#[test]
fn merging_keeps_values() {
    on_a_large_stack(|| {
        let merge =
            |expr: &Expr| CommonSubexprOptions::default().eliminate_common_subexpr_expr(expr);
        check_runs(ALL, merge, |seed, _, after| {
            // A `let` in several merged expressions has a single place only afterwards.
            let mut done = after.clone();
            for _ in 0..3 {
                let again = merge(&done).expect("well formed");
                if again.same_as(&done) {
                    return;
                }
                let values = [&done, &again].map(|expr| outcome(expr, None).ok().map(|run| run.0));
                assert_eq!(values[0], values[1], "seed {seed}: {}", text(&done));
                done = again;
            }
            panic!("seed {seed}: a fourth run changes\n{}", text(&done));
        });
    });
}

#[test]
fn dead_code_keeps_values() {
    on_a_large_stack(|| {
        check_once(DeadCodeOptions::default());
    });
}

#[test]
fn inlining_once_keeps_values() {
    on_a_large_stack(|| {
        check_once(DeadCodeOptions::default().inline_once(true));
    });
}

/// Like `check`, without a second run: some code is seen to be dead only when other dead
/// code has gone.
#[track_caller]
fn check_once(options: DeadCodeOptions) {
    check_runs(
        ALL,
        |expr| options.eliminate_dead_code_expr(expr),
        |_, _, _| {},
    );
}

#[test]
fn a_normal_form_keeps_values() {
    on_a_large_stack(|| {
        check(ALL, to_a_normal_form_expr, |_, after| {
            is_in_a_normal_form(after)
        });
    });
}

#[test]
fn basic_blocks_keep_values() {
    on_a_large_stack(|| {
        check(ALL, to_basic_block_normal_form_expr, |before, after| {
            // The check of the library agrees with the one of these tests.
            let agree = |program| {
                check_basic_block_normal_form(program).is_ok() == is_in_basic_blocks(program)
            };
            is_in_basic_blocks(after) && agree(before) && agree(after)
        });
    });
}

#[test]
fn graphs_keep_values() {
    on_a_large_stack(|| {
        check_graphs(ALL, |_| true);
    });
}

#[test]
fn graphs_without_effects_have_no_bindings() {
    on_a_large_stack(|| {
        check_graphs(PURE, |after| {
            // Expressions used only by inner functions are computed before the functions.
            !any(after, |expr| {
                is_kept(expr) && is_used_outside_of_functions(expr)
            })
        });
    });
}

/// As `check` of the graph normal form. A binding is kept because the value shares expressions
/// with functions; if a single such binding is left, another run may remove it.
#[track_caller]
fn check_graphs(features: Features, holds: impl Fn(&Expr) -> bool) {
    let changed = Cell::new(0);
    check_runs(
        features,
        to_graph_normal_form_expr,
        |seed, before, after| {
            let again = to_graph_normal_form_expr(after).expect("well formed");
            assert!(
                holds(after) && (again.same_as(after) || any(after, is_kept)),
                "seed {seed}\n{}\n{}",
                text(before),
                text(after)
            );
            changed.set(changed.get() + u64::from(!again.same_as(after)));
        },
    );
    let changed = changed.get();
    assert!(changed * 200 <= count(), "{changed} change again");
}

/// True for a `let`, unless the body is the variable: a recursive function keeps such a `let`.
fn is_kept(expr: &Expr) -> bool {
    expr.downcast_ref::<Let>()
        .is_some_and(|binding| !binding.body.same_as(&binding.var))
}

/// True if the function with a `let` itself uses the variable.
fn is_used_outside_of_functions(expr: &Expr) -> bool {
    let binding = expr.downcast_ref::<Let>().expect("a binding");
    let mut seen = HashSet::new();
    let mut stack = vec![binding.body.clone()];
    while let Some(expr) = stack.pop() {
        if expr.same_as(&binding.var) {
            return true;
        }
        if !expr.isa::<Function>() && seen.insert(expr.identity()) {
            stack.extend(operands(&expr).into_iter().map(|(operand, _)| operand));
        }
    }
    false
}

#[test]
fn no_pass_computes_an_operator_more_often() {
    on_a_large_stack(|| {
        type Pass = fn(&Expr) -> isoform::Result<Expr>;
        let passes: [(&str, Pass); 5] = [
            ("clean", |expr| {
                DeadCodeOptions::default().eliminate_dead_code_expr(expr)
            }),
            ("once", |expr| {
                let options = DeadCodeOptions::default().inline_once(true);
                options.eliminate_dead_code_expr(expr)
            }),
            ("name", to_a_normal_form_expr),
            ("blocks", to_basic_block_normal_form_expr),
            ("graph", to_graph_normal_form_expr),
        ];
        let (mut run, mut fewer) = (0, 0);
        for seed in 0..count() {
            let features = if seed % 2 == 0 { ALL } else { PURE };
            let before = program(&mut Random::new(seed), features);
            let Ok((_, calls)) = outcome(&before, None) else {
                continue;
            };
            for (name, pass) in passes {
                let after = pass(&before).expect("well formed");
                let Ok((_, calls_after)) = outcome(&after, None) else {
                    panic!("{name}, seed {seed}: does not end");
                };
                if let Some((op, once, more)) = calls_after.repeated(&calls) {
                    panic!(
                        "{name}, seed {seed}: {op} is computed {more} times, not {once}\n{}\n{}",
                        text(&before),
                        text(&after)
                    );
                }
                fewer += u64::from(calls.repeated(&calls_after).is_some());
            }
            run += 1;
        }
        // An oracle with constant counts proves nothing.
        assert!(
            run * 10 > count() * 9 && fewer * 20 > run,
            "{fewer} of {run}"
        );
    });
}

#[test]
fn kernels_that_share_bindings_get_their_own() {
    on_a_large_stack(|| {
        type Pass = fn(&Expr) -> isoform::Result<Expr>;
        let passes: [(&str, Pass); 6] = [
            ("fold", |expr| fold_constant_expr(expr)),
            ("merge", |expr| {
                CommonSubexprOptions::default().eliminate_common_subexpr_expr(expr)
            }),
            ("clean", |expr| {
                DeadCodeOptions::default().eliminate_dead_code_expr(expr)
            }),
            ("name", to_a_normal_form_expr),
            ("blocks", to_basic_block_normal_form_expr),
            ("graph", to_graph_normal_form_expr),
        ];
        let mut changed = [0; 6];
        for seed in 0..count() {
            let before = program(&mut Random::new(seed), KERNELS);
            let Ok((expected, _)) = outcome(&before, None) else {
                continue;
            };
            assert!(well_formed(&before), "seed {seed}");
            for (number, (name, pass)) in passes.iter().enumerate() {
                let after = pass(&before).unwrap_or_else(|error| {
                    panic!("{name}, seed {seed}: {error}\n{}", text(&before))
                });
                let result = outcome(&after, None).ok().map(|(value, _)| value);
                assert!(
                    well_formed(&after) && result.as_ref() == Some(&expected),
                    "{name}, seed {seed}: {result:?}\n{}\n{}",
                    text(&before),
                    text(&after)
                );
                changed[number] += u64::from(!after.same_as(&before));
            }
        }
        assert!(
            changed.iter().all(|changed| changed * 50 > count()),
            "{changed:?} changed"
        );
    });
}

#[test]
fn the_graph_of_an_a_normal_form_is_that_of_the_program() {
    on_a_large_stack(|| {
        let mut compared = 0;
        for seed in 0..count() {
            let program = program(&mut Random::new(seed), PURE);
            let direct = to_graph_normal_form_expr(&program).expect("well formed");
            // Remaining bindings are at different places.
            if any(&direct, is_kept) {
                continue;
            }
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
        assert!(compared * 2 > count(), "{compared} compared");
    });
}

#[test]
fn passes_over_modules_keep_values() {
    on_a_large_stack(|| {
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
                let Ok((result, taken)) = outcome(&lookup(&after, &main), Some(&after)) else {
                    panic!("{name}, seed {seed}: does not end");
                };
                assert_eq!(
                    result,
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
            let Ok((result, taken)) = outcome(&lookup(&all, &main), Some(&all)) else {
                panic!("all, seed {seed}: does not end");
            };
            assert_eq!(
                result,
                expected,
                "all, seed {seed}\n{}\n{}",
                text(&before),
                text(&all)
            );
            assert!(taken.is_subset(&risks), "all, seed {seed}: more can fail");
        }
        assert!(
            changed.iter().all(|changed| changed * 60 > total as usize),
            "{changed:?} of {total}"
        );
    });
}
