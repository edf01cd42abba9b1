//! The laws of merges: a side without changes leads to the other side, the sides can be
//! swapped, and the result, known by construction, has all edits of different places.

use std::collections::{HashMap, HashSet};

use isoform::compare::{CompareOptions, Conflict, DiffOptions, Merge, Resolution};
use isoform::types::{FieldFlag, Kind};
use isoform::values::ValueRef;
use isoform::{Map, Result, Value};

use super::classes::program;
use super::differences::edited;
use super::generate::children;
use super::pair::{draw_options, setup};
use super::properties::Property;
use super::source::{Source, split_mix};
use super::transform::{rename, replace_child, tweak, unshare};

/// The properties of merges.
pub const MERGE_PROPERTIES: &[(&str, Property)] = &[
    ("a_side_without_changes_leads_to_the_other", |bytes| {
        unchanged_sides(&Triple::draw(bytes)?)
    }),
    ("the_sides_can_be_swapped", |bytes| {
        swapped_sides(&Triple::draw(bytes)?)
    }),
    ("no_change_is_lost", |bytes| kept_changes(bytes).map(|_| ())),
    ("edits_of_two_places_are_both_in_the_result", |bytes| {
        two_places(bytes).map(|_| ())
    }),
    ("edits_of_two_parts_are_both_in_the_result", |bytes| {
        two_parts(bytes).map(|_| ())
    }),
];

/// A base value, and two values made from it.
struct Triple {
    base: Value,
    left: Value,
    right: Value,
    options: CompareOptions,
}

impl Triple {
    fn draw(bytes: &[u8]) -> Result<Self, String> {
        let mut source = Source::new(bytes);
        let options = draw_options(&mut source);
        let mut seed = source.byte().into();
        let size = 10 + source.below(100);
        let base = program(split_mix(&mut seed), size)?;
        let mut side = || {
            let copy = copied(&base, options, &mut source);
            edited(&copy, &mut source)
        };
        let (left, right) = (side()?, side()?);
        Ok(Triple {
            base,
            left,
            right,
            options,
        })
    }

    fn merge(&self) -> Result<Merge> {
        merge(&self.base, [&self.left, &self.right], self.options)
    }

    fn fail<T>(&self, what: &str) -> Result<T, String> {
        Err(format!(
            "{what}\n  base  = {:?}\n  left  = {:?}\n  right = {:?}\n  with {:?}",
            self.base, self.left, self.right, self.options
        ))
    }
}

fn merge(base: &Value, [left, right]: [&Value; 2], options: CompareOptions) -> Result<Merge> {
    let options = DiffOptions {
        compare: options,
        ..DiffOptions::default()
    };
    options.merge(base.clone(), left.clone(), right.clone())
}

/// A copy that is equal to the value, or the value itself.
fn copied(value: &Value, options: CompareOptions, source: &mut Source<'_>) -> Value {
    // Free variables keep their names.
    let options = CompareOptions {
        map_free_vars: false,
        ..options
    };
    let copy = match source.below(4) {
        0 => rename(value, options, source),
        1 => unshare(value, options),
        _ => Ok(value.clone()),
    };
    // A type that compares itself may visit its fields in another order than the copy was
    // made in, so that a dag node is met outside of the scope in which it was renamed.
    let is_equal = |copy: &Value| options.equal(value, copy).unwrap_or(true);
    copy.ok().filter(is_equal).unwrap_or_else(|| value.clone())
}

fn unchanged_sides(drawn: &Triple) -> Result<(), String> {
    let Triple {
        base,
        left: other,
        options,
        ..
    } = drawn;
    let mut source = Source::new(&[7; 64]);
    for sides in [[base, other], [other, base], [other, other]] {
        let [left, right] = sides.map(|side| copied(side, *options, &mut source));
        let Ok(merged) = merge(base, [&left, &right], *options) else {
            return Ok(());
        };
        let is_equal = options.equal(merged.merged(), other);
        if !merged.is_clean() || is_equal.as_ref().is_ok_and(|is_equal| !is_equal) {
            let found = merged.merged();
            return drawn.fail(&format!("expected the left value, got {merged}: {found:?}"));
        }
    }
    Ok(())
}

/// Merging the sides in the other order gives the same.
fn swapped_sides(drawn: &Triple) -> Result<(), String> {
    let Ok(merged) = drawn.merge() else {
        return Ok(());
    };
    let again = drawn.merge().map_err(setup)?;
    if again.to_string() != merged.to_string() {
        return drawn.fail(&format!("merging gives once {merged} and once {again}"));
    }
    let swapped = merge(&drawn.base, [&drawn.right, &drawn.left], drawn.options).map_err(setup)?;
    let is_same =
        |first: &Value, second: &Value| drawn.options.equal(first, second).unwrap_or(true);
    let are_same = |first: &[Value], second: &[Value]| {
        first.len() == second.len()
            && first
                .iter()
                .zip(second)
                .all(|(first, second)| is_same(first, second))
    };
    let are_swapped = |first: &Conflict, second: &Conflict| {
        first.path().to_string() == second.path().to_string()
            && are_same(first.base(), second.base())
            && are_same(first.left(), second.right())
            && are_same(first.right(), second.left())
    };
    let (ours, theirs) = (merged.conflicts(), swapped.conflicts());
    let mut rest: Vec<&Conflict> = theirs.iter().collect();
    for conflict in ours {
        match rest.iter().position(|other| are_swapped(conflict, other)) {
            Some(position) => {
                rest.swap_remove(position);
            }
            None => return drawn.fail(&format!("got {merged}\nand swapped {swapped}")),
        }
    }
    if !rest.is_empty() || (merged.is_clean() && !is_same(merged.merged(), swapped.merged())) {
        return drawn.fail(&format!(
            "got {merged}: {:?}\nand swapped {swapped}: {:?}",
            merged.merged(),
            swapped.merged()
        ));
    }
    for (choice, other) in [
        (Resolution::Left, Resolution::Right),
        (Resolution::Right, Resolution::Left),
        (Resolution::Base, Resolution::Base),
    ] {
        let resolved = merged.resolve(|_| Ok(choice.clone()));
        let swapped = swapped.resolve(|_| Ok(other.clone()));
        match (resolved, swapped) {
            (Ok(resolved), Ok(swapped)) if is_same(&resolved, &swapped) => {}
            (Err(first), Err(second)) if first.kind() == second.kind() => {}
            results => {
                return drawn.fail(&format!("resolved by {choice:?}: {results:?}, of {merged}"));
            }
        }
    }
    Ok(())
}

/// Undoes the changes of each side in a merged value: the changes of the other side remain,
/// except for changes made by both sides.
///
/// # Errors
///
/// An account of a remaining or lost change.
pub fn kept_changes(bytes: &[u8]) -> Result<Outcome, String> {
    let drawn = Triple::draw(bytes)?;
    let Ok(merged) = drawn.merge() else {
        return Ok(Outcome::Skipped);
    };
    if !merged.is_clean() {
        return Ok(Outcome::Conflicts);
    }
    let both = merged.merged();
    let mut outcome = Outcome::Merged;
    for (taken, other) in [(&drawn.left, &drawn.right), (&drawn.right, &drawn.left)] {
        let back = merge(taken, [&drawn.base, both], drawn.options).map_err(setup)?;
        let is_same = |value: &Value| drawn.options.equal(value, other).unwrap_or(true);
        if !back.is_clean() {
            outcome = Outcome::Conflicts;
            continue;
        }
        if is_same(back.merged()) {
            continue;
        }
        let again = merge(&drawn.base, [back.merged(), other], drawn.options).map_err(setup)?;
        if !again.is_clean() {
            outcome = Outcome::Conflicts;
        } else if !is_same(again.merged()) {
            return drawn.fail(&format!(
                "got {both:?} by {}\n and {},\n of which {taken:?}\n is taken back to {:?}",
                merged.left(),
                merged.right(),
                back.merged(),
            ));
        }
    }
    Ok(outcome)
}

/// The outcome of a case with a known result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There was nothing to merge.
    Skipped,
    /// The result is the known one.
    Merged,
    /// There are conflicts.
    Conflicts,
    /// There are conflicts, or the result differs, in a program that defines a variable in
    /// several places or beyond scopes.
    Unclear,
}

/// Edits a random program at two disjoint places, one on each side; the result has both
/// edits.
///
/// # Errors
///
/// An account of a wrong result without conflicts.
pub fn two_places(bytes: &[u8]) -> Result<Outcome, String> {
    let mut source = Source::new(bytes);
    let mut seed = source.byte().into();
    let size = 10 + source.below(100);
    let base = program(split_mix(&mut seed), size)?;
    let places = places(&base);
    let left_place = source.pick(&places).clone();
    let is_apart = |right_place: &&Vec<usize>| {
        !left_place.starts_with(right_place) && !right_place.starts_with(&left_place)
    };
    let others: Vec<&Vec<usize>> = places.iter().filter(is_apart).collect();
    if others.is_empty() {
        return Ok(Outcome::Skipped);
    }
    let right_place = (*source.pick(&others)).clone();
    let mut edit = |place: &[usize], name: &str| {
        let old = part(&base, place);
        if source.chance(50) {
            Value::from(format!("an edit of the {name}"))
        } else {
            tweak(&old, &[], &mut source)
        }
    };
    let (ours, theirs) = (edit(&left_place, "left"), edit(&right_place, "right"));
    let left = replaced(&base, &left_place, &ours);
    let right = replaced(&base, &right_place, &theirs);
    judge(
        base.clone(),
        [left.clone(), right],
        &replaced(&left, &right_place, &theirs),
        &mut source,
    )
}

/// Edits two disjoint parts of a value, a part on each side.
///
/// # Errors
///
/// As [`two_places`].
pub fn two_parts(bytes: &[u8]) -> Result<Outcome, String> {
    let mut source = Source::new(bytes);
    let mut seed = source.byte().into();
    let size = 10 + source.below(60);
    let mut draw = || program(split_mix(&mut seed), size);
    let parts = [draw()?, draw()?];
    let edits = [
        edited(&parts[0], &mut source)?,
        edited(&parts[1], &mut source)?,
    ];
    let is_list = source.chance(50);
    let whole = |first: &Value, second: &Value| -> Value {
        let [first, second] = [first, second].map(Value::clone);
        if is_list {
            vec![
                "first".into(),
                first,
                "between".into(),
                second,
                "last".into(),
            ]
            .into()
        } else {
            [("one".into(), first), ("other".into(), second)]
                .into_iter()
                .collect::<Map>()
                .into()
        }
    };
    let base = whole(&parts[0], &parts[1]);
    let left = whole(&edits[0], &parts[1]);
    let right = whole(&parts[0], &edits[1]);
    judge(
        base,
        [left, right],
        &whole(&edits[0], &edits[1]),
        &mut source,
    )
}

/// Judges a merge with a known result.
fn judge(
    base: Value,
    [left, right]: [Value; 2],
    expected: &Value,
    source: &mut Source<'_>,
) -> Result<Outcome, String> {
    let options = CompareOptions::default();
    let drawn = Triple {
        left: copied(&left, options, source),
        right: copied(&right, options, source),
        base,
        options,
    };
    let has_changed = |side| options.equal(&drawn.base, side).map(|is_equal| !is_equal);
    if !matches!(
        (has_changed(&left), has_changed(&right)),
        (Ok(true), Ok(true))
    ) {
        return Ok(Outcome::Skipped);
    }
    let Ok(merged) = drawn.merge() else {
        return Ok(Outcome::Skipped);
    };
    let is_clear = [&drawn.base, &left, &right, expected]
        .into_iter()
        .all(binds_once);
    if !merged.is_clean() {
        return Ok(if is_clear {
            Outcome::Conflicts
        } else {
            Outcome::Unclear
        });
    }
    match options.equal(merged.merged(), expected) {
        Ok(false) if is_clear => drawn.fail(&format!(
            "expected {expected:?},\n  got {:?}, which differs at {:?}, by {:?} and {:?}",
            merged.merged(),
            options.first_mismatch(expected, merged.merged()),
            merged.left().to_string(),
            merged.right().to_string(),
        )),
        Ok(false) => Ok(Outcome::Unclear),
        _ => Ok(Outcome::Merged),
    }
}

/// True if at most one object defines each variable of a value, for a surrounding
/// scope.
fn binds_once(value: &Value) -> bool {
    let mut definers: HashMap<u64, u64> = HashMap::new();
    let mut seen = HashSet::new();
    let mut open = vec![value.clone()];
    while let Some(value) = open.pop() {
        if let Some(object) = value.as_object()
            && !seen.insert(object.identity())
        {
            continue;
        }
        let parts = children(&value);
        if let Some(object) = value.as_object()
            && !object.type_info().is_builtin()
        {
            let info = object.type_info();
            for (part, field) in parts.iter().zip(info.fields()) {
                let is_def = matches!(field.field_flag(), FieldFlag::Def | FieldFlag::DefSimple);
                if is_def && !info.is_scope() {
                    return false;
                }
                if is_def
                    && !vars_below(part).into_iter().all(|var| {
                        *definers.entry(var).or_insert(object.identity()) == object.identity()
                    })
                {
                    return false;
                }
            }
        }
        open.extend(parts);
    }
    true
}

/// The identities of the variables below a value.
fn vars_below(value: &Value) -> HashSet<u64> {
    let (mut vars, mut seen) = (HashSet::new(), HashSet::new());
    let mut open = vec![value.clone()];
    while let Some(value) = open.pop() {
        if let Some(object) = value.as_object() {
            if !seen.insert(object.identity()) {
                continue;
            }
            let info = object.type_info();
            if info.kind() == Kind::Var && !info.is_builtin() {
                vars.insert(object.identity());
            }
        }
        open.extend(children(&value));
    }
    vars
}

/// The places below a value outside of every object with an identity that counts.
fn places(value: &Value) -> Vec<Vec<usize>> {
    let mut places = Vec::new();
    let mut queue = vec![(value.clone(), Vec::new())];
    while let Some((value, place)) = queue.pop() {
        if places.len() > 300 || !is_tree(&value) {
            continue;
        }
        for (position, child) in children(&value).into_iter().enumerate() {
            let mut inside = place.clone();
            inside.push(position);
            places.push(inside.clone());
            queue.push((child, inside));
        }
    }
    places.push(Vec::new());
    places
}

fn is_tree(value: &Value) -> bool {
    match value.view() {
        ValueRef::List(_) | ValueRef::Dict(_) => false,
        ValueRef::Object(object) => {
            let info = object.type_info();
            info.is_builtin() || matches!(info.kind(), Kind::Tree | Kind::ConstTree)
        }
        _ => true,
    }
}

fn part(value: &Value, place: &[usize]) -> Value {
    let parts = place.iter();
    parts.fold(value.clone(), |value, position| {
        children(&value)[*position].clone()
    })
}

fn replaced(value: &Value, place: &[usize], new: &Value) -> Value {
    match place.split_first() {
        None => new.clone(),
        Some((position, rest)) => {
            let child = replaced(&children(value)[*position], rest, new);
            replace_child(value, *position, child)
        }
    }
}
