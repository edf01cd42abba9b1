//! What must hold for modules of the IR, as functions over bytes.

use std::collections::HashSet;

use super::super::generate::children;
use super::super::properties::Property;
use super::super::serial::same_graph;
use super::super::source::{Source, random_bytes};
use super::edit::{Edit, edits, is_below};
use super::generate::{Generator, Streams};
use crate::binary::{from_bytes, to_bytes};
use crate::error::Result;
use crate::function::Function;
use crate::json::{JsonOptions, JsonReadOptions, from_json_graph, to_json_graph};
use crate::object::reference::{Obj, Ref};
use crate::path::{AccessPath, AccessStep};
use crate::structural::{
    CompareOptions, get_first_structural_mismatch_with, structural_digest_with,
    structural_equal_with, structural_hash_with,
};
use crate::text::{TensorText, TextOptions, from_text, to_text};
use crate::value::{Value, ValueRef};
use crate::visit::deep_copy;

/// The properties of modules of the IR, with their names.
pub const IR_PROPERTIES: &[(&str, Property)] = &[
    ("ir_json_round_trips", ir_json_round_trips),
    ("ir_binary_round_trips", ir_binary_round_trips),
    ("ir_text_round_trips", ir_text_round_trips),
    ("ir_deep_copies_are_equal", ir_deep_copies_are_equal),
    ("ir_incomparable_round_trips", ir_incomparable_round_trips),
    ("ir_hints_are_invisible", ir_hints_are_invisible),
    (
        "ir_ignored_fields_are_invisible",
        ir_ignored_fields_are_invisible,
    ),
    ("ir_edits_are_found", ir_edits_are_found),
];

/// Free variables of one value stand for those of the other.
const OPTIONS: CompareOptions = CompareOptions {
    map_free_vars: true,
    skip_tensor_content: false,
};

/// What a module is drawn from.
struct Case {
    main: Vec<u8>,
    hints: Vec<u8>,
    ignored: Vec<u8>,
}

impl Case {
    fn of(bytes: &[u8]) -> Case {
        let seed = Source::new(bytes).byte();
        Case {
            main: bytes.to_vec(),
            hints: random_bytes(u64::from(seed), bytes.len() / 2),
            ignored: random_bytes(u64::from(seed) + 256, bytes.len() / 2),
        }
    }

    fn generator(&self) -> Result<Generator<'_>, String> {
        let streams = Streams {
            main: &self.main,
            hints: &self.hints,
            ignored: &self.ignored,
        };
        Generator::new(streams).map_err(setup)
    }

    /// The module, and the objects that were made for it in order.
    fn draw(&self) -> Result<(Value, Vec<Ref<Obj>>), String> {
        drawn(self.generator()?, self.size())
    }

    fn size(&self) -> usize {
        self.main.len() / 6
    }
}

fn drawn(mut generator: Generator<'_>, size: usize) -> Result<(Value, Vec<Ref<Obj>>), String> {
    let module = generator.module(size).map_err(setup)?;
    Ok((module.into(), generator.made))
}

fn setup(error: crate::Error) -> String {
    format!("the case could not be drawn: {error}")
}

fn account(what: &str, left: &Value, right: &Value) -> String {
    format!(
        "{what}\n  left  = {}\n  right = {}",
        shown(left),
        shown(right)
    )
}

fn shown(value: &Value) -> String {
    let options = TextOptions::default().tensors(TensorText::Inline);
    to_text(value, &options).unwrap_or_else(|error| format!("{error}: {value:?}"))
}

/// Both values are equal, have the same hash and the same digest.
fn alike(left: &Value, right: &Value) -> Result<(), String> {
    match structural_equal_with(left, right, OPTIONS) {
        Ok(true) => {}
        other => {
            let place = get_first_structural_mismatch_with(left, right, OPTIONS);
            let what = format!("comparison says {other:?}, at {place:?}");
            return Err(account(&what, left, right));
        }
    }
    let hash = |value| structural_hash_with(value, OPTIONS).map_err(|error| error.to_string());
    let digest = |value| structural_digest_with(value, OPTIONS).map_err(|error| error.to_string());
    if hash(left)? != hash(right)? {
        return Err(account("the hashes differ", left, right));
    }
    if digest(left)? != digest(right)? {
        return Err(account("the digests differ", left, right));
    }
    Ok(())
}

/// Both values are the same graph, and are equal.
fn same(left: &Value, right: &Value) -> Result<(), String> {
    same_graph(left, right).map_err(|difference| account(&difference, left, right))?;
    alike(left, right)
}

fn read<T: std::fmt::Debug>(
    written: Result<T>,
    read: impl FnOnce(&T) -> Result<Value>,
) -> Result<(T, Value), String> {
    let written = written.map_err(|error| format!("not written: {error}"))?;
    let again = read(&written).map_err(|error| format!("not read: {error}\n{written:?}"))?;
    Ok((written, again))
}

fn through_json(value: &Value) -> Result<(String, Value), String> {
    read(to_json_graph(value, &JsonOptions::default()), |text| {
        from_json_graph(text, &JsonReadOptions::default())
    })
}

fn through_binary(value: &Value) -> Result<(Vec<u8>, Value), String> {
    read(to_bytes(value), |bytes| from_bytes(bytes))
}

fn through_text(value: &Value, options: &TextOptions) -> Result<(String, Value), String> {
    read(to_text(value, options), |text| from_text(text))
}

fn ir_json_round_trips(bytes: &[u8]) -> Result<(), String> {
    let (module, _) = Case::of(bytes).draw()?;
    let (text, again) = through_json(&module)?;
    same(&module, &again)?;
    match through_json(&again)?.0 == text {
        true => Ok(()),
        false => Err(account(
            "JSON differs when it is written again",
            &module,
            &again,
        )),
    }
}

fn ir_binary_round_trips(bytes: &[u8]) -> Result<(), String> {
    let (module, _) = Case::of(bytes).draw()?;
    let (form, again) = through_binary(&module)?;
    same(&module, &again)?;
    match through_binary(&again)?.0 == form {
        true => Ok(()),
        false => Err(account(
            "bytes differ when they are written again",
            &module,
            &again,
        )),
    }
}

fn ir_text_round_trips(bytes: &[u8]) -> Result<(), String> {
    let (module, _) = Case::of(bytes).draw()?;
    let mut source = Source::new(bytes);
    let width = *source.pick(&[1, 20, 80, 100, 1000]);
    let options = TextOptions::default()
        .width(width)
        .depth(2 + source.below(20))
        .defaults(source.chance(50));
    for tensors in [TensorText::Inline, TensorText::Section] {
        let options = options.clone().tensors(tensors);
        let (text, again) = through_text(&module, &options)?;
        same(&module, &again)?;
        for (value, what) in [
            (&module, "the text differs the second time"),
            (&again, "the text differs when it is written again"),
        ] {
            let other = to_text(value, &options).map_err(|error| error.to_string())?;
            if other != text {
                return Err(format!("{what}\n{text}\n{other}"));
            }
        }
    }
    Ok(())
}

fn ir_deep_copies_are_equal(bytes: &[u8]) -> Result<(), String> {
    let (module, _) = Case::of(bytes).draw()?;
    let copy = deep_copy(&module).map_err(|error| format!("not copied: {error}"))?;
    same(&module, &copy)
}

fn ir_incomparable_round_trips(bytes: &[u8]) -> Result<(), String> {
    let mut generator = Case::of(bytes);
    // All random, so that every class has something in it.
    generator
        .main
        .extend(random_bytes(u64::from(Source::new(bytes).byte()), 200));
    let nodes = generator.generator()?.incomparable().map_err(setup)?;
    let wide = TextOptions::default().tensors(TensorText::Inline);
    let again = through_text(&nodes, &wide)?.1;
    same_graph(&nodes, &again).map_err(|difference| account(&difference, &nodes, &again))?;
    for node in children(&nodes) {
        // Functions have text, by their global names, and no other file.
        if has_function(&node) {
            continue;
        }
        for again in [through_json(&node)?.1, through_binary(&node)?.1] {
            same_graph(&node, &again).map_err(|difference| account(&difference, &node, &again))?;
        }
    }
    Ok(())
}

/// Whether a function is in a value, which has no cycles.
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

fn ir_hints_are_invisible(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    let (module, _) = case.draw()?;
    case.hints
        .iter_mut()
        .for_each(|byte| *byte = byte.wrapping_add(1));
    alike(&module, &case.draw()?.0)
}

fn ir_ignored_fields_are_invisible(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    let (module, _) = case.draw()?;
    case.ignored = random_bytes(1 << 40, case.ignored.len());
    alike(&module, &case.draw()?.0)
}

fn ir_edits_are_found(bytes: &[u8]) -> Result<(), String> {
    let case = Case::of(bytes);
    let (module, made) = case.draw()?;
    let edits = edits(&module, &made).map_err(setup)?;
    if edits.is_empty() {
        return Ok(());
    }
    let mut source = Source::new(bytes);
    let choice = source.below(256) << 8 | source.below(256);
    let edit = &edits[choice % edits.len()];
    let (edited, made_again) = drawn(case.generator()?.with_edit(edit), case.size())?;
    let (left, right) = (&made[edit.number], &made_again[edit.number]);
    let fail = |what: String| {
        let what = format!("{what}, after {}", described(edit, left));
        Err(account(&what, &module, &edited))
    };
    let answer = structural_equal_with(&module, &edited, OPTIONS);
    if !matches!(answer, Ok(false)) {
        return fail(format!("comparison says {answer:?}"));
    }
    let hash = |value| structural_hash_with(value, OPTIONS).map_err(|error| error.to_string());
    let digest = |value| structural_digest_with(value, OPTIONS).map_err(|error| error.to_string());
    if hash(&module)? == hash(&edited)? {
        return fail("the hash stays the same".to_owned());
    }
    if digest(&module)? == digest(&edited)? {
        return fail("the digest stays the same".to_owned());
    }
    match get_first_structural_mismatch_with(&module, &edited, OPTIONS) {
        Ok(Some((path, other))) => {
            match leads_to(&module, &path, left) || leads_to(&edited, &other, right) {
                true => Ok(()),
                false => fail(format!("the mismatch is at {path} and {other}")),
            }
        }
        other => fail(format!("the mismatch is {other:?}")),
    }
}

fn described(edit: &Edit, object: &Ref<Obj>) -> String {
    let info = object.type_info();
    let field = info.fields()[edit.field].name();
    format!("setting {}.{field} to {:?}", info.key(), edit.value)
}

/// Whether a path goes through an object, or ends in front of it: at a key of
/// which the object is a part, or inside a node whose comparison is code and
/// names parts in its own way.
fn leads_to(root: &Value, path: &AccessPath, object: &Ref<Obj>) -> bool {
    let is_object = |value: &Value| {
        let there = value.as_object().map(Ref::identity);
        there == Some(object.identity())
    };
    let mut at = root.clone();
    for step in path.steps() {
        if is_object(&at) {
            return true;
        }
        if let AccessStep::MapItem(key) | AccessStep::MapItemMissing(key) = step
            && is_below(key, object)
        {
            return true;
        }
        match AccessPath::from_steps(vec![step.clone()]).get(&at) {
            Ok(next) => at = next,
            Err(_) => {
                let is_code = match at.view() {
                    ValueRef::Object(node) => !node.type_info().hooks.are_structural_defaults(),
                    // The parts of such a node, listed in its own order.
                    ValueRef::Map(_) | ValueRef::Dict(_) => true,
                    _ => false,
                };
                return is_code && is_below(&at, object);
            }
        }
    }
    is_object(&at)
        || matches!(at.view(), ValueRef::Map(_) | ValueRef::Dict(_)) && is_below(&at, object)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Cases in which much is drawn.
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
                    1 => case.hints = random_bytes(1 << 41, case.hints.len()),
                    _ => case.ignored = random_bytes(1 << 42, case.ignored.len()),
                }
                shown(&case.draw().expect("a module").0)
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
            let (module, made) = Case::of(&bytes).draw().expect("a module");
            let edits = edits(&module, &made).expect("edits");
            assert!(edits.len() > 3, "{}", shown(&module));
            edited.extend(edits.iter().map(|edit| {
                let info = made[edit.number].type_info();
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
        let (module, made) = Case::of(&random_bytes(1, 600)).draw().expect("a module");
        let last = made.last().expect("the module itself");
        assert!(leads_to(&module, &AccessPath::root(), last));
        let var = made.first().expect("the first name");
        assert!(!leads_to(&module, &AccessPath::root(), var));
        let attrs = AccessPath::root().attr("attrs");
        assert!(!leads_to(&module, &attrs, var));
    }
}
