//! Calls that return one of their inputs.

use isoform::Value;

use super::super::purity::may_train;
use super::super::rule::{Row, Site};
use super::common::{result_shape, same_shape};
use crate::values::output;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "drop-identity",
        versions: 1..=i64::MAX,
        patterns: &["Identity(x)"],
        replacement: "x",
        reason: "Identity copies its input",
        rewrite: input,
    },
    Row {
        name: "drop-dropout",
        versions: 1..=i64::MAX,
        patterns: &["Dropout(x, ...)"],
        replacement: "x",
        reason: "without training, Dropout copies its input; its mask must be unused",
        rewrite: dropout,
    },
    Row {
        name: "drop-single",
        versions: 8..=i64::MAX,
        patterns: &["Concat|Sum|Max|Min|Mean(x)"],
        replacement: "x",
        reason: "there is nothing to combine with",
        rewrite: input,
    },
    Row {
        name: "drop-single-split",
        versions: 2..=i64::MAX,
        patterns: &["Split(x, ...)"],
        replacement: "x",
        reason: "one part is the whole",
        rewrite: single_part,
    },
    Row {
        name: "drop-slice",
        versions: 1..=i64::MAX,
        patterns: &["Slice(x, ...)"],
        replacement: "x",
        reason: "no axis becomes shorter and none is reversed",
        rewrite: whole_slice,
    },
    Row {
        name: "drop-pad",
        versions: 2..=i64::MAX,
        patterns: &["Pad(x, ...)"],
        replacement: "x",
        reason: "nothing is added",
        rewrite: no_padding,
    },
    Row {
        name: "drop-tile",
        versions: 6..=i64::MAX,
        patterns: &["Tile(x, #repeats)"],
        replacement: "x",
        reason: "every axis is repeated once",
        rewrite: tiled_once,
    },
    Row {
        name: "drop-resize",
        versions: 10..=i64::MAX,
        patterns: &["Resize|Upsample(x, ...)"],
        replacement: "x",
        reason: "every scale is 1, so that each sample lies on an element",
        rewrite: resized_by_one,
    },
    Row {
        name: "drop-block",
        versions: 1..=i64::MAX,
        patterns: &["DepthToSpace|SpaceToDepth(x)"],
        replacement: "x",
        reason: "blocks of one element move nothing",
        rewrite: block_of_one,
    },
    Row {
        name: "drop-pool",
        versions: 1..=i64::MAX,
        patterns: &["MaxPool(x)"],
        replacement: "x",
        reason: "windows of one element, next to each other, without padding; the average of one \
                 -0.0 would be 0.0",
        rewrite: pool_of_one,
    },
    Row {
        name: "drop-gather",
        versions: 1..=i64::MAX,
        patterns: &["Gather(x, #indices)"],
        replacement: "x",
        reason: "the indices are those of the axis, in order",
        rewrite: gather_all,
    },
];

fn input(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    Some(vec![site.value("x")?])
}

fn keeps_shape(site: &mut Site<'_, '_>) -> Option<Value> {
    let x = site.value("x")?;
    let (from, to) = (site.shape(&x)?, result_shape(site)?);
    same_shape(&from, &to).then_some(x)
}

fn dropout(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    if may_train(&root) || (root.outputs > 1 && !site.is_unused(&root, 1)) {
        return None;
    }
    // The mask, if any, is unused.
    let masks = (1..root.outputs).map(|at| output(&root, at));
    Some([site.value("x")?].into_iter().chain(masks).collect())
}

fn single_part(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    // One requested output of several parts is not the whole.
    let x = keeps_shape(site)?;
    (root.outputs == 1).then(|| vec![x])
}

fn whole_slice(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    if root.version >= 10
        && let Some(steps) = root.input(4)
    {
        let steps = site.ints(steps)?;
        if steps.iter().any(|step| *step < 1) {
            return None;
        }
    }
    Some(vec![keeps_shape(site)?])
}

fn no_padding(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let pads = match root.version {
        ..11 => root.ints("pads").ok()??,
        _ => site.ints(root.input(1)?)?,
    };
    let x = site.value("x")?;
    pads.iter().all(|pad| *pad == 0).then(|| vec![x])
}

fn tiled_once(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let repeats = site.value("repeats")?;
    let x = site.value("x")?;
    let ones = site.ints(&repeats)?.iter().all(|times| *times == 1);
    ones.then(|| vec![x])
}

fn resized_by_one(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let mode = root.str("mode").ok()?.unwrap_or("nearest");
    let transformation = root.str("coordinate_transformation_mode").ok()?;
    let lies_on_elements = matches!(
        transformation.unwrap_or("half_pixel"),
        "half_pixel"
            | "asymmetric"
            | "pytorch_half_pixel"
            | "align_corners"
            | "half_pixel_symmetric"
    );
    if !lies_on_elements || !matches!(mode, "nearest" | "linear") {
        return None;
    }
    let scales = if root.is("Upsample") || root.version == 10 {
        1
    } else {
        2
    };
    let sizes = if scales == 2 { root.input(3) } else { None };
    if sizes.is_none() {
        let scales = site.floats(root.input(scales)?)?;
        if scales.iter().any(|scale| *scale != 1.0) {
            return None;
        }
    }
    Some(vec![keeps_shape(site)?])
}

fn block_of_one(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let size = site.root().int("blocksize").ok()??;
    let x = site.value("x")?;
    (size == 1).then(|| vec![x])
}

fn pool_of_one(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let all = |name: &str, value: i64| {
        let given = root.ints(name).ok()?;
        given
            .unwrap_or_default()
            .iter()
            .all(|item| *item == value)
            .then_some(())
    };
    all("strides", 1)?;
    all("pads", 0)?;
    let kernel = root.ints("kernel_shape").ok()??;
    let x = site.value("x")?;
    // The optional indices of MaxPool are not elements of x.
    let fits = root.outputs == 1 && kernel.iter().all(|size| *size == 1);
    let auto_pad = root.str("auto_pad").ok()?.unwrap_or("NOTSET");
    (fits && matches!(auto_pad, "NOTSET" | "VALID")).then(|| vec![x])
}

fn gather_all(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (x, indices) = (site.value("x")?, site.value("indices")?);
    if site.fact(&indices).rank() != Some(1) {
        return None;
    }
    let sizes = site.shape(&x)?;
    let axis = site.root().int("axis").ok()?.unwrap_or(0);
    let axis = super::common::axis_in(axis, sizes.len())?;
    let length = sizes[axis].as_const()?;
    let indices = site.ints(&indices)?;
    let in_order = indices.iter().copied().eq(0..length);
    in_order.then(|| vec![x])
}
