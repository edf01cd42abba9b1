//! The costs of passes: calls are counted, and programs may be deep and large.

use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::{Node, Obj, Ref, Result, Str, Value};
use isoform_ir::ir::IRModule;
use isoform_ir::transform::instruments::{Changes, Verifying, changes_text};
use isoform_ir::transform::{
    ContextOptions, FunctionPass, PassContext, PassInfo, Root, Sequential, script,
};
use isoform_testing::source::scaled;

use crate::transform::program::*;

/// A link of a chain, which is a program of a single function.
#[derive(Node)]
#[node(key = "transform_tests.Link")]
#[repr(C)]
struct Link {
    next: Value,
}

fn chain(levels: usize) -> Ref<Obj> {
    let mut next = Value::from(0);
    for _ in 0..levels {
        next = Link::new(next).into();
    }
    next.as_object().cloned().expect("at least one level")
}

/// A program that counts the listings of the functions.
#[derive(Node)]
#[node(key = "transform_tests.Counted", kind = none, attrs(dyn Root))]
#[repr(C)]
struct Counted {
    numbers: isoform::Array<Ref<Fun>>,
}

static LISTED: AtomicUsize = AtomicUsize::new(0);

impl Root for Counted {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        LISTED.fetch_add(1, Ordering::Relaxed);
        let numbers = self.numbers.iter().enumerate();
        let entry = |(at, fun): (usize, &Ref<Fun>)| {
            (Str::from(format!("f{at}")), fun.clone().into_object())
        };
        Ok(numbers.map(entry).collect())
    }
    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let mut numbers = self.numbers.clone();
        for (name, function) in changed {
            let at = name[1..].parse::<usize>().expect("a number");
            numbers.set(at, function.cast()?)?;
        }
        Ok(Counted::new(numbers).into_object())
    }
}

/// A pass that counts calls and changes the functions of one number.
fn counting(calls: &Arc<AtomicUsize>, changes: i64) -> Ref<FunctionPass> {
    let calls = Arc::clone(calls);
    FunctionPass::new(
        &PassInfo::new(0, "Count"),
        move |fun: Ref<Fun>, _: &Ref<Obj>, _: &Ref<PassContext>| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(if fun.number == changes {
                fun.with_number(-1)
            } else {
                fun
            })
        },
    )
}

#[test]
fn a_function_pass_calls_once_per_function() {
    for size in [100, 1_000] {
        let numbers: Vec<Ref<Fun>> = (0..size).map(Fun::new).collect();
        let program = Counted::new(numbers);
        let calls = Arc::new(AtomicUsize::new(0));
        LISTED.store(0, Ordering::Relaxed);
        let done = counting(&calls, 7).run(&program).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), size as usize);
        assert_eq!(LISTED.load(Ordering::Relaxed), 1);
        let same = |at| {
            done.numbers
                .get(at)
                .unwrap()
                .same_as(program.numbers.get(at).unwrap())
        };
        assert!(same(6) && !same(7) && same(8));
        assert!(counting(&calls, -5).run(&done).unwrap().same_as(&done));
    }
}

#[test]
fn an_idle_pass_returns_the_same_module() {
    let names: Vec<String> = (0..1_000).map(|number| format!("f{number}")).collect();
    let functions: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let root: Ref<IRModule> = module(&functions);
    let calls = Arc::new(AtomicUsize::new(0));
    let passes = (0..20).map(|_| counting(&calls, 1).upcast());
    assert!(Sequential::new(passes).run(&root).unwrap().same_as(&root));
    assert_eq!(calls.load(Ordering::Relaxed), 20_000);
}

#[test]
fn deep_programs_need_no_deep_stack() {
    let levels = scaled(1_000_000).max(100_000);
    let (deep, other) = (chain(levels), chain(levels + 1));
    let run = |program: &Ref<Obj>| {
        let next = other.clone();
        let pass = isoform_ir::transform::ModulePass::new(
            &PassInfo::new(0, "Other"),
            move |_: Ref<Obj>, _: &Ref<PassContext>| Ok(next.clone()),
        );
        let options = ContextOptions::default().config("testing.immutable_module", true);
        let options = options.instrument(&Verifying::instrument());
        let ctx = options.instrument(&Changes::instrument()).make()?;
        ctx.within(|| pass.run(program))
    };
    isoform_ir::transform::register().unwrap();
    assert!(run(&deep).unwrap().same_as(&other));
    assert!(script(&deep).unwrap().len() > levels);
    let (short, shorter) = (chain(1_000), chain(999));
    assert!(
        changes_text(&short, &shorter)
            .unwrap()
            .starts_with("--- before\n+++ after\n")
    );
}
