//! Attributes of reductions.

use super::declare::{Sizes, attributes};

attributes! {
    /// The axes reduced by `sum`, `max` and similar operators.
    ReduceAttrs = "relay.attrs.ReduceAttrs" {
        /// The axes; negative axes count from the end. None means all axes.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True to reduce all other axes.
        exclude: bool = false,
    }

    /// The axes reduced by `argmax` and `argmin`.
    ArgReduceAttrs = "relay.attrs.ArgReduceAttrs" {
        /// The axes; negative axes count from the end. None means all axes.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True if the last of several equal elements is selected instead of the first.
        select_last_index: bool = false,
        /// True to reduce all other axes.
        exclude: bool = false,
    }

    /// The axes reduced by `variance`.
    VarianceAttrs = "relay.attrs.VarianceAttrs" {
        /// The axes; negative axes count from the end. None means all axes.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True to reduce all other axes.
        exclude: bool = false,
        /// True to divide by the number of elements minus one.
        unbiased: bool = false,
    }
}
