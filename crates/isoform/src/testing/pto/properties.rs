//! What must hold for programs of the dialect, as functions over bytes.

use super::super::program::{
    Drawing, Drawn, Edit, Streams, binary_round_trips, deep_copies_are_equal, edits_are_found,
    engine_is_the_oracle, equal_parts_share_hashes, hints_are_invisible,
    ignored_fields_are_invisible, json_round_trips, text_round_trips,
};
use super::super::properties::Property;
use super::generate::Generator;
use crate::error::Result;
use crate::structural::CompareOptions;

/// The properties of programs of the dialect, with their names.
pub const PTO_PROPERTIES: &[(&str, Property)] = &[
    ("pto_json_round_trips", json_round_trips::<Programs>),
    ("pto_binary_round_trips", binary_round_trips::<Programs>),
    ("pto_text_round_trips", text_round_trips::<Programs>),
    (
        "pto_deep_copies_are_equal",
        deep_copies_are_equal::<Programs>,
    ),
    ("pto_renaming_is_invisible", hints_are_invisible::<Programs>),
    (
        "pto_ignored_fields_are_invisible",
        ignored_fields_are_invisible::<Programs>,
    ),
    ("pto_edits_are_found", edits_are_found::<Programs>),
    ("pto_engine_is_the_oracle", engine_is_the_oracle::<Programs>),
    (
        "pto_equal_parts_share_hashes",
        equal_parts_share_hashes::<Programs>,
    ),
];

/// Programs without free variables.
pub(super) struct Programs;

impl Drawing for Programs {
    const WAYS: &'static [CompareOptions] = &[
        CompareOptions {
            map_free_vars: false,
            skip_tensor_content: false,
        },
        CompareOptions {
            map_free_vars: true,
            skip_tensor_content: false,
        },
    ];

    fn draw(streams: Streams<'_>, size: usize, edit: Option<&Edit>) -> Result<Drawn> {
        let mut generator = Generator::new(streams, edit)?;
        let program = generator.program(size)?;
        Ok(Drawn {
            root: program.into(),
            made: generator.into_made(),
        })
    }
}
