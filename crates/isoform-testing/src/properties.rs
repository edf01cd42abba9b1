//! Properties of all values, written as functions of bytes.
//!
//! A property draws values and options from a byte string and returns `Err` with a
//! readable account of a violation. The tests run every property through proptest for a
//! second, and the `isoform-fuzz` command for as long as you like.

use super::family::{Family, Role};
use super::generate::{Generator, children};
use super::keys;
use super::laws::{check_laws, check_types};
use super::oracle;
pub use super::pair::Pair;
use super::pair::{account, draw, draw_options, family_of, related, setup};
use super::serial;
use super::source::{RandomCases, Source};
use super::tangle::tangle;
use super::transform::{rename, reorder, unshare};
use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::paths::{AccessPath, AccessStep};
use isoform::types::{Kind, TypeInfo};
use isoform::values::ValueRef;
use isoform::{Error, Result, Value};

/// A property: `Err` describes the violation.
pub type Property = fn(&[u8]) -> Result<(), String>;

/// Checks a property by its name on random bytes. A failure names the seed and the bytes.
///
/// # Panics
///
/// If no property has the name, or if the property does not hold.
pub fn check_named(properties: &[(&str, Property)], name: &str) {
    let (_, property) = properties
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a property of this name");
    let cases = RandomCases {
        seed: 0x1507_0f0a_2b5e_ed01,
        count: 1200,
        lengths: 4..400,
    };
    cases.check(name, property);
}

/// All properties with their names.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("equality_is_the_oracles", equality_is_the_oracles),
    ("alternatives_are_the_oracles", alternatives_are_the_oracles),
    ("canonical_text_decides", canonical_text_decides),
    ("mismatch_is_the_oracles", mismatch_is_the_oracles),
    ("explanation_agrees", explanation_agrees),
    ("equal_values_share_names", equal_values_share_names),
    (
        "other_values_have_other_names",
        other_values_have_other_names,
    ),
    (
        "keys_are_equal_as_their_values_were",
        keys::keys_are_equal_as_their_values_were,
    ),
    ("laws_hold_on_triples", laws_hold_on_triples),
    ("renaming_is_invisible", renaming_is_invisible),
    ("insertion_order_is_invisible", insertion_order_is_invisible),
    ("tree_sharing_is_invisible", tree_sharing_is_invisible),
    ("both_families_agree", both_families_agree),
    ("json_graphs_round_trip", serial::json_graphs_round_trip),
    ("binary_forms_round_trip", serial::binary_forms_round_trip),
    (
        "any_text_is_a_json_graph_or_an_error",
        serial::any_text_is_a_json_graph_or_an_error,
    ),
    (
        "edited_json_graphs_are_graphs_or_errors",
        serial::edited_json_graphs_are_graphs_or_errors,
    ),
    (
        "any_bytes_are_a_binary_form_or_an_error",
        serial::any_bytes_are_a_binary_form_or_an_error,
    ),
    (
        "edited_binary_forms_are_forms_or_errors",
        serial::edited_binary_forms_are_forms_or_errors,
    ),
    ("texts_round_trip", serial::texts_round_trip),
    (
        "any_words_are_a_text_or_an_error",
        serial::any_words_are_a_text_or_an_error,
    ),
    (
        "edited_texts_are_texts_or_errors",
        serial::edited_texts_are_texts_or_errors,
    ),
];

/// An outcome, reduced to the parts on which engine and oracle must agree.
pub(super) fn outcome<T>(result: Result<T>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

fn engine_equal(pair: &Pair) -> Result<bool> {
    pair.options.equal(&pair.left, &pair.right)
}

fn oracle_equal(pair: &Pair) -> Result<bool> {
    oracle::equal(&pair.left, &pair.right, pair.options)
}

fn equality_is_the_oracles(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, true)?;
    let (engine, judge) = (outcome(engine_equal(&pair)), outcome(oracle_equal(&pair)));
    if engine == judge || judge == Err(ErrorKind::Recursion) {
        return Ok(());
    }
    let what = format!("the engine says {engine:?}, the oracle {judge:?}");
    Err(account(&pair, &what))
}

fn alternatives_are_the_oracles(bytes: &[u8]) -> Result<(), String> {
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let family = family_of(bytes)?;
    let (left, right) = tangle(&family, &mut source, true).map_err(setup)?;
    let pair = Pair {
        left,
        right,
        options,
    };
    let (engine, judge) = (outcome(engine_equal(&pair)), outcome(oracle_equal(&pair)));
    let found = options.first_mismatch(&pair.left, &pair.right);
    let recorded = outcome(found.map(|found| found.is_none()));
    if (engine == judge && recorded == judge) || judge == Err(ErrorKind::Recursion) {
        return Ok(());
    }
    let what = format!("the engine says {engine:?} and {recorded:?}, the oracle {judge:?}");
    Err(account(&pair, &what))
}

fn canonical_text_decides(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, false)?;
    let text = |value| oracle::canonical(value, pair.options);
    let (Ok(left), Ok(right), Ok(equal)) =
        (text(&pair.left), text(&pair.right), oracle_equal(&pair))
    else {
        return Ok(());
    };
    if equal == (left == right) {
        return Ok(());
    }
    let what = format!("the oracle says {equal}, the texts are\n  {left}\n  {right}");
    Err(account(&pair, &what))
}

/// True if a value contains a node with equality in code.
pub(super) fn has_hooks(value: &Value) -> bool {
    any_type(value, |info| info.has_structural_hooks())
}

/// True if a value contains a node whose custom hash asks alternatives.
fn has_alternatives(value: &Value) -> bool {
    any_type(value, |info| info.key().ends_with(".Comm"))
}

/// True if the type of a value, or of any part, satisfies a condition.
pub(super) fn any_type(value: &Value, has: impl Fn(&TypeInfo) -> bool) -> bool {
    let mut stack = vec![value.clone()];
    // Drawn values are small, but may be cyclic.
    for _ in 0..20_000 {
        let Some(value) = stack.pop() else {
            return false;
        };
        if let ValueRef::Object(object) = value.view()
            && has(object.type_info())
        {
            return true;
        }
        stack.extend(children(&value));
    }
    true
}

fn mismatch_is_the_oracles(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, true)?;
    let engine = pair.options.first_mismatch(&pair.left, &pair.right);
    let equal = outcome(engine_equal(&pair));
    let mismatch = outcome(engine.as_ref().map(Option::is_none).map_err(copy_of));
    if mismatch != equal {
        let what = format!("mismatch says {mismatch:?}, equality {equal:?}");
        return Err(account(&pair, &what));
    }
    let Ok(Some(paths)) = engine else {
        return Ok(());
    };
    if !oracle::mismatch_holds(&pair.left, &pair.right, &paths) {
        let what = format!("the mismatch {paths:?} leads nowhere");
        return Err(account(&pair, &what));
    }
    let judge = oracle::first_mismatch(&pair.left, &pair.right, pair.options);
    match judge {
        Ok(Some(expected)) if !has_hooks(&pair.left) && !same_place(&paths, &expected) => {
            let what = format!("the first mismatch is {expected:?}, the engine says {paths:?}");
            Err(account(&pair, &what))
        }
        _ => Ok(()),
    }
}

fn copy_of(error: &Error) -> Error {
    Error::new(error.kind(), error.message())
}

/// Equality of places.
///
/// Any key may represent a missing key; and if the other map binds the same object to a
/// different value, that entry may be named.
pub(super) fn same_place(
    paths: &(AccessPath, AccessPath),
    expected: &(AccessPath, AccessPath),
) -> bool {
    let same = |path: &AccessPath, expected: &AccessPath| {
        let key_is_free = matches!(expected.steps().last(), Some(AccessStep::MapItemMissing(_)))
            && matches!(
                path.steps().last(),
                Some(AccessStep::MapItemMissing(_) | AccessStep::MapItem(_))
            );
        if key_is_free {
            path.parent() == expected.parent()
        } else {
            path == expected
        }
    };
    same(&paths.0, &expected.0) && same(&paths.1, &expected.1)
}

fn explanation_agrees(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, true)?;
    let mismatch = pair.options.first_mismatch(&pair.left, &pair.right);
    let explained = pair.options.explain_mismatch(&pair.left, &pair.right);
    let fail = |what: String| Err(account(&pair, &what));
    let (paths, reason) = match (mismatch, explained) {
        (Err(left), Err(right)) if left.kind() == right.kind() => return Ok(()),
        (Ok(None), Ok(None)) => return Ok(()),
        (Ok(Some(paths)), Ok(Some(reason))) => (paths, reason),
        (mismatch, explained) => {
            let mismatch = mismatch.map(|paths| paths.is_some());
            let explained = explained.map(|reason| reason.is_some());
            return fail(format!("mismatch {mismatch:?}, explanation {explained:?}"));
        }
    };
    if paths != (reason.left_path.clone(), reason.right_path.clone()) {
        return fail(format!("mismatch at {paths:?}, explained as: {reason}"));
    }
    for (root, path, value) in [
        (&pair.left, &paths.0, &reason.left),
        (&pair.right, &paths.1, &reason.right),
    ] {
        let there = path.get(root).ok();
        // A list or number read through a path is a separate value.
        let same = match (&there, value) {
            (Some(there), Some(value)) => there == value,
            (None, None) => true,
            _ => false,
        };
        if !same {
            return fail(format!("{path} is {there:?}, explained as {value:?}"));
        }
    }
    if reason.to_string().is_empty() {
        return fail("the explanation is empty".to_string());
    }
    Ok(())
}

/// Hash and digest of a value, reduced to what equal values must agree on.
fn names(value: &Value, options: CompareOptions) -> [Result<String, ErrorKind>; 2] {
    let hash = options.hash(value).map(|hash| format!("{hash:016x}"));
    let digest = options.digest(value).map(|digest| digest.to_string());
    [outcome(hash), outcome(digest)]
}

fn expect_same(pair: &Pair) -> Result<(), String> {
    let (left, right) = (
        names(&pair.left, pair.options),
        names(&pair.right, pair.options),
    );
    if left == right {
        return Ok(());
    }
    let what = format!("equal values have the names\n  {left:?}\n  {right:?}");
    Err(account(pair, &what))
}

fn equal_values_share_names(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, true)?;
    match oracle_equal(&pair) {
        Ok(true) => expect_same(&pair),
        _ => Ok(()),
    }
}

fn other_values_have_other_names(bytes: &[u8]) -> Result<(), String> {
    let pair = draw(bytes, false)?;
    // Only the order of the questions distinguishes some operands of `Comm`.
    if !matches!(oracle_equal(&pair), Ok(false))
        || has_alternatives(&pair.left)
        || has_alternatives(&pair.right)
    {
        return Ok(());
    }
    let (left, right) = (
        names(&pair.left, pair.options),
        names(&pair.right, pair.options),
    );
    // A digest identifies a singleton by content: a different singleton with the same
    // content is unequal, but has the same digest.
    let by_content = any_type(&pair.left, |info| info.kind() == Kind::Singleton);
    let compared = if by_content { 1 } else { left.len() };
    for (left, right) in left.iter().zip(&right).take(compared) {
        if left.is_ok() && left == right {
            let what = format!("different values have the same name {left:?}");
            return Err(account(&pair, &what));
        }
    }
    Ok(())
}

fn laws_hold_on_triples(bytes: &[u8]) -> Result<(), String> {
    let family = family_of(bytes)?;
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let relations = [source.below(6), source.below(6)];
    let mut values = vec![
        Generator::new(&family, &mut source)
            .value()
            .map_err(setup)?,
    ];
    for (index, relation) in relations.into_iter().enumerate() {
        let from = values[source.below(index + 1)].clone();
        values.push(related(&from, relation, options, &mut source).map_err(setup)?);
    }
    // A change may put a variable below a const-tree node, whose type then promises
    // too much for the laws to hold.
    if check_types(&values).is_err() {
        return Ok(());
    }
    match check_laws(&values, options) {
        Err(violation) if violation.law() != "error" => {
            Err(format!("{violation}\n  with {options:?}"))
        }
        _ => Ok(()),
    }
}

/// Checks that a value and its rebuilt form are equal and have the same names.
fn invisible(
    bytes: &[u8],
    change: impl Fn(&Value, CompareOptions, &mut Source<'_>) -> Result<Value>,
) -> Result<(), String> {
    let family = family_of(bytes)?;
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let left = Generator::new(&family, &mut source)
        .value()
        .map_err(setup)?;
    // For values that cannot be rebuilt, the change reports an error.
    let Ok(right) = change(&left, options, &mut source) else {
        return Ok(());
    };
    let pair = Pair {
        left,
        right,
        options,
    };
    match engine_equal(&pair) {
        Ok(true) => expect_same(&pair),
        Ok(false) => Err(account(&pair, "the value differs from its rebuilt form")),
        Err(error) => Err(account(&pair, &format!("the comparison fails: {error}"))),
    }
}

fn renaming_is_invisible(bytes: &[u8]) -> Result<(), String> {
    invisible(bytes, rename)
}

fn insertion_order_is_invisible(bytes: &[u8]) -> Result<(), String> {
    invisible(bytes, reorder)
}

fn tree_sharing_is_invisible(bytes: &[u8]) -> Result<(), String> {
    invisible(bytes, |value, options, _| unshare(value, options))
}

fn both_families_agree(bytes: &[u8]) -> Result<(), String> {
    let [native, dynamic] = Family::both().map_err(setup)?;
    let native = Pair::draw(&native, bytes, true).map_err(setup)?;
    let dynamic = Pair::draw(&dynamic, bytes, true).map_err(setup)?;
    let (rust, run_time) = (
        outcome(engine_equal(&native)),
        outcome(engine_equal(&dynamic)),
    );
    if rust == run_time {
        return Ok(());
    }
    let what = format!("types in Rust say {rust:?}, types made at run time {run_time:?}");
    Err(account(&native, &what))
}

/// A small value of a family with a bit of everything, for examples.
///
/// # Errors
///
/// None for a consistent family; construction is fallible in general.
pub fn example(family: &Family) -> Result<Value> {
    let var: Value = family
        .make(Role::Var, vec![Value::NONE, "x".into(), "i32".into()])?
        .into();
    let body = family.make(Role::Add, vec![Value::NONE, var.clone(), 1.into()])?;
    let lambda = vec![Value::NONE, body.into(), vec![var].into()];
    Ok(family.make(Role::Lambda, lambda)?.into())
}
