//! Checks a merge by the laws of merging.

use super::super::options::DiffOptions;
use super::conflict::{Conflict, Resolution};
use super::merged::Merge;
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// The reason for refusing a merge, if any: the sides cannot be exchanged, or a change
/// of one side is lost. As four differences, and O(n) for n distinct objects.
///
/// # Errors
///
/// As [`merge`](super::merge).
pub(super) fn reason_against(options: &DiffOptions, merge: &Merge) -> Result<Option<String>> {
    if merge.twins.is_none() || merge.conflicts.iter().any(|one| one.reason().is_some()) {
        return Ok(None);
    }
    let [left, right] = merge.differences.clone();
    let swapped = Merge::unchecked(options, merge.base.clone(), [right, left])?;
    if !are_swapped(options, merge, &swapped)? {
        let reason = "both sides share parts or variables in different ways";
        return Ok(Some(reason.to_owned()));
    }
    if !merge.is_clean() {
        return Ok(None);
    }
    for (side, name) in ["right", "left"].into_iter().enumerate() {
        if !is_left_without(options, merge, side)? {
            return Ok(Some(format!("a change of the {name} side would be lost")));
        }
    }
    Ok(None)
}

/// True unless a merged value without the changes of one side differs from the other
/// side.
fn is_left_without(options: &DiffOptions, merge: &Merge, side: usize) -> Result<bool> {
    let (base, other) = (&merge.base, merge.differences[1 - side].right());
    let side = merge.differences[side].right();
    let changes = [base, &merge.merged].map(|to| options.diff(side.clone(), to.clone()));
    let [back, forth] = changes;
    let rest = Merge::unchecked(options, side.clone(), [back?, forth?])?;
    if !rest.is_clean() {
        // Elements that both sides insert at one gap, for example, prove no loss.
        return Ok(!merge
            .differences
            .iter()
            .any(|side| side.has_unclear_variables));
    }
    if is_same(options, rest.merged(), other)? {
        return Ok(true);
    }
    // The changes of both sides are undone, too.
    let rest = options.diff(base.clone(), rest.merged().clone())?;
    let changes = [rest, options.diff(base.clone(), other.clone())?];
    let both = Merge::unchecked(options, base.clone(), changes)?;
    Ok(both.is_clean() && is_same(options, both.merged(), other)?)
}

/// True if two merges are one with the sides exchanged, even after resolving conflicts.
fn are_swapped(options: &DiffOptions, one: &Merge, other: &Merge) -> Result<bool> {
    if one.conflicts.len() != other.conflicts.len()
        || !is_same(options, &one.merged, &other.merged)?
    {
        return Ok(false);
    }
    if one.is_clean() {
        return Ok(true);
    }
    let mut rest: Vec<&Conflict> = other.conflicts.iter().collect();
    for conflict in &one.conflicts {
        let mut at = None;
        for (number, other) in rest.iter().enumerate() {
            if is_swapped(options, conflict, other)? {
                at = Some(number);
                break;
            }
        }
        let Some(at) = at else { return Ok(false) };
        rest.swap_remove(at);
    }
    let resolved = |merge: &Merge, choice: &Resolution| merge.resolve(|_| Ok(choice.clone()));
    for (choice, opposite) in [
        (Resolution::Left, Resolution::Right),
        (Resolution::Right, Resolution::Left),
    ] {
        match (resolved(one, &choice), resolved(other, &opposite)) {
            (Ok(one), Ok(other)) if is_same(options, &one, &other)? => {}
            (Err(one), Err(other)) if one.kind() == other.kind() => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn is_swapped(options: &DiffOptions, one: &Conflict, other: &Conflict) -> Result<bool> {
    let pairs = [
        (one.base(), other.base()),
        (one.left(), other.right()),
        (one.right(), other.left()),
    ];
    if one.path() != other.path() {
        return Ok(false);
    }
    for (one, other) in pairs {
        let [one, other] = [one, other].map(|parts| Value::from(parts.to_vec()));
        if !is_same(options, &one, &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if two values are equal, apart from the fields, types and changes to ignore.
fn is_same(options: &DiffOptions, one: &Value, other: &Value) -> Result<bool> {
    if options.compare.equal(one, other)? {
        return Ok(true);
    }
    Ok(!options.is_exact() && options.diff(one.clone(), other.clone())?.is_empty())
}
