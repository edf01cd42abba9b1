//! Calls that move elements.

use isoform::Value;

use super::super::rule::{Row, Site};
use super::common::{axis_in, int_list, permutation};
use crate::ir::Call;
use crate::layout::call_of;
use crate::values::ValueKey;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "merge-transposes",
        versions: 1..=i64::MAX,
        patterns: &["Transpose(inner:Transpose(x))"],
        replacement: "Transpose(x), or x",
        reason: "one permutation after the other is a permutation",
        rewrite: transposes,
    },
    Row {
        name: "drop-transpose",
        versions: 1..=i64::MAX,
        patterns: &["Transpose(x)"],
        replacement: "x",
        reason: "every axis stays at its place",
        rewrite: no_transpose,
    },
    Row {
        name: "merge-concats",
        versions: 4..=i64::MAX,
        patterns: &["Concat(...)"],
        replacement: "Concat(all inputs)",
        reason: "parts of a part are parts; inner calls must have one use and the same axis",
        rewrite: concats,
    },
    Row {
        name: "drop-empty-parts",
        versions: 4..=i64::MAX,
        patterns: &["Concat(...)"],
        replacement: "Concat(other inputs)",
        reason: "an input of size 0 along the axis adds nothing",
        rewrite: empty_parts,
    },
    Row {
        name: "concat-of-split",
        versions: 4..=i64::MAX,
        patterns: &["Concat(...)"],
        replacement: "x",
        reason: "all parts that Split makes of x, in order, along the same axis",
        rewrite: concat_of_split,
    },
    Row {
        name: "merge-slices",
        versions: 10..=i64::MAX,
        patterns: &[
            "Slice(inner:Slice(x, #from0, #to0, #axes0?, #steps0?), #from, #to, #axes?, #steps?)",
        ],
        replacement: "Slice(x, …)",
        reason: "slices along different axes do not meet; along one axis with steps of 1 and \
                 positions from the front, the second counts from where the first begins",
        rewrite: slices,
    },
];

fn transposes(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let (root, inner) = (site.root().clone(), site.labelled("inner")?);
    let given = [&root, &inner]
        .into_iter()
        .find_map(|call| call.ints("perm").ok()?);
    let rank = match given {
        Some(perm) => perm.len(),
        None => site.fact(&x).rank()?,
    };
    let (first, second) = (permutation(&inner, rank)?, permutation(&root, rank)?);
    let perm: Vec<usize> = second.into_iter().map(|axis| first[axis]).collect();
    if perm.iter().copied().eq(0..rank) {
        return Some(vec![x]);
    }
    let perm = int_list(perm.into_iter().map(|axis| axis as i64));
    site.replace("Transpose", vec![x], &[("perm", perm)])
}

fn no_transpose(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let x = site.value("x")?;
    let perm = match root.ints("perm").ok()? {
        Some(perm) => perm,
        // Without a permutation the axes are reversed.
        None => return (site.fact(&x).rank()? <= 1).then(|| vec![x]),
    };
    perm.iter()
        .copied()
        .eq(0..perm.len() as i64)
        .then(|| vec![x])
}

/// The axis of a Concat.
fn concat_axis(site: &mut Site<'_, '_>, call: &Call, part: &Value) -> Option<usize> {
    let rank = site.fact(part).rank()?;
    axis_in(call.int("axis").ok()??, rank)
}

fn concats(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let axis = root.int("axis").ok()??;
    // The outermost call of a chain takes all parts at once. If every call took all
    // parts, the lists would be as long as the chain, once for each call.
    let result = site.result();
    if let Some(outer) = site.joined_by()
        && let Ok(Some(other)) = outer.int("axis")
        && is_same_axis(site, &root, other, &result)
    {
        return None;
    }
    let mut merged = Vec::with_capacity(root.inputs.len());
    let mut has_nested = false;
    let mut pending: Vec<Value> = root.inputs.values().iter().rev().cloned().collect();
    while let Some(part) = pending.pop() {
        let inner = call_of(&part).cloned();
        match inner.filter(|call| call.is("Concat")) {
            Some(inner) if site.has_one_use(&part) && is_same_axis(site, &inner, axis, &part) => {
                pending.extend(inner.inputs.values().iter().rev().cloned());
                has_nested = true;
            }
            _ => merged.push(part),
        }
    }
    if !has_nested {
        return None;
    }
    site.replace("Concat", merged, &[("axis", axis.into())])
}

fn is_same_axis(site: &mut Site<'_, '_>, inner: &Call, axis: i64, part: &Value) -> bool {
    let Ok(Some(other)) = inner.int("axis") else {
        return false;
    };
    if other == axis {
        return true;
    }
    let rank = site.fact(part).rank();
    rank.is_some_and(|rank| axis_in(other, rank) == axis_in(axis, rank))
}

fn empty_parts(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let mut kept = Vec::new();
    for part in root.inputs.values() {
        let axis = concat_axis(site, &root, part)?;
        let size = site.shape(part)?[axis].as_const();
        if size != Some(0) {
            kept.push(part.clone());
        }
    }
    if kept.is_empty() || kept.len() == root.inputs.len() {
        return None;
    }
    let axis = root.int("axis").ok()??;
    site.replace("Concat", kept, &[("axis", axis.into())])
}

fn concat_of_split(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let parts = root.inputs.values();
    let split = call_of(parts.first()?)?.clone();
    if !split.is("Split") || split.outputs != parts.len() as i64 {
        return None;
    }
    for (at, part) in parts.iter().enumerate() {
        if ValueKey::of(part) != ValueKey::Output(split.identity(), at as i64) {
            return None;
        }
    }
    let x = split.input(0)?.clone();
    let rank = site.fact(&x).rank()?;
    let axis = axis_in(split.int("axis").ok()?.unwrap_or(0), rank)?;
    if axis_in(root.int("axis").ok()??, rank)? != axis {
        return None;
    }
    Some(vec![x])
}

/// The part that a Slice with constant bounds takes along an axis.
#[derive(Clone, Copy)]
struct Range {
    axis: i64,
    from: i64,
    to: i64,
    step: i64,
}

fn ranges(site: &mut Site<'_, '_>, suffix: &str, rank: Option<usize>) -> Option<Vec<Range>> {
    let mut read = |name: &str| {
        let value = site.value(&format!("{name}{suffix}"));
        match value {
            None => Some(None),
            Some(value) => site.ints(&value).map(Some),
        }
    };
    let (from, to) = (read("from")??, read("to")??);
    let axes = read("axes")?.unwrap_or_else(|| (0..from.len() as i64).collect());
    let steps = read("steps")?.unwrap_or_else(|| vec![1; from.len()]);
    if to.len() != from.len() || axes.len() != from.len() || steps.len() != from.len() {
        return None;
    }
    let ranges = (0..from.len()).map(|index| {
        let axis = match (axes[index], rank) {
            (axis, _) if axis >= 0 => axis,
            (axis, rank) => axis_in(axis, rank?)? as i64,
        };
        Some(Range {
            axis,
            from: from[index],
            to: to[index],
            step: steps[index],
        })
    });
    ranges.collect()
}

fn slices(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let rank = site.fact(&x).rank();
    let mut merged = ranges(site, "0", rank)?;
    for second in ranges(site, "", rank)? {
        match merged.iter_mut().find(|first| first.axis == second.axis) {
            None => merged.push(second),
            Some(first) => {
                let simple = first.step == 1
                    && second.step == 1
                    && first.from >= 0
                    && second.from >= 0
                    && second.to >= 0
                    && first.to >= 0;
                if !simple {
                    return None;
                }
                first.to = first
                    .to
                    .min(first.from.checked_add(second.to).unwrap_or(i64::MAX));
                first.from = first.from.checked_add(second.from)?;
            }
        }
    }
    let mut list = |part: fn(&Range) -> i64| {
        let items: Vec<i64> = merged.iter().map(part).collect();
        site.int64s(&items)
    };
    let mut inputs = vec![x, list(|range| range.from), list(|range| range.to)];
    inputs.push(list(|range| range.axis));
    if merged.iter().any(|range| range.step != 1) {
        let steps: Vec<i64> = merged.iter().map(|range| range.step).collect();
        inputs.push(site.int64s(&steps));
    }
    site.replace("Slice", inputs, &[])
}
