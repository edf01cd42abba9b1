//! The properties of random programs on 150 draws; `make fuzz` runs as many
//! as you like.

use isoform_testing::onnx::ONNX_PROPERTIES;
use isoform_testing::source::random_bytes;

/// How many programs each property is tried on.
const CASES: u64 = 150;

#[track_caller]
fn check(name: &str) {
    let found = ONNX_PROPERTIES.iter().find(|(known, _)| *known == name);
    let (_, property) = found.unwrap_or_else(|| panic!("no property '{name}'"));
    for seed in 0..CASES {
        let bytes = random_bytes(seed, 8 + seed as usize * 37 % 380);
        if let Err(account) = property(&bytes) {
            panic!("seed {seed}: {account}");
        }
    }
}

macro_rules! properties {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_property_is_a_test() {
            let known: Vec<_> = ONNX_PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

properties! {
    onnx_programs_have_the_drawn_shapes
    onnx_optimized_programs_agree
    onnx_each_rule_alone_agrees
    onnx_fused_programs_are_near
    onnx_optimizing_twice_changes_nothing
    onnx_names_and_order_do_not_matter
    onnx_saved_programs_come_back
    onnx_random_calls_stay_apart
    onnx_merged_calls_agree
    onnx_swapped_operands_agree
    onnx_inferred_facts_hold
    onnx_edited_programs_hash_and_compare_the_same
    onnx_levels_keep_the_meaning
    onnx_written_defaults_do_not_matter
    onnx_programs_differ_by_the_laws
}

/// Programs for which a property was once false.
#[test]
fn earlier_counterexamples_hold() {
    let counterexamples: [(&str, &[u8]); 1] = [(
        // An unsigned number beyond the signed ones becomes a negative number.
        "onnx_inferred_facts_hold",
        &[
            121, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1, 0, 1, 0, 39, 0, 0, 0, 0,
            130, 0, 62, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 201, 237, 0, 0, 162, 21,
            103,
        ],
    )];
    for (name, bytes) in counterexamples {
        let (_, property) = ONNX_PROPERTIES
            .iter()
            .find(|(known, _)| *known == name)
            .expect("a property of this name");
        assert_eq!(property(bytes), Ok(()), "{name}");
    }
}
