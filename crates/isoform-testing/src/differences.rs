//! The laws of differences: a difference is empty if and only if comparison says equal,
//! applying it leads to the right value and inverting it back, and neither the names of bound
//! variables nor sharing change it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use isoform::compare::{Change, ChangeKind, CompareOptions, DiffOptions, Difference, Patch};
use isoform::errors::ErrorKind;
use isoform::files::{from_json_graph, to_json_graph};
use isoform::types::{FieldFlag, Kind};
use isoform::values::ValueRef;
use isoform::{Obj, Ref, Result, Value};

use super::changes::{
    check_changes, compared, objects, reachable, replace_everywhere, restructured,
};
use super::classes::program;
use super::generate::children;
use super::oracle;
use super::pair::{Pair, account, draw, draw_options, setup};
use super::properties::Property;
use super::serial::writing_alone;
use super::source::{Source, split_mix};
use super::transform::{mutate_once, rename, unshare};

/// The properties of differences.
pub const DIFF_PROPERTIES: &[(&str, Property)] = &[
    ("values_differ_by_the_laws", |bytes| {
        judge(&draw(bytes, true)?)
    }),
    ("programs_differ_by_the_laws", |bytes| {
        let mut source = Source::new(bytes);
        judge(&edited_program(&mut source)?)
    }),
    ("names_and_sharing_are_invisible", |bytes| {
        judge_copies(bytes).map(|_| ())
    }),
];

/// A program of any dialect, and an edited copy, renamed or not.
fn edited_program(source: &mut Source<'_>) -> Result<Pair, String> {
    let options = draw_options(source);
    let mut seed = source.byte().into();
    let size = 10 + source.below(150);
    let left = program(split_mix(&mut seed), size)?;
    let right = match source.below(4) {
        0 => left.clone(),
        1 => unshare(&left, options).unwrap_or_else(|_| left.clone()),
        2 if source.chance(10) => program(split_mix(&mut seed), size)?,
        _ => rename(&left, options, source).unwrap_or_else(|_| left.clone()),
    };
    let right = edited(&right, source)?;
    let (left, right) = if source.chance(50) {
        (left, right)
    } else {
        (right, left)
    };
    Ok(Pair {
        left,
        right,
        options,
    })
}

/// The value after a few edits.
///
/// # Errors
///
/// Those of construction.
pub(crate) fn edited(value: &Value, source: &mut Source<'_>) -> Result<Value, String> {
    let mut value = value.clone();
    for _ in 0..source.below(6) {
        value = if source.chance(40) {
            restructured(&value, source)
        } else {
            mutate_once(&value, source).map_err(setup)?
        };
    }
    Ok(value)
}

/// Checks all laws for two values, compared by default.
///
/// # Errors
///
/// As [`judge`].
#[cfg(feature = "onnx")]
pub(crate) fn judge_difference(left: &Value, right: &Value) -> Result<(), String> {
    let pair = Pair {
        left: left.clone(),
        right: right.clone(),
        options: CompareOptions::default(),
    };
    judge(&pair)
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
/// An account of the violated law.
pub(crate) fn judge(pair: &Pair) -> Result<(), String> {
    let Pair {
        left,
        right,
        options,
    } = pair;
    let fail = |what: &str| Err(account(pair, what));
    let equal = options.equal(left, right);
    let difference = of(left, right, *options);
    let (equal, difference) = match (equal, difference) {
        (Ok(equal), Ok(difference)) => (equal, difference),
        (Err(expected), Err(error)) if expected.kind() == error.kind() => return Ok(()),
        // Comparison found a difference before reaching the cycle.
        (Ok(false), Err(error)) if error.kind() == ErrorKind::Value => return Ok(()),
        (expected, difference) => {
            return fail(&format!(
                "comparison says {expected:?}, the difference {difference:?}"
            ));
        }
    };
    if difference.is_empty() != equal {
        return fail(&format!(
            "comparison says {equal}, the difference is {difference}"
        ));
    }
    let again = of(left, right, *options).map_err(setup)?;
    if format!("{again}") != format!("{difference}") {
        return fail(&format!(
            "the difference is once {difference} and once {again}"
        ));
    }
    let is = |built: Result<Value>, wanted: &Value| is(built, wanted, *options);
    match is(difference.apply(left), right) {
        Ok(true) => {}
        other => {
            return fail(&format!(
                "applying {difference} to the left value: {other:?}"
            ));
        }
    }
    if let Ok(built) = difference.apply(left)
        && matches!(oracle::equal(&built, right, *options), Ok(false))
    {
        return fail(&format!(
            "the oracle denies that {difference} leads to the right value"
        ));
    }
    if survives_a_file(left, right)
        && let Err(what) = check_written(pair, &difference)
    {
        return fail(&what);
    }
    if let Err(what) = check_other_values(pair, &difference) {
        return fail(&what);
    }
    let back = difference.invert().map_err(setup)?;
    match is(back.apply(right), left) {
        Ok(true) => {}
        other => return fail(&format!("applying the inverse of {difference}: {other:?}")),
    }
    if let Err(what) = check_changes(pair, &difference) {
        return fail(&what);
    }
    Ok(())
}

/// True if an object equal to a value was built.
fn is(built: Result<Value>, wanted: &Value, options: CompareOptions) -> Result<bool, String> {
    match options.equal(built.map_err(|error| error.to_string())?, wanted) {
        // A value incomparable with itself cannot be judged.
        Err(error) if error.kind() == ErrorKind::Type => Ok(true),
        equal => equal.map_err(|error| error.to_string()),
    }
}

/// Checks that the patch survives writing and reading, unless a file cannot hold the
/// patch.
fn check_written(pair: &Pair, difference: &Difference) -> Result<(), String> {
    let Pair {
        left,
        right,
        options,
    } = pair;
    let _alone = writing_alone();
    let text = match difference.patch_to_json() {
        Ok(text) => text,
        Err(error) => {
            let has_new_variables = || !variables(right).is_subset(&seen_variables(left));
            let message = error.to_string();
            let is_expected = (message.contains("is free on the right") && has_new_variables())
                || message.contains("a file form of its own")
                || default_digest(left).is_err()
                || default_digest(right).is_err();
            return if is_expected {
                Ok(())
            } else {
                Err(format!(
                    "the patch of {difference} cannot be written: {message}"
                ))
            };
        }
    };
    let patch = Patch::from_json(&text).map_err(|error| format!("{error}, in {text}"))?;
    // Values get numbers by identity, and reading makes one of equal singletons.
    if !text.contains("\"$v\"") && patch.to_json().ok().as_ref() != Some(&text) {
        return Err(format!("{text} is written again as {:?}", patch.to_json()));
    }
    match is(patch.apply(left), right, *options) {
        Ok(true) => {}
        other => return Err(format!("applying the written patch {text}: {other:?}")),
    }
    let digest = |value| default_digest(value).ok();
    // A second object of a singleton is another value with the same digest.
    if digest(left) != digest(right) && patch.apply(right).is_ok() {
        return Err(format!(
            "the written patch {text} applies to the right value"
        ));
    }
    Ok(())
}

/// The digest used by a written patch.
fn default_digest(value: &Value) -> Result<String> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    options.digest(value).map(|digest| digest.to_string())
}

/// True if both values differ in more than the names of free variables.
fn are_unlike(pair: &Pair) -> bool {
    let options = CompareOptions {
        map_free_vars: true,
        ..pair.options
    };
    matches!(options.equal(&pair.left, &pair.right), Ok(false))
}

/// Checks that a difference applies to every value equal to the left value, and to no
/// different value.
fn check_other_values(pair: &Pair, difference: &Difference) -> Result<(), String> {
    let Pair {
        left,
        right,
        options,
    } = pair;
    let copies = [
        rename(left, *options, &mut Source::new(&[1; 32])),
        unshare(left, *options),
    ];
    for copy in copies.into_iter().flatten() {
        if !options.equal(&copy, left).unwrap_or(false) {
            continue;
        }
        match is(difference.apply(&copy), right, *options) {
            Ok(true) => {}
            other => {
                return Err(format!(
                    "applying {difference} to the copy {copy:?}: {other:?}"
                ));
            }
        }
    }
    if are_unlike(pair) && difference.apply(right).is_ok() {
        return Err(format!("{difference} applies to the right value"));
    }
    Ok(())
}

/// True unless a value has parts lost in a file, such as a second object of a singleton:
/// reading finds one object with the same contents.
fn survives_a_file(left: &Value, right: &Value) -> bool {
    let mut known: HashMap<String, u64> = HashMap::new();
    let all = [left, right].into_iter().flat_map(objects);
    let mut singletons = all.filter(|object| {
        let info = object.type_info();
        info.kind() == Kind::Singleton && !info.is_builtin()
    });
    let are_unique = singletons.all(|object| {
        let identity = object.identity();
        *known.entry(format!("{object:?}")).or_insert(identity) == identity
    });
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let _alone = writing_alone();
    let read = || to_json_graph(right).and_then(|text| from_json_graph(&text));
    are_unique && read().is_ok_and(|read| options.equal(&read, right).unwrap_or(false))
}

/// Checks that the difference of an edited program stays the same after renaming one side or
/// copying shared parts. False for a program where the difference may change: variables
/// bound in several places, or used unbound.
///
/// # Errors
///
/// An account of what changed.
pub fn judge_copies(bytes: &[u8]) -> Result<bool, String> {
    let mut source = Source::new(bytes);
    let pair = edited_program(&mut source)?;
    let (left, right, options) = (&pair.left, &pair.right, pair.options);
    // Free variables keep their names.
    let bound = CompareOptions {
        map_free_vars: false,
        ..options
    };
    let Ok(difference) = of(left, right, options) else {
        return Ok(false);
    };
    if difference.is_empty() || !are_plain(left, right, bound) {
        return Ok(false);
    }
    let renamed = rename(left, bound, &mut source).map(|left| (left, right.clone()));
    let unshared = |value| unshare(value, options);
    let copies = unshared(left).and_then(|left| Ok((left, unshared(right)?)));
    for (copies, what) in [(renamed, "after a renaming"), (copies, "of copies")] {
        let Ok((left, right)) = copies else { continue };
        let other = of(&left, &right, options).map_err(setup)?;
        if groups(&other) != groups(&difference) {
            let what = format!("the difference is {difference}, and {what} {other}");
            return Err(account(&pair, &what));
        }
    }
    Ok(true)
}

/// The bound variables of a value, and the free variables; None if a variable is both or is
/// bound in several places, and a renaming would split the variable.
fn variables_by_role(value: &Value, options: CompareOptions) -> Option<[HashSet<u64>; 2]> {
    let renamed = rename(value, options, &mut Source::new(&[])).ok()?;
    let (before, after) = (variables(value), variables(&renamed));
    let free: HashSet<u64> = before.intersection(&after).copied().collect();
    let bound = before.difference(&free).copied().collect();
    (before.len() == after.len()).then_some([bound, free])
}

/// True if no variable is bound in several places or free in another place: then names
/// mean the same at every occurrence.
fn are_plain(left: &Value, right: &Value, options: CompareOptions) -> bool {
    let roles = |value| variables_by_role(value, options);
    if defines_twice(left) || defines_twice(right) {
        return false;
    }
    let (Some(left), Some(right)) = (roles(left), roles(right)) else {
        return false;
    };
    left[0].is_disjoint(&right[1]) && left[1].is_disjoint(&right[0])
}

/// True if one object with a definition that outlives the object is in two places: a use
/// before the definition in the object has two meanings, and a walk enters the object once.
fn defines_twice(value: &Value) -> bool {
    let defines = |object: &Ref<Obj>| {
        let info = object.type_info();
        let is_def = |flag| matches!(flag, FieldFlag::Def | FieldFlag::DefSimple);
        !info.is_scope() && info.fields().iter().any(|field| is_def(field.field_flag()))
    };
    let all = objects(value);
    let mut uses: HashMap<u64, u32> = HashMap::new();
    let mut users: HashMap<u64, Vec<u64>> = HashMap::new();
    for object in &all {
        for part in children(&Value::from(object)) {
            if let Some(part) = part.as_object() {
                *uses.entry(part.identity()).or_default() += 1;
                let around = users.entry(part.identity()).or_default();
                around.push(object.identity());
            }
        }
    }
    let scopes: HashSet<u64> = (all.iter())
        .filter(|object| object.type_info().is_scope())
        .map(|object| object.identity())
        .collect();
    let mut seen = HashSet::new();
    let mut stack: Vec<u64> = (all.iter().filter(|object| defines(object)))
        .map(|object| object.identity())
        .collect();
    while let Some(object) = stack.pop() {
        if scopes.contains(&object) || !seen.insert(object) {
            continue;
        }
        if uses.get(&object).is_some_and(|&uses| uses > 1) {
            return true;
        }
        stack.extend(users.get(&object).into_iter().flatten());
    }
    false
}

/// The variables in a value.
fn variables(value: &Value) -> HashSet<u64> {
    let all = objects(value);
    let vars = all.iter().filter(|object| is_var(object));
    vars.map(Ref::identity).collect()
}

/// The variables in a value, without variables mentioned by ignored fields alone.
fn seen_variables(value: &Value) -> HashSet<u64> {
    let all = reachable(value, |value| match value.as_object() {
        Some(object) if is_var(object) => {
            let fields = object.type_info().fields().iter().zip(children(value));
            let kept = fields.filter(|(field, _)| field.field_flag() != FieldFlag::Ignore);
            kept.map(|(_, part)| part).collect()
        }
        _ => compared(value),
    });
    let vars = all.iter().filter(|object| is_var(object));
    vars.map(Ref::identity).collect()
}

fn is_var(object: &Ref<Obj>) -> bool {
    let info = object.type_info();
    info.kind() == Kind::Var && !info.is_builtin()
}

/// The number of occurrences of each change. Values count by their contents except
/// variables, since neither the names of variables nor the order of insertion into a map
/// have a meaning.
fn groups(difference: &Difference) -> BTreeMap<(ChangeKind, u64, u64), u64> {
    let mut known = HashMap::new();
    let mut class = |value: Option<&Value>| value.map_or(0, |value| skeleton(value, &mut known));
    let mut groups = BTreeMap::new();
    for change in difference.changes() {
        let group = (change.kind(), class(change.left()), class(change.right()));
        let count: &mut u64 = groups.entry(group).or_default();
        *count = count.saturating_add(change.count());
    }
    groups
}

/// A hash of everything in a value but for variables and the order of entries.
fn skeleton(value: &Value, hashes: &mut HashMap<u64, u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(object) = value.as_object() else {
        format!("{value:?}").hash(&mut hasher);
        return hasher.finish();
    };
    if let Some(&hash) = hashes.get(&object.identity()) {
        return hash;
    }
    let parts: Vec<u64> = compared(value)
        .iter()
        .map(|part| skeleton(part, hashes))
        .collect();
    object.type_info().key().hash(&mut hasher);
    match value.view() {
        ValueRef::Map(_) | ValueRef::Dict(_) => {
            // Keys come first.
            let (keys, values) = parts.split_at(parts.len() / 2);
            let entry = |(key, value): (&u64, &u64)| key.rotate_left(1) ^ value;
            let entries = keys.iter().zip(values).map(entry);
            entries.fold(0, u64::wrapping_add).hash(&mut hasher);
        }
        _ if parts.is_empty() && object.type_info().is_builtin() => {
            format!("{value:?}").hash(&mut hasher);
        }
        _ => parts.hash(&mut hasher),
    }
    let hash = hasher.finish();
    hashes.insert(object.identity(), hash);
    hash
}

/// The fallbacks in the difference of two unequal programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// True if the patch is the whole right value.
    pub is_whole: bool,
    /// True if the only change replaces the root.
    pub is_root: bool,
}

/// Draws a program and an edited copy, and returns the fallbacks in their difference;
/// None if they are equal or cannot be compared.
///
/// # Errors
///
/// Those of drawing.
pub fn fallback(bytes: &[u8]) -> Result<Option<Fallback>, String> {
    let pair = edited_program(&mut Source::new(bytes))?;
    if !are_plain(&pair.left, &pair.right, pair.options) {
        return Ok(None);
    }
    let Ok(found) = of(&pair.left, &pair.right, pair.options) else {
        return Ok(None);
    };
    let root = |change: &Change| {
        change.kind() == ChangeKind::Replaced && change.right_path().steps().is_empty()
    };
    let types = [&pair.left, &pair.right]
        .map(|value| value.as_object().map(|object| object.type_info().index()));
    Ok((!found.is_empty()).then(|| Fallback {
        is_whole: found.costs().is_whole,
        is_root: types[0] == types[1] && found.changes().iter().any(root),
    }))
}

/// The difference that one edit makes.
#[derive(Clone, Debug)]
pub struct OneEdit {
    /// The number of changes.
    pub changes: usize,
    /// The number of nodes inside of them.
    pub inside: u64,
    /// The number of nodes replaced or removed by the edit.
    pub edited: u64,
    /// The number of objects made by the patch.
    pub made: usize,
    /// The number of objects made by the edit, including the objects around it.
    pub new: usize,
    /// The written patch; None if the patch cannot be written.
    pub patch: Option<String>,
    /// The difference as text.
    pub text: String,
}

/// Draws a program, edits one part at all of its places, and renames the original. None
/// for an edit without a change, or with a variable moved out of scope.
///
/// # Errors
///
/// Those of drawing and comparing.
pub fn one_edit(bytes: &[u8]) -> Result<Option<OneEdit>, String> {
    let mut source = Source::new(bytes);
    let options = CompareOptions::default();
    let mut seed = source.byte().into();
    let size = 10 + source.below(150);
    let left = program(split_mix(&mut seed), size)?;
    let all = objects(&left);
    let is_whole = |object: &Ref<Obj>| {
        let info = object.type_info();
        info.has_structural_hooks() && !info.key().ends_with("IRModule")
    };
    if all.is_empty() || all.iter().any(is_whole) {
        // An object with a custom comparison is replaced as a whole.
        return Ok(None);
    }
    let target = Value::from(source.pick(&all));
    let new = mutate_once(&target, &mut source).map_err(setup)?;
    let changed = of(&target, &new, options);
    let right = replace_everywhere(&left, &target, &new, &mut HashMap::new());
    if !are_plain(&left, &right, options) || !matches!(changed, Ok(changed) if !changed.is_empty())
    {
        return Ok(None);
    }
    let copy = rename(&left, options, &mut source).map_err(setup)?;
    let difference = of(&copy, &right, options).map_err(setup)?;
    if difference.is_empty() {
        return Ok(None);
    }
    let inside = |change: &Change| change.left_size().max(change.right_size());
    Ok(Some(OneEdit {
        changes: difference.changes().len(),
        inside: difference.changes().iter().map(inside).sum(),
        edited: edited_nodes(&target, &new),
        made: objects_only_in(&difference.apply(&copy).map_err(setup)?, &copy),
        new: objects_only_in(&right, &left),
        patch: {
            let _alone = writing_alone();
            difference.patch_to_json().ok()
        },
        text: difference.to_string(),
    }))
}

/// The number of nodes in only one of the two values, the larger number of both sides.
fn edited_nodes(old: &Value, new: &Value) -> u64 {
    let nodes = |value: &Value| -> HashSet<u64> {
        let found = objects(value).into_iter();
        let nodes = found.filter(|object| !object.type_info().is_builtin());
        nodes.map(|object| object.identity()).collect()
    };
    let (old, new) = (nodes(old), nodes(new));
    let only = |one: &HashSet<u64>, other: &HashSet<u64>| one.difference(other).count() as u64;
    only(&old, &new).max(only(&new, &old)).max(1)
}

/// The number of objects in one value and missing in the other.
fn objects_only_in(value: &Value, other: &Value) -> usize {
    let known: HashSet<u64> = objects(other).iter().map(Ref::identity).collect();
    let all = objects(value);
    let new = all
        .iter()
        .filter(|object| !known.contains(&object.identity()));
    new.count()
}
