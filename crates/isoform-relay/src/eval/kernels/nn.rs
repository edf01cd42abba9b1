//! Operators of neural networks.

use isoform_kernels::elementwise::{Unary, unary};
use isoform_kernels::movement::transpose;
use isoform_kernels::normalize::{self, BatchNorm, LayerNorm};
use isoform_kernels::products::MatMul;
use isoform_kernels::shape::{PoolRounding, Window};
use isoform_kernels::windows::{Convolution, Pool, global_windows};
use isoform_kernels::{ElementType, Tensor, View};

use super::create::sizes;
use crate::attrs::{
    AvgPool2DAttrs, BatchMatmulAttrs, BatchNormAttrs, Conv2DAttrs, DenseAttrs, GlobalPool2DAttrs,
    LayerNormAttrs, MatmulAttrs, MaxPool2DAttrs, SoftmaxAttrs,
};
use crate::eval::call::{OpCall, Outcome, Refusal};
use crate::op::dims::Dim;
use isoform::values::DType;
use isoform::{Array, Error, Result, Str};
use isoform_ir::kernels::element_type;

/// The type of a result; void means the type of the input.
fn result_type(dtype: DType) -> Result<Option<ElementType>> {
    (!dtype.is_void()).then(|| element_type(dtype)).transpose()
}

fn product(call: &OpCall<'_>, transposed: [bool; 2], out_dtype: DType) -> Outcome {
    let [transpose_left, transpose_right] = transposed;
    let matmul = MatMul {
        transpose_left,
        transpose_right,
        result_type: result_type(out_dtype)?,
    };
    call.made(matmul.apply(call.view(0)?, call.view(1)?, &call.control)?)
}

pub(super) fn dense(call: &OpCall<'_>) -> Outcome {
    product(call, [false, true], call.attrs::<DenseAttrs>()?.out_dtype)
}

pub(super) fn matmul(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<MatmulAttrs>()?;
    product(
        call,
        [attrs.transpose_a, attrs.transpose_b],
        attrs.out_dtype,
    )
}

pub(super) fn batch_matmul(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<BatchMatmulAttrs>()?;
    product(
        call,
        [attrs.transpose_a, attrs.transpose_b],
        attrs.out_dtype,
    )
}

/// The positions in `from` of the axes of `to`.
fn permutation(name: &str, from: &str, to: &str) -> Result<Vec<i64>> {
    let position = |letter: char| {
        from.find(letter).map(|at| at as i64).ok_or_else(|| {
            Error::value_error(format!(
                "{name}: expected the axes {to} in any order, got '{from}'"
            ))
        })
    };
    if from.len() != to.len() {
        return Err(Error::value_error(format!(
            "{name}: expected the axes {to} in any order, got '{from}'"
        )));
    }
    to.chars().map(position).collect()
}

/// A tensor with its axes in the order of another layout.
pub(super) enum LayoutView<'a> {
    Same(View<'a>),
    Moved(Tensor),
}

impl LayoutView<'_> {
    pub(super) fn view(&self) -> View<'_> {
        match self {
            LayoutView::Same(view) => *view,
            LayoutView::Moved(tensor) => tensor.view(),
        }
    }
}

pub(super) fn arranged<'a>(
    call: &OpCall<'_>,
    x: View<'a>,
    name: &str,
    from: &str,
    to: &str,
) -> std::result::Result<LayoutView<'a>, Refusal> {
    if from == to {
        return Ok(LayoutView::Same(x));
    }
    let order = permutation(name, from, to)?;
    Ok(LayoutView::Moved(transpose(
        x,
        Some(&order),
        &call.control,
    )?))
}

/// The result in its layout.
pub(super) fn placed(call: &OpCall<'_>, result: Tensor, layout: &str, out_layout: &str) -> Outcome {
    let target = if out_layout.is_empty() {
        layout
    } else {
        out_layout
    };
    match arranged(call, result.view(), "out_layout", IMAGES, target)? {
        LayoutView::Moved(moved) => call.made(moved),
        LayoutView::Same(_) => call.made(result),
    }
}

/// The layouts of images and weights in kernels.
pub(super) const IMAGES: &str = "NCHW";
const WEIGHTS: &str = "OIHW";

/// The windows along height and width.
fn windows(
    size: [usize; 2],
    strides: &Array<Dim>,
    dilation: &Array<Dim>,
    padding: &Array<Dim>,
) -> Result<[Window; 2]> {
    let [strides, dilation] =
        [("strides", strides), ("dilation", dilation)].map(|(name, values)| pair(name, values));
    let (strides, dilation) = (strides?, dilation?);
    let padding = match sizes("padding", padding)?[..] {
        [all] => [all; 4],
        [height, width] => [height, width, height, width],
        [top, left, bottom, right] => [top, left, bottom, right],
        ref other => {
            return Err(Error::value_error(format!(
                "padding: expected one, two or four sizes, got {}",
                other.len()
            )));
        }
    };
    Ok([0, 1].map(|side| Window {
        size: size[side],
        stride: strides[side],
        dilation: dilation[side],
        before: padding[side],
        after: padding[side + 2],
    }))
}

fn pair(name: &str, given: &Array<Dim>) -> Result<[usize; 2]> {
    match sizes(name, given)?[..] {
        [height, width] => Ok([height, width]),
        ref other => Err(Error::value_error(format!(
            "{name}: expected two sizes, for height and width, got {}",
            other.len()
        ))),
    }
}

pub(super) fn conv2d(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<Conv2DAttrs>()?;
    let data = arranged(
        call,
        call.view(0)?,
        "data_layout",
        &attrs.data_layout,
        IMAGES,
    )?;
    let weight = arranged(
        call,
        call.view(1)?,
        "kernel_layout",
        &attrs.kernel_layout,
        WEIGHTS,
    )?;
    let [_, _, height, width] = *weight.view().shape() else {
        return Err(Error::value_error(format!(
            "weight: expected a tensor of rank 4, got shape {:?}",
            weight.view().shape()
        ))
        .into());
    };
    let windows = windows(
        [height, width],
        &attrs.strides,
        &attrs.dilation,
        &attrs.padding,
    )?;
    let groups = usize::try_from(attrs.groups).map_err(|_| {
        Error::value_error(format!(
            "groups: expected a number from 1, got {}",
            attrs.groups
        ))
    })?;
    let convolution = Convolution {
        windows: &windows,
        groups,
        result_type: result_type(attrs.out_dtype)?,
    };
    let result = convolution.apply(data.view(), weight.view(), &call.control)?;
    placed(call, result, &attrs.data_layout, &attrs.out_layout)
}

/// The layouts of a pool's input and result.
struct Layouts<'a> {
    layout: &'a Str,
    out_layout: &'a Str,
}

impl Layouts<'_> {
    fn pool(
        &self,
        call: &OpCall<'_>,
        compute: impl FnOnce(View<'_>) -> std::result::Result<Tensor, Refusal>,
    ) -> Outcome {
        let data = arranged(call, call.view(0)?, "layout", self.layout, IMAGES)?;
        placed(call, compute(data.view())?, self.layout, self.out_layout)
    }
}

fn rounding(ceil_mode: bool) -> PoolRounding {
    if ceil_mode {
        PoolRounding::Up
    } else {
        PoolRounding::Down
    }
}

pub(super) fn max_pool2d(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<MaxPool2DAttrs>()?;
    let size = pair("pool_size", &attrs.pool_size)?;
    let windows = windows(size, &attrs.strides, &attrs.dilation, &attrs.padding)?;
    let pool = Pool {
        windows: &windows,
        rounding: rounding(attrs.ceil_mode),
    };
    let layouts = Layouts {
        layout: &attrs.layout,
        out_layout: &attrs.out_layout,
    };
    layouts.pool(call, |data| Ok(pool.max(data, &call.control)?))
}

pub(super) fn avg_pool2d(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<AvgPool2DAttrs>()?;
    let size = pair("pool_size", &attrs.pool_size)?;
    let windows = windows(size, &attrs.strides, &attrs.dilation, &attrs.padding)?;
    let pool = Pool {
        windows: &windows,
        rounding: rounding(attrs.ceil_mode),
    };
    let layouts = Layouts {
        layout: &attrs.layout,
        out_layout: &attrs.out_layout,
    };
    let count = attrs.count_include_pad;
    layouts.pool(call, |data| Ok(pool.average(data, count, &call.control)?))
}

pub(super) fn global_max_pool2d(call: &OpCall<'_>) -> Outcome {
    global(call, |pool, data| Ok(pool.max(data, &call.control)?))
}

pub(super) fn global_avg_pool2d(call: &OpCall<'_>) -> Outcome {
    global(call, |pool, data| {
        Ok(pool.average(data, false, &call.control)?)
    })
}

fn global(
    call: &OpCall<'_>,
    compute: impl FnOnce(Pool<'_>, View<'_>) -> std::result::Result<Tensor, Refusal>,
) -> Outcome {
    let attrs = call.attrs::<GlobalPool2DAttrs>()?;
    let layouts = Layouts {
        layout: &attrs.layout,
        out_layout: &attrs.out_layout,
    };
    layouts.pool(call, |data| {
        let windows = global_windows(data.shape());
        if windows.iter().any(|window| window.size == 0) {
            let message = "expected data with elements to pool, got an empty spatial axis";
            return Err(Error::value_error(message).into());
        }
        let pool = Pool {
            windows: &windows,
            rounding: PoolRounding::Down,
        };
        compute(pool, data)
    })
}

pub(super) fn softmax(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<SoftmaxAttrs>()?.axis;
    call.made(normalize::softmax(call.view(0)?, axis, &call.control)?)
}

pub(super) fn log_softmax(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<SoftmaxAttrs>()?.axis;
    call.made(normalize::log_softmax(call.view(0)?, axis, &call.control)?)
}

/// The normalized data, and the given mean and variance.
pub(super) fn batch_norm(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<BatchNormAttrs>()?;
    let norm = BatchNorm {
        gamma: attrs.scale.then(|| call.view(1)).transpose()?,
        beta: attrs.center.then(|| call.view(2)).transpose()?,
        mean: call.view(3)?,
        variance: call.view(4)?,
        axis: attrs.axis,
        epsilon: attrs.epsilon,
    };
    let result = call.made(norm.apply(call.view(0)?, &call.control)?)?;
    let fields: Array = [result, call.values[3].clone(), call.values[4].clone()]
        .into_iter()
        .collect();
    Ok(fields.into())
}

pub(super) fn layer_norm(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<LayerNormAttrs>()?;
    let norm = LayerNorm {
        gamma: attrs.scale.then(|| call.view(1)).transpose()?,
        beta: attrs.center.then(|| call.view(2)).transpose()?,
        axes: &[attrs.axis],
        epsilon: attrs.epsilon,
    };
    call.made(norm.apply(call.view(0)?, &call.control)?)
}

/// The data itself and a mask of ones: elements are dropped only during training.
pub(super) fn dropout(call: &OpCall<'_>) -> Outcome {
    let mask = call.made(unary(Unary::OnesLike, call.view(0)?, &call.control)?)?;
    let fields: Array = [call.values[0].clone(), mask].into_iter().collect();
    Ok(fields.into())
}
