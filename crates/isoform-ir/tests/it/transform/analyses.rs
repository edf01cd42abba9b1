//! Analyses: kept results, and results invalidated by a pass.

use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::AnalysisResults;
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use isoform::functions::Function;
use isoform::{Error, Obj, Ref, Result, Value};
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_ir::transform::{
    Analysis, ContextOptions, FunctionPass, PassContext, PassInfo, Sequential, functions,
    register_analysis,
};

use crate::transform::program::*;

static COMPUTED: AtomicUsize = AtomicUsize::new(0);
/// Tests that count take turns.
static TURN: Mutex<()> = Mutex::new(());

/// The square of a function's number.
struct Square;

impl Analysis for Square {
    type Output = i64;
    const NAME: &'static str = "transform_tests.square";
    fn compute(object: &Ref<Obj>, _ctx: &Ref<PassContext>) -> Result<i64> {
        COMPUTED.fetch_add(1, Ordering::Relaxed);
        let number = object.clone().cast::<Fun>()?.number;
        if number < 0 {
            Err(Error::value_error("it is negative"))
        } else {
            Ok(number * number)
        }
    }
}

/// A pass that asks for the analysis of every function, and doubles odd numbers.
fn asking(preserves: &[&str]) -> Ref<FunctionPass> {
    FunctionPass::new(
        &PassInfo::new(0, "Ask").with_preserves(preserves.iter().copied()),
        |fun: Ref<Fun>, _: &Ref<IRModule>, ctx: &Ref<PassContext>| {
            let square = ctx.analysis::<Square>(&fun)?;
            assert!(*square == fun.number * fun.number || fun.number == 2);
            match fun.number {
                1 => Ok(fun.with_number(2)),
                _ => Ok(fun),
            }
        },
    )
}

#[track_caller]
fn check_count(preserves: &[&str], expected: [usize; 3]) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let ctx = ContextOptions::default().make().unwrap();
    let root = module(&[("a", 1), ("b", 4), ("c", 6)]);
    let mut counts = Vec::new();
    ctx.within(|| {
        let mut root = root.clone();
        for _ in 0..3 {
            COMPUTED.store(0, Ordering::Relaxed);
            root = asking(preserves).run(&root)?;
            counts.push(COMPUTED.load(Ordering::Relaxed));
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(counts, expected);
}

#[test]
fn results_of_functions_that_stay_the_same_are_kept() {
    // The first pass changes one of three functions; later passes change no function.
    check_count(&[], [3, 1, 0]);
    check_count(&["transform_tests.other"], [3, 1, 0]);
}

#[test]
fn results_that_a_pass_preserves_are_kept_for_functions_that_it_changes() {
    check_count(&["transform_tests.square"], [3, 0, 0]);
    check_count(&["*"], [3, 0, 0]);
}

#[test]
fn results_end_with_the_context() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let ctx = ContextOptions::default().make().unwrap();
    let fun = Fun::new(3);
    COMPUTED.store(0, Ordering::Relaxed);
    for _ in 0..2 {
        ctx.within(|| {
            let first = ctx.analysis::<Square>(&fun)?;
            assert!(Arc::ptr_eq(&first, &ctx.analysis::<Square>(&fun)?));
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(COMPUTED.load(Ordering::Relaxed), 2);
    // Nobody would drop results kept outside of contexts and passes.
    ctx.analysis::<Square>(&fun).unwrap();
    ctx.analysis::<Square>(&fun).unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed), 4);
}

#[test]
fn the_default_context_keeps_results_during_a_pass() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    COMPUTED.store(0, Ordering::Relaxed);
    let sequence = Sequential::new([asking(&[]).upcast(), asking(&[]).upcast()]);
    sequence.run(&module(&[("b", 4), ("c", 6)])).unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed), 2);
    sequence.run(&module(&[("b", 4)])).unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed), 3);
}

#[test]
fn errors_of_analyses_name_them_and_are_not_kept() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    COMPUTED.store(0, Ordering::Relaxed);
    let ctx = ContextOptions::default().make().unwrap();
    ctx.within(|| {
        for _ in 0..2 {
            assert_eq!(
                error_of(ctx.analysis::<Square>(&Fun::new(-1))),
                "ValueError: it is negative (in analysis 'transform_tests.square')"
            );
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed), 2);
}

#[test]
fn analyses_of_any_language_are_found_by_name() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let size = Function::new(move |arguments| {
        counted.fetch_add(1, Ordering::Relaxed);
        let root: Ref<Obj> = arguments[0].extract()?;
        Ok(Value::from(functions(&root)?.len()))
    });
    register_analysis("transform_tests.size", size.clone(), false).unwrap();
    assert!(register_analysis("transform_tests.size", size.clone(), false).is_err());
    assert!(register_analysis("*", size, false).is_err());
    let ctx = ContextOptions::default().make().unwrap();
    let root = module(&[("a", 1), ("b", 2)]);
    ctx.within(|| {
        let ask =
            |root: &Ref<IRModule>| ctx.analysis_named("transform_tests.size", root.as_object());
        assert_eq!((ask(&root)?, ask(&root)?), (2.into(), 2.into()));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        // The program is another one after a pass, and the result is dropped.
        let next = adding("Add", 1).run(&root)?;
        assert_eq!(ask(&next)?, 2.into());
        assert_eq!(count.load(Ordering::Relaxed), 2);
        let idle = idle("Idle", 0).run(&next)?;
        ask(&idle)?;
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(
            error_of(ctx.analysis_named("transform_tests.szie", root.as_object())),
            "ValueError: no analysis is registered as 'transform_tests.szie', did you mean \
             'transform_tests.size'?"
        );
        Ok(())
    })
    .unwrap();
}

#[test]
fn results_for_the_program_are_those_of_its_working_copy() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let names = Function::new(move |arguments| {
        counted.fetch_add(1, Ordering::Relaxed);
        let root: Ref<Obj> = arguments[0].extract()?;
        Ok(Value::from(functions(&root)?.len()))
    });
    register_analysis("transform_tests.names", names, false).unwrap();
    let asking = FunctionPass::new(
        &info("Ask"),
        |fun: Ref<Fun>, root: &Ref<IRModule>, ctx: &Ref<PassContext>| {
            ctx.analysis_named("transform_tests.names", root.as_object())?;
            Ok(fun)
        },
    );
    // The outer pass runs the inner pass on the working copy of the outer pass.
    let inner = asking.clone();
    let nested = FunctionPass::new(
        &info("Nested"),
        move |fun: Ref<Fun>, root: &Ref<IRModule>, _: &Ref<PassContext>| {
            inner.run(root)?;
            Ok(fun)
        },
    );
    let ctx = ContextOptions::default().make().unwrap();
    let run = |pass: &Ref<FunctionPass>| {
        ctx.within(|| {
            let mut root = module(&[("a", 1), ("b", 2)]);
            for _ in 0..10 {
                root = pass.run(&root)?;
            }
            Ok(())
        })
    };
    run(&asking).unwrap();
    assert_eq!(count.swap(0, Ordering::Relaxed), 1);
    run(&nested).unwrap();
    assert_eq!(count.swap(0, Ordering::Relaxed), 1);
}

#[test]
fn results_for_a_changed_working_copy_are_up_to_date() {
    let names = Function::new(|arguments| {
        let root: Ref<Obj> = arguments[0].extract()?;
        Ok(Value::from(functions(&root)?.len()))
    });
    register_analysis("transform_tests.count", names, false).unwrap();
    let adding = FunctionPass::new(
        &info("Add"),
        |fun: Ref<Fun>, root: &Ref<IRModule>, ctx: &Ref<PassContext>| {
            let ask = || ctx.analysis_named("transform_tests.count", root.as_object());
            assert_eq!(ask()?, 1.into());
            let new = GlobalVar::new("new");
            root.update_func(&new, Fun::new(7).upcast())?;
            assert_eq!(ask()?, 2.into());
            root.functions.remove(new);
            assert_eq!(ask()?, 1.into());
            root.update_func(&GlobalVar::new("other"), Fun::new(8).upcast())?;
            Ok(fun)
        },
    );
    let ctx = ContextOptions::default().make().unwrap();
    ctx.within(|| {
        let root = module(&[("a", 1)]);
        let ask =
            |root: &Ref<IRModule>| ctx.analysis_named("transform_tests.count", root.as_object());
        assert_eq!(ask(&root)?, 1.into());
        let done = adding.run(&root)?;
        assert_eq!((ask(&root)?, ask(&done)?), (1.into(), 2.into()));
        Ok(())
    })
    .unwrap();
}
