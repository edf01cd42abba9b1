"""Operators of neural networks.

>>> from isoform import relay
>>> x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w")
>>> call = relay.nn.conv2d(x, w, padding=1, channels=16, kernel_size=3)
>>> [int(size) for size in call.attrs.padding]
[1, 1, 1, 1]
"""

from __future__ import annotations

from typing import Any

from isoform.relay.expr import Expr, TupleWrapper, const

from ._make import dtype_or_void, make, padding as _padding, pair, unary

__all__ = [
    "avg_pool2d",
    "batch_flatten",
    "batch_matmul",
    "batch_norm",
    "bias_add",
    "conv2d",
    "dense",
    "dropout",
    "dropout_raw",
    "global_avg_pool2d",
    "global_max_pool2d",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "matmul",
    "max_pool2d",
    "pad",
    "relu",
    "softmax",
    "upsampling",
]

relu = unary("nn.relu")
batch_flatten = unary("nn.batch_flatten")
_conv2d = make("nn.conv2d")
_dense = make("nn.dense")
_matmul = make("nn.matmul")
_batch_matmul = make("nn.batch_matmul")
_bias_add = make("nn.bias_add")
_leaky_relu = make("nn.leaky_relu")
_softmax = make("nn.softmax")
_log_softmax = make("nn.log_softmax")
_batch_norm = make("nn.batch_norm")
_layer_norm = make("nn.layer_norm")
_dropout = make("nn.dropout")
_max_pool2d = make("nn.max_pool2d")
_avg_pool2d = make("nn.avg_pool2d")
_global_max_pool2d = make("nn.global_max_pool2d")
_global_avg_pool2d = make("nn.global_avg_pool2d")
_pad = make("nn.pad")
_upsampling = make("nn.upsampling")


def conv2d(
    data: Any,
    weight: Any,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
    channels: Any = None,
    kernel_size: Any = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: Any = "",
) -> Any:
    """Return the convolution of images with a kernel.

    Args:
        data: The images.
        weight: The kernel; its type is found if `channels` and `kernel_size` are given.
        strides: The steps along height and width, or one number for both.
        padding: The zeros around the images: one number for all sides, two for height and
            width, or four for top, left, bottom and right.
        dilation: The distances of the elements of the kernel.
        groups: The number of groups of channels.
        channels: The number of channels of the result.
        kernel_size: The height and width of the kernel.
        data_layout: The order of the axes of the images.
        kernel_layout: The order of the axes of the kernel.
        out_layout: The order of the axes of the result; empty for that of the images.
        out_dtype: The data type of the result; empty for that of the images.

    Raises ValueError for another number of sizes.
    """
    return _conv2d(
        data,
        weight,
        pair("strides", strides),
        _padding(padding),
        pair("dilation", dilation),
        groups,
        channels,
        None if kernel_size is None else pair("kernel_size", kernel_size),
        data_layout,
        kernel_layout,
        out_layout,
        dtype_or_void(out_dtype),
    )


def dense(data: Any, weight: Any, units: Any = None, out_dtype: Any = "") -> Any:
    """Return the product of the data and the transposed weight.

    Args:
        data: The input, multiplied along the last axis.
        weight: The weight, of shape (units, inputs).
        units: The number of outputs; by default that of the weight.
        out_dtype: The data type of the result; empty for that of the data.
    """
    return _dense(data, weight, units, dtype_or_void(out_dtype))


def matmul(
    tensor_a: Any,
    tensor_b: Any,
    units: Any = None,
    out_dtype: Any = "",
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Any:
    """Return the product of two matrices, both optionally transposed.

    Args:
        tensor_a: The first matrix, with any number of leading axes.
        tensor_b: The second matrix.
        units: The number of columns of the result; by default that of the second matrix.
        out_dtype: The data type of the result; empty for that of the first matrix.
        transpose_a: True if the first matrix is given transposed.
        transpose_b: True if the second matrix is given transposed.
    """
    return _matmul(tensor_a, tensor_b, units, dtype_or_void(out_dtype), transpose_a, transpose_b)


def batch_matmul(
    tensor_a: Any,
    tensor_b: Any,
    out_dtype: Any = "",
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> Any:
    """Return the products of two batches of matrices.

    Args:
        tensor_a: The first batch.
        tensor_b: The second batch, by default of transposed matrices.
        out_dtype: The data type of the result; empty for that of the first batch.
        transpose_a: True if the first matrices are given transposed.
        transpose_b: True if the second matrices are given transposed.
    """
    return _batch_matmul(tensor_a, tensor_b, dtype_or_void(out_dtype), transpose_a, transpose_b)


def bias_add(data: Any, bias: Any, axis: int = 1) -> Any:
    """Return the data plus a vector along one axis.

    Args:
        data: The input.
        bias: The vector.
        axis: The axis; negative axes count from the end.
    """
    return _bias_add(data, bias, axis)


def leaky_relu(data: Any, alpha: float = 0.01) -> Any:
    """Return the elements, with negative elements multiplied by a factor.

    Args:
        data: The input.
        alpha: The factor.
    """
    return _leaky_relu(data, alpha)


def softmax(data: Any, axis: int = -1) -> Any:
    """Return the exponentials of elements, divided by their sum along an axis.

    Args:
        data: The input.
        axis: The axis.
    """
    return _softmax(data, axis)


def log_softmax(data: Any, axis: int = -1) -> Any:
    """Return the logarithm of the softmax.

    Args:
        data: The input.
        axis: The axis.
    """
    return _log_softmax(data, axis)


def batch_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> TupleWrapper:
    """Return the data normalized with a mean and a variance for each channel, and these two.

    Args:
        data: The input.
        gamma: The factor of each channel.
        beta: The offset of each channel.
        moving_mean: The mean of each channel.
        moving_var: The variance of each channel.
        axis: The axis of the channels.
        epsilon: Added to the variance, to keep the division defined.
        center: True if beta is added.
        scale: True if the result is multiplied by gamma.
    """
    result = _batch_norm(data, gamma, beta, moving_mean, moving_var, axis, epsilon, center, scale)
    return TupleWrapper(result, 3)


def layer_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    axis: int = -1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Any:
    """Return the data normalized along one axis.

    Args:
        data: The input.
        gamma: The factors.
        beta: The offsets.
        axis: The axis.
        epsilon: Added to the variance, to keep the division defined.
        center: True if beta is added.
        scale: True if the result is multiplied by gamma.
    """
    return _layer_norm(data, gamma, beta, axis, epsilon, center, scale)


def dropout(data: Any, rate: float = 0.5) -> Any:
    """Return the data with random elements set to zero.

    Args:
        data: The input.
        rate: The probability of replacing an element by zero.
    """
    return TupleWrapper(dropout_raw(data, rate), 2)[0]


def dropout_raw(data: Any, rate: float = 0.5) -> Any:
    """Return the call of dropout itself: a tuple of the data with zeros and the mask.

    Args:
        data: The input.
        rate: The probability of replacing an element by zero.
    """
    return _dropout(data, rate)


def max_pool2d(
    data: Any,
    pool_size: Any = (1, 1),
    strides: Any = (1, 1),
    dilation: Any = (1, 1),
    padding: Any = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
) -> Any:
    """Return the largest element of each window of images.

    Args:
        data: The images.
        pool_size: The height and width of the window, or one number for both.
        strides: The steps of the window.
        dilation: The distances of the elements of the window.
        padding: The elements around the images: one number for all sides, two for height
            and width, or four for top, left, bottom and right.
        layout: The order of the axes of the images.
        out_layout: The order of the axes of the result; empty for that of the images.
        ceil_mode: True if a window that is partly outside counts.
    """
    return _max_pool2d(
        data,
        pair("pool_size", pool_size),
        pair("strides", strides),
        pair("dilation", dilation),
        _padding(padding),
        layout,
        out_layout,
        ceil_mode,
    )


def avg_pool2d(
    data: Any,
    pool_size: Any = (1, 1),
    strides: Any = (1, 1),
    dilation: Any = (1, 1),
    padding: Any = (0, 0),
    layout: str = "NCHW",
    out_layout: str = "",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Any:
    """Return the means of the windows of images.

    Args:
        data: The images.
        pool_size: The height and width of the window, or one number for both.
        strides: The steps of the window.
        dilation: The distances of the elements of the window.
        padding: The elements around the images, as for `max_pool2d`.
        layout: The order of the axes of the images.
        out_layout: The order of the axes of the result; empty for that of the images.
        ceil_mode: True if a window that is partly outside counts.
        count_include_pad: True if padding counts as elements of the mean.
    """
    return _avg_pool2d(
        data,
        pair("pool_size", pool_size),
        pair("strides", strides),
        pair("dilation", dilation),
        _padding(padding),
        layout,
        out_layout,
        ceil_mode,
        count_include_pad,
    )


def global_max_pool2d(data: Any, layout: str = "NCHW", out_layout: str = "") -> Any:
    """Return the largest elements of the channels of images.

    Args:
        data: The images.
        layout: The order of the axes of the images.
        out_layout: The order of the axes of the result; empty for that of the images.
    """
    return _global_max_pool2d(data, layout, out_layout)


def global_avg_pool2d(data: Any, layout: str = "NCHW", out_layout: str = "") -> Any:
    """Return the means of the channels of images.

    Args:
        data: The images.
        layout: The order of the axes of the images.
        out_layout: The order of the axes of the result; empty for that of the images.
    """
    return _global_avg_pool2d(data, layout, out_layout)


def pad(data: Any, pad_width: Any, pad_value: Any = 0, pad_mode: str = "constant") -> Any:
    """Return the data with elements added before and after each axis.

    Args:
        data: The input.
        pad_width: For each axis, the numbers of elements before and after; negative numbers
            remove elements.
        pad_value: The added value: a scalar expression, or a number.
        pad_mode: `constant`, `edge` or `reflect`.
    """
    value = pad_value if isinstance(pad_value, Expr) else const(pad_value)
    return _pad(data, value, [list(widths) for widths in pad_width], pad_mode)


def upsampling(
    data: Any,
    scale_h: float = 1,
    scale_w: float = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Any:
    """Return images in another size.

    Args:
        data: The images.
        scale_h: The factor of the height; the new height is rounded, halves to the even number.
        scale_w: The factor of the width.
        layout: The order of the axes of the images and of the result.
        method: `nearest_neighbor` (the element before), `bilinear` or `bicubic`.
        align_corners: Whether all corners of images and result are at the same places;
            otherwise only the first corners are.

    >>> from isoform import relay
    >>> x = relay.var("x", shape=(1, 3, 4, 5))
    >>> relay.transform.InferTypeLocal(relay.nn.upsampling(x, 2, 3)).concrete_shape
    (1, 3, 8, 15)
    """
    return _upsampling(data, scale_h, scale_w, layout, method, align_corners)
