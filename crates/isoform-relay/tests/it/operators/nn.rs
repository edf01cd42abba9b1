//! Relations of the operators of neural networks, and of annotations.

use isoform::Ref;
use isoform::values::{DType, Device};
use isoform_relay::attrs::*;
use isoform_relay::{TupleGetItem, op};

use crate::support::*;

#[test]
fn products_of_matrices() {
    let dense = |data: &str, weight: &str| op::dense(v(data), v(weight), DenseAttrs::new(None));
    gives(dense("f32[4,8]", "f32[2,8]"), "f32[4,2]");
    gives(dense("f32[?,3,8]", "f32[2,8]"), "f32[?,3,2]");
    gives(
        op::dense(
            v("i8[4,8]"),
            v("i8[2,8]"),
            DenseAttrs::new(None).with_out_dtype(DType::INT32),
        ),
        "i32[4,2]",
    );
    gives(
        op::dense(v("f32[4,8]"), v("f32[2,8]"), DenseAttrs::new(size(2))),
        "f32[4,2]",
    );
    fails(
        op::dense(v("f32[4,8]"), v("f32[2,8]"), DenseAttrs::new(size(3))),
        "units=3 do not agree with the weight of shape (2, 8)",
    );
    fails(
        dense("f32[4,8]", "f32[2,9]"),
        "the last axis of the input has size 8, and that of the weight of shape (2, 9) has size 9",
    );
    fails(
        dense("f32[4,8]", "f32[2]"),
        "nn.dense: weight: expected a tensor with 2 dimensions, got 1 of shape (2,)",
    );
    fails(dense("f32[]", "f32[2,8]"), "at least one dimension");
    let matmul = || MatmulAttrs::new(None);
    gives(
        op::matmul(v("f32[4,8]"), v("f32[8,2]"), matmul()),
        "f32[4,2]",
    );
    gives(
        op::matmul(
            v("f32[8,4]"),
            v("f32[2,8]"),
            matmul().with_transpose_a(true).with_transpose_b(true),
        ),
        "f32[4,2]",
    );
    fails(
        op::matmul(
            v("f32[1,8,4]"),
            v("f32[8,2]"),
            matmul().with_transpose_a(true),
        ),
        "expected a matrix as the first input",
    );
    let batch = BatchMatmulAttrs::new().with_transpose_b(true);
    let batches = |left: &str, right: &str| op::batch_matmul(v(left), v(right), &batch);
    gives(batches("f32[5,4,8]", "f32[5,2,8]"), "f32[5,4,2]");
    gives(batches("f32[1,4,8]", "f32[5,2,8]"), "f32[5,4,2]");
    gives(
        op::batch_matmul(v("f32[5,4,8]"), v("f32[5,8,2]"), BatchMatmulAttrs::new()),
        "f32[5,4,2]",
    );
    fails(
        batches("f32[5,4,8]", "f32[6,2,8]"),
        "the batch sizes 5 and 6 do not agree",
    );
    fails(
        batches("f32[5,4,8]", "f32[5,2,9]"),
        "the inner sizes 8 and 9 do not agree",
    );
    fails(
        batches("f32[5,4]", "f32[5,2,9]"),
        "the first input: expected a tensor with 3 dimensions",
    );
}

fn conv() -> Ref<Conv2DAttrs> {
    Conv2DAttrs::new()
}

#[test]
fn convolutions() {
    let (x, w) = (v("f32[1,3,224,224]"), v("f32[64,3,7,7]"));
    let of = |attrs: &Ref<Conv2DAttrs>| op::conv2d(&x, &w, attrs);
    gives(of(&conv()), "f32[1,64,218,218]");
    let strided = conv()
        .with_strides(sizes([2, 2]))
        .with_padding(sizes([3, 3, 3, 3]));
    gives(of(&strided), "f32[1,64,112,112]");
    gives(of(&strided.with_padding(sizes([3]))), "f32[1,64,112,112]");
    gives(
        of(&strided.with_padding(sizes([3, 0]))),
        "f32[1,64,112,109]",
    );
    gives(
        of(&strided.with_padding(sizes([0, 1, 2, 3]))),
        "f32[1,64,110,111]",
    );
    gives(
        of(&conv().with_dilation(sizes([2, 2]))),
        "f32[1,64,212,212]",
    );
    gives(
        op::conv2d(v("f32[?,3,n,9]"), v("f32[8,3,1,1]"), conv()),
        "f32[?,8,n,9]",
    );
    let grouped = conv().with_groups(4);
    gives(
        op::conv2d(v("f32[1,8,9,9]"), v("f32[16,2,3,3]"), &grouped),
        "f32[1,16,7,7]",
    );
    let nhwc = conv().with_data_layout("NHWC").with_kernel_layout("HWIO");
    gives(
        op::conv2d(v("f32[1,9,10,3]"), v("f32[3,3,3,8]"), &nhwc),
        "f32[1,7,8,8]",
    );
    gives(
        op::conv2d(
            v("f32[1,9,10,3]"),
            v("f32[3,3,3,8]"),
            nhwc.with_out_layout("NCHW"),
        ),
        "f32[1,8,7,8]",
    );
    gives(
        op::conv2d(
            v("i8[1,3,9,9]"),
            v("i8[8,3,3,3]"),
            conv().with_out_dtype(DType::INT32),
        ),
        "i32[1,8,7,7]",
    );
    fails(
        op::conv2d(&x, v("f32[64,4,7,7]"), conv()),
        "shape of weight (64, 4, 7, 7) is inconsistent with the channels of the input: expected 3, got 4",
    );
    fails(
        of(&conv().with_channels(size(32))),
        "inconsistent with channels: expected 32, got 64",
    );
    fails(
        of(&conv().with_kernel_size(sizes([3, 3]))),
        "inconsistent with kernel_size: expected 3, got 7",
    );
    fails(
        of(&conv().with_groups(2)),
        "groups=2 do not divide the 3 channels of the input",
    );
    fails(
        of(&conv().with_groups(0)),
        "groups=0: expected a number from 1",
    );
    fails(
        op::conv2d(v("f32[1,8,9,9]"), v("f32[6,2,3,3]"), &grouped),
        "groups=4 do not divide the 6 channels of the result",
    );
    fails(
        op::conv2d(v("f32[1,3,5,5]"), &w, conv()),
        "a window of 7 elements does not fit into 5",
    );
    fails(
        op::conv2d(v("f32[1,3,5]"), &w, conv()),
        "nn.conv2d: data: expected a tensor with 4 dimensions, got 3 of shape (1, 3, 5)",
    );
    fails(
        of(&conv().with_data_layout("NCHW4c")),
        "data_layout: expected the axes NCHW in any order, got 'NCHW4c'",
    );
    fails(
        of(&conv().with_strides(sizes([0, 1]))),
        "strides=(0, 1): expected sizes from 1",
    );
    fails(
        of(&conv().with_strides(sizes([1]))),
        "strides: expected two sizes, for height and width, got 1",
    );
    fails(
        of(&conv().with_padding(sizes([1, 1, 1]))),
        "padding: expected one, two or four sizes, got 3",
    );
}

#[test]
fn pools() {
    let max = || MaxPool2DAttrs::new(sizes([3, 3])).with_strides(sizes([2, 2]));
    let pooled = |ty: &str, attrs: Ref<MaxPool2DAttrs>| op::max_pool2d(v(ty), attrs);
    gives(
        pooled("f32[1,8,112,112]", max().with_padding(sizes([1, 1, 1, 1]))),
        "f32[1,8,56,56]",
    );
    gives(pooled("f32[1,8,6,6]", max()), "f32[1,8,2,2]");
    gives(
        pooled("f32[1,8,6,6]", max().with_ceil_mode(true)),
        "f32[1,8,3,3]",
    );
    // A window larger than the axis is the last window, and may reach beyond the axis.
    let wide = || MaxPool2DAttrs::new(sizes([2, 2])).with_strides(sizes([3, 3]));
    let point = || v("f32[1,1,1,1]");
    let rounded = wide().with_ceil_mode(true);
    gives(op::max_pool2d(point(), rounded), "f32[1,1,1,1]");
    fails(op::max_pool2d(point(), wide()), "a window of 2 elements");
    let close = wide().with_strides(sizes([1, 1])).with_ceil_mode(true);
    fails(op::max_pool2d(point(), close), "a window of 2 elements");
    gives(
        pooled("f32[1,6,6,8]", max().with_layout("NHWC")),
        "f32[1,2,2,8]",
    );
    gives(
        pooled(
            "f32[1,6,6,8]",
            max().with_layout("NHWC").with_out_layout("NCHW"),
        ),
        "f32[1,8,2,2]",
    );
    gives(pooled("f32[1,8,?,6]", max()), "f32[1,8,?,2]");
    let average = AvgPool2DAttrs::new(sizes([2, 2]));
    gives(
        op::avg_pool2d(v("f32[1,8,6,6]"), average.with_dilation(sizes([2, 2]))),
        "f32[1,8,4,4]",
    );
    fails(
        op::avg_pool2d(v("f32[1,8,1,6]"), &average),
        "nn.avg_pool2d: a window of 2 elements does not fit into 1",
    );
    gives(
        op::global_avg_pool2d(v("f32[2,8,6,7]"), GlobalPool2DAttrs::new()),
        "f32[2,8,1,1]",
    );
    gives(
        op::global_max_pool2d(
            v("f32[2,6,7,8]"),
            GlobalPool2DAttrs::new().with_layout("NHWC"),
        ),
        "f32[2,1,1,8]",
    );
    fails(
        op::global_avg_pool2d(v("f32[2,8]"), GlobalPool2DAttrs::new()),
        "expected a tensor with 4 dimensions",
    );
}

#[test]
fn normalizations_and_others() {
    gives(
        op::bias_add(v("f32[2,8,5]"), v("f32[8]"), BiasAddAttrs::new()),
        "f32[2,8,5]",
    );
    fails(
        op::bias_add(v("f32[2,8]"), v("f32[2]"), BiasAddAttrs::new()),
        "bias: expected 8 elements, as axis 1 of (2, 8), got 2",
    );
    fails(
        op::bias_add(v("f32[2]"), v("f32[2]"), BiasAddAttrs::new()),
        "axis=1 is not an axis",
    );
    gives(op::leaky_relu(v("f32[2]"), LeakyReluAttrs::new()), "f32[2]");
    gives(op::softmax(v("f32[2,3]"), SoftmaxAttrs::new()), "f32[2,3]");
    fails(
        op::log_softmax(v("f32[2,3]"), SoftmaxAttrs::new().with_axis(2)),
        "axis=2 is not an axis",
    );
    let [gamma, beta, mean, var] = [(); 4].map(|()| v("f32[8]"));
    let batch_norm = |var| {
        let attrs = BatchNormAttrs::new();
        op::batch_norm(v("f32[1,8,5,5]"), &gamma, &beta, &mean, var, attrs)
    };
    gives(batch_norm(&var), "(f32[1,8,5,5]; f32[8]; f32[8])");
    fails(
        batch_norm(&v("f32[7]")),
        "moving_var: expected 8 elements, as axis 1 of (1, 8, 5, 5), got 7",
    );
    gives(
        op::layer_norm(v("f32[2,8]"), &gamma, &beta, LayerNormAttrs::new()),
        "f32[2,8]",
    );
    let dropped = op::dropout(v("f32[2]"), DropoutAttrs::new());
    gives(dropped.clone(), "(f32[2]; f32[2])");
    gives(TupleGetItem::new(dropped, 0), "f32[2]");
    let widths = |pairs: &[[i64; 2]]| {
        PadAttrs::new(pairs.iter().map(|pair| sizes(*pair)).collect::<Vec<_>>())
    };
    let pad = |ty: &str, attrs: Ref<PadAttrs>| op::pad(v(ty), v("f32[]"), attrs);
    gives(pad("f32[2,n]", widths(&[[1, 2], [0, 0]])), "f32[5,n]");
    gives(pad("f32[5]", widths(&[[-1, -2]])), "f32[2]");
    fails(
        pad("f32[2]", widths(&[[-1, -2]])),
        "remove more than the 2 elements",
    );
    fails(
        pad("f32[2]", widths(&[])),
        "There should be as many pad width pairs as shape dimensions but the shape has 1 dimensions and there are 0 pad width pairs.",
    );
    fails(
        pad("f32[2]", widths(&[[0, 0]]).with_pad_mode("x")),
        "expected 'constant', 'edge' or 'reflect', got 'x'",
    );
    gives(op::batch_flatten(v("f32[2,3,4]")), "f32[2,12]");
    gives(op::batch_flatten(v("f32[?,3,4]")), "f32[?,12]");
    gives(op::batch_flatten(v("f32[2]")), "f32[2,1]");
    fails(
        op::batch_flatten(v("f32[]")),
        "at least one dimension, got a scalar",
    );
}

#[test]
fn annotations_keep_the_type() {
    gives(op::stop_fusion(v("f32[2]")), "f32[2]");
    gives(op::checkpoint(v("(f32[2]; i32[])")), "(f32[2]; i32[])");
    let attrs = OnDeviceAttrs::new().with_virtual_device(Device::CPU);
    gives(
        op::on_device(v("(f32[2]; i32[])"), attrs),
        "(f32[2]; i32[])",
    );
    let copy = DeviceCopyAttrs::new(Device::CPU, Device::new(2, 0));
    gives(op::device_copy(v("f32[2]"), copy), "f32[2]");
    let compiler = || CompilerAttrs::new("dnnl");
    gives(
        op::compiler_end(op::compiler_begin(v("f32[2]"), compiler()), compiler()),
        "f32[2]",
    );
}

#[test]
fn upsampling_multiplies_sizes() {
    let of = |data: &str, attrs: Ref<UpSamplingAttrs>| op::upsampling(v(data), attrs);
    let attrs = |h: f64, w: f64| UpSamplingAttrs::new(h, w);
    gives(of("f32[1,3,4,5]", attrs(2.0, 3.0)), "f32[1,3,8,15]");
    // Halves are rounded to the even size.
    gives(of("f32[1,3,4,5]", attrs(1.5, 0.5)), "f32[1,3,6,2]");
    gives(of("f32[1,3,3,7]", attrs(1.5, 0.5)), "f32[1,3,4,4]");
    gives(
        of("u8[1,4,5,3]", attrs(2.0, 1.0).with_layout("NHWC")),
        "u8[1,8,5,3]",
    );
    gives(of("f32[?,3,?,5]", attrs(2.0, 1.0)), "f32[?,3,?,5]");
    gives(
        of("f32[1,3,0,5]", attrs(2.0, 1.0).with_method("bicubic")),
        "f32[1,3,0,5]",
    );
    fails(
        of("f32[1,3,4]", attrs(2.0, 2.0)),
        "nn.upsampling: data: expected a tensor with 4",
    );
    fails(
        of("f32[1,3,4,5]", attrs(0.0, 2.0)),
        "scale_h: expected a number above 0",
    );
    fails(
        of("f32[1,3,4,5]", attrs(2.0, 1e12)),
        "scale_w: expected a number above 0",
    );
    fails(of("f32[1,3,4,5]", attrs(f64::NAN, 1.0)), "scale_h");
    fails(
        of("f32[1,3,4,5]", attrs(2.0, 2.0).with_method("linear")),
        "method: expected 'nearest",
    );
    fails(
        of("f32[1,3,4,5]", attrs(2.0, 2.0).with_layout("NCH")),
        "layout",
    );
}
