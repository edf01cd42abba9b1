//! Every property of random expressions.

use isoform_testing::relay::{RELAY_PROPERTIES, random_expr};
use isoform_testing::source::RandomCases;

/// Runs the property of this name; a failure names the bytes.
#[track_caller]
fn run(name: &str) {
    let found = RELAY_PROPERTIES.iter().find(|(known, _)| *known == name);
    let (_, property) = found.expect("a property of this name");
    let cases = RandomCases {
        seed: 0x51_07_0f_0a,
        count: 1000,
        lengths: 4..204,
    };
    cases.check(name, property);
}

macro_rules! properties {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn none_is_left_out() {
            let known: Vec<_> = RELAY_PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

properties! {
    relay_variables_are_the_oracles,
    relay_drawn_programs_are_well_formed,
    relay_well_formedness_is_the_oracles,
    relay_post_order_is_the_oracles,
    relay_constants_and_layers_are_the_oracles,
    relay_features_are_those_of_the_nodes,
    relay_blocks_are_the_oracles,
    relay_rewriting_is_the_oracles,
    relay_fresh_variables_are_invisible,
    relay_bound_values_leave_no_variable,
    relay_texts_introduce_names_before_their_uses,
}

#[test]
fn random_expressions_contain_every_class() {
    let mut keys = std::collections::BTreeSet::new();
    for seed in 0..200 {
        isoform::traverse::walk_objects(random_expr(seed, 60), |object, _| {
            keys.insert(object.type_info().key());
            Ok(isoform::traverse::WalkResult::<()>::Advance)
        })
        .expect("no cycles");
    }
    for key in [
        "Call",
        "Clause",
        "Constant",
        "EmptyTuple",
        "Function",
        "If",
        "Let",
        "Match",
        "PatternConstructor",
        "PatternTuple",
        "PatternVar",
        "PatternWildcard",
        "RefCreate",
        "RefRead",
        "RefWrite",
        "Tuple",
        "TupleGetItem",
        "Var",
    ] {
        assert!(keys.contains(&*format!("relay.{key}")), "{key}: {keys:?}");
    }
}
