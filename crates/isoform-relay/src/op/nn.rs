//! Operators of neural networks.

use super::relations::{broadcast, conv, matmul, nn, upsampling};
use super::spec::operators;
use crate::attrs::{
    AvgPool2DAttrs, BatchMatmulAttrs, BatchNormAttrs, BiasAddAttrs, Conv2DAttrs, DenseAttrs,
    DropoutAttrs, GlobalPool2DAttrs, LayerNormAttrs, LeakyReluAttrs, MatmulAttrs, MaxPool2DAttrs,
    PadAttrs, SoftmaxAttrs, UpSamplingAttrs,
};

operators! {
    /// The product of the data and the transposed weight, along the last axis of both.
    dense = "nn.dense"(data: "The input tensor.", weight: "The weight, of shape (units, inputs).") [DenseAttrs]
        -> "Dense" matmul::dense, OutEWiseFusable, 1;

    /// The product of two matrices, each of which may be given transposed.
    matmul = "nn.matmul"(tensor_a: "The first matrix, with any number of leading axes.", tensor_b: "The second matrix.") [MatmulAttrs]
        -> "Matmul" matmul::matmul, OutEWiseFusable, 1;

    /// The products of two batches of matrices, each of which may be given transposed.
    batch_matmul = "nn.batch_matmul"(tensor_a: "The first batch.", tensor_b: "The second batch.") [BatchMatmulAttrs]
        -> "BatchMatmul" matmul::batch_matmul, OutEWiseFusable, 10;

    /// The convolution of images with a kernel.
    conv2d = "nn.conv2d"(data: "The images, in the layout of the data.", weight: "The kernel, in the layout of the kernel.") [Conv2DAttrs]
        -> "Conv2D" conv::conv2d, OutEWiseFusable, 2;

    /// The data plus a vector along one axis.
    bias_add = "nn.bias_add"(data: "The input tensor.", bias: "The vector.") [BiasAddAttrs]
        -> "BiasAdd" nn::bias_add, Broadcast, 1;

    /// Each element, or 0 if it is negative.
    relu = "nn.relu"(data: "The input tensor.")
        -> "Identity" broadcast::identity, ElemWise, 1;

    /// Each element, multiplied by a factor if it is negative.
    leaky_relu = "nn.leaky_relu"(data: "The input tensor.") [LeakyReluAttrs]
        -> "Identity" broadcast::identity, ElemWise, 3;

    /// The exponentials of elements, divided by their sum along an axis.
    softmax = "nn.softmax"(data: "The input tensor.") [SoftmaxAttrs]
        -> "Softmax" nn::softmax, OutEWiseFusable, 1;

    /// The logarithm of the softmax.
    log_softmax = "nn.log_softmax"(data: "The input tensor.") [SoftmaxAttrs]
        -> "Softmax" nn::softmax, OutEWiseFusable, 1;

    /// The data, normalized with a mean and a variance for each channel.
    ///
    /// The result is a tuple of the normalized data, the mean and the variance.
    batch_norm = "nn.batch_norm"(data: "The input tensor.", gamma: "The factor of each channel.", beta: "The offset of each channel.", moving_mean: "The mean of each channel.", moving_var: "The variance of each channel.") [BatchNormAttrs]
        -> "BatchNorm" nn::batch_norm, OutEWiseFusable, 1;

    /// The data, normalized along one axis.
    layer_norm = "nn.layer_norm"(data: "The input tensor.", gamma: "The factors.", beta: "The offsets.") [LayerNormAttrs]
        -> "LayerNorm" nn::layer_norm, OutEWiseFusable, 1;

    /// The data with random elements set to zero, and the mask, as a tuple.
    dropout = "nn.dropout"(data: "The input tensor.") [DropoutAttrs]
        -> "Dropout" nn::dropout, Opaque, 1, Stateful;

    /// The largest element of each window of the images.
    max_pool2d = "nn.max_pool2d"(data: "The images.") [MaxPool2DAttrs]
        -> "MaxPool2D" conv::max_pool2d, OutEWiseFusable, 2;

    /// The mean of each window of the images.
    avg_pool2d = "nn.avg_pool2d"(data: "The images.") [AvgPool2DAttrs]
        -> "AvgPool2D" conv::avg_pool2d, OutEWiseFusable, 2;

    /// The largest element of each channel of each image.
    global_max_pool2d = "nn.global_max_pool2d"(data: "The images.") [GlobalPool2DAttrs]
        -> "GlobalPool2D" conv::global_pool2d, OutEWiseFusable, 2;

    /// The mean of each channel of each image.
    global_avg_pool2d = "nn.global_avg_pool2d"(data: "The images.") [GlobalPool2DAttrs]
        -> "GlobalPool2D" conv::global_pool2d, OutEWiseFusable, 2;

    /// Images in another size.
    upsampling = "nn.upsampling"(data: "The images.") [UpSamplingAttrs]
        -> "UpSampling" upsampling::upsampling, Injective, 2;

    /// The data with elements added before and after each axis.
    pad = "nn.pad"(data: "The input tensor.", pad_value: "The added value, a scalar.") [PadAttrs]
        -> "Pad" nn::pad, Injective, 2;

    /// The data as a matrix, with all axes but the first merged.
    batch_flatten = "nn.batch_flatten"(data: "The input tensor.")
        -> "BatchFlatten" nn::batch_flatten, Injective, 1;
}
