"""Operators that make, rearrange and select tensors.

>>> from isoform import relay
>>> x = relay.var("x", shape=(2, 3, 4))
>>> relay.op.infer_type_local(relay.reshape(x, (0, -1))).concrete_shape
(2, 12)
>>> first, second = relay.split(x, 2, axis=-1)
>>> relay.op.infer_type_local(relay.concatenate([first, second], axis=0)).concrete_shape
(4, 3, 2)
"""

from __future__ import annotations

from typing import Any

from isoform.relay.expr import Expr, TupleWrapper, const
from isoform.types.relay import Tuple

from ._make import dtype_or_void, listed, make

__all__ = [
    "arange",
    "argsort",
    "broadcast_to",
    "broadcast_to_like",
    "cast",
    "cast_like",
    "clip",
    "collapse_sum_like",
    "collapse_sum_to",
    "concatenate",
    "device_copy",
    "expand_dims",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "layout_transform",
    "ndarray_size",
    "one_hot",
    "ones",
    "repeat",
    "reshape",
    "reshape_like",
    "reverse",
    "reverse_reshape",
    "shape_of",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "take",
    "tile",
    "transpose",
    "where",
    "zeros",
]

_cast = make("cast")
_cast_like = make("cast_like")
_expand_dims = make("expand_dims")
_transpose = make("transpose")
_squeeze = make("squeeze")
_reshape = make("reshape")
_reverse_reshape = make("contrib_reverse_reshape")
_reshape_like = make("reshape_like")
_concatenate = make("concatenate")
_stack = make("stack")
_split = make("split")
_strided_slice = make("strided_slice")
_take = make("take")
_gather = make("gather")
_gather_nd = make("gather_nd")
_full = make("full")
_full_like = make("full_like")
_zeros = make("zeros")
_ones = make("ones")
_arange = make("arange")
_broadcast_to = make("broadcast_to")
_broadcast_to_like = make("broadcast_to_like")
_collapse_sum_like = make("collapse_sum_like")
_collapse_sum_to = make("collapse_sum_to")
_where = make("where")
_repeat = make("repeat")
_tile = make("tile")
_reverse = make("reverse")
_clip = make("clip")
_layout_transform = make("layout_transform")
_shape_of = make("shape_of")
_ndarray_size = make("ndarray_size")
_one_hot = make("one_hot")
_argsort = make("argsort")
_device_copy = make("device_copy")


def cast(data: Any, dtype: Any) -> Any:
    """Return the tensor converted to a data type.

    Args:
        data: The input.
        dtype: The data type.
    """
    return _cast(data, dtype)


def cast_like(data: Any, dtype_like: Any) -> Any:
    """Return the tensor converted to the data type of another tensor.

    Args:
        data: The input.
        dtype_like: The tensor with the data type.
    """
    return _cast_like(data, dtype_like)


def expand_dims(data: Any, axis: int, num_newaxis: int = 1) -> Any:
    """Return the tensor with new axes of size 1.

    Args:
        data: The input.
        axis: The position of the new axes; negative ones count from the end.
        num_newaxis: Their number.
    """
    return _expand_dims(data, axis, num_newaxis)


def transpose(data: Any, axes: Any = None) -> Any:
    """Return the tensor with its axes in another order.

    Args:
        data: The input.
        axes: The input axis of each result axis; None reverses the order.
    """
    return _transpose(data, None if axes is None else list(axes))


def squeeze(data: Any, axis: Any = None) -> Any:
    """Return the tensor without axes of size 1.

    Args:
        data: The input.
        axis: The axes, or one axis; None for all of size 1.
    """
    return _squeeze(data, listed(axis))


def reshape(data: Any, newshape: Any, allowzero: bool = False) -> Any:
    """Return the elements in the same order, in another shape.

    Args:
        data: The input.
        newshape: The sizes, or one size. 0 copies the size of the axis, -1 is inferred,
            -2 copies all remaining sizes, -3 is the product of two sizes, -4 splits one
            into the two that follow.
        allowzero: True if 0 is a size instead.

    A constant is accepted for the new shape; any other expression raises TypeError.
    """
    if isinstance(newshape, Expr):
        data_of = getattr(newshape, "data", None)
        if data_of is None:
            raise TypeError(
                "reshape: expected sizes that are known when the program is compiled, got "
                f"{type(newshape).__name__}"
            )
        newshape = data_of.numpy().tolist()
    return _reshape(data, listed(newshape), allowzero)


def reverse_reshape(data: Any, newshape: Any) -> Any:
    """Return the elements in another shape, whose codes apply from the last axis on.

    Args:
        data: The input.
        newshape: The sizes and codes, as for `reshape`.
    """
    return _reverse_reshape(data, listed(newshape))


def reshape_like(
    data: Any,
    shape_like: Any,
    lhs_begin: int = 0,
    lhs_end: int | None = None,
    rhs_begin: int = 0,
    rhs_end: int | None = None,
) -> Any:
    """Return the elements in a shape with some sizes of another tensor.

    Args:
        data: The input.
        shape_like: The tensor with the sizes.
        lhs_begin: The first replaced axis of the input.
        lhs_end: The axis after the last replaced axis; None for the end.
        rhs_begin: The first axis taken from the other tensor.
        rhs_end: The axis after the last axis taken; None for the end.
    """
    return _reshape_like(data, shape_like, lhs_begin, lhs_end, rhs_begin, rhs_end)


def _fields(name: str, data: Any) -> Any:
    """The expression of several tensors."""
    if isinstance(data, TupleWrapper):
        return data.astuple()
    if isinstance(data, Expr):
        return data
    fields = list(data)
    if not fields:
        raise ValueError(f"relay.{name} requires data to be non-empty.")
    made: Any = Tuple
    return made(fields)


def concatenate(data: Any, axis: int) -> Any:
    """Return the concatenation of tensors along an axis.

    Args:
        data: The tensors, or an expression of a tuple of tensors.
        axis: The axis; negative axes count from the end.

    Raises ValueError without tensors, and for an axis that is not an int.
    """
    tensors = _fields("concatenate", data)
    if not isinstance(axis, int):
        raise ValueError("For now, we only support integer axis")
    return _concatenate(tensors, axis)


def stack(data: Any, axis: int) -> Any:
    """Return tensors along a new axis.

    Args:
        data: The tensors, or an expression of a tuple of tensors.
        axis: The position of the new axis; negative ones count from the end.

    Raises ValueError without tensors, and for an axis that is not an int.
    """
    tensors = _fields("stack", data)
    if not isinstance(axis, int):
        raise ValueError("For now, we only support integer axis")
    return _stack(tensors, axis)


def split(data: Any, indices_or_sections: Any, axis: int = 0) -> TupleWrapper:
    """Return the parts of a tensor along an axis.

    Args:
        data: The input.
        indices_or_sections: The number of equal parts, or the positions where parts begin,
            except 0.
        axis: The axis; negative axes count from the end.
    """
    if hasattr(indices_or_sections, "__index__"):
        cuts: Any = int(indices_or_sections)
        size = cuts
    else:
        cuts = tuple(int(cut) for cut in indices_or_sections)
        size = len(cuts) + 1
    return TupleWrapper(_split(data, cuts, axis), size)


def strided_slice(
    data: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    axes: Any = None,
    slice_mode: str = "end",
) -> Any:
    """Return the elements between two positions of every axis, in steps.

    Positions count as in slices of Python: negative positions from the end, and outside
    positions are moved to the nearer end.

    Args:
        data: The input.
        begin: The first positions.
        end: The positions before which slices end, or their sizes.
        strides: The steps; None for 1.
        axes: The axes; None for the leading axes.
        slice_mode: `end`, or `size` if `end` has sizes; a negative size reaches to the end.
    """
    steps = [1] if strides is None else listed(strides)
    return _strided_slice(data, listed(begin), listed(end), steps, slice_mode, listed(axes))


def take(
    data: Any, indices: Any, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> Any:
    """Return the elements of an axis at indices.

    Args:
        data: The input.
        indices: The indices, integers.
        axis: The axis; None for the flat tensor.
        batch_dims: The number of leading axes that both inputs have in common.
        mode: The treatment of indices out of bounds: `clip`, `wrap` or `fast`.
    """
    return _take(data, indices, batch_dims, axis, mode)


def gather(data: Any, axis: int, indices: Any) -> Any:
    """Return elements that indices of the same rank select along an axis.

    Args:
        data: The input.
        axis: The axis.
        indices: The indices, integers.
    """
    return _gather(data, indices, axis)


def gather_nd(data: Any, indices: Any, batch_dims: int = 0, index_rank: int | None = None) -> Any:
    """Return elements or slices at index tuples, which the first axis of the indices holds.

    Args:
        data: The input.
        indices: The indices, integers.
        batch_dims: The number of leading axes that both inputs have in common.
        index_rank: The length of an index tuple, if the first axis is not known.
    """
    return _gather_nd(data, indices, batch_dims, index_rank)


def full(fill_value: Any, shape: Any = (), dtype: Any = "") -> Any:
    """Return a tensor filled with a scalar.

    Args:
        fill_value: The scalar, an expression.
        shape: The sizes, or one size.
        dtype: The data type; empty for that of the scalar.
    """
    return _full(fill_value, listed(shape), dtype_or_void(dtype))


def full_like(data: Any, fill_value: Any) -> Any:
    """Return a tensor of the type of another one, filled with a scalar.

    Args:
        data: The tensor whose type is taken.
        fill_value: The scalar, an expression.
    """
    return _full_like(data, fill_value)


def zeros(shape: Any, dtype: Any) -> Any:
    """Return a tensor of zeros.

    Args:
        shape: The sizes, or one size.
        dtype: The data type.
    """
    return _zeros(listed(shape), dtype)


def ones(shape: Any, dtype: Any) -> Any:
    """Return a tensor of ones.

    Args:
        shape: The sizes, or one size.
        dtype: The data type.
    """
    return _ones(listed(shape), dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = "float32") -> Any:
    """Return evenly spaced numbers from a start up to a limit, which is excluded.

    Args:
        start: The first number; the limit if `stop` is None, and the first number is 0.
        stop: The limit.
        step: The distance; None for 1.
        dtype: The data type.

    Numbers become constants of the data type. The length is known if all three are constants.
    """

    def scalar(value: Any) -> Any:
        return value if isinstance(value, Expr) else const(value, dtype)

    first, limit = (0, start) if stop is None else (start, stop)
    inputs = [scalar(first), scalar(limit), scalar(1 if step is None else step)]
    return _arange(*inputs, *inputs, dtype)


def broadcast_to(data: Any, shape: Any) -> Any:
    """Return the tensor, repeated along axes of size 1 to a shape.

    Args:
        data: The input.
        shape: The sizes, or one size.
    """
    return _broadcast_to(data, listed(shape))


def broadcast_to_like(data: Any, broadcast_type: Any) -> Any:
    """Return the tensor, repeated along axes of size 1 to the shape of another one.

    Args:
        data: The input.
        broadcast_type: The tensor with the shape.
    """
    return _broadcast_to_like(data, broadcast_type)


def collapse_sum_like(data: Any, collapse_type: Any) -> Any:
    """Return the tensor, summed to the shape of a tensor that broadcasts to its shape.

    Args:
        data: The input.
        collapse_type: The tensor with the shape.
    """
    return _collapse_sum_like(data, collapse_type)


def collapse_sum_to(data: Any, shape: Any) -> Any:
    """Return the tensor, summed to a shape that broadcasts to the tensor's shape.

    Args:
        data: The input.
        shape: The sizes, or one size.
    """
    return _collapse_sum_to(data, listed(shape))


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return the elements of `x` where the condition holds, and those of `y` elsewhere.

    Args:
        condition: The condition.
        x: The values where it holds.
        y: The values elsewhere.
    """
    return _where(condition, x, y)


def repeat(data: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return the tensor with each element repeated along an axis.

    Args:
        data: The input.
        repeats: How often each element occurs.
        axis: The axis; None for the flat tensor.
    """
    return _repeat(data, repeats, axis)


def tile(data: Any, reps: Any) -> Any:
    """Return the tensor, repeated several times along the axes.

    Args:
        data: The input.
        reps: The repetitions along each axis, or along the last axis.
    """
    return _tile(data, listed(reps))


def reverse(data: Any, axis: int) -> Any:
    """Return the tensor with one axis in reverse order.

    Args:
        data: The input.
        axis: The axis; negative axes count from the end.
    """
    return _reverse(data, axis)


def clip(a: Any, a_min: float, a_max: float) -> Any:
    """Return the elements, limited to bounds.

    Args:
        a: The input.
        a_min: The smallest result.
        a_max: The largest result.
    """
    return _clip(a, a_min, a_max)


def layout_transform(data: Any, src_layout: str, dst_layout: str) -> Any:
    """Return the tensor in another layout.

    Args:
        data: The input.
        src_layout: The axes of the input: upper-case letters, and lower-case letters
            after a number for blocks, as in `NCHW4c`.
        dst_layout: The axes of the result.
    """
    return _layout_transform(data, src_layout, dst_layout)


def shape_of(data: Any, dtype: Any = "int32") -> Any:
    """Return the sizes of the tensor, as a vector.

    Args:
        data: The input.
        dtype: The data type of the sizes.
    """
    return _shape_of(data, dtype_or_void(dtype))


def ndarray_size(data: Any, dtype: Any = "int32") -> Any:
    """Return the number of elements of the tensor, as a scalar.

    Args:
        data: The input.
        dtype: The data type of the number.
    """
    return _ndarray_size(data, dtype_or_void(dtype))


def one_hot(indices: Any, on_value: Any, off_value: Any, depth: int, axis: int, dtype: Any) -> Any:
    """Return a tensor of `on_value` at the index along a new axis, else `off_value`.

    Args:
        indices: The positions.
        on_value: The value at the position, a scalar.
        off_value: The value elsewhere, a scalar.
        depth: The size of the new axis.
        axis: The position of the new axis; -1 for the end.
        dtype: The data type; empty for that of the values.
    """
    return _one_hot(indices, on_value, off_value, depth, axis, dtype_or_void(dtype))


def argsort(data: Any, axis: int = -1, is_ascend: bool = True, dtype: Any = "int32") -> Any:
    """Return the positions of the elements in sorted order along an axis.

    Args:
        data: The input.
        axis: The axis.
        is_ascend: True for ascending order.
        dtype: The data type of the positions.
    """
    return _argsort(data, axis, bool(is_ascend), dtype_or_void(dtype))


def device_copy(data: Any, src_device: Any, dst_device: Any) -> Any:
    """Return the tensor, copied to another device.

    Args:
        data: The input.
        src_device: Where it is.
        dst_device: Where the copy is to be.
    """
    return _device_copy(data, src_device, dst_device)
