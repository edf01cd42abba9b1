//! Operators that take a shape or a data type from a tensor; only the type of the
//! tensor counts.

use crate::attrs::{CastAttrs, InitOpAttrs, ReshapeAttrs, sizes};
use crate::op;
use crate::passes::simplify::row::{Exact, Row, always};
use crate::passes::simplify::rule_match::{Expr, RuleMatch};
use crate::{AsExpr, Call};
use isoform::pattern::InteriorUses;
use isoform::{Ref, Result};
use isoform_ir::ir::Op;

const SAME: &str = "the type of the result says the same, and is known";

pub(in super::super) const ROWS: &[Row] = &[
    Row {
        name: "zeros_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| Ok(vec![op::zeros_like(&h.x)]),
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.x),
        replacement: |f| f.call(&op::zeros(init(f)?)),
    },
    Row {
        name: "ones_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| Ok(vec![op::ones_like(&h.x)]),
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.x),
        replacement: |f| f.call(&op::ones(init(f)?)),
    },
    Row {
        name: "full_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| Ok(vec![op::full_like(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.x),
        replacement: |f| f.call(&op::full(f.y()?, init(f)?)),
    },
    Row {
        name: "reshape_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| {
            let call = Call::new(Op::get("reshape_like")?, [h.x.expr(), h.y.expr()]);
            Ok(vec![call.with_attrs(&h.attrs[0])])
        },
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.y),
        replacement: |f| reshaped(f, f.x()?),
    },
    Row {
        name: "collapse_sum_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| Ok(vec![op::collapse_sum_like(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.y),
        replacement: |f| f.call(&op::collapse_sum_to(f.x()?, shape(f)?)),
    },
    Row {
        name: "broadcast_to_like",
        exact: Exact::Always,
        reason: SAME,
        templates: |h| Ok(vec![op::broadcast_to_like(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: is_static,
        drops: Some(|h| &h.y),
        replacement: |f| f.call(&op::broadcast_to(f.x()?, shape(f)?)),
    },
    Row {
        name: "cast_like",
        exact: Exact::Always,
        reason: "the data type of the result says the same",
        templates: |h| Ok(vec![op::cast_like(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: always,
        drops: Some(|h| &h.y),
        replacement: |f| f.call(&op::cast(f.x()?, CastAttrs::new(f.dtype()?))),
    },
];

/// True if the sizes of the result are numbers.
pub(super) fn is_static(found: &RuleMatch<'_>) -> Result<bool> {
    Ok(found.static_shape()?.is_some())
}

/// The shape of the result, as attributes.
fn shape(found: &RuleMatch<'_>) -> Result<Ref<InitOpAttrs>> {
    let shape = found.static_shape()?;
    Ok(InitOpAttrs::new(shape.map(sizes)))
}

/// The type of the result, as attributes.
fn init(found: &RuleMatch<'_>) -> Result<Ref<InitOpAttrs>> {
    Ok(shape(found)?.with_dtype(found.dtype()?))
}

/// An expression in the shape of the result, with numbers as sizes.
pub(super) fn reshaped(found: &RuleMatch<'_>, data: &Expr) -> Result<Option<Expr>> {
    let Some(shape) = found.static_shape()? else {
        return Ok(None);
    };
    // A zero otherwise copies the size of the input.
    let has_zero = shape.contains(&0);
    let attrs = ReshapeAttrs::new(sizes(shape)).with_allowzero(has_zero);
    found.call(&op::reshape(data, attrs))
}
