//! Every property of `isoform_testing` on random bytes.

use isoform_testing::properties::{PROPERTIES, check_named};

macro_rules! properties {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check_named(PROPERTIES, stringify!($name));
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
