//! Attributes of reductions.

use super::declare::{Sizes, attributes};

attributes! {
    /// The axes that `sum`, `max` and similar operators reduce.
    ReduceAttrs = "relay.attrs.ReduceAttrs" {
        /// The axes; negative ones count from the end. None means all.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True if the axes are those that are not reduced.
        exclude: bool = false,
    }

    /// The axes that `argmax` and `argmin` reduce.
    ArgReduceAttrs = "relay.attrs.ArgReduceAttrs" {
        /// The axes; negative ones count from the end. None means all.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True if the last of several equal elements is selected instead of the first.
        select_last_index: bool = false,
        /// True if the axes are those that are not reduced.
        exclude: bool = false,
    }

    /// The axes that `variance` reduces.
    VarianceAttrs = "relay.attrs.VarianceAttrs" {
        /// The axes; negative ones count from the end. None means all.
        #[node(default)]
        axis: Option<Sizes>,
        /// True if reduced axes remain, with size 1.
        keepdims: bool = false,
        /// True if the axes are those that are not reduced.
        exclude: bool = false,
        /// True to divide by the number of elements minus one.
        unbiased: bool = false,
    }
}
