//! Images in another size.

use super::dims::{self, Dim};
use super::layout::positions;
use crate::attrs::{UpSamplingAttrs, size};
use crate::op::relation::CallTypes;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::Type;

/// The result of `nn.upsampling`.
pub(in super::super) fn upsampling(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<UpSamplingAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    if !["nearest_neighbor", "bilinear", "bicubic"].contains(&&*attrs.method) {
        return Err(Error::value_error(format!(
            "method: expected 'nearest_neighbor', 'bilinear' or 'bicubic', got '{}'",
            attrs.method
        )));
    }
    let mut shape = dims::shape_of(data);
    dims::expect_rank("nn.upsampling: data", &shape, 4)?;
    let [_, _, height, width] = positions("layout", &attrs.layout, "NCHW")?;
    for (name, axis, scale) in [
        ("scale_h", height, attrs.scale_h),
        ("scale_w", width, attrs.scale_w),
    ] {
        shape[axis] = scaled(&shape[axis], scale)
            .map_err(|error| Error::value_error(format!("{name}: {}", error.message())))?;
    }
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// A size times a scale; symbolic sizes have results only for whole scales.
fn scaled(dim: &Dim, scale: f64) -> Result<Dim> {
    match dims::known(dim) {
        Some(known) => Ok(size(scaled_size(known, scale)?)),
        None => {
            let whole = scaled_size(1, scale)?;
            if whole as f64 == scale {
                dims::mul(dim, &size(whole))
            } else {
                Ok(dims::any())
            }
        }
    }
}

/// The size of an axis times a scale, rounded to the nearest number, halves to the even one.
///
/// # Errors
///
/// `ValueError` for a scale that is not above 0, and for a size that is too large.
pub(crate) fn scaled_size(size: i64, scale: f64) -> Result<i64> {
    let scaled = (size as f64 * scale).round_ties_even();
    if scale > 0.0 && scaled < 2_f64.powi(31) {
        return Ok(scaled as i64);
    }
    Err(Error::value_error(format!(
        "expected a number above 0 for a size below 2147483648, got {scale} for {size}"
    )))
}
