//! Every rule has separate cases, and the cases reach the whole rule.

use std::collections::HashSet;

use isoform_onnx::optimize::{OptimizeOptions, STEPS, rules};

use crate::optimize::check::{optimize, program};
use crate::optimize::rules::all;

#[test]
fn each_rule_and_step_has_cases() {
    let names = rules().iter().map(|rule| rule.name());
    let names: Vec<&str> = names.chain(STEPS.iter().map(|step| step.name)).collect();
    for name in &names {
        let cases: Vec<_> = all().filter(|case| case.rule == *name).collect();
        assert_eq!(cases.len(), 1, "cases of '{name}'");
        assert!(!cases[0].fires.is_empty(), "'{name}' never fires");
        assert!(!cases[0].stays.is_empty(), "nothing is kept from '{name}'");
    }
    for case in all() {
        assert!(names.contains(&case.rule), "'{}' is no rule", case.rule);
    }
}

#[test]
fn names_of_rules_are_different() {
    let names: HashSet<&str> = rules().iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), rules().len());
}

#[test]
fn each_rule_ends_at_its_versions() {
    let mut missing = Vec::new();
    for rule in rules() {
        let versions = rule.since_until();
        let case = all().find(|case| case.rule == rule.name()).unwrap();
        let fires = |at: i64| case.fires.iter().any(|(version, ..)| *version == at);
        let stays = |at: i64| case.stays.iter().any(|(version, _)| *version == at);
        if *versions.start() > 1 && !(fires(*versions.start()) && stays(versions.start() - 1)) {
            missing.push(format!("{} from {}", rule.name(), versions.start()));
        }
        if *versions.end() < i64::MAX && !(fires(*versions.end()) && stays(versions.end() + 1)) {
            missing.push(format!("{} until {}", rule.name(), versions.end()));
        }
    }
    assert!(missing.is_empty(), "no cases for {missing:#?}");
}

/// The operators with which a pattern begins.
fn operators(pattern: &str) -> Vec<&str> {
    let (before, _) = pattern.split_once('(').unwrap();
    let ops = before.rsplit(':').next().unwrap();
    ops.split('|').collect()
}

#[test]
fn each_operator_of_each_pattern_is_reached() {
    let mut missing = Vec::new();
    for rule in rules() {
        let case = all().find(|case| case.rule == rule.name()).unwrap();
        let names = [case.rule].into_iter().chain(case.with.iter().copied());
        let options = OptimizeOptions::default().only(names);
        let mut reached = HashSet::new();
        for (opset, text, _) in case.fires {
            let done = optimize(&options, &program(*opset, text));
            let fired = done.report.fired.into_iter();
            reached.extend(
                fired
                    .filter(|firing| firing.rule == rule.name())
                    .map(|firing| firing.op),
            );
        }
        for pattern in rule.patterns() {
            for op in operators(pattern.text()) {
                if !reached.contains(op) {
                    missing.push(format!("{}: {op}", rule.name()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no cases for {missing:#?}");
}
