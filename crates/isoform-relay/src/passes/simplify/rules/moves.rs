//! Reshapes, transpositions and layouts: elements only move, so all bits are kept.

use super::likes::{is_static, reshaped};
use crate::Call;
use crate::attrs::{LayoutTransformAttrs, ReshapeAttrs, TransposeAttrs, sizes};
use crate::op;
use crate::op::dims;
use crate::passes::simplify::row::{Exact, Row, always, call_with, keep};
use crate::passes::simplify::rule_match::{Expr, Holes, RuleMatch, only_arg, tensor_type};
use isoform::pattern::InteriorUses;
use isoform::{Ref, Result};
use isoform_ir::ir::TensorType;

pub(in super::super) const ROWS: &[Row] = &[
    Row {
        name: "reshape_reshape",
        exact: Exact::Always,
        reason: "a reshape keeps the order of elements, so the last shape alone counts",
        templates: |h| nested(h, ["reshape", "contrib_reverse_reshape"]),
        // One reshape replaces another reshape, even if the inner reshape has other
        // users.
        inner: InteriorUses::Anywhere,
        guard: |f| Ok(is_static(f)? && inner_fits(f)?),
        drops: None,
        replacement: |f| reshaped(f, f.x()?),
    },
    Row {
        name: "transpose_transpose",
        exact: Exact::Always,
        reason: "two permutations of axes are one, and so are two changes of layout; a \
                 permutation next to a change of layout only renames axes",
        templates: |h| nested(h, ["transpose", "layout_transform"]),
        inner: InteriorUses::Anywhere,
        guard: always,
        drops: None,
        replacement: |f| match same_operator(f)? {
            Some(made) => Ok(Some(made)),
            None => match permuted(f)? {
                Some(made) => Ok(Some(made)),
                None => relaid(f),
            },
        },
    },
    Row {
        name: "transpose_nothing",
        exact: Exact::Always,
        reason: "every axis stays in its place",
        templates: |h| {
            let template = |name| call_with(name, &h.x, &h.attrs[0]);
            Ok(vec![template("transpose")?, template("layout_transform")?])
        },
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_unchanged(f)? || permutation(f, 0, f.x()?).is_some_and(|p| stays(&p))),
        drops: None,
        replacement: |f| keep(f.x()?),
    },
];

/// The templates of two nested calls for every pair of operators.
fn nested(holes: &Holes, names: [&str; 2]) -> Result<Vec<Ref<Call>>> {
    let mut templates = Vec::new();
    for outer in names {
        for inner in names {
            let inner = call_with(inner, &holes.x, &holes.attrs[1])?;
            templates.push(call_with(outer, &inner, &holes.attrs[0])?);
        }
    }
    Ok(templates)
}

/// True if the inner reshape fits its argument for all values of unknown sizes;
/// otherwise only the inner call reports sizes that do not fit.
fn inner_fits(found: &RuleMatch<'_>) -> Result<bool> {
    let is_known = |ty: &Ref<TensorType>| ty.shape.iter().all(|size| dims::known(size).is_some());
    if tensor_type(found.x()?).is_some_and(is_known) {
        return Ok(true);
    }
    let Some(attrs) = found.attrs::<ReshapeAttrs>(1) else {
        return Ok(false);
    };
    Ok(dims::ints("newshape", &attrs.newshape)? == [-1])
}

fn stays(permutation: &[usize]) -> bool {
    permutation.iter().enumerate().all(|(at, axis)| at == *axis)
}

/// True for a change of layout without effect.
fn is_unchanged(found: &RuleMatch<'_>) -> Result<bool> {
    let attrs = found.attrs::<LayoutTransformAttrs>(0);
    Ok(attrs.is_some_and(|attrs| attrs.src_layout == attrs.dst_layout))
}

/// Maps the axes of the result of a call to the axes of its argument; None unless the
/// call only permutes axes.
fn permutation(rule_match: &RuleMatch<'_>, level: usize, data: &Expr) -> Option<Vec<usize>> {
    let rank = tensor_type(data)?.shape.len();
    if let Some(attrs) = rule_match.attrs::<TransposeAttrs>(level) {
        return match &attrs.axes {
            // An empty list of axes means the default order.
            Some(axes) if !axes.is_empty() => {
                let axes = dims::ints("axes", axes).ok()?;
                let order = dims::axes_of("axes", &axes, rank).ok()?;
                (order.len() == rank).then_some(order)
            }
            _ => Some((0..rank).rev().collect()),
        };
    }
    let attrs = rule_match.attrs::<LayoutTransformAttrs>(level)?;
    if !is_plain(&attrs.src_layout) || !is_plain(&attrs.dst_layout) {
        return None;
    }
    let axes = attrs
        .dst_layout
        .chars()
        .map(|letter| attrs.src_layout.find(letter));
    axes.collect::<Option<Vec<usize>>>()
        .filter(|axes| axes.len() == rank)
}

/// The call for two changes of layout.
fn same_operator(found: &RuleMatch<'_>) -> Result<Option<Expr>> {
    let layouts = |level| found.attrs::<LayoutTransformAttrs>(level);
    let (Some(outer), Some(inner)) = (layouts(0), layouts(1)) else {
        return Ok(None);
    };
    // A block divides its axis; for an unknown size, only the inner call checks the
    // division.
    let may_fail = inner.dst_layout.bytes().any(|byte| byte.is_ascii_digit())
        && found.static_shape()?.is_none();
    if outer.src_layout != inner.dst_layout || may_fail {
        return Ok(None);
    }
    if inner.src_layout == outer.dst_layout {
        return Ok(Some(found.x()?.clone()));
    }
    let attrs = LayoutTransformAttrs::new(inner.src_layout.clone(), outer.dst_layout.clone());
    found.call(&op::layout_transform(found.x()?, attrs))
}

/// The call for two permutations.
fn permuted(found: &RuleMatch<'_>) -> Result<Option<Expr>> {
    let x = found.x()?;
    let middle = only_arg(found.root()?)?;
    let (Some(outer), Some(inner)) = (permutation(found, 0, middle), permutation(found, 1, x))
    else {
        return Ok(None);
    };
    let order: Option<Vec<usize>> = outer.iter().map(|axis| inner.get(*axis).copied()).collect();
    match order {
        Some(order) if stays(&order) => Ok(Some(x.clone())),
        Some(order) => {
            let axes = sizes(order.into_iter().map(|axis| axis as i64));
            found.call(&op::transpose(x, TransposeAttrs::new(Some(axes))))
        }
        None => Ok(None),
    }
}

/// The change of layout for a change of layout and a permutation before or after it. Blocks are
/// on the other side of the change, so axes and letters correspond.
fn relaid(found: &RuleMatch<'_>) -> Result<Option<Expr>> {
    let x = found.x()?;
    let middle = only_arg(found.root()?)?;
    let layouts = |level| found.attrs::<LayoutTransformAttrs>(level);
    let (layout, order) = match (layouts(0), layouts(1)) {
        (Some(outer), None) => {
            // Axis `order[at]` of the argument has the letter at `at`.
            let order = permutation(found, 1, x).map(|order| {
                let mut inverse = vec![0; order.len()];
                order
                    .iter()
                    .enumerate()
                    .for_each(|(at, axis)| inverse[*axis] = at);
                inverse
            });
            (&outer.src_layout, order)
        }
        (None, Some(inner)) => (&inner.dst_layout, permutation(found, 0, middle)),
        _ => return Ok(None),
    };
    let Some(order) = order.filter(|order| is_plain(layout) && order.len() == layout.len()) else {
        return Ok(None);
    };
    let renamed: String = order
        .iter()
        .filter_map(|at| layout.chars().nth(*at))
        .collect();
    let attrs = match (layouts(0), layouts(1)) {
        (Some(outer), _) => LayoutTransformAttrs::new(renamed, outer.dst_layout.clone()),
        (_, Some(inner)) => LayoutTransformAttrs::new(inner.src_layout.clone(), renamed),
        _ => return Ok(None),
    };
    found.call(&op::layout_transform(x, attrs))
}

/// True for a layout of whole axes only.
fn is_plain(layout: &str) -> bool {
    layout.chars().all(|letter| letter.is_ascii_uppercase())
}
