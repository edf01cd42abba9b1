//! Calls that compute with shapes.

use isoform::Value;

use super::super::rule::{Row, Site};
use super::common::{result_shape, same_shape};
use crate::facts::Size;
use crate::values::output;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "part-of-shape",
        versions: 15..=i64::MAX,
        patterns: &[
            "Gather|Slice(inner:Shape(x), ...)",
            "Unsqueeze|Reshape(Gather(inner:Shape(x), _), ...)",
            "Concat(inner:Shape(x), ...)",
        ],
        replacement: "Shape(x, start, end)",
        reason: "the elements are sizes of neighbouring axes of x",
        rewrite: part_of_shape,
    },
    Row {
        name: "gather-of-shape",
        versions: 1..=14,
        patterns: &["Unsqueeze|Reshape(Gather(shape:Shape(x), _), ...)"],
        replacement: "Gather(Shape(x), constant)",
        reason: "a list of one index gives a list of one size",
        rewrite: gather_of_shape,
    },
    Row {
        name: "constant-expand",
        versions: 8..=i64::MAX,
        patterns: &["Expand(x, target)"],
        replacement: "Expand(x, constant)",
        reason: "each size is a number, or that of x, where the target has 1",
        rewrite: constant_expand,
    },
    Row {
        name: "shape-of-same",
        versions: 1..=i64::MAX,
        patterns: &[
            "Shape|Size(Relu|Sigmoid|Tanh|Exp|Log|Sqrt|Neg|Abs|Cast|Identity|Softmax|Erf|Not|Clip|LeakyRelu|Floor|Ceil|Sin|Cos(x, ...))",
        ],
        replacement: "Shape(x)",
        reason: "the operator keeps the shape of its input",
        rewrite: shape_of_same,
    },
];

/// Where neighbouring axes of a shape have these sizes.
fn find(shape: &[Size], sizes: &[Size]) -> Option<usize> {
    if sizes.is_empty() {
        return None;
    }
    (0..=shape.len().checked_sub(sizes.len())?)
        .find(|start| same_shape(&shape[*start..*start + sizes.len()], sizes))
}

/// The sizes listed by the result, if it is a list of known sizes.
fn listed_sizes(site: &mut Site<'_, '_>) -> Option<Vec<Size>> {
    let result = site.result();
    let fact = site.fact(&result);
    (fact.rank()? == 1).then(|| fact.elements.clone()).flatten()
}

fn part_of_shape(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let sizes = listed_sizes(site)?;
    let shape = site.shape(&x)?;
    let start = find(&shape, &sizes)?;
    let end = start + sizes.len();
    let mut attrs = Vec::new();
    if start > 0 {
        attrs.push(("start", Value::from(start as i64)));
    }
    if end < shape.len() {
        attrs.push(("end", Value::from(end as i64)));
    }
    site.replace("Shape", vec![x], &attrs)
}

fn gather_of_shape(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let sizes = listed_sizes(site)?;
    let shape = site.shape(&x)?;
    let start = find(&shape, &sizes)? as i64;
    let of_x = output(&site.labelled("shape")?, 0);
    let indices: Vec<i64> = (start..start + sizes.len() as i64).collect();
    let indices = site.int64s(&indices);
    site.replace("Gather", vec![of_x, indices], &[])
}

fn constant_expand(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (x, old) = (site.value("x")?, site.value("target")?);
    if site.ints(&old).is_some() {
        return None;
    }
    let (from, to) = (site.shape(&x)?, result_shape(site)?);
    let added = to.len().checked_sub(from.len())?;
    let sizes: Vec<i64> = to
        .iter()
        .enumerate()
        .map(|(axis, size)| {
            let own = axis.checked_sub(added).map(|axis| &from[axis]);
            match (size.as_const(), own) {
                (Some(size), _) => Some(size),
                (None, Some(own)) if own.known_eq(size) == Some(true) => Some(1),
                _ => None,
            }
        })
        .collect::<Option<_>>()?;
    let target = site.int64s(&sizes);
    site.replace("Expand", vec![x, target], &[])
}

fn shape_of_same(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let root = site.root().clone();
    site.replace(&root.op, vec![x], &Site::attrs(&root))
}
