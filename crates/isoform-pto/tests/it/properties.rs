//! Programs of the statement dialect: every property for about a second on
//! random bytes, and the coverage that the generator must reach.

use std::collections::BTreeMap;

use isoform::compare::CompareOptions;
use isoform::text::to_text;
use isoform::types::registered_types;
use isoform::{Ref, structural_digest, structural_equal};
use isoform_pto::Program;
use isoform_testing::pto::{PTO_PROPERTIES, random_program};

use isoform_testing::coverage::count_nodes;
use isoform_testing::properties::check_named;

macro_rules! properties {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check_named(PTO_PROPERTIES, stringify!($name));
            }
        )*

        #[test]
        fn none_is_left_out() {
            let known: Vec<_> = PTO_PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

properties! {
    pto_json_round_trips,
    pto_binary_round_trips,
    pto_text_round_trips,
    pto_deep_copies_are_equal,
    pto_renaming_is_invisible,
    pto_ignored_fields_are_invisible,
    pto_edits_are_found,
    pto_engine_is_the_oracle,
    pto_equal_parts_share_hashes,
    pto_rebuilding_is_invisible,
    pto_programs_are_well_formed,
    pto_faults_are_reported,
    pto_sizes_and_variables_are_replaced,
}

/// Base classes. Only objects of their subclasses exist.
const BASES: [&str; 7] = [
    "pto.BinaryExpr",
    "pto.Expr",
    "pto.IRNode",
    "pto.ScopeStmt",
    "pto.ShapedType",
    "pto.Type",
    "pto.UnaryExpr",
];

#[test]
fn every_class_comes_up() {
    let mut classes = BTreeMap::new();
    let mut shared = 0;
    for seed in 0..40 {
        let program = random_program(seed, 400).expect("a program");
        shared += count_nodes(&program.into(), &mut classes);
    }
    assert!(shared > 1000, "only {shared} nodes are shared");
    let missing: Vec<_> = registered_types()
        .into_iter()
        .map(|info| info.key())
        .filter(|key| key.starts_with("pto.") && !BASES.contains(key))
        .filter(|key| classes.get(key).is_none_or(|count| *count < 2))
        .collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}\n{classes:?}");
}

#[test]
fn programs_are_closed() {
    for seed in 0..60 {
        let program = random_program(seed, 150).expect("a program");
        // A program with a free variable has no digest.
        structural_digest(&program).expect("a digest");
    }
}

#[test]
fn a_seed_gives_the_same_program() {
    let text = |program: &Ref<Program>| to_text(program).expect("text");
    for seed in [0, 1, u64::MAX] {
        let program = random_program(seed, 150).expect("a program");
        let again = random_program(seed, 150).expect("a program");
        assert!(!program.same_as(&again));
        assert_eq!(text(&program), text(&again));
        assert!(structural_equal(&program, &again).expect("an answer"));
    }
    let (one, other) = (random_program(1, 150), random_program(2, 150));
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let equal = options.equal(one.expect("one"), other.expect("other"));
    assert!(!equal.expect("an answer"));
}

#[test]
fn programs_have_about_the_size_that_was_asked_for() {
    for size in [0, 100, 1_000, 10_000] {
        let mut classes = BTreeMap::new();
        let program = random_program(3, size).expect("a program");
        count_nodes(&program.into(), &mut classes);
        let nodes: usize = classes.values().sum();
        assert!(
            (size / 4..=size * 4 + 40).contains(&nodes),
            "{nodes} of {size}"
        );
    }
}
