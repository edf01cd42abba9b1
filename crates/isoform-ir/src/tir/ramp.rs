//! Vectors of equally distant integers.

use isoform::{Error, Node, Ref, Result, export};

use super::nodes::vector;
use super::number_types::{self as rules, Class};
use super::operators::cast;
use crate::ir::{PrimExpr, Span};

/// The vector `base, base + stride, base + 2 * stride, ...`.
#[derive(Node)]
#[node(key = "tir.Ramp", init = make_ramp, no_new)]
#[repr(C)]
pub struct Ramp {
    #[node(base)]
    expr: PrimExpr,
    /// The first value.
    pub base: Ref<PrimExpr>,
    /// The difference of neighbours.
    pub stride: Ref<PrimExpr>,
    /// The number of lanes.
    pub lanes: i64,
}

/// Makes a vector of equally distant integers.
#[export("tir.Ramp")]
fn make_ramp(
    base: Ref<PrimExpr>,
    stride: Ref<PrimExpr>,
    lanes: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<Ramp>> {
    let dtype = vector(Ramp::TYPE_KEY, base.dtype, lanes)?;
    if !matches!(rules::class(dtype), Class::Int | Class::UInt) {
        return Err(Error::value_error(format!(
            "tir.Ramp: expected an integer data type, got {dtype}"
        )));
    }
    if stride.dtype.lanes() != 1 {
        return Err(Error::value_error(format!(
            "tir.Ramp.stride: expected a scalar, got {}",
            stride.dtype
        )));
    }
    let stride = cast(base.dtype, &stride)?;
    Ok(Ref::new(Ramp {
        expr: PrimExpr::typed(dtype, span),
        base,
        stride,
        lanes,
    }))
}
