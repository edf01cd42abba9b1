//! The attributes of operators, as nodes: one class for each set of settings.
//!
//! A class is declared once, with the meaning, default and type of each setting; calls,
//! files, text, the constructor functions of operators and the Python classes follow from
//! the declaration.
//!
//! * A size is an expression, so that it may be symbolic; integers become literals of
//!   type int32. In Python, literals behave as integers: `attrs.strides[0] == 2`.
//! * A data type that follows the inputs is [`void`](crate::values::DType::VOID).
//! * Numbers are compared exactly, also floats.
//!
//! ```
//! use isoform::dialect::relay::attrs::{Conv2DAttrs, sizes};
//! let attrs = Conv2DAttrs::new().with_strides(sizes([2, 2]));
//! assert_eq!(attrs.groups, 1);
//! ```

mod device;
mod nn;
mod reduce;
mod tensor;

use crate::ir::{IntImm, PrimExpr};
use crate::kernel::container::Array;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::value::DType;

/// Declares classes of attributes: their type key, their name, and their fields with
/// defaults.
macro_rules! attributes {
    ($(
        $(#[$meta:meta])*
        $node:ident = $key:tt {
            $($(#[$field_meta:meta])* $field:ident: $ty:ty $(= $default:expr)?,)*
        }
    )*) => {$(
        #[derive(isoform_macros::Node)]
        #[node(key = $key, crate = crate)]
        #[repr(C)]
        $(#[$meta])*
        pub struct $node {
            #[node(base, default)]
            base: crate::ir::Attrs,
            $(
                $(#[$field_meta])*
                $(#[node(default = $default)])?
                pub $field: $ty,
            )*
        }
    )*};
}
use attributes;

isoform_macros::dialect! {
    "relay.attrs", crate = crate;
    pub use device::{OnDeviceAttrs, DeviceCopyAttrs, CompilerAttrs};
    pub use nn::{
        BiasAddAttrs, DenseAttrs, MatmulAttrs, BatchMatmulAttrs, Conv2DAttrs, MaxPool2DAttrs,
        AvgPool2DAttrs, GlobalPool2DAttrs, SoftmaxAttrs, LeakyReluAttrs, BatchNormAttrs,
        LayerNormAttrs, DropoutAttrs, PadAttrs,
    };
    pub use reduce::{ReduceAttrs, ArgReduceAttrs, VarianceAttrs};
    pub use tensor::{
        CastAttrs, ReshapeAttrs, ReshapeLikeAttrs, TransposeAttrs, SqueezeAttrs, ExpandDimsAttrs,
        ConcatenateAttrs, StackAttrs, SplitAttrs, StridedSliceAttrs, TakeAttrs, GatherAttrs,
        GatherNDAttrs, InitOpAttrs, ArangeAttrs, RepeatAttrs, TileAttrs, ReverseAttrs, ClipAttrs,
        LayoutTransformAttrs, ShapeOfAttrs, NdarraySizeAttrs, OneHotAttrs, ArgsortAttrs,
    };
}

pub use tensor::TestAttrs;

/// Sizes, positions or other integers, which may be symbolic.
pub(super) type Sizes = Array<Ref<PrimExpr>>;

/// An integer as the literal that fields of sizes hold: of type int32 or, if it is
/// larger, int64.
pub fn size(value: i64) -> Ref<PrimExpr> {
    let dtype = match i32::try_from(value) {
        Ok(_) => DType::INT32,
        Err(_) => DType::INT64,
    };
    IntImm::made(dtype, value, None).upcast()
}

/// Integers as the literals that fields of sizes hold. See [`size`].
pub fn sizes(values: impl IntoIterator<Item = i64>) -> Array<Ref<PrimExpr>> {
    values.into_iter().map(size).collect()
}

/// Checks that a number is within inclusive bounds.
fn bounded(field: &str, value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Attribute,
        format!("{field}: expected an int from {least} to {most}, got {value}"),
    ))
}

/// Registers the classes of this module.
pub(super) fn register() -> Result<()> {
    register_types()?;
    // A fixture of tests, in a namespace of its own.
    crate::kernel::types::register::<TestAttrs>().map(drop)
}
