//! Attributes of operators for changing the shape, order or type of tensors.

use super::declare::{Sizes, attributes, bounded, sizes};
use isoform::hooks::Verify;
use isoform::values::DType;
use isoform::{Ref, Result, Str, Value};
use isoform_ir::ir::{EnvFunc, PrimExpr, RelayExpr};

attributes! {
    /// The target of `cast`.
    CastAttrs = "relay.attrs.CastAttrs" {
        /// The data type of the result.
        dtype: DType,
    }

    /// The shape made by `reshape`.
    ReshapeAttrs = "relay.attrs.ReshapeAttrs" {
        /// The sizes, with codes: 0 copies the size of the input's axis, -1 is
        /// inferred, -2 copies all remaining sizes. -3 is the product of two sizes, and
        /// -4 splits a size into the two following sizes.
        newshape: Sizes,
        /// True if 0 is a size instead of a code.
        allowzero: bool = false,
    }

    /// The parts of shapes exchanged by `reshape_like`.
    ReshapeLikeAttrs = "relay.attrs.ReshapeLikeAttrs" {
        /// The first replaced axis of the input.
        lhs_begin: i64 = 0,
        /// The axis after the last replaced axis; None means the end.
        #[node(default)]
        lhs_end: Option<Ref<PrimExpr>>,
        /// The first axis taken from the other shape.
        rhs_begin: i64 = 0,
        /// The axis after the last axis taken; None means the end.
        #[node(default)]
        rhs_end: Option<Ref<PrimExpr>>,
    }

    /// The order of axes made by `transpose`.
    TransposeAttrs = "relay.attrs.TransposeAttrs" {
        /// The axes of the input, in the order of the result; None reverses the order.
        axes: Option<Sizes>,
    }

    /// The axes removed by `squeeze`.
    SqueezeAttrs = "relay.attrs.SqueezeAttrs" {
        /// The axes, all of size 1; None for all axes of size 1.
        #[node(default)]
        axis: Option<Sizes>,
    }

    /// The axes inserted by `expand_dims`.
    ExpandDimsAttrs = "relay.attrs.ExpandDimsAttrs" {
        /// The position in the result; existing axes before the position stay. Negative
        /// positions count from the end.
        axis: i64,
        /// The number of inserted axes.
        num_newaxis: i64 = 1,
    }

    /// The axis of `concatenate`.
    ConcatenateAttrs = "relay.attrs.ConcatenateAttrs" {
        /// The axis for joining tensors; negative axes count from the end.
        axis: i64 = 0,
    }

    /// The axis of `stack`.
    StackAttrs = "relay.attrs.StackAttrs" {
        /// The position of the new axis; negative positions count from the end.
        axis: i64 = 0,
    }

    /// The cuts of `split`.
    SplitAttrs = "relay.attrs.SplitAttrs" {
        /// The number of equal parts, or the positions where parts begin, except 0.
        indices_or_sections: Value,
        /// The axis to cut; negative axes count from the end.
        axis: i64 = 0,
    }

    /// The part taken by `strided_slice`.
    StridedSliceAttrs = "relay.attrs.StridedSliceAttrs" {
        /// The first positions.
        begin: Option<Sizes>,
        /// The positions before which slices end, or the sizes of slices.
        end: Option<Sizes>,
        /// The steps; None for 1.
        strides: Option<Sizes>,
        /// `end`, or `size` if `end` has sizes; a negative size reaches to the end.
        slice_mode: Str = "end".into(),
        /// The sliced axes; None for the first axes.
        axes: Option<Sizes>,
    }

    /// Attributes of `take`.
    TakeAttrs = "relay.attrs.TakeAttrs" {
        /// The number of common leading axes of data and indices.
        batch_dims: i64 = 0,
        /// The axis for taking elements; None for the flat tensor.
        #[node(default)]
        axis: Option<Ref<PrimExpr>>,
        /// The treatment of indices out of bounds: `clip`, `wrap` or `fast`.
        mode: Str = "clip".into(),
    }

    /// The axis of `gather`.
    GatherAttrs = "relay.attrs.GatherAttrs" {
        /// The axis for selecting elements.
        #[node(default)]
        axis: Option<Ref<PrimExpr>>,
    }

    /// Attributes of `gather_nd`.
    GatherNDAttrs = "relay.attrs.GatherNDAttrs" {
        /// The number of common leading axes of data and indices.
        batch_dims: i64 = 0,
        /// The number of axes that an index selects from; None means the number in the
        /// indices.
        #[node(default)]
        index_rank: Option<Ref<PrimExpr>>,
    }

    /// The type of a new tensor.
    InitOpAttrs = "relay.attrs.InitOpAttrs" {
        /// The sizes.
        shape: Option<Sizes>,
        /// The data type; `void` means the type of the input.
        dtype: DType = DType::VOID,
    }

    /// The numbers of `arange`, which are also the inputs of the call.
    ArangeAttrs = "relay.attrs.ArangeAttrs" {
        /// The first number.
        start: Ref<RelayExpr>,
        /// The excluded limit.
        stop: Ref<RelayExpr>,
        /// The distance of the numbers.
        step: Ref<RelayExpr>,
        /// The data type.
        dtype: DType,
    }

    /// Attributes of `repeat`.
    RepeatAttrs = "relay.attrs.RepeatAttrs" {
        /// The number of occurrences per element.
        repeats: Ref<PrimExpr>,
        /// The axis for repeating elements.
        #[node(default)]
        axis: Option<Ref<PrimExpr>>,
    }

    /// Attributes of `tile`.
    TileAttrs = "relay.attrs.TileAttrs" {
        /// The number of occurrences of the tensor along the axes.
        reps: Sizes,
    }

    /// The axis of `reverse`.
    ReverseAttrs = "relay.attrs.ReverseAttrs" {
        /// The axis; negative axes count from the end.
        #[node(default)]
        axis: Option<Ref<PrimExpr>>,
    }

    /// The bounds of `clip`.
    ClipAttrs = "relay.attrs.ClipAttrs" {
        /// The smallest result.
        a_min: f64,
        /// The largest result.
        a_max: f64,
    }

    /// The layouts of `layout_transform`.
    LayoutTransformAttrs = "relay.attrs.LayoutTransformAttrs" {
        /// The axes of the input: upper-case letters, and lower-case letters after a
        /// number for blocks, as in `NCHW4c`.
        src_layout: Str,
        /// The axes of the result.
        dst_layout: Str,
    }

    /// The data type of `shape_of`.
    ShapeOfAttrs = "relay.attrs.ShapeOfAttrs" {
        /// The data type of the result; `void` is int32.
        dtype: DType = DType::VOID,
    }

    /// The data type of `ndarray_size`.
    NdarraySizeAttrs = "relay.attrs.NdarraySizeAttrs" {
        /// The data type of the result; `void` is int32.
        dtype: DType = DType::VOID,
    }

    /// Attributes of `one_hot`.
    OneHotAttrs = "relay.attrs.OneHotAttrs" {
        /// The size of the new axis.
        depth: i64 = 1,
        /// The position of the new axis; -1 for the end.
        axis: i64 = -1,
        /// The data type of the result; `void` means the type of the values.
        dtype: DType = DType::VOID,
    }

    /// Attributes of `argsort`.
    ArgsortAttrs = "relay.attrs.ArgsortAttrs" {
        /// The sorted axis; negative axes count from the end.
        axis: i64 = -1,
        /// True for ascending order.
        is_ascend: bool = true,
        /// The data type of the indices; `void` is int32.
        dtype: DType = DType::VOID,
    }

    /// A fixture of tests, with bounds, a required field and an array.
    #[node(hooks(verify))]
    TestAttrs = "attrs.TestAttrs" {
        /// A number from 1 to 10.
        axis: i64 = 10,
        /// Any text.
        name: Str,
        /// Some sizes.
        padding: Sizes = sizes([0, 0]),
        /// A function.
        #[node(default)]
        func: Option<Ref<EnvFunc>>,
    }
}

impl Verify for TestAttrs {
    fn verify(&self) -> Result<()> {
        bounded("attrs.TestAttrs.axis", self.axis, 1, 10)
    }
}

/// Registers the fixture of tests in a separate namespace.
pub(super) fn register_fixture() -> Result<()> {
    isoform::types::register::<TestAttrs>().map(drop)
}
