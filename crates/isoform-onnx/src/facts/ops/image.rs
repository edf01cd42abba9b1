//! Operators on images: resizing, sampling, regions.

use super::context::{Context, axes_of};
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

pub(super) fn resize(c: &mut Context<'_>, op: &str) -> Shape {
    let shape = c.shape(0)?;
    let rank = shape.len();
    let (scales_at, sizes_at) = match (op, c.version()) {
        ("Upsample", ..=8) => (None, None),
        ("Upsample", _) | ("Resize", ..=10) => (Some(1), None),
        _ => (Some(2), Some(3)),
    };
    let axes = match c.version() {
        18.. => match c.given_ints("axes")? {
            Some(axes) => axes_of(&axes, rank)?,
            None => (0..rank).collect(),
        },
        _ => (0..rank).collect::<Vec<_>>(),
    };
    let unknown = |c: &mut Context<'_>| {
        let mut result = shape.to_vec();
        for axis in &axes {
            result[*axis] = c.symbols.fresh_extent();
        }
        Some(result)
    };
    // An empty tensor means the same as an omitted input.
    let is_given = |c: &Context<'_>, index: Option<usize>| {
        index
            .and_then(|index| c.shape(index))
            .is_none_or(|shape| shape.first().and_then(Size::as_const) != Some(0))
    };
    if let Some(index) = sizes_at.filter(|index| c.has(*index))
        && is_given(c, sizes_at)
    {
        let sizes = c.elements(index).filter(|sizes| sizes.len() == axes.len());
        let (Some(sizes), "stretch") = (sizes, c.str("keep_aspect_ratio_policy", "stretch")?)
        else {
            return unknown(c);
        };
        let mut result = shape.to_vec();
        for (axis, size) in axes.iter().zip(sizes) {
            result[*axis] = size.clone();
        }
        return Some(result);
    }
    let scales = match scales_at {
        Some(index) => c.floats(index),
        None => c.call.floats("scales").ok()?,
    };
    // With regions, extents depend on their contents too.
    let crops = c.str("coordinate_transformation_mode", "")? == "tf_crop_and_resize";
    let Some(scales) = scales.filter(|scales| scales.len() == axes.len() && !crops) else {
        return unknown(c);
    };
    let mut result = shape.to_vec();
    for (axis, scale) in axes.iter().zip(scales) {
        let size = scaled(&shape[*axis], scale);
        result[*axis] = c.symbols.or_fresh(size);
    }
    Some(result)
}

/// `floor(size * scale)`, if rounding errors cannot change it.
fn scaled(size: &Size, scale: f64) -> Option<Size> {
    if scale.fract() == 0.0 && (1.0..1e6).contains(&scale) {
        return size.mul(&Size::from(scale as i64));
    }
    let size = size.as_const().filter(|size| (0..1 << 24).contains(size))?;
    if !(0.0..1e6).contains(&scale) {
        return None;
    }
    // Runtimes multiply in either precision.
    let (wide, narrow) = (size as f64 * scale, size as f32 * scale as f32);
    let (wide, narrow) = (wide.floor(), f64::from(narrow.floor()));
    (wide == narrow).then(|| Size::from(wide as i64))
}

pub(super) fn grid_sample(c: &mut Context<'_>) -> Shape {
    let (data, grid) = (c.shape(0)?, c.shape(1)?);
    let mut shape = data.get(..2)?.to_vec();
    shape.extend_from_slice(grid.get(1..grid.len().checked_sub(1)?)?);
    Some(shape)
}

pub(super) fn affine_grid(c: &mut Context<'_>) -> Shape {
    let spatial = match c.elements(1) {
        Some(sizes) => sizes.get(2..)?.to_vec(),
        None => match c.shape(1)? {
            [count] => {
                let rank = usize::try_from(count.as_const()?.checked_sub(2)?).ok()?;
                (rank <= 3).then(|| c.symbols.fresh_shape(rank))?
            }
            _ => return None,
        },
    };
    let batch = match c.elements(1) {
        Some(sizes) => sizes.first()?.clone(),
        None => c.shape(0)?.first()?.clone(),
    };
    let coordinates = i64::try_from(spatial.len()).ok()?;
    let mut shape = vec![batch];
    shape.extend(spatial);
    shape.push(Size::from(coordinates));
    Some(shape)
}

pub(super) fn roi_align(c: &mut Context<'_>) -> Shape {
    let channels = c.shape(0).and_then(|shape| shape.get(1)).cloned();
    let regions = c.shape(1).and_then(|shape| shape.first()).cloned();
    Some(vec![
        c.symbols.or_fresh(regions),
        c.symbols.or_fresh(channels),
        Size::from(c.int("output_height", 1)?),
        Size::from(c.int("output_width", 1)?),
    ])
}

pub(super) fn max_roi_pool(c: &mut Context<'_>) -> Shape {
    let channels = c.shape(0).and_then(|shape| shape.get(1)).cloned();
    let regions = c.shape(1).and_then(|shape| shape.first()).cloned();
    let pooled = c.given_ints("pooled_shape")??;
    let mut shape = vec![c.symbols.or_fresh(regions), c.symbols.or_fresh(channels)];
    shape.extend(pooled.into_iter().map(Size::from));
    Some(shape)
}
