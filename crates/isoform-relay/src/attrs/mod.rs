//! The attributes of operators, as nodes: one class for each set of settings.
//!
//! A class is declared once, with the meaning, default and type of each setting; calls,
//! files, text, the constructor functions of operators and the Python classes follow from
//! the declaration.
//!
//! * A size is an expression, so that it may be symbolic; integers become literals of
//!   type int32. In Python, literals behave as integers: `attrs.strides[0] == 2`.
//! * A data type that follows the inputs is [`void`](isoform::values::DType::VOID).
//! * Numbers are compared exactly, also floats.
//!
//! ```
//! use isoform_relay::attrs::{Conv2DAttrs, sizes};
//! let attrs = Conv2DAttrs::new().with_strides(sizes([2, 2]));
//! assert_eq!(attrs.groups, 1);
//! ```

mod declare;
mod device;
mod nn;
mod reduce;
mod tensor;

use isoform::Result;

isoform::dialect! {
    "relay.attrs";
    pub use device::{OnDeviceAttrs, DeviceCopyAttrs, CompilerAttrs};
    pub use nn::{
        BiasAddAttrs, DenseAttrs, MatmulAttrs, BatchMatmulAttrs, Conv2DAttrs, MaxPool2DAttrs,
        AvgPool2DAttrs, GlobalPool2DAttrs, SoftmaxAttrs, LeakyReluAttrs, BatchNormAttrs,
        LayerNormAttrs, DropoutAttrs, UpSamplingAttrs, PadAttrs,
    };
    pub use reduce::{ReduceAttrs, ArgReduceAttrs, VarianceAttrs};
    pub use tensor::{
        CastAttrs, ReshapeAttrs, ReshapeLikeAttrs, TransposeAttrs, SqueezeAttrs, ExpandDimsAttrs,
        ConcatenateAttrs, StackAttrs, SplitAttrs, StridedSliceAttrs, TakeAttrs, GatherAttrs,
        GatherNDAttrs, InitOpAttrs, ArangeAttrs, RepeatAttrs, TileAttrs, ReverseAttrs, ClipAttrs,
        LayoutTransformAttrs, ShapeOfAttrs, NdarraySizeAttrs, OneHotAttrs, ArgsortAttrs,
    };
}

pub use declare::{size, sizes};
pub use tensor::TestAttrs;

/// Registers the classes of this module.
pub(super) fn register() -> Result<()> {
    register_types()?;
    tensor::register_fixture()
}
