//! Passes keep the values of random well-typed programs, a few thousand of them.

use std::collections::{BTreeMap, BTreeSet};

use isoform::Ref;
use isoform::traverse::{WalkResult, walk_objects};
use isoform_ir::ir::{IRModule, Op};
use isoform_relay::passes::{SimplifyOptions, simplify_rules};
use isoform_relay::{Call, infer_type};
use isoform_testing::relay::{TYPED_PROPERTIES, random_smooth_program, random_typed_program};
use isoform_testing::source::RandomCases;

/// Runs the property of this name; a failure names the bytes.
#[track_caller]
fn run(name: &str, count: usize) {
    let found = TYPED_PROPERTIES.iter().find(|(known, _)| *known == name);
    let (_, property) = found.expect("a property of this name");
    let cases = RandomCases {
        seed: 0x7a1e5,
        count,
        lengths: 4..304,
    };
    cases.check(name, property);
}

#[test]
fn relay_values_have_the_inferred_types() {
    run("relay_values_have_the_inferred_types", 2000);
}

#[test]
fn relay_passes_keep_values() {
    run("relay_passes_keep_values", 1000);
}

#[test]
fn relay_pipelines_keep_values() {
    run("relay_pipelines_keep_values", 1000);
}

#[test]
fn relay_simplified_values_are_near() {
    run("relay_simplified_values_are_near", 2000);
}

#[test]
fn relay_fused_programs_come_back() {
    run("relay_fused_programs_come_back", 1000);
}

#[test]
fn relay_networks_keep_values() {
    run("relay_networks_keep_values", 3000);
}

#[test]
fn relay_typed_programs_have_texts() {
    run("relay_typed_programs_have_texts", 1000);
}

#[test]
fn every_rule_applies_to_random_programs() {
    let mut counts = BTreeMap::new();
    let mut count = |module: &Ref<IRModule>, options: SimplifyOptions| {
        let typed = infer_type(module).expect("well typed");
        for var in typed.global_vars() {
            let func = typed.lookup(&var).expect("a function");
            let done = options.run(&func.upcast()).expect("well typed");
            for (rule, applied) in done.applied {
                *counts
                    .entry((options == SimplifyOptions::default(), rule))
                    .or_insert(0) += applied;
            }
        }
    };
    for seed in 0..1000 {
        let program = random_typed_program(seed, 60).module;
        count(&program, SimplifyOptions::default().exact(true));
        count(
            &random_smooth_program(seed).0.module,
            SimplifyOptions::default(),
        );
    }
    for rule in simplify_rules() {
        let exact = counts.get(&(false, rule.name)).copied().unwrap_or(0);
        assert_eq!(
            exact >= 10,
            rule.exact_for_integers,
            "{}: {exact}",
            rule.name
        );
        let near = counts.get(&(true, rule.name)).copied().unwrap_or(0);
        assert!(rule.exact_for_floats || near >= 10, "{}: {near}", rule.name);
    }
}

#[test]
fn none_is_left_out() {
    let known: Vec<_> = TYPED_PROPERTIES.iter().map(|(name, _)| *name).collect();
    let run = [
        "relay_values_have_the_inferred_types",
        "relay_passes_keep_values",
        "relay_pipelines_keep_values",
        "relay_simplified_values_are_near",
        "relay_fused_programs_come_back",
        "relay_networks_keep_values",
        "relay_typed_programs_have_texts",
    ];
    assert_eq!(known, run);
}

/// The operators that the generator does not call.
const NOT_DRAWN: [&str; 8] = [
    "annotation.checkpoint",
    "annotation.compiler_begin",
    "annotation.compiler_end",
    "annotation.stop_fusion",
    "arange",
    "device_copy",
    "nn.dropout",
    "on_device",
];

#[test]
fn random_programs_contain_every_class_and_operator() {
    let (mut classes, mut operators) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..1500 {
        walk_objects(random_typed_program(seed, 60).module, |object, _| {
            classes.insert(object.type_info().key());
            if let Some(call) = object.downcast_ref::<Call>()
                && let Some(op) = call.op.downcast_ref::<Op>()
            {
                operators.insert(op.name.to_string());
            }
            Ok(WalkResult::<()>::Advance)
        })
        .expect("a walk");
    }
    for class in [
        "Let",
        "If",
        "Tuple",
        "TupleGetItem",
        "Function",
        "RefCreate",
        "RefRead",
        "RefWrite",
    ] {
        assert!(classes.contains(&*format!("relay.{class}")), "{class}");
    }
    assert!(classes.contains("ir.GlobalVar"));
    let own = |name: &String| {
        let op = Op::get(name).expect("an operator");
        op.attribute("TOpPattern").is_some() && !name.contains("test") && !name.starts_with("doc")
    };
    let all: BTreeSet<String> = Op::names().into_iter().filter(own).collect();
    let missing: Vec<_> = all.difference(&operators).collect();
    assert_eq!(missing, NOT_DRAWN.iter().collect::<Vec<_>>());
}
