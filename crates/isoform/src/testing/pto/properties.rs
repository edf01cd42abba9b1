//! What must hold for programs of the dialect, as functions over bytes.

use super::super::program::{
    Case, Drawing, Drawn, Edit, Streams, binary_round_trips, deep_copies_are_equal, described,
    edits_are_found, engine_is_the_oracle, equal_parts_share_hashes, hints_are_invisible,
    ignored_fields_are_invisible, is_below, json_round_trips, leads_to, one_of,
    rebuilding_is_invisible, setup, shown, text_round_trips,
};
use super::super::properties::Property;
use super::faults::faults;
use super::generate::Generator;
use crate::dialect::pto::{Failure, VerifyOptions, verify};
use crate::error::Result;
use crate::structural::CompareOptions;
use crate::value::Value;

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
    (
        "pto_rebuilding_is_invisible",
        rebuilding_is_invisible::<Programs>,
    ),
    ("pto_programs_are_well_formed", pto_programs_are_well_formed),
    ("pto_faults_are_reported", pto_faults_are_reported),
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

fn verified(program: &Value) -> Result<Vec<Failure>, String> {
    verify(program, &VerifyOptions::default()).map_err(setup)
}

fn listed(failures: &[Failure]) -> String {
    let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

/// The verifier finds nothing wrong with programs that are drawn.
fn pto_programs_are_well_formed(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<Programs>(None)?.root;
    let failures = verified(&program)?;
    match failures.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{}", listed(&failures), shown(&program))),
    }
}

/// A program that is broken at one place is reported, at that place.
fn pto_faults_are_reported(bytes: &[u8]) -> Result<(), String> {
    let case = Case::of(bytes);
    let Drawn { made, .. } = case.draw::<Programs>(None)?;
    let faults = faults(&made).map_err(setup)?;
    if faults.is_empty() {
        return Ok(());
    }
    let fault = one_of(&faults, bytes);
    let broken = case.draw::<Programs>(Some(fault))?;
    let place = &broken.made[fault.number];
    // What was drawn and then not used is no part of the program.
    if !is_below(&broken.root, place) {
        return Ok(());
    }
    let failures = verified(&broken.root)?;
    let is_there = |failure: &Failure| leads_to(&broken.root, &failure.path, place);
    match failures.iter().any(is_there) {
        true => Ok(()),
        false => Err(format!(
            "reported is {:?} after {}\n{}",
            listed(&failures),
            described(fault, place),
            shown(&broken.root)
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::program::edits;
    use super::super::super::source::random_bytes;
    use super::*;

    /// The changes of many programs, by class and field.
    fn places(
        changes: impl Fn(&Drawn) -> Result<Vec<Edit>>,
    ) -> BTreeSet<(&'static str, &'static str)> {
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let case = Case::of(&random_bytes(seed, 600));
            let drawn = case.draw::<Programs>(None).expect("a program");
            found.extend(changes(&drawn).expect("changes").iter().map(|edit| {
                let info = drawn.made[edit.number].type_info();
                (info.key(), info.fields()[edit.field].name())
            }));
        }
        found
    }

    #[test]
    fn edits_are_of_many_classes() {
        let edited = places(|drawn| edits(&drawn.root, &drawn.made));
        for wanted in [
            ("pto.ScalarType", "dtype"),
            ("pto.MemRef", "byte_offset"),
            ("pto.TileType", "memref"),
            ("pto.TileView", "pad"),
            ("pto.ForStmt", "kind"),
            ("pto.WhileStmt", "iter_args"),
            ("pto.IfStmt", "else_body"),
            ("pto.Call", "kwargs"),
            ("pto.Function", "params"),
            ("pto.Program", "functions"),
        ] {
            assert!(edited.contains(&wanted), "{wanted:?} is not in {edited:?}");
        }
        for ignored in [("pto.Var", "name_hint"), ("pto.Add", "span")] {
            assert!(!edited.contains(&ignored), "{ignored:?}");
        }
    }

    #[test]
    fn faults_are_of_many_kinds() {
        let broken = places(|drawn| faults(&drawn.made));
        for wanted in [
            ("pto.YieldStmt", "value"),
            ("pto.AssignStmt", "value"),
            ("pto.Function", "body"),
            ("pto.IfStmt", "else_body"),
            ("pto.WhileStmt", "return_vars"),
            ("pto.IterArg", "init_value"),
            ("pto.Call", "op"),
            ("pto.Xor", "left"),
            ("pto.BitShiftLeft", "right"),
        ] {
            assert!(broken.contains(&wanted), "{wanted:?} is not in {broken:?}");
        }
    }
}
