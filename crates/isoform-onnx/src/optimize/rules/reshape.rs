//! Calls that give the same elements in the same order another shape.

use isoform::Value;

use super::super::rule::{Row, Site};
use super::common::{permutation, result_shape, same_shape};
use crate::facts::Size;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "drop-reshape",
        versions: 1..=i64::MAX,
        patterns: &["Reshape|Flatten|Squeeze|Unsqueeze|Expand(x, ...)"],
        replacement: "x",
        reason: "the shape of the result is that of the input, and the order of elements stays",
        rewrite: to_own_shape,
    },
    Row {
        name: "merge-reshapes",
        versions: 5..=i64::MAX,
        patterns: &[
            "Reshape|Flatten|Squeeze|Unsqueeze(Reshape|Flatten|Squeeze|Unsqueeze(x, ...), ...)",
        ],
        replacement: "Reshape(x, constant), or x",
        reason: "the order of elements stays in both, so only the last shape matters; all but one \
                 of its sizes must be numbers or sizes of x at the same place",
        rewrite: merged,
    },
    Row {
        name: "constant-reshape",
        versions: 5..=i64::MAX,
        patterns: &["Reshape(x, target)"],
        replacement: "Reshape(x, constant)",
        reason: "all but one of the sizes follow from the types of the inputs",
        rewrite: constant_target,
    },
    Row {
        name: "transpose-to-reshape",
        versions: 5..=i64::MAX,
        patterns: &["Transpose(x)"],
        replacement: "Reshape(x, constant)",
        reason: "moving axes of size 1 does not change the order of elements",
        rewrite: transpose_of_ones,
    },
];

fn to_own_shape(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let (from, to) = (site.shape(&x)?, result_shape(site)?);
    same_shape(&from, &to).then(|| vec![x])
}

fn merged(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let to = result_shape(site)?;
    if same_shape(&site.shape(&x)?, &to) {
        return Some(vec![x]);
    }
    let target = target(site, &x, &to)?;
    reshaped(site, x, &target)
}

fn constant_target(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (x, old) = (site.value("x")?, site.value("target")?);
    if site.ints(&old).is_some() {
        return None;
    }
    let to = result_shape(site)?;
    let target = target(site, &x, &to)?;
    reshaped(site, x, &target)
}

fn transpose_of_ones(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let (from, to) = (site.shape(&x)?, result_shape(site)?);
    let root = site.root().clone();
    let perm = permutation(&root, from.len())?;
    let kept = perm
        .iter()
        .filter(|axis| from[**axis].as_const() != Some(1));
    if !kept.is_sorted() {
        return None;
    }
    if same_shape(&from, &to) {
        return Some(vec![x]);
    }
    let target = target(site, &x, &to)?;
    reshaped(site, x, &target)
}

fn reshaped(site: &mut Site<'_, '_>, x: Value, target: &[i64]) -> Option<Vec<Value>> {
    let target = site.int64s(target);
    site.replace("Reshape", vec![x, target], &[])
}

/// A constant second input of Reshape that makes this shape of `x`. It contains
/// numbers, 0 for a size that `x` has at the same position, and at most one -1, which
/// requires that no other size can be 0.
pub(super) fn target(site: &mut Site<'_, '_>, x: &Value, to: &[Size]) -> Option<Vec<i64>> {
    let from = site.shape(x);
    let from = from.as_deref().unwrap_or_default();
    let copied = |axis: usize| {
        let size = from.get(axis)?;
        (size.known_eq(&to[axis]) == Some(true)).then_some(0)
    };
    let mut target = Vec::with_capacity(to.len());
    let mut open = None;
    for (axis, size) in to.iter().enumerate() {
        target.push(match (size.as_const(), copied(axis)) {
            (Some(size), _) if size > 0 => size,
            (_, Some(copy)) => copy,
            (Some(_), None) => return None,
            (None, None) if open.is_none() => {
                open = Some(axis);
                -1
            }
            (None, None) => return None,
        });
    }
    let is_positive = |(axis, size): (usize, &Size)| Some(axis) == open || size.is_positive();
    if open.is_some() && !to.iter().enumerate().all(is_positive) {
        return None;
    }
    Some(target)
}
