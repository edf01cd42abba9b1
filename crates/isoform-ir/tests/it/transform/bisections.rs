//! The search for the pass and the functions that break a program.

use isoform::{Obj, Ref, Result};
use isoform_ir::ir::IRModule;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::{Bisection, Pass, Sequential, TrialSubject, bisect};

use crate::transform::program::*;

fn sum(program: &Ref<Obj>) -> i64 {
    let module: Ref<IRModule> = program.clone().cast().unwrap();
    numbers(&module).iter().map(|(_, number)| number).sum()
}

fn find(passes: Vec<Ref<Pass>>, check: impl FnMut(&Ref<Obj>) -> Result<bool>) -> Result<Bisection> {
    let names: Vec<String> = (0..20).map(|number| format!("f{number:02}")).collect();
    let functions: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    bisect(
        &Sequential::new(passes).upcast(),
        module(&functions).as_object(),
        check,
    )
}

/// A pass that sets the number of a function to the number in the function's name.
fn numbering() -> Ref<Pass> {
    of_module(&info("Number"), |root| {
        let copy = root.copied();
        for var in copy.global_vars() {
            let number = var.name_hint[1..].parse().unwrap();
            copy.update_func(&var, Fun::new(number).upcast())?;
        }
        Ok(copy)
    })
}

#[test]
fn the_first_bad_pass_is_found_in_logarithmic_time() {
    let passes = (0..64)
        .map(|number| adding(&format!("Add{number}"), 1).upcast())
        .collect();
    let found = find(passes, |program| Ok(sum(program) <= 20 * 40)).unwrap();
    assert_eq!((&*found.pass.info.name, found.position), ("Add40", 40));
    assert_eq!((sum(&found.before), sum(&found.after)), (800, 801));
    assert_eq!(found.functions.len(), 1, "one function suffices");
    assert!(found.checks < 20, "{}", found.checks);
}

#[test]
fn the_smallest_set_of_functions_is_found() {
    let both = |program: &Ref<Obj>| {
        let module: Ref<IRModule> = program.clone().cast()?;
        let all = numbers(&module);
        Ok(!(all[3].1 == 3 && all[17].1 == 17))
    };
    let found = find(vec![idle("Idle", 0), numbering(), idle("Idle", 0)], both).unwrap();
    assert_eq!(&*found.pass.info.name, "Number");
    assert_eq!(found.functions, ["f03", "f17"]);
    assert_eq!(sum(&found.after), 20);
    // The trail has every check with its answer.
    assert_eq!(found.trail.len(), found.checks);
    let after = |passes, last: &str| TrialSubject::After {
        passes,
        last: last.to_owned(),
    };
    let first: Vec<_> = found.trail[..4]
        .iter()
        .map(|trial| (trial.subject.clone(), trial.is_good))
        .collect();
    assert_eq!(
        first,
        [
            (after(0, ""), true),
            (after(3, "Idle"), false),
            (after(1, "Idle"), true),
            (after(2, "Number"), false),
        ]
    );
    let both = ["f03", "f17"].map(str::to_owned);
    for trial in &found.trail[4..] {
        let TrialSubject::Functions(names) = &trial.subject else {
            panic!("{trial:?}");
        };
        let has_both = both.iter().all(|name| names.contains(name));
        assert_eq!(trial.is_good, !has_both, "{trial:?}");
    }
}

#[test]
fn sequences_inside_are_searched() {
    let inner = Sequential::new([idle("Idle", 0), adding("Bad", 1).upcast()]).upcast();
    let found = find(vec![idle("Idle", 0), inner, idle("Idle", 0)], |program| {
        Ok(sum(program) == 0)
    });
    assert_eq!(&*found.unwrap().pass.info.name, "Bad");
}

#[test]
fn changes_that_belong_together_stay_together() {
    let all = |program: &Ref<Obj>| Ok(sum(program) < 20);
    let found = find(vec![adding("Add", 1).upcast()], all).unwrap();
    assert_eq!(found.functions.len(), 20);
    let gone = of_module(&info("Gone"), |_| Ok(module(&[("other", 1)])));
    let found = find(vec![gone], |program| Ok(sum(program) == 0)).unwrap();
    assert_eq!((found.functions.len(), sum(&found.after)), (0, 1));
}

#[test]
fn there_has_to_be_something_to_find() {
    let error = |good: bool| error_of(find(vec![idle("Idle", 0)], move |_| Ok(good)));
    assert_eq!(
        error(true),
        "ValueError: the check accepts the program after the last pass"
    );
    assert_eq!(
        error(false),
        "ValueError: the check rejects the program before the first pass"
    );
    assert!(error_of(find(vec![failing("F")], |_| Ok(true))).contains("in pass 'F'"));
}
