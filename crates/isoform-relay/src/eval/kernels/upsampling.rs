//! Images in another size.
//!
//! Each axis is processed on its own: an element of the result is an element of the data,
//! or the sum of a few elements with weights.

use isoform_kernels::elementwise::{Binary, binary, cast};
use isoform_kernels::indexing::{IndexMode, Take};
use isoform_kernels::{ElementType, Tensor, View};

use super::nn::{IMAGES, arranged, placed};
use crate::attrs::UpSamplingAttrs;
use crate::eval::call::{OpCall, Outcome, Refusal};
use crate::op::scaled_size;
use isoform::Error;

pub(super) fn upsampling(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<UpSamplingAttrs>()?;
    let data = arranged(call, call.view(0)?, "layout", &attrs.layout, IMAGES)?;
    let data = data.view();
    let is_copy = attrs.method.as_str() == "nearest_neighbor";
    let mut result = if is_copy {
        data.to_tensor(&call.control)?
    } else {
        cast(data, ElementType::Float64, &call.control)?
    };
    for (axis, scale) in [(2, attrs.scale_h), (3, attrs.scale_w)] {
        let axis = Axis {
            size: result.shape()[axis] as i64,
            out: scaled_size(result.shape()[axis] as i64, scale)?,
            axis,
            align_corners: attrs.align_corners,
        };
        result = match &*attrs.method {
            "nearest_neighbor" => axis.taken(call, result.view(), &axis.nearest())?,
            "bilinear" => axis.summed(call, result.view(), 2, |tap, ratio| match tap {
                0 => 1.0 - ratio,
                _ => ratio,
            })?,
            "bicubic" => axis.summed(call, result.view(), 4, |tap, ratio| {
                cubic((tap as f64 - 1.0 - ratio).abs())
            })?,
            other => {
                return Err(Error::value_error(format!(
                    "method: expected 'nearest_neighbor', 'bilinear' or 'bicubic', got '{other}'"
                ))
                .into());
            }
        };
    }
    if !is_copy {
        result = cast(result.view(), data.element_type(), &call.control)?;
    }
    placed(call, result, &attrs.layout, "")
}

/// An axis that gets another size.
struct Axis {
    axis: usize,
    size: i64,
    out: i64,
    align_corners: bool,
}

impl Axis {
    /// The position of an element of the result in the data, as a fraction.
    fn position(&self, place: i64) -> (i64, i64) {
        match (self.align_corners, self.out) {
            (true, 1) => (0, 1),
            (true, _) => (place * (self.size - 1), self.out - 1),
            (false, _) => (place * self.size, self.out),
        }
    }

    /// For each element of the result, the element at its position: the nearest for aligned
    /// corners, otherwise the one before.
    fn nearest(&self) -> Vec<i64> {
        let nearest = |place: i64| {
            let (over, under) = self.position(place);
            if self.align_corners {
                (2 * over + under).div_euclid(2 * under)
            } else {
                over.div_euclid(under)
            }
        };
        (0..self.out).map(nearest).collect()
    }

    /// The elements with these indices.
    fn taken(
        &self,
        call: &OpCall<'_>,
        data: View<'_>,
        indices: &[i64],
    ) -> std::result::Result<Tensor, Refusal> {
        let indices = Tensor::from_slice(&[indices.len()], indices)?;
        let take = Take {
            axis: Some(self.axis as i64),
            batch_dims: 0,
            mode: IndexMode::Clip,
        };
        Ok(take.apply(data, indices.view(), &call.control)?)
    }

    /// The sums of elements around positions. A weight belongs to a tap and to the distance
    /// of the position from the element before.
    fn summed(
        &self,
        call: &OpCall<'_>,
        data: View<'_>,
        taps: i64,
        weight: impl Fn(i64, f64) -> f64,
    ) -> std::result::Result<Tensor, Refusal> {
        let mut shape = vec![1; data.rank()];
        shape[self.axis] = self.out as usize;
        let mut sum: Option<Tensor> = None;
        for tap in 0..taps {
            let places = (0..self.out).map(|place| self.position(place));
            let first = |(over, under): (i64, i64)| over.div_euclid(under) + 1 - taps / 2;
            let indices: Vec<i64> = places.clone().map(|place| first(place) + tap).collect();
            let ratio = |(over, under): (i64, i64)| over.rem_euclid(under) as f64 / under as f64;
            let weights: Vec<f64> = places.map(|place| weight(tap, ratio(place))).collect();
            let weights = Tensor::from_slice(&shape, &weights)?;
            let taken = self.taken(call, data, &indices)?;
            let part = binary(
                Binary::Multiply,
                taken.view(),
                weights.view(),
                &call.control,
            )?;
            sum = Some(match sum {
                None => part,
                Some(sum) => binary(Binary::Add, sum.view(), part.view(), &call.control)?,
            });
        }
        sum.ok_or_else(|| Error::value_error("expected weights").into())
    }
}

/// The weight of an element by its distance from a position, after Keys, "Cubic convolution
/// interpolation for digital image processing" (1981), with the parameter -1/2.
fn cubic(distance: f64) -> f64 {
    match distance {
        ..=1.0 => (1.5 * distance - 2.5) * distance * distance + 1.0,
        ..2.0 => ((-0.5 * distance + 2.5) * distance - 4.0) * distance + 2.0,
        _ => 0.0,
    }
}
