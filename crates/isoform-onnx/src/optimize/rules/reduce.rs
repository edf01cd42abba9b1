//! Reductions next to calls that add or drop the reduced axes.

use isoform::Value;

use super::super::rule::{Row, Site};
use super::common::{axes, axis_in};
use crate::ir::Call;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "reduce-keeping-axes",
        versions: 1..=i64::MAX,
        patterns: &[
            "Unsqueeze(inner:ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|ReduceL1|ReduceL2|ReduceLogSum|ReduceLogSumExp|ReduceSumSquare(x, ...), ...)",
        ],
        replacement: "the reduction with keepdims = 1",
        reason: "the axes that come back are those that were reduced; the reduction has no other use",
        rewrite: keeping,
    },
    Row {
        name: "reduce-dropping-axes",
        versions: 1..=i64::MAX,
        patterns: &[
            "Squeeze(inner:ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|ReduceL1|ReduceL2|ReduceLogSum|ReduceLogSumExp|ReduceSumSquare(x, ...), ...)",
        ],
        replacement: "the reduction with keepdims = 0",
        reason: "the axes that go are those that were reduced; the reduction has no other use",
        rewrite: dropping,
    },
    Row {
        name: "reduce-transposed",
        versions: 1..=i64::MAX,
        patterns: &["ReduceMax|ReduceMin(inner:Transpose(x), ...)"],
        replacement: "the reduction of x along the axes where they were",
        reason: "the largest of some elements does not depend on their order; the axes that are \
                 left keep theirs",
        rewrite: transposed,
    },
];

/// The version from which on the axes of a reduction are an input.
fn axes_input_since(op: &str) -> i64 {
    if op == "ReduceSum" { 13 } else { 18 }
}

/// The reduced axes, ascending, of a reduction whose input has this many axes.
fn reduced(site: &mut Site<'_, '_>, call: &Call, rank: usize) -> Option<Vec<usize>> {
    let given = axes(site, call, axes_input_since(&call.op))?;
    let Some(given) = given.filter(|axes| !axes.is_empty()) else {
        let noop = call.int("noop_with_empty_axes").ok()?.unwrap_or(0) != 0;
        return (!noop).then(|| (0..rank).collect());
    };
    sorted(&given, rank)
}

fn sorted(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut axes: Vec<usize> = axes
        .iter()
        .map(|axis| axis_in(*axis, rank))
        .collect::<Option<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    Some(axes)
}

fn transposed(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (root, inner) = (site.root().clone(), site.labelled("inner")?);
    let x = site.value("x")?;
    let rank = site.fact(&x).rank()?;
    let perm = super::common::permutation(&inner, rank)?;
    let reduced = reduced(site, &root, rank)?;
    let left = (0..rank).filter(|axis| !reduced.contains(axis));
    let in_order = left.map(|axis| perm[axis]).is_sorted();
    if root.int("keepdims").ok()?.unwrap_or(1) != 0 || !in_order {
        return None;
    }
    let mut axes: Vec<i64> = reduced.iter().map(|axis| perm[*axis] as i64).collect();
    axes.sort_unstable();
    let mut attrs = Site::attrs(&root);
    attrs.retain(|(name, _)| *name != "axes");
    let mut inputs = vec![x];
    if root.version < axes_input_since(&root.op) {
        attrs.push(("axes", super::common::int_list(axes)));
    } else {
        inputs.push(site.int64s(&axes));
    }
    site.replace(&root.op, inputs, &attrs)
}

fn keeping(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    with_axes(site, 0)
}

fn dropping(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    with_axes(site, 1)
}

/// Flips `keepdims` of the inner reduction, if the root adds or drops exactly the
/// reduced axes.
fn with_axes(site: &mut Site<'_, '_>, kept: i64) -> Option<Vec<Value>> {
    let (root, inner) = (site.root().clone(), site.labelled("inner")?);
    let x = site.value("x")?;
    if inner.int("keepdims").ok()?.unwrap_or(1) != kept || !site.has_one_use(root.input(0)?) {
        return None;
    }
    let rank = site.fact(&x).rank()?;
    let reduced = reduced(site, &inner, rank)?;
    let changed = axes(site, &root, 13)??;
    if sorted(&changed, rank)? != reduced {
        return None;
    }
    let mut attrs = Site::attrs(&inner);
    attrs.retain(|(name, _)| *name != "keepdims");
    attrs.push(("keepdims", (1 - kept).into()));
    site.replace(&inner.op, inner.inputs.values().to_vec(), &attrs)
}
