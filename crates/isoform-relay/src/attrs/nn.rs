//! Attributes of the operators of neural networks.

use super::declare::{Sizes, attributes, sizes};
use isoform::values::DType;
use isoform::{Array, Ref, Str};
use isoform_ir::ir::PrimExpr;

attributes! {
    /// The axis of `nn.bias_add`.
    BiasAddAttrs = "relay.attrs.BiasAddAttrs" {
        /// The axis for adding the bias; negative axes count from the end.
        axis: i64 = 1,
    }

    /// Attributes of `nn.dense`.
    DenseAttrs = "relay.attrs.DenseAttrs" {
        /// The size of the last axis of the result; None means the size of the weight.
        units: Option<Ref<PrimExpr>>,
        /// The data type of the result; `void` means the type of the input.
        out_dtype: DType = DType::VOID,
    }

    /// Attributes of `nn.matmul`.
    MatmulAttrs = "relay.attrs.MatmulAttrs" {
        /// The size of the last axis of the result; None means the size of the second
        /// input.
        units: Option<Ref<PrimExpr>>,
        /// The data type of the result; `void` means the type of the input.
        out_dtype: DType = DType::VOID,
        /// True if the first matrix is given transposed.
        transpose_a: bool = false,
        /// True if the second matrix is given transposed.
        transpose_b: bool = false,
    }

    /// Attributes of `nn.batch_matmul`.
    BatchMatmulAttrs = "relay.attrs.BatchMatmulAttrs" {
        /// The data type of the result; `void` means the type of the inputs.
        out_dtype: DType = DType::VOID,
        /// True if the first matrices are given transposed.
        transpose_a: bool = false,
        /// True if the second matrices are given transposed.
        transpose_b: bool = false,
    }

    /// Attributes of `nn.conv2d`.
    Conv2DAttrs = "relay.attrs.Conv2DAttrs" {
        /// The steps of the kernel along height and width.
        strides: Sizes = sizes([1, 1]),
        /// The padding with zeros: one size for all sides, two for height and width, or
        /// four for top, left, bottom and right.
        padding: Sizes = sizes([0, 0]),
        /// The distances of the elements of the kernel.
        dilation: Sizes = sizes([1, 1]),
        /// The number of groups of channels.
        groups: i64 = 1,
        /// The number of channels of the result; None means the number in the weight.
        #[node(default)]
        channels: Option<Ref<PrimExpr>>,
        /// The height and width of the kernel; None means the sizes of the weight.
        #[node(default)]
        kernel_size: Option<Sizes>,
        /// The order of the axes of the input: N batch, C channels, H height, W width.
        data_layout: Str = "NCHW".into(),
        /// The order of the axes of the weight: O output, I input, H height, W width.
        kernel_layout: Str = "OIHW".into(),
        /// The order of the axes of the result; empty for that of the input.
        out_layout: Str = "".into(),
        /// The data type of the result; `void` means the type of the input.
        out_dtype: DType = DType::VOID,
    }

    /// Attributes of `nn.max_pool2d`.
    MaxPool2DAttrs = "relay.attrs.MaxPool2DAttrs" {
        /// The height and width of the window.
        pool_size: Sizes,
        /// The steps of the window.
        strides: Sizes = sizes([1, 1]),
        /// The distances of the elements of the window.
        dilation: Sizes = sizes([1, 1]),
        /// The padding: one size for all sides, two for height and width, or four for
        /// top, left, bottom and right.
        padding: Sizes = sizes([0, 0]),
        /// The order of the axes of the input.
        layout: Str = "NCHW".into(),
        /// The order of the axes of the result; empty for that of the input.
        out_layout: Str = "".into(),
        /// True to count windows that are partly outside.
        ceil_mode: bool = false,
    }

    /// Attributes of `nn.avg_pool2d`.
    AvgPool2DAttrs = "relay.attrs.AvgPool2DAttrs" {
        /// The height and width of the window.
        pool_size: Sizes,
        /// The steps of the window.
        strides: Sizes = sizes([1, 1]),
        /// The distances of the elements of the window.
        dilation: Sizes = sizes([1, 1]),
        /// The padding: one size for all sides, two for height and width, or four for
        /// top, left, bottom and right.
        padding: Sizes = sizes([0, 0]),
        /// The order of the axes of the input.
        layout: Str = "NCHW".into(),
        /// The order of the axes of the result; empty for that of the input.
        out_layout: Str = "".into(),
        /// True to count windows that are partly outside.
        ceil_mode: bool = false,
        /// True to count padding as elements of the mean.
        count_include_pad: bool = false,
    }

    /// Attributes of the pools over the whole image.
    GlobalPool2DAttrs = "relay.attrs.GlobalPool2DAttrs" {
        /// The order of the axes of the input.
        layout: Str = "NCHW".into(),
        /// The order of the axes of the result; empty for that of the input.
        out_layout: Str = "".into(),
    }

    /// Attributes of `nn.upsampling`.
    UpSamplingAttrs = "relay.attrs.UpSamplingAttrs" {
        /// The factor of the height.
        scale_h: f64,
        /// The factor of the width.
        scale_w: f64,
        /// The order of the axes of the input and of the result.
        layout: Str = "NCHW".into(),
        /// `nearest_neighbor`, `bilinear` or `bicubic`.
        method: Str = "nearest_neighbor".into(),
        /// True if the corners of input and result are at the same places; otherwise only
        /// the first corners are.
        align_corners: bool = false,
    }

    /// The axis of `nn.softmax` and `nn.log_softmax`.
    SoftmaxAttrs = "relay.attrs.SoftmaxAttrs" {
        /// The axis for summing exponentials; negative axes count from the end.
        axis: i64 = -1,
    }

    /// The slope of `nn.leaky_relu`.
    LeakyReluAttrs = "relay.attrs.LeakyReluAttrs" {
        /// The factor of negative elements.
        alpha: f64 = 0.25,
    }

    /// Attributes of `nn.batch_norm`.
    BatchNormAttrs = "relay.attrs.BatchNormAttrs" {
        /// The axis of the channels; negative axes count from the end.
        axis: i64 = 1,
        /// Added to the variance, to keep the division defined.
        epsilon: f64 = 1e-5,
        /// True if beta is added.
        center: bool = true,
        /// True if the result is multiplied by gamma.
        scale: bool = true,
    }

    /// Attributes of `nn.layer_norm`.
    LayerNormAttrs = "relay.attrs.LayerNormAttrs" {
        /// The normalized axis; negative axes count from the end.
        axis: i64 = -1,
        /// Added to the variance, to keep the division defined.
        epsilon: f64 = 1e-5,
        /// True if beta is added.
        center: bool = true,
        /// True if the result is multiplied by gamma.
        scale: bool = true,
    }

    /// The rate of `nn.dropout`.
    DropoutAttrs = "relay.attrs.DropoutAttrs" {
        /// The probability of zero for an element.
        rate: f64 = 0.5,
    }

    /// Attributes of `nn.pad`.
    PadAttrs = "relay.attrs.PadAttrs" {
        /// For each axis, the number of elements added before and after; a negative
        /// number removes elements.
        pad_width: Array<Sizes>,
        /// `constant`, `edge` or `reflect`.
        pad_mode: Str = "constant".into(),
    }
}
