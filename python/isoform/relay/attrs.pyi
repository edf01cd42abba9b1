# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `relay.attrs`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "ArangeAttrs",
    "ArgReduceAttrs",
    "ArgsortAttrs",
    "AvgPool2DAttrs",
    "BatchMatmulAttrs",
    "BatchNormAttrs",
    "BiasAddAttrs",
    "CastAttrs",
    "ClipAttrs",
    "CompilerAttrs",
    "ConcatenateAttrs",
    "Conv2DAttrs",
    "DenseAttrs",
    "DeviceCopyAttrs",
    "DropoutAttrs",
    "ExpandDimsAttrs",
    "GatherAttrs",
    "GatherNDAttrs",
    "GlobalPool2DAttrs",
    "InitOpAttrs",
    "LayerNormAttrs",
    "LayoutTransformAttrs",
    "LeakyReluAttrs",
    "MatmulAttrs",
    "MaxPool2DAttrs",
    "NdarraySizeAttrs",
    "OnDeviceAttrs",
    "OneHotAttrs",
    "PadAttrs",
    "ReduceAttrs",
    "RepeatAttrs",
    "ReshapeAttrs",
    "ReshapeLikeAttrs",
    "ReverseAttrs",
    "ShapeOfAttrs",
    "SoftmaxAttrs",
    "SplitAttrs",
    "SqueezeAttrs",
    "StackAttrs",
    "StridedSliceAttrs",
    "TakeAttrs",
    "TileAttrs",
    "TransposeAttrs",
    "UpSamplingAttrs",
    "VarianceAttrs",
]

class OnDeviceAttrs(isoform.types.ir.Attrs):
    """The device of an expression, stated by a call of `on_device`."""

    __match_args__ = ("virtual_device", "constrain_result", "constrain_body")
    @property
    def virtual_device(self) -> typing.Any:
        """The device, or any other description of a place; None leaves the place open."""
    @property
    def constrain_result(self) -> builtins.bool:
        """True if the result of the call is on the device."""
    @property
    def constrain_body(self) -> builtins.bool:
        """True if the body is computed on the device."""
    def __init__(
        self,
        virtual_device: typing.Any = ...,
        constrain_result: builtins.bool = ...,
        constrain_body: builtins.bool = ...,
    ) -> None: ...

class DeviceCopyAttrs(isoform.types.ir.Attrs):
    """The ends of a copy between devices."""

    __match_args__ = ("src_virtual_device", "dst_virtual_device")
    @property
    def src_virtual_device(self) -> typing.Any:
        """Where the value is."""
    @property
    def dst_virtual_device(self) -> typing.Any:
        """Where the copy is to be."""
    def __init__(self, src_virtual_device: typing.Any, dst_virtual_device: typing.Any) -> None: ...

class CompilerAttrs(isoform.types.ir.Attrs):
    """The external compiler of a region."""

    __match_args__ = ("compiler",)
    @property
    def compiler(self) -> builtins.str:
        """Its name."""
    def __init__(self, compiler: builtins.str) -> None: ...

class BiasAddAttrs(isoform.types.ir.Attrs):
    """The axis of `nn.bias_add`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> builtins.int:
        """The axis for adding the bias; negative axes count from the end."""
    def __init__(self, axis: builtins.int = ...) -> None: ...

class DenseAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.dense`."""

    __match_args__ = ("units", "out_dtype")
    @property
    def units(self) -> isoform.types.ir.PrimExpr | None:
        """The size of the last axis of the result; None means the size of the weight."""
    @property
    def out_dtype(self) -> isoform.dtype:
        """The data type of the result; `void` means the type of the input."""
    def __init__(self, units: typing.Any | None, out_dtype: isoform.dtype | str = ...) -> None: ...

class MatmulAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.matmul`."""

    __match_args__ = ("units", "out_dtype", "transpose_a", "transpose_b")
    @property
    def units(self) -> isoform.types.ir.PrimExpr | None:
        """The size of the last axis of the result; None means the size of the second
        input.
        """
    @property
    def out_dtype(self) -> isoform.dtype:
        """The data type of the result; `void` means the type of the input."""
    @property
    def transpose_a(self) -> builtins.bool:
        """True if the first matrix is given transposed."""
    @property
    def transpose_b(self) -> builtins.bool:
        """True if the second matrix is given transposed."""
    def __init__(
        self,
        units: typing.Any | None,
        out_dtype: isoform.dtype | str = ...,
        transpose_a: builtins.bool = ...,
        transpose_b: builtins.bool = ...,
    ) -> None: ...

class BatchMatmulAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.batch_matmul`."""

    __match_args__ = ("out_dtype", "transpose_a", "transpose_b")
    @property
    def out_dtype(self) -> isoform.dtype:
        """The data type of the result; `void` means the type of the inputs."""
    @property
    def transpose_a(self) -> builtins.bool:
        """True if the first matrices are given transposed."""
    @property
    def transpose_b(self) -> builtins.bool:
        """True if the second matrices are given transposed."""
    def __init__(
        self,
        out_dtype: isoform.dtype | str = ...,
        transpose_a: builtins.bool = ...,
        transpose_b: builtins.bool = ...,
    ) -> None: ...

class Conv2DAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.conv2d`."""

    __match_args__ = (
        "strides",
        "padding",
        "dilation",
        "groups",
        "channels",
        "kernel_size",
        "data_layout",
        "kernel_layout",
        "out_layout",
        "out_dtype",
    )
    @property
    def strides(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The steps of the kernel along height and width."""
    @property
    def padding(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The padding with zeros: one size for all sides, two for height and width, or
        four for top, left, bottom and right.
        """
    @property
    def dilation(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The distances of the elements of the kernel."""
    @property
    def groups(self) -> builtins.int:
        """The number of groups of channels."""
    @property
    def channels(self) -> isoform.types.ir.PrimExpr | None:
        """The number of channels of the result; None means the number in the weight."""
    @property
    def kernel_size(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The height and width of the kernel; None means the sizes of the weight."""
    @property
    def data_layout(self) -> builtins.str:
        """The order of the axes of the input: N batch, C channels, H height, W width."""
    @property
    def kernel_layout(self) -> builtins.str:
        """The order of the axes of the weight: O output, I input, H height, W width."""
    @property
    def out_layout(self) -> builtins.str:
        """The order of the axes of the result; empty for that of the input."""
    @property
    def out_dtype(self) -> isoform.dtype:
        """The data type of the result; `void` means the type of the input."""
    def __init__(
        self,
        strides: collections.abc.Sequence[typing.Any] = ...,
        padding: collections.abc.Sequence[typing.Any] = ...,
        dilation: collections.abc.Sequence[typing.Any] = ...,
        groups: builtins.int = ...,
        channels: typing.Any | None = ...,
        kernel_size: collections.abc.Sequence[typing.Any] | None = ...,
        data_layout: builtins.str = ...,
        kernel_layout: builtins.str = ...,
        out_layout: builtins.str = ...,
        out_dtype: isoform.dtype | str = ...,
    ) -> None: ...

class MaxPool2DAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.max_pool2d`."""

    __match_args__ = (
        "pool_size",
        "strides",
        "dilation",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
    )
    @property
    def pool_size(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The height and width of the window."""
    @property
    def strides(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The steps of the window."""
    @property
    def dilation(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The distances of the elements of the window."""
    @property
    def padding(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The padding: one size for all sides, two for height and width, or four for
        top, left, bottom and right.
        """
    @property
    def layout(self) -> builtins.str:
        """The order of the axes of the input."""
    @property
    def out_layout(self) -> builtins.str:
        """The order of the axes of the result; empty for that of the input."""
    @property
    def ceil_mode(self) -> builtins.bool:
        """True to count windows that are partly outside."""
    def __init__(
        self,
        pool_size: collections.abc.Sequence[typing.Any],
        strides: collections.abc.Sequence[typing.Any] = ...,
        dilation: collections.abc.Sequence[typing.Any] = ...,
        padding: collections.abc.Sequence[typing.Any] = ...,
        layout: builtins.str = ...,
        out_layout: builtins.str = ...,
        ceil_mode: builtins.bool = ...,
    ) -> None: ...

class AvgPool2DAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.avg_pool2d`."""

    __match_args__ = (
        "pool_size",
        "strides",
        "dilation",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
        "count_include_pad",
    )
    @property
    def pool_size(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The height and width of the window."""
    @property
    def strides(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The steps of the window."""
    @property
    def dilation(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The distances of the elements of the window."""
    @property
    def padding(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The padding: one size for all sides, two for height and width, or four for
        top, left, bottom and right.
        """
    @property
    def layout(self) -> builtins.str:
        """The order of the axes of the input."""
    @property
    def out_layout(self) -> builtins.str:
        """The order of the axes of the result; empty for that of the input."""
    @property
    def ceil_mode(self) -> builtins.bool:
        """True to count windows that are partly outside."""
    @property
    def count_include_pad(self) -> builtins.bool:
        """True to count padding as elements of the mean."""
    def __init__(
        self,
        pool_size: collections.abc.Sequence[typing.Any],
        strides: collections.abc.Sequence[typing.Any] = ...,
        dilation: collections.abc.Sequence[typing.Any] = ...,
        padding: collections.abc.Sequence[typing.Any] = ...,
        layout: builtins.str = ...,
        out_layout: builtins.str = ...,
        ceil_mode: builtins.bool = ...,
        count_include_pad: builtins.bool = ...,
    ) -> None: ...

class GlobalPool2DAttrs(isoform.types.ir.Attrs):
    """Attributes of the pools over the whole image."""

    __match_args__ = ("layout", "out_layout")
    @property
    def layout(self) -> builtins.str:
        """The order of the axes of the input."""
    @property
    def out_layout(self) -> builtins.str:
        """The order of the axes of the result; empty for that of the input."""
    def __init__(self, layout: builtins.str = ..., out_layout: builtins.str = ...) -> None: ...

class SoftmaxAttrs(isoform.types.ir.Attrs):
    """The axis of `nn.softmax` and `nn.log_softmax`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> builtins.int:
        """The axis for summing exponentials; negative axes count from the end."""
    def __init__(self, axis: builtins.int = ...) -> None: ...

class LeakyReluAttrs(isoform.types.ir.Attrs):
    """The slope of `nn.leaky_relu`."""

    __match_args__ = ("alpha",)
    @property
    def alpha(self) -> builtins.float:
        """The factor of negative elements."""
    def __init__(self, alpha: builtins.float = ...) -> None: ...

class BatchNormAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.batch_norm`."""

    __match_args__ = ("axis", "epsilon", "center", "scale")
    @property
    def axis(self) -> builtins.int:
        """The axis of the channels; negative axes count from the end."""
    @property
    def epsilon(self) -> builtins.float:
        """Added to the variance, to keep the division defined."""
    @property
    def center(self) -> builtins.bool:
        """True if beta is added."""
    @property
    def scale(self) -> builtins.bool:
        """True if the result is multiplied by gamma."""
    def __init__(
        self,
        axis: builtins.int = ...,
        epsilon: builtins.float = ...,
        center: builtins.bool = ...,
        scale: builtins.bool = ...,
    ) -> None: ...

class LayerNormAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.layer_norm`."""

    __match_args__ = ("axis", "epsilon", "center", "scale")
    @property
    def axis(self) -> builtins.int:
        """The normalized axis; negative axes count from the end."""
    @property
    def epsilon(self) -> builtins.float:
        """Added to the variance, to keep the division defined."""
    @property
    def center(self) -> builtins.bool:
        """True if beta is added."""
    @property
    def scale(self) -> builtins.bool:
        """True if the result is multiplied by gamma."""
    def __init__(
        self,
        axis: builtins.int = ...,
        epsilon: builtins.float = ...,
        center: builtins.bool = ...,
        scale: builtins.bool = ...,
    ) -> None: ...

class DropoutAttrs(isoform.types.ir.Attrs):
    """The rate of `nn.dropout`."""

    __match_args__ = ("rate",)
    @property
    def rate(self) -> builtins.float:
        """The probability of zero for an element."""
    def __init__(self, rate: builtins.float = ...) -> None: ...

class UpSamplingAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.upsampling`."""

    __match_args__ = ("scale_h", "scale_w", "layout", "method", "align_corners")
    @property
    def scale_h(self) -> builtins.float:
        """The factor of the height."""
    @property
    def scale_w(self) -> builtins.float:
        """The factor of the width."""
    @property
    def layout(self) -> builtins.str:
        """The order of the axes of the input and of the result."""
    @property
    def method(self) -> builtins.str:
        """`nearest_neighbor`, `bilinear` or `bicubic`."""
    @property
    def align_corners(self) -> builtins.bool:
        """True if the corners of input and result are at the same places; otherwise only
        the first corners are.
        """
    def __init__(
        self,
        scale_h: builtins.float,
        scale_w: builtins.float,
        layout: builtins.str = ...,
        method: builtins.str = ...,
        align_corners: builtins.bool = ...,
    ) -> None: ...

class PadAttrs(isoform.types.ir.Attrs):
    """Attributes of `nn.pad`."""

    __match_args__ = ("pad_width", "pad_mode")
    @property
    def pad_width(self) -> isoform.Array[isoform.Array[isoform.types.ir.PrimExpr]]:
        """For each axis, the number of elements added before and after; a negative
        number removes elements.
        """
    @property
    def pad_mode(self) -> builtins.str:
        """`constant`, `edge` or `reflect`."""
    def __init__(
        self,
        pad_width: collections.abc.Sequence[collections.abc.Sequence[typing.Any]],
        pad_mode: builtins.str = ...,
    ) -> None: ...

class ReduceAttrs(isoform.types.ir.Attrs):
    """The axes reduced by `sum`, `max` and similar operators."""

    __match_args__ = ("axis", "keepdims", "exclude")
    @property
    def axis(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The axes; negative axes count from the end. None means all axes."""
    @property
    def keepdims(self) -> builtins.bool:
        """True if reduced axes remain, with size 1."""
    @property
    def exclude(self) -> builtins.bool:
        """True to reduce all other axes."""
    def __init__(
        self,
        axis: collections.abc.Sequence[typing.Any] | None = ...,
        keepdims: builtins.bool = ...,
        exclude: builtins.bool = ...,
    ) -> None: ...

class ArgReduceAttrs(isoform.types.ir.Attrs):
    """The axes reduced by `argmax` and `argmin`."""

    __match_args__ = ("axis", "keepdims", "select_last_index", "exclude")
    @property
    def axis(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The axes; negative axes count from the end. None means all axes."""
    @property
    def keepdims(self) -> builtins.bool:
        """True if reduced axes remain, with size 1."""
    @property
    def select_last_index(self) -> builtins.bool:
        """True if the last of several equal elements is selected instead of the first."""
    @property
    def exclude(self) -> builtins.bool:
        """True to reduce all other axes."""
    def __init__(
        self,
        axis: collections.abc.Sequence[typing.Any] | None = ...,
        keepdims: builtins.bool = ...,
        select_last_index: builtins.bool = ...,
        exclude: builtins.bool = ...,
    ) -> None: ...

class VarianceAttrs(isoform.types.ir.Attrs):
    """The axes reduced by `variance`."""

    __match_args__ = ("axis", "keepdims", "exclude", "unbiased")
    @property
    def axis(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The axes; negative axes count from the end. None means all axes."""
    @property
    def keepdims(self) -> builtins.bool:
        """True if reduced axes remain, with size 1."""
    @property
    def exclude(self) -> builtins.bool:
        """True to reduce all other axes."""
    @property
    def unbiased(self) -> builtins.bool:
        """True to divide by the number of elements minus one."""
    def __init__(
        self,
        axis: collections.abc.Sequence[typing.Any] | None = ...,
        keepdims: builtins.bool = ...,
        exclude: builtins.bool = ...,
        unbiased: builtins.bool = ...,
    ) -> None: ...

class CastAttrs(isoform.types.ir.Attrs):
    """The target of `cast`."""

    __match_args__ = ("dtype",)
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the result."""
    def __init__(self, dtype: isoform.dtype | str) -> None: ...

class ReshapeAttrs(isoform.types.ir.Attrs):
    """The shape made by `reshape`."""

    __match_args__ = ("newshape", "allowzero")
    @property
    def newshape(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The sizes, with codes: 0 copies the size of the input's axis, -1 is
        inferred, -2 copies all remaining sizes. -3 is the product of two sizes, and
        -4 splits a size into the two following sizes.
        """
    @property
    def allowzero(self) -> builtins.bool:
        """True if 0 is a size instead of a code."""
    def __init__(
        self, newshape: collections.abc.Sequence[typing.Any], allowzero: builtins.bool = ...
    ) -> None: ...

class ReshapeLikeAttrs(isoform.types.ir.Attrs):
    """The parts of shapes exchanged by `reshape_like`."""

    __match_args__ = ("lhs_begin", "lhs_end", "rhs_begin", "rhs_end")
    @property
    def lhs_begin(self) -> builtins.int:
        """The first replaced axis of the input."""
    @property
    def lhs_end(self) -> isoform.types.ir.PrimExpr | None:
        """The axis after the last replaced axis; None means the end."""
    @property
    def rhs_begin(self) -> builtins.int:
        """The first axis taken from the other shape."""
    @property
    def rhs_end(self) -> isoform.types.ir.PrimExpr | None:
        """The axis after the last axis taken; None means the end."""
    def __init__(
        self,
        lhs_begin: builtins.int = ...,
        lhs_end: typing.Any | None = ...,
        rhs_begin: builtins.int = ...,
        rhs_end: typing.Any | None = ...,
    ) -> None: ...

class TransposeAttrs(isoform.types.ir.Attrs):
    """The order of axes made by `transpose`."""

    __match_args__ = ("axes",)
    @property
    def axes(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The axes of the input, in the order of the result; None reverses the order."""
    def __init__(self, axes: collections.abc.Sequence[typing.Any] | None) -> None: ...

class SqueezeAttrs(isoform.types.ir.Attrs):
    """The axes removed by `squeeze`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The axes, all of size 1; None for all axes of size 1."""
    def __init__(self, axis: collections.abc.Sequence[typing.Any] | None = ...) -> None: ...

class ExpandDimsAttrs(isoform.types.ir.Attrs):
    """The axes inserted by `expand_dims`."""

    __match_args__ = ("axis", "num_newaxis")
    @property
    def axis(self) -> builtins.int:
        """The position in the result; existing axes before the position stay. Negative
        positions count from the end.
        """
    @property
    def num_newaxis(self) -> builtins.int:
        """The number of inserted axes."""
    def __init__(self, axis: builtins.int, num_newaxis: builtins.int = ...) -> None: ...

class ConcatenateAttrs(isoform.types.ir.Attrs):
    """The axis of `concatenate`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> builtins.int:
        """The axis for joining tensors; negative axes count from the end."""
    def __init__(self, axis: builtins.int = ...) -> None: ...

class StackAttrs(isoform.types.ir.Attrs):
    """The axis of `stack`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> builtins.int:
        """The position of the new axis; negative positions count from the end."""
    def __init__(self, axis: builtins.int = ...) -> None: ...

class SplitAttrs(isoform.types.ir.Attrs):
    """The cuts of `split`."""

    __match_args__ = ("indices_or_sections", "axis")
    @property
    def indices_or_sections(self) -> typing.Any:
        """The number of equal parts, or the positions where parts begin, except 0."""
    @property
    def axis(self) -> builtins.int:
        """The axis to cut; negative axes count from the end."""
    def __init__(self, indices_or_sections: typing.Any, axis: builtins.int = ...) -> None: ...

class StridedSliceAttrs(isoform.types.ir.Attrs):
    """The part taken by `strided_slice`."""

    __match_args__ = ("begin", "end", "strides", "axes", "slice_mode")
    @property
    def begin(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The first positions."""
    @property
    def end(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The positions before which slices end, or the sizes of slices."""
    @property
    def strides(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The steps; None for 1."""
    @property
    def slice_mode(self) -> builtins.str:
        """`end`, or `size` if `end` has sizes; a negative size reaches to the end."""
    @property
    def axes(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The sliced axes; None for the first axes."""
    def __init__(
        self,
        begin: collections.abc.Sequence[typing.Any] | None,
        end: collections.abc.Sequence[typing.Any] | None,
        strides: collections.abc.Sequence[typing.Any] | None,
        axes: collections.abc.Sequence[typing.Any] | None,
        slice_mode: builtins.str = ...,
    ) -> None: ...

class TakeAttrs(isoform.types.ir.Attrs):
    """Attributes of `take`."""

    __match_args__ = ("batch_dims", "axis", "mode")
    @property
    def batch_dims(self) -> builtins.int:
        """The number of common leading axes of data and indices."""
    @property
    def axis(self) -> isoform.types.ir.PrimExpr | None:
        """The axis for taking elements; None for the flat tensor."""
    @property
    def mode(self) -> builtins.str:
        """The treatment of indices out of bounds: `clip`, `wrap` or `fast`."""
    def __init__(
        self,
        batch_dims: builtins.int = ...,
        axis: typing.Any | None = ...,
        mode: builtins.str = ...,
    ) -> None: ...

class GatherAttrs(isoform.types.ir.Attrs):
    """The axis of `gather`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> isoform.types.ir.PrimExpr | None:
        """The axis for selecting elements."""
    def __init__(self, axis: typing.Any | None = ...) -> None: ...

class GatherNDAttrs(isoform.types.ir.Attrs):
    """Attributes of `gather_nd`."""

    __match_args__ = ("batch_dims", "index_rank")
    @property
    def batch_dims(self) -> builtins.int:
        """The number of common leading axes of data and indices."""
    @property
    def index_rank(self) -> isoform.types.ir.PrimExpr | None:
        """The number of axes that an index selects from; None means the number in the
        indices.
        """
    def __init__(
        self, batch_dims: builtins.int = ..., index_rank: typing.Any | None = ...
    ) -> None: ...

class InitOpAttrs(isoform.types.ir.Attrs):
    """The type of a new tensor."""

    __match_args__ = ("shape", "dtype")
    @property
    def shape(self) -> isoform.Array[isoform.types.ir.PrimExpr] | None:
        """The sizes."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type; `void` means the type of the input."""
    def __init__(
        self, shape: collections.abc.Sequence[typing.Any] | None, dtype: isoform.dtype | str = ...
    ) -> None: ...

class ArangeAttrs(isoform.types.ir.Attrs):
    """The numbers of `arange`, which are also the inputs of the call."""

    __match_args__ = ("start", "stop", "step", "dtype")
    @property
    def start(self) -> isoform.types.ir.RelayExpr:
        """The first number."""
    @property
    def stop(self) -> isoform.types.ir.RelayExpr:
        """The excluded limit."""
    @property
    def step(self) -> isoform.types.ir.RelayExpr:
        """The distance of the numbers."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type."""
    def __init__(
        self,
        start: isoform.types.ir.RelayExpr,
        stop: isoform.types.ir.RelayExpr,
        step: isoform.types.ir.RelayExpr,
        dtype: isoform.dtype | str,
    ) -> None: ...

class RepeatAttrs(isoform.types.ir.Attrs):
    """Attributes of `repeat`."""

    __match_args__ = ("repeats", "axis")
    @property
    def repeats(self) -> isoform.types.ir.PrimExpr:
        """The number of occurrences per element."""
    @property
    def axis(self) -> isoform.types.ir.PrimExpr | None:
        """The axis for repeating elements."""
    def __init__(self, repeats: typing.Any, axis: typing.Any | None = ...) -> None: ...

class TileAttrs(isoform.types.ir.Attrs):
    """Attributes of `tile`."""

    __match_args__ = ("reps",)
    @property
    def reps(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The number of occurrences of the tensor along the axes."""
    def __init__(self, reps: collections.abc.Sequence[typing.Any]) -> None: ...

class ReverseAttrs(isoform.types.ir.Attrs):
    """The axis of `reverse`."""

    __match_args__ = ("axis",)
    @property
    def axis(self) -> isoform.types.ir.PrimExpr | None:
        """The axis; negative axes count from the end."""
    def __init__(self, axis: typing.Any | None = ...) -> None: ...

class ClipAttrs(isoform.types.ir.Attrs):
    """The bounds of `clip`."""

    __match_args__ = ("a_min", "a_max")
    @property
    def a_min(self) -> builtins.float:
        """The smallest result."""
    @property
    def a_max(self) -> builtins.float:
        """The largest result."""
    def __init__(self, a_min: builtins.float, a_max: builtins.float) -> None: ...

class LayoutTransformAttrs(isoform.types.ir.Attrs):
    """The layouts of `layout_transform`."""

    __match_args__ = ("src_layout", "dst_layout")
    @property
    def src_layout(self) -> builtins.str:
        """The axes of the input: upper-case letters, and lower-case letters after a
        number for blocks, as in `NCHW4c`.
        """
    @property
    def dst_layout(self) -> builtins.str:
        """The axes of the result."""
    def __init__(self, src_layout: builtins.str, dst_layout: builtins.str) -> None: ...

class ShapeOfAttrs(isoform.types.ir.Attrs):
    """The data type of `shape_of`."""

    __match_args__ = ("dtype",)
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the result; `void` is int32."""
    def __init__(self, dtype: isoform.dtype | str = ...) -> None: ...

class NdarraySizeAttrs(isoform.types.ir.Attrs):
    """The data type of `ndarray_size`."""

    __match_args__ = ("dtype",)
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the result; `void` is int32."""
    def __init__(self, dtype: isoform.dtype | str = ...) -> None: ...

class OneHotAttrs(isoform.types.ir.Attrs):
    """Attributes of `one_hot`."""

    __match_args__ = ("depth", "axis", "dtype")
    @property
    def depth(self) -> builtins.int:
        """The size of the new axis."""
    @property
    def axis(self) -> builtins.int:
        """The position of the new axis; -1 for the end."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the result; `void` means the type of the values."""
    def __init__(
        self, depth: builtins.int = ..., axis: builtins.int = ..., dtype: isoform.dtype | str = ...
    ) -> None: ...

class ArgsortAttrs(isoform.types.ir.Attrs):
    """Attributes of `argsort`."""

    __match_args__ = ("axis", "is_ascend", "dtype")
    @property
    def axis(self) -> builtins.int:
        """The sorted axis; negative axes count from the end."""
    @property
    def is_ascend(self) -> builtins.bool:
        """True for ascending order."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the indices; `void` is int32."""
    def __init__(
        self,
        axis: builtins.int = ...,
        is_ascend: builtins.bool = ...,
        dtype: isoform.dtype | str = ...,
    ) -> None: ...
