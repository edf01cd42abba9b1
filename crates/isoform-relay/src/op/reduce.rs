//! Operators that reduce axes.

use super::relations::reduce;
use super::spec::operators;
use crate::attrs::{ArgReduceAttrs, ReduceAttrs, VarianceAttrs};

operators! {
    /// The sum of elements over axes.
    sum = "sum"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// The largest element over axes.
    max = "max"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// The smallest element over axes.
    min = "min"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// The mean of elements over axes.
    mean = "mean"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// The product of elements over axes.
    prod = "prod"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// True where all elements over axes are true.
    all = "all"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// True where at least one element over axes is true.
    any = "any"(data: "The input tensor.") [ReduceAttrs]
        -> "Reduce" reduce::reduce, CommReduce, 4;

    /// The position of the largest element over axes, as int32.
    argmax = "argmax"(data: "The input tensor.") [ArgReduceAttrs]
        -> "ArgReduce" reduce::arg_reduce, CommReduce, 4;

    /// The position of the smallest element over axes, as int32.
    argmin = "argmin"(data: "The input tensor.") [ArgReduceAttrs]
        -> "ArgReduce" reduce::arg_reduce, CommReduce, 4;

    /// The variance of elements over axes, from their mean.
    variance = "variance"(data: "The input tensor.", mean: "The mean of the data.")
        [VarianceAttrs] -> "VarianceRel" reduce::variance, CommReduce, 4;
}
