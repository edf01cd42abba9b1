//! Properties of modules of the IR, as functions of bytes.

use std::collections::HashSet;

use super::super::generate::children;
use super::super::program::{
    Case, Drawing, DrawnProgram, Edit, Streams, account, binary_round_trips, deep_copies_are_equal,
    edits_are_found, hints_are_invisible, ignored_fields_are_invisible, json_round_trips, setup,
    text_round_trips, through_binary, through_json, through_text,
};
use super::super::properties::Property;
use super::super::serial::same_graph;
use super::super::source::{Source, random_bytes};
use super::generate::Generator;
use isoform::compare::CompareOptions;
use isoform::functions::Function;
use isoform::text::{TensorText, TextOptions};
use isoform::{Result, Value};

/// The properties of modules of the IR, with their names.
pub const IR_PROPERTIES: &[(&str, Property)] = &[
    ("ir_json_round_trips", json_round_trips::<Modules>),
    ("ir_binary_round_trips", binary_round_trips::<Modules>),
    ("ir_text_round_trips", text_round_trips::<Modules>),
    ("ir_deep_copies_are_equal", deep_copies_are_equal::<Modules>),
    ("ir_incomparable_round_trips", ir_incomparable_round_trips),
    ("ir_hints_are_invisible", hints_are_invisible::<Modules>),
    (
        "ir_ignored_fields_are_invisible",
        ignored_fields_are_invisible::<Modules>,
    ),
    ("ir_edits_are_found", edits_are_found::<Modules>),
];

/// Modules over all classes of the IR, with free variables.
struct Modules;

impl Drawing for Modules {
    /// Free variables of the two modules may correspond.
    const WAYS: &'static [CompareOptions] = &[CompareOptions {
        map_free_vars: true,
        skip_tensor_content: false,
    }];

    fn draw(streams: Streams<'_>, size: usize, edit: Option<&Edit>) -> Result<DrawnProgram> {
        let mut generator = Generator::new(streams, edit)?;
        let module = generator.module(size)?;
        Ok(DrawnProgram {
            root: module.into(),
            made: generator.maker.made,
        })
    }
}

fn ir_incomparable_round_trips(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    // Pads the input with random bytes, to give objects of every class contents.
    case.main
        .extend(random_bytes(u64::from(Source::new(bytes).byte()), 200));
    let generator = Generator::new(case.streams(), None);
    let nodes = generator
        .and_then(|mut drawing| drawing.incomparable())
        .map_err(setup)?;
    let wide = TextOptions::default().tensors(TensorText::Inline);
    let again = through_text(&nodes, &wide)?.1;
    same_graph(&nodes, &again).map_err(|difference| account(&difference, &nodes, &again))?;
    for node in children(&nodes) {
        // Functions have text, by their global names, and cannot be in any other file.
        if has_function(&node) {
            continue;
        }
        for again in [through_json(&node)?.1, through_binary(&node)?.1] {
            same_graph(&node, &again).map_err(|difference| account(&difference, &node, &again))?;
        }
    }
    Ok(())
}

/// True if a value, which has no cycles, contains a function.
fn has_function(value: &Value) -> bool {
    let mut stack = vec![value.clone()];
    let mut seen = HashSet::new();
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if Function::of(object).is_some() {
            return true;
        }
        if seen.insert(object.identity()) {
            stack.extend(children(&value));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::program::{edits, leads_to, shown};
    use super::*;
    use isoform::paths::AccessPath;

    /// Cases that draw many nodes.
    fn cases() -> impl Iterator<Item = Vec<u8>> {
        (0..200).map(|seed| random_bytes(seed, 600))
    }

    #[test]
    fn other_streams_give_other_names_and_spans() {
        let (mut renamed, mut moved) = (0, 0);
        for bytes in cases() {
            let mut case = Case::of(&bytes);
            let texts = [0, 1, 2].map(|change| {
                match change {
                    0 => {}
                    1 => case.rename(),
                    _ => case.ignored = random_bytes(1 << 42, case.ignored.len()),
                }
                shown(&case.draw::<Modules>(None).expect("a module").root)
            });
            renamed += usize::from(texts[0] != texts[1]);
            moved += usize::from(texts[1] != texts[2]);
        }
        // Few modules have neither hints nor places.
        assert!(renamed > 150 && moved > 150, "{renamed} and {moved} of 200");
    }

    #[test]
    fn edits_are_of_many_classes() {
        let mut edited = BTreeSet::new();
        for bytes in cases() {
            let DrawnProgram {
                root: module,
                made: objects,
            } = Case::of(&bytes).draw::<Modules>(None).expect("a module");
            let edits = edits(&module, &objects).expect("edits");
            assert!(edits.len() > 3, "{}", shown(&module));
            edited.extend(edits.iter().map(|edit| {
                let info = objects[edit.number].type_info();
                (info.key(), info.fields()[edit.field].name())
            }));
        }
        for wanted in [
            ("ir.GlobalVar", "name_hint"),
            ("ir.TensorType", "shape"),
            ("ir.ConstantInfo", "data"),
            ("ir.DictAttrs", "dict"),
            ("relay.Call", "args"),
            ("tir.Add", "dtype"),
        ] {
            assert!(edited.contains(&wanted), "{wanted:?} is not in {edited:?}");
        }
        for ignored in [("ir.TypeVar", "name_hint"), ("tir.Add", "span")] {
            assert!(!edited.contains(&ignored), "{ignored:?}");
        }
    }

    #[test]
    fn a_path_elsewhere_leads_nowhere() {
        let case = Case::of(&random_bytes(1, 600));
        let DrawnProgram { root: module, made } = case.draw::<Modules>(None).expect("a module");
        let last = made.last().expect("the module itself");
        assert!(leads_to(&module, &AccessPath::root(), last));
        let var = made.first().expect("the first name");
        assert!(!leads_to(&module, &AccessPath::root(), var));
        let attrs = AccessPath::root().attr("attrs");
        assert!(!leads_to(&module, &attrs, var));
    }
}
