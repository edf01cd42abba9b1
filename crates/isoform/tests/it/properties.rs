//! Every property of `isoform_testing`, for about a second on random bytes.

use std::time::{Duration, Instant};

use isoform_testing::properties::{PROPERTIES, Property};
use isoform_testing::source::{random_bytes, split_mix};

use super::support::scaled;

/// The start of the random bytes, unless the environment sets another.
const SEED: u64 = 0x1507_0f0a_2b5e_ed01;

/// The longest byte string that is tried.
const LONGEST: usize = 400;

/// Runs the property of this name; a failure names the seed and the bytes.
pub(super) fn run(properties: &[(&str, Property)], name: &str) {
    let (_, property) = properties
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a property of this name");
    let seed = std::env::var("ISOFORM_TEST_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SEED);
    let (start, mut state, mut cases) = (Instant::now(), seed, 0usize);
    let time = Duration::from_millis(scaled(1000) as u64);
    // At least some cases, however slow the machine is.
    while cases < 20 || start.elapsed() < time {
        let bytes = random_bytes(split_mix(&mut state), 4 + cases % (LONGEST - 4));
        cases += 1;
        if let Err(account) = property(&bytes) {
            panic!("{name}: seed {seed}, case {cases}, bytes {bytes:?}\n{account}");
        }
    }
}

macro_rules! properties {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(PROPERTIES, stringify!($name));
            }
        )*

        #[test]
        fn none_is_left_out() {
            let known: Vec<_> = PROPERTIES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

properties! {
    equality_is_the_oracles,
    alternatives_are_the_oracles,
    canonical_text_decides,
    mismatch_is_the_oracles,
    explanation_agrees,
    equal_values_share_names,
    other_values_have_other_names,
    keys_are_equal_as_their_values_were,
    laws_hold_on_triples,
    renaming_is_invisible,
    insertion_order_is_invisible,
    tree_sharing_is_invisible,
    both_families_agree,
    json_graphs_round_trip,
    binary_forms_round_trip,
    any_text_is_a_json_graph_or_an_error,
    edited_json_graphs_are_graphs_or_errors,
    any_bytes_are_a_binary_form_or_an_error,
    edited_binary_forms_are_forms_or_errors,
    texts_round_trip,
    any_words_are_a_text_or_an_error,
    edited_texts_are_texts_or_errors,
}
