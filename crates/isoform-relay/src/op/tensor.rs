//! Operators for making, rearranging and selecting tensors, and annotations.

use super::relations::{broadcast, create, index, join, layout, reshape, shape, slice};
use super::spec::operators;
use crate::attrs::{
    ArangeAttrs, ArgsortAttrs, CastAttrs, ClipAttrs, CompilerAttrs, ConcatenateAttrs,
    DeviceCopyAttrs, ExpandDimsAttrs, GatherAttrs, GatherNDAttrs, InitOpAttrs,
    LayoutTransformAttrs, NdarraySizeAttrs, OnDeviceAttrs, OneHotAttrs, RepeatAttrs, ReshapeAttrs,
    ReshapeLikeAttrs, ReverseAttrs, ShapeOfAttrs, SplitAttrs, SqueezeAttrs, StackAttrs,
    StridedSliceAttrs, TakeAttrs, TileAttrs, TransposeAttrs,
};

operators! {
    /// The tensor with its elements converted to another data type.
    cast = "cast"(data: "The input tensor.") [CastAttrs]
        -> "Cast" shape::cast, ElemWise, 3, MayFail;

    /// The tensor with its elements converted to the data type of another one.
    cast_like = "cast_like"(data: "The input tensor.", dtype_like: "The tensor whose data type is taken.")
        -> "CastLike" shape::cast_like, ElemWise, 3, MayFail;

    /// The elements in the same order, in another shape.
    ///
    /// In the new shape, 0 copies the size of the axis, -1 is inferred, -2 copies all remaining
    /// sizes, -3 is the product of two sizes, and -4 splits one into the two that follow.
    reshape = "reshape"(data: "The input tensor.") [ReshapeAttrs]
        -> "Reshape" reshape::reshape, Injective, 3, Reshape;

    /// The elements in another shape, whose codes apply from the last axis to the first.
    reverse_reshape = "contrib_reverse_reshape"(data: "The input tensor.") [ReshapeAttrs]
        -> "ReverseReshape" reshape::reverse_reshape, Injective, 10, Reshape;

    /// The elements in a shape in which some sizes are those of another tensor.
    reshape_like = "reshape_like"(data: "The input tensor.", shape_like: "The tensor whose sizes are taken.") [ReshapeLikeAttrs]
        -> "ReshapeLike" reshape::reshape_like, Injective, 3;

    /// The tensor with its axes in another order.
    transpose = "transpose"(data: "The input tensor.") [TransposeAttrs]
        -> "Transpose" shape::transpose, Injective, 3;

    /// The tensor without axes of size 1.
    squeeze = "squeeze"(data: "The input tensor.") [SqueezeAttrs]
        -> "Squeeze" shape::squeeze, Injective, 3, Reshape;

    /// The tensor with new axes of size 1.
    expand_dims = "expand_dims"(data: "The input tensor.") [ExpandDimsAttrs]
        -> "ExpandDims" shape::expand_dims, Broadcast, 1, Reshape;

    /// The tensors of a tuple after each other along an axis.
    concatenate = "concatenate"(data: "A tuple of tensors.") [ConcatenateAttrs]
        -> "Concatenate" join::concatenate, Injective, 1;

    /// The tensors of a tuple along a new axis.
    stack = "stack"(data: "A tuple of tensors.") [StackAttrs]
        -> "Stack" join::stack, Injective, 3;

    /// The parts of a tensor along an axis, as a tuple.
    split = "split"(data: "The input tensor.") [SplitAttrs]
        -> "Split" join::split, Injective, 3;

    /// The elements between two positions of each axis, in steps.
    ///
    /// Positions count as in slices of Python: negative ones from the end, and those outside
    /// are moved to the end that is closer.
    strided_slice = "strided_slice"(data: "The input tensor.") [StridedSliceAttrs]
        -> "StridedSlice" slice::strided_slice, Injective, 4;

    /// The elements of an axis at given indices.
    take = "take"(data: "The input tensor.", indices: "The indices, integers.") [TakeAttrs]
        -> "Take" index::take, Injective, 3, MayFail;

    /// Elements that indices of the same rank select along an axis.
    gather = "gather"(data: "The input tensor.", indices: "The indices, integers.") [GatherAttrs]
        -> "Gather" index::gather, Injective, 3, MayFail;

    /// Elements or slices at index tuples, which the first axis of the indices holds.
    gather_nd = "gather_nd"(data: "The input tensor.", indices: "The indices, integers.") [GatherNDAttrs]
        -> "GatherND" index::gather_nd, Injective, 3, MayFail;

    /// A tensor filled with a scalar.
    full = "full"(fill_value: "The scalar.") [InitOpAttrs]
        -> "Full" create::full, ElemWise, 3;

    /// A tensor of the type of another one, filled with a scalar.
    full_like = "full_like"(data: "The input tensor.", fill_value: "The scalar.")
        -> "FullLike" create::full_like, ElemWise, 4;

    /// A tensor of zeros.
    zeros = "zeros"() [InitOpAttrs]
        -> "InitOp" create::init, ElemWise, 3;

    /// A tensor of ones.
    ones = "ones"() [InitOpAttrs]
        -> "InitOp" create::init, ElemWise, 3;

    /// Evenly spaced numbers from a start up to a limit, which is excluded.
    arange = "arange"(start: "The first number, a scalar.", end: "The limit, a scalar.", step: "The distance, a scalar.") [ArangeAttrs]
        -> "Arange" create::arange, Opaque, 3, DataDependent, MayFail;

    /// The tensor, repeated along axes of size 1 to a shape.
    broadcast_to = "broadcast_to"(data: "The input tensor.") [InitOpAttrs]
        -> "BroadCastTo" shape::broadcast_to, Broadcast, 4;

    /// The tensor, repeated along axes of size 1 to the shape of another one.
    broadcast_to_like = "broadcast_to_like"(data: "The input tensor.", broadcast_type: "The tensor whose shape is taken.")
        -> "BroadCastToLike" broadcast::broadcast_to_like, Broadcast, 10;

    /// The tensor, summed to the shape of another one that broadcasts to its shape.
    collapse_sum_like = "collapse_sum_like"(data: "The input tensor.", collapse_type: "The tensor whose shape is taken.")
        -> "CollapseSumLike" broadcast::collapse_sum_like, CommReduce, 4;

    /// The tensor, summed to a shape that broadcasts to its own.
    collapse_sum_to = "collapse_sum_to"(data: "The input tensor.") [InitOpAttrs]
        -> "CollapseSumTo" shape::collapse_sum_to, CommReduce, 4;

    /// The elements of one tensor where a condition holds, and of another elsewhere.
    select = "where"(condition: "The condition.", x: "The values where it holds.", y: "The values elsewhere.")
        -> "Where" broadcast::select, Broadcast, 4;

    /// The tensor with each element repeated along an axis.
    repeat = "repeat"(data: "The input tensor.") [RepeatAttrs]
        -> "Repeat" shape::repeat, Broadcast, 3;

    /// The tensor several times along each axis.
    tile = "tile"(data: "The input tensor.") [TileAttrs]
        -> "Tile" shape::tile, Broadcast, 3;

    /// The tensor with one axis in reverse order.
    reverse = "reverse"(data: "The input tensor.") [ReverseAttrs]
        -> "Reverse" shape::reverse, Injective, 3;

    /// The elements, limited to bounds.
    clip = "clip"(data: "The input tensor.") [ClipAttrs]
        -> "Identity" broadcast::identity, ElemWise, 3;

    /// The tensor in another layout, such as `NCHW` to `NCHW4c`.
    layout_transform = "layout_transform"(data: "The input tensor.") [LayoutTransformAttrs]
        -> "LayoutTransformRel" layout::layout_transform, Injective, 5;

    /// The sizes of the tensor, as a vector.
    shape_of = "shape_of"(data: "The input tensor.") [ShapeOfAttrs]
        -> "ShapeOf" shape::shape_of, Opaque, 10;

    /// The number of elements of the tensor, as a scalar.
    ndarray_size = "ndarray_size"(data: "The input tensor.") [NdarraySizeAttrs]
        -> "NdarraySize" shape::ndarray_size, Injective, 10;

    /// A tensor that has one value at the index along a new axis, and another one elsewhere.
    one_hot = "one_hot"(indices: "The positions.", on_value: "The value at the position, a scalar.", off_value: "The value elsewhere, a scalar.") [OneHotAttrs]
        -> "OneHot" shape::one_hot, OutEWiseFusable, 10;

    /// The positions of the elements in sorted order along an axis.
    argsort = "argsort"(data: "The input tensor.") [ArgsortAttrs]
        -> "Argsort" shape::argsort, Opaque, 6;

    /// The value of an expression that is bound to a device.
    on_device = "on_device"(body: "Any expression.") [OnDeviceAttrs]
        -> "SameType" broadcast::same_type, Opaque, 10, NonComputational;

    /// The tensor, copied to another device.
    device_copy = "device_copy"(data: "The input tensor.") [DeviceCopyAttrs]
        -> "Identity" broadcast::identity, Opaque, 10;

    /// The unchanged tensor, at which fusion stops.
    stop_fusion = "annotation.stop_fusion"(data: "The input tensor.")
        -> "Identity" broadcast::identity, Opaque, 10;

    /// A value that is computed again in the backward pass instead of being stored.
    checkpoint = "annotation.checkpoint"(data: "Any expression.")
        -> "SameType" broadcast::same_type, Opaque, 10;

    /// An input of a region for an external compiler.
    compiler_begin = "annotation.compiler_begin"(data: "Any expression.") [CompilerAttrs]
        -> "SameType" broadcast::same_type, Opaque, 10;

    /// A result of a region for an external compiler.
    compiler_end = "annotation.compiler_end"(data: "Any expression.") [CompilerAttrs]
        -> "SameType" broadcast::same_type, Opaque, 10;
}
