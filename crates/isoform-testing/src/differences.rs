//! The laws of differences: a difference is empty if and only if comparison says equal,
//! applying it leads to the right value and inverting it back, and neither names nor
//! sharing change it.

use std::collections::{BTreeMap, HashSet};

use isoform::compare::{ChangeKind, CompareOptions, DiffOptions, Difference};
use isoform::errors::ErrorKind;
use isoform::paths::AccessStep;
use isoform::types::Kind;
use isoform::values::ValueRef;
use isoform::{Array, Result, Value};

use super::classes::program;
use super::generate::children;
use super::oracle;
use super::pair::{Pair, account, draw, draw_options, setup};
use super::properties::Property;
use super::source::{Source, split_mix};
use super::transform::{mutate_once, rename, unshare};

/// The properties of differences.
pub const DIFF_PROPERTIES: &[(&str, Property)] = &[
    ("values_differ_by_the_laws", |bytes| {
        judge(&draw(bytes, true)?, &mut Source::new(bytes))
    }),
    ("programs_differ_by_the_laws", |bytes| {
        let mut source = Source::new(bytes);
        judge(&edited_program(&mut source)?, &mut source)
    }),
];

/// A program of any dialect, and a copy that was renamed or not, after some edits.
fn edited_program(source: &mut Source<'_>) -> Result<Pair, String> {
    let options = draw_options(source);
    let mut seed = source.byte().into();
    let size = 10 + source.below(150);
    let left = program(split_mix(&mut seed), size)?;
    let mut right = match source.below(4) {
        0 => left.clone(),
        1 => unshare(&left, options).unwrap_or_else(|_| left.clone()),
        2 if source.chance(10) => program(split_mix(&mut seed), size)?,
        _ => rename(&left, options, source).unwrap_or_else(|_| left.clone()),
    };
    for _ in 0..source.below(6) {
        right = mutate_once(&right, source).map_err(setup)?;
    }
    let (left, right) = match source.chance(50) {
        true => (left, right),
        false => (right, left),
    };
    Ok(Pair {
        left,
        right,
        options,
    })
}

/// The difference of a pair.
fn of(left: &Value, right: &Value, options: CompareOptions) -> Result<Difference> {
    let options = DiffOptions {
        compare: options,
        ..DiffOptions::default()
    };
    options.diff(left, right)
}

/// Checks all laws for a pair.
///
/// # Errors
///
/// An account of the law that does not hold.
pub(crate) fn judge(pair: &Pair, source: &mut Source<'_>) -> Result<(), String> {
    let Pair {
        left,
        right,
        options,
    } = pair;
    let fail = |what: &str| Err(account(pair, what));
    let equal = options.equal(left, right);
    let found = of(left, right, *options);
    let (equal, found) = match (equal, found) {
        (Ok(equal), Ok(found)) => (equal, found),
        (Err(expected), Err(error)) if expected.kind() == error.kind() => return Ok(()),
        // Comparison has found a difference before it came to the cycle.
        (Ok(false), Err(error)) if error.kind() == ErrorKind::Value => return Ok(()),
        (expected, found) => {
            return fail(&format!(
                "comparison says {expected:?}, the difference {found:?}"
            ));
        }
    };
    if found.is_empty() != equal {
        return fail(&format!(
            "comparison says {equal}, the difference is {found}"
        ));
    }
    let again = of(left, right, *options).map_err(setup)?;
    if format!("{again}") != format!("{found}") {
        return fail(&format!("the difference is once {found} and once {again}"));
    }
    let is = |built: Result<Value>, wanted: &Value| match built {
        Ok(built) => match options.equal(&built, wanted) {
            // What cannot be compared with itself cannot be judged.
            Err(error) if error.kind() == ErrorKind::Type => Ok(true),
            equal => equal.map_err(|error| error.to_string()),
        },
        Err(error) => Err(error.to_string()),
    };
    match is(found.apply(left), right) {
        Ok(true) => {}
        other => return fail(&format!("applying {found} to the left value: {other:?}")),
    }
    if let Ok(built) = found.apply(left)
        && matches!(oracle::equal(&built, right, *options), Ok(false))
    {
        return fail(&format!(
            "the oracle denies that {found} leads to the right value"
        ));
    }
    let back = found.invert().map_err(setup)?;
    match is(back.apply(right), left) {
        Ok(true) => {}
        other => return fail(&format!("applying the inverse of {found}: {other:?}")),
    }
    for change in found.changes() {
        if let Err(what) = check_places(pair, change) {
            return fail(&what);
        }
    }
    if equal {
        return Ok(());
    }
    if !binds_once(left, *options) || !binds_once(right, *options) {
        return Ok(());
    }
    if let Ok(renamed) = rename(left, *options, source) {
        let other = of(&renamed, right, *options).map_err(setup)?;
        if other.changes().len() != found.changes().len() {
            return fail(&format!(
                "after a renaming of the left side {found} is {other}"
            ));
        }
    }
    let (l, r) = (unshare(left, *options), unshare(right, *options));
    if let (Ok(l), Ok(r)) = (l, r) {
        let other = of(&l, &r, *options).map_err(setup)?;
        if groups(&other) != groups(&found) {
            return fail(&format!("without sharing {found} is {other}"));
        }
    }
    Ok(())
}

/// True if each variable is bound in one place and used in its scope alone: then a renaming
/// makes one variable of each.
fn binds_once(value: &Value, options: CompareOptions) -> bool {
    let renamed = rename(value, options, &mut Source::new(&[]));
    renamed.is_ok_and(|renamed| variables(&renamed) == variables(value))
}

/// The number of variables in a value.
fn variables(value: &Value) -> usize {
    let mut seen = HashSet::new();
    let mut found = 0;
    let mut stack = vec![value.clone()];
    while let Some(value) = stack.pop() {
        let Some(object) = value
            .as_object()
            .filter(|object| seen.insert(object.identity()))
        else {
            continue;
        };
        let info = object.type_info();
        found += usize::from(info.kind() == Kind::Var && !info.is_builtin());
        stack.extend(children(&value));
        if let ValueRef::Map(map) = value.view() {
            stack.extend(map.keys().cloned());
        }
        if let ValueRef::Dict(dict) = value.view() {
            stack.extend(dict.snapshot().keys().cloned());
        }
    }
    found
}

/// How often each change occurs. Values count by their hash, since the text of a map depends
/// on the order in which it was made.
fn groups(difference: &Difference) -> BTreeMap<(ChangeKind, u64, u64), u64> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let hash = |value: Option<&Value>| {
        let value = value.cloned().unwrap_or(Value::NONE);
        options.hash(&value).unwrap_or(0)
    };
    let mut groups = BTreeMap::new();
    for change in difference.changes() {
        let group = (change.kind(), hash(change.left()), hash(change.right()));
        let count: &mut u64 = groups.entry(group).or_default();
        *count = count.saturating_add(change.count());
    }
    groups
}

/// Paths lead to the values of a change.
fn check_places(pair: &Pair, change: &isoform::compare::Change) -> Result<(), String> {
    let sides = [
        (change.left_path(), change.left(), &pair.left),
        (change.right_path(), change.right(), &pair.right),
    ];
    for (path, value, root) in sides {
        let Some(value) = value else { continue };
        // Not every key that is an object can be looked up.
        let is_object = |step: &AccessStep| matches!(step, AccessStep::MapItem(key) if key.as_object().is_some() && key.as_str().is_none());
        if change.kind() == ChangeKind::KeyRenamed || path.steps().iter().any(is_object) {
            continue;
        }
        let found = path.get(root);
        let is_there = found.is_ok_and(|found| {
            let pair = |value: &Value| Array::from(vec![value.clone()]);
            format!("{:?}", pair(&found)) == format!("{:?}", pair(value))
        });
        if !is_there {
            return Err(format!(
                "{change:?}: there is nothing like {value:?} at {path}"
            ));
        }
    }
    Ok(())
}

/// One program and one edit: the number of changes that the difference has, and of nodes
/// inside of them, beside that of the nodes that the edit concerned. None if the edit
/// changed nothing.
///
/// # Errors
///
/// Those of drawing and comparing.
pub fn measure_one_edit(bytes: &[u8]) -> Result<Option<(usize, u64, String)>, String> {
    let mut source = Source::new(bytes);
    let mut seed = source.byte().into();
    let size = 10 + source.below(150);
    let left = program(split_mix(&mut seed), size)?;
    let right = mutate_once(&left, &mut source).map_err(setup)?;
    let copy = rename(&left, CompareOptions::default(), &mut source);
    let found = of(&copy.unwrap_or(left), &right, CompareOptions::default()).map_err(setup)?;
    if found.is_empty() {
        return Ok(None);
    }
    let inside = |change: &isoform::compare::Change| change.left_size().max(change.right_size());
    let nodes = found.changes().iter().map(inside).sum();
    Ok(Some((found.changes().len(), nodes, found.to_string())))
}
